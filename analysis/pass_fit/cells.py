"""Samples to cells: the median time of each setting, so that single slow steps decide nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from simulator import StepSample
from simulator._checks import FloatArray

MOST_CELLS = 4096
_MOST_CONTEXTS = 16
"""Contexts of one setting that are kept apart; more are put together by quarters of an octave."""
_PER_OCTAVE = 4
_REPEATED = 5  # times of one cell that show how they scatter
_MAD = 1.4826  # normal: standard deviation / median absolute deviation
_MEDIAN = 1.2533  # normal: standard error of a median / that of a mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The times of one setting: lower weighted medians of time and context, and how many there were.

    As time grows with context, the median time is that of the median context, whatever the curve.
    `setting` numbers the settings, whose contexts share it; `bucket` says that contexts were put
    together. `scatter` is the standard
    error of the median as a share of it, None with fewer than 5 times.
    """

    batch: float
    tokens: float
    context: float
    draft_steps: int
    draft_tokens: int
    draft: bool
    seconds: float
    count: float
    setting: int
    bucket: bool
    scatter: float | None

    @property
    def target(self) -> bool:
        """Whether a pass of the target is in the time."""
        return not self.draft


def cells_of(samples: Iterable[StepSample]) -> tuple[Cell, ...]:
    """The cells of samples in any order; doubling every sample changes nothing but the counts.

    Raises ValueError without samples and for more than 4,096 cells.
    """
    settings: dict[tuple[float, float, int, int, bool], list[tuple[float, float, float]]] = {}
    for each in samples:
        if not isinstance(each, StepSample):
            raise ValueError(f"samples must be StepSample values; got {type(each).__name__}.")
        wide = 1.0 if each.draft else float(each.tokens)  # drafting alone says nothing of a width
        key = (float(each.batch), wide, each.draft_steps, each.draft_tokens, each.draft)
        settings.setdefault(key, []).append((each.context, each.seconds, each.weight))
    if not settings:
        raise ValueError("samples must hold one measured time at least; got none.")
    found: list[Cell] = []
    for number, (key, rows) in enumerate(sorted(settings.items())):
        array = np.array(sorted(rows))
        many = np.unique(array[:, 0]).size > _MOST_CONTEXTS
        found += [_cell(key, number, block, many=many) for block in _by_context(array, many=many)]
        if len(found) > MOST_CELLS:
            raise ValueError(
                f"samples must have at most {MOST_CELLS:,} different settings of batch, tokens and "
                "context; got more: put near batches together."
            )
    return tuple(found)


def mean_over_median(samples: Iterable[StepSample], cells: tuple[Cell, ...]) -> float:
    """All times together / the same number of medians; above 1 where slow steps make up a tail."""
    total = math.fsum(sorted(each.seconds * each.weight for each in samples))
    return total / math.fsum(cell.seconds * cell.count for cell in cells)


def _by_context(rows: FloatArray, *, many: bool) -> list[FloatArray]:
    """Rows of context, seconds, weight, sorted: by single contexts, or by buckets of many."""
    labels = rows[:, 0]
    if many:
        labels = np.floor(_PER_OCTAVE * np.log2(labels + 1.0))
    return np.split(rows, np.flatnonzero(np.diff(labels)) + 1)


def _cell(
    key: tuple[float, float, int, int, bool], number: int, rows: FloatArray, *, many: bool
) -> Cell:
    weights = rows[:, 2]
    seconds = _median(rows[:, 1], weights)
    count = float(weights.sum())
    scatter = None
    if len(rows) >= _REPEATED:
        spread = _MAD * _median(np.abs(rows[:, 1] - seconds), weights)
        scatter = _MEDIAN * spread / seconds / math.sqrt(len(rows))
    batch, tokens, steps, wide, draft = key
    return Cell(
        batch=batch,
        tokens=tokens,
        context=_median(rows[:, 0], weights),
        draft_steps=steps,
        draft_tokens=wide,
        draft=draft,
        seconds=seconds,
        count=count,
        setting=number,
        bucket=many,
        scatter=scatter,
    )


def _median(values: FloatArray, weights: FloatArray) -> float:
    """The lower weighted median: an element, so that a monotone curve goes through it."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, 0.5 * reached[-1] * (1.0 - 1e-12))])
