"""The counters in one of llama.cpp's "statistics" lines, and the totals they support."""

from __future__ import annotations

import re
from dataclasses import dataclass

from real_runs.engines.counts.printed import (
    COUNT,
    MOST_DEPTHS,
    MOST_DIGITS,
    Printed,
    as_count,
    as_printed,
    as_survival,
)
from real_runs.engines.counts.ratios import Ratios, check_counts
from real_runs.engines.counts.recovery import Recovered, with_rounds
from real_runs.engines.counts.rounding import Claim
from real_runs.engines.counts.skips import NoCounts

_CALLS = re.compile(rf"#calls\(b,g,a\)\s*+=\s*+-?\d++\s++{COUNT}\s++{COUNT}")
_CALLS_ALONE = re.compile(rf"#calls\s*+=\s*+{COUNT}")
_LENGTH = re.compile(r"#mean acc len\s*+=\s*+(\d++\.\d\d++)")
_SURVIVAL = re.compile(r"#acc rate/pos\s*+=\s*+\(([^()]*+)\)")
_DURATIONS = re.compile(r"\bdur(?:\(b,g,a\))?\s*+=\s*+([\d.]++(?:\s*+,\s*+[\d.]++)*+)\s*+ms")
_NEVER = Printed(units=0, scale=10**MOST_DIGITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """One line as printed, since the server started.

    `calls` asked for a draft, `drafts` of them gave one, and `judged` drafts came back from the
    target: both are None where the line does not print them. `kept_any` drafts kept a token.
    `draft_s` is the time that drafting took: beginning, making and settling drafts.
    """

    line: int
    calls: int | None
    drafts: int
    judged: int | None
    kept_any: int
    drafted: int
    accepted: int
    ratios: Ratios
    draft_s: float | None = None


def read_counters(line: int, text: str) -> Counters:
    """The counters in `text`; NoCounts if one is missing or no count."""
    drafted, accepted = _count("gen tokens", text), _count("acc tokens", text)
    check_counts(accepted=accepted, drafted=drafted, of="so far")
    calls, judged = _calls(text)
    length, survival = _LENGTH.search(text), _SURVIVAL.search(text)
    if survival is None and "#acc rate/pos" in text:
        raise NoCounts("the list of positions is cut short")
    return Counters(
        line=line,
        calls=calls,
        drafts=_count("gen drafts", text),
        judged=judged,
        kept_any=_count("acc drafts", text),
        drafted=drafted,
        accepted=accepted,
        ratios=Ratios(
            length=None if length is None else as_printed("#mean acc len", length[1]),
            survival=() if survival is None else as_survival("#acc rate/pos", survival[1]),
        ),
        draft_s=_draft_s(text),
    )


def recover(line: Counters) -> Recovered:
    """The totals of the line; NoCounts if its ratios contradict its counts."""
    rounds = line.drafts if line.judged is None else line.judged
    if rounds == 0:
        raise NoCounts("drafts were made, and none of them was judged")
    if rounds != line.drafts:
        # Tokens of drafts that were never judged are in drafted: no depth can be told from it.
        claim = Claim(
            drafted=line.drafted,
            accepted=line.accepted,
            length=line.ratios.length,
            kept_any=line.kept_any,
        )
    else:
        claim = Claim(
            drafted=line.drafted,
            accepted=line.accepted,
            length=line.ratios.length,
            survival=_whole_survival(line, rounds),
            kept_any=line.kept_any,
            none_empty=True,
        )
    return with_rounds(claim, rounds)


def _whole_survival(line: Counters, rounds: int) -> tuple[Printed, ...]:
    """The list ends at the deepest accepted token, so deeper drafts have zeros to come."""
    survival = line.ratios.survival
    depths = max(len(survival), -(-line.drafted // rounds))
    if not survival or depths > MOST_DEPTHS:
        return ()
    return survival + (_NEVER,) * (depths - len(survival))


def _calls(text: str) -> tuple[int | None, int | None]:
    """Calls for a draft and drafts judged, of which old lines print the first one alone."""
    three, alone = _CALLS.search(text), _CALLS_ALONE.search(text)
    if three is not None:
        return as_count("#calls", three[1]), as_count("#calls", three[2])
    if alone is None:
        raise NoCounts("the line has no '#calls' with its count or three")
    return as_count("#calls", alone[1]), None


def _draft_s(text: str) -> float | None:
    """The durations of the line, of which some releases print the sum alone."""
    match = _DURATIONS.search(text)
    if match is None:
        return None
    return sum(as_printed("dur", part.strip()).value for part in match[1].split(",")) / 1000.0


def _count(name: str, text: str) -> int:
    match = re.search(rf"#{name}\s*+=\s*+{COUNT}", text)
    if match is None:
        raise NoCounts(f"the line has no '#{name}'")
    return as_count(f"#{name}", match[1])
