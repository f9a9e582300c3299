"""What a measured run says, in a few sentences: does it pay here, and does the formula know why."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Literal, TypeAlias

from analysis.runs.prediction import FEWEST_PROMPTS, Forecast, GammaMeasured, RunSummary
from simulator import Estimate

Outcome: TypeAlias = Literal["Pays", "Costs", "Undecided"]
CLOSES_WITHIN = 0.05
_NEAR = 0.03  # a formula this close needs no excuse
_SMALL = 0.02  # [plain steps] what a reason must cost to be named
_UNEVEN = "acceptance is not one p at every depth, or short texts waste their last round"


def outcome(summary: RunSummary) -> Outcome:
    """Whether the best measured draft length beats plain decoding, as far as the prompts can tell.

    "Pays" or "Costs" if its whole interval lies on that side of 1; without an interval, "Undecided".
    """
    interval = summary.at(summary.best).speedup.interval
    if interval is None or interval[0] <= 1.0 <= interval[1]:
        return "Undecided"
    return "Pays" if interval[0] > 1.0 else "Costs"


def headline(summary: RunSummary) -> str:
    """The best measured gamma, what the formula says of it, and why the article says something else."""
    best = summary.at(summary.best)
    closure = next(c for c in summary.closures if c.gamma == summary.best)
    sentence = (
        f"{outcome(summary)}: best measured γ = {best.gamma}, {times(best.speedup)} while decoding; "
        f"the formula with this run's own costs says {closure.speedup.value:.2f}×"
    )
    article = _article(summary)
    if article is None:
        return f"{sentence}."
    sentence += f", the article's simple one {article.speedup.value:.2f}×"
    if abs(article.error.value) <= _NEAR:
        return f"{sentence}."
    if article.error.value < 0.0:
        return f"{sentence}: {_UNEVEN}."
    return f"{sentence}: {_reason(summary, best)}."


def advice(summary: RunSummary) -> str:
    """What to do with it, in one sentence."""
    kind, best = outcome(summary), summary.best
    if kind == "Costs":
        return "No draft length that was measured pays: decode plainly on this machine."
    if kind == "Undecided":
        return "The prompts cannot tell the best draft length from plain decoding: measure more prompts."
    if not summary.as_good:
        return f"Use γ = {best}: no other draft length that was measured comes as far."
    others = ", ".join(str(gamma) for gamma in summary.as_good)
    return f"Use γ = {best}; these prompts cannot tell it from γ = {others}."


def findings(summary: RunSummary) -> tuple[str, ...]:
    """How well the formula did, and what a reader must know of the intervals; one sentence each."""
    whole = times(summary.at(summary.best).whole_request)
    return (
        f"Whole requests, with prefill: {whole} at γ = {summary.best}.",
        _closing(summary),
        *_foreseeing(summary),
        *_foretelling(summary),
        _intervals(summary),
        *_left_out(summary),
    )


def times(estimate: Estimate) -> str:
    """A speedup with two decimals: 1.55× [1.50, 1.60]."""
    if estimate.interval is None:
        return f"{estimate.value:.2f}×"
    low, high = estimate.interval
    return f"{estimate.value:.2f}× [{low:.2f}, {high:.2f}]"


def _article(summary: RunSummary) -> Forecast | None:
    found = (entry.article for entry in summary.predictions if entry.gamma == summary.best)
    return next(found, None)


def _reason(summary: RunSummary, best: GammaMeasured) -> str:
    """What the article leaves out, the dearest first."""
    width = f"{best.width:.3g}" if summary.branches else str(best.gamma + 1)
    left_out = [
        (
            best.verify_cost.value - 1.0,
            f"the target pass over {width} tokens costs {best.verify_cost.value:.2f} plain steps",
        ),
        (
            summary.overhead.value,
            f"a round spends {summary.overhead.value:.2f} plain steps outside of the models",
        ),
    ]
    reasons = [words for cost, words in sorted(left_out, reverse=True) if cost > _SMALL]
    if not reasons:
        return _UNEVEN
    return " and ".join(reasons)


def _closing(summary: RunSummary) -> str:
    error = summary.closure_error
    if (summary.branches or summary.by_step) and len(summary.measured) == 1:
        return (
            "Closure: with one draft length alone the run's costs are those of its clock, so that they "
            "explain it by construction; measure a second depth to test them."
        )
    start = f"Closure: counts and costs of the run explain its clock within {error:.1%}"
    if error <= CLOSES_WITHIN:
        return f"{start} (median over γ)."
    return (
        f"{start} (median over γ) only: some cost of a round is not what the formula takes it for."
    )


def _foreseeing(summary: RunSummary) -> list[str]:
    foreseen = [entry for entry in summary.predictions if entry.foreseen]
    if not foreseen:
        return [summary.refusal] if summary.refusal else []
    by_depth = _median_error(entry.by_depth for entry in foreseen)
    constant = _median_error(entry.constant for entry in foreseen)
    article = _median_error(entry.article for entry in foreseen)
    sentence = (
        f"Prediction: acceptance at γ = {foreseen[0].source} alone foresees the other draft lengths "
        f"within {by_depth} by depth, {constant} by one p, {article} by the article's simple formula "
        "(median over γ)."
    )
    return [sentence]


def _foretelling(summary: RunSummary) -> list[str]:
    """How well heads knew their acceptance beforehand, at the best draft length."""
    found = next((each for each in summary.foretold if each.gamma == summary.best), None)
    if found is None:
        return []
    best, forecast = summary.at(summary.best), found.forecast
    sentence = (
        f"Foretold: the heads' accuracies on held-out text, taken as independent, say "
        f"{forecast.tokens.value:.2f} tokens per round where {best.tokens_per_round.value:.2f} were "
        f"measured, and with this run's costs {forecast.speedup.value:.2f}× "
        f"({forecast.error.value:+.1%})."
    )
    return [sentence]


def _median_error(forecasts: Iterable[Forecast]) -> str:
    return f"{statistics.median(abs(forecast.error.value) for forecast in forecasts):.1%}"


def _intervals(summary: RunSummary) -> str:
    prompts = summary.prompts
    if prompts == 1:
        return "One prompt: there are no intervals, for nothing says how another text would do."
    words = f"Intervals are 95 %, from drawing the {prompts} prompts again as wholes"
    if prompts < FEWEST_PROMPTS:
        return f"{words}; of so few prompts they say little."
    return f"{words}: rounds of one text are not independent."


def _left_out(summary: RunSummary) -> list[str]:
    if not summary.left_out:
        return []
    return [
        f"{summary.left_out} requests were left out: their prompt was not measured with every γ yet."
    ]
