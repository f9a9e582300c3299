"""At which load speculation turns from a gain into a loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Literal, TypeAlias

from simulator import Estimate
from simulator.serving import ServingComparison

Measure: TypeAlias = Literal["e2e", "ttft", "tpot", "throughput"]
MEASURES: tuple[Measure, ...] = ("e2e", "ttft", "tpot", "throughput")
Kind: TypeAlias = Literal["turns", "gains", "loses", "begins to gain", "nothing to compare"]
_NAMES = {
    "e2e": "end-to-end time",
    "ttft": "time to the first token",
    "tpot": "time per token",
    "throughput": "throughput",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Turning:
    """Where along the load speculation stops gaining, of one measure.

    `kind` "turns": it gains up to `at` and loses beyond; "begins to gain": the reverse; "gains" or "loses":
    all the way, wherever both sides are stable; "nothing to compare": at no load are both. `unit` is
    "requests/s" or "users". `at` has an interval where the intervals of the gains cross 1 too. `first` and
    `last` are the least and the largest load compared. Kinds are what the means say; `open_at` are the loads
    at which the interval of the gain holds 1, and `sure` the ends of the longest run of loads that surely gain
    (lose, where `kind` is "loses"), None where none does. `ends` says which side is no longer stable first,
    "speculative" or "plain", and `ends_at` from what rate on; None where neither limit is known or they
    are not told apart.
    """

    of: Measure
    kind: Kind
    unit: str
    first: float | None = None
    last: float | None = None
    sure: tuple[float, float] | None = None
    open_at: tuple[float, ...] = ()
    at: Estimate | None = None
    ends: Literal["speculative", "plain"] | None = None
    ends_at: float | None = None

    @property
    def sentence(self) -> str:
        """What was found, for people."""
        name, unit = _NAMES[self.of], self.unit
        match self.kind:
            case "turns" | "begins to gain":
                assert self.at is not None  # noqa: S101 — both kinds have it
                span = ""
                if self.at.interval is not None:
                    low, high = self.at.interval
                    span = f" ({low:.3g} to {high:.3g})"
                turn = "stops gaining" if self.kind == "turns" else "begins to gain"
                said = f"Speculation {turn} in {name} at {self.at.value:.3g} {unit}{span}"
                if self.open_at and self.at.interval is None:
                    surely = "nowhere" if self.sure is None else _where(*self.sure, unit)
                    said += f" by the means alone; it surely gains {surely}"
            case "gains" | "loses":
                assert self.first is not None  # noqa: S101
                assert self.last is not None  # noqa: S101
                said = self._throughout(self.first, self.last)
            case _:
                said = f"Both sides are stable at none of the loads: {name} cannot be compared"
        if self.ends is None:
            return f"{said}."
        side, other = (
            ("with speculation", "without")
            if self.ends == "speculative"
            else ("without speculation", "with it")
        )
        return f"{said}; {side} the server is stable up to {self.ends_at:.3g} {unit} only, {other} beyond that."

    def _throughout(self, first: float, last: float) -> str:
        """That it gains, or loses, at all loads: as far as the intervals let that be said."""
        name, unit = _NAMES[self.of], self.unit
        whole = _where(first, last, unit)
        if not self.open_at:
            return f"Speculation {self.kind} in {name} {whole}"
        if self.sure is None:
            hold = "the intervals hold" if len(self.open_at) > 1 else "the interval holds"
            return f"Whether speculation {self.kind} in {name} {whole} is open: {hold} 1"
        low, high = self.sure
        elsewhere = "elsewhere"
        if low == first or high == last:
            elsewhere = "beyond that" if low == first else "below that"
        shown = ", ".join(f"{load:.3g}" for load in self.open_at)
        holds = f"the interval{'s' if len(self.open_at) > 1 else ''} at {shown}"
        return (
            f"Speculation surely {self.kind} in {name} {_where(low, high, unit)}; {elsewhere} it is open, "
            f"for {holds} hold{'' if len(self.open_at) > 1 else 's'} 1"
        )


def turning_rate(points: Sequence[ServingComparison], of: Measure = "e2e") -> Turning:
    """Where the gain of `points` crosses 1 as the load rises; the first crossing.

    The points are Poisson arrivals at several rates, or closed loops of several users. Between two of them
    the logarithm of the gain is taken to be linear in the load. Points at which a side is not stable have no
    gain: what ends there is said by `ends`, since a queue that grows for ever loses whatever a shorter
    round gains. Raises ValueError for no point, another measure, and points that do not share an axis.

    >>> from simulator.serving import FixedTokens, PoissonArrivals, Workload
    >>> short = FixedTokens(tokens=9)
    >>> def point(rate, gain):
    ...     load = Workload(arrivals=PoissonArrivals(rate_per_s=rate), prompt=short, output=short)
    ...     return ServingComparison(workload=load, speculative=None, plain=None, limit=None, plain_limit=None,
    ...         gain_e2e=Estimate(value=gain), gain_ttft=None, gain_tpot=None, throughput_ratio=None)
    >>> turning_rate([point(2.0, 1.5), point(10.0, 1 / 1.5)]).sentence
    'Speculation stops gaining in end-to-end time at 6 requests/s.'
    """
    if of not in MEASURES:
        raise ValueError(f"of must be one of {', '.join(MEASURES)}; got {of!r}.")
    if len(points) == 0:
        raise ValueError("points must hold one comparison at least; got none.")
    rates, users = [p.rate_per_s for p in points], [p.users for p in points]
    unit, loads = ("requests/s", rates) if rates[0] is not None else ("users", users)
    if any(load is None for load in loads):
        raise ValueError(
            "points must all be Poisson arrivals or all closed loops; recorded arrivals have no rate."
        )
    pairs = sorted(zip(map(float, loads), points, strict=True), key=lambda pair: pair[0])  # type: ignore[arg-type]
    gains = [(load, gain) for load, point in pairs if (gain := _gain(point, of)) is not None]
    ends, ends_at = _ends(points)
    known: dict[str, object] = {"of": of, "unit": unit, "ends": ends, "ends_at": ends_at}
    if not gains:
        return Turning(kind="nothing to compare", **known)  # type: ignore[arg-type]
    signs = [(load, _sign(gain)) for load, gain in gains]
    open_at = tuple(load for load, sign in signs if sign == 0)
    known |= {"first": gains[0][0], "last": gains[-1][0], "open_at": open_at}
    at = _crossing([(load, gain.value) for load, gain in gains])
    if at is None:
        kind, sign = ("gains", 1) if gains[0][1].value >= 1.0 else ("loses", -1)
        return Turning(kind=kind, sure=_longest_run(signs, sign), **known)  # type: ignore[arg-type]
    falls = gains[0][1].value >= 1.0
    return Turning(
        kind="turns" if falls else "begins to gain",
        at=Estimate(value=at, interval=_interval(gains, at)),
        sure=_longest_run(signs, 1),
        **known,  # type: ignore[arg-type]
    )


def _gain(point: ServingComparison, of: Measure) -> Estimate | None:
    gain = point.throughput_ratio if of == "throughput" else point.gain(of)
    return gain if gain is not None and gain.value > 0.0 else None  # False for NaN


def _ends(
    points: Sequence[ServingComparison],
) -> tuple[Literal["speculative", "plain"] | None, float | None]:
    limits = [
        (p.limit, p.plain_limit) for p in points if p.rate_per_s is not None and p.limit is not None
    ]
    if not limits or limits[0][0] is None or limits[0][1] is None:
        return None, None
    fast, slow = limits[0][0], limits[0][1]
    low, high = sorted((fast, slow), key=lambda limit: limit.value)
    if low.value == high.value or _top(low) >= _bottom(high):  # not told apart
        return None, None
    return ("speculative", fast.value) if fast.value < slow.value else ("plain", slow.value)


def _top(limit: Estimate) -> float:
    return limit.value if limit.interval is None else limit.interval[1]


def _bottom(limit: Estimate) -> float:
    return limit.value if limit.interval is None else limit.interval[0]


def _sign(gain: Estimate) -> int:
    """1 for a gain, -1 for a loss, 0 where the interval holds 1; without one the value is known."""
    low, high = (gain.value, gain.value) if gain.interval is None else gain.interval
    if gain.interval is not None and low <= 1.0 <= high:
        return 0
    return 1 if low >= 1.0 else -1


def _longest_run(signs: Sequence[tuple[float, int]], wanted: int) -> tuple[float, float] | None:
    """The first and the last load of the longest run of loads with this sign; the first of equal ones."""
    runs = [
        [load for load, _ in run] for sign, run in groupby(signs, itemgetter(1)) if sign == wanted
    ]
    longest = max(runs, key=len, default=None)
    return None if longest is None else (longest[0], longest[-1])


def _where(first: float, last: float, unit: str) -> str:
    return f"at {first:.3g} {unit}" if first == last else f"from {first:.3g} to {last:.3g} {unit}"


def _crossing(gains: Sequence[tuple[float, float]]) -> float | None:
    """Where a broken line of log gains first passes 0."""
    for (load, gain), (later, other) in pairwise(gains):
        if (gain >= 1.0) == (other >= 1.0):
            continue
        here, there = math.log(gain), math.log(other)
        return load + (later - load) * here / (here - there)
    return None


def _interval(gains: Sequence[tuple[float, Estimate]], at: float) -> tuple[float, float] | None:
    """Where the ends of the gains' intervals cross 1; None if one of them does not."""
    if any(gain.interval is None or gain.interval[0] <= 0.0 for _, gain in gains):
        return None
    ends = [
        _crossing([(load, gain.interval[side]) for load, gain in gains])  # type: ignore[index]
        for side in (0, 1)
    ]
    low, high = min(ends, key=_first), max(ends, key=_first)
    if low is None or high is None or not low <= at <= high:
        return None
    return low, high


def _first(at: float | None) -> float:
    return math.inf if at is None else at
