"""A deployment as the visitor chose it: what it is made of, and the values behind it. No Streamlit."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from analysis.deployment.building import DraftKind, Kind, deploy
from analysis.deployment.deployment import Deployment
from analysis.deployment.drafting import Drafting
from analysis.deployment_specs import EAGLE3_VOCABULARY
from analysis.fitting import Fit
from analysis.hardware import Accelerator, Machine
from analysis.machine_presets import accelerator, accelerators
from analysis.model_presets import architecture as preset
from analysis.model_presets import architectures
from analysis.model_shape import Architecture
from analysis.planning.pricing import Preference
from app_pages import state
from app_pages.deployment import fields as numbers
from app_pages.deployment import machine_fields
from app_pages.deployment import models as own_models
from simulator import AcceptanceByDepth, ConstantAcceptance, Method

Drafter: TypeAlias = Literal["model", "eagle", "eagle3", "mtp", "block", "lookup", "self", "chain"]
DRAFTERS: dict[Drafter, str] = {
    "eagle3": f"EAGLE-3: a head, {EAGLE3_VOCABULARY:,} words",
    "eagle": "EAGLE: a head, all words",
    "mtp": "MTP: a head the model came with",
    "model": "a draft model",
    "block": "a block drafter: all tokens at once",
    "lookup": "prompt lookup: no model",
    "self": "the target itself, with a short cache",
    "chain": "any chain whose step I know as c",
}
KIND_OF: dict[Drafter, tuple[Kind, Method]] = {
    "model": ("model", "draft_model"),
    "eagle": ("head", "eagle"),
    "eagle3": ("head", "eagle"),
    "mtp": ("head", "mtp"),
    "block": ("block", "block"),
    "lookup": ("lookup", "ngram"),
    "self": ("self", "other"),
}
OWN_CARD = "own"
"""A machine by its own numbers."""
Accept: TypeAlias = Literal["p", "depth", "log"]
ACCEPTS: dict[Accept, str] = {
    "p": "one p at every depth",
    "depth": "a p for each depth",
    "log": "the log under *Import*",
}
Source: TypeAlias = Literal["deployment", "log", "numbers"]
SOURCES: dict[Source, str] = {
    "deployment": "this deployment, predicted",
    "log": "the log under Import",
    "numbers": "numbers that I have",
}
PREFERS: dict[Preference, str] = {
    "gain": "the largest gain",
    "sure": "only what surely gains",
    "short": "the shortest draft within 1 %",
}
MOST_PLANNED = 24
"""Batches in a plan."""
MOST_DEPTHS = state.MAX_GAMMA
OVERLAP_AS_ROOFLINE = machine_fields.OVERLAP_K.high
"""From here on the overlap counts as infinite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Everything that the three pages share; p, gamma and c are those of all pages.

    `model` and `draft_model` are presets by name, or dimensions as `own_models` writes them. From `source`
    on it is what *Explain* explains and how *Plan* plans.
    """

    model: str = "Llama 3.1 8B"
    card: str = "H100 SXM"
    drafter: Drafter = "eagle3"
    draft_model: str = ""
    accept: Accept = "p"
    depths: tuple[float, ...] = (0.8, 0.7, 0.6, 0.5)
    p: float = state.P.default
    gamma: int = int(state.GAMMA.default)
    cost_ratio: float = state.COST.default
    bandwidth: float = machine_fields.BANDWIDTH.default
    tflops: float = machine_fields.TFLOPS.default
    memory_gb: float = machine_fields.MEMORY_GB.default
    link: float = machine_fields.LINK.default
    devices: int = int(machine_fields.DEVICES.default)
    weight_bits: float = numbers.WEIGHT_BITS.default
    kv_bits: float = numbers.KV_BITS.default
    layers: int = int(numbers.LAYERS.default)
    kept: int = int(numbers.KEPT.default)
    batch: int = int(numbers.BATCH.default)
    context: int = int(numbers.CONTEXT.default)
    prompt: int = int(numbers.PROMPT.default)
    output: int = int(numbers.OUTPUT.default)
    price: float = numbers.PRICE.default
    memory_share: float = machine_fields.MEMORY_SHARE.default
    operations_share: float = machine_fields.OPERATIONS_SHARE.default
    overlap_k: float = machine_fields.OVERLAP_K.default
    fixed_ms: float = machine_fields.FIXED_MS.default
    layer_us: float = machine_fields.LAYER_US.default
    token_us: float = machine_fields.TOKEN_US.default
    overhead_ms: float = numbers.OVERHEAD_MS.default
    hidden: float = numbers.HIDDEN.default
    source: Source = "deployment"
    tau: float | None = None
    speed: float | None = None
    plain_speed: float | None = None
    share: float | None = None
    pass_cost: float | None = None
    step_cost: float | None = None
    against: tuple[tuple[Drafter, float], ...] = ()
    batches: tuple[int, ...] = ()
    prefer: Preference = "gain"
    schedule: str = ""

    @property
    def target(self) -> Architecture:
        """The target's shape."""
        return architecture(self.model)

    @property
    def accelerator(self) -> Accelerator:
        """One device: a preset, or what `bandwidth` and the numbers behind it say."""
        if self.card != OWN_CARD:
            return accelerator(self.card)
        return Accelerator(
            name="own machine",
            memory_bytes_per_s=_times(self.bandwidth, 1e9),
            operations_per_s=_times(self.tflops, 1e12),
            memory_bytes=_times(self.memory_gb, 1e9),
            link_bytes_per_s=_times(self.link, 1e9),
        )

    @property
    def machine(self) -> Machine:
        """The machine, with what is reached of it. Raises ValueError for devices without a link."""
        return Machine(
            accelerator=self.accelerator,
            devices=self.devices,
            memory_share=self.memory_share,
            operations_share=self.operations_share,
            overlap=math.inf if self.overlap_k >= OVERLAP_AS_ROOFLINE else self.overlap_k,
            fixed_s=self.fixed_ms / 1e3,
            layer_s=self.layer_us / 1e6,
            token_s=self.token_us / 1e6,
        )

    @property
    def longest(self) -> int:
        """The longest draft that the acceptance says something about, of those that are tried."""
        return min(len(self.depths), state.MAX_GAMMA) if self.accept == "depth" else state.MAX_GAMMA


def _times(number: float, unit: float) -> float:
    """In the unit, as the command line writes it."""
    return float(f"{number * unit:.10g}")


def assumed(choice: Choice) -> Fit:
    """The acceptance that was typed, as a fit: one p, or one for each depth."""
    if choice.accept == "depth":
        return Fit.of_process(AcceptanceByDepth(by_depth=choice.depths))
    return Fit.of_process(ConstantAcceptance(p=choice.p))


def built(choice: Choice, acceptance: Fit, *, drafter: Drafter | None = None) -> Deployment:
    """The deployment of a choice, with another drafter if asked for.

    Raises ValueError in a sentence for what does not fit together.
    """
    drafter = drafter or choice.drafter
    how = {
        "weight_bits": choice.weight_bits,
        "kv_bits": choice.kv_bits,
        "overhead_s": choice.overhead_ms / 1e3,
        "draft_overlap": choice.hidden,
    }
    name = name_of(choice, drafter)
    if drafter == "chain":
        # The rest of the deployment is that of a draft without a model: only the steps differ.
        bare = deploy(
            choice.target, choice.machine, DraftKind(kind="lookup"), acceptance, name=name, **how
        )
        if choice.cost_ratio > 0.0:
            step = bare.target.scaled(choice.cost_ratio)
            bare = dataclasses.replace(bare, drafting=Drafting(shape="chain", step=step))
        return dataclasses.replace(bare, method="draft_model")
    kind, method = KIND_OF[drafter]
    vocabulary = min(EAGLE3_VOCABULARY, choice.target.vocabulary) if drafter == "eagle3" else None
    draft = DraftKind(
        kind=kind,
        model=architecture(draft_name(choice)) if kind == "model" else None,
        layers=choice.layers,
        vocabulary=vocabulary,
        kv_budget=choice.kept if kind == "self" else None,
        method=method,
    )
    return deploy(choice.target, choice.machine, draft, acceptance, name=name, **how)


def name_of(choice: Choice, drafter: Drafter) -> str:
    """What drafts, as `specdec` calls it: a model's name, or the word for its kind."""
    return architecture(draft_name(choice)).name if drafter == "model" else drafter


def architecture(name: str) -> Architecture:
    """A preset, or dimensions of one's own. ValueError for an unknown name, with the closest."""
    return own_models.read(name) if own_models.is_own(name) else preset(name)


@cache
def models() -> tuple[str, ...]:
    """Names of all models that can be chosen, as they come."""
    return tuple(found.name for found in architectures())


@cache
def cards() -> tuple[Accelerator, ...]:
    """All accelerators that can be chosen."""
    return tuple(accelerators())


def draft_name(choice: Choice) -> str:
    """The draft model: the one that was named, else the smallest that speaks the target's vocabulary."""
    return choice.draft_model or usual_draft(choice.model)


@cache
def usual_draft(model: str) -> str:
    """A draft for a target: the smallest preset of the same vocabulary, of any if there is none."""
    target = architecture(model)
    by_size = sorted(architectures(), key=lambda found: found.parameters)
    smaller = [found for found in by_size if 2 * found.parameters < target.parameters]
    speaks = [found for found in smaller if found.vocabulary == target.vocabulary]
    usable = [found for found in smaller if found.parameters > _LEAST_DRAFT]
    return (*speaks, *usable, by_size[0])[0].name


_LEAST_DRAFT = 50e6
"""Parameters: below it are models that no target of another vocabulary would take for a draft."""


def has_layers(choice: Choice) -> bool:
    """True where the draft is so many layers of the target's kind."""
    return choice.drafter in {"eagle", "eagle3", "mtp", "block"}
