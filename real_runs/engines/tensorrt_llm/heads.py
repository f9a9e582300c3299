"""Stand-alone accuracies of Medusa heads, as TensorRT-LLM's training tools print them."""

from __future__ import annotations

import re

from real_runs.engines.counts.printed import MOST_DEPTHS, MOST_DIGITS, Printed, as_printed
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.reading import Reading
from real_runs.engines.text.lines import Line
from simulator import ReportedRatio

SHAPE = "'TopK=0' and 'Head 0 Accuracy=...' (Medusa heads)"

_STANDALONE = (
    "Accuracies of each head on its own on held-out text: no acceptance within the engine, where a head "
    "counts only if those before it were right."
)
_TOP = re.compile(r"\bTopK=(\d{1,4})\b")
_HEAD = re.compile(r"\bHead (\d{1,4}) Accuracy=([\w.+-]++)")


class HeadLines:
    """Keeps the last accuracy of every head for the best guess (TopK=0); wider ones are counted."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._source = source
        self._skips = skips
        self._top = 0
        self._heads: dict[int, Printed] = {}
        self._lines = 0
        self._wider: set[int] = set()

    def take(self, line: Line) -> None:
        """Keep the head's accuracy, or the width that those of the next lines are for."""
        with self._skips.guard(line.number, expected=SHAPE):
            top = _TOP.search(line.text)
            if top is not None:
                self._top = int(top[1])
            for match in _HEAD.finditer(line.text):
                self._keep(int(match[1]), match[2])

    def _keep(self, head: int, text: str) -> None:
        if head >= MOST_DEPTHS:
            raise NoCounts(f"head {head} is beyond {MOST_DEPTHS}")
        accuracy = as_printed(f"Head {head} Accuracy", text[:MOST_DIGITS])
        if accuracy.value > 1.0:
            raise NoCounts(f"an accuracy of {accuracy.value:g}, above 1", finding="unit_error")
        if self._top:
            if len(self._wider) < MOST_DEPTHS:
                self._wider.add(self._top + 1)
            return
        self._heads[head] = accuracy
        self._lines += 1

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of the heads; empty without one."""
        if not self._heads:
            return []
        notes = [_STANDALONE]
        if self._wider:
            best = ", ".join(map(str, sorted(self._wider)))
            notes.append(f"Accuracies among the best {best} guesses are left out.")
        return [
            Reading(
                engine="tensorrt-llm",
                layout="accuracy of Medusa heads",
                source=self._source,
                counts=None,
                printed=tuple(
                    ReportedRatio(
                        quantity="head_accuracy",
                        value=accuracy.value,
                        half_width=accuracy.half_width,
                        averaged_over="positions of held-out text",
                        depth=head,
                    )
                    for head, accuracy in sorted(self._heads.items())
                ),
                definition="none is printed; a head's accuracy is how often its best guess is right.",
                lines=lines,
                used=self._lines,
                notes=tuple(notes),
                gamma=max(self._heads) + 1,
                method="medusa",
            )
        ]
