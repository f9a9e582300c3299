"""SGLang's line per so many decoding passes: "Decode batch, #running-req: ..., accept len: ..."."""

from __future__ import annotations

import re
from itertools import pairwise

from real_runs.engines.counts.skips import Skips
from real_runs.engines.counts.wording import counted
from real_runs.engines.reading import Reading
from real_runs.engines.sglang.decode_line import HEAD, USUAL, DecodeLine, rank_of, read_decode_line
from real_runs.engines.sglang.pace import Pace
from real_runs.engines.sglang.rate import MOST_SEEN, Meaning, RateWindows
from real_runs.engines.sglang.state import Told
from real_runs.engines.text.lines import Line
from simulator import ReportedRatio

SHAPE = "'Decode batch, #running-req: ..., accept len: ..., gen throughput (token/s): ...' (SGLang)"
MARKERS = (HEAD, "accept len")

_HEAD = re.compile(rf"{HEAD}(?: \[\d+\])?")
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
        self._last: str | None = None
        self._ratios_of: dict[tuple[str, str | None], tuple[float, float | None]] = {}
        self._ranks: set[str] = set()
        self._weight = self._lengths = 0.0
        self._rate_weight = self._rates = 0.0
        self._shortest, self._longest = float("inf"), 0.0

    def take(self, line: Line) -> None:
        """Add the ratios of every decode line in the text, or note why there are none."""
        if self._take_usual(line):
            return
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

    def _take_usual(self, line: Line) -> bool:
        """Add a decode line as most are; False for any other.

        Of two digits there are few ratios, and a log repeats them: they are checked once.
        """
        head, _, body = line.text.partition(HEAD)
        usual = USUAL.match(body)
        if usual is None or HEAD in body:
            return False
        self._settle()
        running, length_text, rate_text, tokens_per_s = usual.groups()
        ratios = self._ratios_of.get((length_text, rate_text))
        if ratios is not None:
            length, rate = ratios
            self._windows.lines += rate is not None
            self._last = line.text
            self._count(rank_of(head), int(running), length, rate, float(tokens_per_s))
            return True
        self._take(line.number, line.text)
        if self._last is line.text and len(self._ratios_of) < MOST_SEEN:
            rate = None if rate_text is None else float(rate_text)
            self._ratios_of[length_text, rate_text] = float(length_text), rate
        return True

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
            line = read_decode_line(text)
            if line.rate is not None:
                self._windows.add(line.length, line.rate)
            rate = None if line.rate is None else line.rate.value
            self._last = text
            self._count(line.rank, line.running, line.length.value, rate, line.tokens_per_s)

    def _count(
        self,
        rank: str,
        running: int | None,
        length: float,
        rate: float | None,
        tokens_per_s: float | None,
    ) -> None:
        self._lines += 1
        if len(self._ranks) < 1024:
            self._ranks.add(rank)
        # Lines come after equally many passes, so rounds are as the running requests.
        weight = running or 1
        self._weight += weight
        self._lengths += weight * length
        self._shortest = min(self._shortest, length)
        self._longest = max(self._longest, length)
        if rate is not None:
            self._rate_weight += weight
            self._rates += weight * rate
        if running is not None and tokens_per_s is not None:
            self._pace.add(rank, running=running, length=length, tokens_per_s=tokens_per_s)

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of all decode lines; empty if none had an accept length."""
        self._settle()
        if self._last is None:
            return []
        last, meaning = read_decode_line(self._last), self._meaning()
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
                printed=tuple(self._ratios(last, meaning)),
                definition=_DEFINITION,
                lines=lines,
                used=min(self._lines, lines),  # one line can hold several
                notes=tuple(self._notes(last, meaning)),
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
                "Without counts the lines are no intervals that could be compared over time."
            )
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
