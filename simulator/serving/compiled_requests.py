"""A request's way through the server, for numba: it arrives, is admitted, is read, and ends.

Import it only where numba is there and chosen.
"""

from __future__ import annotations

from typing import Any

from simulator.serving.compiled_arrays import (
    GOES_ON,
    PROMPT,
    REQUESTS,
    VERDICTS,
    WIDTH,
    Feed,
    Rows,
    Seen,
)
from simulator.serving.compiled_times import inlined


@inlined
def start(s: Any, phase: int, seconds: float) -> None:
    """Let the machine work for so long; who comes meanwhile is counted as time passes."""
    s.phase = phase
    s.end = s.now + seconds
    s.busy_s += seconds
    s.decoding_s += seconds * s.decoding
    s.in_system_s += seconds * s.in_system


@inlined
def arrive(s: Any) -> None:
    """A request comes on its own."""
    s.in_system += 1
    s.arrived += 1


@inlined
def missing(s: Any, feed: Feed, rows: Rows) -> int:
    """What must come before the next request can be taken."""
    if s.admitted == s.drawn:
        return REQUESTS
    if s.verdicts >= 0:  # the server drafts
        if s.verdict_at == s.verdicts:
            return VERDICTS
        if feed.output[s.admitted & (feed.output.size - 1)] - 1 > rows.kept.shape[1]:
            return WIDTH
    return GOES_ON


@inlined
def take(s: Any, feed: Feed, rows: Rows) -> None:
    """Admit the next request, and read its prompt at once if it is read alone."""
    at = s.admitted & (feed.output.size - 1)
    row = rows.free[s.most_running - s.decoding - s.reading - 1]
    rows.number[row] = s.admitted
    rows.arrival[row], rows.admitted[row] = feed.arrival[at], s.now
    rows.prompt[row], rows.output[row] = feed.prompt[at], feed.output[at]
    rows.draft_s[row], rows.read[row] = feed.draft_s[at], 0
    if s.verdicts >= 0:
        verdict = s.verdict_at
        for token in range(feed.output[at] - 1):
            rows.kept[row, token] = feed.kept[verdict, token]
        s.verdict_at += 1
    s.admitted += 1
    rows.reading[s.reading] = row
    s.reading += 1
    if s.budget == 0:
        start(s, PROMPT, feed.prompt_s[at])


@inlined
def end(s: Any, row: int, feed: Feed, rows: Rows, seen: Seen) -> None:
    """A request has its whole answer."""
    s.finished += 1
    s.answered += rows.output[row]
    s.sojourn_s += s.now - rows.arrival[row]
    if s.first <= rows.number[row] < s.behind:
        s.left -= 1
        to = seen.requests[s.requests]
        to[0], to[1], to[2] = rows.arrival[row], rows.admitted[row], rows.first[row]
        to[3], to[4] = s.now, rows.output[row]
        s.requests += 1
    rows.free[s.most_running - s.decoding - s.reading - 1] = row
    if s.timed:
        s.in_system -= 1
    else:
        feed.arrival[s.arrived & (feed.arrival.size - 1)] = s.now
        s.arrived += 1


@inlined
def begin(s: Any, row: int, feed: Feed, rows: Rows, seen: Seen) -> None:
    """The prompt is read: its pass emits the first token."""
    s.reading -= 1
    s.prompts += 1
    s.emitted += 1
    rows.first[row] = s.now
    if rows.output[row] == 1:
        end(s, row, feed, rows, seen)
        return
    slot = s.decoding
    s.decoding += 1
    rows.decoding[slot], rows.left[slot], rows.at[slot] = row, rows.output[row] - 1, 0
    s.held += rows.prompt[row] + 1
    if s.first <= rows.number[row] < s.behind:
        seen.fresh[s.fresh] = s.now
        s.fresh += 1
