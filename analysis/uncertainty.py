"""What counts say about p: estimates with intervals from tables, bounds from totals."""

from __future__ import annotations

import math
from typing import TypeAlias

from simulator import AcceptanceTable, AcceptanceTotals, Estimate

Range: TypeAlias = tuple[float, float]
"""The smallest and the largest value that counts allow; equal ends mean that the value is known."""


def estimate_p(table: AcceptanceTable, *, level: float = 0.95) -> Estimate:
    """p pooled over depths, Σ accepted / Σ tested, with its Wilson interval.

    The maximum-likelihood value of one p for all depths under random stopping of the drafts. The
    interval takes tested tokens as independent: right for simulated rounds, too narrow for the
    rounds of real requests. Unknown (NaN) if nothing was tested.

    >>> estimate_p(AcceptanceTable(rounds=100, drafted=200, tested=(100, 70), accepted=(70, 50)))
    0.706 [0.633, 0.769]
    """
    return _wilson(sum(table.accepted), sum(table.tested), level)


def estimate_p_by_depth(table: AcceptanceTable, *, level: float = 0.95) -> tuple[Estimate, ...]:
    """P(accepted | tested) at each depth with its Wilson interval, shape [depths].

    >>> estimate_p_by_depth(AcceptanceTable(rounds=100, drafted=200, tested=(100, 70), accepted=(70, 50)))
    (0.700 [0.604, 0.781], 0.714 [0.599, 0.807])
    """
    return tuple(
        _wilson(accepted, tested, level)
        for accepted, tested in zip(table.accepted, table.tested, strict=True)
    )


def one_p_probability(table: AcceptanceTable) -> float:
    """The chance of depths differing as much as these if one p ruled them all (NaN with one depth).

    Likelihood-ratio test: G = 2 Σ [accepted log(p_i / p) + rejected log((1 - p_i) / (1 - p))] over
    the tested depths against chi-square with one degree of freedom less than depths (Wilks 1938).

    >>> round(one_p_probability(AcceptanceTable(
    ...     rounds=100, drafted=200, tested=(100, 70), accepted=(70, 50))), 2)
    0.84
    """
    from scipy.special import chdtrc  # noqa: PLC0415 — scipy.stats would cost a second at import

    depths = [(a, t) for a, t in zip(table.accepted, table.tested, strict=True) if t]
    kept, tested = sum(a for a, _ in depths), sum(t for _, t in depths)
    if len(depths) < 2:
        return math.nan
    apart = math.fsum(_log_likelihood(a, t, a / t) for a, t in depths)
    together = _log_likelihood(kept, tested, kept / tested)
    return float(chdtrc(len(depths) - 1, max(2.0 * (apart - together), 0.0)))


def p_bounds(totals: AcceptanceTotals) -> Range:
    """The smallest and the largest pooled p that the totals allow; nothing is assumed between them.

    p = accepted / tested and tested = accepted + rejections, so the bounds are those of the number
    of rejected tokens over all ways to spread the counts over rounds. Equal bounds mean that p is
    known. (NaN, NaN) if nothing was drafted.

    A llama.cpp line with two tokens missing from 3 × 87, where is not known:

    >>> low, high = p_bounds(AcceptanceTotals(rounds=87, drafted=259, accepted=167,
    ...                                       accepted_by_depth=(70, 55, 42), longest_draft=3))
    >>> round(low, 4), round(high, 4)
    (0.7877, 0.7952)
    """
    if totals.drafted == 0:
        return math.nan, math.nan
    least, most = rejection_bounds(totals)
    return _share(totals.accepted, most), _share(totals.accepted, least)


def p_interval(totals: AcceptanceTotals, *, level: float = 0.95) -> Range | None:
    """What the totals allow for the pooled p with sampling error added: Wilson at both ends.

    Holds at `level` for every way to spread the counts over rounds. None if nothing was drafted.

    >>> low, high = p_interval(AcceptanceTotals(rounds=87, drafted=259, accepted=167,
    ...                                         accepted_by_depth=(70, 55, 42), longest_draft=3))
    >>> round(low, 3), round(high, 3)
    (0.728, 0.844)
    """
    if totals.drafted == 0:
        return None
    least, most = rejection_bounds(totals)
    low = _wilson(totals.accepted, totals.accepted + most, level).interval
    high = _wilson(totals.accepted, totals.accepted + least, level).interval
    return None if low is None or high is None else (low[0], high[1])


def p_by_depth_bounds(totals: AcceptanceTotals) -> tuple[Range, ...] | None:
    """Bounds of P(accepted | tested) per depth, shape [depths]; None if no depth is printed.

    Depth i tested at most the rounds alive there, and at least those less the drafts that can have
    ended before it: each of them lacks depths - i of the missing tokens. Every depth's bounds hold,
    though not all ends can be reached at once. (NaN, NaN) where nothing can have been tested.

    >>> bounds = p_by_depth_bounds(AcceptanceTotals(rounds=87, drafted=259, accepted=167,
    ...                                             accepted_by_depth=(70, 55, 42), longest_draft=3))
    >>> [(round(low, 3), round(high, 3)) for low, high in bounds]
    [(0.805, 0.805), (0.786, 0.797), (0.764, 0.792)]
    """
    kept = totals.depth_bounds
    if kept is None or totals.rounds is None:
        return None
    longest = totals.longest_draft
    missing = None if longest is None else max(totals.rounds * longest - totals.drafted, 0)
    ranges: list[Range] = []
    alive = (totals.rounds, totals.rounds)
    for depth, (low, high) in enumerate(kept):
        # Without the longest draft, every round alive may have ended before this depth.
        cut = alive[0] if missing is None else missing // (len(kept) - depth)
        fewest_tested = max(alive[0] - cut, low)
        if alive[1] == 0:
            ranges.append((math.nan, math.nan))
        else:
            ranges.append(
                (low / alive[1], min(high / fewest_tested, 1.0) if fewest_tested else 1.0)
            )
        alive = (low, high)
    return tuple(ranges)


def rejection_bounds(totals: AcceptanceTotals) -> tuple[int, int]:
    """The smallest and the largest number of rejected tokens (at most one a round) in the totals.

    >>> rejection_bounds(AcceptanceTotals(rounds=10, drafted=40, accepted=30, longest_draft=4))
    (3, 10)
    """
    if totals.rounds is None or totals.longest_draft is None:
        return _without_depths(totals)
    if totals.accepted_by_depth is not None:
        return _with_depths(totals.rounds, totals.accepted_by_depth, totals.drafted)
    least, most = _without_depths(totals)
    if totals.accepted_by_depth_bounds is not None:
        # A round that kept every depth was not rejected; each missing token ends at most one more.
        low, high = totals.accepted_by_depth_bounds[-1]
        missing = totals.rounds * totals.longest_draft - totals.drafted
        least = max(least, totals.rounds - high - missing)
        most = min(most, totals.rounds - low)
    return least, most


def _with_depths(rounds: int, by_depth: tuple[int, ...], drafted: int) -> tuple[int, int]:
    depths = len(by_depth)
    reached = (rounds, *by_depth)
    ended = [reached[n] - reached[n + 1] for n in range(depths)]  # rounds that kept n < depths
    missing = rounds * depths - drafted
    # A round that kept n tokens and was rejected drafted n + 1 or more: up to depths - n - 1 of the
    # missing tokens hide behind it. One that simply ended after n hides depths - n.
    behind_rejections = sum(count * (depths - n - 1) for n, count in enumerate(ended))
    fewest_cut = max(0, missing - behind_rejections)
    most_cut = 0
    for n in reversed(range(depths)):  # the cheapest cuts are the latest
        cuts = min(ended[n], missing // (depths - n))
        most_cut += cuts
        missing -= cuts * (depths - n)
    return sum(ended) - most_cut, sum(ended) - fewest_cut


def _without_depths(totals: AcceptanceTotals) -> tuple[int, int]:
    """A rejection wastes its own token at least and a whole draft of the longest length at most."""
    wasted, longest = totals.drafted - totals.accepted, totals.longest_draft
    most = wasted if totals.rounds is None else min(wasted, totals.rounds)
    if longest is None:
        return min(wasted, 1), most
    return -(-wasted // longest) if wasted else 0, most


def _log_likelihood(successes: int, trials: int, p: float) -> float:
    failures = trials - successes
    return (successes and successes * math.log(p)) + (failures and failures * math.log1p(-p))


def _share(accepted: int, rejected: int) -> float:
    return accepted / (accepted + rejected)


def _wilson(successes: int, trials: int, level: float) -> Estimate:
    from scipy.special import ndtri  # noqa: PLC0415 — scipy.stats would cost a second at import

    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be a number between 0 and 1; got {level!r}.")
    if trials == 0:
        return Estimate(value=math.nan)
    share = successes / trials
    z2 = float(ndtri(0.5 + level / 2.0)) ** 2 / trials
    center = (share + z2 / 2.0) / (1.0 + z2)
    half = math.sqrt(z2 * (share * (1.0 - share) + z2 / 4.0)) / (1.0 + z2)
    # Wilson's interval ends exactly at 0 or 1 when no or all trials succeed; rounding must not say otherwise.
    low = 0.0 if successes == 0 else center - half
    high = 1.0 if successes == trials else center + half
    return Estimate(
        value=share,
        se=math.sqrt(share * (1.0 - share) / trials),
        interval=(low, high),
        level=level,
    )
