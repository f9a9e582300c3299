"""What splits the rounds of a log: what was given beside it, then what a described machine would take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.cli_costs import Words
    from analysis.cli_explained import Beside
    from analysis.explaining.explanation import Explanation
    from analysis.explaining.parts import PartKind
    from simulator import Observation

_ANY = 0.5
"""Acceptance changes no time of a chain's round; a deployment wants one all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """V by the tokens in a pass, c where a draft is described, and what to know of both."""

    verify_cost: Callable[[int], float]
    cost_ratio: float | None
    notes: tuple[str, ...]


def times_of(words: Words, seen: Observation, length: float | None, context: int | None) -> Times:
    """What the machine would take at the batch and context of a log that drafts `length` tokens a round.

    `context` given is preferred to the log's, and that to the usual one. Raises ValueError for a draft that
    says its own acceptance, and what `costs_of` and `deployments_of` refuse.
    """
    from analysis.cli_costs import costs_of  # noqa: PLC0415
    from analysis.cli_deployments import deployments_of  # noqa: PLC0415
    from analysis.cli_draft_acceptance import has_own  # noqa: PLC0415
    from analysis.deployment_specs import draft_of  # noqa: PLC0415

    if len(words.drafts) > 1:
        raise ValueError(f"--draft must be given once to explain it; got {len(words.drafts)}.")
    if any(has_own(draft_of(text)) for text in words.drafts):
        raise ValueError("--draft beside a log must say no acceptance: the log does.")
    running = seen.clock.running or seen.batch
    batch, at = max(running or 1.0, 1.0), context or seen.context or words.context
    ratio, found = None, replace(words, context=at, p=_ANY)
    if words.drafts:
        (deployment,), costs = deployments_of(found)
        deployment.check_batch(batch, at, drafting=True)
        plain = float(costs.target.seconds(batch, 1, at))
        if length:
            gamma = max(round(length), 1)
            ratio = float(deployment.drafting.seconds(gamma, batch, at)) / plain / gamma
    else:
        costs = costs_of(found)
        plain = float(costs.target.seconds(batch, 1, at))

    def verify(tokens: int) -> float:
        return float(costs.target.seconds(batch, tokens, at)) / plain

    what = "V" if ratio is None else f"V and c = {ratio:.3g}"
    taken = "" if running else " (one is taken, the log does not say)"
    said = f"{what} are" if ratio is not None else f"{what} is"
    note = (
        f"{said} predicted for this machine at batch {batch:g}{taken} and {at:,} tokens of context; overhead "
        "is what the log's times leave."
    )
    return Times(verify_cost=verify, cost_ratio=ratio, notes=(note, *costs.notes))


def explained(known: Sequence[Observation], beside: Beside) -> tuple[Explanation, tuple[str, ...]]:
    """What was given splits a round first, then what a described machine would take."""
    from analysis.diagnosis.known import know  # noqa: PLC0415
    from analysis.explaining.reported import explain_measured  # noqa: PLC0415

    given, ratio = beside.verify_cost, beside.cost_ratio
    verify: float | Callable[[int], float] | None = None
    if given is not None:
        verify = given if isinstance(given, float) else _Passes(given)
    predicted: list[PartKind] = []
    notes: tuple[str, ...] = ()
    if beside.machine is not None:
        times = times_of(beside.machine, known[0], know(known[0]).draft_length, beside.context)
        notes = times.notes
        if verify is None:
            verify = times.verify_cost
            predicted.append("wider")
        if ratio is None and times.cost_ratio is not None:
            ratio = times.cost_ratio
            predicted.append("drafting")
    found = explain_measured(known, verify_cost=verify, cost_ratio=ratio, predicted=predicted)
    return found, notes


class _Passes:
    """V by the tokens in a pass, from V by the draft length."""

    def __init__(self, by_gamma: Sequence[float]) -> None:
        self._by_gamma = tuple(by_gamma)

    def __call__(self, tokens: int) -> float:
        if tokens > len(self._by_gamma):
            raise ValueError(
                f"--verify-cost must be one number, or one per gamma from 0 to {tokens - 1} at least; got "
                f"{len(self._by_gamma)} of them."
            )
        return self._by_gamma[tokens - 1]
