"""The exact law of rounds whose draft may end early, what such rounds cost, and which rule is best.

The counterpart of `simulator.stopped`: the same quantities by multiplication over depths, and for
the heuristic by the Markov chain of its draft lengths.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analysis.exact import round_law
from analysis.length_chain import length_laws, long_run_lengths
from simulator import (
    Chain,
    ConfidenceThreshold,
    ConfidentAcceptance,
    FixedLength,
    Heuristic,
    Strategy,
)
from simulator.strategies import chain_of


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedLaw:
    """The exact law of a round under a stopping rule.

    `pmf`: P(n accepted), shape [gamma + 1]. `lengths`: P(the target verifies n drafted tokens), shape
    [gamma + 1]. `tested`, `accepted`: P(a round tests, keeps a token there) per depth, shape [gamma].
    `draft_steps`: expected draft steps per round; more than `drafted` only where a token is thrown
    away again.
    """

    pmf: tuple[float, ...]
    lengths: tuple[float, ...]
    tested: tuple[float, ...]
    accepted: tuple[float, ...]
    draft_steps: float

    @property
    def tokens_per_round(self) -> float:
        """Expected tokens per round: 1 + the sum of `accepted`."""
        return 1.0 + math.fsum(self.accepted)

    @property
    def drafted(self) -> float:
        """Expected drafted tokens per round that the target verifies."""
        return math.fsum(n * weight for n, weight in enumerate(self.lengths))

    @property
    def conditional(self) -> tuple[float, ...]:
        """accepted / tested per depth, as a table shows it; NaN where nothing is tested."""
        return tuple(
            kept / tested if tested > 0.0 else math.nan
            for kept, tested in zip(self.accepted, self.tested, strict=True)
        )


def stopped_law(strategy: Strategy, *, rounds: int | None = None) -> StoppedLaw:
    """The exact law of a round of `strategy` under its stopping rule.

    With S_i = a_1 · … · a_i, a the conditional acceptance by depth:

    - fixed: accepted_i = S_i, tested_i = S_{i-1}, gamma drafted.
    - oracle: accepted_i = tested_i = S_i, Σ S_i drafted; 1 / (1 - p) tokens without an end
      (Leviathan et al. 2023, section 3.4).
    - confidence: with h = P(confidence >= threshold), k = P(the same and kept): h^(i-1) of the rounds
      draft a token at depth i, tested_i = k^(i-1), accepted_i = k^(i-1) p; if the last one is thrown
      away tested_i = k^(i-1) h and accepted_i = k^i (derived).
    - heuristic: the fixed laws weighted by how often each length is drafted: in the long run, or on
      average over the first `rounds` rounds of a request.

    `rounds` matters for the heuristic only. Raises ValueError for rounds below 1 and for a tree.

    >>> from simulator import Oracle, draft_model
    >>> law = stopped_law(draft_model(p=0.5, gamma=2, stop=Oracle()))
    >>> law.pmf, law.tokens_per_round, law.drafted
    ((0.5, 0.25, 0.25), 1.75, 0.75)
    """
    stop = chain_of(strategy, "stopped_law")[0].stop
    if isinstance(stop, ConfidenceThreshold):
        return _confidence(strategy, stop)
    if isinstance(stop, Heuristic):
        weights = (
            long_run_lengths(strategy)
            if rounds is None
            else length_laws(strategy, rounds=rounds).mean(axis=0)
        )
        return mixed_lengths(strategy, tuple(float(weight) for weight in weights))
    gamma = strategy.draft.gamma
    if isinstance(stop, FixedLength):
        return mixed_lengths(strategy, (0.0,) * gamma + (1.0,))
    full = round_law(_fixed(strategy))
    return StoppedLaw(
        pmf=full.pmf,
        lengths=full.pmf,
        tested=full.survival,
        accepted=full.survival,
        draft_steps=math.fsum(full.survival),
    )


def mixed_lengths(strategy: Strategy, lengths: tuple[float, ...]) -> StoppedLaw:
    """The law of rounds that draft n tokens with probability lengths[n], whatever the tokens are.

    `lengths` has shape [gamma + 1]. Exact for every schedule that does not look at the draft.
    """
    survival = round_law(_fixed(strategy)).survival
    reached = (1.0, *survival)
    at_least = np.cumsum(np.asarray(lengths)[::-1])[::-1]  # rounds that draft n tokens or more
    drafting = np.minimum(at_least, 1.0).tolist()  # rounding may pass 1 by one unit
    tested = tuple(drafting[i + 1] * reached[i] for i in range(len(survival)))
    accepted = tuple(drafting[i + 1] * reached[i + 1] for i in range(len(survival)))
    return StoppedLaw(
        pmf=_pmf(accepted),
        lengths=lengths,
        tested=tested,
        accepted=accepted,
        draft_steps=math.fsum(n * weight for n, weight in enumerate(lengths)),
    )


def _confidence(strategy: Strategy, stop: ConfidenceThreshold) -> StoppedLaw:
    law, gamma = strategy.acceptance, strategy.draft.gamma
    assert isinstance(law, ConfidentAcceptance)  # noqa: S101 — Strategy refuses anything else
    total = math.fsum(law.weights)
    high = [k for k, level in enumerate(law.levels) if stop.goes_on(level)]
    confident = min(math.fsum(law.weights[k] for k in high) / total, 1.0)
    kept = min(math.fsum(law.weights[k] * law.accepted[k] for k in high) / total, confident)
    drafting = [confident**i for i in range(gamma)]  # P(a draft step is made at depth i)
    alive = [kept**i for i in range(gamma)]  # the same, with every token so far kept
    if stop.drops_last:
        tested = tuple(chance * confident for chance in alive)
        accepted = tuple(chance * kept for chance in alive)
        reached = [*drafting, confident**gamma]
    else:
        tested = tuple(alive)
        accepted = tuple(chance * law.p for chance in alive)
        reached = [1.0, *drafting]
    ended = [reached[n] - reached[n + 1] for n in range(gamma)]
    return StoppedLaw(
        pmf=_pmf(accepted),
        lengths=(*ended, reached[gamma]),
        tested=tested,
        accepted=accepted,
        draft_steps=math.fsum(drafting),
    )


def _pmf(accepted: tuple[float, ...]) -> tuple[float, ...]:
    """P(n accepted) from P(at least n accepted)."""
    reached = (1.0, *accepted, 0.0)
    return tuple(reached[n] - reached[n + 1] for n in range(len(accepted) + 1))


def _fixed(strategy: Strategy) -> Strategy:
    """The same acceptance with every draft at its full length."""
    return Strategy(
        name=strategy.name,
        draft=Chain(gamma=strategy.draft.gamma),
        acceptance=strategy.acceptance,
    )
