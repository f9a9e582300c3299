"""Passes of a model over several texts at once, for the states alone: its output layer never runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from real_runs.heads.states_file import HalfArray
from real_runs.models.causal import CausalTarget
from simulator._checks import IntArray


def passes(indices: Sequence[int], lengths: Sequence[int], pass_tokens: int) -> Iterator[list[int]]:
    """Texts in groups of similar length, longest first: a lack of memory shows at once."""
    rows: list[int] = []
    for index in sorted(indices, key=lengths.__getitem__, reverse=True):
        if rows and (len(rows) + 1) * lengths[rows[0]] > pass_tokens:
            yield rows
            rows = []
        rows.append(index)
    if rows:
        yield rows


@torch.inference_mode()
def states_of(target: CausalTarget, texts: Sequence[IntArray]) -> list[HalfArray]:
    """States of several texts, padded on the right, where no real token looks."""
    ids = torch.zeros(len(texts), max(map(len, texts)), dtype=torch.int64)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = torch.from_numpy(text)
    output = target.model.base_model(input_ids=ids.to(target.device), use_cache=False)
    hidden = output.last_hidden_state.half().cpu().numpy()
    result = [hidden[row, : len(text)] for row, text in enumerate(texts)]
    if not all(np.isfinite(rows).all() for rows in result):
        raise ValueError(
            f"the states of {target.identity.name} must fit half precision; one exceeds 65504."
        )
    return result
