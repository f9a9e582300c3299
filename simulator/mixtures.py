"""Acceptance that is not one p: it differs between requests, along the text, or between rounds.

These laws belong to whole requests. Which rounds follow each other matters, so they have no
`conditional(gamma)`; `simulate_requests` walks the texts and `analysis.process_laws` has the exact laws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from simulator._checks import as_probability
from simulator.processes import AcceptanceProcess
from simulator.trace import TraceReplay


@dataclass(frozen=True, slots=True, kw_only=True)
class BetaMixture:
    """Each request has a p of its own, drawn from Beta(p s, (1 - p) s), the same at every depth.

    s = `concentration`: small means that requests are either easy or hopeless, infinite that all have
    p. The mean over requests is p. Raises ValueError for a p outside [0, 1] and a concentration that
    is not above 0.

    >>> BetaMixture(p=0.75, concentration=8.0).shapes
    (6.0, 2.0)
    """

    p: float
    concentration: float

    def __post_init__(self) -> None:
        as_probability("p", self.p)
        allowed = "concentration must be a number of at least 1e-9 (or infinite)"
        if isinstance(self.concentration, (bool, str, bytes)):
            raise ValueError(f"{allowed}; got {self.concentration!r}.")
        try:
            concentration = float(self.concentration)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"{allowed}; got {self.concentration!r}.") from None
        if not concentration >= 1e-9:  # below it, Beta's draws leave the range of floats
            raise ValueError(f"{allowed}; got {self.concentration!r}.")

    @property
    def is_one_p(self) -> bool:
        """Whether all requests share one p: no spread, or none left at 0 or 1."""
        return math.isinf(self.concentration) or self.p in {0.0, 1.0}

    @property
    def shapes(self) -> tuple[float, float]:
        """The two shape parameters of the Beta law."""
        return self.p * self.concentration, (1.0 - self.p) * self.concentration


@dataclass(frozen=True, slots=True, kw_only=True)
class EasyHardChain:
    """Every position of the text is easy or hard, and the next one tends to be alike.

    Positions form a Markov chain: an easy one is followed by an easy one with probability
    `stay_easy`, a hard one by a hard one with `stay_hard`; the first is drawn from the stationary law.
    A tested token is kept with the p of its position. The correction or the bonus token takes a
    position too, and the next round starts behind it. Raises ValueError for probabilities outside
    [0, 1] and for a chain that never changes, for nothing says then how much of the text is easy.

    >>> EasyHardChain(p_easy=0.9, p_hard=0.3, stay_easy=0.75, stay_hard=0.5).easy_share == 2 / 3
    True
    """

    p_easy: float
    p_hard: float
    stay_easy: float
    stay_hard: float

    def __post_init__(self) -> None:
        as_probability("p_easy", self.p_easy)
        as_probability("p_hard", self.p_hard)
        as_probability("stay_easy", self.stay_easy)
        as_probability("stay_hard", self.stay_hard)
        if self.stay_easy == self.stay_hard == 1.0:
            raise ValueError("stay_easy and stay_hard must not both be 1; got 1 and 1.")

    @property
    def easy_share(self) -> float:
        """The stationary P(easy) = (1 - stay_hard) / (2 - stay_easy - stay_hard)."""
        to_hard, to_easy = 1.0 - self.stay_easy, 1.0 - self.stay_hard
        return _share(to_easy / (to_easy + to_hard))


@dataclass(frozen=True, slots=True, kw_only=True)
class HitMiss:
    """A look-up finds a draft or not, and what it found is right or not: n-gram drafting.

    A round finds a draft with probability `coverage`; otherwise it is plain and emits one token. A
    found draft is right with probability `right`: then each tested token is kept with `p_right`,
    otherwise with `p_wrong`. Rounds are independent. Raises ValueError for values outside [0, 1].

    >>> HitMiss(coverage=0.5, right=0.75, p_right=1.0, p_wrong=0.0).first_acceptance
    0.75
    """

    coverage: float
    right: float
    p_right: float
    p_wrong: float

    def __post_init__(self) -> None:
        as_probability("coverage", self.coverage)
        as_probability("right", self.right)
        as_probability("p_right", self.p_right)
        as_probability("p_wrong", self.p_wrong)

    @property
    def first_acceptance(self) -> float:
        """P(the first token of a found draft is kept)."""
        return _share(self.right * self.p_right + (1.0 - self.right) * self.p_wrong)


def _share(value: float) -> float:
    """A share in [0, 1] that rounding may have pushed beyond 1 by one unit."""
    return min(value, 1.0)


TextProcess: TypeAlias = BetaMixture | EasyHardChain | HitMiss | TraceReplay
"""Laws for which it matters which rounds belong to one request."""
TEXT_PROCESSES = (BetaMixture, EasyHardChain, HitMiss, TraceReplay)
Process: TypeAlias = AcceptanceProcess | TextProcess
"""Every law of acceptance that a strategy can have."""
