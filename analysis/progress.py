"""A progress bar on stderr for runs that last, and only where somebody watches."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_PATIENCE_S = 1.0


@contextmanager
def shown_progress(task: str) -> Iterator[Callable[[float], None] | None]:
    """A function that takes the share done; None if stderr is no terminal.

    The bar appears after a second and disappears at the end.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 — costs time that short runs do not have
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (
        TextColumn(task),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    started = time.monotonic()
    row = bar.add_task(task, total=1.0)

    def report(share: float) -> None:
        if not bar.live.is_started and time.monotonic() - started > _PATIENCE_S:
            bar.start()
        bar.update(row, completed=share)

    try:
        yield report
    finally:
        bar.stop()
