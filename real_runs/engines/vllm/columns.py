"""Many intervals of vLLM as columns: where each comes from, its time, and the throughput beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from real_runs.engines.counts.batch import Batch
from simulator import CountedUnit

NOT_KNOWN = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What is used of the throughput line beside an interval; `running` is -1 where not known."""

    engine: str = ""
    tokens_per_s: float = 0.0
    running: int = NOT_KNOWN


NOTHING_BESIDE = Beside()


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """Intervals in order: their lines and origins, counts, lengths in seconds, and throughput.

    `seconds` has shape [intervals], NaN where the length is not known; `beside` is NOTHING_BESIDE where no
    throughput is.
    """

    lines: Sequence[int]
    processes: Sequence[str]
    stamps: Sequence[str]
    records: Batch
    seconds: NDArray[np.float64]
    beside: Sequence[Beside]

    @property
    def tokens_per_s(self) -> NDArray[np.float64]:
        """Tokens per second of the throughput lines, shape [intervals]; 0 where there is none."""
        return np.array([each.tokens_per_s for each in self.beside])

    @property
    def running(self) -> NDArray[np.int64]:
        """Running requests, shape [intervals]; -1 where not known."""
        return np.array([each.running for each in self.beside], dtype=np.int64)

    @property
    def has_beside(self) -> NDArray[np.bool_]:
        """Where a throughput line stands beside the interval, shape [intervals]."""
        return np.array([each is not NOTHING_BESIDE for each in self.beside], dtype=bool)

    def units(self) -> Iterator[CountedUnit]:
        """The intervals as units, made as they are asked for."""
        columns = (self.processes, self.stamps, self.seconds.tolist(), self.beside)
        for counts, process, stamp, seconds, beside in zip(
            self.records.counts(), *columns, strict=True
        ):
            running = None if beside.running == NOT_KNOWN else beside.running
            yield CountedUnit(
                counts=counts,
                name=stamp,
                labels=labels_of(stamp, process, beside.engine, running),
                decode_s=seconds if running == 1 and seconds == seconds else None,  # noqa: PLR0124
            )


def labels_of(
    stamp: str, process: str, engine: str, running: int | None
) -> tuple[tuple[str, str], ...]:
    """What an interval can be grouped by, as far as it is known."""
    labels = (
        ("time", stamp),
        ("process", process),
        ("engine", engine),
        ("running", "" if running is None else str(running)),
    )
    return tuple([each for each in labels if each[1]])
