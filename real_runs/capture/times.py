"""What a user of the server waits for: percentiles over requests and over chunks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from real_runs.capture.answers import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentiles:
    """Percentiles of one quantity over `number` values; in seconds where the name ends in _s."""

    name: str
    number: int
    mean: float
    p50: float
    p95: float


def percentiles(answers: Sequence[Answer]) -> tuple[Percentiles, ...]:
    """Times of all answers: to the first chunk, between chunks, per token, and in all."""
    pairs = (
        ("time to first chunk_s", [each.ttft_s for each in answers]),
        ("gap between chunks_s", [gap for each in answers for gap in each.gaps_s]),
        ("time per output token_s", [each.s_per_token for each in answers]),
        ("whole request_s", [each.e2e_s for each in answers]),
        ("prompt tokens", [each.prompt_tokens for each in answers]),
        ("completion tokens", [each.completion_tokens for each in answers]),
    )
    known = ((name, sorted(each for each in found if each is not None)) for name, found in pairs)
    return tuple(
        Percentiles(
            name=name,
            number=len(found),
            mean=math.fsum(found) / len(found),
            p50=percentile(found, 0.5),
            p95=percentile(found, 0.95),
        )
        for name, found in known
        if found
    )


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value below which a share of ordered values lies, linear between two of them.

    >>> percentile([1.0, 2.0, 4.0], 0.75)
    3.0
    """
    if not ordered:
        raise ValueError("ordered must have at least one value; got none.")
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"share must be in [0, 1]; got {share}.")
    at = share * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])
