"""What a reader of step times returns, and how it gathers the samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from real_runs.engines.counts.wording import counted
from real_runs.engines.errors import MetricsFormatError
from real_runs.engines.reading import Reading, Skipped
from simulator import StepSample

Kind: TypeAlias = Literal["csv", "sglang", "gpu", "run"]

MOST_SAMPLES = 500_000
"""Of one file; a hundred megabytes of them."""
MOST_KEPT = 20
"""Skipped lines that are kept with their reason."""
_LIMITS = {
    "batch": (1.0, 1e6),
    "tokens": (1.0, 1e7),
    "context": (0.0, 1e9),
    "seconds": (1e-12, 1e6),
    "weight": (1e-9, 1e12),
    "draft_steps": (0.0, 4096.0),
    "draft_tokens": (1.0, 1e6),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTimesRead:
    """The measured times in a file, and how it was understood.

    `kind` is what the file is. `context_known` says whether it tells the tokens that requests held;
    if not, the samples have the one that the reader was given. `readings` hold the acceptance that the
    same file carries (SGLang's sweeps; `Reading.observation` is what fits take), in the order of its
    lines. `skipped` are the first lines that gave no time, with the reason; `notes` count them.
    """

    source: str
    kind: Kind
    samples: tuple[StepSample, ...]
    context_known: bool = True
    readings: tuple[Reading, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()


class BadRowError(Exception):
    """Why a row gives no time; it is counted as skipped."""


class Gathered:
    """The samples of one file so far, within bounds, and the lines that gave none."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.samples: list[StepSample] = []
        self.kept: list[Skipped] = []
        self.skips = 0

    def add(self, line: int, *, draft: bool = False, **values: float) -> None:
        """Keep a sample; BadRowError for a number out of range, MetricsFormatError for too many."""
        for name, value in values.items():
            low, high = _LIMITS[name]
            if not low <= value <= high:
                raise BadRowError(f"{name} must be in [{low:g}, {high:g}]; got {value:g}")
        steps, wide = (values.pop(name, least) for name, least in _WHOLE.items())
        if steps != int(steps) or wide != int(wide):
            raise BadRowError("draft_steps and draft_tokens must be whole")
        if len(self.samples) == MOST_SAMPLES:
            raise MetricsFormatError(
                self.source,
                line=line,
                problem=f"there are more than {MOST_SAMPLES:,} times; expected fewer, such as one "
                "mean with its count for each batch, tokens and context.",
            )
        self.samples.append(
            StepSample(
                **values,
                draft_steps=max(int(steps), 1) if draft else int(steps),
                draft_tokens=int(wide),
                draft=draft,
            )
        )

    def skip(self, line: int, reason: str) -> None:
        """Count a line that gave no time."""
        self.skips += 1
        if len(self.kept) < MOST_KEPT:
            self.kept.append(Skipped(line=line, reason=reason))

    @property
    def notes(self) -> tuple[str, ...]:
        """How many lines were skipped, and why the first one was."""
        if not self.skips:
            return ()
        first = self.kept[0]
        said = f"{counted(self.skips, 'line')} gave no time; the first is line {first.line}"
        return (f"{said}: {first.reason}.",)

    def refuse_if_empty(self, expected: str) -> None:
        """MetricsFormatError where nothing was read, naming the first line that failed."""
        if self.samples:
            return
        if self.kept:
            raise MetricsFormatError(
                self.source,
                line=self.kept[0].line,
                problem=f"{self.kept[0].reason}; expected {expected}.",
            )
        raise MetricsFormatError(
            self.source, problem=f"there is no time in it; expected {expected}."
        )


_WHOLE = {"draft_steps": 0.0, "draft_tokens": 1.0}
