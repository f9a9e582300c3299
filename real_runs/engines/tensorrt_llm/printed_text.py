"""What TensorRT-LLM's tools print as text: [AL] and [DAR] lines, serve benchmarks, Medusa heads."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from real_runs.engines.counts.printed import Printed, as_printed
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.reading import Reading
from real_runs.engines.tensorrt_llm.heads import HeadLines
from real_runs.engines.tensorrt_llm.report import DEFINITION, STATISTICS, UPPER_BOUND, ratio_of
from real_runs.engines.text.lines import Line
from simulator import Clock, ReportedRatio

SHAPES = "'[AL] AVERAGE: ...', 'Mean Avg Decoded Tokens per Iter: ...' or 'Head 0 Accuracy=...' (TensorRT-LLM)"
MARKERS = ("[AL]", "[DAR]", "Avg Decoded Tokens per Iter", "Mean TPOT (ms):", "Accuracy=", "TopK=")
MOST_REPORTS = 256

_STATISTIC = re.compile(
    r"\[(AL|DAR)\]\s*+(MINIMUM|MAXIMUM|AVERAGE|P50|P90|P95|P99)\s*+:\s*+([\w.+-]++)(\s*+%)?"
)
_DECODED = re.compile(r"Mean Avg Decoded Tokens per Iter:\s*+([\w.+-]++)")
_TPOT = re.compile(r"Mean TPOT \(ms\):\s*+([\w.+-]++)")
_QUANTITIES = {"AL": "tokens_per_round", "DAR": "accepted_fraction"}
_NEAREST = 40
"""Lines between two fields of one block of the serve benchmark."""


@dataclass(slots=True)
class _Report:
    """The statistics of one run of trtllm-bench, by quantity and name."""

    ratios: dict[tuple[str, str], ReportedRatio] = field(default_factory=dict)


@dataclass(slots=True)
class _Serve:
    line: int
    length: Printed
    tpot_s: float | None = None


class TensorRtLlm:
    """Reads the lines of TensorRT-LLM's tools in one log."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._source = source
        self._skips = skips
        self._heads = HeadLines(source, skips)
        self._reports: list[_Report] = []
        self._serves: list[_Serve] = []
        self._tpot: tuple[int, float] | None = None

    def take(self, line: Line) -> None:
        """Add what the line says, or note why it says nothing."""
        with self._skips.guard(line.number, expected=SHAPES):
            for match in _STATISTIC.finditer(line.text):
                self._statistic(*match.groups())
            self._serve(line)
        self._heads.take(line)

    def _statistic(self, name: str, statistic: str, text: str, percent: str | None) -> None:
        """Keep one statistic; one that comes again begins the next report."""
        printed = as_printed(f"[{name}] {statistic}", text)
        if percent:
            printed = Printed(units=printed.units, scale=printed.scale * 100)
        ratio = ratio_of(_QUANTITIES[name], statistic.lower(), printed)
        key = (_QUANTITIES[name], statistic.lower())
        if not self._reports or key in self._reports[-1].ratios:
            if len(self._reports) == MOST_REPORTS:
                raise NoCounts(f"more than {MOST_REPORTS} reports in one log")
            self._reports.append(_Report())
        self._reports[-1].ratios[key] = ratio

    def _serve(self, line: Line) -> None:
        tpot, decoded = _TPOT.search(line.text), _DECODED.search(line.text)
        if tpot is not None:
            seconds = as_printed("Mean TPOT", tpot[1]).value / 1000.0
            self._tpot = (line.number, seconds)
            last = self._serves[-1] if self._serves else None
            if last is not None and last.tpot_s is None and line.number - last.line <= _NEAREST:
                last.tpot_s, self._tpot = seconds, None
        if decoded is not None:
            length = as_printed("Mean Avg Decoded Tokens per Iter", decoded[1])
            ratio_of("tokens_per_round", "average", length)
            if len(self._serves) == MOST_REPORTS:
                raise NoCounts(f"more than {MOST_REPORTS} benchmarks in one log")
            before, self._tpot = self._tpot, None
            near = before is not None and line.number - before[0] <= _NEAREST
            self._serves.append(
                _Serve(
                    line=line.number, length=length, tpot_s=before[1] if before and near else None
                )
            )

    def readings(self, lines: int) -> list[Reading]:
        """A Reading per report, per serve benchmark, and one of the heads."""
        reports = [
            self._reading(
                _numbered("bench text", number),
                tuple(
                    report.ratios[quantity, statistic]
                    for quantity in _QUANTITIES.values()
                    for statistic in STATISTICS
                    if (quantity, statistic) in report.ratios
                ),
                lines,
                UPPER_BOUND,
            )
            for number, report in enumerate(self._reports)
        ]
        serves = [
            self._reading(
                _numbered("serve benchmark", number),
                (ratio_of("tokens_per_round", "average", serve.length),),
                lines,
                "Tokens per iteration are output tokens / iterations of a request.",
                Clock(s_per_token=serve.tpot_s),
            )
            for number, serve in enumerate(self._serves)
        ]
        return [*reports, *serves, *self._heads.readings(lines)]

    def _reading(
        self,
        layout: str,
        printed: tuple[ReportedRatio, ...],
        lines: int,
        note: str,
        clock: Clock | None = None,
    ) -> Reading:
        return Reading(
            engine="tensorrt-llm",
            layout=layout,
            source=self._source,
            counts=None,
            printed=printed,
            definition=DEFINITION,
            lines=lines,
            used=len(printed),
            notes=("Ratios only: statistics over requests, each of which counts once.", note),
            unit="request",
            clock=clock or Clock(),
        )


def _numbered(name: str, number: int) -> str:
    return name if not number else f"{name} ({number + 1})"
