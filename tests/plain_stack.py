"""A decoder stack without a cache, written apart from the one that is measured."""

import torch
from gpu_stack import EPSILON, ROPE_BASE
from torch.nn import functional


def plain_logits(stack, tokens):
    """The same network written differently: no cache, complex rotations, PyTorch's own grouping."""
    shape, count = stack.shape, tokens.shape[1]
    half = shape.head_size // 2
    frequencies = torch.tensor([ROPE_BASE ** (-i / half) for i in range(half)], dtype=torch.float64)
    angles = torch.arange(count)[:, None] * frequencies
    turn = torch.polar(torch.ones_like(angles), angles)[:, None]

    def turned(x):
        z = torch.complex(x[..., :half], x[..., half:]) * turn
        return torch.cat((z.real, z.imag), -1).transpose(1, 2)

    def normed(x, norm):
        return x / (x.square().mean(-1, keepdim=True) + EPSILON).sqrt() * stack.norms[norm]

    x = stack.embedding[tokens]
    for layer in range(shape.layers):
        qkv = (normed(x, 2 * layer) @ stack.qkv[layer].T).unflatten(-1, (-1, shape.head_size))
        q, k, v = qkv.split((shape.heads, shape.kv_heads, shape.kv_heads), 2)
        mixed = functional.scaled_dot_product_attention(
            turned(q), turned(k), v.transpose(1, 2), is_causal=True, enable_gqa=True
        )
        x = x + mixed.transpose(1, 2).flatten(2) @ stack.mix[layer].T
        gate, up = (normed(x, 2 * layer + 1) @ stack.gate_up[layer].T).chunk(2, -1)
        x = x + (functional.silu(gate) * up) @ stack.down[layer].T
    return normed(x, 2 * shape.layers) @ stack.output.T


def some_tokens(stack, batch, count, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(stack.shape.vocabulary, (batch, count), generator=generator)
