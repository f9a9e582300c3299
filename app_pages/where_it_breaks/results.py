"""What the page of failure modes shows, computed once per setting: calls into analysis, no formulas."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import streamlit as st

from analysis.article import judgements
from analysis.deployment import charts as deploy_charts
from analysis.deployment.break_even import BreakEvenBatch, break_even_batch
from analysis.deployment.load import LoadPoint, over_concurrency, under_load
from analysis.judgement import Judgement
from analysis.optimum import p_from_tokens
from app_pages.deployment import results as deploy_results
from app_pages.deployment.fields import BATCHES, CONTEXTS
from app_pages.deployment.results import BY_SETUP, GAMMAS, Setup, deployment, longest
from app_pages.where_it_breaks import charts as break_charts

NEARLY_FREE = 1.1
"""V up to which a wider pass counts as nearly free."""
MOST_BATCH = 1024
WIDEST = 64
_POINTS = 121


@cache
def judgement(claim: str) -> Judgement:
    """The judgement of a claim of the article, by its name."""
    return next(each for each in judgements() if each.claim == claim)


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=BY_SETUP)
def equal_p(setup: Setup) -> float:
    """The one p that gives as many tokens per round at the chosen length."""
    if setup.choice.accept == "p":
        return setup.choice.p
    tokens = deployment(setup).acceptance.tokens_per_round(setup.gamma).value
    return p_from_tokens(tokens, setup.gamma)


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=BY_SETUP)
def p_spec(setup: Setup) -> dict[str, object]:
    """The speedup over p as Vega-Lite."""
    curves = deploy_results.speedups_over_p(setup, GAMMAS, _POINTS)
    here = (equal_p(setup), deploy_results.parts_of(setup).speedup.value)
    return break_charts.speedup_over_p(
        np.linspace(0.0, 1.0, _POINTS),
        curves[setup.gamma],
        curves.max(axis=0),
        gamma=setup.gamma,
        here=here,
        break_even=deploy_results.break_even_p(setup),
    ).to_dict(validate=False)


def most_batch(setup: Setup, *, drafting: bool = False) -> int:
    """The largest batch to show: what fits the memory, up to a limit."""
    return int(
        min(deployment(setup).most_requests(setup.choice.context, drafting=drafting), MOST_BATCH)
    )


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=BY_SETUP)
def load_here(setup: Setup) -> LoadPoint:
    """So many requests at once, decoding, with what a token costs. Raises ValueError if none fits."""
    choice = setup.choice
    return under_load(
        deployment(setup),
        setup.gamma,
        concurrency=choice.batch,
        context=choice.context,
        price_per_hour=choice.price,
    )


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=BY_SETUP)
def whole_here(setup: Setup) -> LoadPoint:
    """The same for whole requests, prompts included."""
    choice = setup.choice
    return under_load(
        deployment(setup),
        setup.gamma,
        concurrency=choice.batch,
        context=choice.context,
        prompt_tokens=choice.prompt,
        output_tokens=choice.output,
        price_per_hour=choice.price,
    )


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=BY_SETUP)
def load_spec(setup: Setup) -> dict[str, object]:
    """Latency against throughput as Vega-Lite."""
    most = max(most_batch(setup), 1)
    loads = [batch for batch in BATCHES if batch <= most]
    if loads[-1] < most:
        loads.append(most)
    points = over_concurrency(deployment(setup), setup.gamma, loads, context=setup.choice.context)
    return break_charts.latency_and_throughput(points, load_here(setup)).to_dict(validate=False)


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=BY_SETUP)
def break_even(setup: Setup) -> BreakEvenBatch:
    """The batch at which the chosen length stops paying."""
    return break_even_batch(deployment(setup), setup.gamma, context=setup.choice.context)


def shown_gammas(setup: Setup) -> tuple[int, ...]:
    """Draft lengths to draw lines for: some, and always the chosen one."""
    most = longest(setup)
    return tuple(sorted({setup.gamma, *(gamma for gamma in (1, 2, 4, 8) if gamma <= most)}))


def shown_widths(setup: Setup) -> list[int]:
    """Batches to draw the pass of: one request, and what runs."""
    return sorted({1, setup.batch})


def held_contexts() -> list[int]:
    """Contexts of the curve."""
    return [context for context in CONTEXTS if context]


def shown_batches(setup: Setup) -> list[int]:
    """Batches to draw the speedup over context for: some, and always the chosen one, if they fit."""
    most = deployment(setup).most_requests(min(held_contexts()))
    return [batch for batch in sorted({1, 16, 64, setup.batch}) if batch <= most]


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=BY_SETUP)
def nearly_free(setup: Setup) -> float:
    """The most tokens per request in a nearly free pass: whole, at least 1, infinite if all are."""
    cost = deployment(setup).target
    widest = cost.widest(NEARLY_FREE, setup.batch, setup.choice.context)
    return widest if math.isinf(widest) else float(math.floor(widest))


def verify_at(setup: Setup, tokens: float) -> float:
    """V of a pass over so many tokens of each request, at the chosen batch and context."""
    return float(deployment(setup).target.verify_cost(tokens, setup.batch, setup.choice.context))


def width_spec(setup: Setup) -> dict[str, object]:
    """The pass over its width, one request and this batch; a mark at the width of a round."""
    same = replace(setup.choice, p=0.0, accept="p")  # acceptance changes no pass
    width = setup.gamma + 1
    here = verify_at(setup, width)
    drawn = _width_lines(Setup(choice=same, room=setup.room))
    return break_charts.with_point(drawn, width, here, f"V({width}) = {here:.3f}")


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=BY_SETUP)
def _width_lines(setup: Setup) -> dict[str, object]:
    chart = deploy_charts.verify_cost_over_width(
        deployment(setup).target,
        batches=shown_widths(setup),
        context=setup.choice.context,
        most=WIDEST,
    )
    return chart.to_dict(validate=False)


def batch_spec(setup: Setup) -> dict[str, object]:
    """The speedup over batch, a line for each of some lengths; a rule at the chosen batch."""
    drawn = _batch_lines(replace(setup, choice=replace(setup.choice, batch=1)))
    return break_charts.with_rule(drawn, setup.batch, f"batch {setup.batch:,}")


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=BY_SETUP)
def _batch_lines(setup: Setup) -> dict[str, object]:
    chart = deploy_charts.speedup_over_batch(
        deployment(setup), shown_gammas(setup), context=setup.choice.context, most=MOST_BATCH
    )
    return chart.to_dict(validate=False)


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=BY_SETUP)
def context_spec(setup: Setup) -> dict[str, object]:
    """The speedup over context, a line for each of some batches; a rule at the chosen context."""
    choice, held = setup.choice, held_contexts()
    chart = deploy_charts.speedup_over_context(
        deployment(setup), setup.gamma, batches=shown_batches(setup), contexts=held
    )
    at = max(choice.context, held[0])
    return break_charts.with_rule(chart.to_dict(validate=False), at, f"context {choice.context:,}")


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=BY_SETUP)
def busy_table(setup: Setup) -> pd.DataFrame:
    """A row per batch that fits: V, the best length with its speedup, and the chosen one's."""
    choice, found = setup.choice, deployment(setup)
    rows = []
    for batch in BATCHES:
        if batch > most_batch(setup, drafting=True):
            break
        best = found.acceptance.best_gamma(
            found.round_costs(longest(setup), batch, choice.context), GAMMAS
        )
        rows.append(
            {
                "batch": batch,
                "V": float(found.target.verify_cost(setup.gamma + 1, batch, choice.context)),
                "speedup": found.parts(setup.gamma, batch, choice.context).speedup.value,
                "best γ": best.gamma,
                "its speedup": best.speedup.value,
            }
        )
    return pd.DataFrame(rows)


def table_csv(setup: Setup) -> bytes:
    """The table over batches as CSV."""
    names = {"best γ": "best_gamma", "its speedup": "best_speedup"}
    return busy_table(setup).rename(columns=names).to_csv(index=False).encode()
