"""What the counts of an engine's log mean: p, tokens per round, speedup, each as far as they go."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from analysis.by_unit import UnitIntervals
from analysis.converting import equivalent_p
from analysis.formulas import expected_tokens, round_cost
from analysis.ratio_summary import ratio_bounds
from analysis.uncertainty import (
    Range,
    estimate_p,
    estimate_p_by_depth,
    p_bounds,
    p_by_depth_bounds,
    p_interval,
)
from simulator import AcceptanceTable, AcceptanceTotals, Counts, Estimate, ReportedRatio
from simulator._checks import as_count


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSummary:
    """The quantities that follow from counts; None where nothing follows.

    `p` and `p_by_depth` are estimates with intervals, where every tested token is known; `p_range`
    and `p_by_depth_range` are what the counts allow, sampling error left out; `p_interval` has both.
    `formula_tokens` is E(p, gamma) over `p_range`; `naive_tokens` is what the closed form promises
    when accepted / drafted is mistaken for p; `equivalent_p` explains accepted / drafted if every
    draft had gamma tokens. `draft_length` is the mean, drafted / rounds; `round_cost` and `speedup`
    use it. `by_unit` are the errors of a log that tells requests apart; all intervals are then those.
    """

    rounds: int | None
    drafted: int | None
    accepted: int | None
    draft_length: float | None
    gamma: int | None
    accepted_fraction: float
    p: Estimate | None
    p_range: Range
    p_interval: Range | None
    p_by_depth: tuple[Estimate, ...] | None
    p_by_depth_range: tuple[Range, ...] | None
    tokens_per_round: Estimate | None
    formula_tokens: Range | None
    naive_tokens: float | None
    equivalent_p: float | None
    round_cost: float | None = None
    speedup: Estimate | None = None
    by_unit: UnitIntervals | None = None


def summarize(
    counts: Counts | None,
    *,
    printed: tuple[ReportedRatio, ...] = (),
    gamma: int | None = None,
    cost_ratio: float | None = None,
    verify_cost: float = 1.0,
    overhead: float = 0.0,
) -> LogSummary:
    """Everything that follows from the counts of a log, and nothing else.

    Without counts (None) what follows from the `printed` ratios, if every draft had as many tokens
    as they have positions; of means alone p is unknown (NaN). `gamma` is the configured draft
    length, for logs that do not show it: it narrows the bounds of p and allows the equivalent p.
    The speedup needs `cost_ratio` and the rounds. Raises ValueError if `gamma` contradicts the log.

    >>> counts = AcceptanceTotals(
    ...     rounds=87, drafted=259, accepted=167, accepted_by_depth=(70, 55, 42), longest_draft=3)
    >>> summary = summarize(counts, cost_ratio=0.1)
    >>> [round(end, 3) for end in summary.p_range], [round(end, 2) for end in summary.formula_tokens]
    ([0.788, 0.795], [2.9, 2.93])
    >>> summary.tokens_per_round, summary.speedup
    (2.92 ± 0.13, 2.250 ± 0.099)
    """
    undrafted = round_cost(0, cost_ratio or 0.0, verify_cost=verify_cost, overhead=overhead)
    summary = _of_ratios(printed, gamma) if counts is None else _of_counts(counts, gamma)
    length, tokens = summary.draft_length, summary.tokens_per_round
    if cost_ratio is None or length is None or tokens is None:
        return summary
    cost = float(undrafted) + cost_ratio * length
    return dataclasses.replace(summary, round_cost=cost, speedup=tokens.scaled(1.0 / cost))


def _of_counts(counts: Counts, gamma: int | None) -> LogSummary:
    counts = with_gamma(counts, gamma)
    return _of_table(counts) if isinstance(counts, AcceptanceTable) else _of_totals(counts)


def _of_ratios(printed: tuple[ReportedRatio, ...], gamma: int | None) -> LogSummary:
    if printed and not any(ratio.quantity == "survival" for ratio in printed):
        return _of_means(printed, None if gamma is None else as_count("gamma", gamma, least=1))
    bounds = ratio_bounds(printed)
    if gamma is not None:
        _refuse_other_gamma(bounds.gamma, as_count("gamma", gamma, least=1))
    tokens, fraction = bounds.tokens_per_round, bounds.accepted_fraction
    return LogSummary(
        rounds=None,
        drafted=None,
        accepted=None,
        draft_length=float(bounds.gamma),
        gamma=bounds.gamma,
        accepted_fraction=math.nan if fraction is None else fraction,
        p=None,
        p_range=bounds.p,
        p_interval=None,
        p_by_depth=None,
        p_by_depth_range=bounds.p_by_depth,
        tokens_per_round=None if tokens is None else Estimate(value=tokens),
        formula_tokens=_formula_tokens(bounds.p, bounds.gamma),
        naive_tokens=None if fraction is None else _naive_tokens(fraction, bounds.gamma),
        equivalent_p=None if fraction is None else _equivalent_p(fraction, bounds.gamma),
    )


def _of_means(printed: tuple[ReportedRatio, ...], gamma: int | None) -> LogSummary:
    """Means alone: p stays unknown (NaN); one that explains tokens per round is the equivalent p."""
    means = {ratio.quantity: ratio.value for ratio in reversed(printed)}  # the first of each
    tokens, fraction = means.get("tokens_per_round"), means.get("accepted_fraction")
    share = fraction
    if tokens is not None and gamma is not None:
        share = (tokens - 1.0) / gamma
    if share is None or not 0.0 <= share <= 1.0:
        share = math.nan
    return LogSummary(
        rounds=None,
        drafted=None,
        accepted=None,
        draft_length=None if gamma is None else float(gamma),
        gamma=gamma,
        accepted_fraction=math.nan if fraction is None else fraction,
        p=None,
        p_range=(math.nan, math.nan),
        p_interval=None,
        p_by_depth=None,
        p_by_depth_range=None,
        tokens_per_round=None if tokens is None else Estimate(value=tokens),
        formula_tokens=None,
        naive_tokens=None
        if fraction is None or not 0.0 <= fraction <= 1.0
        else _naive_tokens(fraction, gamma),
        equivalent_p=_equivalent_p(share, gamma),
    )


def _of_table(table: AcceptanceTable) -> LogSummary:
    p = estimate_p(table)
    gamma = table.depths if table.length_rule == "fixed" else None  # one closed form, one length
    return LogSummary(
        rounds=table.rounds,
        drafted=table.drafted,
        accepted=sum(table.accepted),
        draft_length=_per_round(table),
        gamma=gamma,
        accepted_fraction=table.accepted_fraction.value,
        p=p,
        p_range=(p.value, p.value),
        p_interval=p.interval,
        p_by_depth=estimate_p_by_depth(table),
        p_by_depth_range=None,
        tokens_per_round=table.tokens_per_round,
        formula_tokens=_formula_tokens((p.value, p.value), gamma),
        naive_tokens=_naive_tokens(table.accepted_fraction.value, gamma),
        equivalent_p=_equivalent_p(table.accepted_fraction.value, gamma),
    )


def _of_totals(totals: AcceptanceTotals) -> LogSummary:
    bounds = p_bounds(totals)
    return LogSummary(
        rounds=totals.rounds,
        drafted=totals.drafted,
        accepted=totals.accepted,
        draft_length=_per_round(totals),
        gamma=totals.longest_draft,
        accepted_fraction=totals.accepted_fraction,
        p=None,
        p_range=bounds,
        p_interval=p_interval(totals),
        p_by_depth=None,
        p_by_depth_range=p_by_depth_bounds(totals),
        tokens_per_round=totals.tokens_per_round if totals.rounds else None,
        formula_tokens=_formula_tokens(bounds, totals.longest_draft),
        naive_tokens=_naive_tokens(totals.accepted_fraction, totals.longest_draft),
        equivalent_p=_equivalent_p(totals.accepted_fraction, totals.longest_draft),
    )


def with_gamma(counts: Counts, gamma: int | None) -> Counts:
    """The counts with the configured draft length, as a table if that makes every depth known.

    Depths beyond the last printed one kept nothing. Raises ValueError if gamma contradicts the counts.

    >>> with_gamma(AcceptanceTotals(rounds=9, drafted=18, accepted=4, accepted_by_depth=(4,)), 2)
    AcceptanceTable(rounds=9, drafted=18, tested=(9, 4), accepted=(4, 0), discarded=0, length_rule='fixed')
    """
    if gamma is None:
        return counts
    gamma = as_count("gamma", gamma, least=1)
    if isinstance(counts, AcceptanceTable):
        _refuse_other_gamma(counts.depths, gamma)
        return counts
    if counts.longest_draft is not None:
        _refuse_other_gamma(counts.longest_draft, gamma)
        return counts
    least = -(-counts.drafted // counts.rounds) if counts.rounds else 1
    least = max(least, len(counts.depth_bounds or ()))
    if gamma < least:
        raise ValueError(
            f"gamma must be at least {least} to draft and keep these tokens; got {gamma}."
        )
    by_depth, bounds = counts.accepted_by_depth, counts.accepted_by_depth_bounds
    deeper = gamma - len(counts.depth_bounds or ())
    totals = dataclasses.replace(
        counts,
        longest_draft=gamma,
        accepted_by_depth=None if by_depth is None else by_depth + (0,) * deeper,
        accepted_by_depth_bounds=None if bounds is None else bounds + ((0, 0),) * deeper,
    )
    return totals.to_table() or totals


def _per_round(counts: Counts) -> float | None:
    return counts.drafted / counts.rounds if counts.rounds else None


def _refuse_other_gamma(positions: int, gamma: int) -> None:
    if gamma != positions:
        raise ValueError(f"gamma must be the {positions} positions of the log; got {gamma}.")


def _formula_tokens(p_range: Range, gamma: int | None) -> Range | None:
    if gamma is None or math.isnan(p_range[0]):
        return None
    return float(expected_tokens(p_range[0], gamma)), float(expected_tokens(p_range[1], gamma))


def _naive_tokens(fraction: float, gamma: int | None) -> float | None:
    if gamma is None or math.isnan(fraction):
        return None
    return float(expected_tokens(fraction, gamma))


def _equivalent_p(fraction: float, gamma: int | None) -> float | None:
    if not gamma or math.isnan(fraction):
        return None
    return equivalent_p(gamma=gamma, accepted_fraction=fraction)
