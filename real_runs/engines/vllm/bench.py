"""The block that `vllm bench serve` prints at its end (vllm/benchmarks/serve.py)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from real_runs.engines.counts.pool import Layout, Pool
from real_runs.engines.counts.printed import MOST_DEPTHS, MOST_DIGITS, as_count, as_printed
from real_runs.engines.counts.ratios import Ratios
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.reading import Reading
from real_runs.engines.text.lines import Line
from real_runs.engines.vllm.bench_clock import RunClock, clock_of_runs
from real_runs.engines.vllm.block_ratios import as_percent, in_order, of_ratios, ratios_alone
from real_runs.engines.vllm.blocks import MOST_NOTES, Block, Output, block_counts, recovered_note

SHAPE = (
    "a block of 'Acceptance rate (%): ...', 'Acceptance length: ...', 'Drafts: ...', "
    "'Draft tokens: ...', 'Accepted tokens: ...' and 'Position 0: ...' (vllm bench serve)"
)
SHAPES = "'Acceptance rate (%): ...' (vllm bench serve)"

LAYOUT = Layout(
    engine="vllm",
    name="block of bench serve",
    unit="run",
    averaged_over="one run",
    definition="accepted / drafted of one run, in percent; rounds are drafts, those with a draft.",
)
_BEGINS = "Serving Benchmark Result"
_COUNTS = ("Drafts", "Draft tokens", "Accepted tokens")
_AT = "Position "
_TIMES = ("Output token throughput (tok/s)", "Mean TPOT (ms)", "Maximum request concurrency")
_TOKENS = ("Total generated tokens", "Successful requests")
_BEFORE = (*_TIMES, *_TOKENS)  # what stands before the block of acceptance
MARKERS = (
    _BEGINS,
    *_COUNTS,
    *_BEFORE,
    "Acceptance rate (%)",
    "Acceptance length",
    "Position ",
)
# Between the name and its one number: the colon, and what a table in a report has there.
_FIELD = re.compile(
    r"(?<![\w-])(?<!Peak )(Acceptance rate \(%\)|Acceptance length|Drafts|Draft tokens|Accepted tokens"
    r"|Position \d{1,3}|Output token throughput \(tok/s\)|Mean TPOT \(ms\)"
    r"|Maximum request concurrency|Total generated tokens|Successful requests)"
    r"[:\s*|`]++(\d[\d,]*+(?:\.\d++)?|nan)%?[\s*|`]*+$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """The fields of one block; those of time come first."""

    line: int
    texts: dict[str, str]

    @property
    def speculative(self) -> bool:
        return any(name not in _BEFORE for name in self.texts)

    @property
    def clock(self) -> RunClock:
        throughput, per_token, running = (_number(self.texts.get(name)) for name in _TIMES)
        return RunClock(
            tokens_per_s=throughput,
            s_per_token=None if per_token is None else per_token / 1000.0,
            running=running,
        )


class BenchBlocks:
    """Sums the blocks of one log, one per run of the benchmark."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._source = source
        self._skips = skips
        self._pool = Pool(LAYOUT, source)
        self._run = _Run(line=0, texts={})
        self._clocks: list[RunClock] = []
        self._plain: list[RunClock] = []
        self._notes: dict[str, None] = {}
        self._gammas: set[int | None] = set()
        self._output = Output()
        self._ratios: tuple[Ratios, RunClock] | None = None

    def take(self, line: Line) -> None:
        """Collect one field; the head of a block, or a field that comes again, begins the next one."""
        if _BEGINS in line.text:
            self._settle()
            return
        match = _FIELD.search(line.text)
        if match is None:
            return
        texts = self._run.texts
        if match[1] in texts or (match[1] in _BEFORE and self._run.speculative):
            self._settle()
        if not self._run.texts:
            self._run = _Run(line=line.number, texts={})
        self._run.texts[match[1]] = match[2]

    def _settle(self) -> None:
        run, self._run = self._run, _Run(line=0, texts={})
        if not run.speculative:
            if run.clock.complete and len(self._plain) < MOST_DEPTHS:
                self._plain.append(run.clock)
            return
        if run.texts.keys() <= {*_BEFORE, "Acceptance length"}:
            return  # other benchmarks print a length, too
        with self._skips.guard(run.line, expected=SHAPE):
            self._add(run)

    def _add(self, run: _Run) -> None:
        texts = run.texts
        survival = in_order(
            {
                int(name.removeprefix(_AT)): as_percent(as_printed(name, text.replace(",", "")))
                for name, text in texts.items()
                if name.startswith(_AT)
            }
        )
        if len(survival) > MOST_DEPTHS:
            raise NoCounts(f"more than {MOST_DEPTHS} positions")
        length, rate = texts.get("Acceptance length"), texts.get("Acceptance rate (%)")
        ratios = Ratios(
            fraction=None if rate is None else as_printed("Acceptance rate", rate),
            length=None if length is None else as_printed("Acceptance length", length),
            survival=survival,
        )
        missing = [name for name in _COUNTS if name not in texts]
        if len(missing) == len(_COUNTS) and ratios.fraction is not None:
            ratios = replace(ratios, fraction=as_percent(ratios.fraction))
            self._ratios = ratios_alone(ratios), run.clock
            return
        if missing:
            raise NoCounts(f"the block has no '{missing[0]}'")
        rounds, drafted, accepted = (as_count(name, texts[name]) for name in _COUNTS)
        found = block_counts(
            Block(
                rounds=rounds,
                drafted=drafted,
                accepted=accepted,
                fraction=ratios.fraction,
                length=ratios.length,
                survival=survival,
            )
        )
        self._pool.add(run.line, found.recovered, found.ratios)
        if len(self._clocks) < 2:
            self._clocks.append(run.clock)
        if len(self._notes) < MOST_NOTES:
            self._notes |= dict.fromkeys(found.notes)
        self._gammas.add(found.gamma)
        total, requests = (
            as_count(name, texts[name]) if name in texts else None for name in _TOKENS
        )
        self._output.add(total, requests, of_rounds=rounds + accepted)

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of all blocks summed, or of ratios alone; empty if there are none."""
        self._settle()
        readings = self._pool.readings(lines)
        if not readings and self._ratios is None:
            return []
        if not readings and self._ratios is not None:
            ratios, of_run = self._ratios
            self._clocks = [of_run]
            readings = [of_ratios(LAYOUT, ratios, self._source, lines)]
        (reading,) = readings
        clock, said = clock_of_runs(self._clocks, self._plain)
        said = (*self._notes, *recovered_note(reading.counts), *self._output.notes, *said)
        gamma = next(iter(self._gammas)) if len(self._gammas) == 1 else None
        return [
            replace(
                reading,
                notes=(*reading.notes, *said),
                clock=clock,
                gamma=gamma,
                emitted=self._output.total if self._output.runs else None,
                version="V1",
            )
        ]


def _number(text: str | None) -> float | None:
    """A time as printed; None where it is none, for counts do not need it."""
    if text is None or text == "nan" or len(text) > MOST_DIGITS:
        return None
    return float(text.replace(",", ""))
