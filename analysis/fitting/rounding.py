"""What rounded counts leave open in everything that is fitted to them: the worst case, not a guess.

The counts n_i by depth i are known to lie between n_i − below_i and n_i + above_i, and their sum is
exact. Parameters and predictions move with them by H⁻¹ ∂s/∂n, H the negative curvature and s the score
at the best point; what a value can move is the largest Σ slope_i δ_i over all such δ that sum to 0.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.fitting.laws import EDGE
from analysis.fitting.maximise import Peak, derivatives
from analysis.fitting.rows import Rows
from analysis.fitting.spread import Hidden, token_gradient
from analysis.rounded_counts import RoundedTable
from simulator import Estimate
from simulator._checks import FloatArray

NARROW = (
    "Counts per depth are the middle of what the printed ratios allow; rounding moves each by less than "
    "a quarter of a standard error."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rounding:
    """How far the accepted rounds by depth, all units together, may lie below and above, [depths]."""

    below: FloatArray
    above: FloatArray

    def slopes(self, best: Peak, rows: Rows) -> FloatArray:
        """What one more accepted round at each depth adds to theta, [k, depths]."""
        base = rows
        if rows.unit == "rounds":  # a round cannot be kept by halves, their sum can
            base = dataclasses.replace(
                rows,
                weights=np.ones(1),
                rounds=np.asarray([rows.weights @ rows.rounds]),
                tested=(rows.weights @ rows.tested)[np.newaxis],
                accepted=(rows.weights @ rows.accepted)[np.newaxis],
            )
        information = -np.tensordot(rows.weights, best.curvature, axes=1)
        inverse = np.linalg.pinv(information, rcond=1e-12, hermitian=True)
        before = base.weights @ derivatives(best.law, best.theta, base)[1]
        share = base.rounds / base.rounds.sum()
        found = np.empty((len(best.theta), rows.depths))
        for depth in range(rows.depths):
            accepted, tested = base.accepted.copy(), base.tested.copy()
            accepted[:, depth] += share
            if depth + 1 < rows.depths:
                tested[:, depth + 1] += share
            more = dataclasses.replace(base, accepted=accepted, tested=tested)
            score = base.weights @ derivatives(best.law, best.theta, more)[1] - before
            score[list(best.pinned)] = 0.0
            found[:, depth] = inverse @ score
        return found

    def of_tokens(self, best: Peak, rows: Rows, gammas: Sequence[int], coverage: float) -> Hidden:
        """What tokens per round at these draft lengths can be moved by."""
        if best.law.name == "by depth":  # 1 + coverage · Σ n_i / rounds: exact, whatever is pinned
            reached = np.arange(rows.depths) < np.asarray(gammas)[:, np.newaxis]
            found = reached * (coverage / max(rows.drafted_rounds(), 1.0))
        else:
            gradient = token_gradient(best, gammas, coverage)[1][:, : len(best.theta)]
            found = gradient @ self.slopes(best, rows)
        slopes = np.asarray(found, dtype=np.float64)
        return Hidden(slopes=slopes, below=self.below, above=self.above)

    def widened(self, found: Sequence[Estimate], best: Peak, rows: Rows) -> list[Estimate]:
        """Parameters with their intervals lengthened by what they can be moved by."""
        ends = self._shares(rows) if best.law.name == "by depth" else self._ends(best, rows)
        limits = _natural_limits(best)
        wide: list[Estimate] = []
        for estimate, (down, up), (least, most) in zip(found, ends, limits, strict=True):
            if estimate.interval is None:
                wide.append(estimate)
                continue
            low, high = estimate.interval
            interval = (max(low - down, least), min(high + up, most))
            wide.append(dataclasses.replace(estimate, interval=interval))
        return wide

    def _ends(self, best: Peak, rows: Rows) -> list[tuple[float, float]]:
        hidden = Hidden(slopes=self.slopes(best, rows), below=self.below, above=self.above)
        natural = best.law.natural(best.theta[np.newaxis])[0]
        ends: list[tuple[float, float]] = []
        for i, one in enumerate(np.eye(len(natural))):
            down, up = hidden.reach(one)
            moved = best.law.natural(np.asarray([best.theta - down * one, best.theta + up * one]))
            ends.append((float(natural[i] - moved[0, i]), float(moved[1, i] - natural[i])))
        return ends

    def _shares(self, rows: Rows) -> list[tuple[float, float]]:
        """P(accepted | tested) of each depth: the ends of a ratio of two counts."""
        kept, tested = rows.weights @ rows.accepted, rows.weights @ rows.tested
        fewer = tested - np.concatenate([[0.0], self.below[:-1]])
        more = tested + np.concatenate([[0.0], self.above[:-1]])
        p = kept / np.maximum(tested, 1.0)
        low = (kept - self.below) / np.maximum(more, 1.0)
        high = np.minimum((kept + self.above) / np.maximum(fewer, 1.0), 1.0)
        return [(float(a), float(b)) for a, b in zip(p - low, high - p, strict=True)]


def _natural_limits(best: Peak) -> list[tuple[float, float]]:
    limits: list[tuple[float, float]] = []
    for i in range(len(best.theta)):
        far = np.repeat(best.theta[np.newaxis], 2, axis=0)
        far[:, i] = (-2.0 * EDGE, 2.0 * EDGE)
        ends = best.law.natural(far)[:, i]
        limits.append((float(ends.min()), float(ends.max())))
    return limits


def rounding_of(
    found: Sequence[RoundedTable | None], *, depths: int, apart: bool, alike: bool
) -> tuple[Rounding | None, tuple[str, ...]]:
    """What the counts of all units leave open, and what to say of it.

    `found` has None for a unit that hides nothing. Units that are `apart` (drawn again one by one)
    differ by their rounding errors too: what is `scattered` is in the intervals already, unless the
    units are all `alike`. For the rest the worst case of every unit at once is taken.
    """
    hidden = [each for each in found if each is not None]
    if not hidden:
        return None, ()
    copies = apart and alike
    if all(each.narrow for each in hidden) and not copies:
        return None, (NARROW,)
    worst = [each for each in hidden if copies or not (each.narrow or (apart and each.scattered))]
    below, above = np.zeros(depths), np.zeros(depths)
    for each in worst:
        below[: len(each.below)] += each.below
        above[: len(each.above)] += each.above
    rounds = sum(each.table.rounds for each in hidden)
    middle = "Counts per depth are the middle of what the printed ratios allow"
    said: list[str] = []
    if len(worst) < len(hidden) or not worst:
        said.append(
            f"{middle}; each line is rounded for itself, and the differences between lines, which the "
            "uncertainty is made of, hold that too."
        )
    if worst:
        most = max(float(below.max()), float(above.max())) / rounds
        said.append(
            f"{middle}; every range and interval is widened by all that rounding may hide, up to "
            f"{most:.2g} of the rounds at a depth."
        )
    return (Rounding(below=below, above=above) if worst else None), tuple(said)
