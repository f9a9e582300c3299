"""Many texts at once: greedy continuations of several prompts in one batch, without padding.

The batch reads the length of its shortest prompt in one pass. From then on all rows go token by
token: a row whose prompt has not ended takes the prompt's next token, every other row its own
choice. No row ever sees a token that is not its own, so neither masks nor shifted positions are
needed. Rows that have ended leave the batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from real_runs.models.cache import growing_cache
from real_runs.models.causal import CausalTarget
from simulator._checks import IntArray

SPREAD = 16
"""[tokens] by which prompts of one batch differ at most: each costs a step of the whole batch."""
FULL = 7 / 8
"""Share of rows still writing below which the others are taken out of the cache."""


def similar_lengths(lengths: Sequence[int], *, batch: int) -> Iterator[list[int]]:
    """Indices in batches of prompts that are about equally long, shortest first.

    >>> list(similar_lengths([40, 9, 10, 12], batch=2))
    [[1, 2], [3], [0]]
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    rows: list[int] = []
    for index in order:
        if rows and (len(rows) == batch or lengths[index] - lengths[rows[0]] > SPREAD):
            yield rows
            rows = []
        rows.append(index)
    if rows:
        yield rows


@torch.inference_mode()
def continue_greedily(
    target: CausalTarget, prompts: Sequence[IntArray], *, new_tokens: int
) -> list[IntArray]:
    """Each prompt with what the target writes behind it, at most `new_tokens`.

    A text ends behind the first stop token, which it keeps. The target's own sequence is untouched.
    """
    model, device = target.model, target.device
    lengths = torch.tensor([len(prompt) for prompt in prompts])
    ends = lengths + new_tokens
    text = torch.zeros(len(prompts), int(ends.max()), dtype=torch.int64, device=device)
    for row, prompt in enumerate(prompts):
        text[row, : len(prompt)] = torch.as_tensor(np.asarray(prompt), device=device)
    stops = torch.tensor(target.tokenizer.stop_tokens, dtype=torch.int64, device=device)
    lengths, ends = lengths.to(device), ends.to(device)

    cache = growing_cache(model.config.get_text_config(decoder=True))
    rows = torch.arange(len(prompts), device=device)  # of the texts that are in the cache
    writing = torch.ones_like(rows, dtype=torch.bool)  # of those, which go on
    first, column = 0, int(lengths.min())
    while bool(writing.any()):
        logits = model(
            input_ids=text[rows, first:column],
            position_ids=torch.arange(first, column, device=device)[None].expand(len(rows), -1),
            cache=cache,
            use_cache=True,
            logits_to_keep=1,
        ).logits[:, -1]
        own = writing & (lengths[rows] <= column)
        chosen = logits.argmax(-1)
        text[rows[own], column] = chosen[own]
        first, column = column, column + 1
        stopped = own & torch.isin(chosen, stops)
        ends[rows[stopped]] = column
        writing &= ends[rows] > column
        if int(writing.sum()) < FULL * len(rows) and bool(writing.any()):
            cache.batch_select_indices(writing.nonzero()[:, 0])
            rows, writing = rows[writing], writing[writing]
    texts: list[IntArray] = [text[row, :end].cpu().numpy() for row, end in enumerate(ends.tolist())]
    return texts
