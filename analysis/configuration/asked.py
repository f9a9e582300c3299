"""What a configuration is asked for, checked once, in the form that every engine's writer reads."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.configuration.methods import EngineMethod
from analysis.configuration.result import TITLES, ConfigFile, Engine
from analysis.configuration.wording import checked_name
from analysis.fitting.result import MOST, Fit
from analysis.planning.schedule import Schedule, Span
from simulator._checks import as_count, as_probability

TARGET, DRAFT = "TARGET_MODEL", "DRAFT_MODEL"
Written = tuple[tuple[ConfigFile, ...], tuple[str, ...]]
"""What a writer returns: files and notes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A schedule, a method as the engine has it, a fit, and names.

    `batch` is the batch that is written for where an engine knows one draft length only, and that of
    the load test. `largest_batch` closes an open schedule where an engine wants an end. `tokens` are
    those of a request whose rounds are compared. `stop_window` and `stop_below` are the passes and the
    accepted / drafted below which TensorRT-LLM gives up drafting. `devices` run each layer together
    (tensor parallel). `remarks` are what else a reader of the files must know. Raises ValueError for
    what does not belong together.
    """

    engine: Engine
    schedule: Schedule
    method: EngineMethod
    acceptance: Fit
    target: str | None = None
    draft: str | None = None
    batch: int = 1
    largest_batch: int = 1024
    tokens: int = 256
    stop_window: int | None = None
    stop_below: float | None = None
    devices: int = 1
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for parameter, name in (("target", self.target), ("draft", self.draft)):
            if name is not None:
                checked_name(parameter, name)
        if self.draft is not None and self.method.drafts_with == "nothing":
            raise ValueError(
                f"draft must be left out for {self.method.method} on {TITLES[self.engine]}, which "
                f"takes no model to draft with; got {self.draft!r:.60}."
            )
        as_count("gamma", self.schedule.longest, most=MOST)
        as_count("devices", self.devices, least=1)
        as_count("largest_batch", self.largest_batch, least=1)
        as_count("tokens", self.tokens, least=1, most=10_000)
        self.schedule.gamma(self.batch)
        if (self.stop_window is None) != (self.stop_below is None):
            raise ValueError("stop_window and stop_below must be given together or not at all.")
        if self.stop_window is not None:
            if self.engine != "tensorrt_llm":
                raise ValueError(
                    "stop_window and stop_below must be left out but for tensorrt_llm."
                )
            as_count("stop_window", self.stop_window, least=1)
            as_probability("stop_below", self.stop_below)

    @property
    def target_name(self) -> str:
        """The target, or a word to replace."""
        return TARGET if self.target is None else self.target

    @property
    def draft_name(self) -> str | None:
        """The draft or a word to replace; None where the engine needs none and none was given."""
        if self.draft is None and self.method.drafts_with == "model":
            return DRAFT
        return self.draft

    @property
    def off(self) -> bool:
        """Whether the schedule never drafts."""
        return self.schedule.longest == 0

    @property
    def gamma(self) -> int:
        """The draft length at `batch`."""
        return self.schedule.gamma(self.batch)

    @property
    def gammas(self) -> tuple[int, ...]:
        """The draft lengths of the schedule but 0, the longest first."""
        return tuple(sorted({span.gamma for span in self.schedule.spans} - {0}, reverse=True))

    @property
    def spans(self) -> tuple[tuple[int, int, int], ...]:
        """(first, last, gamma) with the open end closed; neighbours of one length are one."""
        spans: list[tuple[int, int, int]] = []
        for span in self.schedule.spans:
            first = span.first
            if spans and spans[-1][2] == span.gamma:
                first = spans.pop()[0]
            spans.append((first, self._last(span), span.gamma))
        return tuple(spans)

    @property
    def constant(self) -> bool:
        """Whether every batch has the same draft length."""
        return len(self.spans) == 1

    def _last(self, span: Span) -> int:
        return max(span.first, self.largest_batch) if span.last is None else span.last

    @property
    def introduction(self) -> tuple[str, ...]:
        """What is in the file, in words: schedule and what the fit promises."""
        lines = [
            (
                f"{TITLES[self.engine]}, {self._method}. Draft length by batch size (requests that run "
                f"together): {self.schedule.text}."
            )
        ]
        if self.off:
            return (*lines, "The schedule never drafts: nothing is set.", *self.remarks)
        means = "; ".join(f"{self.acceptance.tokens_per_round(g)} at {g}" for g in self.gammas)
        said = f"Tokens per round by draft length, from the fit{self._fit}: {means}."
        return (*lines, said, *self.remarks)

    def parallel(self, flag: str) -> list[tuple[str, str | None]]:
        """The option by which an engine runs each layer on several devices; none for one device."""
        return [(flag, str(self.devices))] if self.devices > 1 else []

    @property
    def _method(self) -> str:
        method, word = self.method.method, self.method.word
        return method if word.lower() == method else f"{method} as {word}"

    @property
    def _fit(self) -> str:
        return f" ({self.acceptance.name})" if self.acceptance.name else ""

    @property
    def name_notes(self) -> tuple[str, ...]:
        """Which words are to be replaced."""
        words = [word for word in (self.target_name, self.draft_name) if word in {TARGET, DRAFT}]
        return (f"Replace {' and '.join(words)} by a name or path.",) if words else ()

    def one_length_note(self, why: str) -> tuple[str, ...]:
        """What is lost where the engine keeps one draft length."""
        if self.constant:
            return ()
        return (
            (
                f"{why}: this is for batch {self.batch} with {self.gamma}; the rest of the schedule is "
                "not expressed."
            ),
        )
