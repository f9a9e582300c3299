"""Train the tiny pair: `python -m real_runs.tiny.train`.

Fixed seeds, a fixed number of steps, sources checked against the manifest. Weights are stored in
half precision. On two idle cores the target takes about forty minutes and the draft three; another
machine or version of torch rounds differently, so retrained weights are equal in kind and not bit
for bit. `--judge` trains nothing and prints the held-out losses of the bundled weights.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from real_runs.tiny.architecture import (
    CONTEXT,
    NAMES,
    SEPARATOR,
    build_model,
    build_tokenizer,
    folder_of,
)
from real_runs.tiny.corpus import (
    is_same,
    library_folder,
    read_file,
    read_manifest,
    scan,
    write_manifest,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one model is trained; learning rates as for AdamW, windows of CONTEXT bytes."""

    steps: int
    batch: int = 8  # [windows]
    peak_rate: float = 3e-3
    warm_up: int = 50  # [steps]
    weight_decay: float = 0.02
    seed: int = 0


RECIPES = {"target": Recipe(steps=2600), "draft": Recipe(steps=3000, seed=1)}


def read_corpus(*, held_out: bool, any_version: bool = False) -> list[bytes]:
    """The files of one side of the split, in the manifest's order.

    Raises ValueError if this Python's sources are not those of the manifest, unless any version
    will do.
    """
    contents = []
    for file in read_manifest():
        if file.held_out == held_out:
            content = read_file(file)
            if not (any_version or is_same(file, content)):
                raise ValueError(
                    f"{file.path} must be as in the manifest; it comes from another version of "
                    "Python (--any-version trains on this one)."
                )
            contents.append(content)
    return contents


def as_tokens(contents: list[bytes]) -> torch.Tensor:
    """All files in one line of tokens, each opened by the separator. Shape [tokens]."""
    parts = []
    for content in contents:
        parts.append(np.array([SEPARATOR], dtype=np.int64))
        parts.append(np.frombuffer(content, dtype=np.uint8).astype(np.int64))
    return torch.from_numpy(np.concatenate(parts))


def train(name: str, tokens: torch.Tensor, recipe: Recipe) -> Any:
    """Train a model of the pair on windows drawn at random from the tokens."""
    torch.manual_seed(recipe.seed)
    generator = torch.Generator().manual_seed(recipe.seed)
    model = build_model(name)
    optimizers = optimizers_of(model, peak_rate=recipe.peak_rate, weight_decay=recipe.weight_decay)
    schedulers = [
        torch.optim.lr_scheduler.LambdaLR(o, lambda step: _rate(step, recipe)) for o in optimizers
    ]
    started = time.perf_counter()
    for step in range(recipe.steps):
        first = torch.randint(len(tokens) - CONTEXT - 1, (recipe.batch, 1), generator=generator)
        windows = tokens[first + torch.arange(CONTEXT + 1)]  # [batch, CONTEXT + 1]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(input_ids=windows[:, :-1], use_cache=False).logits
        loss = torch.nn.functional.cross_entropy(
            logits.float().flatten(0, 1), windows[:, 1:].flatten()
        )
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer, scheduler in zip(optimizers, schedulers, strict=True):
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            scheduler.step()
        if step % 20 == 0 or step == recipe.steps - 1:
            print(  # noqa: T201 — progress on stderr
                f"{name}: step {step + 1} of {recipe.steps}, loss {loss.item():.3f} nats/byte, "
                f"{time.perf_counter() - started:.0f} s",
                file=sys.stderr,
                flush=True,
            )
    return model


def optimizers_of(
    model: Any, *, peak_rate: float, weight_decay: float
) -> list[torch.optim.Optimizer]:
    """Muon for matrices, AdamW for vectors and rows per token."""
    matrices: list[torch.nn.Parameter] = []
    others: list[torch.nn.Parameter] = []
    for key, parameter in model.named_parameters():
        (matrices if parameter.ndim == 2 and "embed" not in key else others).append(parameter)
    return [
        torch.optim.Muon(
            matrices, lr=peak_rate, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw"
        ),
        torch.optim.AdamW(others, lr=peak_rate, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def held_out_loss(model: Any, contents: list[bytes], *, every: int = 1) -> float:
    """Mean loss on files that were not trained on [nats/byte], in windows that start afresh.

    `every` takes one window of so many, for a quicker look.
    """
    tokens = as_tokens(contents)
    count = (len(tokens) - 1) // CONTEXT
    inputs = tokens[: count * CONTEXT].view(count, CONTEXT)[::every]
    labels = tokens[1 : count * CONTEXT + 1].view(count, CONTEXT)[::every]
    count = len(inputs)
    total = 0.0
    with torch.inference_mode():
        for first in range(0, count, 32):
            logits = model(input_ids=inputs[first : first + 32], use_cache=False).logits
            wanted = labels[first : first + 32].flatten()
            total += torch.nn.functional.cross_entropy(
                logits.flatten(0, 1), wanted, reduction="sum"
            ).item()
    return total / (count * CONTEXT)


def load(name: str) -> Any:
    """A bundled model in single precision."""
    from transformers import LlamaForCausalLM  # noqa: PLC0415 — costs seconds

    return LlamaForCausalLM.from_pretrained(folder_of(name), dtype=torch.float32).eval()


def save(name: str, model: Any) -> None:
    """Write weights (half precision), configuration and tokenizer into the package."""
    folder = folder_of(name)
    model.half().save_pretrained(folder)
    build_tokenizer().save_pretrained(folder)


def _rate(step: int, recipe: Recipe) -> float:
    """Linear warm-up, then half a cosine down to a twentieth."""
    if step < recipe.warm_up:
        return (step + 1) / recipe.warm_up
    done = (step - recipe.warm_up) / max(recipe.steps - recipe.warm_up, 1)
    return 0.05 + 0.95 * 0.5 * (1.0 + math.cos(math.pi * done))


def main() -> None:
    """Train one or both models and print their held-out losses."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("names", nargs="*", default=list(NAMES), metavar="target|draft")
    parser.add_argument("--new-manifest", action="store_true", help="take this Python's sources")
    parser.add_argument("--any-version", action="store_true", help="do not check the sources")
    parser.add_argument("--steps", type=int, help="fewer steps than the recipe, for a trial")
    parser.add_argument("--dry-run", action="store_true", help="train and judge, store nothing")
    parser.add_argument("--judge", action="store_true", help="judge the bundled weights only")
    arguments = parser.parse_args()
    if arguments.new_manifest:
        write_manifest(scan(library_folder()))
    held_out = read_corpus(held_out=True, any_version=arguments.any_version)
    if arguments.judge:
        for name in arguments.names:
            loss = held_out_loss(load(name), held_out)
            print(f"{name}: held-out loss {loss:.4f} nats/byte")  # noqa: T201
        return
    tokens = as_tokens(read_corpus(held_out=False, any_version=arguments.any_version))
    for name in arguments.names:
        recipe = RECIPES[name]
        if arguments.steps:
            recipe = Recipe(steps=arguments.steps, batch=recipe.batch, seed=recipe.seed)
        model = train(name, tokens, recipe).eval()
        print(f"{name}: held-out loss {held_out_loss(model, held_out):.4f} nats/byte")  # noqa: T201
        if not arguments.dry_run:
            save(name, model)


if __name__ == "__main__":
    main()
