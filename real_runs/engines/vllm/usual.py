"""The lines of vLLM's servers as releases from 0.10.2 to 0.33.0 print them, read many at a time.

What they give is what `interval` and `throughput` give for each of them alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from real_runs.engines.counts.batch import recovered_together
from real_runs.engines.counts.many import Claims, Flags
from real_runs.engines.counts.ratios import agreeing_fractions
from real_runs.engines.counts.skips import Skips
from real_runs.engines.text.lines import Line
from real_runs.engines.vllm.columns import NOT_KNOWN, NOTHING_BESIDE, Beside, Intervals
from real_runs.engines.vllm.interval import IntervalLines
from real_runs.engines.vllm.throughput import MARKER, Origin, Throughput, Throughputs, second_of

MOST_WAITING = 4096
FEWEST_TOGETHER = 16
"""Fewer lines are read faster one by one."""

_HEAD = (
    r"(?:\((\w{1,40} pid=\d{1,10})\) )?[A-Z]{4,8} (\d\d-\d\d \d\d:\d\d:\d\d) "
    r"\[\w{1,40}\.py:\d{1,6}\] "
)
_INTERVAL = re.compile(
    _HEAD + r"SpecDecoding metrics: Mean acceptance length: (\d{1,4}\.\d\d), Accepted throughput: "
    r"[\d.]{1,20} tokens/s, Drafted throughput: (\d{1,12}\.\d{1,6}) tokens/s, Accepted: (\d{1,9}) "
    r"tokens, Drafted: (\d{1,9}) tokens, Per-position acceptance rate: "
    r"([01]\.\d{3}(?:, [01]\.\d{3}){0,63}), Avg Draft acceptance rate: (\d{1,3}\.\d)%",
    re.ASCII,
)
_THROUGHPUT = re.compile(
    _HEAD + r"(?:Engine (\d{1,9}): )?(?:Avg prompt throughput: [\d.]{1,20} tokens/s, )?"
    rf"{MARKER} (\d{{1,12}}(?:\.\d{{1,6}})?) tokens/s, Running: (\d{{1,9}}) reqs"
    r"(?:, [A-Z][A-Za-z ]{1,40}(?<!metrics): [\d.]{1,20}(?:%| reqs)){0,8}",
    re.ASCII,
)
_Found: TypeAlias = tuple[str, ...]
_FIELDS = _INTERVAL.groups


class UsualLines:
    """Lets usual lines wait, and gives them to the collectors of the others, as if one by one."""

    def __init__(self, skips: Skips, intervals: IntervalLines, throughputs: Throughputs) -> None:
        self._skips = skips
        self._intervals = intervals
        self._throughputs = throughputs
        self._waiting: list[tuple[Line, _Found]] = []
        self._survival = (
            0  # characters of the list of positions: as many positions for all that wait
        )

    def take(self, line: Line) -> bool:
        """Keep the line, to be read with others; False for one that is not as usual."""
        is_throughput = MARKER in line.text
        match = (_THROUGHPUT if is_throughput else _INTERVAL).fullmatch(line.text)
        if match is None:
            return False
        found = match.groups("")
        if not is_throughput and len(found[-2]) != self._survival:
            self.settle()
            self._survival = len(found[-2])
        if not self._waiting:
            self._skips.let_wait(self.settle)
        self._waiting.append((line, found))
        if len(self._waiting) == MOST_WAITING:
            self.settle()
        return True

    def settle(self) -> None:
        """Read all lines that wait."""
        waiting, self._waiting = self._waiting, []
        if not self._read_together(waiting):
            for line, found in waiting:
                if len(found) == _FIELDS:
                    self._intervals.take(line)
                else:
                    self._throughputs.take(line.text)

    def _read_together(self, waiting: Sequence[tuple[Line, _Found]]) -> bool:
        """Read the lines as columns; False, and nothing is done, where they have to be read one by one."""
        rows = [each for each in waiting if len(each[1]) == _FIELDS]
        if len(rows) < FEWEST_TOGETHER:
            return False
        columns = list(zip(*(found for _, found in rows), strict=True))
        claims, possible = _claims(columns)
        together = recovered_together(claims.of(possible), full_drafts=True)
        if together is None or not self._intervals.has_room_for(claims.depths):
            return False
        records, _ = together
        used = np.flatnonzero(possible)[records.rows]
        if used.size < FEWEST_TOGETHER:
            return False
        keeps = np.zeros(len(rows), dtype=bool)
        keeps[used] = True
        for row in np.flatnonzero(~keeps).tolist():
            self._intervals.take(rows[row][0])  # it is skipped, with the reason
        per_s = np.array([float(text) for text in columns[3]])[used]
        seconds = np.full(per_s.shape, np.nan)
        np.divide(records.drafted, per_s, out=seconds, where=per_s > 0.0)
        self._intervals.add_many(
            Intervals(
                lines=[rows[row][0].number for row in used.tolist()],
                processes=[columns[0][row] for row in used.tolist()],
                stamps=[columns[1][row] for row in used.tolist()],
                records=records,
                seconds=seconds,
                beside=self._beside(waiting, keeps.tolist()),
            )
        )
        return True

    def _beside(self, waiting: Sequence[tuple[Line, _Found]], keeps: list[bool]) -> list[Beside]:
        """The throughput beside each interval that is kept; in order, for others wait for theirs."""
        found: list[Beside] = []
        last: _Found | None = None  # mostly its interval comes next, and no other line waits
        kept = iter(keeps)
        for _, texts in waiting:
            if len(texts) != _FIELDS:
                if last is not None:
                    self._throughputs.add(_throughput(last))
                last = texts
            elif next(kept):
                same = last is not None and last[:2] == texts[:2]
                if last is not None and same and self._throughputs.meets_counts(texts[0]):
                    _, _, engine, per_s, running = last
                    each = Beside(engine=engine, tokens_per_s=float(per_s), running=int(running))
                else:
                    if last is not None:
                        self._throughputs.add(_throughput(last))
                    each = _of(self._throughputs.paired(_origin(*texts[:2])))
                last = None
                found.append(each)
        if last is not None:
            self._throughputs.add(_throughput(last))
        return found


def _claims(columns: Sequence[_Found]) -> tuple[Claims, Flags]:
    """What intervals claim, and which of them have possible counts and a rate that agrees."""
    _, _, lengths, _, accepted_texts, drafted_texts, survivals, rates = columns
    accepted = np.array([int(text) for text in accepted_texts], dtype=np.int64)
    drafted = np.array([int(text) for text in drafted_texts], dtype=np.int64)
    survival = [int(text) for text in ", ".join(survivals).replace(".", "").split(", ")]
    claims = Claims(
        drafted=drafted,
        accepted=accepted,
        length=np.array([int(text.replace(".", "")) for text in lengths], dtype=np.int64),
        length_scale=100,
        survival=np.array(survival, dtype=np.int64).reshape(len(lengths), -1),
        survival_scale=1000,
        none_empty=False,
    )
    units = np.array([int(text.replace(".", "")) for text in rates], dtype=np.int64)
    agree = agreeing_fractions(units, 10, accepted=accepted, drafted=drafted)
    return claims, agree & (accepted <= drafted) & (drafted > 0)


def _origin(process: str, stamp: str, engine: str = "") -> Origin:
    return Origin(process=process, engine=engine, stamp=stamp, second=second_of(stamp[-8:]))


def _throughput(found: _Found) -> Throughput:
    process, stamp, engine, tokens_per_s, running = found
    return Throughput(
        origin=_origin(process, stamp, engine),
        tokens_per_s=float(tokens_per_s),
        running=int(running),
    )


def _of(line: Throughput | None) -> Beside:
    if line is None:
        return NOTHING_BESIDE
    return Beside(
        engine=line.origin.engine,
        tokens_per_s=line.tokens_per_s,
        running=NOT_KNOWN if line.running is None else line.running,
    )
