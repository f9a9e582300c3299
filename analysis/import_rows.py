"""An imported log as rows: quantity, value, lower and upper end, how it is known."""

from __future__ import annotations

import math

from analysis.log_summary import LogSummary
from analysis.output import Row
from analysis.round_time import PassTime
from analysis.uncertainty import Range
from simulator import AcceptanceTable, Counts, Estimate, ReportedRatio

_IF_FULL = "from printed ratios, if every draft had every position"
_SHORT = 0.95  # of the longest draft, on average: below it drafts had several lengths
_OTHERWISE_SHOWN = {"tokens_per_round", "survival", "accepted_fraction"}
COLUMNS = ("quantity", "value", "low", "high", "how_known")


def log_rows(
    counts: Counts | None, summary: LogSummary, printed: tuple[ReportedRatio, ...]
) -> tuple[Row, ...]:
    """Every quantity of one log: counts, then p, tokens per round and speedup as far as they follow."""
    return (
        *(() if counts is None else _count_rows(counts, summary)),
        *_p_rows(summary, _IF_FULL if counts is None else "accepted / tested"),
        *_token_rows(summary, printed),
        *_other_ratios(printed if counts is None else ()),
        *_speed_rows(summary),
    )


def drafts_vary(summary: LogSummary) -> bool:
    """True if drafts were clearly shorter than the longest on average: no closed form fits them."""
    length, gamma = summary.draft_length, summary.gamma
    return length is not None and gamma is not None and length < _SHORT * gamma


def time_rows(times: PassTime | None) -> tuple[Row, ...]:
    """What a round takes, in seconds and in plain steps; none where the log says nothing of time."""
    if times is None:
        return ()
    named = (
        ("seconds per round", times.seconds_per_round),
        ("rounds per second", times.rounds_per_s),
        ("cost of a round in plain steps", times.round_cost),
        ("share of a round spent drafting", times.draft_share),
        ("speedup by the clock", times.speedup),
    )
    rows: list[Row] = []
    for name, derived in named:
        if derived is None:
            continue
        low, high = derived.bounds(2.0)
        known = (None, None) if low == high else (low, high)
        error = ", ± 2 se" if derived.se_most else ""
        rows.append((name, derived.number, *known, f"{derived.how}{error}"))
    return tuple(rows)


def _count_rows(counts: Counts, summary: LogSummary) -> list[Row]:
    rows: list[Row] = [
        ("rounds", summary.rounds, None, None, "see notes" if summary.rounds else "not in the log"),
        ("drafted tokens", summary.drafted, None, None, "counted"),
        ("accepted tokens", summary.accepted, None, None, "counted"),
    ]
    if isinstance(counts, AcceptanceTable):
        for depth, (tested, kept) in enumerate(zip(counts.tested, counts.accepted, strict=True), 1):
            rows.append((f"kept at depth {depth}", kept, None, None, f"of {tested:,} tested"))
    elif counts.depth_bounds is not None:
        rows += [_kept_row(depth, *ends) for depth, ends in enumerate(counts.depth_bounds, 1)]
    return rows


def _kept_row(depth: int, low: int, high: int) -> Row:
    if low == high:
        return (f"kept at depth {depth}", low, None, None, "recovered from the printed ratio")
    return (f"kept at depth {depth}", None, low, high, "the printed ratio is rounded")


def _p_rows(summary: LogSummary, how: str) -> list[Row]:
    rows: list[Row] = []
    if summary.p is not None:
        rows.append(_estimate("p, pooled over depths", summary.p, f"{how}, 95 %"))
    elif not math.isnan(summary.p_range[0]):
        rows.append(_range("p, pooled over depths", summary.p_range, how))
        if summary.p_interval is not None:
            both = "the same with sampling error, 95 %"
            rows.append(("p, pooled over depths", None, *summary.p_interval, both))
    for depth, estimate in enumerate(summary.p_by_depth or (), 1):
        rows.append(_estimate(f"p at depth {depth}", estimate, f"{how}, 95 %"))
    for depth, ends in enumerate(summary.p_by_depth_range or (), 1):
        if not math.isnan(ends[0]):
            rows.append(_range(f"p at depth {depth}", ends, how))
    if math.isnan(summary.accepted_fraction):
        return rows
    rate = "accepted / drafted, what engines print as acceptance rate; not p"
    rows.append(("accepted fraction", summary.accepted_fraction, None, None, rate))
    return rows


def _token_rows(summary: LogSummary, printed: tuple[ReportedRatio, ...]) -> list[Row]:
    rows: list[Row] = []
    if summary.tokens_per_round is not None and summary.rounds is not None:
        rows.append(
            _estimate("tokens per round", summary.tokens_per_round, "1 + accepted / rounds")
        )
    for ratio in printed:
        if ratio.quantity == "tokens_per_round":
            how = _printed(ratio)
            rows.append(("tokens per round", ratio.value, *ratio.bounds, how))
    if drafts_vary(summary):
        return rows
    if summary.formula_tokens is not None:
        how = f"closed form with p and γ = {summary.gamma}"
        rows.append(_range("tokens per round", summary.formula_tokens, how))
    if summary.naive_tokens is not None and summary.gamma != 1:  # at 1 the two are one
        how = "closed form if accepted / drafted is mistaken for p: wrong"
        rows.append(("tokens per round", summary.naive_tokens, None, None, how))
    if summary.equivalent_p is not None and summary.p is None:
        mean = "tokens per round" if math.isnan(summary.p_range[0]) else "accepted / drafted"
        how = f"would explain {mean} if every draft had {summary.gamma} tokens"
        rows.append(("equivalent p", summary.equivalent_p, None, None, how))
    return rows


def _other_ratios(printed: tuple[ReportedRatio, ...]) -> list[Row]:
    """Ratios that stand for themselves: nothing else in the table follows from them."""
    rows: list[Row] = []
    for ratio in printed:
        if ratio.quantity in _OTHERWISE_SHOWN:
            continue
        where = "" if ratio.depth is None else f" at depth {ratio.depth + 1}"
        name = f"{ratio.quantity.replace('_', ' ')}{where}"
        rows.append((name, ratio.value, *ratio.bounds, _printed(ratio)))
    return rows


def _printed(ratio: ReportedRatio) -> str:
    over = "" if ratio.averaged_over == "unknown" else f" over {ratio.averaged_over}"
    return f"printed by the engine{over}"


def _speed_rows(summary: LogSummary) -> list[Row]:
    if summary.speedup is None or summary.round_cost is None:
        return []
    how = f"tokens per round / cost of a round ({summary.round_cost:.3f} plain steps)"
    return [_estimate("speedup", summary.speedup, how)]


def _estimate(name: str, estimate: Estimate, how: str) -> Row:
    if estimate.interval is not None:
        return (name, estimate.value, *estimate.interval, how)
    if estimate.se is None:
        return (name, estimate.value, None, None, how)
    low, high = estimate.value - 2 * estimate.se, estimate.value + 2 * estimate.se
    return (name, estimate.value, low, high, f"{how}, ± 2 se")


def _range(name: str, ends: Range, how: str) -> Row:
    low, high = ends
    if low == high:
        return (name, low, None, None, how)
    return (name, None, low, high, f"{how}; within this range")
