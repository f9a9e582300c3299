"""A cache that is written in place: transformers' own is copied whole for every token."""

from __future__ import annotations

from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

FIRST_CAPACITY = 256  # [tokens]


class Store:
    """One tensor for the keys and values of all layers, [layers, 2, ..., capacity, width].

    Moving entries then takes two operations, and not two for each of many buffers. Layers of other
    shapes than the first one's get buffers of their own.
    """

    def __init__(self, layers: int) -> None:
        self.layers = layers
        self.states: torch.Tensor | None = None

    def buffers(
        self, layer: int, keys: torch.Tensor, values: torch.Tensor, capacity: int
    ) -> tuple[list[torch.Tensor], torch.Tensor | None]:
        """Room for the keys and values of a layer, and the tensor that the room is part of, if any."""
        shape = (*keys.shape[:-2], capacity, keys.shape[-1])
        if layer == 0 and keys.shape == values.shape:
            self.states = keys.new_empty((self.layers, 2, *shape))
        states = self.states
        fits = states is not None and states.shape[2:] == shape and keys.shape == values.shape
        if states is not None and fits and states.dtype == keys.dtype:
            return list(states[layer]), states
        return [
            part.new_empty((*part.shape[:-2], capacity, part.shape[-1])) for part in (keys, values)
        ], None


class GrowingLayer(DynamicLayer):  # type: ignore[misc]
    """Keys and values of one layer in buffers that double; `keys` and `values` are views of them.

    Forgetting the last tokens moves the end of the views. What lies behind it is overwritten by the
    next tokens, before anything can read it.
    """

    def __init__(self, store: Store | None = None, index: int = 0, **options: Any) -> None:
        super().__init__(**options)
        self.shared: torch.Tensor | None = None  # what the buffers are a part of
        self._store, self._index = Store(1) if store is None else store, index
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

    def move(self, sources: torch.Tensor, to: int) -> None:
        """Copy the entries at `sources` [n] to the places from `to` on."""
        for buffer in self._buffers:
            _move(buffer, sources, to)

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        """Keep these rows of a batch only."""
        start = self.get_seq_length()
        self.shared = self._store.states = None
        self._buffers = [buffer[indices] for buffer in self._buffers]
        self.keys, self.values = (buffer[..., :start, :] for buffer in self._buffers)

    def _grow(
        self, key_states: torch.Tensor, value_states: torch.Tensor, start: int, capacity: int
    ) -> None:
        """Buffers of another capacity, with the first `start` tokens of the old ones."""
        old = self._buffers
        self._buffers, self.shared = self._store.buffers(
            self._index, key_states, value_states, capacity
        )
        if start:
            for buffer, before in zip(self._buffers, old, strict=True):
                buffer[..., :start, :] = before[..., :start, :]


def growing_cache(config: Any) -> DynamicCache:
    """An empty cache for a model, plain layers replaced by growing ones; other kinds stay as they are."""
    cache = DynamicCache(config=config)
    store = Store(len(cache.layers))
    cache.layers = [
        GrowingLayer(store, index) if type(layer) is DynamicLayer else layer
        for index, layer in enumerate(cache.layers)
    ]
    return cache


def keep_entries(cache: DynamicCache, first: int, entries: list[int], count: int) -> None:
    """Of the `count` last entries, which begin at `first`, keep some and forget the others.

    `entries` are increasing numbers counted from `first`. A cache of growing layers only.
    """
    in_place = 0
    while in_place < len(entries) and entries[in_place] == in_place:
        in_place += 1
    if in_place < len(entries):
        to = first + in_place
        layers = cache.layers
        shared = layers[0].shared
        with torch.inference_mode():
            sources = torch.tensor(
                [first + entry for entry in entries[in_place:]], device=layers[0].keys.device
            )
            if shared is not None and all(layer.shared is shared for layer in layers):
                _move(shared, sources, to)
            else:
                for layer in layers:
                    layer.move(sources, to)
    if len(entries) < count:
        cache.crop(len(entries) - count)


def _move(states: torch.Tensor, sources: torch.Tensor, to: int) -> None:
    states[..., to : to + len(sources), :] = states.index_select(-2, sources)
