"""A cache that is written in place: transformers' own is copied whole for every token."""

from __future__ import annotations

from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

FIRST_CAPACITY = 256  # [tokens]


class GrowingLayer(DynamicLayer):  # type: ignore[misc]
    """Keys and values of one layer in buffers that double; `keys` and `values` are views of them.

    Forgetting the last tokens moves the end of the views. What lies behind it is overwritten by the
    next tokens, before anything can read it.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._buffers: list[torch.Tensor] = []

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append the states [1, heads, n, width] of n tokens; all states so far."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        start = self.get_seq_length()
        end = start + key_states.shape[-2]
        if not self._buffers or end > self._buffers[0].shape[-2]:
            self._grow(key_states, value_states, start, max(FIRST_CAPACITY, 2 * end))
        for buffer, states in zip(self._buffers, (key_states, value_states), strict=True):
            buffer[..., start:end, :] = states
        self.keys, self.values = (buffer[..., :end, :] for buffer in self._buffers)
        return self.keys, self.values

    def _grow(
        self, key_states: torch.Tensor, value_states: torch.Tensor, start: int, capacity: int
    ) -> None:
        """Buffers of another capacity, with the first `start` tokens of the old ones."""
        old, self._buffers = self._buffers, []
        for index, states in enumerate((key_states, value_states)):
            buffer = states.new_empty((*states.shape[:-2], capacity, states.shape[-1]))
            if start:
                buffer[..., :start, :] = old[index][..., :start, :]
            self._buffers.append(buffer)


def growing_cache(config: Any) -> DynamicCache:
    """An empty cache for a model, plain layers replaced by growing ones; other kinds stay as they are."""
    cache = DynamicCache(config=config)
    cache.layers = [
        GrowingLayer() if type(layer) is DynamicLayer else layer for layer in cache.layers
    ]
    return cache
