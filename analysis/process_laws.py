"""The exact laws of acceptance that differs between requests, along the text, or between rounds.

The counterpart of `simulator.requests`: the same quantities by quadrature and by the Markov chain of
the states in which rounds begin. Everything is of the long run: many requests, each of the same large
number of tokens, so that a slow request counts with its many rounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from simulator import BetaMixture, EasyHardChain, HitMiss, Process, TraceReplay, replay_texts
from simulator._checks import FloatArray, as_count
from simulator.drafts import MAX_GAMMA
from simulator.tree_acceptance import refuse_trees


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLaw:
    """What rounds with drafts of gamma tokens do in the long run.

    `survival`: P(the first i + 1 drafted tokens are all kept) over the rounds with a draft, shape
    [gamma]. `drafted_share`: rounds with a draft / rounds. `tokens_per_round` is over all rounds.
    """

    survival: tuple[float, ...]
    drafted_share: float = 1.0

    @property
    def tokens_per_round(self) -> float:
        """1 + drafted_share · Σ survival."""
        return 1.0 + self.drafted_share * math.fsum(self.survival)

    @property
    def conditional(self) -> tuple[float, ...]:
        """P(accepted | tested) per depth, shape [gamma]; NaN where nothing is tested."""
        reached = (1.0, *self.survival)
        return tuple(
            reached[i + 1] / reached[i] if reached[i] > 0.0 else math.nan
            for i in range(len(self.survival))
        )

    @property
    def pmf(self) -> tuple[float, ...]:
        """P(n accepted) over all rounds, those without a draft included, shape [gamma + 1]."""
        reached = (1.0, *(self.drafted_share * share for share in self.survival), 0.0)
        return tuple(reached[n] - reached[n + 1] for n in range(len(self.survival) + 1))


def process_law(process: Process, gamma: int) -> ProcessLaw:
    """The exact law of rounds with drafts of `gamma` tokens under any process, in the long run.

    - `BetaMixture`: requests of equal length, so a request counts with its rounds, 1 / τ(p) per
      token: S_i = E[p^i / τ(p)] / E[1 / τ(p)], τ(p) = Σ_{j=0..γ} p^j; then 1 + Σ S_i = 1 / E[1 / τ].
    - `EasyHardChain`: with K the chain of positions and D = diag(p_easy, p_hard), a round goes from
      one state to the next by M = Σ_{i<γ} (D K)^i (1 - D) K + (D K)^γ K; S_i = π (D K)^i 1 under the
      stationary law π of M.
    - `HitMiss`: S_i = right · p_right^i + (1 - right) · p_wrong^i, in `coverage` of the rounds.
    - one law for every round: the product of its conditional acceptances.

    All derived here; the article's E is the case of one p. Raises ValueError for a gamma outside
    [0, MAX_GAMMA] or beyond the known depths, for a law of trees, and for a `TraceReplay`, whose counts
    `replay_texts` gives.

    >>> chain = EasyHardChain(p_easy=0.9, p_hard=0.3, stay_easy=0.9, stay_hard=0.7)
    >>> [round(process_law(chain, gamma).conditional[0], 4) for gamma in (1, 4, 8)]
    [0.7181, 0.6527, 0.6153]
    """
    gamma = as_count("gamma", gamma, most=MAX_GAMMA)
    refuse_trees("process_law", process)
    if isinstance(process, BetaMixture):
        return ProcessLaw(survival=_mixture(process, gamma))
    if isinstance(process, EasyHardChain):
        return ProcessLaw(survival=_chain(process, gamma))
    if isinstance(process, HitMiss):
        right, wrong = process.right, 1.0 - process.right
        survival = tuple(
            min(right * process.p_right**i + wrong * process.p_wrong**i, 1.0)
            for i in range(1, gamma + 1)
        )
        return ProcessLaw(survival=survival, drafted_share=float(process.coverage))
    if isinstance(process, TraceReplay):
        raise ValueError("process must be a law; a TraceReplay is a record: see replay_texts.")
    kept = np.cumprod(np.asarray(process.conditional(gamma), dtype=np.float64))
    return ProcessLaw(survival=tuple(kept.tolist()))


def process_tokens_per_round(process: Process, gamma: int) -> float:
    """Tokens per round in the long run of requests of equal length, exact; NaN where unknown.

    Unknown is a trace at a gamma for which some of its positions were never tested.

    >>> round(process_tokens_per_round(BetaMixture(p=0.7, concentration=4.0), 4), 4)
    2.6326
    """
    if isinstance(process, TraceReplay):
        return _replayed(process, gamma)[0]
    return process_law(process, gamma).tokens_per_round


def process_survival(process: Process, gamma: int) -> tuple[float, ...]:
    """P(the first i + 1 drafted tokens are all kept) over all rounds with a draft, shape [gamma].

    >>> process_survival(HitMiss(coverage=0.5, right=0.75, p_right=1.0, p_wrong=0.0), 3)
    (0.75, 0.75, 0.75)
    """
    if isinstance(process, TraceReplay):
        return _replayed(process, gamma)[1]
    return process_law(process, gamma).survival


def _mixture(process: BetaMixture, gamma: int) -> tuple[float, ...]:
    if process.is_one_p:
        return tuple(process.p**i for i in range(1, gamma + 1))
    nodes, weights = beta_quadrature(*process.shapes, 32 + 5 * math.isqrt(gamma + 1))
    powers = nodes ** np.arange(gamma + 1)[:, np.newaxis]  # [gamma + 1, nodes]
    per_token = weights / powers.sum(axis=0)  # rounds per token
    survival = powers[1:] @ per_token / per_token.sum()
    return tuple(np.minimum(survival, 1.0).tolist())


@lru_cache(maxsize=256)
def beta_quadrature(first: float, second: float, size: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights [size] of E[f(p)] = Σ w f(p) for p ~ Beta(first, second): Gauss-Jacobi.

    Exact for polynomials of degree below 2 size. Nodes are the eigenvalues of the symmetric matrix
    of the recurrence of Jacobi's polynomials, weights the squares of the first components (Golub,
    Welsch 1969): nothing overflows, however large the shapes are.

    >>> nodes, weights = beta_quadrature(6.0, 2.0, 8)
    >>> round(float(weights @ nodes), 12), round(float(weights @ nodes**2), 12)
    (0.75, 0.583333333333)
    """
    s = first + second
    n = np.arange(1, size, dtype=np.float64)
    twice = 2.0 * n + s - 2.0
    # Of p itself on [0, 1]: half of Jacobi's on [-1, 1], and shifted by a half. The first two
    # entries have factors that cancel, written out so that a small s does not divide 0 by 0.
    ratio = np.where(n > 1.0, (s - 2.0) / np.where(n > 1.0, twice, 1.0), 1.0 - 2.0 / s)
    centers = 0.5 + 0.5 * (first - second) * ratio / (twice + 2.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # at n = 1 only, replaced
        rest = np.where(n > 1.0, (n / (twice - 1.0)) * (n + s - 2.0), 1.0)
    spread = np.sqrt(
        ((n + first - 1.0) / twice) * ((n + second - 1.0) / twice) * rest / (twice + 1.0)
    )
    matrix = np.diag(np.concatenate([[first / s], centers]))
    matrix[np.arange(1, size), np.arange(size - 1)] = spread
    nodes, vectors = np.linalg.eigh(matrix)  # reads the lower triangle
    weights = vectors[0] ** 2
    nodes = np.clip(nodes, 0.0, 1.0)
    nodes.setflags(write=False)
    weights.setflags(write=False)
    return nodes, weights


def _chain(process: EasyHardChain, gamma: int) -> tuple[float, ...]:
    moves, alive = round_moves(process, gamma)
    start = start_law(process, gamma, moves)
    return tuple(np.minimum(alive @ start, 1.0).tolist())


def round_moves(process: EasyHardChain, gamma: int) -> tuple[FloatArray, FloatArray]:
    """The chain of the states in which rounds begin [from, to], and survival by first state [gamma, 2].

    State 0 is easy, 1 hard. Every entry is a sum of positive terms.
    """
    easy, hard = process.stay_easy, process.stay_hard
    moves = np.array([[easy, 1.0 - easy], [1.0 - hard, hard]])
    kept = np.array([process.p_easy, process.p_hard])
    round_moves = np.zeros((2, 2))
    reached = np.eye(2)  # [from, at]: P(the round gets to its i-th position, in this state)
    alive = np.empty((gamma, 2))
    for i in range(gamma):
        round_moves += (reached * (1.0 - kept)) @ moves
        reached = reached * kept
        alive[i] = reached.sum(axis=1)
        reached = reached @ moves
    return round_moves + reached @ moves, alive


def start_law(
    process: EasyHardChain, gamma: int, moves: FloatArray | None = None
) -> tuple[float, float]:
    """The share of rounds that begin at an easy and at a hard position, in the long run.

    Where no round ever changes the state (a text that alternates, under drafts that are always kept
    whole and cover it in pairs), each state keeps the share of requests that began in it.

    >>> chain = EasyHardChain(p_easy=0.9, p_hard=0.3, stay_easy=0.9, stay_hard=0.7)
    >>> [round(start_law(chain, gamma)[0], 4) for gamma in (0, 4)]
    [0.75, 0.5878]
    """
    if moves is None:
        moves = round_moves(process, gamma)[0]
    to_hard, to_easy = float(moves[0, 1]), float(moves[1, 0])
    if to_hard + to_easy == 0.0:
        return process.easy_share, 1.0 - process.easy_share
    easy = to_easy / (to_easy + to_hard)
    return easy, to_hard / (to_easy + to_hard)


def _replayed(process: TraceReplay, gamma: int) -> tuple[float, tuple[float, ...]]:
    """Tokens per round and survival of a trace, NaN where positions were never tested."""
    replayed = replay_texts(process, gamma=gamma)
    table = replayed.table
    if replayed.untested.any():
        return math.nan, (math.nan,) * gamma
    drafted = table.rounds - int(replayed.undrafted.sum())
    survival = tuple(count / drafted if drafted else math.nan for count in table.accepted)
    return table.tokens_per_round.value, survival
