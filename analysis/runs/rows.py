"""The rows of a measured run, for reports, the app and files: one function per table."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from analysis.output import Row
from analysis.runs.prediction import Prediction, RunSummary
from simulator import Estimate

_MOST_WIDTHS = 20
Rows: TypeAlias = Callable[[RunSummary], tuple[Row, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTable:
    """A table of a run: its name, its columns, those a terminal has no room for, and its rows."""

    name: str
    columns: tuple[str, ...]
    rows: Rows
    too_wide: tuple[str, ...] = ()


def by_gamma(summary: RunSummary) -> tuple[Row, ...]:
    """Everything measured at each draft length, and every formula's speedup beside it."""
    predictions = {entry.gamma: entry for entry in summary.predictions}
    return tuple(
        (
            entry.gamma,
            *_spread(entry.speedup),
            closure.speedup.value,
            closure.error.value,
            entry.tokens_per_round.value,
            entry.emitted_per_round.value,
            entry.accepted_fraction.value,
            entry.verify_cost.value,
            entry.round_cost.value,
            entry.draft_share.value,
            entry.verify_share.value,
            entry.rest_share.value,
            *_spread(entry.whole_request),
            *_speedups(predictions.get(entry.gamma)),
            entry.table.rounds,
            summary.prompts,
        )
        for entry, closure in zip(summary.measured, summary.closures, strict=True)
    )


def predictions(summary: RunSummary) -> tuple[Row, ...]:
    """Each draft length as foreseen from the largest one, beside what was measured."""
    rows = []
    for entry in summary.predictions:
        here = summary.at(entry.gamma)
        ways = (entry.by_depth, entry.constant, entry.article)
        rows.append(
            (
                entry.gamma,
                here.speedup.value,
                *(value for way in ways for value in (way.speedup.value, way.error.value)),
                here.tokens_per_round.value,
                *(way.tokens.value for way in ways[:2]),
                here.emitted_per_round.value,
                *(way.emitted.value for way in ways[:2]),
                "foreseen" if entry.foreseen else "the source",
            )
        )
    return tuple(rows)


def drafts(summary: RunSummary) -> tuple[Row, ...]:
    """What a round drafts and verifies, where that is more than γ tokens one after the other."""
    if not (summary.branches or summary.by_step):
        return ()
    return tuple(
        (
            entry.gamma,
            entry.nodes,
            entry.width,
            entry.draft_steps.value,
            entry.verify_cost.value,
            entry.tokens_per_round.value,
            entry.drafting_cost.value,
            entry.wider_cost.value,
            entry.outside_cost.value,
        )
        for entry in summary.measured
    )


def from_heads(summary: RunSummary) -> tuple[Row, ...]:
    """Each draft length as the heads' accuracies foretold it, with this run's costs, beside the clock."""
    rows = []
    for entry in summary.foretold:
        here, forecast = summary.at(entry.gamma), entry.forecast
        rows.append(
            (
                entry.gamma,
                here.tokens_per_round.value,
                forecast.tokens.value,
                forecast.tokens.value / here.tokens_per_round.value - 1.0,
                here.speedup.value,
                forecast.speedup.value,
                forecast.error.value,
            )
        )
    return tuple(rows)


def costs(summary: RunSummary) -> tuple[Row, ...]:
    """What the run put into the formula, with intervals."""
    unit = "step" if summary.by_step else "token"
    return (
        ("plain step [s]", *_spread(summary.plain_step_s)),
        (f"c, draft per {unit}", *_spread(summary.cost_ratio)),
        ("overhead of a round", *_spread(summary.overhead)),
        ("p at the largest γ", *_spread(summary.p)),
        *_passes(summary),
    )


def _passes(summary: RunSummary) -> tuple[Row, ...]:
    """V of every width, or, where trees make them many, of every draft length's mean pass."""
    if summary.branches and len(summary.verify_costs) > _MOST_WIDTHS:
        return tuple(
            (f"V at γ = {entry.gamma}, {entry.width:.3g} tokens", *_spread(entry.verify_cost))
            for entry in summary.measured
        )
    return tuple((f"V({width})", *_spread(cost)) for width, cost in summary.verify_costs)


def acceptance(summary: RunSummary) -> tuple[Row, ...]:
    """Counts and conditional acceptance by depth, for each draft length."""
    return tuple(
        (
            entry.gamma,
            depth + 1,
            entry.table.tested[depth],
            entry.table.accepted[depth],
            *_spread(p),
        )
        for entry in summary.measured
        for depth, p in enumerate(entry.acceptance)
    )


TABLES = (
    RunTable(
        name="by_gamma",
        columns=(
            *("gamma", "speedup", "low", "high", "closure", "closure_error", "tokens_per_round"),
            *("emitted_per_round", "accepted_fraction", "V", "round_cost", "draft", "pass"),
            *("outside", "whole_request", "whole_low", "whole_high", "by_depth", "one_p"),
            *("article", "rounds", "prompts"),
        ),
        rows=by_gamma,
        too_wide=(
            *("accepted_fraction", "round_cost", "draft", "pass", "whole_low", "whole_high"),
            *("by_depth", "one_p", "article", "rounds", "prompts"),
        ),
    ),
    RunTable(
        name="predictions",
        columns=(
            *("gamma", "measured", "by_depth", "by_depth_error", "one_p", "one_p_error"),
            *("article", "article_error", "tokens", "tokens_by_depth", "tokens_one_p"),
            *("emitted", "emitted_by_depth", "emitted_one_p", "role"),
        ),
        rows=predictions,
        too_wide=("tokens", "tokens_by_depth", "tokens_one_p"),
    ),
    RunTable(
        name="drafts",
        columns=(
            *("gamma", "nodes", "width", "draft_steps", "V", "tokens_per_round", "drafting"),
            *("wider_pass", "overhead"),
        ),
        rows=drafts,
    ),
    RunTable(
        name="from_heads",
        columns=(
            *("gamma", "tokens", "tokens_foretold", "tokens_error", "measured", "foretold"),
            "foretold_error",
        ),
        rows=from_heads,
    ),
    RunTable(name="costs", columns=("quantity", "value", "low", "high"), rows=costs),
    RunTable(
        name="acceptance",
        columns=("gamma", "depth", "tested", "accepted", "p", "low", "high"),
        rows=acceptance,
    ),
)


def _spread(estimate: Estimate) -> tuple[float, float | None, float | None]:
    return (estimate.value, *(estimate.interval or (None, None)))


def _speedups(prediction: Prediction | None) -> tuple[float, float, float]:
    if prediction is None:
        return math.nan, math.nan, math.nan
    return (
        prediction.by_depth.speedup.value,
        prediction.constant.speedup.value,
        prediction.article.speedup.value,
    )
