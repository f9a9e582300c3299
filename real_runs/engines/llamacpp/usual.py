"""The lines that llama.cpp's server prints for a request, as usual: read many requests at a time.

What they give is what `requests` gives for each of them alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from real_runs.engines.counts.batch import recovered_together
from real_runs.engines.counts.many import Claims
from real_runs.engines.counts.printed import Printed, as_fraction
from real_runs.engines.counts.skips import Skips
from real_runs.engines.llamacpp.eval_times import EvalTime, task_name
from real_runs.engines.llamacpp.requests import RequestLines
from real_runs.engines.text.lines import Line

MOST_WAITING = 4096
FEWEST_TOGETHER = 16
"""Fewer requests are read faster one by one."""

_HEAD = r"[\d.: -]{0,40}(?:[A-Z] )?slot +print_timing: id +(\d{1,9}) \| task (-?\d{1,12}) \| +"
_TIME = re.compile(
    _HEAD + r"(prompt )?eval time = +(\d{1,9}\.\d\d) ms / +(\d{1,9}) (?:tokens|runs) +"
    r"\( *\d{1,9}\.\d\d ms per token, +\d{1,9}\.\d\d tokens per second\)",
    re.ASCII,
)
_ACCEPTANCE = re.compile(
    _HEAD
    + r"draft acceptance(?: rate)? = (\d\.\d{5}) \( *(\d{1,9}) accepted / +(\d{1,9}) generated\), "
    r"mean (?:acceptance length|len) = +(\d{1,4}\.\d\d), "
    r"(?:acceptance rate per position|acc per pos) = \(([01]\.\d{3}(?:, [01]\.\d{3}){0,63})\)",
    re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    line: Line
    accepted: int
    drafted: int
    length: str
    survival: str
    task: str
    timing: EvalTime | None


class UsualLines:
    """Lets usual requests wait, and gives them to the collector of the others, as if one by one."""

    def __init__(self, skips: Skips, requests: RequestLines) -> None:
        self._skips = skips
        self._requests = requests
        self._waiting: list[_Waiting] = []

    def take(self, line: Line) -> bool:
        """Take a time, or keep a request to be read with others; False for a line that is not as usual."""
        if "draft acceptance" in line.text:
            return self._take_request(line)
        match = _TIME.fullmatch(line.text)
        if match is None:
            return False
        slot, task, prompt, ms, tokens = match.groups()
        if not prompt:
            seconds = int(ms.replace(".", "")) / 100_000
            self._requests.times.keep(task_name(slot, task), int(tokens), seconds)
        return True

    def _take_request(self, line: Line) -> bool:
        match = _ACCEPTANCE.fullmatch(line.text)
        if match is None:
            return False
        slot, task, rate, accepted_text, drafted_text, length, survival = match.groups()
        accepted, drafted = int(accepted_text), int(drafted_text)
        if drafted == 0 or accepted > drafted:
            return False
        fraction = Printed(units=int(rate.replace(".", "")), scale=100_000)
        if as_fraction(fraction, accepted=accepted, drafted=drafted) is None:
            return False
        if self._waiting and len(self._waiting[-1].survival) != len(survival):
            self.settle()
        name = task_name(slot, task)
        request = _Waiting(
            line=line,
            accepted=accepted,
            drafted=drafted,
            length=length,
            survival=survival,
            task=name,
            timing=self._requests.times.pop(name),
        )
        self._requests.settle()
        if not self._waiting:
            self._skips.let_wait(self.settle)
        self._waiting.append(request)
        if len(self._waiting) == MOST_WAITING:
            self.settle()
        return True

    def settle(self) -> None:
        """Read all requests that wait; the last one goes on to wait, for its positions can follow."""
        waiting, self._waiting = self._waiting, []
        if not self._read_together(waiting[:-1]):
            for each in waiting[:-1]:
                self._take_alone(each)
        for each in waiting[-1:]:
            self._take_alone(each)

    def _take_alone(self, each: _Waiting) -> None:
        self._requests.wait_with(each.line, task=each.task, timing=each.timing)

    def _read_together(self, waiting: list[_Waiting]) -> bool:
        """Read requests as columns; False, and nothing is done, where they have to be read one by one."""
        if len(waiting) < FEWEST_TOGETHER:
            return False
        claims = _claims(waiting)
        together = recovered_together(claims, full_drafts=False)
        if together is None or not self._requests.has_room_for(claims.depths):
            return False
        records, refused = together
        if records.rows.size < FEWEST_TOGETHER:
            return False
        for row in sorted(refused):
            self._take_alone(waiting[row])  # it is skipped, with the reason
            self._requests.settle()
        used = [waiting[row] for row in records.rows.tolist()]
        self._requests.add_many(
            [each.line.number for each in used],
            records,
            tasks=[each.task for each in used],
            timings=[each.timing for each in used],
        )
        return True


def _claims(waiting: list[_Waiting]) -> Claims:
    lengths = [int(each.length.replace(".", "")) for each in waiting]
    positions = ", ".join([each.survival for each in waiting]).replace(".", "").split(", ")
    survival = np.array([int(text) for text in positions], dtype=np.int64)
    return Claims(
        drafted=np.array([each.drafted for each in waiting], dtype=np.int64),
        accepted=np.array([each.accepted for each in waiting], dtype=np.int64),
        length=np.array(lengths, dtype=np.int64),
        length_scale=100,
        survival=survival.reshape(len(waiting), -1),
        survival_scale=1000,
        none_empty=True,
    )
