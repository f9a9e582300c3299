"""Servers under load as tables of a report: what every load saw, with speculation and without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from analysis.output import Cell, Row, Section
from analysis.serving.tables import ServerPair
from simulator import Estimate
from simulator.serving import LatencyEstimate, ServingComparison, ServingEstimates
from simulator.serving.limits import SETTLES_TO

_TIMES: tuple[tuple[str, Callable[[ServingEstimates], LatencyEstimate]], ...] = (
    ("ttft", lambda side: side.ttft),
    ("tpot", lambda side: side.tpot),
    ("itl", lambda side: side.itl),
    ("e2e", lambda side: side.e2e),
    ("waiting", lambda side: side.waiting),
)
_LEVELS = ("mean_s", "p50_s", "p95_s", "p99_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadAxis:
    """How the tables call a load: its column, and its value at a point."""

    column: str
    value: Callable[[ServingComparison], Cell]


def axis_of(points: Sequence[ServingComparison]) -> LoadAxis:
    """Rates, users or recorded arrivals: what the loads differ by."""
    if points[0].rate_per_s is not None:
        return LoadAxis(column="rate_per_s", value=lambda point: point.rate_per_s)
    if points[0].users is not None:
        return LoadAxis(column="users", value=lambda point: point.users)
    return LoadAxis(column="arrivals", value=lambda _: "recorded")


def loads_section(
    points: Sequence[ServingComparison], *, objective: bool, name: str = "loads"
) -> Section:
    """A row per load: who is stable, mean times of both sides, gains with intervals, throughput and batch.

    Gains are time without / time with speculation on the same arrivals; cells are empty where a side is
    not stable. Goodput and the share of requests that kept the objective are columns where one was set.
    People get eight columns, which 80 characters hold; mean times are rows of `times_section` as well.
    """
    axis = axis_of(points)
    gains = ("e2e", "ttft", "tpot")
    columns = [axis.column, "stable_plain", "stable", "e2e_s_plain", "e2e_s"]
    columns += [f"gain_{gain}{end}" for gain in gains for end in ("", "_low", "_high")]
    columns += ["throughput_ratio", "throughput_low", "throughput_high"]
    sides = ["tokens_per_s", "requests_per_s", "mean_batch", "busy_share"]
    sides += ["goodput_per_s", "met_share"] if objective else []
    columns += [f"{side}{end}" for side in sides for end in ("_plain", "")]
    columns.append("tokens_per_round")
    seen = {axis.column, "gain_e2e", "gain_e2e_low", "gain_e2e_high"}
    if axis.column == "rate_per_s":  # what arrives is served, or the queue grows
        seen |= {"stable_plain", "stable"}
    else:
        seen |= {"tokens_per_s_plain", "tokens_per_s"}
    seen |= {"goodput_per_s_plain", "goodput_per_s"} if objective else {"e2e_s_plain", "e2e_s"}
    return Section(
        name=name,
        columns=tuple(columns),
        rows=tuple(_load_row(axis.value(point), point, gains, sides) for point in points),
        too_wide=tuple(column for column in columns if column not in seen),
    )


def times_section(
    points: Sequence[ServingComparison], *, narrow: bool = False, name: str = "times"
) -> Section:
    """A row per load and measure: mean with its interval, median and high percentiles of both sides [s].

    A `narrow` screen, of 80 characters, shows no p95: with it numbers would lose digits.
    """
    axis = axis_of(points)
    columns = [axis.column, "measure"]
    for level in _LEVELS:
        columns += [f"{level}_plain", level]
    ends = ["mean_low_plain", "mean_high_plain", "mean_low", "mean_high"]
    rows: list[Row] = []
    for point in points:
        if point.plain is None and point.speculative is None:
            continue  # stable on neither side: the loads say so
        for measure, of in _TIMES:
            sides = [
                None if side is None else of(side) for side in (point.plain, point.speculative)
            ]
            cells: list[Cell] = [axis.value(point), measure]
            for level in _LEVELS:
                cells += [None if side is None else getattr(side, level).value for side in sides]
            for side in sides:
                cells += (None, None) if side is None else _ends(side.mean_s)
            rows.append(tuple(cells))
    return Section(
        name=name,
        columns=(*columns, *ends),
        rows=tuple(rows),
        grouped=True,
        too_wide=(*ends, *(("p95_s_plain", "p95_s") if narrow else ())),
    )


def limits_section(
    pair: ServerPair,
    limits: tuple[Estimate, Estimate],
    *,
    output_tokens: float,
    name: str = "stable_limits",
) -> Section:
    """A row per side: the most requests, and tokens, per second that it can be sent for long."""
    rows = []
    for side, server, limit in (
        ("without", pair.plain, limits[1]),
        ("with speculation", pair.speculative, limits[0]),
    ):
        low, high = _ends(limit)
        rows.append(
            (side, server.most_running, limit.value, low, high, output_tokens * limit.value)
        )
    return Section(
        name=name,
        columns=("side", "most_running", "requests_per_s", "low", "high", "tokens_per_s"),
        rows=tuple(rows),
    )


def unstable_notes(points: Sequence[ServingComparison]) -> tuple[str, ...]:
    """Which loads a side cannot take, and what it can; and which are too near to that for a run to settle."""
    said = []
    for name, side, limit in (
        ("Without speculation", "plain", "plain_limit"),
        ("With speculation", "speculative", "limit"),
    ):
        beyond = [p for p in points if p.rate_per_s is not None and getattr(p, side) is None]
        if beyond:
            rates = ", ".join(_rounded(p.rate_per_s) for p in beyond)
            said.append(
                f"{name} the server is not surely stable at {rates} requests/s: it answers "
                f"{getattr(beyond[0], limit)} at most, and beyond that its queue grows for ever."
            )
        near = [p for p in points if getattr(p, side) is not None and _is_near(p, limit)]
        if near:
            rates = ", ".join(_rounded(p.rate_per_s) for p in near)
            said.append(
                f"{name} {rates} requests/s are so near to what the server can take, "
                f"{getattr(near[0], limit)}, that its queue is still growing when a run ends: waits are "
                "longer than shown, and by how much is not known."
            )
    return tuple(said)


def _rounded(rate: float | None) -> str:
    """Four digits, more only before the point."""
    value = rate or 0.0
    return f"{value:.4g}" if value < 10_000.0 else f"{value:.0f}"


def _is_near(point: ServingComparison, limit: str) -> bool:
    most: Estimate | None = getattr(point, limit)
    return (
        point.rate_per_s is not None
        and most is not None
        and point.rate_per_s > SETTLES_TO * most.value
    )


def _load_row(
    load: Cell, point: ServingComparison, gains: Sequence[str], sides: Sequence[str]
) -> Row:
    both = (point.plain, point.speculative)
    recorded = point.rate_per_s is None and point.users is None  # may well be too many: a note says
    stable = [None if recorded else side is not None for side in both]
    cells: list[Cell] = [load, *stable]
    cells += [None if side is None else side.e2e.mean_s.value for side in both]
    for gain in (*(getattr(point, f"gain_{name}") for name in gains), point.throughput_ratio):
        cells += (None, None, None) if gain is None else (gain.value, *_ends(gain))
    for name in sides:
        cells += [None if side is None else getattr(side, name).value for side in both]
    fast = point.speculative
    cells.append(None if fast is None else fast.tokens_per_round.value)
    return tuple(cells)


def _ends(value: Estimate) -> tuple[float | None, float | None]:
    return (None, None) if value.interval is None else value.interval
