"""MagicDec on eight H100: long contexts, where the gain rises with the batch. No parameter is fitted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from analysis.deployment.building import DraftKind, deploy
from analysis.deployment.deployment import Deployment
from analysis.fitting.result import Fit
from analysis.hardware import Machine
from analysis.model_shape import Architecture
from analysis.published_load.errors import Compared, never_falls
from analysis.published_load.facts import MAGICDEC, LoadFact, load_facts
from analysis.published_load.machines import H100, LLAMA_2_7B, LLAMA_3_8B, TINYLLAMA
from simulator import ConstantAcceptance
from simulator._checks import FloatArray

SELF, MODEL = "self-speculation", "draft model"
BUDGET = 512  # tokens of cache that the draft reads
GAMMAS = range(17)
_TARGETS = {"Llama 3.1 8B": LLAMA_3_8B, "Llama 2 7B 32K": LLAMA_2_7B}
_DRAFT_DEVICES = (
    4  # the repository's README: TinyLlama has four KV heads, so that four devices share it
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MagicDecRow:
    """A printed row beside the prediction at its draft length, and the best length of each.

    `p_assumed` says that the acceptance is another pair's, as the source prints none for this one.
    """

    compared: Compared
    context: int
    p: float
    p_assumed: bool
    best_gamma: int
    best_speedup: float

    @property
    def group(self) -> tuple[str, str]:
        """Rows that differ in their batch only."""
        return self.compared.target, self.compared.method


def printed_p(context: int) -> float:
    """MagicDec's acceptance by length, a straight line over log length between the printed ones.

    Printed for Llama 3.1 8B drafting for itself from 512 tokens of cache. ValueError outside.

    >>> printed_p(32000), round(printed_p(11314), 3)
    (0.81, 0.825)
    """
    facts = load_facts(MAGICDEC, "p")
    lengths = [float(fact.context or 0) for fact in facts]
    if not lengths[0] <= context <= lengths[-1]:
        raise ValueError(
            f"context must be {lengths[0]:,.0f} to {lengths[-1]:,.0f} tokens, which are printed; "
            f"got {context:,}."
        )
    return float(np.interp(np.log(context), np.log(lengths), [fact.value for fact in facts]))


def magicdec_deployment(target: Architecture, method: str, p: float) -> Deployment:
    """The target on eight H100 at assumed shares, drafting for itself or with TinyLlama on four of them.

    Without a limit of memory: the source ran these batches, and what its program leaves free is not printed.
    """
    eight = Machine(accelerator=H100, devices=8)
    acceptance = Fit.of_process(ConstantAcceptance(p=p))
    if method == SELF:
        alone = deploy(target, eight, DraftKind(kind="self", kv_budget=BUDGET), acceptance)
        return replace(alone, memory=None)
    draft = DraftKind(kind="model", model=TINYLLAMA, kv_budget=BUDGET)
    four = deploy(target, replace(eight, devices=_DRAFT_DEVICES), draft, acceptance)
    whole = deploy(target, eight, draft, acceptance)
    return replace(whole, drafting=four.drafting, memory=None)


def speedups_by_length(deployment: Deployment, batch: int, context: int) -> FloatArray:
    """The gain of every draft length of `GAMMAS`, with batches as large as asked for, [17]."""
    tokens = deployment.acceptance.spread(GAMMAS).values
    plain = float(np.asarray(deployment.target.seconds(batch, 1, context)))
    return np.asarray(tokens * plain / deployment.round_s(GAMMAS, batch, context))


def magicdec_rows(*, cache: bool = True) -> tuple[MagicDecRow, ...]:
    """All eight rows. `cache` False reads no KV, in target and draft: a control that must fail."""
    return tuple(_row(fact, cache=cache) for fact in load_facts(MAGICDEC, "speedup"))


def gains_rise(rows: Iterable[MagicDecRow]) -> bool:
    """In every group the predicted speedup at the printed length rises with the batch, strictly."""
    return all(
        np.all(np.diff([row.compared.predicted for row in group]) > 0.0) for group in groups(rows)
    )


def best_never_falls(rows: Iterable[MagicDecRow]) -> bool:
    """In every group the predicted best length never falls with the batch."""
    return all(never_falls([row.best_gamma for row in group]) for group in groups(rows))


def groups(rows: Iterable[MagicDecRow]) -> tuple[tuple[MagicDecRow, ...], ...]:
    """Rows by pair, each by batch."""
    found: dict[tuple[str, str], list[MagicDecRow]] = {}
    for row in rows:
        found.setdefault(row.group, []).append(row)
    return tuple(
        tuple(sorted(group, key=lambda row: row.compared.batch)) for group in found.values()
    )


def _row(fact: LoadFact, *, cache: bool) -> MagicDecRow:
    gamma, batch, context = fact.gamma or 0, fact.batch or 1, fact.context or 0
    p = printed_p(context)
    deployment = magicdec_deployment(_TARGETS[fact.target], fact.method, p)
    if not cache:
        deployment = _without_cache(deployment)
    speedups = speedups_by_length(deployment, batch, context)
    best = int(np.argmax(speedups))
    return MagicDecRow(
        compared=Compared(
            method=fact.method,
            target=fact.target,
            gamma=gamma,
            batch=batch,
            measured=fact.value,
            predicted=float(speedups[gamma]),
        ),
        context=context,
        p=p,
        p_assumed=(fact.target, fact.method) != ("Llama 3.1 8B", SELF),
        best_gamma=GAMMAS[best],
        best_speedup=float(speedups[best]),
    )


def _without_cache(deployment: Deployment) -> Deployment:
    step = deployment.drafting.step
    return replace(
        deployment,
        target=replace(deployment.target, kv_s=0.0),
        drafting=replace(
            deployment.drafting, step=None if step is None else replace(step, kv_s=0.0)
        ),
    )
