"""vLLM's line "Engine 000: Avg prompt throughput: ..., Running: n reqs", beside that of the counts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MARKER = "Avg generation throughput:"

LONGEST_HEAD = 256
"""How far before its metrics a line is searched for its process and time."""

MOST_PROCESSES = 4096

_PROCESS = re.compile(r"\(((?:[\w.-]++ )?pid=\w++)\)")
_ENGINE = re.compile(r"\b(?:Engine (\d{1,9})|(\d{1,9}) Engines Aggregated):")
_STAMP = re.compile(r"\b\d\d-\d\d \d\d:\d\d:\d\d\b")
# A head as vLLM writes it, in one search instead of three.
_USUAL = re.compile(
    r"\((\w{1,40} pid=\d{1,10})\) [A-Z]{4,8} (\d\d-\d\d) (\d\d:\d\d:\d\d) \[\w{1,40}\.py:\d{1,6}\] "
    r"(?:Engine (\d{1,9}): )?(?:Avg prompt throughput: [\d.]{1,20} tokens/s, )?",
    re.ASCII,
)
_THROUGHPUT = re.compile(
    rf"{MARKER}\s*+(\d{{1,12}}(?:\.\d{{1,6}})?) tokens/s(?:, Running: (\d{{1,9}}) reqs)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Which process, engine and second a line is of; empty or None where it does not say."""

    process: str = ""
    engine: str = ""
    stamp: str = ""
    second: int | None = None

    def same_time(self, later: Origin) -> bool:
        """Whether a line of `later` can be of the same report: of this second, or of the next one."""
        if self.second is None or later.second is None:
            return self.stamp == later.stamp
        return (later.second - self.second) % 86_400 <= 1


def origin_of(text: str, marker: str) -> Origin:
    """The origin of a line as it stands before its marker.

    >>> origin = origin_of("(APIServer pid=7) INFO 05-30 15:21:33 [metrics.py:101] Spec", "Spec")
    >>> origin.process, origin.stamp
    ('APIServer pid=7', '05-30 15:21:33')
    """
    at = max(text.find(marker), 0)
    head = text[max(at - LONGEST_HEAD, 0) : at]
    usual = _USUAL.fullmatch(head)
    if usual is not None:
        process_name, day, time, number = usual.groups()
        return Origin(
            process=process_name,
            engine=number or "",
            stamp=f"{day} {time}",
            second=second_of(time),
        )
    process, engine, stamp = _PROCESS.search(head), _ENGINE.search(head), _STAMP.search(head)
    return Origin(
        process=process[1] if process else "",
        engine=(engine[1] or f"{engine[2]} together") if engine else "",
        stamp=stamp[0] if stamp else "",
        second=None if stamp is None else second_of(stamp[0][-8:]),
    )


def second_of(time: str) -> int:
    """The second of the day.

    >>> second_of("00:01:05")
    65
    """
    hours, minutes, seconds = time.split(":")
    return (int(hours) * 60 + int(minutes)) * 60 + int(seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """One throughput line: tokens per second of all requests, and how many ran at its end."""

    origin: Origin
    tokens_per_s: float
    running: int | None


@dataclass(slots=True)
class _Report:
    """The throughput lines of one process that are of one moment and met no counts yet."""

    waiting: list[Throughput] = field(default_factory=list)
    met_counts: bool = False


class Throughputs:
    """Pairs throughput lines with the lines of counts of the same process and moment.

    vLLM prints the two one after the other, for each engine; the line of counts does not name it, and
    is missing where nothing was drafted.
    """

    def __init__(self) -> None:
        self._reports: dict[str, _Report] = {}
        self.undrafted: dict[int, tuple[float, int]] = {}
        """By running requests: the highest throughput without a draft, and the number of lines."""

    def take(self, text: str) -> None:
        """Remember the throughput line, until its line of counts comes."""
        match = _THROUGHPUT.search(text)
        if match is None:
            return
        self.add(
            Throughput(
                origin=origin_of(text, MARKER),
                tokens_per_s=float(match[1]),
                running=None if match[2] is None else int(match[2]),
            )
        )

    def add(self, found: Throughput) -> None:
        """Remember what a throughput line says, until its line of counts comes."""
        process = found.origin.process
        if process not in self._reports and len(self._reports) >= MOST_PROCESSES:
            return
        report = self._reports.setdefault(process, _Report())
        if report.waiting and not report.waiting[-1].origin.same_time(found.origin):
            self._close(report)
        if len(report.waiting) < MOST_PROCESSES:
            report.waiting.append(found)

    def paired(self, origin: Origin) -> Throughput | None:
        """The throughput line right before counts of this origin; None if there is none."""
        report = self._reports.get(origin.process)
        if report is None or not report.waiting:
            return None
        if not report.waiting[-1].origin.same_time(origin):
            return None
        report.met_counts = True
        return report.waiting.pop()

    def meets_counts(self, process: str) -> bool:
        """Whether a throughput line can be paired with the counts right behind it, and need not be added.

        It can where no other line of a known process waits.
        """
        report = self._reports.get(process)
        if report is None or report.waiting:
            return False
        report.met_counts = True
        return True

    def close(self) -> None:
        """Take the lines that still wait as what they are: without a draft."""
        for report in self._reports.values():
            self._close(report)

    def _close(self, report: _Report) -> None:
        # Beside counts of the same moment, which engine drafted nothing is not known.
        if not report.met_counts:
            for line in report.waiting:
                if line.running and line.tokens_per_s > 0.0:
                    highest, lines = self.undrafted.get(line.running, (0.0, 0))
                    if lines or len(self.undrafted) < MOST_PROCESSES:
                        value = max(highest, line.tokens_per_s)
                        self.undrafted[line.running] = value, lines + 1
        report.waiting, report.met_counts = [], False
