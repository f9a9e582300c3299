"""The options of `specdec import` that a running server has."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from analysis.output import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How a server is captured: over some seconds, by prompts, or as it is now."""

    after: float | None = None
    ask: str | None = None
    max_tokens: int | None = None
    concurrency: int | None = None
    model: str | None = None
    temperature: float | None = None
    whole_answers: bool = False
    keep: Path | None = None
    with_texts: bool = False
    allow_remote: bool = False

    @property
    def told(self) -> tuple[tuple[str, Cell], ...]:
        """The options that only a server has, as far as they are given, as they are written."""
        of_server: tuple[tuple[str, Cell], ...] = (
            ("--after", self.after),
            ("--ask", self.ask),
            ("--keep", None if self.keep is None else str(self.keep)),
            ("--allow-remote", self.allow_remote or None),
        )
        known = ((name, value) for name, value in of_server if value is not None)
        return (*known, *self.told_of_ask)

    @property
    def told_of_ask(self) -> tuple[tuple[str, Cell], ...]:
        """The options that only `--ask` has, as far as they are given."""
        of_ask: tuple[tuple[str, Cell], ...] = (
            ("--max-tokens", self.max_tokens),
            ("--concurrency", self.concurrency),
            ("--model", self.model),
            ("--temperature", self.temperature),
            ("--whole-answers", self.whole_answers or None),
            ("--with-texts", self.with_texts or None),
        )
        return tuple((name, value) for name, value in of_ask if value is not None)
