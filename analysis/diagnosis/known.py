"""Everything that follows from one observation, worked out once for all rules."""

from __future__ import annotations

import math
from dataclasses import dataclass

from analysis.converting import equivalent_p
from analysis.diagnosis.counts import (
    accepted_in,
    counts_after_rejection,
    counts_of,
    printed_ratio,
    survival_of,
    tokens_of,
)
from analysis.diagnosis.derived import Derived
from analysis.round_time import PassTime, pass_time, with_sound_clock
from analysis.uncertainty import Range, estimate_p, p_bounds, p_by_depth_bounds, p_interval
from simulator import AcceptanceTable, AcceptanceTotals, Counts, Observation

WELL_BELOW = 0.85
"""Of the longest draft: below it the mean says that drafts end early."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One observation with what follows from it; None where nothing does.

    `depth_tests` are (fewest tested, most tested, fewest kept, most kept) by depth. `p` and
    `first` (acceptance of the first drafted token) are what the numbers allow, `p_sure` and
    `first_sure` the same with 95 % sampling error. `drafted_per_round` counts rounds with a draft.
    """

    observation: Observation
    counts: Counts | None
    tokens: Derived | None
    fraction: Range | None
    p: Range | None
    p_sure: Range | None
    first: Range | None
    first_sure: Range | None
    depth_tests: tuple[tuple[int, int, int, int], ...]
    drafted_per_round: Range | None
    time: PassTime | None

    @property
    def where(self) -> tuple[str, ...]:
        """The name of the observation, if it has one."""
        return (self.observation.name,) if self.observation.name else ()

    @property
    def prefix(self) -> str:
        """The name of the observation, to begin a sentence with."""
        return f"{self.observation.name}: " if self.observation.name else ""

    @property
    def rounds(self) -> int | None:
        """Rounds with a draft, as far as they are known."""
        return self.observation.rounds if self.counts is None else self.counts.rounds

    @property
    def draft_length(self) -> float | None:
        """Tokens drafted per round: counted or printed, else γ."""
        if self.drafted_per_round is not None:
            return sum(self.drafted_per_round) / 2.0
        return None if self.observation.gamma is None else float(self.observation.gamma)

    @property
    def cut_short(self) -> bool:
        """True if confidence ended drafts, or something unknown that may have been confidence.

        A mean of 3.07 tokens needs a draft of 4 at least, so others were cut. Acceptance is then that
        of the tokens offered, and of no others; a schedule chooses none of them by their chances.
        """
        if self.observation.length_rule != "unknown":
            return self.observation.length_rule == "confidence"
        length = self.draft_length
        if length is None or length <= 0.0:
            return False
        return length < WELL_BELOW * (self.observation.gamma or math.ceil(length - 1e-9))


def know(observation: Observation) -> Known:
    """What follows from one observation.

    >>> known = know(Observation(gamma=3, length_rule="fixed", drafted=60, accepted=20))
    >>> known.fraction, known.tokens.number
    ((0.3333333333333333, 0.3333333333333333), 2.0)
    """
    observation = with_sound_clock(observation)
    counts, tokens = counts_of(observation), tokens_of(observation)
    tests = _depth_tests(counts)
    p, p_sure = _p(observation, counts, tokens)
    first, first_sure = _first(observation, counts, tokens, tests)
    return Known(
        observation=observation,
        counts=counts,
        tokens=tokens,
        fraction=_fraction(observation, tokens),
        p=p,
        p_sure=p_sure,
        first=first,
        first_sure=first_sure,
        depth_tests=tests,
        drafted_per_round=_drafted_per_round(observation, counts),
        time=pass_time(observation),
    )


def wilson(kept: float, tested: float, z: float = 1.959963984540054) -> Range:
    """Wilson's interval of kept / tested, (0, 1) where nothing was tested."""
    if tested <= 0:
        return 0.0, 1.0
    share, z2 = kept / tested, z * z / tested
    centre = (share + z2 / 2.0) / (1.0 + z2)
    half = math.sqrt(z2 * (share * (1.0 - share) + z2 / 4.0)) / (1.0 + z2)
    low, high = max(centre - half, 0.0), min(centre + half, 1.0)
    return (0.0 if kept == 0 else low), (1.0 if kept == tested else high)


def _fraction(observation: Observation, tokens: Derived | None) -> Range | None:
    reported = not counts_after_rejection(observation)
    if reported and observation.drafted and observation.accepted is not None:
        share = observation.accepted / observation.drafted
        return share, share
    counts = counts_of(observation)
    if counts is not None and counts.drafted:
        share = float(counts.accepted_fraction)
        return share, share
    ratio = printed_ratio(observation, "accepted_fraction")
    if ratio is not None:
        return ratio.bounds
    gamma = observation.gamma
    if tokens is not None and gamma and (gamma == 1 or observation.length_rule == "fixed"):
        low, high = tokens.range
        return (low - 1.0) / gamma, (high - 1.0) / gamma
    return None


def _p(
    observation: Observation, counts: Counts | None, tokens: Derived | None
) -> tuple[Range | None, Range | None]:
    if isinstance(counts, AcceptanceTable):
        estimate = estimate_p(counts)
        if math.isnan(estimate.value):
            return None, None
        return (estimate.value, estimate.value), estimate.interval
    if isinstance(counts, AcceptanceTotals) and counts.drafted:
        return p_bounds(counts), p_interval(counts)
    gamma = observation.gamma
    if tokens is None or not gamma or observation.length_rule in {"confidence", "scheduled"}:
        return None, None
    low, high = tokens.range
    if not 1.0 <= low <= high <= gamma + 1.0:
        return None, None
    ends = tuple(equivalent_p(gamma=gamma, tokens_per_round=end) for end in (low, high))
    return (ends[0], ends[1]), None


def _first(
    observation: Observation,
    counts: Counts | None,
    tokens: Derived | None,
    tests: tuple[tuple[int, int, int, int], ...],
) -> tuple[Range | None, Range | None]:
    if tests and tests[0][1]:
        fewest, most, low, high = tests[0]
        ends = low / most, min(high / fewest, 1.0) if fewest else 1.0
        return ends, (wilson(low, most)[0], wilson(min(high, most), max(fewest, high))[1])
    if counts is not None and counts.rounds:  # kept at the first depth: at most all that were kept
        accepted = accepted_in(counts)
        ahead = min(accepted, counts.rounds)
        behind = -(-accepted // (observation.gamma or accepted or 1))
        return (
            (behind / counts.rounds, ahead / counts.rounds),
            (wilson(behind, counts.rounds)[0], wilson(ahead, counts.rounds)[1]),
        )
    survival = survival_of(observation)
    if survival and not (survival[0].depth or 0):
        return survival[0].bounds, None
    head = printed_ratio(observation, "head_accuracy")
    if head is not None and not (head.depth or 0):
        return head.bounds, None  # how often greedy decoding would keep it, on the data of the test
    if observation.gamma == 1 and tokens is not None:
        return (tokens.range[0] - 1.0, tokens.range[1] - 1.0), None
    if tokens is not None and observation.gamma:
        kept = max(tokens.range[0] - 1.0, 0.0), tokens.range[1] - 1.0
        return (kept[0] / observation.gamma, min(kept[1], 1.0)), None
    return None, None


def _depth_tests(counts: Counts | None) -> tuple[tuple[int, int, int, int], ...]:
    if isinstance(counts, AcceptanceTable):
        return tuple((t, t, a, a) for t, a in zip(counts.tested, counts.accepted, strict=True))
    if counts is None or counts.rounds is None or counts.depth_bounds is None:
        return ()
    conditional = p_by_depth_bounds(counts)
    if conditional is None:
        return ()
    tests: list[tuple[int, int, int, int]] = []
    alive = counts.rounds
    for (low, high), (_, most) in zip(counts.depth_bounds, conditional, strict=True):
        # p_by_depth_bounds divides the most kept by the fewest tested
        fewest = round(high / most) if most and not math.isnan(most) else alive
        tests.append((min(fewest, alive), alive, low, high))
        alive = high
    return tuple(tests)


def _drafted_per_round(observation: Observation, counts: Counts | None) -> Range | None:
    if counts is not None and counts.rounds:
        mean = counts.drafted / counts.rounds
        return mean, mean
    ratio = printed_ratio(observation, "drafted_per_round")
    return None if ratio is None else ratio.bounds
