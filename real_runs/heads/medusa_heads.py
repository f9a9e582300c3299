"""Medusa: K heads beside the target's output layer, each for one token further on.

Cai et al. 2024, arXiv:2401.10774: head k turns the state h that the target made of a text into the
logits of the token k + 2 places on (the next one is the target's own). A head is some residual
blocks, h + SiLU(W h + b), and an output layer. All heads see the same h, so they know nothing of
each other's tokens: that is why their acceptance falls with depth.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from simulator._checks import IntArray, as_count

MOST_HEADS, MOST_BLOCKS, WIDEST = 32, 8, 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class MedusaShape:
    """Sizes: width of the target's states, heads, residual blocks per head, tokens drafted from.

    With `own_output` every head has an output layer of its own, which training begins at the
    target's rows; otherwise all share the target's and only the blocks are trained.
    """

    width: int
    heads: int
    vocabulary: int
    blocks: int = 1
    own_output: bool = True

    def __post_init__(self) -> None:
        as_count("width", self.width, least=1, most=WIDEST)
        as_count("heads", self.heads, least=1, most=MOST_HEADS)
        as_count("vocabulary", self.vocabulary, least=1, most=1 << 20)
        as_count("blocks", self.blocks, least=0 if self.own_output else 1, most=MOST_BLOCKS)


class MedusaHeads(nn.Module):
    """K heads over `tokens`, the ids that they draft from.

    `output` are the target's rows for these tokens, [vocabulary, width]. The blocks begin at zero:
    an untrained head says what the target says of the next token.
    """

    target_output: torch.Tensor

    def __init__(self, shape: MedusaShape, *, tokens: IntArray, output: torch.Tensor) -> None:
        super().__init__()
        self.shape = shape
        self.tokens = tokens
        self.register_buffer("target_output", output.detach().clone(), persistent=False)
        self.blocks = nn.ModuleList(
            nn.ModuleList(nn.Linear(shape.width, shape.width) for _ in range(shape.blocks))
            for _ in range(shape.heads)
        )
        for parameter in self.blocks.parameters():
            nn.init.zeros_(parameter)
        self.outputs = nn.ParameterList(
            nn.Parameter(output.detach().clone())
            for _ in range(shape.heads if shape.own_output else 0)
        )

    def output_of(self, head: int) -> torch.Tensor:
        """Output layer of a head, [vocabulary, width]."""
        return self.outputs[head] if self.shape.own_output else self.target_output

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Logits of the tokens 2 to K + 1 places on, from states [n, width]: [n, K, vocabulary]."""
        rows = []
        for index, blocks in enumerate(self.blocks):
            state = hidden
            for block in blocks:  # type: ignore[attr-defined]
                state = state + functional.silu(block(state))
            rows.append(state @ self.output_of(index).T)
        return torch.stack(rows, dim=1)


class MedusaDraft:
    """Trained heads made ready for drafting: all of them in one product per layer.

    `tokens[place]` is the id behind a column of the logits.
    """

    def __init__(self, heads: MedusaHeads) -> None:
        shape = heads.shape
        self.heads = shape.heads
        self.tokens = heads.tokens
        with torch.inference_mode():
            layers = [
                [blocks[depth] for blocks in heads.blocks]  # type: ignore[index]
                for depth in range(shape.blocks)
            ]
            # [K, width, width], ready to be multiplied from the right
            self._weights = [torch.stack([b.weight.T for b in layer]) for layer in layers]
            self._biases = [torch.stack([b.bias for b in layer])[:, None] for layer in layers]
            outputs = [heads.output_of(head).T for head in range(shape.heads)]
            # One matrix that all heads share stays one matrix.
            self._output = torch.stack(outputs) if shape.own_output else outputs[0].contiguous()
        self._dtype = self._output.dtype

    @torch.inference_mode()
    def read(self, hidden: torch.Tensor) -> torch.Tensor:
        """Logits of the tokens 2 to K + 1 places on, from states [n, width]: [n, K, vocabulary]."""
        state = hidden.to(self._dtype).expand(self.heads, *hidden.shape)
        for weight, bias in zip(self._weights, self._biases, strict=True):
            state = state + functional.silu(torch.baddbmm(bias, state, weight))
        return torch.matmul(state, self._output).transpose(0, 1)
