"""Does the chosen process explain the rounds? By whole requests, with the size of the misfit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.fitting.laws import DepthLaw
from analysis.fitting.maximise import Peak
from analysis.fitting.rows import Rows
from analysis.fitting.spread import influence
from simulator._checks import FloatArray

_STEP = 1e-3
_VARIES = 4.0  # accepted tokens², the least for which the normal law will do
_FLAT = 1e-5  # of a cell's own variance: what a parameter of the law fits by construction


@dataclass(frozen=True, slots=True, kw_only=True)
class Goodness:
    """Accepted tokens by depth, and pairs of consecutive rounds, against the fitted law.

    `statistic` is Hotelling's over whole requests (with few of them it is compared with F), of pooled
    rounds Pearson's, for `degrees` independent cells; `p_value` NaN where nothing is left to compare.
    `misfit` is accepted tokens per round, seen less expected, where it is largest by depth: with many
    rounds a small p-value may go with a misfit that matters to nobody. `pair_correlation` is what
    consecutive rounds have in common that the law does not explain; None without rounds in order.
    """

    statistic: float
    degrees: int
    p_value: float
    misfit: float
    depth: int
    pair_correlation: float | None = None

    @property
    def sentence(self) -> str:
        """What to think of it."""
        if self.degrees == 0:
            return "Nothing is left to compare: the process has a parameter for all that these rounds show."
        size = f"the largest misfit is {self.misfit:+.3f} accepted tokens per round, at depth {self.depth}"
        if self.p_value >= 0.01:
            return f"No misfit beyond chance at the 1 % level (p {self.p_value:.2g}); {size}."
        if abs(self.misfit) < 0.01 and abs(self.pair_correlation or 0.0) < 0.02:
            return (
                f"So many rounds show that the process is not exact (p {self.p_value:.1g}), "
                f"but it is close: {size}."
            )
        return f"The process does not explain these rounds (p {self.p_value:.1g}): {size}."


def goodness(peak: Peak, rows: Rows) -> Goodness:
    """Test that the mean residuals are 0, with the error of the parameters taken out.

    Of pooled rounds the law itself says how much they vary: `_pearson`.

    With residuals m_r(θ) of row r, m_r + G H⁻¹ s_r has the variance of their sum at the best point
    (Newey 1985); G is the gradient of the sum. What the parameters fit by construction drops out.
    """
    from scipy.special import chdtrc, fdtrc  # noqa: PLC0415 — `import analysis` loads numpy only

    law, theta = peak.law, peak.theta
    cells = law.residuals(theta, rows)  # [rows, cells]
    k = len(theta)
    slope = np.zeros((cells.shape[1], k))
    for i in range(k):
        step = np.zeros(k)
        step[i] = _STEP
        up = rows.weights @ law.residuals(theta + step, rows)
        down = rows.weights @ law.residuals(theta - step, rows)
        slope[:, i] = (up - down) / (2.0 * _STEP)
    total = rows.weights @ cells
    moved = cells + influence(peak, rows)[:, :k] @ slope.T
    units = rows.units
    p_value = float("nan")
    if rows.unit == "rounds" and isinstance(law, DepthLaw):
        statistic, degrees = _pearson(law, theta, rows, total)
        p_value = float(chdtrc(degrees, statistic)) if degrees else p_value
    else:
        scale = np.sqrt(np.maximum(rows.weights @ cells**2, 1e-300))
        statistic, degrees = _wald(total / scale, moved / scale, rows.weights)
        degrees = min(degrees, int(units) - 1)
    if rows.unit != "rounds" and degrees > 0 and units > degrees:
        f = statistic * (units - degrees) / (degrees * max(units - 1.0, 1.0))
        p_value = float(fdtrc(degrees, units - degrees, f))
    by_depth = total[: rows.depths] / max(rows.drafted_rounds(), 1.0)
    worst = int(np.argmax(np.abs(by_depth)))
    return Goodness(
        statistic=statistic,
        degrees=degrees,
        p_value=p_value,
        misfit=float(by_depth[worst]),
        depth=worst + 1,
        pair_correlation=_pair_correlation(rows, float(total[-1])),
    )


def _pearson(law: DepthLaw, theta: FloatArray, rows: Rows, total: FloatArray) -> tuple[float, int]:
    """Pearson's statistic by depth: given how many are tested there, each accepted number is binomial.

    Depths whose number hardly varies are put together; each parameter takes one of what is left.
    """
    kept = law.hazards(theta[np.newaxis], rows.depths)[0]
    varies = (rows.weights @ rows.tested) * kept * (1.0 - kept)
    groups: list[tuple[float, float]] = []
    apart = variance = 0.0
    for seen, spread in zip(total, varies, strict=True):
        apart, variance = apart + float(seen), variance + float(spread)
        if variance >= _VARIES:
            groups.append((apart, variance))
            apart = variance = 0.0
    if groups:  # the rest goes to the last
        groups[-1] = (groups[-1][0] + apart, groups[-1][1] + variance)
    degrees = max(len(groups) - len(theta), 0)
    return sum(seen**2 / spread for seen, spread in groups), degrees


def _wald(total: FloatArray, moved: FloatArray, weights: FloatArray) -> tuple[float, int]:
    units = weights.sum()
    apart = moved - weights @ moved / units
    spread = apart.T @ (weights[:, np.newaxis] * apart) * (units / max(units - 1.0, 1.0))
    roots, axes = np.linalg.eigh(spread)
    real = roots > _FLAT
    along = total @ axes[:, real]
    return float(np.sum(along**2 / roots[real])), int(real.sum())


def _pair_correlation(rows: Rows, total: float) -> float | None:
    if rows.kept is None or rows.lengths is None:
        return None
    inside = np.arange(len(rows.kept))[:, np.newaxis] < rows.lengths
    variance = float(np.var(rows.kept[inside]))
    count = float(np.maximum(rows.lengths - 1, 0).sum())
    return total / (count * variance) if count and variance else 0.0
