"""What a fit answers: parameters, predictions with intervals, and the best draft length."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.fitting.best import BestFit, best_of
from analysis.fitting.choice import Candidate
from analysis.fitting.costs import RoundCosts
from analysis.fitting.goodness import Goodness
from analysis.fitting.spread import Spread
from simulator import Estimate, Process
from simulator._checks import as_count
from simulator.tree_acceptance import refuse_trees

GAMMAS = range(17)
MOST = 1000

Curve = Callable[[Sequence[int]], Spread]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A process fitted to counts, with what is known of its error.

    `process` is the simulator's value, None where only a range of p is known or nothing could be
    fitted (`refusal` says why). `how` says where intervals come from: "resampling", "sandwich",
    "range", "residuals" or "method". `units` are the independent units (`unit` names them) and
    `rounds` the fitted rounds. `measured` is the longest measured draft; predictions beyond it are
    extrapolated, and a process that says nothing there refuses. Up to `replayed` tokens (0: never) they
    are the rounds of the recorded texts themselves, whatever the process. `level` is NaN where the
    intervals are ranges that were seen and have no probability.

    >>> from simulator import AcceptanceTable
    >>> from analysis.fitting import fit
    >>> found = fit(AcceptanceTable(rounds=1000, drafted=2000, tested=(1000, 700), accepted=(700, 490)))
    >>> found.name, found.process
    ('constant p', ConstantAcceptance(p=0.7))
    >>> found.extrapolates(2), found.extrapolates(4), round(found.tokens_per_round(4).value, 3)
    (False, True, 2.773)
    """

    name: str
    process: Process | None = None
    candidates: tuple[Candidate, ...] = ()
    parameters: Mapping[str, Estimate] = field(default_factory=dict)
    coverage: Estimate | None = None
    goodness: Goodness | None = None
    notes: tuple[str, ...] = ()
    refusal: str | None = None
    how: str = ""
    unit: str = "requests"
    units: int = 0
    rounds: int = 0
    measured: int = 0
    replayed: int = 0
    longest: int | None = None
    level: float = 0.95
    curve: Curve | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of_process(cls, process: Process, *, name: str = "assumed") -> Fit:
        """A process of chains that is taken as known, in the shape of a fit: predictions without an error.

        >>> from simulator import ConstantAcceptance
        >>> print(Fit.of_process(ConstantAcceptance(p=0.7)).tokens_per_round(4))
        2.7731
        """
        from analysis.process_laws import process_tokens_per_round  # noqa: PLC0415 — loads late

        refuse_trees("Fit.of_process", process)
        by_depth = getattr(process, "by_depth", None)

        def curve(gammas: Sequence[int]) -> Spread:
            tokens = [process_tokens_per_round(process, g) if g else 1.0 for g in gammas]
            return Spread(values=np.asarray(tokens))

        longest = None if by_depth is None else len(by_depth)
        return cls(
            name=name,
            process=process,
            how="assumed",
            longest=longest,
            measured=MOST if longest is None else longest,
            curve=curve,
        )

    @property
    def intervals(self) -> str:
        """What the intervals are, in two words."""
        return "ranges seen" if math.isnan(self.level) else f"{self.level:.0%} intervals"

    def extrapolates(self, gamma: int) -> bool:
        """True if a draft of `gamma` tokens is longer than any that was measured."""
        return as_count("gamma", gamma) > self.measured

    def tokens_per_round(self, gamma: int) -> Estimate:
        """E[tokens] of a round that may draft `gamma` tokens, rounds without a draft included.

        Raises ValueError for a fit that was refused and beyond what the process can say.
        """
        spread = self._curve([self._allowed(gamma)])
        return spread.estimate(np.ones(1), bounds=(1.0, gamma + 1.0))

    def spread(self, gammas: Sequence[int]) -> Spread:
        """Tokens per round at several draft lengths with the error that they share.

        Raises ValueError as `tokens_per_round` does.
        """
        return self._curve([self._allowed(gamma) for gamma in gammas])

    def speedup(self, gamma: int, costs: RoundCosts) -> Estimate:
        """Tokens per round / cost of a round, decoding of one request; the costs count as exact."""
        return self.tokens_per_round(gamma).scaled(1.0 / costs.cost(gamma))

    def best_gamma(
        self, costs: RoundCosts, gammas: Sequence[int] = GAMMAS, *, power: float = 0.8
    ) -> BestFit:
        """The draft length with the largest speedup, 0 (off) included, and how sure that is.

        Lengths beyond `longest`, or without a cost, are left out. Raises ValueError for a refused fit, no
        gamma, and a power outside (0, 1).
        """
        if not 0.0 < power < 1.0:
            raise ValueError(f"power must be a number between 0 and 1; got {power!r}.")
        most = min(n for n in (MOST, self.longest, costs.longest) if n is not None)
        asked = sorted({0, *(as_count("gammas", g, most=MOST) for g in gammas)})
        tried = [gamma for gamma in asked if gamma <= most]
        left_out = tuple(gamma for gamma in asked if gamma > most)
        return best_of(
            self._curve(tried), tried, costs, units=self.units, power=power,
            left_out=left_out, measured=self.measured, unit=self.unit,
        )  # fmt: skip

    def _allowed(self, gamma: int) -> int:
        gamma = as_count("gamma", gamma, most=MOST)
        if self.refusal is None and self.longest is not None and gamma > self.longest:
            raise ValueError(
                f"gamma must be at most {self.longest} for {self.name!r}, which says nothing beyond "
                f"the measured depths; got {gamma}: name a process that extrapolates, for example "
                "processes=('constant p', 'geometric decay')."
            )
        return gamma

    def _curve(self, gammas: Sequence[int]) -> Spread:
        if self.refusal is not None or self.curve is None:
            raise ValueError(self.refusal or "There is no fit.")
        return self.curve(gammas)
