"""One process per run folder: a lock that the system takes back when its holder dies."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK = "lock"


@contextmanager
def only_process(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; ValueError if another process does.

    The file stays: removing it could take it from a process that has just opened it.
    """
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            _take(handle)
        except OSError:
            raise ValueError(
                f"{folder} must be free; another process is measuring into it."
            ) from None
        yield
    finally:
        os.close(handle)  # gives the lock back


if sys.platform == "win32":  # pragma: no cover

    def _take(handle: int) -> None:
        import msvcrt  # noqa: PLC0415 — there only

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:

    def _take(handle: int) -> None:
        import fcntl  # noqa: PLC0415 — not there

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
