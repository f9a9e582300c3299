# ruff: noqa: D102 — `Law` says what each method is
"""The processes as likelihoods: what each makes of the outcomes of rounds.

Every law has parameters `theta` on an unbounded scale (log odds of probabilities, log of a
concentration), so that derivatives and steps are the same for all. `thetas` is [points, k]: a law
answers for many points at once. Given the lengths of the drafts, the log-likelihood of a row is that
of its rounds in order, for all laws alike, so that they can be compared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from analysis.fitting.rows import Rows
from simulator import AcceptanceByDepth, ConstantAcceptance, Process
from simulator._checks import FloatArray

EDGE = 14.0
"""Log odds of probabilities that count as 0 or 1: 1 in 1.2 million."""
_MOST_CELLS = 5 * 10**7  # rows × depths², what the curvature of a p for every depth takes


def odds(p: FloatArray | float) -> FloatArray:
    """Log odds, cut at the edge."""
    share = np.clip(np.asarray(p, dtype=np.float64), 1e-9, 1.0 - 1e-9)
    log_odds = np.log(share) - np.log1p(-share)
    return np.asarray(np.clip(log_odds, -EDGE, EDGE), dtype=np.float64)


def chance(theta: FloatArray) -> FloatArray:
    """The probability of log odds; at the edge it is 0 or 1."""
    p = 1.0 / (1.0 + np.exp(-np.clip(theta, -EDGE, EDGE)))
    return np.asarray(np.where(np.abs(theta) >= EDGE, np.round(p), p), dtype=np.float64)


class Law(ABC):
    """One process as a likelihood."""

    name: str
    extrapolates = True
    in_order = False  # it takes the rounds of a row one after the other
    odds_only = True  # every parameter is a probability
    separate = False  # each parameter has counts of its own: the Hessian is diagonal

    @abstractmethod
    def obstacle(self, rows: Rows) -> str | None:
        """Why these rows cannot tell its parameters; None if they can."""

    @abstractmethod
    def names(self, rows: Rows) -> tuple[str, ...]:
        """Parameters in the order of theta."""

    @abstractmethod
    def starts(self, rows: Rows) -> FloatArray:
        """Points to begin the search at, [points, k]."""

    @abstractmethod
    def log_likelihood(self, thetas: FloatArray, rows: Rows) -> FloatArray:
        """[points, rows]."""

    @abstractmethod
    def natural(self, thetas: FloatArray) -> FloatArray:
        """The parameters as people read them, [points, k]."""

    @abstractmethod
    def process(self, theta: FloatArray, gamma: int, coverage: float) -> Process:
        """The process as the simulator knows it, good for drafts of `gamma` tokens.

        `coverage` is the share of rounds with a draft, for the one process that has it.
        """

    @abstractmethod
    def tokens(self, thetas: FloatArray, gammas: Sequence[int]) -> FloatArray:
        """Tokens per round in the long run if every round drafts gamma tokens, [points, gammas]."""

    @abstractmethod
    def residuals(self, theta: FloatArray, rows: Rows) -> FloatArray:
        """Accepted less expected at each depth, and of pairs if rounds are in order, [rows, cells].

        Each has mean 0 under the law, whatever decides how long drafts and requests are.
        """

    def exact(self, weights: FloatArray, rows: Rows) -> FloatArray | None:
        """The best point for each set of weights [draws, rows], where it has a closed form."""
        del weights, rows
        return None

    def canonical(self, theta: FloatArray) -> FloatArray:
        """The same point under the names that people expect (easy is the better one)."""
        return theta

    def at_edge(self, theta: FloatArray) -> str | None:
        """Why the point means that the law says nothing of its own here; None if it does."""
        del theta
        return None


class DepthLaw(Law):
    """A law in which rounds are alike and a token's chance depends on its depth only."""

    @abstractmethod
    def hazards(self, thetas: FloatArray, depths: int) -> FloatArray:
        """P(accepted | tested), [points, depths]."""

    def log_likelihood(self, thetas: FloatArray, rows: Rows) -> FloatArray:
        kept = np.clip(self.hazards(thetas, rows.depths), 1e-300, 1.0 - 1e-16)
        return np.asarray(
            np.log(kept) @ rows.accepted.T + np.log1p(-kept) @ rows.rejected.T, dtype=np.float64
        )

    def tokens(self, thetas: FloatArray, gammas: Sequence[int]) -> FloatArray:
        survival = np.cumprod(self.hazards(thetas, max(gammas, default=0)), axis=1)
        tokens = 1.0 + np.cumsum(survival, axis=1)
        every = np.column_stack([np.ones(len(thetas)), tokens])
        return np.asarray(every[:, list(gammas)], dtype=np.float64)

    def residuals(self, theta: FloatArray, rows: Rows) -> FloatArray:
        hazards = self.hazards(theta[np.newaxis], rows.depths)[0]
        apart = np.asarray(rows.accepted - rows.tested * hazards, dtype=np.float64)
        if rows.kept is None or rows.drafted is None:
            return apart
        mean = np.concatenate([[0.0], np.cumsum(np.cumprod(hazards))])  # of kept, by draft length
        return np.column_stack([apart, pairs(rows.kept - mean[rows.drafted], rows)])


class Constant(DepthLaw):
    """One p."""

    name = "constant p"

    def obstacle(self, rows: Rows) -> str | None:
        return None if rows.drafted_rounds() else "no token was tested"

    def names(self, rows: Rows) -> tuple[str, ...]:
        del rows
        return ("p",)

    def starts(self, rows: Rows) -> FloatArray:
        return self.exact(rows.weights[np.newaxis], rows)

    def exact(self, weights: FloatArray, rows: Rows) -> FloatArray:
        tested = (weights @ rows.tested).sum(axis=1, keepdims=True)
        accepted = (weights @ rows.accepted).sum(axis=1, keepdims=True)
        whole = float((rows.weights @ rows.accepted).sum() / (rows.weights @ rows.tested).sum())
        # A draw of requests may have tested nothing; then the data as a whole speak for it.
        return odds(np.where(tested > 0.0, accepted / np.maximum(tested, 1e-9), whole))

    def hazards(self, thetas: FloatArray, depths: int) -> FloatArray:
        return np.repeat(chance(thetas), depths, axis=1)

    def natural(self, thetas: FloatArray) -> FloatArray:
        return chance(thetas)

    def process(self, theta: FloatArray, gamma: int, coverage: float) -> Process:
        del gamma, coverage
        return ConstantAcceptance(p=float(chance(theta)[0]))


class ByDepth(DepthLaw):
    """A p for every depth that was tested."""

    name = "by depth"
    extrapolates = False
    separate = True

    def obstacle(self, rows: Rows) -> str | None:
        if rows.depths < 2:
            return "needs at least 2 depths"
        if len(rows.rounds) * rows.depths**2 > _MOST_CELLS:
            return f"{rows.depths} parameters are too many for {len(rows.rounds):,} {rows.unit}"
        if not np.all(rows.weights @ rows.tested > 0.0):
            return "some depth was never tested"
        return None

    def names(self, rows: Rows) -> tuple[str, ...]:
        return tuple(f"by_depth[{depth}]" for depth in range(rows.depths))

    def starts(self, rows: Rows) -> FloatArray:
        return self.exact(rows.weights[np.newaxis], rows)

    def exact(self, weights: FloatArray, rows: Rows) -> FloatArray:
        tested, accepted = weights @ rows.tested, weights @ rows.accepted
        whole = rows.weights @ rows.accepted / np.maximum(rows.weights @ rows.tested, 1.0)
        # A draw of requests may miss a depth altogether; then the data as a whole speak for it.
        return odds(np.where(tested > 0.0, accepted / np.maximum(tested, 1e-9), whole))

    def hazards(self, thetas: FloatArray, depths: int) -> FloatArray:
        return chance(thetas)[:, :depths]

    def natural(self, thetas: FloatArray) -> FloatArray:
        return chance(thetas)

    def process(self, theta: FloatArray, gamma: int, coverage: float) -> Process:
        del gamma, coverage
        return AcceptanceByDepth(by_depth=tuple(float(p) for p in chance(theta)))


class Decay(DepthLaw):
    """p_i = first · factor^(i - 1): falls with depth, and says how on."""

    name = "geometric decay"

    def obstacle(self, rows: Rows) -> str | None:
        return None if rows.depths >= 2 else "needs at least 2 depths"

    def names(self, rows: Rows) -> tuple[str, ...]:
        del rows
        return ("first", "factor")

    def starts(self, rows: Rows) -> FloatArray:
        first = rows.weights @ rows.accepted[:, 0] / max(rows.drafted_rounds(), 1.0)
        return np.asarray(
            [[float(odds(first)), float(odds(factor))] for factor in (0.7, 0.9, 0.98)]
        )

    def hazards(self, thetas: FloatArray, depths: int) -> FloatArray:
        p = chance(thetas)
        return p[:, :1] * p[:, 1:2] ** np.arange(depths)

    def natural(self, thetas: FloatArray) -> FloatArray:
        return chance(thetas)

    def process(self, theta: FloatArray, gamma: int, coverage: float) -> Process:
        del coverage
        by_depth = self.hazards(theta[np.newaxis], gamma)[0]
        return AcceptanceByDepth(by_depth=tuple(float(p) for p in by_depth))


def pairs(surprise: FloatArray, rows: Rows) -> FloatArray:
    """Σ of each round's surprise times the next one's, [rows]; `surprise` is [longest, rows]."""
    assert rows.lengths is not None  # noqa: S101 — only called for rounds in order
    place = np.arange(len(surprise))[:, np.newaxis]
    inside = np.where(place < rows.lengths, surprise, 0.0)
    return np.asarray((inside[:-1] * inside[1:]).sum(axis=0), dtype=np.float64)
