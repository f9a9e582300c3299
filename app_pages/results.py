"""What the pages show, computed once per setting: calls into simulator and analysis, no formulas."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pandas as pd
import streamlit as st

import analysis as an
import simulator as sim
from analysis import charts
from analysis.checking import z_limit
from analysis.verdict import verdict as analysis_verdict
from app_pages.state import MAX_GAMMA, MOST_FLIPPED, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedForm:
    """The exact answers for one setting."""

    tokens: float
    cost: float
    speedup: float
    best: an.BestGamma
    break_even_p: float | None
    break_even_cost_ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MonteCarlo:
    """A simulated table beside its law; estimates carry their 95 % interval."""

    table: sim.AcceptanceTable
    tokens: sim.Estimate
    speedup: sim.Estimate
    z: float
    passed: bool
    flipped: bool


@st.cache_data(max_entries=512, show_spinner=False)
def closed_form(settings: Settings) -> ClosedForm:
    """Expected tokens, cost, speedup, and where the setting stops paying."""
    p, gamma, c = settings.p, settings.gamma, settings.cost_ratio
    extra = {"verify_cost": settings.verify_cost, "overhead": settings.overhead}
    curve = _curve(settings)
    here = curve.points[gamma]
    return ClosedForm(
        tokens=here.tokens_per_round,
        cost=here.round_cost,
        speedup=here.speedup,
        best=curve.best,
        break_even_p=an.break_even_p(gamma, c, **extra),
        break_even_cost_ratio=float(an.break_even_cost_ratio(p, gamma, **extra)),
    )


def _curve(settings: Settings) -> an.GammaCurve:
    return an.over_gamma(
        settings.p,
        settings.cost_ratio,
        max_gamma=MAX_GAMMA,
        verify_cost=settings.verify_cost,
        overhead=settings.overhead,
    )


@st.cache_data(max_entries=128, show_spinner=False)
def simulated(p: float, gamma: int, rounds: int, seed: int) -> sim.AcceptanceTable:
    """The counts: every token flipped, or for very many rounds drawn as counts."""
    run = sim.simulate if rounds <= MOST_FLIPPED else sim.simulate_counts
    return run(sim.draft_model(p=p, gamma=gamma), rounds=rounds, rng=seed)


def monte_carlo(settings: Settings, rounds: int, seed: int) -> MonteCarlo:
    """The simulation of a setting, and how far it lies from the exact law."""
    table = simulated(settings.p, settings.gamma, rounds, seed)
    strategy = sim.draft_model(p=settings.p, gamma=settings.gamma)
    result = an.check(strategy, table)
    tokens = _with_interval(table.tokens_per_round)
    return MonteCarlo(
        table=table,
        tokens=tokens,
        speedup=tokens.scaled(1.0 / closed_form(settings).cost),
        z=result.comparisons[0].z,
        passed=result.passed,
        flipped=rounds <= MOST_FLIPPED,
    )


@st.cache_data(max_entries=256, show_spinner=False)
def gamma_table(settings: Settings) -> pd.DataFrame:
    """One row per draft length, shape [MAX_GAMMA]: tokens, cost, speedup, what engines print."""
    curve = _curve(settings)
    rows = []
    for point in curve.points[1:]:
        law = an.round_law(sim.draft_model(p=settings.p, gamma=point.gamma))
        marks = (("● yours", settings.gamma), ("◆ best", curve.best.gamma))
        rows.append(
            {
                "γ": point.gamma,
                "": " ".join(text for text, hit in marks if point.gamma == hit),
                "tokens per round": point.tokens_per_round,
                "round cost": point.round_cost,
                "speedup": point.speedup,
                "accepted / drafted": law.accepted_fraction,
            }
        )
    return pd.DataFrame(rows)


@st.cache_data(max_entries=256, show_spinner=False)
def histogram_table(p: float, gamma: int, rounds: int, seed: int) -> pd.DataFrame:
    """The numbers behind the histogram, one row per number of tokens."""
    table = simulated(p, gamma, rounds, seed)
    law = an.round_law(sim.draft_model(p=p, gamma=gamma))
    return pd.DataFrame(
        {
            "tokens in a round": range(1, gamma + 2),
            "rounds": table.ended,
            "share": [count / rounds for count in table.ended],
            "exact": law.pmf,
        }
    )


@st.cache_data(max_entries=256, show_spinner=False)
def histogram_spec(p: float, gamma: int, rounds: int, seed: int) -> dict[str, object]:
    """The histogram as a Vega-Lite specification."""
    table = simulated(p, gamma, rounds, seed)
    return charts.tokens_histogram(table, sim.draft_model(p=p, gamma=gamma)).to_dict(validate=False)


@st.cache_data(max_entries=256, show_spinner=False)
def speedup_spec(settings: Settings) -> dict[str, object]:
    """The speedup curve as a Vega-Lite specification."""
    return charts.speedup_over_gamma(
        settings.p,
        settings.gamma,
        settings.cost_ratio,
        max_gamma=MAX_GAMMA,
        verify_cost=settings.verify_cost,
        overhead=settings.overhead,
    ).to_dict(validate=False)


def verdict(settings: Settings) -> tuple[str, str]:
    """Its first word in small letters ("pays", "costs", "neither", "nothing"), and the sentence."""
    answer = closed_form(settings)
    sentence = analysis_verdict(settings.gamma, answer.speedup, answer.best)
    return re.split(r"\W", sentence, maxsplit=1)[0].lower(), sentence


def _with_interval(estimate: sim.Estimate) -> sim.Estimate:
    """The estimate with its normal 95 % interval; none from a single round."""
    if estimate.se is None:
        return estimate
    half = z_limit(0.05) * estimate.se
    return sim.Estimate(
        value=estimate.value,
        se=estimate.se,
        interval=(estimate.value - half, estimate.value + half),
    )
