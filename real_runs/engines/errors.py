"""The one error of the importers."""

from __future__ import annotations


class MetricsFormatError(ValueError):
    """A log that cannot be read: names the file, the line if there is one, and what was expected.

    `finding` is the doctor's code for it, where the numbers are impossible and not merely missing.

    >>> print(MetricsFormatError("server.log", line=3, problem="Accepted is above Drafted"))
    server.log, line 3: Accepted is above Drafted
    """

    def __init__(
        self, source: str, *, problem: str, line: int | None = None, finding: str | None = None
    ) -> None:
        self.source = source
        self.line = line
        self.problem = problem
        self.finding = finding
        where = source if line is None else f"{source}, line {line}"
        super().__init__(f"{where}: {problem}")
