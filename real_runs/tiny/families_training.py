"""Train drafts of one shape on windows of text, and let the target write or teach such windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from real_runs.models.cache import growing_cache
from real_runs.tiny.architecture import CONTEXT, build_model
from real_runs.tiny.families_results import FamilyRecipe
from real_runs.tiny.train import optimizers_of

_ROWS_AT_ONCE = 100  # texts that the target writes side by side
_WINDOWS_AT_ONCE = 16
_CLIP = 1.0
_WARM_UP = 30  # [steps]
_WEIGHT_DECAY = 0.02  # of matrices


def choose_windows(tokens: torch.Tensor, count: int, *, seed: int) -> torch.Tensor:
    """`count` windows that do not overlap, drawn from a line of tokens; [count, CONTEXT + 1].

    Raises ValueError if the text is too short for them.
    """
    width = CONTEXT + 1
    room = len(tokens) // width
    if room < count:
        raise ValueError(f"windows must be at most {room}, as the text has no more; got {count}.")
    chosen = np.sort(np.random.default_rng(seed).permutation(room)[:count])
    return tokens[: room * width].view(room, width)[torch.from_numpy(chosen)]


@torch.inference_mode()
def write_behind(
    model: Any, prompts: torch.Tensor, new_tokens: int, *, seed: int | None
) -> torch.Tensor:
    """What a model writes behind prompts of one length, [rows, n] to [rows, n + new_tokens].

    Sampled at temperature 1 from the seed; greedy where it is None. Nothing stops at a separator.
    """
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    return torch.cat(
        [
            _write_block(model, block, new_tokens, generator)
            for block in torch.split(prompts, _ROWS_AT_ONCE)
        ]
    )


def _write_block(
    model: Any, prompts: torch.Tensor, new_tokens: int, generator: torch.Generator | None
) -> torch.Tensor:
    cache = growing_cache(model.config)
    text = [prompts]
    for _ in range(new_tokens):
        logits = model(
            input_ids=text[-1], cache=cache, use_cache=True, logits_to_keep=1
        ).logits[:, -1]  # fmt: skip
        if generator is None:
            chosen = logits.argmax(-1, keepdim=True)
        else:
            chosen = torch.multinomial(logits.softmax(-1), 1, generator=generator)
        text.append(chosen)
    return torch.cat(text, dim=1)


@torch.inference_mode()
def teach(model: Any, windows: torch.Tensor) -> torch.Tensor:
    """What a model expects next at every place of windows, in half precision: [n, CONTEXT, vocabulary]."""
    return torch.cat(
        [
            model(input_ids=block[:, :-1], use_cache=False).logits.softmax(-1).half()
            for block in torch.split(windows, _WINDOWS_AT_ONCE)
        ]
    )


def train_draft(
    windows: torch.Tensor,
    recipe: FamilyRecipe,
    *,
    seed: int,
    steps: int,
    taught: torch.Tensor | None = None,
) -> Any:
    """A draft trained for `steps` on windows drawn at random, from scratch.

    It learns the windows' own tokens or, where given, the distributions that the target has `taught`
    for them (cross-entropy in both cases, Hinton et al. 2015 for the latter). `seed` rules the
    first weights and the order of the windows.
    """
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = build_model("draft")
    optimizers = optimizers_of(model, peak_rate=recipe.peak_rate, weight_decay=_WEIGHT_DECAY)
    schedulers = [
        torch.optim.lr_scheduler.LambdaLR(one, lambda step: _share_of_peak(step, steps))
        for one in optimizers
    ]
    for _ in range(steps):
        rows = torch.randint(len(windows), (recipe.batch,), generator=generator)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(input_ids=windows[rows, :-1], use_cache=False).logits
        wanted = windows[rows, 1:] if taught is None else taught[rows].float()
        loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), wanted.flatten(0, 1))
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), _CLIP)
        for optimizer, scheduler in zip(optimizers, schedulers, strict=True):
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            scheduler.step()
    return model.eval()


def _share_of_peak(step: int, steps: int) -> float:
    """Up in a straight line, then down in one."""
    return min((step + 1) / _WARM_UP, max(1.0 - step / steps, 0.02))
