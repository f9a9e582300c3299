"""Gradient descent on heads, resumable: the loop, its optimisers, its checkpoints."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import torch
from torch import nn

from real_runs.heads.checkpoint import load_checkpoint, save_checkpoint
from real_runs.heads.losses import Lesson
from real_runs.heads.recipe import Recipe

_LARGEST_NORM = 1.0
_EVERY_S = 60.0
_OUTPUT = "outputs"  # of a head's parameters, those that are rows per token


@dataclass(frozen=True, slots=True, kw_only=True)
class LossCurve:
    """Mean losses over stretches of steps: up to which step, and the mean since the one before."""

    steps: tuple[int, ...]
    losses: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.steps or len(self.steps) != len(self.losses):
            raise ValueError(
                "steps and losses must be as many, at least one; got "
                f"{len(self.steps)} and {len(self.losses)}."
            )


def train(
    lesson: Lesson,
    recipe: Recipe,
    *,
    checkpoint: Path | None = None,
    settings: str = "",
    every_s: float = _EVERY_S,
    progress: Callable[[float], None] | None = None,
) -> tuple[float, ...]:
    """Train a lesson's module by its recipe; the loss of every step.

    Muon (Jordan et al. 2024; in torch since 2.9) moves matrices, AdamW vectors and rows per token.
    With a `checkpoint` the state is written every `every_s` seconds and found there again: a
    continued training has the losses of an uninterrupted one. `settings` are what both must share.

    Raises ValueError for a checkpoint of other settings or a damaged one, and for a loss that is no
    number.
    """
    module = lesson.module.train()
    optimizers = _optimizers(module, recipe)
    losses: list[float] = []
    if checkpoint is not None and checkpoint.exists():
        losses += load_checkpoint(checkpoint, module, optimizers, settings=settings).losses
    written = time.monotonic()
    for step in range(len(losses), recipe.steps):
        loss = lesson.loss(step)
        value = loss.item()
        if not torch.isfinite(loss):
            raise ValueError(f"the loss must stay finite; it is {value} at step {step + 1}.")
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(module.parameters(), _LARGEST_NORM)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = recipe.peak_rate * recipe.rate(step)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        losses.append(value)
        if progress is not None:
            progress(len(losses) / recipe.steps)
        if checkpoint is not None and time.monotonic() - written > every_s:
            save_checkpoint(checkpoint, module, optimizers, losses=losses, settings=settings)
            written = time.monotonic()
    if checkpoint is not None:
        save_checkpoint(checkpoint, module, optimizers, losses=losses, settings=settings)
    module.eval()
    return tuple(losses)


def loss_curve(losses: tuple[float, ...], *, points: int = 50) -> LossCurve:
    """At most `points` means over equal stretches of steps.

    >>> loss_curve((4.0, 2.0, 1.0, 1.0), points=2)
    LossCurve(steps=(2, 4), losses=(3.0, 1.0))
    """
    size = max(1, -(-len(losses) // points))
    parts = [losses[first : first + size] for first in range(0, len(losses), size)]
    return LossCurve(
        steps=tuple(accumulate(map(len, parts))),
        losses=tuple(sum(part) / len(part) for part in parts),
    )


def _optimizers(module: nn.Module, recipe: Recipe) -> list[torch.optim.Optimizer]:
    matrices: list[nn.Parameter] = []
    others: list[nn.Parameter] = []
    for key, parameter in module.named_parameters():
        is_matrix = parameter.ndim == 2 and not key.startswith(_OUTPUT)
        (matrices if is_matrix else others).append(parameter)
    optimizers: list[torch.optim.Optimizer] = []
    if matrices:
        optimizers.append(
            torch.optim.Muon(
                matrices,
                lr=recipe.peak_rate,
                weight_decay=recipe.weight_decay,
                adjust_lr_fn="match_rms_adamw",
            )
        )
    if others:
        optimizers.append(
            torch.optim.AdamW(others, lr=recipe.peak_rate, betas=(0.9, 0.95), weight_decay=0.0)
        )
    return optimizers
