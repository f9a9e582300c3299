"""Acceptance that an engine is told instead of finding out: which numbers, and what they cannot express."""

from __future__ import annotations

import math
from functools import lru_cache

from analysis.configuration.asked import Asked
from analysis.configuration.rounds import RoundKinds, RoundSpread, fitted_kinds
from analysis.configuration.wording import number
from analysis.deployment.undrafted import drafted_share
from analysis.fitting.result import Fit
from analysis.process_laws import process_survival
from simulator import HitMiss, Process, TraceReplay

_RATE_DIGITS, _LENGTH_DIGITS = 6, 4


def rates(acceptance: Fit, gamma: int) -> tuple[float, ...] | None:
    """P(the first i drafted tokens are all kept) in rounds with a draft, [gamma]; None where unknown.

    Rounded to six digits, which keeps them in order.

    >>> from simulator import ConstantAcceptance
    >>> rates(Fit.of_process(ConstantAcceptance(p=0.7)), 3)
    (0.7, 0.49, 0.343)
    """
    if acceptance.process is None:
        return None
    kept = process_survival(acceptance.process, gamma)
    if any(math.isnan(share) for share in kept):
        return None
    least, written = 1.0, []
    for share in kept:  # rounding of the process itself may break the order by one unit
        least = min(least, max(round(share, _RATE_DIGITS), 0.0))
        written.append(least)
    return tuple(written)


def mean_length(acceptance: Fit, gamma: int, *, drafted_only: bool = False) -> float:
    """Tokens per round at `gamma`, in [1, gamma + 1], over all rounds or those with a draft.

    >>> from simulator import ConstantAcceptance
    >>> mean_length(Fit.of_process(ConstantAcceptance(p=0.7)), 4)
    2.7731
    """
    mean = acceptance.tokens_per_round(gamma).value
    share = drafted_share(acceptance) if drafted_only else 1.0
    if share > 0.0:
        mean = 1.0 + (mean - 1.0) / share
    return min(max(round(mean, _LENGTH_DIGITS), 1.0), gamma + 1.0)


def opening(since: str = "") -> str:
    """The first comment of a load test; `since` says in which versions it can be forced."""
    return f"Load test under forced acceptance{since}: use its times only, its text is not the target's."


def comparison(
    asked: Asked, gamma: int, forced: RoundKinds, *, together: bool = False
) -> tuple[str, ...]:
    """What the forced rounds have in common with the fitted ones and what not, with numbers.

    `together`: all requests of a batch take one draw per pass.
    """
    fit = asked.acceptance
    told = forced.spread(asked.tokens)
    lines = [
        (
            f"At {gamma}: {fit.tokens_per_round(gamma)} tokens per round in the fit, "
            f"{number(told.mean)} forced."
        )
    ]
    found = _fitted(fit, gamma, asked.tokens)
    if found is None:
        lines.append(
            f"The fit is no law of rounds, so its spread is not known here; forced, the tokens of a "
            f"round have sd {number(told.sd, 2)}."
        )
    else:
        lines += _spreads(found, told)
        if together:
            lines.append(_batch(asked, found, told))
    return tuple(lines)


def _fitted(fit: Fit, gamma: int, tokens: int) -> RoundSpread | None:
    if fit.process is None or isinstance(fit.process, TraceReplay):
        return None
    own = 1.0 if isinstance(fit.process, HitMiss) else drafted_share(fit)
    return _spread(fit.process, gamma, own, tokens)


@lru_cache(maxsize=64)  # four engines ask for the same
def _spread(process: Process, gamma: int, share: float, tokens: int) -> RoundSpread | None:
    kinds = fitted_kinds(process, gamma, share)
    return None if kinds is None else kinds.spread(tokens)


def _spreads(found: RoundSpread, told: RoundSpread) -> list[str]:
    off = told.rounds_p95 / found.rounds_p95 - 1.0
    right = abs(off) < 0.005
    verdict = "p95 is right" if right else f"p95 is off by {off:+.0%}"
    same = abs(told.sd - found.sd) <= 0.005 * max(found.sd, 1e-6)
    sd = (
        f"{number(found.sd, 2)} in both"
        if same
        else f"{number(found.sd, 2)} in the fit and {number(told.sd, 2)} forced"
    )
    rounds = (
        f"{_rounds(found)} in both"
        if _rounds(found) == _rounds(told)
        else f"{_rounds(found)} in the fit and {_rounds(told)} forced: {verdict}"
    )
    lines = [
        f"{'Expressed' if same else 'Not expressed'}, variance: the tokens of a round have sd {sd}.",
        (
            f"{'Expressed' if right else 'Not expressed'}, tails: a request of {found.tokens} tokens "
            f"takes {rounds}."
        ),
    ]
    if abs(found.correlation) >= 0.005:
        lines.append(
            "Not expressed, correlation: two rounds in a row of a request correlate by "
            f"{found.correlation:.2f} in the fit (requests or stretches of text differ) and by 0 "
            "forced, where all requests are alike."
        )
    else:
        lines.append("Rounds are independent in both.")
    return lines


def _rounds(spread: RoundSpread) -> str:
    sd = number(spread.rounds_sd, 1)
    return f"{number(spread.rounds, 1)} rounds (sd {sd}, p95 {spread.rounds_p95})"


def _batch(asked: Asked, found: RoundSpread, told: RoundSpread) -> str:
    apart = found.sd / math.sqrt(asked.batch)
    one = "Not expressed, requests of their own: one draw per pass serves the whole batch, so "
    if asked.batch == 1:
        return f"{one}requests that run together keep step; in the fit they are independent."
    return (
        f"{one}the mean "
        f"of {asked.batch} requests in a pass has sd {number(told.sd, 2)} forced and "
        f"{number(apart, 2)} in the fit, where requests are independent."
    )
