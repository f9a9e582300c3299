"""vLLM V0's line "Speculative metrics: ..." (up to 0.8; vllm/engine/metrics.py): counters since the start."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from real_runs.engines.counts.pool import MOST_UNITS, Layout, Pool
from real_runs.engines.counts.printed import Printed
from real_runs.engines.counts.recovery import Recovered
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.reading import Reading
from real_runs.engines.text.lines import Line
from real_runs.engines.vllm.clock import IntervalClock
from real_runs.engines.vllm.throughput import Throughputs, origin_of
from real_runs.engines.vllm.v0_counters import Counters, read_counters
from simulator import AcceptanceTotals, CountedUnit, ReportedRatio

SHAPE = (
    "'Speculative metrics: Draft acceptance rate: ..., System efficiency: ..., Number of speculative "
    "tokens: ..., Number of accepted tokens: ..., Number of draft tokens: ..., Number of emitted "
    "tokens: ...' (vLLM V0)"
)
SHAPES = "'Speculative metrics: ...' (vLLM V0)"

_V0 = "Speculative metrics:"
MARKERS = (_V0,)

MOST_SERVERS = 256
MOST_NOTED = 4

_LAYOUT = Layout(
    engine="vllm",
    name="cumulative line of V0",
    unit="server",
    averaged_over="all rounds since the start",
    definition=(
        "accepted / drafted since the start, tokens behind a rejection included; what counts here is "
        "accepted in order, emitted - rounds; rounds without a draft are not counted."
    ),
)
_BONUS = (
    "Versions that leave out the bonus token behind a draft kept whole emit one token less in such "
    "rounds: there, accepted in order is a lower bound."
)


@dataclass(slots=True)
class _Server:
    """The last line of one server, and what came before it."""

    last: Counters
    lines: int = 1
    falls: int = 0
    fell_last: int = 0
    units: list[CountedUnit] = field(default_factory=list)


class CumulativeLines:
    """Keeps the last line of every server in one log; one of another draft length is another one."""

    def __init__(self, source: str, skips: Skips, beside: Throughputs) -> None:
        self._source = source
        self._skips = skips
        self._servers: dict[tuple[str, int], _Server] = {}
        self._units = 0
        self._throughputs = beside
        self._clock = IntervalClock()

    def take(self, line: Line) -> None:
        """Keep what the line counts so far, or note why it counts nothing."""
        _, _, text = line.text.partition(_V0)
        with self._skips.guard(line.number, expected=SHAPE):
            self._keep(line, read_counters(line.number, text))

    def _keep(self, line: Line, counters: Counters) -> None:
        origin = origin_of(line.text, _V0)
        key = origin.process, counters.gamma
        server, before = self._servers.get(key), None
        if server is None:
            if len(self._servers) == MOST_SERVERS:
                raise NoCounts(f"more than {MOST_SERVERS} servers in one log")
            server = self._servers[key] = _Server(last=counters)
        else:
            before, server.last = server.last, counters
            server.lines += 1
        totals = _difference(counters, before)
        if totals is None:
            server.falls += 1
            server.fell_last = line.number
            self._units -= len(server.units)
            server.units.clear()
            totals = counters.totals
        if not totals.rounds:
            return
        beside = self._throughputs.paired(origin)
        if beside is not None:
            self._clock.add(beside, rounds=totals.rounds, accepted=totals.accepted)
        if self._units < MOST_UNITS:
            self._units += 1
            labels = (("time", origin.stamp), ("process", origin.process))
            server.units.append(
                CountedUnit(
                    counts=totals,
                    name=origin.stamp or f"line {line.number}",
                    labels=tuple((name, value) for name, value in labels if value),
                )
            )

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of all servers summed; empty without one."""
        pool = Pool(_LAYOUT, self._source)
        servers = list(self._servers.values())
        for server in sorted(servers, key=lambda each: each.last.line):
            totals = server.last.totals
            rounds = server.last.rounds
            pool.add(
                server.last.line,
                Recovered(totals=totals, basis="counted", allowed=(rounds, rounds)),
            )
        notes = [note for server in servers[:MOST_NOTED] for note in _notes(server)]
        return [
            self._completed(reading, servers, notes)
            for reading in pool.readings(lines, notes=(*notes, _BONUS) if notes else ())
        ]

    def _completed(self, reading: Reading, servers: list[_Server], notes: list[str]) -> Reading:
        counts = reading.counts
        clock = self._clock.clock(
            tokens_per_round=float("nan") if counts is None else counts.tokens_per_round.value,
            beside=self._throughputs,
        )
        lengths = {server.last.gamma for server in servers}
        printed = () if len(servers) > 1 else (_efficiency(servers[0].last.efficiency),)
        notes = [*reading.notes, *self._clock.notes(clock, self._throughputs)]
        return replace(
            reading,
            printed=printed,
            notes=tuple(notes),
            unit="interval",
            units=tuple(unit for server in servers for unit in server.units),
            gamma=lengths.pop() if len(lengths) == 1 else None,
            emitted=sum(server.last.emitted for server in servers),
            clock=clock,
            version="V0",
        )


def _difference(counters: Counters, before: Counters | None) -> AcceptanceTotals | None:
    """What was counted since the line before; None if the counters began again."""
    try:
        return counters.since(before)
    except ValueError:
        return None


def _efficiency(printed: Printed) -> ReportedRatio:
    return ReportedRatio(
        quantity="efficiency",
        value=printed.value,
        half_width=printed.half_width,
        averaged_over=_LAYOUT.averaged_over,
    )


def _notes(server: _Server) -> list[str]:
    last = server.last
    which = "the only one" if server.lines == 1 else f"the last of {server.lines}"
    notes = [
        f"Cumulative counters: line {last.line} counts, {which}.",
        (
            f"Rounds are {last.drafted} drafted / {last.gamma} = {last.rounds}, which emitted "
            f"{last.emitted} tokens: {last.emitted - last.rounds} accepted in order. The "
            f"{last.accepted} that vLLM V0 calls accepted include tokens behind a rejection."
        ),
    ]
    if server.falls:
        times = "once, in" if server.falls == 1 else f"{server.falls} times, last in"
        notes.append(
            f"The counters fell {times} line {server.fell_last} (a restart, or several servers in one "
            "log): what came before is not counted."
        )
    return notes
