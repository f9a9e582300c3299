"""A decoder stack in plain torch with random weights, in the shapes of real models; what it must move.

RMSNorm, rotary positions, grouped-query attention, SwiGLU and an output layer, as in Llama 3. Weights
are random: the time of a pass depends on their sizes, not on what the model would say.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn import functional

ROPE_BASE = 500_000.0
EPSILON = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Sizes of a decoder stack; a tied one reads its embedding table as its output layer."""

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    width: int
    vocabulary: int
    tied: bool

    @property
    def layer_weights(self) -> int:
        """Elements of the matrices of one layer."""
        attention = 2 * self.hidden * (self.heads + self.kv_heads) * self.head_size
        return attention + 3 * self.hidden * self.width

    @property
    def read_weights(self) -> int:
        """Elements that every pass reads: layers, norms, output layer; no row of an embedding table."""
        norms = (2 * self.layers + 1) * self.hidden
        return self.layers * self.layer_weights + norms + self.vocabulary * self.hidden

    @property
    def weights(self) -> int:
        """Elements held in memory."""
        return self.read_weights + (0 if self.tied else self.vocabulary * self.hidden)

    def kv_elements(self, tokens: int) -> int:
        """Keys and values of so many cached tokens."""
        return 2 * self.layers * self.kv_heads * self.head_size * tokens

    def moved_bytes(self, *, batch: int, tokens: int, context: int, element: int) -> int:
        """The least a pass moves: weights once, embedded rows, KV of the context read, new KV written."""
        rows = 0 if self.tied else batch * tokens * self.hidden
        kv = batch * self.kv_elements(context + tokens)
        return element * (self.read_weights + rows + kv)

    def operations(self, *, batch: int, tokens: int, context: int) -> int:
        """Multiplications and additions of a pass; attention over context + tokens."""
        matrices = self.layers * self.layer_weights + self.vocabulary * self.hidden
        attention = 2 * self.layers * self.heads * self.head_size * (context + tokens)
        return 2 * batch * tokens * (matrices + attention)


LLAMA_8B = Shape(
    name="8B, as Llama 3.1 8B",
    layers=32,
    hidden=4096,
    heads=32,
    kv_heads=8,
    head_size=128,
    width=14336,
    vocabulary=128_256,
    tied=False,
)
LLAMA_1B = Shape(
    name="1B, as Llama 3.2 1B",
    layers=16,
    hidden=2048,
    heads=32,
    kv_heads=8,
    head_size=64,
    width=8192,
    vocabulary=128_256,
    tied=True,
)


class Stack:
    """The weights of a shape on a device, and the pass through them."""

    def __init__(self, shape: Shape, *, device: str, dtype: torch.dtype, seed: int) -> None:
        self.shape, self.device, self.dtype = shape, torch.device(device), dtype
        generator = torch.Generator(device=self.device).manual_seed(seed)

        def matrix(rows: int, columns: int) -> torch.Tensor:
            empty = torch.empty(rows, columns, device=self.device, dtype=dtype)
            return empty.normal_(std=columns**-0.5, generator=generator)

        def norms(count: int) -> torch.Tensor:
            return torch.ones(count, shape.hidden, device=self.device, dtype=dtype)

        projected = (shape.heads + 2 * shape.kv_heads) * shape.head_size
        layers = range(shape.layers)
        self.norms = norms(2 * shape.layers + 1)
        self.qkv = [matrix(projected, shape.hidden) for _ in layers]
        self.mix = [matrix(shape.hidden, shape.heads * shape.head_size) for _ in layers]
        self.gate_up = [matrix(2 * shape.width, shape.hidden) for _ in layers]
        self.down = [matrix(shape.hidden, shape.width) for _ in layers]
        self.output = matrix(shape.vocabulary, shape.hidden)
        self.embedding = self.output if shape.tied else matrix(shape.vocabulary, shape.hidden)
        # Angles of long texts need more than the 8 bits of a bfloat16.
        precise = torch.promote_types(dtype, torch.float32)
        halves = torch.arange(shape.head_size // 2, device=self.device, dtype=precise)
        self.frequencies = ROPE_BASE ** (-2.0 * halves / shape.head_size)

    def tensors(self) -> list[torch.Tensor]:
        """Every weight once."""
        tied = [self.output] if self.shape.tied else [self.output, self.embedding]
        return [self.norms, *self.qkv, *self.mix, *self.gate_up, *self.down, *tied]

    def forward(self, tokens: torch.Tensor, positions: torch.Tensor, cache) -> torch.Tensor:
        """Logits [batch, tokens, vocabulary] of `tokens` [batch, tokens] at `positions` [tokens].

        The cache says what each token may see, takes the new keys and values of each layer and
        returns all of them. No value of a tensor decides anything, so that a CUDA graph can replay it.
        """
        shape, (batch, count) = self.shape, tokens.shape
        rotation = self.rotation(positions)
        mask = cache.begin(positions, shape.heads // shape.kv_heads)
        # One row per token. Residuals are added by the matrix products themselves (`addmm_`).
        x = functional.embedding(tokens.reshape(-1), self.embedding)
        for layer in range(shape.layers):
            normed = self.normed(x, 2 * layer)
            qkv = functional.linear(normed, self.qkv[layer]).view(batch, count, -1, shape.head_size)
            mixed = self.attention(qkv, rotation, mask, cache, layer)
            x.addmm_(mixed, self.mix[layer].t())
            gate_up = functional.linear(self.normed(x, 2 * layer + 1), self.gate_up[layer])
            gate, up = gate_up.chunk(2, dim=-1)
            x.addmm_(functional.silu(gate, inplace=True).mul_(up), self.down[layer].t())
        logits = functional.linear(self.normed(x, 2 * shape.layers), self.output)
        return logits.view(batch, count, -1)

    def normed(self, x: torch.Tensor, norm: int) -> torch.Tensor:
        return functional.rms_norm(x, (self.shape.hidden,), self.norms[norm], EPSILON)

    def attention(self, qkv: torch.Tensor, rotation, mask, cache, layer: int) -> torch.Tensor:
        """Attention over the cache, [batch · tokens, heads · head_size].

        The queries that share a key head are folded into rows of one head. Keys then are neither
        repeated nor converted: with a mask, scaled_dot_product_attention(enable_gqa=True) has only
        its slow kernel on a GPU, which does both.
        """
        shape, (batch, count) = self.shape, qkv.shape[:2]
        turned, values = qkv.split((shape.heads + shape.kv_heads, shape.kv_heads), dim=2)
        cosine, sine = rotation
        turned = torch.addcmul(turned * cosine, turned.roll(shape.head_size // 2, -1), sine)
        queries, keys = turned.split((shape.heads, shape.kv_heads), dim=2)
        keys, values = cache.extended(layer, keys.transpose(1, 2), values.transpose(1, 2))
        group = shape.heads // shape.kv_heads
        folded = queries.reshape(batch, count, shape.kv_heads, group, -1).permute(0, 2, 3, 1, 4)
        folded = folded.reshape(batch, shape.kv_heads, group * count, -1)
        mixed = functional.scaled_dot_product_attention(folded, keys, values, attn_mask=mask)
        mixed = mixed.view(batch, shape.kv_heads, group, count, -1).permute(0, 3, 1, 2, 4)
        return mixed.reshape(batch * count, -1)

    def rotation(self, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and signed sines, [tokens, 1, head_size]: x · cos + (x, halves swapped) · sin."""
        angles = positions[:, None] * self.frequencies
        cosine, sine = angles.cos(), angles.sin()
        cosine, sine = torch.cat((cosine, cosine), -1), torch.cat((-sine, sine), -1)
        return cosine[:, None].to(self.dtype), sine[:, None].to(self.dtype)
