"""The deployments that options describe: what is predicted, what is fitted, and what to know of both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from analysis.cli_costs import Costs, Words, costs_of
from analysis.cli_draft_acceptance import acceptance_of, check_shared
from analysis.deployment.building import DraftKind
from analysis.deployment_specs import CHAIN, DraftWords, draft_of

if TYPE_CHECKING:
    from analysis.deployment.deployment import Deployment
    from analysis.deployment.drafting import Drafting
    from analysis.fitting import Fit
    from analysis.model_shape import Architecture


def deployments_of(words: Words) -> tuple[tuple[Deployment, ...], Costs]:
    """One deployment per --draft, and the costs behind them.

    Raises ValueError for no draft, a draft whose acceptance is not given, or whose pass does not follow.
    """
    if not words.drafts:
        raise ValueError(
            "--draft must be given at least once: eagle, eagle3, lookup, a model, 'chain cost_ratio=0.1'."
        )
    drafts = tuple(draft_of(text) for text in words.drafts)
    check_shared(drafts, words)
    costs = costs_of(words)
    measured = _measured_step(drafts, costs)
    found: list[Deployment] = []
    notes = list(costs.notes)
    for draft in drafts:
        accepted, said = acceptance_of(draft, words)
        deployment, known = _deployment(draft, accepted, costs, words, measured=measured)
        notes += [*said, *known]
        taken = sum(each.name.partition(" (")[0] == deployment.name for each in found)
        found.append(
            replace(deployment, name=f"{deployment.name} ({taken + 1})") if taken else deployment
        )
    return tuple(found), replace(costs, notes=tuple(notes), drafts=drafts)


def _measured_step(drafts: Sequence[DraftWords], costs: Costs) -> DraftWords | None:
    """The draft that the drafting in --steps is of: the only one that has passes to time."""
    passing = [draft for draft in drafts if draft.kind is not None and draft.kind.shape != "lookup"]
    if costs.fitted is None:
        return None
    if not costs.fitted.told_apart and (len(passing) != 1 or len(drafts) != 1):
        raise ValueError(
            "--steps holds rounds whose drafting cannot be told from their passes: they price the one "
            f"draft that was measured; give it alone, not {' and '.join(d.label for d in drafts)}."
        )
    told = costs.fitted.draft_step is not None or not costs.fitted.told_apart
    return passing[0] if len(passing) == 1 and told else None


def _deployment(
    draft: DraftWords,
    accepted: Fit,
    costs: Costs,
    words: Words,
    *,
    measured: DraftWords | None,
) -> tuple[Deployment, tuple[str, ...]]:
    from analysis.deployment.building import deploy  # noqa: PLC0415
    from analysis.deployment.deployment import Deployment  # noqa: PLC0415

    drafting, notes = _own_drafting(draft, costs, words, measured=measured)
    if costs.architecture is not None and costs.machine is not None:
        built = deploy(
            costs.architecture,
            costs.machine,
            draft.head_of(costs.architecture) or _UNKNOWN,
            accepted,
            name=draft.label,
            weight_bits=words.weight_bits,
            kv_bits=words.kv_bits,
            overhead_s=words.overhead_s,
            draft_overlap=words.draft_overlap,
        )
        built = replace(built, target=costs.target, drafting=drafting or built.drafting)
        head = draft.assumed(costs.architecture) if drafting is None else ()
        return built, (*notes, *head, *_vocabularies(draft, costs.architecture))
    if drafting is None:
        raise ValueError(
            f"what a pass of {draft.label!r} takes does not follow from --steps alone: give --target "
            f"and --hardware too, or '{CHAIN} cost_ratio=0.1'."
        )
    return Deployment(
        name=draft.label,
        target=costs.target,
        drafting=drafting,
        acceptance=accepted,
        overhead_s=words.overhead_s,
        draft_overlap=words.draft_overlap,
        method="draft_model" if draft.kind is None else draft.kind.called,
    ), notes


_UNKNOWN = DraftKind(kind="lookup", method="draft_model")
"""A draft of which only the time of a step is known: what it takes of the memory counts as nothing."""


def _own_drafting(
    draft: DraftWords, costs: Costs, words: Words, *, measured: DraftWords | None
) -> tuple[Drafting | None, tuple[str, ...]]:
    """How a round drafts where no model of it is needed: a ratio, a lookup, measured steps."""
    from analysis.deployment.drafting import Drafting  # noqa: PLC0415

    if draft.cost_ratio is not None:
        step = costs.target.scaled(draft.cost_ratio)
        return Drafting(shape="chain", step=step, round_s=draft.round_s), ()
    assert draft.kind is not None  # noqa: S101 — a draft has a ratio or a kind
    if draft.kind.shape == "lookup":
        return Drafting(shape="lookup", round_s=draft.round_s), ()
    if draft is not measured or costs.fitted is None:
        return None, ()
    if not costs.fitted.told_apart:
        said = f"{draft.label}: its drafting is within the passes, from which --steps does not tell it."
        return Drafting(shape="lookup"), (said,)
    drafting = costs.fitted.drafting(draft.kind.shape)
    drafting = replace(drafting, reads_prompt=draft.kind.kind != "self")
    if "round_s" in draft.spec.values:
        drafting = replace(drafting, round_s=draft.round_s)
    return drafting, (f"{draft.label}: its steps take what the draft steps in {words.steps} do.",)


def _vocabularies(draft: DraftWords, target: Architecture) -> tuple[str, ...]:
    model = None if draft.kind is None else draft.kind.model
    if model is None or model.vocabulary == target.vocabulary:
        return ()
    said = (
        f"{draft.label}: its vocabulary has {model.vocabulary:,} tokens and the target's "
        f"{target.vocabulary:,}: most engines refuse such a pair."
    )
    return (said,)


def limits(deployments: Sequence[Deployment], context: int) -> tuple[str, ...]:
    """How many requests fit the memory, without a draft and with each; nothing where any number does."""
    plain = min(each.most_requests(context, drafting=False) for each in deployments)
    if math.isinf(plain):
        return ()
    with_draft = ", ".join(
        f"{each.most_requests(context):,.0f} with {each.name}" for each in deployments
    )
    said = f"Requests of {context:,} tokens that fit the memory: {plain:,.0f} without a draft, {with_draft}."
    return (said,)


def check_batches(deployments: Sequence[Deployment], batches: Sequence[int], context: int) -> None:
    """ValueError, with the limits of all drafts, for a batch that does not fit even without one."""
    plain = min(each.most_requests(context, drafting=False) for each in deployments)
    if max(batches) > plain >= 1.0:
        (said,) = limits(deployments, context)
        raise ValueError(
            f"--batch must be at most {plain:,.0f} ({said[0].lower()}{said[1:-1]}); got {max(batches)}."
        )


def default_batches(
    deployments: Sequence[Deployment], costs: Costs, context: int
) -> tuple[int, ...]:
    """Powers of two up to 256 whose plain decoding fits the memory, or up to the largest measured one."""
    fits = [each.most_requests(context, drafting=False) for each in deployments]
    most = min(256.0, *fits)
    if most < 1.0:
        raise ValueError(f"not even one request of {context:,} tokens fits the memory.")
    if costs.fitted is not None and costs.machine is None:
        most = max(min(most, costs.fitted.ranges.batch[1]), 1.0)
    return tuple(2**n for n in range(9) if 2**n <= most)
