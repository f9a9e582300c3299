"""What heads borrow from their target: its embedding and rows of its output layer."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from simulator._checks import IntArray


def embedding_of(model: Any) -> torch.Tensor:
    """The vector that every token enters the model with, [vocabulary, width].

    The module is asked, not its weight: some models scale what they look up.
    """
    module = model.get_input_embeddings()
    with torch.no_grad():
        vectors: torch.Tensor = module(torch.arange(module.num_embeddings, device=model.device))
    return vectors.detach()


def output_rows_of(model: Any, tokens: IntArray) -> torch.Tensor:
    """Rows of the output layer for some tokens, [n, width].

    Raises ValueError for a model whose output layer adds a bias: a head would lack it.
    """
    layer = model.get_output_embeddings()
    if getattr(layer, "bias", None) is not None:
        raise ValueError(
            f"heads need a target whose output layer is one matrix; that of {type(model).__name__} "
            "adds a bias."
        )
    rows: torch.Tensor = layer.weight.detach()[torch.from_numpy(tokens).to(layer.weight.device)]
    return rows


def common_tokens(texts: list[IntArray], *, vocabulary: int, most: int) -> IntArray:
    """The `most` commonest tokens of some texts, by id; of equally common ones the smaller ids.

    A draft over them is as lossless as over all: the others have draft probability 0. FR-Spec
    (Zhao et al. 2025, arXiv:2502.14856) drafts from a quarter of the vocabulary that way.

    >>> common_tokens([np.array([7, 7, 3]), np.array([3, 9])], vocabulary=10, most=2)
    array([3, 7])
    """
    counts = np.zeros(vocabulary, dtype=np.int64)
    for text in texts:
        counts += np.bincount(text, minlength=vocabulary)
    by_count = np.argsort(-counts, kind="stable")[:most]
    return np.sort(by_count[counts[by_count] > 0])


def places_of(tokens: IntArray, *, vocabulary: int) -> IntArray:
    """Where each token of the vocabulary stands among `tokens`; -1 where it does not.

    >>> places_of(np.array([1, 3]), vocabulary=4)
    array([-1,  0, -1,  1])
    """
    places = np.full(vocabulary, -1, dtype=np.int64)
    places[tokens] = np.arange(len(tokens))
    return places
