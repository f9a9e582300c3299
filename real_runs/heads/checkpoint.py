"""A training that was stopped, to be continued: weights, optimisers, loss curve, nothing pickled."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn

_WEIGHT, _OPTIMIZER = "weight/", "optimizer/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progressed:
    """How far a training is: steps done, and the losses of all of them."""

    steps: int
    losses: tuple[float, ...]


def save_checkpoint(
    path: Path,
    module: nn.Module,
    optimizers: list[torch.optim.Optimizer],
    *,
    losses: list[float],
    settings: str,
) -> None:
    """Write the state behind the last step; a reader sees the old file or the new one, whole."""
    tensors = {f"{_WEIGHT}{key}": value for key, value in module.state_dict().items()}
    for number, optimizer in enumerate(optimizers):
        for index, state in optimizer.state_dict()["state"].items():
            for key, value in state.items():
                tensors[f"{_OPTIMIZER}{number}/{index}/{key}"] = torch.as_tensor(value)
    metadata = {"settings": settings, "losses": json.dumps(losses)}
    fresh = path.with_suffix(".new")
    save_file({key: value.contiguous() for key, value in tensors.items()}, fresh, metadata)
    with fresh.open("rb+") as stream:
        os.fsync(stream.fileno())
    fresh.replace(path)


def _losses(text: str) -> list[float]:
    """TypeError, as for all else that cannot be read, for what is no list of numbers."""
    try:
        return [float(loss) for loss in json.loads(text)]
    except (ValueError, RecursionError):
        raise TypeError("its losses are no list of numbers") from None


def load_checkpoint(
    path: Path,
    module: nn.Module,
    optimizers: list[torch.optim.Optimizer],
    *,
    settings: str,
) -> Progressed:
    """Put the state of a checkpoint into module and optimisers.

    Raises ValueError for a damaged file, and for one of other settings.
    """
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            if metadata.get("settings") != settings:
                raise ValueError(
                    f"{path} must be of this recipe, these sizes and this text; it was begun with "
                    "others, so begin anew without --resume or in another folder."
                )
            losses = _losses(metadata["losses"])
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - no dict
        weights = {
            key.removeprefix(_WEIGHT): value
            for key, value in tensors.items()
            if key.startswith(_WEIGHT)
        }
        states: list[dict[int, dict[str, torch.Tensor]]] = [{} for _ in optimizers]
        for key, value in tensors.items():
            if key.startswith(_OPTIMIZER):
                number, index, name = key.removeprefix(_OPTIMIZER).split("/")
                states[int(number)].setdefault(int(index), {})[name] = value
        module.load_state_dict(weights)
        for optimizer, state in zip(optimizers, states, strict=True):
            groups = optimizer.state_dict()["param_groups"]
            optimizer.load_state_dict({"state": state, "param_groups": groups})
    except (SafetensorError, OSError, KeyError, IndexError, TypeError, RuntimeError) as error:
        raise ValueError(
            f"{path} must be a checkpoint; it cannot be read ({str(error).splitlines()[0]})."
        ) from None
    return Progressed(steps=len(losses), losses=tuple(losses))
