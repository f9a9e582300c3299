"""What the page of plans shows, computed once per setting: calls into analysis, no formulas."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from analysis.configuration.result import Configuration, Engine
from analysis.configuration.writing import write_configuration
from analysis.deployment.deployment import Deployment
from analysis.deployment_specs import VARIANT_OF
from analysis.output import Cell, Report
from analysis.planning import charts as plan_charts
from analysis.planning.losses import ScheduleLosses, schedule_losses
from analysis.planning.planner import plan
from analysis.planning.report import plan_report, span_text
from analysis.planning.result import Plan
from analysis.planning.schedule import Schedule
from app_pages import downloads
from app_pages.deployment import command
from app_pages.deployment import results as deploy_results
from app_pages.deployment.choice import Drafter, name_of
from app_pages.deployment.fields import BATCHES
from app_pages.deployment.results import BY_SETUP, GAMMAS, Setup
from simulator import Estimate

MOST_BATCH = 512


@st.cache_resource(max_entries=128, show_spinner=False, hash_funcs=BY_SETUP)
def strategies(setup: Setup) -> tuple[Deployment, ...]:
    """The chosen draft, and those that it is compared with. Raises ValueError as deployments do."""
    found = [deploy_results.deployment(setup)]
    for drafter, p in setup.choice.against:
        name = name_of(setup.choice, drafter)
        name = f"{name} (2)" if name == found[0].name else name
        found.append(deploy_results.other(setup, drafter, p, name))
    return tuple(found)


def batches(setup: Setup) -> tuple[int, ...]:
    """The batches that were asked for, or steps up to what fits without a draft. ValueError if none."""
    if setup.choice.batches:
        return setup.choice.batches
    found = deploy_results.deployment(setup)
    found.check_batch(1, setup.choice.context, drafting=False)
    most = min(found.most_requests(setup.choice.context, drafting=False), float(MOST_BATCH))
    return tuple(batch for batch in BATCHES if batch <= most)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=BY_SETUP)
def plan_of(setup: Setup) -> Plan:
    """The plan. Raises ValueError for batches that do not fit."""
    return plan(
        strategies(setup),
        batches(setup),
        context=setup.choice.context,
        gammas=GAMMAS,
        prefer=setup.choice.prefer,
    )


@st.cache_data(max_entries=128, show_spinner=False, hash_funcs=BY_SETUP)
def table(setup: Setup) -> pd.DataFrame:
    """A row per batch: what to use, how long, how much that gains, and how sure it is."""
    rows = []
    for row in plan_of(setup).rows:
        low, high = _ends(row.speedup)
        chosen = row.chosen
        rows.append(
            {
                "batch": row.batch,
                "use": row.use,
                "γ": row.gamma,
                "within 1 %": span_text(chosen.flat),
                "speedup": row.speedup.value,
                "low": low,
                "high": high,
                "tokens/s": chosen.tokens_per_s.value,
                "without": chosen.plain_tokens_per_s,
                "sure": {True: "yes", False: "no", None: ""}[row.sure],
                "not told apart": ", ".join(
                    text for text in (span_text(chosen.ties), *row.even) if text
                ),
            }
        )
    return pd.DataFrame(rows)


@st.cache_data(max_entries=128, show_spinner=False, hash_funcs=BY_SETUP)
def lengths_spec(setup: Setup) -> dict[str, object]:
    """The draft length over batch as Vega-Lite."""
    return plan_charts.best_gamma_over_batch(plan_of(setup)).to_dict(validate=False)


@st.cache_data(max_entries=128, show_spinner=False, hash_funcs=BY_SETUP)
def map_spec(setup: Setup, strategy: str) -> dict[str, object]:
    """The speedup of a strategy over draft length and batch as Vega-Lite."""
    return plan_charts.speedup_map(plan_of(setup), strategy).to_dict(validate=False)


def map_table(setup: Setup, strategy: str) -> pd.DataFrame:
    """The speedup of a strategy, a row per batch and a column per draft length."""
    cells = [point for point in plan_of(setup).table if point.strategy == strategy]
    frame = pd.DataFrame(
        [(point.batch, f"γ = {point.gamma}", point.speedup.value) for point in cells],
        columns=["batch", "gamma", "speedup"],
    )
    wide = frame.pivot_table(index="batch", columns="gamma", values="speedup", sort=False)
    return wide.sort_index().reset_index().rename_axis(columns=None)


def lengths_png(setup: Setup) -> bytes:
    """The draft length over batch, for print."""
    from analysis import figures  # noqa: PLC0415 — matplotlib costs a second at import
    from analysis.planning.figures import best_gamma_over_batch  # noqa: PLC0415 — see above

    with downloads.DRAWING:
        return figures.png(best_gamma_over_batch(plan_of(setup)))


def map_png(setup: Setup, strategy: str) -> bytes:
    """The speedup of a strategy over draft length and batch, for print."""
    from analysis import figures  # noqa: PLC0415 — matplotlib costs a second at import
    from analysis.planning.figures import speedup_map  # noqa: PLC0415 — see above

    with downloads.DRAWING:
        return figures.png(speedup_map(plan_of(setup), strategy))


def _drafter(setup: Setup, strategy: str) -> Drafter:
    """What drafts in a strategy of the plan."""
    drafters = (setup.choice.drafter, *(drafter for drafter, _ in setup.choice.against))
    names = [each.name for each in strategies(setup)]
    return drafters[names.index(strategy)]


def deployment_named(setup: Setup, strategy: str) -> Deployment:
    """The deployment of a strategy of the plan."""
    return next(each for each in strategies(setup) if each.name == strategy)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=BY_SETUP)
def losses(setup: Setup, strategy: str) -> ScheduleLosses | None:
    """What the schedule that was typed loses; None without one. Raises ValueError as the plan does."""
    if not setup.choice.schedule:
        return None
    found, schedule = deployment_named(setup, strategy), Schedule.read(setup.choice.schedule)
    known = found.acceptance.longest
    if known is not None and schedule.longest > known:
        raise ValueError(
            f"the schedule must draft at most {known} tokens, of which the acceptance of {strategy} says "
            f"something; got {schedule.longest}."
        )
    return schedule_losses(
        found,
        schedule,
        batches(setup),
        context=setup.choice.context,
        gammas=GAMMAS,
    )


def report_of(setup: Setup) -> Report:
    """What `specdec plan` says."""
    choice = setup.choice
    drafts = (
        command.draft(choice),
        *(command.other_draft(choice, *each) for each in choice.against),
    )
    parameters: tuple[tuple[str, Cell], ...] = (
        ("target", command.named(choice.model)),
        ("hardware", command.hardware(choice)),
        ("draft", "; ".join(drafts)),
        ("context", choice.context),
        ("seed", 0),
    )
    made = plan_of(setup)
    own = Schedule.read(choice.schedule) if choice.schedule else None
    price = choice.price
    try:
        return plan_report(made, parameters, schedule=own, price_per_hour=price)
    except ValueError:  # of the schedule: said where it is typed
        return plan_report(made, parameters, price_per_hour=price)


@st.cache_data(max_entries=128, show_spinner=False, hash_funcs=BY_SETUP)
def compared(setup: Setup) -> pd.DataFrame:
    """A row per strategy: up to which batch it pays, the most it gives, what it loses against the best."""
    made = plan_of(setup)
    rows = []
    for name in made.strategies:
        choices, lost = made.of(name), made.lost(name)
        top = max(choices, key=lambda choice: choice.speedup.value)
        rows.append(
            {
                "strategy": name,
                "pays up to": max((each.batch for each in choices if each.gamma), default=0),
                "most": top.speedup.value,
                "at batch": top.batch,
                "with γ": top.gamma,
                "lost, mean": sum(lost) / len(lost),
                "lost, most": max(lost),
                "schedule": made.schedule(name).text,
            }
        )
    return pd.DataFrame(rows)


@st.cache_resource(max_entries=128, show_spinner=False, hash_funcs=BY_SETUP)
def configuration(
    setup: Setup, strategy: str, engine: Engine, target: str, draft: str, *, falling: bool
) -> Configuration:
    """The files of an engine for the plan's schedule of a strategy. Raises ValueError for what cannot be."""
    found, made = deployment_named(setup, strategy), plan_of(setup)
    return write_configuration(
        engine,
        made.schedule(strategy, falling=falling),
        method=found.method,
        variant=VARIANT_OF.get(_drafter(setup, strategy)),
        acceptance=found.acceptance,
        target=target or None,
        draft=draft or None,
        batch=setup.batch,
        largest_batch=max(made.batches[-1], setup.batch),
    )


def _ends(value: Estimate) -> tuple[float | None, float | None]:
    return (None, None) if value.interval is None else value.interval
