"""The "eval time = ... ms / ... tokens" lines of llama.cpp's server, by task."""

from __future__ import annotations

import re
from dataclasses import dataclass

from real_runs.engines.counts.printed import COUNT, as_count, as_printed

MOST_WAITING = 64
"""Tasks whose time is kept until their acceptance line comes; that is the next line but one."""

_EVAL = re.compile(
    rf"(?<!prompt )(?<!prompt)\beval time\s*+=\s*+([\d.]++)\s*+ms\s*+/\s*+{COUNT}\s*+(?:tokens|runs)\b"
)
_TASK = re.compile(r"\bid\s++(\d{1,9})\s*+\|\s*+task\s++(-?\d{1,12})\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalTime:
    """The tokens that a request predicted, the prefill's among them, and the time after that one."""

    tokens: int
    seconds: float


class EvalTimes:
    """Keeps the eval times of the last tasks of one log.

    >>> times = EvalTimes()
    >>> times.take("slot print_timing: id  1 | task 0 |        eval time =    2296.72 ms /   256 tokens")
    >>> times.of("slot print_timing: id  1 | task 0 | draft acceptance = ")[1].seconds
    2.29672
    """

    def __init__(self) -> None:
        self._waiting: dict[str, EvalTime] = {}

    def take(self, text: str) -> None:
        """Keep the time of the line's task; NoCounts if its numbers are none."""
        match = _EVAL.search(text)
        if match is None:
            return
        tokens = as_count("tokens", match[2])
        printed = as_printed("eval time", match[1])
        self.keep(_task(text), tokens, printed.units / (printed.scale * 1000))

    def keep(self, task: str, tokens: int, seconds: float) -> None:
        """Keep the time of a task, and forget that of the first one of very many."""
        self._waiting.pop(task, None)
        if len(self._waiting) == MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
        if tokens and seconds:
            self._waiting[task] = EvalTime(tokens=tokens, seconds=seconds)

    def of(self, text: str) -> tuple[str, EvalTime | None]:
        """The name of the line's task, and its time, which is then used up."""
        task = _task(text)
        return task, self.pop(task)

    def pop(self, task: str) -> EvalTime | None:
        """The time of a task, which is then used up."""
        return self._waiting.pop(task, None)


def task_name(slot: str, task: str) -> str:
    """The name of a task."""
    return f"slot {slot}, task {task}"


def _task(text: str) -> str:
    match = _TASK.search(text)
    return "" if match is None else task_name(match[1], match[2])
