"""The one error of a server that does not answer as asked."""

from __future__ import annotations

from simulator._printable import printable


class CaptureError(OSError):
    """A server that cannot be asked: names it, and what to do if that is known; a terminal can show it.

    >>> print(CaptureError("http://127.0.0.1:8000", "nothing listens there"))
    http://127.0.0.1:8000: nothing listens there.
    """

    def __init__(self, url: str, problem: str, *, status: int | None = None) -> None:
        super().__init__(printable(f"{url}: {problem.rstrip('.')}."))
        self.status = status
