# ruff: noqa: D102 — `Law` says what each method is
"""Two laws in which not all tokens are alike: requests differ, or drafts are right or wrong."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.fitting.laws import DepthLaw, Law, chance, odds, pairs
from analysis.fitting.rows import Rows
from simulator import BetaMixture, HitMiss, Process
from simulator._checks import FloatArray

_NODES = 40
_LEAST, _MOST = -5.0, 11.0  # log concentration: 0.007 (easy or hopeless) to 60,000 (all alike)


class Mixture(Law):
    """Each request has its own p ~ Beta(p s, (1 - p) s): the beta-geometric law.

    A request that kept A tokens and lost R has likelihood B(a + A, b + R) / B(a, b), whatever the
    order of its rounds.
    """

    name = "mixture over requests"
    odds_only = False

    def obstacle(self, rows: Rows) -> str | None:
        if rows.unit == "rounds":
            return "needs the counts of several requests; the counts are pooled"
        if rows.unit == "intervals":
            return "needs requests; intervals of a log mix the rounds of many"
        if rows.unit == "stretches":
            return "needs several requests; there is one"
        if rows.units < 5:
            return f"needs 5 requests or more; there are {int(rows.units)}"
        return None if rows.drafted_rounds() else "no token was tested"

    def names(self, rows: Rows) -> tuple[str, ...]:
        del rows
        return ("p", "concentration")

    def starts(self, rows: Rows) -> FloatArray:
        kept, tested = rows.accepted.sum(axis=1), rows.tested.sum(axis=1)
        p = np.mean(kept[tested > 0] / tested[tested > 0])
        return np.asarray([[float(odds(p)), np.log(s)] for s in (2.0, 10.0, 50.0)])

    def log_likelihood(self, thetas: FloatArray, rows: Rows) -> FloatArray:
        from scipy.special import betaln  # noqa: PLC0415 — `import analysis` loads numpy only

        a, b = self._shapes(thetas)
        kept, lost = rows.accepted.sum(axis=1), rows.rejected.sum(axis=1)
        return np.asarray(betaln(a + kept, b + lost) - betaln(a, b), dtype=np.float64)

    def natural(self, thetas: FloatArray) -> FloatArray:
        return np.column_stack([chance(thetas[:, 0]), np.exp(np.clip(thetas[:, 1], _LEAST, _MOST))])

    def process(self, theta: FloatArray, gamma: int, coverage: float) -> Process:
        del gamma, coverage
        p, concentration = self.natural(theta[np.newaxis])[0]
        return BetaMixture(p=float(p), concentration=float(concentration))

    def tokens(self, thetas: FloatArray, gammas: Sequence[int]) -> FloatArray:
        """1 / E[1 / τ(p)]: requests of one length take length / τ(p) rounds each."""
        from scipy.special import betaincinv  # noqa: PLC0415

        # Gauss-Legendre over the quantiles of Beta, denser at the ends, where they may be steep.
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        at = (nodes + 1.0) / 2.0
        weights = weights * 15.0 * at**2 * (1.0 - at) ** 2
        a, b = self._shapes(thetas)
        p = betaincinv(a, b, at**3 * (10.0 - 15.0 * at + 6.0 * at**2))  # [points, nodes]
        tokens = [np.ones_like(p)]
        for _ in range(max(gammas, default=0)):
            tokens.append(1.0 + p * tokens[-1])
        return np.stack([1.0 / ((1.0 / tokens[g]) @ weights) for g in gammas], axis=1)

    def residuals(self, theta: FloatArray, rows: Rows) -> FloatArray:
        """Against the posterior mean of each request's p, so that the tower rule makes the mean 0."""
        a, b = (float(shape[0, 0]) for shape in self._shapes(theta[np.newaxis]))
        kept, tested = rows.accepted.sum(axis=1), rows.tested.sum(axis=1)
        p = (a + kept) / (a + b + tested)
        apart = np.asarray(rows.accepted - rows.tested * p[:, np.newaxis], dtype=np.float64)
        if rows.kept is None or rows.drafted is None:
            return apart
        lost = (rows.kept < rows.drafted).astype(np.float64)
        good = a + np.cumsum(rows.kept, axis=0) - rows.kept  # as known before each round
        bad = b + np.cumsum(lost, axis=0) - lost
        mean, alive = np.zeros_like(good), np.ones_like(good)
        for depth in range(rows.depths):
            alive = np.where(
                rows.drafted > depth, alive * (good + depth) / (good + bad + depth), 0.0
            )
            mean += alive
        return np.column_stack([apart, pairs(np.asarray(rows.kept - mean), rows)])

    def at_edge(self, theta: FloatArray) -> str | None:
        if theta[1] > _MOST - 2.0:
            return "requests differ no more than chance makes them: it is one p"
        return "requests are all or nothing" if theta[1] < _LEAST + 1.0 else None

    @staticmethod
    def _shapes(thetas: FloatArray) -> tuple[FloatArray, FloatArray]:
        p = np.clip(chance(thetas[:, :1]), 1e-7, 1.0 - 1e-7)
        s = np.exp(np.clip(thetas[:, 1:2], _LEAST, _MOST))
        return p * s, (1.0 - p) * s


class HitOrMiss(DepthLaw):
    """A draft is right with one probability, then kept with p_right per token, else with p_wrong.

    S_i = right · p_right^i + (1 - right) · p_wrong^i. Rounds are independent, so the rounds that kept
    n tokens are all that counts; three depths tell three parameters.
    """

    name = "hit or miss"

    def obstacle(self, rows: Rows) -> str | None:
        if rows.depths < 3:
            return f"needs at least 3 depths; there {_are(rows.depths)}"
        return None if rows.drafted_rounds() else "no token was tested"

    def names(self, rows: Rows) -> tuple[str, ...]:
        del rows
        return ("right", "p_right", "p_wrong")

    def starts(self, rows: Rows) -> FloatArray:
        del rows
        return odds(
            np.asarray(
                [
                    [right, p_right, p_wrong]
                    for right in (0.3, 0.7)
                    for p_right, p_wrong in ((0.95, 0.1), (0.9, 0.5), (0.7, 0.1))
                ]
            )
        )

    def hazards(self, thetas: FloatArray, depths: int) -> FloatArray:
        p = chance(thetas)[:, :, np.newaxis]
        depth = np.arange(depths + 1)
        survival = p[:, 0] * p[:, 1] ** depth + (1.0 - p[:, 0]) * p[:, 2] ** depth
        return np.asarray(survival[:, 1:] / np.maximum(survival[:, :-1], 1e-300), dtype=np.float64)

    def natural(self, thetas: FloatArray) -> FloatArray:
        p = chance(thetas)
        swapped = np.column_stack([1.0 - p[:, 0], p[:, 2], p[:, 1]])  # right is the better one
        return np.where((p[:, 1] < p[:, 2])[:, np.newaxis], swapped, p)

    def canonical(self, theta: FloatArray) -> FloatArray:
        return theta if theta[1] >= theta[2] else np.asarray([-theta[0], theta[2], theta[1]])

    def process(self, theta: FloatArray, gamma: int, coverage: float) -> Process:
        del gamma
        right, p_right, p_wrong = (float(p) for p in self.natural(theta[np.newaxis])[0])
        return HitMiss(coverage=coverage, right=right, p_right=p_right, p_wrong=p_wrong)


def _are(depths: int) -> str:
    return {0: "is none", 1: "is 1"}.get(depths, f"are {depths}")
