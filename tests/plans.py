"""Deployments for the tests of plans: small ones by coefficients, real ones by shape."""

from __future__ import annotations

import analysis as an
from analysis.deployment.building import DraftKind, deploy
from analysis.deployment.deployment import Deployment
from analysis.deployment.drafting import Drafting
from analysis.deployment.memory import Memory
from analysis.hardware import Accelerator, Machine
from analysis.model_shape import Architecture
from analysis.pass_cost import PassCost
from simulator import ConstantAcceptance, draft_model
from simulator.requests import simulate_requests

H100 = Accelerator(
    name="H100", memory_bytes_per_s=3.35e12, operations_per_s=9.9e14, memory_bytes=8e10,
    link_bytes_per_s=4.5e11,
)  # fmt: skip
LLAMA_8B = Architecture(
    name="Llama 3 8B", layers=32, hidden=4096, heads=32, kv_heads=8, width=14336, vocabulary=128256
)
LLAMA_1B = Architecture(
    name="Llama 3 1B", layers=16, hidden=2048, heads=32, kv_heads=8, width=8192, vocabulary=128256,
    tied=True,
)  # fmt: skip
FAST = PassCost(weights_s=0.01, compute_s=0.0001)
STEP = PassCost(weights_s=0.001, compute_s=0.00001)
SMALL = Memory(
    capacity_bytes=1000.0, target_bytes=100.0, target_kv_bytes=1.0, draft_bytes=300.0, usable=1.0
)
"""9 requests of 100 tokens fit, 6 beside the draft."""
KINDS = {
    "model": DraftKind(kind="model", model=LLAMA_1B),
    "head": DraftKind(kind="head"),
    "block": DraftKind(kind="block"),
    "lookup": DraftKind(kind="lookup"),
}


def assumed(p):
    return an.Fit.of_process(ConstantAcceptance(p=p))


def pair(p=0.7, *, name="pair", acceptance=None, step=STEP, target=FAST, **facts):
    """A chain of drafts that becomes dear where arithmetic does: off from batch 80 on at p = 0.7."""
    return Deployment(
        name=name, target=target, drafting=Drafting(shape="chain", step=step),
        acceptance=acceptance or assumed(p), **facts,
    )  # fmt: skip


def lookup(p=0.4, *, name="lookup", acceptance=None, target=FAST, **facts):
    return Deployment(
        name=name, target=target, drafting=Drafting(shape="lookup"),
        acceptance=acceptance or assumed(p), **facts,
    )  # fmt: skip


def real(kind, p=0.75, *, devices=1, acceptance=None, draft=None):
    """A draft of the 8B model on H100s, with their memory."""
    return deploy(
        LLAMA_8B, Machine(accelerator=H100, devices=devices), draft or KINDS[kind],
        acceptance or assumed(p), name=kind,
    )  # fmt: skip


def measured(p, *, requests, tokens=64, gamma=5, rng=0, **options):
    """A fit to so many simulated requests of one p."""
    strategy = draft_model(p=p, gamma=gamma)
    drawn = simulate_requests(strategy, requests=requests, tokens=tokens, rng=rng)
    return an.fit(drawn.units(), rng=rng, processes=("constant p",), **options)
