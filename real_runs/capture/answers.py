"""The answer to one prompt: what it says of itself, when its parts came, and its row in a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from real_runs.capture.streams import Received

TIMED = (
    "Decoding time runs from the first chunk to the end, summed over requests as if each ran alone."
)
"""What a reader of rows says where `decode_seconds` knew them all."""
_DIGITS = 6  # microseconds: what a clock across a socket can tell at best


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One request: tokens as the server counts them, times as this side saw them.

    Times are in seconds from when the request was sent. `ttft_s` is the time to the first chunk with
    text and `gaps_s` those between chunks; both are unknown of an answer that came whole. A chunk
    can hold the tokens of a whole round. `row` is the answer as one line of JSON.
    """

    prompt: str
    prompt_tokens: int | None
    completion_tokens: int | None
    ttft_s: float | None
    gaps_s: tuple[float, ...]
    e2e_s: float
    speculation: bool
    row: str

    @property
    def s_per_token(self) -> float | None:
        """Time per output token after the first chunk, as benchmarks of servers define it."""
        if self.ttft_s is None or self.completion_tokens is None or self.completion_tokens < 2:
            return None
        return (self.e2e_s - self.ttft_s) / (self.completion_tokens - 1)


def answer_of(
    received: Received,
    *,
    prompt: str,
    started_s: float,
    ended_s: float,
    streamed: bool,
    with_text: bool,
) -> Answer:
    """The answer that was received, with its row for a file."""
    times = received.times if streamed else []
    ttft_s = round(times[0] - started_s, _DIGITS) if times else None
    gaps_s = tuple(round(later - earlier, _DIGITS) for earlier, later in pairwise(times))
    e2e_s = round(ended_s - started_s, _DIGITS)
    choice: dict[str, object] = {"index": 0, "finish_reason": received.finish_reason or None}
    if received.meta_info:
        choice["meta_info"] = received.meta_info
    if with_text:
        choice["text"] = "".join(received.texts)
    row = {
        "id": received.id,
        "model": received.model,
        "choices": [choice],
        **received.facts,
        "capture": {"prompt": prompt, "ttft_s": ttft_s, "e2e_s": e2e_s, "gaps_s": gaps_s},
    }
    usage = received.facts.get("usage")
    timings = received.facts.get("timings")
    return Answer(
        prompt=prompt,
        prompt_tokens=_first_count((usage, "prompt_tokens"), (timings, "prompt_n")),
        completion_tokens=_first_count((usage, "completion_tokens"), (timings, "predicted_n")),
        ttft_s=ttft_s,
        gaps_s=gaps_s,
        e2e_s=e2e_s,
        speculation=_says_speculation(received),
        row=json.dumps(row, separators=(",", ":"), ensure_ascii=True),
    )


def decode_seconds(parents: tuple[Mapping[str, object], ...]) -> float | None:
    """The time that the rounds of a captured answer took, from the objects around its counts.

    It runs from the first chunk, which prefill emits, to the end of the answer; None without one.

    >>> decode_seconds(({"capture": {"ttft_s": 0.5, "e2e_s": 2.0}}, {}))
    1.5
    """
    for parent in parents:
        found = parent.get("capture")
        if isinstance(found, Mapping):
            ttft_s, e2e_s = found.get("ttft_s"), found.get("e2e_s")
            if isinstance(ttft_s, float) and isinstance(e2e_s, float) and 0.0 < ttft_s < e2e_s:
                return e2e_s - ttft_s
    return None


def _says_speculation(received: Received) -> bool:
    timings, metrics, sglext, usage = (
        _object(received.facts, name) for name in ("timings", "metrics", "sglext", "usage")
    )
    details = _object(usage, "completion_tokens_details")
    return bool(
        "draft_n" in timings
        or _object(metrics, "speculative_decoding")
        or _object(sglext, "spec_tokens_details").get("spec_verify_ct")
        or received.meta_info.get("spec_verify_ct")
        or details.get("accepted_prediction_tokens")
        or details.get("rejected_prediction_tokens")
    )


def _object(value: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = value.get(name)
    return found if isinstance(found, Mapping) else {}


def _first_count(*places: tuple[object, str]) -> int | None:
    for where, name in places:
        value = where.get(name) if isinstance(where, Mapping) else None
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53:
            return value
    return None
