"""What benchmarks share: a line of their table, and versions that take turns."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

MEGABYTE = 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table; `ok` is None where nothing could be measured."""

    what: str
    measured: str
    required: str
    ok: bool | None

    def __str__(self) -> str:
        verdict = {True: "yes", False: "NO", None: "–"}[self.ok]
        return f"| {self.what} | {self.measured} | {self.required} | {verdict} |"


def interleaved(versions: dict, repeats: int) -> dict[str, float]:
    """Median seconds of each version, after a warm-up; the versions take turns."""
    seconds = {name: [] for name in versions}
    for repeat in range(repeats + 2):
        for name, version in versions.items():
            start = time.perf_counter()
            version()
            if repeat >= 2:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}
