"""`plan`: which strategy and draft length at which batch, plain decoding included, and how sure."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from analysis.deployment.deployment import Deployment
from analysis.fitting.best import EQUAL
from analysis.fitting.result import GAMMAS, MOST
from analysis.planning.choice import PlanChoice, PlanRow
from analysis.planning.pricing import (
    PREFERENCES,
    Preference,
    Priced,
    judged,
    picked,
    priced,
    rising,
)
from analysis.planning.result import Plan
from simulator import Estimate
from simulator._checks import as_count, as_nonnegative

_LISTED = 4


def plan(
    deployments: Deployment | Sequence[Deployment],
    batches: Sequence[int],
    *,
    context: float = 0,
    gammas: Sequence[int] = GAMMAS,
    prefer: Preference = "gain",
    require_gain: float = 0.0,
) -> Plan:
    """For each batch the strategy and draft length with the largest speedup, or none.

    `deployments` are strategies for one target: each with its drafting, acceptance and memory. At batch b,
    with `context` tokens held by each request, a draft of gamma tokens has

        speedup = tokens per round(gamma) · T(b, 1) / round(gamma, b)

    against plain decoding at the same b: of each request's decoding, and of all requests' together as
    long as b run with and without the draft. gamma 0 is always among `gammas`, at speedup 1.

    `prefer` decides between drafts: "gain" takes the largest speedup, of equal ones the shortest draft and
    the first strategy; "sure" the largest low end of the interval, so that nothing is drafted
    unless it is known to gain; "short" the shortest draft within 1 % of the best, which wastes
    fewer operations. `require_gain` is the least gain that is worth a draft (0.05: at least 1.05, of the low
    end if "sure"). Whatever is taken, `PlanChoice.sure` says whether the interval lies above 1.

    Where a draft does not fit the memory beside the batch, its strategy is off there and a note says so.
    Raises ValueError for no deployment, names that repeat, targets that differ, no batch, batches that do
    not rise within [1, 100000] or do not fit the memory even without a draft, a refused fit and lengths
    or gains out of range.

    >>> from analysis.deployment.deployment import Deployment
    >>> from analysis.deployment.drafting import Drafting
    >>> from analysis.fitting import Fit
    >>> from analysis.pass_cost import PassCost
    >>> from simulator import ConstantAcceptance
    >>> pair = Deployment(name="pair", acceptance=Fit.of_process(ConstantAcceptance(p=0.7)),
    ...     target=PassCost(weights_s=0.01, compute_s=0.0001),
    ...     drafting=Drafting(shape="chain", step=PassCost(weights_s=0.001, compute_s=0.00001)))
    >>> found = plan(pair, (1, 16, 64, 256))
    >>> [(row.batch, row.use, row.gamma, round(row.speedup.value, 2)) for row in found.rows]
    [(1, 'pair', 4, 1.98), (16, 'pair', 4, 1.98), (64, 'pair', 1, 1.23), (256, 'off', 0, 1.0)]
    >>> found.schedule().text
    '1-20:4, 21-27:3, 28-40:2, 41-79:1, 80-:0'
    """
    strategies = _checked(deployments)
    batches = rising(batches)
    context = as_nonnegative("context", context)
    if prefer not in PREFERENCES:
        raise ValueError(f"prefer must be one of {', '.join(PREFERENCES)}; got {prefer!r:.40}.")
    require_gain = as_nonnegative("require_gain", require_gain)
    for each in strategies:
        each.check_batch(batches[-1], context, drafting=False)
    asked = tuple(sorted({0, *(as_count("gammas", gamma, most=MOST) for gamma in gammas)}))
    ready = tuple(priced(each, asked, context) for each in strategies)
    by_strategy = [
        _choices(each, batches, asked, prefer=prefer, require_gain=require_gain) for each in ready
    ]
    rows = []
    for choices in zip(*by_strategy, strict=True):
        worth = [_worth(choice, prefer) for choice in choices]
        at = next(i for i, value in enumerate(worth) if value >= EQUAL * max(worth))
        even = tuple(
            choice.strategy
            for i, choice in enumerate(choices)
            if i != at and _not_told_apart(ready[at], choices[at], ready[i], choice)
        )
        rows.append(PlanRow(chosen=choices[at], choices=choices, even=even))
    return Plan(
        strategies=tuple(each.name for each in strategies),
        batches=batches,
        context=context,
        gammas=asked,
        prefer=prefer,
        require_gain=require_gain,
        rows=tuple(rows),
        notes=(*_notes(ready, batches), *_beyond(rows, ready)),
        priced=ready,
    )


def _choices(
    strategy: Priced,
    batches: tuple[int, ...],
    asked: tuple[int, ...],
    *,
    prefer: Preference,
    require_gain: float,
) -> list[PlanChoice]:
    counts = np.asarray(batches, dtype=np.float64)
    price, rounds = strategy.prices(counts), strategy.rounds_s(counts)
    values, lows, highs = strategy.speedups(counts)
    taken = picked(judged(values, lows, prefer=prefer, require_gain=require_gain))
    known = any(each.interval is not None for each in strategy.tokens)
    fit = strategy.deployment.acceptance
    choices = []
    for row, at in enumerate(map(int, taken)):
        gamma = strategy.gammas[at]
        there = dict(
            zip(
                strategy.gammas,
                (_scaled(tokens, p) for tokens, p in zip(strategy.tokens, price[row], strict=True)),
                strict=True,
            )
        )
        sure = bool(lows[row, at] > 1.0) if gamma else bool(np.all(highs[row, 1:] <= 1.0))
        speedup = there[gamma]
        assert speedup is not None  # noqa: S101 — what does not fit is never taken
        choices.append(
            PlanChoice(
                strategy=strategy.deployment.name,
                batch=batches[row],
                gamma=gamma,
                speedup=speedup,
                tokens_per_round=strategy.tokens[at],
                round_s=float(rounds[row, at]),
                plain_s=float(rounds[row, 0]),
                best=strategy.best(price[row]),
                fits=bool(np.all(price[row] > 0.0)),
                sure=sure if known or not np.any(price[row, 1:]) else None,
                extrapolated=gamma > fit.measured,
                speedups=tuple(there.get(each) for each in asked),
            )
        )
    return choices


def _scaled(tokens: Estimate, price: float) -> Estimate | None:
    return tokens.scaled(float(price)) if price > 0.0 else None


def _worth(choice: PlanChoice, prefer: Preference) -> float:
    interval = choice.speedup.interval
    return interval[0] if prefer == "sure" and interval else choice.speedup.value


def _not_told_apart(a: Priced, mine: PlanChoice, b: Priced, other: PlanChoice) -> bool:
    """True if the interval of the difference of two strategies' speedups holds 0."""
    if mine.gamma == other.gamma == 0:
        return False  # both are plain decoding: nothing to choose
    gap = mine.speedup.value - other.speedup.value
    one, two = mine.speedup.interval, other.speedup.interval
    if one is None and two is None:
        return abs(gap) <= (1.0 - EQUAL) * mine.speedup.value
    if a.deployment.acceptance is b.deployment.acceptance and a.gammas == b.gammas:
        contrast = np.zeros(len(a.gammas))
        contrast[a.gammas.index(mine.gamma)] += mine.plain_s / mine.round_s
        contrast[b.gammas.index(other.gamma)] -= other.plain_s / other.round_s
        found = a.spread.estimate(contrast, bounds=(-math.inf, math.inf)).interval
        return found is not None and found[0] <= 0.0 <= found[1]
    one, two = one or (mine.speedup.value,) * 2, two or (other.speedup.value,) * 2
    down = math.hypot(mine.speedup.value - one[0], two[1] - other.speedup.value)
    up = math.hypot(one[1] - mine.speedup.value, other.speedup.value - two[0])
    return gap - down <= 0.0 <= gap + up


def _checked(deployments: Deployment | Sequence[Deployment]) -> tuple[Deployment, ...]:
    found = (deployments,) if isinstance(deployments, Deployment) else tuple(deployments)
    if not found or not all(isinstance(each, Deployment) for each in found):
        raise ValueError(f"deployments must be one Deployment or more; got {deployments!r:.80}.")
    names = [each.name for each in found]
    again = next((name for name in names if names.count(name) > 1), None)
    if again is not None:
        raise ValueError(f"deployments must have names of their own; got {again!r:.80} twice.")
    if any(each.target != found[0].target for each in found):
        other = next(each.name for each in found if each.target != found[0].target)
        raise ValueError(
            "deployments must share one target pass, for speedups over different ones do not compare; "
            f"got another for {other!r:.80} than for {names[0]!r:.80}."
        )
    return found


def _notes(strategies: Sequence[Priced], batches: tuple[int, ...]) -> list[str]:
    notes = []
    for each in strategies:
        name, most = each.deployment.name, each.deployment.most_requests(each.context)
        over = [batch for batch in batches if batch > most]
        if over:
            notes.append(
                f"{name} is off from batch {over[0]:,} on: no more than {most:,.0f} requests fit the memory "
                "beside its draft, which takes that room whether or not it drafts."
            )
        if each.left_out:
            notes.append(
                f"{name}: the acceptance says nothing beyond γ = {each.gammas[-1]}, so longer drafts are "
                "left out."
            )
    return notes


def _beyond(rows: Sequence[PlanRow], strategies: Sequence[Priced]) -> list[str]:
    notes = []
    ends = {each.deployment.name for each in strategies if each.left_out}  # told already
    longer = [row.batch for row in rows if row.chosen.extrapolated]
    if longer:
        notes.append(
            f"At {_batches(longer)} the draft is longer than any that was measured: what it gives is "
            "extrapolated."
        )
    ended = [row.batch for row in rows if row.chosen.at_limit and row.chosen.strategy not in ends]
    if ended:
        notes.append(f"At {_batches(ended)} the longest draft tried is the best: try longer ones.")
    unsure = [row.batch for row in rows if row.sure is False]
    if unsure:
        notes.append(f"At {_batches(unsure)} it is not sure whether a draft gains or loses.")
    return notes


def _batches(found: Sequence[int]) -> str:
    if len(found) > _LISTED:
        return f"{len(found)} batches from {found[0]:,} to {found[-1]:,}"
    return f"batch{'es' if len(found) > 1 else ''} {', '.join(f'{batch:,}' for batch in found)}"
