"""What a log of SGLang tells of the server before its numbers: the draft's setting and the version."""

from __future__ import annotations

from real_runs.engines.sglang.settings import (
    MARKERS,
    VERSION_MARKERS,
    DraftSetting,
    read_setting,
    read_version,
)
from simulator import Method


class Told:
    """The setting and the version so far; `setting` is None once two of a log differ.

    `latest` is the last one said, for the benchmarks that run one setting after another.
    """

    markers = (*MARKERS, *VERSION_MARKERS)

    def __init__(self) -> None:
        self.latest: DraftSetting | None = None
        self.version: str | None = None
        self.changing = False
        self._first: DraftSetting | None = None

    def take(self, text: str) -> None:
        """Keep what the line tells."""
        setting = read_setting(text)
        if setting is not None:
            self._first = self._first or setting
            self.changing = self.changing or setting != self._first
            self.latest = setting
        self.version = read_version(text) or self.version

    @property
    def setting(self) -> DraftSetting | None:
        """The only setting of the log; None if there is none, or more than one."""
        return None if self.changing else self._first

    @property
    def method(self) -> Method | None:
        """How drafts come about, as far as the only setting says."""
        return None if self.setting is None else self.setting.method

    @property
    def notes(self) -> list[str]:
        """What to say of settings that differ, and of trees."""
        if self.changing:
            return ["The draft's settings change within the log: gamma is left open."]
        sentence = None if self.setting is None else self.setting.sentence
        return [sentence] if sentence else []
