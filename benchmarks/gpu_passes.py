"""Passes over n new tokens of each request: with a growing cache, or a static one and a CUDA graph.

A pass has `tokens` and `chosen`, both [batch, n], and `run(start)`: it reads its tokens behind the
first `start` cached ones. What the cache held behind them is rolled back by that.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch
from gpu_stack import Shape, Stack

WARM_UPS = 3
STEP = 64  # static caches end at a multiple of it, which attention's kernels like


class GrowingCache:
    """Keys and values that are copied into a longer tensor with every pass; rolled back by a view."""

    def __init__(self, stack: Stack, batch: int) -> None:
        shape = stack.shape
        self.stack, self.length = stack, 0
        empty = torch.empty(
            batch, shape.kv_heads, 0, shape.head_size, device=stack.device, dtype=stack.dtype
        )
        self.kv = [(empty, empty)] * shape.layers

    def fill(self, length: int) -> None:
        """As if so many tokens had been read."""
        self.length = length
        batch = self.kv[0][0].shape[0]
        self.kv = [_random_kv(self.stack, batch, length) for _ in self.kv]

    def rollback(self, length: int) -> None:
        """Keep the first `length` tokens."""
        if length > self.length:
            raise ValueError(
                f"length must be at most the {self.length} cached tokens; got {length}."
            )
        self.length = length
        self.kv = [(keys[:, :, :length], values[:, :, :length]) for keys, values in self.kv]

    def extended(self, layer: int, keys: torch.Tensor, values: torch.Tensor):
        old_keys, old_values = self.kv[layer]
        self.kv[layer] = (torch.cat((old_keys, keys), 2), torch.cat((old_values, values), 2))
        return self.kv[layer]

    def begin(self, positions: torch.Tensor, group: int) -> torch.Tensor | None:
        """A pass over these positions begins; the mask of what each may see."""
        count = positions.shape[0]
        columns = torch.arange(self.length + count, device=positions.device)
        self.length += count
        return None if count == 1 else _mask(columns, positions, group, self.stack.dtype)


class StaticCache:
    """Keys and values of a fixed capacity; tokens behind the length are masked, so nothing moves."""

    def __init__(self, stack: Stack, batch: int, capacity: int) -> None:
        self.stack, self.capacity = stack, -(-capacity // STEP) * STEP
        # Random as a whole: an unset slot could hold NaN, which no mask hides.
        layers = range(stack.shape.layers)
        self.kv = [_random_kv(stack, batch, self.capacity) for _ in layers]
        self.columns = torch.arange(self.capacity, device=stack.device)
        self.positions: torch.Tensor | None = None

    def extended(self, layer: int, keys: torch.Tensor, values: torch.Tensor):
        all_keys, all_values = self.kv[layer]
        all_keys.index_copy_(2, self.positions, keys)
        all_values.index_copy_(2, self.positions, values)
        return all_keys, all_values

    def begin(self, positions: torch.Tensor, group: int) -> torch.Tensor:
        """A pass over these positions begins; the mask of what each may see."""
        self.positions = positions
        return _mask(self.columns, positions, group, self.stack.dtype)


class GrowingPass:
    """Eager, with a growing cache."""

    def __init__(self, stack: Stack, cache: GrowingCache, batch: int, count: int) -> None:
        self.stack, self.cache = stack, cache
        self.tokens, self.chosen = _token_buffers(stack, batch, count)

    def run(self, start: int) -> None:
        self.cache.rollback(start)
        positions = torch.arange(start, start + self.tokens.shape[1], device=self.stack.device)
        logits = self.stack.forward(self.tokens, positions, self.cache)
        self.chosen.copy_(logits.argmax(-1))


class StaticPass:
    """With a static cache; on a GPU captured once as a CUDA graph and replayed.

    The graph reads and writes only tensors that live as long as the pass: tokens, positions, weights
    and cache. Its logits stay in its own memory; what was chosen is copied out.
    """

    def __init__(self, stack: Stack, cache: StaticCache, batch: int, count: int) -> None:
        self.stack, self.cache = stack, cache
        self.tokens, self.chosen = _token_buffers(stack, batch, count)
        self.positions = cache.columns[:count].clone()
        self.graph = captured(self.step, stack.device) if stack.device.type == "cuda" else None

    def step(self) -> None:
        logits = self.stack.forward(self.tokens, self.positions, self.cache)
        self.chosen.copy_(logits.argmax(-1))

    def run(self, start: int) -> None:
        count = self.tokens.shape[1]
        if start + count > self.cache.capacity:
            raise ValueError(
                f"start must leave room for {count} of {self.cache.capacity} tokens; got {start}."
            )
        self.positions.copy_(self.cache.columns[start : start + count])
        if self.graph is None:
            self.step()
        else:
            self.graph.replay()


class IdlePass:
    """The buffers of a pass without the pass: what is left of a loop that runs it is overhead."""

    def __init__(self, stack: Stack, batch: int, count: int) -> None:
        self.tokens, self.chosen = _token_buffers(stack, batch, count)

    def run(self, start: int) -> None:
        """Nothing."""


def captured(work: Callable[[], None], device: torch.device) -> torch.cuda.CUDAGraph:
    """`work` as a CUDA graph, after a warm-up on a side stream as capturing asks for.

    Each graph has memory of its own, so that replaying one never touches what another chose.
    """
    main, side = torch.cuda.current_stream(device), _side_stream(device)
    side.wait_stream(main)
    with torch.cuda.stream(side):
        for _ in range(WARM_UPS):
            work()
    main.wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    # `graph` waits for the device and empties the allocator's cache first. Where ending a capture
    # fails, as after running out of memory in it, it leaves its own stream behind: the outer
    # context puts the old one back.
    with torch.cuda.stream(main), torch.cuda.graph(graph):
        work()
    return graph


@functools.cache
def _side_stream(device: torch.device) -> torch.cuda.Stream:
    """One for all: every stream keeps a workspace of cuBLAS for good."""
    return torch.cuda.Stream(device)


def _token_buffers(stack: Stack, batch: int, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    tokens = torch.randint(stack.shape.vocabulary, (batch, count), device=stack.device)
    return tokens, torch.zeros_like(tokens)


def _random_kv(stack: Stack, batch: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    shape: Shape = stack.shape
    size = (batch, shape.kv_heads, length, shape.head_size)
    keys = torch.randn(size, device=stack.device, dtype=stack.dtype)
    return keys, torch.randn(size, device=stack.device, dtype=stack.dtype)


def _mask(columns: torch.Tensor, positions: torch.Tensor, group: int, dtype: torch.dtype):
    """0 where a token may look and -inf elsewhere, [group · tokens, columns]."""
    hidden = columns[None, :] > positions[:, None]
    mask = torch.zeros(hidden.shape, device=columns.device, dtype=dtype)
    return mask.masked_fill_(hidden, float("-inf")).repeat(group, 1)
