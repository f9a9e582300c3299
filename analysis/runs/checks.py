"""What records of a run must hold before anything is computed from them: they may come from outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from simulator.costs import MeasuredRequest

if TYPE_CHECKING:
    from analysis.runs.sums import GammaSums

MOST_REQUESTS = 10_000
MOST_GAMMAS = 16
LONGEST_GAMMA = 64
WIDEST_PASS = 1024
LARGEST = 10**9
_TIMER_SLACK = 1.001


def check_request(request: MeasuredRequest) -> None:
    """ValueError for what a record from outside could claim and no run can be."""
    where = f"prompt {request.prompt!r:.60}, gamma {request.gamma}, repeat {request.repeat}"
    passes = request.passes
    seconds = [request.prefill_s, request.decode_s, request.draft_s, *(t.total_s for t in passes)]
    if not all(np.isfinite(value) and 0.0 <= value <= LARGEST for value in seconds):
        raise ValueError(f"times must be finite seconds of at least 0; not so at {where}.")
    if request.draft_s + request.verify_s > request.decode_s * _TIMER_SLACK:
        raise ValueError(f"decode_s must hold the times of the model calls; not so at {where}.")
    table = request.table
    counts = [request.emitted, request.draft_steps, table.rounds, table.drafted]
    counts += [times.count for times in passes]
    if not all(0 <= count <= LARGEST for count in counts):
        raise ValueError(f"counts must lie in [0, {LARGEST:,}]; not so at {where}.")
    if not all(1 <= times.width <= WIDEST_PASS for times in passes):
        raise ValueError(f"widths of passes must lie in [1, {WIDEST_PASS}]; not so at {where}.")
    if not (0 <= request.gamma <= LONGEST_GAMMA and table.depths <= request.gamma):
        raise ValueError(
            f"gamma must lie in [0, {LONGEST_GAMMA}] and be at least the depths of its table; "
            f"got {table.depths} depths at {where}."
        )
    if request.gamma and table.emitted != request.emitted:
        raise ValueError(
            f"emitted must be what the table says, {table.emitted}; "
            f"got {request.emitted} at {where}."
        )


def check_gammas(gammas: list[int]) -> None:
    """ValueError unless there is plain decoding and drafting, of no more lengths than a report shows."""
    if not gammas or gammas[0] != 0 or len(gammas) == 1:
        raise ValueError(
            "requests must include plain decoding (gamma 0) and a gamma of at least 1; got "
            f"{', '.join(map(str, gammas)) or 'no request'}."
        )
    if len(gammas) - 1 > MOST_GAMMAS:
        raise ValueError(
            f"requests must have at most {MOST_GAMMAS} draft lengths; got {len(gammas) - 1}."
        )


def check_totals(by_gamma: Mapping[int, GammaSums]) -> None:
    """ValueError for a draft length without tokens, time or rounds: nothing is a ratio of them."""
    for gamma, sums in by_gamma.items():
        for name in ("emitted", "decode_s", *(("rounds",) if gamma else ())):
            if not np.sum(getattr(sums, name)) > 0.0:
                raise ValueError(f"requests of gamma {gamma} must have {name} above 0; got 0.")
