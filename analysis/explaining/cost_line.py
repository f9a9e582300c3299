"""What a round costs over several draft lengths, as a straight line: what is fixed, what each token adds."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.diagnosis.comparing import pair
from analysis.diagnosis.derived import Derived
from analysis.diagnosis.known import Known
from analysis.uncertainty import Range
from simulator import Estimate

FEWEST = 3
"""Draft lengths from which on a line has a residual."""
_VAGUE = 0.10  # half a cost's range over the cost: a point less certain than this is left out
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """cost of a round = fixed + per_token · drafted tokens [plain steps], by least squares.

    `fixed` contains the plain pass: what it has above 1 every round pays however short its draft
    (overhead, the drafting of a block, the first step up of a wider pass). Ranges are 95 % by Student's t
    from the residuals, with what rounding of the points allows added at both ends. `residual` is the root
    mean square of the residuals with n − 2 degrees of freedom. `points` are (drafted tokens, cost).
    """

    fixed: Derived
    per_token: Derived
    residual: float
    points: tuple[tuple[float, float], ...]

    def cost(self, length: float) -> float:
        """The line at a draft length [plain steps]."""
        return self.fixed.number + self.per_token.number * length

    @property
    def sentence(self) -> str:
        """The line in words."""
        low, high = self.fixed.range
        lengths = ", ".join(f"{length:.3g}" for length, _ in self.points)
        return (
            f"Over γ = {lengths} a round costs {self.fixed.number:.2f} [{low:.2f}, {high:.2f}] plain steps "
            f"and {self.per_token.number:.3f} for each drafted token; the points are {self.residual:.3f} "
            "off that line (root mean square)."
        )


def cost_line(knowns: Sequence[Known]) -> CostLine | None:
    """The line through round costs of the first observation and those `alike`.

    Drafts that confidence ends are left out, and costs known to no better than 10 per cent. None with fewer
    than three draft lengths, or without the first among them.
    """
    subject = knowns[0]
    kept = [point for known in alike(knowns) for point in _point(known)]
    if not _point(subject) or len({length for length, _ in kept}) < FEWEST:
        return None
    return line_through(
        [(length, cost.number, cost.range) for length, cost in sorted(kept, key=_by)]
    )


def alike(knowns: Sequence[Known]) -> list[Known]:
    """The first observation and those that differ from it in γ alone.

    These have its target, method, batch, context and plain speed, and names with no other numbers.
    """
    return [known for known in knowns if _settings(known) == _settings(knowns[0])]


def line_through(points: Sequence[tuple[float, float, Range]]) -> CostLine:
    """Least squares through (drafted tokens, cost, range of the cost) at three lengths at least.

    Raises ValueError with fewer.

    >>> line = line_through([(n, 1.3 + 0.1 * n, (1.3 + 0.1 * n,) * 2) for n in (1, 2, 4)])
    >>> round(line.fixed.number, 6), round(line.per_token.number, 6)
    (1.3, 0.1)
    """
    from scipy.special import stdtrit  # noqa: PLC0415 — `import analysis` loads numpy only

    lengths = np.asarray([length for length, _, _ in points])
    if np.unique(lengths).size < FEWEST:
        raise ValueError(
            f"points must hold {FEWEST} draft lengths at least; got {np.unique(lengths).size}."
        )
    costs = np.asarray([cost for _, cost, _ in points])
    half = np.asarray([(high - low) / 2.0 for _, _, (low, high) in points])
    design = np.stack([np.ones_like(lengths), lengths], axis=1)  # [points, 2]
    solve = np.linalg.pinv(design)  # [2, points]
    found = solve @ costs
    free = len(points) - 2
    residual = math.sqrt(float(np.sum((costs - design @ found) ** 2)) / free)
    spread = float(stdtrit(free, 0.975)) * residual * np.sqrt(np.sum(solve**2, axis=1))
    spread += np.abs(solve) @ half  # rounding may push every point its worst way
    fixed, per_token = (
        Derived(
            value=Estimate(value=float(found[i])),
            range=(float(found[i] - spread[i]), float(found[i] + spread[i])),
            how="straight line over draft lengths",
        )
        for i in (0, 1)
    )
    return CostLine(
        fixed=fixed,
        per_token=per_token,
        residual=residual,
        points=tuple((length, cost) for length, cost, _ in points),
    )


def _point(known: Known) -> list[tuple[float, Derived]]:
    cost = None if known.time is None else known.time.round_cost
    if cost is None or not known.draft_length or known.cut_short:
        return []
    half = (cost.range[1] - cost.range[0]) / 2.0
    return [] if half > _VAGUE * cost.number else [(known.draft_length, cost)]


def _by(point: tuple[float, Derived]) -> float:
    return point[0]


def _settings(known: Known) -> tuple[object, ...]:
    """All that must be equal, and the numbers in the name that are not γ (a tree's, a power cap)."""
    seen = known.observation
    numbers = _NUMBER.findall(seen.name)
    if str(seen.gamma) in numbers:
        numbers.remove(str(seen.gamma))
    plain = seen.clock.plain_tokens_per_s or seen.clock.plain_s_per_token
    return pair(known), seen.batch, seen.context, plain, tuple(numbers)
