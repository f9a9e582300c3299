"""The article's claims about servers: what a request gains, what the server gains, and when neither does.

Computed for a pair that people run: Llama 3.1 8B with Llama 3.2 1B as its draft on one H100, 16 bits, from
bytes and operations with the shares that `Machine` assumes. p and gamma are the article's.
"""

from __future__ import annotations

from functools import cache

from analysis.article_example import GAMMA, P
from analysis.deployment.break_even import break_even_batch
from analysis.deployment.building import DraftKind, deploy
from analysis.deployment.deployment import Deployment
from analysis.deployment.load import under_load
from analysis.fitting.result import Fit
from analysis.hardware import Machine
from analysis.judgement import Judgement
from simulator import ConstantAcceptance

SHORT, USUAL, LONG = 500, 1_000, 32_000
"""Tokens that a request holds: a chat's first turns, a longer chat, a book."""
KEPT = 512
"""Tokens of its cache that the self-drafting target reads (the budget of MagicDec, Chen et al. 2024)."""
FULL = 100_000
"""More requests than any memory holds here."""


@cache
def pair() -> Deployment:
    """The target with a small model of its family as draft."""
    from analysis.model_presets import architecture  # noqa: PLC0415 — reads a file

    draft = DraftKind(kind="model", model=architecture("Llama 3.2 1B"))
    return _on_h100(draft, "Llama 3.1 8B with Llama 3.2 1B")


@cache
def self_drafting() -> Deployment:
    """The target that drafts for itself with a short cache."""
    draft = DraftKind(kind="self", kv_budget=KEPT)
    return _on_h100(draft, f"Llama 3.1 8B with {KEPT} tokens of its own cache")


def latency_not_throughput() -> Judgement:
    """Whether only latency gains: at one batch both gain alike; a full server loses batch to the draft."""
    some = under_load(pair(), GAMMA, concurrency=8, context=USUAL)
    full = under_load(pair(), GAMMA, concurrency=FULL, context=USUAL)
    each = [under_load(pair(), g, concurrency=FULL, context=USUAL) for g in range(1, 9)]
    best = max(each, key=lambda point: point.throughput_ratio.value)
    loaded = under_load(pair(), GAMMA, concurrency=FULL, context=LONG)
    return Judgement(
        claim="latency, not throughput",
        says="throughput is unchanged or slightly worse",
        verdict="holds if",
        finding=f"if the server is full and contexts are short. At one batch tokens per second are "
        f"batch times a request's, so both gain alike: {some.latency_speedup.value:.2f}× and "
        f"{some.throughput_ratio.value:.2f}× at batch {some.plain.running:g} ({_WHERE}, "
        f"{USUAL:,} tokens of context). Full, {full.speculative.running:g} requests run beside the "
        f"draft instead of {full.plain.running:g}: each decodes {full.latency_speedup.value:.2f}× as "
        f"fast, the server gives {full.throughput_ratio.value:.2f} of its tokens per second "
        f"({best.throughput_ratio.value:.2f} at γ = {best.gamma}, its best). At {LONG:,} tokens "
        f"the full server gives {loaded.throughput_ratio.value:.2f} times as many.",
    )


def busy_servers() -> Judgement:
    """Whether a busy server has nothing to spend: at short context soon, at long context ever less."""
    turn = break_even_batch(pair(), GAMMA, context=SHORT)
    one, many = (pair().parts(GAMMA, batch, SHORT).speedup.value for batch in (1, 64))
    most = int(self_drafting().most_requests(LONG))
    alone, crowd = (self_drafting().parts(GAMMA, batch, LONG).speedup.value for batch in (1, most))
    end = "is kept" if turn.batch is None else f"is gone from batch {turn.batch} on"
    return Judgement(
        claim="busy servers",
        says="a saturated GPU has no spare compute to spend",
        verdict="holds if",
        finding=f"if contexts are short: at {SHORT:,} tokens the gain falls from {one:.2f}× at batch 1 "
        f"to {many:.2f}× at 64 and {end} ({_WHERE}). At long context each request brings its own "
        f"cache to read, which the {GAMMA + 1} tokens of a round share, and arithmetic stays spare: "
        f"at {LONG:,} tokens the target as its own draft over {KEPT} of them goes from "
        f"{alone:.2f}× at batch 1 to {crowd:.2f}× at {most}, all that fit.",
    )


_WHERE = f"computed for Llama 3.1 8B and 1B on an H100, p = {P}, γ = {GAMMA}"


def _on_h100(draft: DraftKind, name: str) -> Deployment:
    from analysis.machine_presets import accelerator  # noqa: PLC0415 — reads a file
    from analysis.model_presets import architecture  # noqa: PLC0415

    return deploy(
        architecture("Llama 3.1 8B"),
        Machine(accelerator=accelerator("H100 SXM")),
        draft,
        Fit.of_process(ConstantAcceptance(p=P)),
        name=name,
    )
