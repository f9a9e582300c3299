"""What the page of explanations shows, computed once per setting: calls into analysis, no formulas."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import streamlit as st

from analysis.explaining.charts import waterfall_chart
from analysis.explaining.explanation import Explanation
from analysis.explaining.predicted import explain
from analysis.explaining.report import explain_report
from analysis.explaining.reported import explain_measured
from analysis.facts import with_facts
from analysis.output import Cell, Report
from app_pages import downloads
from app_pages.deployment import command
from app_pages.deployment import results as deploy_results
from app_pages.deployment.choice import Choice
from app_pages.deployment.log import LastLog
from app_pages.deployment.results import BY_SETUP, Setup
from app_pages.your_engine.results import LOG_FILE
from simulator import Clock, Observation, ReportedRatio

_BY: dict[str | type[Any], Callable[[Any], Any]] = {**BY_SETUP, LastLog: lambda log: log.key}
_DECIMALS = 2
_NUMBERS = "numbers"


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=_BY)
def explanation(setup: Setup, log: LastLog | None) -> Explanation:
    """Why a round is as fast as it is: predicted, from the log, or from the numbers that were typed.

    Raises ValueError where there is nothing to explain.
    """
    choice = setup.choice
    if choice.source == "deployment":
        return _predicted(setup)
    if choice.source == "numbers":
        seen = observation_of(choice)
    elif log is None:
        raise ValueError("There is no log yet: paste or drop one under Import.")
    else:
        seen = with_facts(
            log.observation, tokens_per_s=choice.speed, plain_tokens_per_s=choice.plain_speed
        )
    return explain_measured(seen, verify_cost=choice.pass_cost, cost_ratio=choice.step_cost)


def _predicted(setup: Setup) -> Explanation:
    found, choice = deploy_results.deployment(setup), setup.choice
    lengths = range(1, deploy_results.longest(setup) + 1)
    others = [
        found.parts(gamma, setup.batch, choice.context) for gamma in lengths if gamma != setup.gamma
    ]
    return explain(deploy_results.parts_of(setup), name=found.name, others=others)


def observation_of(choice: Choice) -> Observation:
    """The typed numbers as an observation of full drafts; what is missing stays unknown."""
    printed: tuple[ReportedRatio, ...] = ()
    if choice.tau is not None:
        digits = len(f"{choice.tau:.10g}".partition(".")[2])
        printed = (
            ReportedRatio(
                quantity="tokens_per_round",
                value=choice.tau,
                half_width=0.5 * 10.0 ** -max(digits, _DECIMALS),
                averaged_over="rounds",
            ),
        )
    share = choice.share
    return Observation(
        name=_NUMBERS,
        gamma=choice.gamma,
        batch=float(choice.batch),
        length_rule="fixed",
        printed=printed,
        clock=Clock(
            tokens_per_s=choice.speed,
            plain_tokens_per_s=choice.plain_speed,
            running=float(choice.batch),
            decode_s=None if share is None else 1.0,
            draft_s=share,
        ),
    )


def setup_of_run(choice: Choice, log: LastLog | None) -> Setup:
    """The deployment at the length and batch of a run: those of the log, where it is explained and has them.

    Acceptance changes neither V nor c, so that none is needed here.
    """
    gamma, batch = choice.gamma, choice.batch
    if choice.source == "log" and log is not None:
        seen = log.observation
        running = seen.batch if seen.batch is not None else seen.clock.running
        gamma = seen.gamma or gamma
        batch = batch if running is None else max(round(running), 1)
    changed = dataclasses.replace(choice, gamma=gamma, batch=batch, accept="p")
    return deploy_results.with_room(Setup(choice=changed))


def report_of(setup: Setup, log: LastLog | None) -> Report:
    """What `specdec explain` says."""
    choice, found = setup.choice, explanation(setup, log)
    predicted = choice.source == "deployment"
    parameters: tuple[tuple[str, Cell], ...] = (
        ("source", None if predicted else LOG_FILE if choice.source == "log" else "numbers"),
        ("target", command.named(choice.model) if predicted else None),
        ("hardware", command.hardware(choice) if predicted else None),
        ("draft", command.draft(choice) if predicted else None),
        ("gamma", found.gamma),
        ("batch", found.batch),
    )
    return explain_report(found, parameters)


def waterfall_png(setup: Setup, log: LastLog | None) -> bytes:
    """The waterfall for print."""
    from analysis import figures  # noqa: PLC0415 — matplotlib costs a second at import
    from analysis.explaining.figures import waterfall_figure  # noqa: PLC0415 — see above

    with downloads.DRAWING:
        return figures.png(waterfall_figure(explanation(setup, log)))


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=_BY)
def waterfall_spec(setup: Setup, log: LastLog | None) -> dict[str, object]:
    """The waterfall as Vega-Lite."""
    return waterfall_chart(explanation(setup, log)).to_dict(validate=False)
