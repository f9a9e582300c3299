"""What the rounds of requests do under a fitted process and under forced acceptance: spread, not mean only.

A law of rounds is a set of kinds of requests. In a kind, a round that begins in state s emits k tokens
and leaves the next round in state s' with probability K[k - 1, s, s']: one state where rounds are
independent, two for the chain of easy and hard positions. Requests that differ in p are kinds at the
nodes of a quadrature.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.process_laws import beta_quadrature, process_survival
from simulator import BetaMixture, EasyHardChain, HitMiss, Process, TraceReplay
from simulator._checks import FloatArray, as_count

_DONE = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundSpread:
    """How much rounds vary.

    `mean`, `sd` of the tokens of a round, all rounds of many equally long requests alike;
    `correlation` of the tokens of two rounds that follow each other in a request; `rounds`, `rounds_sd`
    and `rounds_p95` of what a request of `tokens` tokens takes.
    """

    mean: float
    sd: float
    correlation: float
    tokens: int
    rounds: float
    rounds_sd: float
    rounds_p95: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RoundKinds:
    """Kinds of requests: `weights` [kinds], `starts` [kinds, states], `emits` [kinds, k, states, states]."""

    weights: FloatArray
    starts: FloatArray
    emits: FloatArray

    def spread(self, tokens: int) -> RoundSpread:
        """What rounds and requests of `tokens` tokens do, exactly.

        Raises ValueError for fewer than one token.

        >>> spread = independent((0.0, 1.0)).spread(10)  # two tokens in every round
        >>> spread.mean, spread.sd, spread.rounds, spread.rounds_sd, spread.rounds_p95
        (2.0, 0.0, 5.0, 0.0, 5)
        """
        tokens = as_count("tokens", tokens, least=1, most=100_000)
        sizes = np.arange(1, self.emits.shape[1] + 1, dtype=np.float64)
        moves = self.emits.sum(axis=1)  # [kinds, states, states]
        first = np.einsum("k,ckst->cst", sizes, self.emits)  # E[tokens; next state]
        second = np.einsum("k,ckst->cs", sizes**2, self.emits)
        stationary = _stationary(moves, self.starts)
        means = np.einsum("cs,cst->c", stationary, first)
        shares = self.weights / means  # a request counts with its rounds
        shares = shares / shares.sum()
        mean = float(shares @ means)
        squares = float(shares @ np.einsum("cs,cs->c", stationary, second))
        products = float(shares @ np.einsum("cs,cst,ctu->c", stationary, first, first))
        variance = max(squares - mean**2, 0.0)
        together = products - mean**2
        above = self.rounds_above(tokens)
        rounds = math.fsum(above)
        rounds_squares = math.fsum((2 * r + 1) * share for r, share in enumerate(above))
        p95 = int(np.argmax(np.asarray([*above, 0.0]) <= 0.05 + _DONE))
        return RoundSpread(
            mean=mean,
            sd=math.sqrt(variance),
            correlation=together / variance if variance > _DONE * mean**2 else 0.0,
            tokens=tokens,
            rounds=rounds,
            rounds_sd=math.sqrt(max(rounds_squares - rounds**2, 0.0)),
            rounds_p95=p95,
        )

    def rounds_above(self, tokens: int) -> list[float]:
        """P(a request of `tokens` tokens takes more than r rounds), r = 0, 1, … as far as it is not 0.

        >>> independent((0.5, 0.5)).rounds_above(2)
        [1.0, 0.5, 0.0]
        """
        kinds, states = self.starts.shape
        most = min(self.emits.shape[1], tokens)
        alive = np.zeros((kinds, tokens, states))  # at t tokens, not done
        alive[:, 0] = self.starts
        above = [1.0]
        while above[-1] > _DONE and len(above) <= tokens:  # each round emits a token at least
            after = np.zeros_like(alive)
            for k in range(1, most + 1):
                after[:, k:] += np.matmul(alive[:, : tokens - k], self.emits[:, k - 1])
            alive = after
            above.append(float(self.weights @ alive.sum(axis=(1, 2))))
        return above


def independent(pmf: Sequence[float]) -> RoundKinds:
    """Rounds that are independent and alike in all requests: P(k tokens) = pmf[k - 1]."""
    law = np.asarray(pmf, dtype=np.float64)
    return RoundKinds(
        weights=np.ones(1), starts=np.ones((1, 1)), emits=law[np.newaxis, :, np.newaxis, np.newaxis]
    )


def pmf_of_survival(survival: Sequence[float], drafted_share: float = 1.0) -> tuple[float, ...]:
    """P(k tokens) of a round, k = 1..gamma + 1, from P(the first i drafted tokens are all kept).

    >>> pmf_of_survival((0.5, 0.25))
    (0.5, 0.25, 0.25)
    """
    reached = (1.0, *(drafted_share * share for share in survival), 0.0)
    return tuple(reached[n] - reached[n + 1] for n in range(len(reached) - 1))


def pmf_of_length(length: float, gamma: int) -> tuple[float, ...]:
    """P(k tokens) where every round emits the whole number below `length` or above it, [gamma + 1].

    >>> pmf_of_length(2.5, 3)
    (0.0, 0.5, 0.5, 0.0)
    """
    below = min(int(length), gamma + 1)
    pmf = [0.0] * (gamma + 1)
    pmf[below - 1] = 1.0 - (length - below)
    if below <= gamma:
        pmf[below] = length - below
    return tuple(pmf)


def fitted_kinds(process: Process, gamma: int, drafted_share: float = 1.0) -> RoundKinds | None:
    """The rounds of a process with drafts of `gamma` tokens; None for a record, which is no law.

    `drafted_share` of the rounds have a draft (beside a `HitMiss`, which has a share of its own).
    """
    if isinstance(process, TraceReplay):
        return None
    if isinstance(process, BetaMixture) and not process.is_one_p:
        nodes, weights = beta_quadrature(*process.shapes, 32 + 5 * math.isqrt(gamma + 1))
        powers = nodes[:, np.newaxis] ** np.arange(gamma + 2)  # [nodes, gamma + 2]
        pmf = powers[:, :-1] - powers[:, 1:]
        pmf[:, gamma] = powers[:, gamma]
        emits = pmf[:, :, np.newaxis, np.newaxis]
        kinds = RoundKinds(weights=weights, starts=np.ones((len(nodes), 1)), emits=emits)
    elif isinstance(process, EasyHardChain):
        kinds = _chain(process, gamma)
    else:
        own = process.coverage if isinstance(process, HitMiss) else 1.0
        kinds = independent(pmf_of_survival(process_survival(process, gamma), float(own)))
    if drafted_share == 1.0:
        return kinds
    emits = drafted_share * kinds.emits
    plain = np.broadcast_to(_one_position(process), emits[:, 0].shape)
    emits[:, 0] += (1.0 - drafted_share) * plain
    return RoundKinds(weights=kinds.weights, starts=kinds.starts, emits=emits)


def _one_position(process: Process) -> FloatArray:
    if not isinstance(process, EasyHardChain):
        return np.ones((1, 1))
    easy, hard = process.stay_easy, process.stay_hard
    return np.array([[easy, 1.0 - easy], [1.0 - hard, hard]])


def _chain(process: EasyHardChain, gamma: int) -> RoundKinds:
    moves = _one_position(process)
    kept = np.array([process.p_easy, process.p_hard])
    emits = np.empty((1, gamma + 1, 2, 2))
    reached = np.eye(2)
    for i in range(gamma):
        emits[0, i] = (reached * (1.0 - kept)) @ moves
        reached = (reached * kept) @ moves
    emits[0, gamma] = reached @ moves
    start = np.array([[process.easy_share, 1.0 - process.easy_share]])
    return RoundKinds(weights=np.ones(1), starts=start, emits=emits)


def _stationary(moves: FloatArray, starts: FloatArray) -> FloatArray:
    """The share of rounds that begin in each state in the long run, [kinds, states]: one or two states."""
    if moves.shape[1] == 1:
        return np.ones_like(starts)
    away, back = moves[:, 0, 1], moves[:, 1, 0]
    changing = away + back
    easy = np.where(changing > 0.0, back / np.where(changing > 0.0, changing, 1.0), starts[:, 0])
    return np.stack([easy, 1.0 - easy], axis=1)
