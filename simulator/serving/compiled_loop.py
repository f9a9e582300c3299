"""The server's loop for numba: the steps of `loop` in the same order, on arrays, and back where it needs more.

Import it only where numba is there and chosen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.serving.compiled_arrays import (
    DONE,
    GOES_ON,
    HAND_ON,
    IDLE,
    MIXED,
    PROMPT,
    REQUESTS,
    ROUND,
    TURN,
    Feed,
    Rows,
    Seen,
    Times,
)
from simulator.serving.compiled_requests import arrive, begin, end, missing, start, take
from simulator.serving.compiled_times import compiled, inlined, mixed_s, round_s, tokens_of


@inlined
def _decode(s: Any, rows: Rows, times: Times) -> int:
    """Give all who decode the tokens of a round; how many had a draft."""
    batch, gamma = s.decoding, times.gamma[s.decoding]
    drafted = accepted = emitted = 0
    for slot in range(batch):
        kept = 0
        if gamma:
            kept = min(np.int64(rows.kept[rows.decoding[slot], rows.at[slot]]), gamma)
            drafted += kept >= 0
            kept = max(kept, 0)
        accepted += kept
        tokens = min(kept + 1, rows.left[slot])
        emitted += tokens
        rows.left[slot] -= tokens
        rows.at[slot] += tokens
    s.batch_rounds += 1
    s.rounds += batch
    s.undrafted += batch - drafted
    s.drafted += drafted * times.nodes[batch]
    s.accepted += accepted
    s.discarded += batch + accepted - emitted
    s.emitted += emitted
    s.held += emitted
    return drafted


@inlined
def _mix(s: Any, rows: Rows, times: Times) -> None:
    """One pass for those who decode and, as far as the budget goes, for prompts in order."""
    batch, held = s.decoding, s.held
    tokens = 0
    if batch:
        tokens = tokens_of(times, batch, _decode(s, rows, times))
    room, part, draft_s = s.budget - tokens, 0, 0.0
    while part < s.reading and room > 0:
        row = rows.reading[part]
        chunk = min(room, rows.prompt[row] - rows.read[row])
        room -= chunk
        tokens += chunk
        held += rows.read[row]
        rows.read[row] += chunk
        draft_s += chunk * rows.draft_s[row]
        part += 1
    requests = batch + part
    start(s, MIXED, mixed_s(times, requests, tokens, held / requests, batch) + draft_s)


@inlined
def _settle(s: Any, feed: Feed, rows: Rows, seen: Seen) -> None:
    """The round is over: everyone sees a gap, and who is done leaves."""
    if s.old:
        seen.gaps[s.gaps], seen.counts[s.gaps] = s.now - s.decoded_at, s.old
        s.gaps += 1
    for index in range(s.fresh):
        seen.gaps[s.gaps], seen.counts[s.gaps] = s.now - seen.fresh[index], 1
        s.gaps += 1
    s.old += s.fresh
    s.fresh = 0
    s.decoded_at = s.now
    for slot in range(s.decoding - 1, -1, -1):
        if rows.left[slot]:
            continue
        row = rows.decoding[slot]
        s.held -= rows.prompt[row] + rows.output[row]
        s.decoding -= 1
        last = s.decoding
        rows.decoding[slot] = rows.decoding[last]
        rows.left[slot], rows.at[slot] = rows.left[last], rows.at[last]
        if s.first <= rows.number[row] < s.behind:
            s.old -= 1
        end(s, row, feed, rows, seen)


@inlined
def _mark(s: Any) -> None:
    """Notice where the measured window begins and ends, between passes."""
    if not s.began and s.arrived > s.first:
        s.began, s.before, s.window_from_s = 1, s.emitted, s.now
        s.finished_before = s.finished
        s.busy_before, s.decoding_before = s.busy_s, s.decoding_s
    if s.began and not s.ended and s.arrived > s.closes_at:
        s.ended, s.window_to_s, s.window_tokens = 1, s.now, s.emitted - s.before
        s.window_finished = s.finished - s.finished_before
        s.window_busy_s = s.busy_s - s.busy_before
        s.window_decoding_s = s.decoding_s - s.decoding_before


@inlined
def _finish(s: Any, feed: Feed, rows: Rows, seen: Seen) -> None:
    """What time has passed for is done."""
    if s.phase == IDLE:
        s.phase = TURN
        return
    if s.phase == PROMPT:
        begin(s, rows.reading[0], feed, rows, seen)
    elif s.phase == ROUND:
        _settle(s, feed, rows, seen)
    else:
        if s.decoding:
            _settle(s, feed, rows, seen)
        reading, stay = s.reading, 0
        for index in range(reading):
            row = rows.reading[index]
            if rows.read[row] == rows.prompt[row]:
                begin(s, row, feed, rows, seen)
            else:
                rows.reading[stay] = row
                stay += 1
    _mark(s)
    s.phase = TURN


@inlined
def _turn(s: Any, feed: Feed, rows: Rows, times: Times, seen: Seen) -> int:
    """Decide what the machine does next, if nothing is missing."""
    batch = s.decoding
    if s.left == 0:
        return DONE
    room = min(seen.requests.shape[0] - s.requests, seen.gaps.size - s.gaps)
    if room < s.most_running + 2:
        return HAND_ON
    if s.timed and s.arrived == s.drawn and not s.exhausted:
        return REQUESTS
    if s.arrived > s.admitted and batch + s.reading < s.most_running:
        wanted = missing(s, feed, rows)
        if wanted == GOES_ON:
            take(s, feed, rows)
        return wanted
    if s.budget and batch + s.reading:
        _mix(s, rows, times)
    elif batch:
        held = s.held / batch
        start(s, ROUND, round_s(times, batch, _decode(s, rows, times), held))
    elif s.timed and s.arrived < s.drawn:
        s.phase, s.end = IDLE, feed.arrival[s.arrived & (feed.arrival.size - 1)]
    else:
        return DONE
    return GOES_ON


@compiled
def go_on(state: Any, feed: Feed, rows: Rows, times: Times, seen: Seen) -> int:
    """Serve until every measured request has ended, or something is missing: which."""
    s = state[0]
    while True:
        if s.phase == TURN:
            wanted = _turn(s, feed, rows, times, seen)
            if wanted != GOES_ON:
                return wanted
            continue
        while s.timed and not (s.exhausted and s.arrived == s.drawn):
            if s.arrived == s.drawn:
                return REQUESTS
            arrival = feed.arrival[s.arrived & (feed.arrival.size - 1)]
            if arrival > s.end:
                break
            s.in_system_s += s.end - arrival
            arrive(s)
        s.now = s.end
        _finish(s, feed, rows, seen)
