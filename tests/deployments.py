"""Deployments for the tests of what a server gains: numbers of the size that makers and papers print."""

from __future__ import annotations

from dataclasses import replace

from analysis.deployment.building import DraftKind, deploy
from analysis.deployment.deployment import Deployment
from analysis.deployment.drafting import Drafting
from analysis.fitting import Fit
from analysis.hardware import Accelerator, Machine
from analysis.model_shape import Architecture
from analysis.pass_cost import PassCost
from simulator import ConstantAcceptance

CARD = Accelerator(
    name="card", memory_bytes_per_s=3.35e12, operations_per_s=9.9e14, memory_bytes=80e9
)
TARGET = Architecture(
    name="8B", layers=32, hidden=4096, heads=32, kv_heads=8, width=14336, vocabulary=128256
)
DRAFT = Architecture(
    name="1B",
    layers=16,
    hidden=2048,
    heads=32,
    kv_heads=8,
    width=8192,
    vocabulary=128256,
    tied=True,
)
EXPERTS = replace(
    TARGET, name="experts", width=0, experts=64, experts_per_token=4, expert_width=896
)
MACHINE = Machine(accelerator=CARD, layer_s=5e-6)


def accepted(p):
    return Fit.of_process(ConstantAcceptance(p=p))


def pair(p=0.7, machine=MACHINE, **options):
    """A dense target with a draft model of its family."""
    return deploy(TARGET, machine, DraftKind(kind="model", model=DRAFT), accepted(p), **options)


def short_cache(p=0.7, budget=512, **options):
    """The target that drafts with a short cache, as MagicDec does."""
    return deploy(TARGET, MACHINE, DraftKind(kind="self", kv_budget=budget), accepted(p), **options)


def mixture(p=0.7):
    """A mixture of experts with a lookup: wide passes call more experts at small batches."""
    return deploy(EXPERTS, MACHINE, DraftKind(kind="lookup"), accepted(p))


def simple(p=0.7, *, cost_ratio=0.1, step_s=0.01, compute_s=0.0, **options):
    """A target step of `step_s` and a draft step of so much of it; arithmetic only if asked for."""
    return Deployment(
        name="simple",
        target=PassCost(weights_s=step_s, compute_s=compute_s),
        drafting=Drafting(
            shape="chain", step=PassCost(weights_s=step_s * cost_ratio, compute_s=0.0)
        ),
        acceptance=accepted(p),
        **options,
    )
