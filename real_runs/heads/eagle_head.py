"""EAGLE: one decoder layer that continues the target's own states.

Li et al. 2024, arXiv:2401.15077: the state h_t that the target made of a text up to t, joined with
the token t + 1 that was chosen from it, gives an estimate of h_{t+1}; the target's output layer on
top of that gives the token t + 2. The estimate can be put in for the state, and so a draft goes on
without the target. Trained on its own estimates too (Li et al. 2025, arXiv:2503.01840, "training-time
test"), for these are what it meets in a draft.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from simulator._checks import IntArray, as_count

WIDEST = 65_536
EPSILON = 1e-6
ROPE_BASE = 10_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EagleShape:
    """Sizes: width of the target's states, attention heads, width inside the MLP, tokens drafted from.

    Raises ValueError unless the heads divide the width into even parts, which rotation needs.
    """

    width: int
    attention_heads: int
    inner: int
    vocabulary: int

    def __post_init__(self) -> None:
        as_count("width", self.width, least=2, most=WIDEST)
        as_count("attention_heads", self.attention_heads, least=1, most=1024)
        as_count("inner", self.inner, least=1, most=WIDEST)
        as_count("vocabulary", self.vocabulary, least=1, most=1 << 20)
        if self.width % (2 * self.attention_heads):
            raise ValueError(
                f"attention_heads must divide width {self.width} into even parts; got "
                f"{self.attention_heads}."
            )

    @property
    def head_width(self) -> int:
        """Width of one attention head."""
        return self.width // self.attention_heads


class EagleHead(nn.Module):
    """The layer, between the target's embedding [vocabulary, width] and rows of its output layer.

    `tokens` are the ids that it drafts from, `output` [n, width] the target's rows for them; neither
    these nor the embedding are trained or stored.
    """

    embedding: torch.Tensor
    output: torch.Tensor

    def __init__(
        self, shape: EagleShape, *, tokens: IntArray, embedding: torch.Tensor, output: torch.Tensor
    ) -> None:
        super().__init__()
        width = shape.width
        self.shape = shape
        self.tokens = tokens
        self.register_buffer("embedding", embedding.detach().clone(), persistent=False)
        self.register_buffer("output", output.detach().clone(), persistent=False)
        self.token_norm = nn.RMSNorm(width, eps=EPSILON)
        self.state_norm = nn.RMSNorm(width, eps=EPSILON)
        # The two halves of the joining matrix: what a token brings is computed once per token.
        self.from_token = nn.Linear(width, width, bias=False)
        self.from_state = nn.Linear(width, width, bias=False)
        self.attention_norm = nn.RMSNorm(width, eps=EPSILON)
        self.queries_keys_values = nn.Linear(width, 3 * width, bias=False)
        self.attention_output = nn.Linear(width, width, bias=False)
        self.inner_norm = nn.RMSNorm(width, eps=EPSILON)
        self.gate_and_up = nn.Linear(width, 2 * shape.inner, bias=False)
        self.down = nn.Linear(shape.inner, width, bias=False)
        self.final_norm = nn.RMSNorm(width, eps=EPSILON)

    def logits(self, states: torch.Tensor) -> torch.Tensor:
        """The target's output layer over the tokens drafted from: [..., width] -> [..., n]."""
        return states @ self.output.T

    def forward(self, tokens: torch.Tensor, states: torch.Tensor, steps: int) -> list[torch.Tensor]:
        """Estimates of the next states after 1 to `steps` steps on own estimates.

        `states` [batch, n, width] are the target's, `tokens` [batch, n] the tokens that follow each.
        Row t of the estimates after s + 1 steps, [batch, n, width], follows token t when the target's
        last known state is that of t - s; rows below s mean nothing.
        """
        # Half precision is for products; what layers add up stays in that of the states.
        dtype = states.dtype
        brought = self.from_token(self.token_norm(self.embedding[tokens])).to(dtype)
        turns = rotations(tokens.shape[1], self.shape.head_width, dtype).to(states.device)
        current, keys, values, estimates = states, [], [], []
        for step in range(steps):
            entering = brought + self.from_state(self.state_norm(current))
            query, key, value = self._parts(self.attention_norm(entering), turns)
            keys.append(key)
            values.append(value)
            mixed = attend_unrolled(query, keys, values)
            entering = entering + self.attention_output(mixed.transpose(1, 2).flatten(2))
            gate, up = self.gate_and_up(self.inner_norm(entering)).chunk(2, dim=-1)
            leaving = entering + self.down(functional.silu(gate) * up)
            estimates.append(self.final_norm(leaving.to(dtype)))
            if step + 1 < steps:
                current = torch.cat([states[:, :1], estimates[-1][:, :-1]], dim=1)
        return estimates

    def _parts(
        self, entering: torch.Tensor, turns: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Queries, keys (both turned) and values, each [batch, heads, n, head_width]."""
        batch, count, _ = entering.shape
        heads, width = self.shape.attention_heads, self.shape.head_width
        parts = self.queries_keys_values(entering).view(batch, count, 3 * heads, width)
        turned = turn(parts[:, :, : 2 * heads], turns).to(parts.dtype).transpose(1, 2)
        return turned[:, :heads], turned[:, heads:], parts[:, :, 2 * heads :].transpose(1, 2)


def rotations(count: int, head_width: int, dtype: torch.dtype) -> torch.Tensor:
    """Rotary position embedding as complex numbers, [count, head_width / 2]; neighbours are a pair.

    Su et al. 2021, arXiv:2104.09864.
    """
    rates = ROPE_BASE ** -(torch.arange(0, head_width, 2, dtype=torch.float64) / head_width)
    angles = torch.arange(count, dtype=torch.float64)[:, None] * rates
    turns = torch.polar(torch.ones_like(angles), angles)
    return turns.to(torch.promote_types(dtype, torch.complex64))


def turn(states: torch.Tensor, turns: torch.Tensor) -> torch.Tensor:
    """States [..., n, heads, head_width] turned by their positions' rotations [n, head_width / 2]."""
    wide = turns.real.dtype
    pairs = torch.view_as_complex(states.to(wide).reshape(*states.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turns[:, None]).flatten(-2)


def attend_unrolled(
    query: torch.Tensor, keys: list[torch.Tensor], values: list[torch.Tensor]
) -> torch.Tensor:
    """What position t sees in the last of s + 1 steps; all tensors [batch, heads, n, head_width].

    The target's states up to t - s, then one estimate of each step at t - s + 1 to t: as in a draft
    that began s tokens ago.
    """
    step = len(keys) - 1
    if step == 0:
        return functional.scaled_dot_product_attention(query, keys[0], values[0], is_causal=True)
    count, scale = query.shape[-2], query.shape[-1] ** -0.5
    wide = torch.promote_types(query.dtype, torch.float32)
    behind = torch.ones(count, count, dtype=torch.bool, device=query.device).tril(-step)
    scores = (query @ keys[0].transpose(-1, -2)).to(wide) * scale
    # Rows that wrap around lie below `step`, where nothing is meant.
    near = [key.roll(step - 1 - back, dims=-2) for back, key in enumerate(keys[1:])]
    own = torch.stack([(query * key).sum(-1) for key in near], dim=-1).to(wide) * scale
    shares = torch.cat([scores.masked_fill(~behind, float("-inf")), own], dim=-1).softmax(-1)
    shares = shares.to(query.dtype)
    mixed = shares[..., :count] @ values[0]
    for back, value in enumerate(values[1:]):
        mixed = mixed + shares[..., count + back, None] * value.roll(step - 1 - back, dims=-2)
    return mixed
