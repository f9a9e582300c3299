"""The one error of a run folder's content."""

from __future__ import annotations

from pathlib import Path

from simulator._printable import printable


class RunFolderError(ValueError):
    """A run that cannot be used: names the file, the line if there is one, and what was expected.

    >>> print(RunFolderError("requests.jsonl", line=3, problem="this line is no JSON."))
    requests.jsonl, line 3: this line is no JSON.
    """

    def __init__(self, source: str | Path, *, problem: str, line: int | None = None) -> None:
        self.source = str(source)
        self.line = line
        self.problem = problem
        where = self.source if line is None else f"{self.source}, line {line}"
        super().__init__(printable(f"{where}: {problem}"))


class NewerSchemaError(RunFolderError):
    """A run that a newer version has written: it may be sound, and cannot be judged here."""


class RunStoppedError(RuntimeError):
    """A run that ended early: why, how much of it is kept, and how it goes on."""

    def __init__(self, folder: str | Path, reason: str, kept: int, total: int) -> None:
        self.kept = kept
        self.total = total
        super().__init__(
            f"{reason}; {kept} of {total} requests are kept in {folder}, and the same command with "
            "--resume continues."
        )


class RunInterruptedError(RunStoppedError):
    """A run that was ended by Ctrl-C."""
