"""A deployment from what one can look up: models, a machine, how the draft comes about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from analysis.deployment.deployment import Deployment
from analysis.deployment.drafting import Drafting, Shape
from analysis.deployment.memory import Memory
from analysis.fitting.result import Fit
from analysis.hardware import Machine
from analysis.model_shape import Architecture
from analysis.predicted_pass import predict_pass
from simulator import Method
from simulator._checks import as_count, as_nonnegative

Kind: TypeAlias = Literal["model", "head", "block", "lookup", "self"]
KINDS: tuple[Kind, ...] = ("model", "head", "block", "lookup", "self")


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftKind:
    """What drafts: a model of its own, a head on the target, a lookup, or the target with a short cache.

    - `model`: `model` is the draft, which drafts a chain;
    - `head`: `layers` layers over the target's features, a chain (EAGLE, MTP);
    - `block`: the same, all tokens in one step (block drafters);
    - `lookup`: no model at all (prompt lookup);
    - `self`: the target itself, which reads at most `kv_budget` tokens of its cache (MagicDec).

    `vocabulary` shortens a head's output layer. `weight_bits` is the draft's precision, the target's if
    None. `method` is how configurations call it. Raises ValueError for what does not belong together.
    """

    kind: Kind
    model: Architecture | None = None
    layers: int = 1
    vocabulary: int | None = None
    kv_budget: int | None = None
    weight_bits: float | None = None
    round_s: float = 0.0
    method: Method | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {self.kind!r}.")
        if (self.model is None) == (self.kind == "model"):
            raise ValueError("model must be given for the kind 'model', and for no other.")
        if self.kind == "self" and self.kv_budget is None:
            raise ValueError(
                "kv_budget must be given for the kind 'self': what it reads of the cache."
            )
        as_count("layers", self.layers, least=1)
        for name in ("vocabulary", "kv_budget"):
            if getattr(self, name) is not None:
                as_count(name, getattr(self, name), least=1)
        as_nonnegative("round_s", self.round_s)

    @property
    def shape(self) -> Shape:
        """Chain, block or lookup."""
        return {"block": "block", "lookup": "lookup"}.get(self.kind, "chain")  # type: ignore[return-value]

    @property
    def called(self) -> Method:
        """The method, the usual one of the kind if none was given."""
        usual: dict[Kind, Method] = {
            "model": "draft_model", "head": "eagle", "block": "block", "lookup": "ngram",
            "self": "other",
        }  # fmt: skip
        return self.method or usual[self.kind]

    def architecture(self, target: Architecture) -> Architecture | None:
        """The model that drafts; None for a lookup."""
        if self.kind == "lookup":
            return None
        if self.kind == "self":
            return target
        return self.model or target.draft_head(layers=self.layers, vocabulary=self.vocabulary)


def deploy(
    target: Architecture,
    machine: Machine,
    draft: DraftKind,
    acceptance: Fit,
    *,
    name: str | None = None,
    weight_bits: float = 16.0,
    kv_bits: float = 16.0,
    overhead_s: float = 0.0,
    draft_overlap: float = 0.0,
) -> Deployment:
    """The deployment whose passes are predicted from bytes and operations, with its memory.

    Heads and models take memory for their weights and their cache; heads of keys and values that several
    devices keep count on each. A draft that is the target itself
    takes none for weights; its short cache is a second one, of at most `kv_budget` tokens, cut out of
    the target's when the prompt was read (MagicDec, Chen et al. 2024, keeps it so). Raises ValueError as
    `predict_pass`, `Memory` and `Deployment` do.
    """
    drafter = draft.architecture(target)
    bits = weight_bits if draft.weight_bits is None else draft.weight_bits
    step = None
    if drafter is not None:
        step = predict_pass(
            drafter, machine, weight_bits=bits, kv_bits=kv_bits, kv_budget=draft.kv_budget
        )
    own = None if draft.kind == "self" else drafter
    return Deployment(
        name=name or f"{target.name}, {draft.called}",
        target=predict_pass(target, machine, weight_bits=weight_bits, kv_bits=kv_bits),
        drafting=Drafting(
            shape=draft.shape, step=step, round_s=draft.round_s, reads_prompt=draft.kind != "self"
        ),
        acceptance=acceptance,
        overhead_s=overhead_s,
        draft_overlap=draft_overlap,
        memory=Memory(
            capacity_bytes=machine.memory_bytes,
            target_bytes=target.parameters * weight_bits / 8.0,
            target_kv_bytes=target.kv_numbers_on(machine.devices) * kv_bits / 8.0,
            draft_bytes=0.0 if own is None else own.parameters * bits / 8.0,
            draft_kv_bytes=0.0
            if drafter is None
            else drafter.kv_numbers_on(machine.devices) * kv_bits / 8.0,
            draft_kv_budget=draft.kv_budget,
        ),
        method=draft.called,
    )
