"""SGLang's line per so many decoding passes: "Decode batch, #running-req: ..., accept len: ..."."""

from __future__ import annotations

import re
from itertools import pairwise

from real_runs.engines.counts.skips import Skips
from real_runs.engines.counts.wording import counted
from real_runs.engines.reading import Reading
from real_runs.engines.sglang.decode_line import DecodeLine, read_decode_line
from real_runs.engines.sglang.pace import Pace
from real_runs.engines.sglang.rate import Meaning, RateWindows
from real_runs.engines.sglang.state import Told
from real_runs.engines.text.lines import Line
from simulator import ReportedRatio

SHAPE = "'Decode batch, #running-req: ..., accept len: ..., gen throughput (token/s): ...' (SGLang)"
MARKERS = ("Decode batch", "accept len")

_HEAD = re.compile(r"Decode batch(?: \[\d+\])?")
_DEFINITION = (
    "accept len is tokens per round, bonus token included, of the requests running on one rank."
)
_NEAREST = 8
"""Lines between a wrapped line's head and its accept length."""


class DecodeLines:
    """Weighs the ratios of the decode lines of one log: none of them says how many rounds it counts."""

    def __init__(self, source: str, skips: Skips, told: Told) -> None:
        self._source = source
        self._skips = skips
        self._told = told
        self._pace = Pace()
        self._windows = RateWindows()
        self._wrapped: Line | None = None
        self._lines = 0
        self._last: DecodeLine | None = None
        self._ranks: set[str] = set()
        self._weight = self._lengths = 0.0
        self._rate_weight = self._rates = 0.0
        self._shortest, self._longest = float("inf"), 0.0

    def take(self, line: Line) -> None:
        """Add the ratios of every decode line in the text, or note why there are none."""
        heads = [match.start() for match in _HEAD.finditer(line.text)]
        if not heads:
            self._take(line.number, self._joined(line))
            return
        self._settle()
        starts = [0, *heads[1:], len(line.text)]
        for begin, end in pairwise(starts):
            text = line.text[begin:end]
            if end == len(line.text) and text.rstrip().endswith(",") and "accept len" not in text:
                self._wrapped = Line(number=line.number, text=text)
            else:
                self._take(line.number, text)

    def _joined(self, line: Line) -> str:
        """The line behind the wrapped head that it goes on from, if there is one close by."""
        wrapped, self._wrapped = self._wrapped, None
        if wrapped is None or line.number - wrapped.number > _NEAREST:
            return line.text
        return f"{wrapped.text} {line.text}"

    def _settle(self) -> None:
        """Take the head that nothing went on from as it is."""
        wrapped, self._wrapped = self._wrapped, None
        if wrapped is not None:
            self._take(wrapped.number, wrapped.text)

    def _take(self, number: int, text: str) -> None:
        with self._skips.guard(number, expected=SHAPE):
            self._add(read_decode_line(text))

    def _add(self, line: DecodeLine) -> None:
        self._lines += 1
        self._last = line
        if len(self._ranks) < 1024:
            self._ranks.add(line.rank)
        # Lines come after equally many passes, so rounds are as the running requests.
        weight, length = line.running or 1, line.length.value
        self._weight += weight
        self._lengths += weight * length
        self._shortest = min(self._shortest, length)
        self._longest = max(self._longest, length)
        if line.rate is not None:
            self._windows.add(line.length, line.rate)
            self._rate_weight += weight
            self._rates += weight * line.rate.value
        if line.running is not None and line.tokens_per_s is not None:
            self._pace.add(
                line.rank,
                running=line.running,
                length=length,
                tokens_per_s=line.tokens_per_s,
            )

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of all decode lines; empty if none had an accept length."""
        self._settle()
        if self._last is None:
            return []
        meaning = self._meaning()
        window = self._told.setting
        gamma = None if window is None else window.gamma
        if gamma is None and not self._told.changing and meaning is not None and meaning.window:
            gamma = meaning.window - 1
        return [
            Reading(
                engine="sglang",
                layout="decode lines",
                source=self._source,
                counts=None,
                printed=tuple(self._ratios(self._last, meaning)),
                definition=_DEFINITION,
                lines=lines,
                used=self._lines,
                notes=tuple(self._notes(self._last, meaning)),
                gamma=gamma,
                clock=self._pace.clock,
                method=self._told.method,
                version=self._told.version,
            )
        ]

    def _meaning(self) -> Meaning | None:
        if not self._windows.lines:
            return None
        setting = self._told.setting
        return self._windows.meaning(
            window=None if setting is None else setting.window, version=self._told.version
        )

    def _ratios(self, last: DecodeLine, meaning: Meaning | None) -> list[ReportedRatio]:
        over = "passes of one decode line"
        if self._lines > 1:
            over = f"{self._lines} decode lines, weighted by running requests (an estimate)"
        ratios = [
            ReportedRatio(
                quantity="tokens_per_round",
                value=self._lengths / self._weight if self._lines > 1 else last.length.value,
                half_width=last.length.half_width,
                averaged_over=over,
            )
        ]
        if meaning is not None and meaning.quantity is not None and self._rate_weight:
            rate = self._rates / self._rate_weight
            ratios.append(
                ReportedRatio(
                    quantity=meaning.quantity,
                    value=last.rate.value if self._lines == 1 and last.rate else rate,
                    half_width=0.005 if last.rate is None else last.rate.half_width,
                    averaged_over=over,
                )
            )
        return ratios

    def _notes(self, last: DecodeLine, meaning: Meaning | None) -> list[str]:
        notes = ["Ratios only: a decode line does not say how many rounds it counts."]
        if self._lines > 1:
            notes.append(
                f"{self._lines} decode lines, accept len {self._shortest:g} to {self._longest:g}: their "
                "mean takes every line for equally many passes (decode_log_interval) of the requests "
                "that run when it is printed, an estimate without a sampling error."
            )
        if len(self._ranks) > 1:
            notes.append(
                f"{len(self._ranks)} data-parallel ranks: running requests and tokens per second are "
                "those of one rank."
            )
        if meaning is not None:
            notes.append(meaning.reason)
        if last.cap is not None or last.block is not None:
            parts = [("cap len", last.cap), ("block accept len", last.block)]
            printed = " and ".join(f"{name} {each.value:g}" for name, each in parts if each)
            notes.append(f"The last line prints {printed} too: lengths of a block draft, not used.")
        notes += self._told.notes
        notes += self._pace.notes
        if self._told.setting is None and meaning is not None and meaning.window:
            notes.append(
                f"gamma = {counted(meaning.window - 1, 'token')}, window - 1, if drafts are chains."
            )
        return notes
