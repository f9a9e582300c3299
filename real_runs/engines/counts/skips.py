"""Lines that belong to a format and give no counts: why, and how many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from real_runs.engines.counts.wording import counted
from real_runs.engines.reading import Skipped

MOST_KEPT = 20
"""Skipped lines that are kept with their reason; a broken log of a week would fill the memory."""


class NoCounts(Exception):  # noqa: N818 — not an error: the line is counted as skipped
    """Why a line gives no counts; `expected` where that is not simply a line of its format.

    `finding` is the doctor's code for it where the numbers are impossible, not merely missing.
    """

    def __init__(
        self, reason: str, *, expected: str | None = None, finding: str | None = None
    ) -> None:
        super().__init__(reason)
        self.expected = expected
        self.finding = finding


class NothingDrafted(NoCounts):
    """The line is whole, and says that nothing was drafted."""


class Guard:
    """What `Skips.guard` gives; not a generator, for every line of metrics goes through one."""

    __slots__ = ("_expected", "_line", "_skips")

    def __init__(self, skips: Skips, line: int, expected: str) -> None:
        self._skips, self._line, self._expected = skips, line, expected

    def __enter__(self) -> None:
        """Nothing is to be done before."""

    def __exit__(self, kind: object, raised: BaseException | None, trace: object) -> bool:
        """Take a NoCounts as a skip; all else goes on."""
        if not isinstance(raised, NoCounts):
            return False
        self._skips.take(self._line, raised, self._expected)
        return True


class Skips:
    """The skipped lines of one log: the first ones with their reason, the rest counted."""

    def __init__(self) -> None:
        self.kept: list[Skipped] = []
        self.total = 0
        self.undrafted = 0
        self.broken: Skipped | None = None
        self.findings: Counter[str] = Counter()
        self.expected = ""
        self._waiting: Callable[[], None] | None = None

    def guard(self, line: int, *, expected: str) -> Guard:
        """Record a NoCounts raised inside as the skip of `line`, which should look like `expected`."""
        return Guard(self, line, expected)

    def let_wait(self, settle: Callable[[], None]) -> None:
        """Let lines of one collector wait, to be taken together by `settle`; those of another wait no more.

        They are taken before any other line is skipped: skips stay in the order of the lines.
        """
        if settle != self._waiting:
            self.settle()
            self._waiting = settle

    def settle(self) -> None:
        """Take the lines that wait."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting()

    def take(self, line: int, reason: NoCounts, expected: str) -> None:
        """Record what was raised for `line`."""
        self.settle()
        if isinstance(reason, NothingDrafted):
            self.undrafted += 1
            self._add(Skipped(line=line, reason=str(reason), finding=reason.finding))
            return
        self.record(line, str(reason), expected=reason.expected or expected, finding=reason.finding)

    def record(self, line: int, reason: str, *, expected: str, finding: str | None = None) -> None:
        """Record that `line` gives no counts although it should."""
        self.settle()
        skipped = Skipped(line=line, reason=reason, finding=finding)
        if self.broken is None:
            self.broken, self.expected = skipped, expected
        self._add(skipped)

    def _add(self, skipped: Skipped) -> None:
        self.total += 1
        if skipped.finding is not None:
            self.findings[skipped.finding] += 1
        if len(self.kept) < MOST_KEPT:
            self.kept.append(skipped)

    @property
    def note(self) -> str | None:
        """What to say of the skipped lines that are not kept; None if all are."""
        more = self.total - len(self.kept)
        if not more:
            return None
        lines = "1 more line was" if more == 1 else f"{more} more lines were"
        return f"{lines} skipped than are listed."

    @property
    def findings_note(self) -> str | None:
        """The doctor's codes for what was skipped, with the number of lines; None without any."""
        if not self.findings:
            return None
        codes = ", ".join(
            f"{code.replace('_', ' ')} ({counted(number, 'line')})"
            for code, number in self.findings.items()
        )
        return f"Findings in skipped lines: {codes}."
