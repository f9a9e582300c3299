"""What `specdec explain` explains: a measured run, a log, counts of ours, a deployment, or the formula."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.cli_explain_machine import explained
from analysis.options import numbers

if TYPE_CHECKING:
    from analysis.cli_costs import Words
    from analysis.explaining.explanation import Explanation
    from real_runs.engines import Reading
    from simulator import Clock, Observation

_NUMBERS = re.compile(r"(\d+)")
_SWEEP = (
    "{source} is a sweep over γ = {lengths}; γ = {gamma} is explained, --gamma chooses another."
)
_TELL = (
    "--verify-cost and --cost-ratio say what is measured; --target, --hardware and --draft predict it for a "
    "machine."
)
_LONGEST = 16
"""The longest draft that a prediction looks at, unless its acceptance is known less far or γ is longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What is known beside a log, or beside counts."""

    gamma: int | None
    engine: str | None
    layout: str | None
    method: str | None
    target: str | None
    tokens_per_s: float | None
    plain_tokens_per_s: float | None
    running: float | None
    verify_cost: float | tuple[float, ...] | None
    cost_ratio: float | None
    machine: Words | None = None
    context: int | None = None


def of_run(folder: Path, gamma: int | None, seed: int) -> Explanation:
    """One draft length of a run of `measure`, its best if none is given."""
    from analysis.cli_runs import run_errors, summarized  # noqa: PLC0415
    from analysis.explaining.of_run import explain_run  # noqa: PLC0415
    from real_runs.runs.reading import read_run  # noqa: PLC0415

    with run_errors():
        run = read_run(folder)
    try:
        return explain_run(summarized(run, seed), gamma, name=run.name)
    except ValueError as error:
        raise ValueError(f"{folder}: {error}") from None


def of_log(source: Path, beside: Beside) -> tuple[Explanation, tuple[str, ...]]:
    """A log with the facts beside it, and notes. Readings at other draft lengths are its sweep."""
    from analysis.cli_sources import chosen, log_of, observation_of  # noqa: PLC0415
    from analysis.facts import with_facts  # noqa: PLC0415

    readings = log_of(source, engine=beside.engine)
    if readings is None:  # counts that one of our commands printed
        first, notes = observation_of(source, gamma=beside.gamma, engine=None, layout=None)
        seen = [first]
    else:
        reading, notes = chosen(readings, beside.layout, source)
        sweep = [reading, *(each for each in readings if _sweeps(each, reading))]
        sweep = _at(sweep, beside.gamma, source)
        seen = [each.observation for each in sweep]
        if len(sweep) > 1:
            seen = [replace(each, name=f"γ = {each.gamma}") for each in seen]
            notes = (_SWEEP.format(source=source, lengths=_lengths(seen), gamma=seen[0].gamma),)
    known = [
        with_facts(
            each,
            gamma=None if number else beside.gamma,
            method=beside.method,
            target=beside.target,
            tokens_per_s=None if number else beside.tokens_per_s,
            plain_tokens_per_s=beside.plain_tokens_per_s,
            running=beside.running,
        )
        for number, each in enumerate(seen)
    ]
    explanation, said = explained(known, beside)
    if explanation.refusal and beside.plain_tokens_per_s is None:
        hint = _hint(seen[0].clock)
        return replace(explanation, refusal=f"{explanation.refusal}{hint}"), notes
    lump = explanation.part("together")
    if lump is not None:
        said = (*said, _TELL)
    return explanation, (*notes, *said)


def of_deployment(
    words: Words, gamma: int | None, batch: float, context: int
) -> tuple[Explanation, tuple[str, ...]]:
    """A predicted round at one draft length, the fastest if none is given, and notes."""
    from analysis.cli_deployments import deployments_of  # noqa: PLC0415
    from analysis.deployment.undrafted import drafted_share  # noqa: PLC0415
    from analysis.explaining.predicted import explain  # noqa: PLC0415

    if len(words.drafts) > 1:
        raise ValueError(f"--draft must be given once to explain it; got {len(words.drafts)}.")
    (deployment,), costs = deployments_of(words)
    longest = deployment.acceptance.longest
    most = max(_LONGEST, gamma or 0) if longest is None else longest
    others = [deployment.parts(length, batch, context) for length in range(1, most + 1)]
    if gamma is None:
        gamma = max(others, key=lambda parts: parts.speedup.value).gamma
    about = deployment.parts(gamma, batch, context)
    found = explain(
        about,
        name=deployment.name,
        others=others,
        coverage=drafted_share(deployment.acceptance),
    )
    return found, costs.notes


def of_formula(
    *,
    p: float | None,
    by_depth: str | None,
    gamma: int | None,
    cost_ratio: float,
    verify_cost: float | tuple[float, ...],
    overhead: float,
) -> Explanation:
    """The parts of the formula, where a plain step takes one unit of time."""
    from analysis.deployment.round_parts import RoundParts  # noqa: PLC0415
    from analysis.explaining.predicted import explain  # noqa: PLC0415
    from analysis.fitting import Fit, RoundCosts  # noqa: PLC0415
    from simulator import draft_model  # noqa: PLC0415
    from simulator.strategies import chain_of  # noqa: PLC0415

    strategy = draft_model(
        p=p, by_depth=None if by_depth is None else numbers("--by-depth", by_depth), gamma=gamma
    )
    draft, process = chain_of(strategy, "explain")
    fitted, asked = Fit.of_process(process), draft.gamma
    costs = RoundCosts(cost_ratio=cost_ratio, verify_cost=verify_cost, overhead=overhead)
    costs.cost(asked)  # its sentence on a γ beyond the known passes
    passes = (verify_cost,) if isinstance(verify_cost, float) else verify_cost
    if min(passes) < 1.0:
        raise ValueError(
            f"--verify-cost must be at least 1, a pass over one token; got {min(passes):g}."
        )

    def parts(length: int) -> RoundParts:
        verify = (passes[0] if len(passes) == 1 else passes[length]) if length else 1.0
        return RoundParts(
            gamma=length,
            batch=1.0,
            tokens_per_round=fitted.tokens_per_round(length),
            plain_s=1.0,
            drafting_s=length * cost_ratio,
            wider_s=verify - 1.0,
            overhead_s=overhead if length else 0.0,
        )

    known = [each for each in (fitted.longest, costs.longest) if each is not None]
    most = min(known, default=max(_LONGEST, asked))
    return explain(
        parts(asked), name="the formula", others=[parts(length) for length in range(1, most + 1)]
    )


def _hint(clock: Clock) -> str:
    """Which option makes up for a speed without speculation that a log does not hold."""
    if clock.plain_tokens_per_s is not None or clock.plain_s_per_token is not None:
        return ""
    both = clock.speedup is None and clock.tokens_per_s is None and clock.s_per_token is None
    return f" Give --plain-tps{' and --tps' if both else ''}."


def _at(sweep: list[Reading], gamma: int | None, source: Path) -> list[Reading]:
    """The reading at that draft length first; ValueError for one that contradicts what the log says."""
    stated = [each.observation.gamma for each in sweep]
    if gamma is None or None in stated:
        return sweep
    first = next((each for each in sweep if each.observation.gamma == gamma), None)
    if first is None:
        found = " or ".join(str(each) for each in dict.fromkeys(stated))
        raise ValueError(f"{source}: gamma must be {found}, as the source says; got {gamma}.")
    return [first, *(each for each in sweep if each is not first)]


def _lengths(seen: Sequence[Observation]) -> str:
    return ", ".join(str(gamma) for gamma in sorted({each.gamma or 0 for each in seen}))


def _sweeps(other: Reading, reading: Reading) -> bool:
    """Whether two readings are of one sweep: draft lengths that differ, and nothing else in the layout.

    A chain's tokens to verify, γ + 1, differ with it; another tree, batch or drafter is another run.
    """
    ours, theirs = reading.observation.gamma, other.observation.gamma
    if other.engine != reading.engine or ours is None or theirs is None or ours == theirs:
        return False
    moved = {(str(ours + n), str(theirs + n)) for n in (0, 1)}
    words = [_NUMBERS.split(each.layout) for each in (reading, other)]
    return len(words[0]) == len(words[1]) and all(
        pair[0] == pair[1] or pair in moved for pair in zip(*words, strict=True)
    )
