"""vLLM's interval line "SpecDecoding metrics: ..." (V1, vllm/v1/spec_decode/metrics.py)."""

from __future__ import annotations

from dataclasses import replace

from real_runs.engines.counts.pool import Layout, Pool, unit_of
from real_runs.engines.counts.ratios import Ratios
from real_runs.engines.counts.recovery import Recovered, without_rounds
from real_runs.engines.counts.rounding import Claim
from real_runs.engines.counts.skips import Skips
from real_runs.engines.counts.wording import counted
from real_runs.engines.reading import Reading
from real_runs.engines.text.lines import Line
from real_runs.engines.vllm.clock import IntervalClock
from real_runs.engines.vllm.columns import Intervals, labels_of
from real_runs.engines.vllm.fields import Interval, only_ratios, parsed, without_counts
from real_runs.engines.vllm.throughput import (
    MOST_PROCESSES,
    Origin,
    Throughput,
    Throughputs,
    origin_of,
)
from simulator import AcceptanceTable, Counts

ENGINE = "vllm"
SHAPE = (
    "'SpecDecoding metrics: Mean acceptance length: ..., Accepted: ... tokens, Drafted: ... tokens, "
    "Per-position acceptance rate: ..., Avg Draft acceptance rate: ...%' (vLLM)"
)
SHAPES = "'SpecDecoding metrics: ...' (vLLM)"

_INTERVAL = "SpecDecoding metrics:"
_DIFFUSION = "DiffusionDecoding metrics:"
MARKERS = ("Decoding metrics:",)

RECOVERED = "Counts per depth are recovered from rounded ratios."
MOST_NAMED = 4

_LAYOUT = Layout(
    engine=ENGINE,
    name="interval line",
    unit="interval",
    averaged_over="one interval (10 s unless configured)",
    definition="accepted / drafted of one interval; rounds without a draft are not counted.",
)


class IntervalLines:
    """Sums the interval lines of one log, of all its processes and data-parallel ranks."""

    def __init__(self, source: str, skips: Skips, beside: Throughputs) -> None:
        self._source = source
        self._skips = skips
        self._pool = Pool(_LAYOUT, source)
        self._ratios = Ratios()
        self._ratio_lines = 0
        self._throughputs = beside
        self._clock = IntervalClock()
        self._origins: set[tuple[str, str]] = set()
        self._depths: set[int] = set()

    def take(self, line: Line) -> None:
        """Add what the line counts, or note why it counts nothing."""
        if _DIFFUSION in line.text:
            self._skips.record(
                line.number,
                f"'{_DIFFUSION}' is not imported because diffusion decoding gives these counters "
                "other meanings",
                expected=SHAPE,
            )
        head, *texts = line.text.split(_INTERVAL)
        for text in texts:
            with self._skips.guard(line.number, expected=SHAPE):
                if without_counts(text):
                    self._ratios = only_ratios(text)
                    self._ratio_lines += 1
                else:
                    self._add(line.number, origin_of(head + _INTERVAL, _INTERVAL), parsed(text))

    def _add(self, line: int, origin: Origin, interval: Interval) -> None:
        depths = len(interval.ratios.survival)
        claim = Claim(
            drafted=interval.drafted,
            accepted=interval.accepted,
            length=interval.ratios.length,
            survival=interval.ratios.survival,
            longest=depths or None,
        )
        recovered = without_rounds(claim, full_drafts=True)
        beside = self._throughputs.paired(origin)
        seconds = self._time(interval, recovered, beside)
        engine = origin.engine or (beside.origin.engine if beside else "")
        running = None if beside is None else beside.running
        unit = None
        if self._pool.wants_units:
            unit = unit_of(
                recovered,
                name=origin.stamp or f"line {line}",
                labels=labels_of(origin.stamp, origin.process, engine, running),
                decode_s=seconds if running == 1 else None,
            )
        self._pool.add(line, recovered, interval.ratios, unit=unit)
        if unit is None:
            self._pool.skip_unit()
        self._depths.add(depths)
        if len(self._origins) < MOST_PROCESSES:
            self._origins.add((origin.process, engine))

    def has_room_for(self, depths: int) -> bool:
        """Whether intervals of so many positions can be added beside the others."""
        return self._pool.has_room_for(depths)

    def add_many(self, found: Intervals) -> None:
        """Add many intervals of as many positions, as `take` does with each."""
        records = found.records
        self._clock.add_many(found)
        self._pool.add_many(found.lines, records, found.units())
        self._depths.add(records.depths)
        for process, beside in zip(found.processes, found.beside, strict=True):
            if len(self._origins) == MOST_PROCESSES:
                break
            self._origins.add((process, beside.engine))

    def _time(
        self, interval: Interval, recovered: Recovered, beside: Throughput | None
    ) -> float | None:
        """Note what the line and the throughput beside it say about time; the interval's length."""
        rounds = recovered.totals.rounds or recovered.allowed[0]
        if beside is not None:
            self._clock.add(beside, rounds=rounds, accepted=interval.accepted)
        if interval.drafted_per_s is None or interval.drafted_per_s <= 0.0:
            return None
        seconds = interval.drafted / interval.drafted_per_s
        if recovered.totals.rounds is not None:
            self._clock.add_seconds(rounds=rounds, seconds=seconds)
        if beside is not None:
            of_rounds = rounds + interval.accepted
            self._clock.add_tokens(beside, seconds=seconds, of_rounds=of_rounds)
        return seconds

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of everything summed; of ratios alone if no line has counts, or empty."""
        notes = list(_engines(self._origins))
        if self._ratio_lines:
            left_out = f"{counted(self._ratio_lines, 'interval')} with ratios and no counts"
            notes.append(f"Left out: {left_out}.")
        readings = self._pool.readings(lines)
        if not readings:
            return [self._of_ratios(lines)] if self._ratio_lines else []
        (reading,) = readings
        if per_depth(reading.counts):
            notes.append(RECOVERED)
        clock = self._clock.clock(
            tokens_per_round=tokens_per_round(reading.counts), beside=self._throughputs
        )
        notes += self._clock.notes(clock, self._throughputs)
        return [
            replace(
                reading,
                notes=(*reading.notes, *notes),
                clock=clock,
                gamma=next(iter(self._depths)) or None if len(self._depths) == 1 else None,
                version="V1",
            )
        ]

    def _of_ratios(self, lines: int) -> Reading:
        """The last line with ratios: without counts they cannot be averaged."""
        notes = ["Ratios only: without counts there is no sampling error, and no sum over lines."]
        if self._ratio_lines > 1:
            notes.append(f"The last of {self._ratio_lines} intervals is shown.")
        return Reading(
            engine=ENGINE,
            layout="interval line without counts",
            source=self._source,
            counts=None,
            printed=self._ratios.reported(_LAYOUT.averaged_over),
            definition=_LAYOUT.definition,
            lines=lines,
            used=1,
            notes=tuple(notes),
            gamma=len(self._ratios.survival) or None,
            version="V1",
        )


def tokens_per_round(counts: Counts | None) -> float:
    """Tokens per round of the counts; NaN where they do not say."""
    return float("nan") if counts is None else counts.tokens_per_round.value


def per_depth(counts: Counts | None) -> bool:
    """Whether the counts say how many rounds kept each depth."""
    if isinstance(counts, AcceptanceTable):
        return True
    return counts is not None and counts.accepted_by_depth is not None


def _engines(origins: set[tuple[str, str]]) -> list[str]:
    """Says whose lines are summed, where they are of more than one process or engine."""
    # Where throughput is missing beside a line, its engine is one of those known.
    known = {process for process, engine in origins if engine}
    origins = {each for each in origins if each[1] or each[0] not in known}
    if len(origins) < 2:
        return []
    named = sorted(" engine ".join(part for part in origin if part) for origin in origins)
    shown = [name or "one that is not named" for name in named[:MOST_NAMED]]
    more = "" if len(named) <= MOST_NAMED else f" and {len(named) - MOST_NAMED} more"
    return [f"Lines of {len(named)} processes or engines are summed: {', '.join(shown)}{more}."]
