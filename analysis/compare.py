"""Two runs compared: how much faster or slower, why, and whether it is noise."""

from __future__ import annotations

import math
from dataclasses import replace

from analysis.comparison.caveats import caveats, limits
from analysis.comparison.measures import depth_changes, measure
from analysis.comparison.parts import part, plain_parts
from analysis.comparison.power import needed, smallest_visible
from analysis.comparison.result import RegressionVerdict, RunComparison
from analysis.comparison.sides import Side, side_of, unique
from analysis.comparison.wording import sentence_of
from simulator import Estimate, Observation
from simulator._checks import Rng, as_generator

_COMMON = 0.5
_SAME = 1e-12


def compare_runs(
    before: Observation,
    after: Observation,
    *,
    regression: float | None = None,
    level: float = 0.95,
    power: float = 0.8,
    paired: bool | None = None,
    rng: Rng = 0,
) -> RunComparison:
    """How much faster the second run decodes, and which part of it is acceptance and which pass time.

    Speed is tokens per second of one request = (tokens per round) × (tokens that arrived / tokens) /
    (seconds per round), so that the logs of the three factors add up to that of the speed exactly
    (the decomposition of Cai et al. 2024, section 7.1, between two runs instead of against plain
    decoding). Without times on both sides tokens per round alone are compared.

    Intervals hold at `level` and draw requests again, the same prompts of both sides together where
    units have the same names (not with `paired` False; where names are mere numbers they say nothing
    of prompts); with sums only they take rounds as independent, which is said.
    `regression` is a size: 0.05 asks whether the second run is slower by more than 5 %; it is
    "regressed" or "not regressed" where the interval lies wholly on one side, else "undecided".
    `power` is the chance with which `needed` and `smallest_visible` would show a change.

    Raises ValueError where a side has neither counts with rounds nor tokens per round, for level or
    power outside (0, 1), for a regression outside [0, 1), and for `paired` runs that are not.

    >>> from simulator import AcceptanceTotals, Clock, Observation
    >>> old = Observation(counts=AcceptanceTotals(rounds=68, drafted=198, accepted=132, longest_draft=3),
    ...                   clock=Clock(tokens_per_s=69.23))
    >>> new = Observation(counts=AcceptanceTotals(rounds=79, drafted=231, accepted=121, longest_draft=3),
    ...                   clock=Clock(tokens_per_s=57.67))
    >>> result = compare_runs(old, new)
    >>> round(result.whole.factor.value, 3), [round(part.factor.value, 3) for part in result.parts]
    (0.833, [0.861, 0.968])
    """
    for name, share in (("level", level), ("power", power)):
        if not 0.0 < share < 1.0:
            raise ValueError(f"{name} must be a number between 0 and 1; got {share!r}.")
    if regression is not None and not 0.0 <= regression < 1.0:
        raise ValueError(f"regression must be a number in [0, 1); got {regression!r}.")
    generator = as_generator(rng)
    first, second = side_of(before, "before"), side_of(after, "after")
    together = False
    matching: tuple[str, ...] = ()
    if paired is not False:
        first, second, together, matching = _matched(first, second)
    if paired and not together:
        raise ValueError(
            "paired runs must share at least half of their units' names; these do not."
        )
    measured = measure(first, second, paired=together, rng=generator, level=level)
    depths = depth_changes(
        first, second, (before, after), paired=together, rng=generator, level=level
    )
    timed = "pass_time" in measured.parts
    parts = tuple(
        part(name, log, measured.whole, first, second)
        for name, log in measured.parts.items()
        if name != "kept" or abs(log.value) > _SAME
    )
    whole = part("speed" if timed else "tokens per round", measured.whole, None, first, second)
    lower_bound, notes = limits(first, second, timed=timed, paired=together)
    verdict = None if regression is None else _verdict(measured.whole, regression)
    found = RunComparison(
        before=before.name or "before",
        after=after.name or "after",
        whole=whole,
        parts=parts,
        rest=plain_parts(before, after, first, second),
        depths=depths,
        units=(first.count, second.count),
        unit=first.unit if first.unit == second.unit else "unit",
        paired=together,
        lower_bound=lower_bound,
        level=level,
        power=power,
        regression=regression,
        verdict=verdict,
        needed=needed(measured.whole, regression, (first, second), level=level, power=power),
        smallest_visible=smallest_visible(measured.whole, level=level, power=power),
        caveats=caveats(before, after),
        notes=(*matching, *notes),
        sentence="",
    )
    return replace(found, sentence=sentence_of(found))


def _matched(before: Side, after: Side) -> tuple[Side, Side, bool, tuple[str, ...]]:
    """Both sides cut to their common prompts, if these are at least half of either."""
    if before.unit != "request" or after.unit != "request":
        return before, after, False, ()
    if not (unique(before.names) and unique(after.names)):
        return before, after, False, ()
    there = set(after.names)
    common = [name for name in before.names if name in there]
    if len(common) < max(2.0, _COMMON * max(before.count, after.count)):
        return before, after, False, ("the sides have different prompts; each was drawn alone.",)
    left = before.count + after.count - 2 * len(common)
    notes = (f"{left} requests with prompts of one side only were left out.",) if left else ()
    return before.only(common), after.only(common), True, notes


def _verdict(log: Estimate, regression: float) -> RegressionVerdict:
    if log.interval is None:
        return "undecided"
    limit = math.log1p(-regression)
    if log.interval[1] < limit:
        return "regressed"
    return "not regressed" if log.interval[0] > limit else "undecided"
