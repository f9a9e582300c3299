"""Lines of JSON that SGLang's benchmarks append to a file: bench_speculative.py, bench_serving.py."""

from __future__ import annotations

from dataclasses import replace

from real_runs.engines.counts.printed import Printed
from real_runs.engines.counts.skips import NoCounts, NothingDrafted, Skips
from real_runs.engines.reading import Reading
from real_runs.engines.sglang.runs import BenchRun, check_length, run_readings
from real_runs.engines.sglang.settings import DraftSetting
from real_runs.engines.text.fields import count_at, decimal_at, number_at
from real_runs.engines.text.objects import JsonObject, Where
from simulator import Clock

KEYS = ("acc_length", "accept_length")
SHAPES = '{"batch_size": ..., "steps": ..., "acc_length": ..., "step_time": ...} (SGLang)'
MOST_RUNS = 4096

_SERVING = "bench_serving"


class SweepLines:
    """Collects the runs of one file; those without draft steps time the others' plain step."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._source = source
        self._skips = skips
        self._runs: list[BenchRun] = []
        self._plain: dict[int, float] = {}  # seconds of a plain step by batch size

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Add one run; NoCounts if it has no length or no time."""
        if "acc_length" in value:
            self._add(self._speculative(value, where.line))
        elif "output_throughput" in value:
            self._add(_serving(value, where.line))

    def _speculative(self, value: JsonObject, line: int) -> BenchRun:
        batch, steps, topk, window = (
            count_at(value, name) for name in ("batch_size", "steps", "topk", "num_draft_tokens")
        )
        step_time = number_at(value, "step_time")
        if steps == 0:
            if batch is not None and step_time:
                self._plain[batch] = step_time
            raise NothingDrafted("a run of 0 steps: speculation is off")
        length = _length(value, "acc_length")
        check_length("acc_length", length, drafting=bool(steps))
        setting = DraftSetting(steps=steps, topk=topk, window=window)
        names = (("batch", batch), ("steps", steps), ("topk", topk), ("draft tokens", window))
        said = ", ".join(f"{name} {number}" for name, number in names if number is not None)
        speed = number_at(value, "speed")
        per_request = batch or 1
        return BenchRun(
            line=line,
            kind=f"bench_speculative {said}".rstrip(),
            length=length,
            clock=Clock(
                tokens_per_s=None if speed is None else speed * per_request,
                running=batch,
                s_per_round=step_time or None,
            ),
            setting=setting,
            emitted=count_at(value, "completion_tokens"),
        )

    def _add(self, run: BenchRun) -> None:
        if len(self._runs) == MOST_RUNS:
            raise NoCounts(f"more than {MOST_RUNS} runs in one file")
        self._runs.append(run)

    def readings(self, lines: int) -> list[Reading]:
        """One Reading per run, in the order of the file."""
        return run_readings([self._beside_plain(run) for run in self._runs], self._source, lines)

    def _beside_plain(self, run: BenchRun) -> BenchRun:
        """The run with the time of a plain step of its batch, where the file has it."""
        batch = None if run.kind == _SERVING else run.clock.running
        plain = None if batch is None else self._plain.get(round(batch))
        if batch is None or plain is None:
            return run
        note = (
            f"A plain step of batch {batch:g} takes {plain:g} s: the run of 0 steps in this file."
        )
        clock = replace(run.clock, plain_s_per_token=plain)
        return replace(run, clock=clock, notes=(*run.notes, note))


def _serving(value: JsonObject, line: int) -> BenchRun:
    """A line that bench_serving.py appends: its throughput runs over prefill too, TPOT does not."""
    length = _length(value, "accept_length")
    check_length("accept_length", length)
    tpot = number_at(value, "mean_tpot_ms")
    return BenchRun(
        line=line,
        kind=_SERVING,
        length=length,
        clock=Clock(
            tokens_per_s=number_at(value, "output_throughput") or None,
            running=number_at(value, "concurrency") or None,
            s_per_token=tpot / 1000 if tpot else None,
        ),
    )


def _length(value: JsonObject, name: str) -> Printed:
    length = decimal_at(value, name)
    if length is None:
        raise NothingDrafted(f"{name} is empty: speculation is off")
    return length
