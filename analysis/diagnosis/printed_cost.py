"""Parts of a round's cost that a source prints itself: where they alone say what dominates."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.diagnosis.counts import printed_ratio
from analysis.diagnosis.finding import Finding
from analysis.diagnosis.known import Known
from analysis.round_time import plain_step

HALF = 0.5
"""Of what a round takes beyond a plain step, from which on a part dominates."""


def overhead_steps(known: Known) -> float | None:
    """What a round takes beside its passes, as printed [plain steps]; None without it or a plain speed."""
    clock = known.observation.clock
    plain = plain_step(clock, clock.running or known.observation.batch or 1.0)
    return None if clock.overhead_s is None or plain is None else clock.overhead_s / plain


def printed_overhead(known: Known) -> Iterator[Finding]:
    """Time beside all passes that is at least half of what a round can take beyond a plain step.

    That is at most (most tokens per round) / speedup − 1 plain steps.
    """
    seconds, spent = known.observation.clock.overhead_s, overhead_steps(known)
    most = _most_tokens(known)
    if seconds is None or spent is None or most is None:
        return
    if known.time is None or known.time.speedup is None:
        return
    beyond = most / known.time.speedup.range[0] - 1.0
    if spent < HALF * beyond:
        return
    yield Finding(
        code="fixed_overhead_dominates",
        evidence=f"{known.prefix}a round takes {1000.0 * seconds:g} ms beside its passes, "
        f"{spent:.2f} plain steps; all that it takes beyond one plain step is {beyond:.2f} at most.",
        reason="That time is spent by no model: launches without CUDA graphs, synchronisation, the host, "
        "pipeline stages that wait.",
        advice="Profile one round; compare with graphs on; acceptance cannot mend this.",
        where=known.where,
    )


def printed_passes(known: Known, *, dear: float, loses: float) -> Iterator[Finding]:
    """A pass whose printed V says that a further token costs at least `dear` plain steps, where it loses.

    V stands under "verify_cost" with depth n - 1 for a pass over n tokens.
    """
    ratio = printed_ratio(known.observation, "verify_cost")
    if ratio is None or not ratio.depth or known.time is None or known.time.speedup is None:
        return
    each = (ratio.bounds[0] - 1.0) / ratio.depth
    gain = known.time.speedup.number
    if each < dear or gain >= loses:
        return
    yield Finding(
        code="verify_cost_dominates",
        evidence=f"{known.prefix}a pass over {ratio.depth + 1} tokens takes {ratio.value:.2f} plain steps: "
        f"{each:.2f} for each further token, and the speedup is {gain:.2f}.",
        reason="A pass over several tokens costs this machine almost as much as passes over one "
        "(compute-bound: CPU, small GPU, large batch; or a kernel that is slow for few rows).",
        advice="Draft fewer tokens per round; look for a back end that verifies a few tokens fast.",
        where=known.where,
    )


def _most_tokens(known: Known) -> float | None:
    """The most tokens per round that the numbers allow: counted, or the first acceptance at every depth."""
    if known.tokens is not None:
        return known.tokens.range[1]
    gamma = known.observation.gamma
    if known.first is None or not gamma:
        return None
    return 1.0 + gamma * min(known.first[1], 1.0)
