"""The best draft length of a fit: flat region, ties, and how much more would separate them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.fitting.costs import RoundCosts
from analysis.fitting.spread import Spread
from simulator import Estimate
from simulator._checks import FloatArray

FLAT = 0.99
EQUAL = 1.0 - 1e-14  # floats that lie closer are equal: of those the shortest draft is taken


@dataclass(frozen=True, slots=True, kw_only=True)
class BestFit:
    """The best gamma and how sure the choice is; gamma 0 means: do not speculate.

    `flat` holds every gamma within 1 % of the best. `ties` are those whose speedup cannot be told
    from the best one's: the interval of the difference holds 0. `runner_up` is the best gamma
    outside the flat region; `more_units` is how many more requests (or what `unit` names) would tell
    it from the best with the given power, if the difference is as large as it looks: 0 if there are
    enough already, None if nothing is known of the error. `at_limit`: the longest gamma tried is the best.
    `extrapolated`: the best is longer than any measured draft. `left_out` are lengths for which the process
    or the costs say nothing.
    """

    gamma: int
    speedup: Estimate
    flat: tuple[int, ...]
    ties: tuple[int, ...]
    runner_up: int | None
    more_units: int | None
    unit: str
    at_limit: bool
    extrapolated: bool
    left_out: tuple[int, ...] = ()

    @property
    def pays(self) -> bool:
        """True if some draft is faster than none."""
        return self.gamma > 0

    @property
    def sentence(self) -> str:
        """The choice in one or two sentences."""
        chosen = "no speculation" if self.gamma == 0 else f"γ = {self.gamma}"
        said = [f"Best is {chosen}: speedup {self.speedup}"]
        if len(self.flat) > 1:
            said.append(f"within 1 %: γ {_listed(self.flat)}")
        if self.ties:
            said.append(f"not told apart from it: γ {_listed(self.ties)}")
        text = "; ".join(said) + "."
        if self.runner_up is not None and self.runner_up in self.ties and self.more_units:
            text += (
                f" About {self.more_units:,} more {self.unit} would tell γ = {self.gamma} from "
                f"γ = {self.runner_up}."
            )
        if self.at_limit:
            text += " Longer drafts were not tried."
        if self.extrapolated:
            text += " This is extrapolated beyond the measured depth."
        return text


def best_of(
    spread: Spread,
    gammas: Sequence[int],
    costs: RoundCosts,
    *,
    units: int,
    power: float,
    left_out: tuple[int, ...],
    measured: int,
    unit: str,
) -> BestFit:
    """The best of `gammas`, for which `spread` has tokens per round."""
    price = np.asarray([1.0 / costs.cost(gamma) for gamma in gammas])
    return best_at(
        spread, gammas, price, units=units, power=power, left_out=left_out, measured=measured,
        unit=unit,
    )  # fmt: skip


def best_at(
    spread: Spread,
    gammas: Sequence[int],
    price: FloatArray,
    *,
    units: int,
    power: float,
    left_out: tuple[int, ...],
    measured: int,
    unit: str,
) -> BestFit:
    """The same with `price`, plain steps / the round of each gamma, shape [gammas]."""
    speedups = spread.values * price
    at = int(np.argmax(speedups >= EQUAL * speedups.max()))
    flat = np.flatnonzero(speedups >= FLAT * speedups[at])
    differences = [_difference(spread, price, at, i) for i in range(len(gammas))]
    ties = [i for i, gap in enumerate(differences) if i != at and _holds_zero(gap)]
    outside = [i for i in range(len(gammas)) if i not in flat]
    second = max(outside, key=lambda i: speedups[i], default=None)
    more: int | None = None
    if second is not None:
        se, gap = differences[second].se, differences[second].value
        if se is not None and gap > 0.0 and units:
            more = max(_needed(units, se / gap, spread.level, power) - units, 0)
    contrast = np.zeros(len(gammas))
    contrast[at] = price[at]
    return BestFit(
        gamma=gammas[at],
        speedup=spread.estimate(contrast, bounds=(0.0, (gammas[at] + 1.0) * price[at])),
        flat=tuple(gammas[int(i)] for i in flat),
        ties=tuple(gammas[i] for i in ties),
        runner_up=None if second is None else gammas[second],
        more_units=more,
        unit=unit,
        at_limit=gammas[at] == gammas[-1] and gammas[at] > 0,
        extrapolated=gammas[at] > measured,
        left_out=left_out,
    )


def _needed(units: int, error: float, level: float, power: float) -> int:
    """Units that tell a difference with this chance, if `units` of them have this relative error.

    units · (error · (z + z_power))² by the normal law, and z² / 2 more for Student's t (Guenther 1981).
    """
    from scipy.special import ndtri  # noqa: PLC0415 — `import analysis` loads numpy only

    z = float(ndtri((1.0 + level) / 2.0))
    return math.ceil(units * (error * (z + float(ndtri(power)))) ** 2 + z * z / 2.0)


def _difference(spread: Spread, price: np.ndarray, best: int, other: int) -> Estimate:
    contrast = np.zeros(len(price))
    contrast[best] += price[best]
    contrast[other] -= price[other]
    return spread.estimate(contrast, bounds=(-math.inf, math.inf))


def _holds_zero(gap: Estimate) -> bool:
    return gap.interval is not None and gap.interval[0] <= 0.0


def _listed(gammas: Sequence[int]) -> str:
    """Numbers with runs shortened: 2–4, 7."""
    parts: list[str] = []
    start = 0
    for i in range(1, len(gammas) + 1):
        if i == len(gammas) or gammas[i] != gammas[i - 1] + 1:
            first, last = gammas[start], gammas[i - 1]
            parts.append(str(first) if first == last else f"{first}–{last}")
            start = i
    return ", ".join(parts)
