"""A choice as `specdec` takes it: the options that describe a deployment. No Streamlit."""

from __future__ import annotations

import dataclasses
import shlex
from typing import TYPE_CHECKING

from app_pages.deployment import choice as choices
from app_pages.deployment import models as own_models
from app_pages.deployment.address import EXAMPLE
from app_pages.deployment.choice import Choice

if TYPE_CHECKING:
    from app_pages.deployment.log import LastLog

_OWN_DRAFT = "draft/config.json"
"""A draft of one's own is named by its file there: --draft takes no dimensions."""


def options(choice: Choice, log: LastLog | None = None) -> list[str]:
    """The options of `specdec plan`, `explain` and `pass-cost` that describe the deployment."""
    said = ["--target", named(choice.model), "--hardware", hardware(choice)]
    said += ["--draft", draft(choice, log)]
    for name, option in (("weight_bits", "--weight-bits"), ("kv_bits", "--kv-bits")):
        if getattr(choice, name) != getattr(EXAMPLE, name):
            said += [option, f"{getattr(choice, name):g}"]
    if choice.overhead_ms:
        said += ["--overhead-s", f"{choice.overhead_ms / 1e3:.10g}"]
    if choice.hidden:
        said += ["--draft-overlap", f"{choice.hidden:g}"]
    return [*said, "--context", str(choice.context)]


def hardware(choice: Choice) -> str:
    """The machine in the words of --hardware."""
    machine, usual = choice.machine, EXAMPLE.machine
    names = (
        "devices", "memory_share", "operations_share", "overlap", "fixed_s", "layer_s", "token_s"
    )  # fmt: skip
    said = [
        f"{name}={getattr(machine, name):.10g}"
        for name in names
        if getattr(machine, name) != getattr(usual, name)
    ]
    return " ".join([*_device(choice), *said])


def _device(choice: Choice) -> list[str]:
    if choice.card != choices.OWN_CARD:
        return [named(choice.card)]
    own = choice.accelerator
    names = ("memory_bytes_per_s", "operations_per_s", "memory_bytes", "link_bytes_per_s")
    return [f"{name}={getattr(own, name):.10g}" for name in names if getattr(own, name)]


def draft(choice: Choice, log: LastLog | None = None) -> str:
    """The draft and its acceptance in the words of --draft; of a log with what was known beside it."""
    if choice.drafter == "chain":
        said = [f"chain cost_ratio={choice.cost_ratio:g}"]
    elif choice.drafter == "model":
        name = choices.draft_name(choice)
        said = [_OWN_DRAFT if own_models.is_own(name) else named(name)]
    else:
        said = [choice.drafter]
    if choice.drafter == "self":
        said.append(f"kv_budget={choice.kept}")
    if choices.has_layers(choice) and choice.layers != 1:
        said.append(f"layers={choice.layers}")
    if choice.accept == "p":
        said.append(f"p={choice.p:.10g}")
    elif choice.accept == "depth":
        said.append(f"by_depth={','.join(f'{value:.6g}' for value in choice.depths)}")
    else:
        said.append("log=engine.log")
        if log is not None:
            beside = {"log_gamma": log.facts.gamma, "engine": log.engine, "layout": log.layout}
            said += [shlex.quote(f"{key}={value}") for key, value in beside.items() if value]
    return " ".join(said)


def other_draft(choice: Choice, drafter: choices.Drafter, p: float) -> str:
    """A draft that the chosen one is compared with, in the words of --draft."""
    return draft(dataclasses.replace(choice, drafter=drafter, accept="p", p=p))


def named(name: str) -> str:
    """A name for --target and its like: an apostrophe would open a quote there."""
    return name.replace("'", "").replace('"', "")
