"""The results of SGLang's own benchmarks as text: each run is a reading of its own."""

from __future__ import annotations

import re
from dataclasses import replace

from real_runs.engines.counts.printed import COUNT, as_count, as_printed
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.reading import Reading
from real_runs.engines.sglang.runs import BenchRun, check_length, run_readings
from real_runs.engines.sglang.settings import DraftSetting, read_shorthand
from real_runs.engines.sglang.state import Told
from real_runs.engines.text.lines import Line
from simulator import Clock

SHAPE = "'Accept length: ...', 'Acceptance length: ...' or 'acc_length=...' (SGLang's benchmarks)"
MARKERS = (
    "#questions:",
    "acc_length=",
    "speed=",
    "Accept length:",
    "Serving Benchmark Result",
    "Output token throughput",
    "Mean TPOT (ms):",
    "Concurrency:",
)
MOST_RUNS = 256

_NUMBER = r"([\w.+-]++)"
_QUESTIONS = re.compile(rf"#questions:\s*+{COUNT},\s*+Throughput:\s*+{_NUMBER}\s*+token/s")
_ACCEPTANCE = re.compile(rf"Accept(?:ance)? length:\s*+{_NUMBER}")
_ONE = re.compile(rf"\bacc_length=\s*+{_NUMBER}")
_SPEED = re.compile(rf"\bspeed=\s*+{_NUMBER}\s*+token/s")
_BLOCK = {
    "tokens_per_s": re.compile(rf"Output token throughput \(tok/s\):\s*+{_NUMBER}"),
    "running": re.compile(rf"(?<!request )\bConcurrency:\s*+{_NUMBER}"),
    "tpot_ms": re.compile(rf"Mean TPOT \(ms\):\s*+{_NUMBER}"),
}
_SHORTHAND = re.compile(r"(?<![\d.,:])(\d{3}|\d{1,4}(?:,\d{1,3}){2,3})[\s:|]*\Z")
_NEAREST = 16
"""Lines between an accept length and the rest of its run."""
_ONE_PROMPT, _SERVING = "one prompt", "serving benchmark"
_WHOLE = "Tokens per second are those of the whole benchmark, prefill among them."
_CONCURRENCY = "How many requests ran at a time is not printed."
_PLAIN = "Without speculation: {:g} tokens per second, the run of the same kind with an accept length of 1."


class BenchLines:
    """Collects the runs of SGLang's benchmarks in one log."""

    def __init__(self, source: str, skips: Skips, told: Told) -> None:
        self._source = source
        self._skips = skips
        self._told = told
        self._runs: list[BenchRun] = []
        self._plain: dict[str, dict[int, float]] = {}  # tokens per second, by kind and line
        self._open: BenchRun | None = None
        self._block: dict[str, float] = {}

    def take(self, line: Line) -> None:
        """Add the run whose result the line has, or what it says more of the last one."""
        with self._skips.guard(line.number, expected=SHAPE):
            if "#questions:" in line.text:
                self._questions(line)
            elif "acc_length=" in line.text:
                self._one_prompt(line)
            elif "speed=" in line.text:
                self._speed(line)
            else:
                self._serving(line)

    def _questions(self, line: Line) -> None:
        head = _QUESTIONS.search(line.text)
        length = _ACCEPTANCE.search(line.text)
        if head is None or length is None:
            raise NoCounts("the line has no 'Throughput' or no 'Acceptance length'")
        run = BenchRun(
            line=line.number,
            kind=f"benchmark of {as_count('#questions', head[1])} questions",
            length=as_printed("Acceptance length", length[1]),
            setting=_shorthand(line.text[: head.start()]) or self._told.latest,
            clock=Clock(tokens_per_s=as_printed("Throughput", head[2]).value or None),
            notes=(_CONCURRENCY,),
        )
        self._keep_plain(run)
        self._add(run)

    def _one_prompt(self, line: Line) -> None:
        length = _ONE.search(line.text)
        if length is None:
            raise NoCounts("the line has no number behind 'acc_length='")
        self._open = BenchRun(
            line=line.number,
            kind=_ONE_PROMPT,
            length=as_printed("acc_length", length[1]),
            setting=_shorthand(line.text[: length.start()]) or self._told.latest,
            clock=Clock(running=1.0),
        )
        run = self._open
        self._speed(line)
        self._add(run)

    def _speed(self, line: Line) -> None:
        run, speed = self._open, _SPEED.search(line.text)
        if speed is None or run is None or run.kind != _ONE_PROMPT:
            return
        if line.number - run.line <= _NEAREST:
            per_second = as_printed("speed", speed[1]).value or None
            run.clock = replace(run.clock, tokens_per_s=per_second)
            self._keep_plain(run)
        self._open = None

    def _serving(self, line: Line) -> None:
        """A field of the block of the serving benchmark, or its accept length."""
        if "Serving Benchmark Result" in line.text:
            self._block, self._open = {}, None
            return
        for name, pattern in _BLOCK.items():
            match = pattern.search(line.text)
            if match is not None:
                self._block[name] = as_printed(name, match[1]).value
        length = _ACCEPTANCE.search(line.text) if "Accept length:" in line.text else None
        if length is not None:
            self._open = BenchRun(
                line=line.number,
                kind=_SERVING,
                length=as_printed("Accept length", length[1]),
                setting=self._told.latest,
                notes=(_WHOLE,),
            )
        run = self._open
        if run is not None and run.kind == _SERVING:
            tpot = self._block.get("tpot_ms")
            run.clock = Clock(
                tokens_per_s=self._block.get("tokens_per_s") or None,
                running=self._block.get("running") or None,
                s_per_token=tpot / 1000 if tpot else None,
            )
        if length is not None and run is not None:
            self._add(run)

    def _keep_plain(self, run: BenchRun) -> None:
        """Keep the throughput of a run without speculation, for those of its kind."""
        if run.length.value == 1.0 and run.clock.tokens_per_s is not None:
            self._plain.setdefault(run.kind, {})[run.line] = run.clock.tokens_per_s

    def _add(self, run: BenchRun) -> None:
        check_length("the accept length", run.length)
        if len(self._runs) == MOST_RUNS:
            raise NoCounts(f"more than {MOST_RUNS} runs in one log")
        self._runs.append(run)

    def readings(self, lines: int) -> list[Reading]:
        """One Reading per run, in the order of the log."""
        runs = [self._beside_plain(run) for run in self._runs]
        return run_readings(runs, self._source, lines, version=self._told.version)

    def _beside_plain(self, run: BenchRun) -> BenchRun:
        """The run with the only one of its kind without speculation."""
        plain = list(self._plain.get(run.kind, {}).values())
        if len(plain) != 1:
            return run
        clock = replace(run.clock, plain_tokens_per_s=plain[0])
        return replace(run, clock=clock, notes=(*run.notes, _PLAIN.format(plain[0])))


def _shorthand(before: str) -> DraftSetting | None:
    """The setting in front of a result: "314: #questions: ..."."""
    match = _SHORTHAND.search(before[-40:])
    return None if match is None else read_shorthand(match[1])
