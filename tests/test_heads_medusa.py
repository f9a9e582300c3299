"""Medusa heads: what they compute, and what they compute when drafting."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from real_runs.heads.medusa_heads import MedusaDraft, MedusaHeads, MedusaShape

TOKENS = np.array([2, 3, 5, 7, 11])


def heads(*, own_output=True, blocks=2, count=3):
    torch.manual_seed(0)
    shape = MedusaShape(width=8, heads=count, vocabulary=5, blocks=blocks, own_output=own_output)
    module = MedusaHeads(shape, tokens=TOKENS, output=torch.randn(5, 8)).double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(torch.randn_like(parameter))
    return module


def test_untrained_heads_say_what_the_target_says():
    output = torch.randn(5, 8)
    module = MedusaHeads(
        MedusaShape(width=8, heads=3, vocabulary=5, blocks=2), tokens=TOKENS, output=output
    )
    hidden = torch.randn(4, 8)
    for head in range(3):
        torch.testing.assert_close(module(hidden)[:, head], hidden @ output.T)


@pytest.mark.parametrize("own_output", [True, False])
@pytest.mark.parametrize("blocks", [1, 3])
def test_a_head_is_its_blocks_and_an_output_layer(own_output, blocks):
    module = heads(own_output=own_output, blocks=blocks)
    hidden = torch.randn(4, 8, dtype=torch.float64)
    weights = module.state_dict()
    assert ("outputs.0" in weights) is own_output
    assert "target_output" not in weights  # neither stored nor trained
    logits = module(hidden)
    assert logits.shape == (4, 3, 5)
    for head in range(3):
        state = hidden
        for block in range(blocks):
            matrix, bias = (weights[f"blocks.{head}.{block}.{kind}"] for kind in ("weight", "bias"))
            state = state + functional.silu(state @ matrix.T + bias)
        output = weights[f"outputs.{head}"] if own_output else module.target_output
        torch.testing.assert_close(logits[:, head], state @ output.T, rtol=0, atol=1e-12)


@pytest.mark.parametrize("own_output", [True, False])
@pytest.mark.parametrize("rows", [1, 6])
def test_drafting_computes_the_same(own_output, rows):
    module = heads(own_output=own_output)
    draft = MedusaDraft(module)
    hidden = torch.randn(rows, 8, dtype=torch.float64)
    logits = draft.read(hidden)
    torch.testing.assert_close(logits, module(hidden).detach(), rtol=0, atol=1e-12)
    assert not logits.requires_grad
    assert draft.read(hidden.float()).dtype == torch.float64  # states of another precision
    np.testing.assert_array_equal(draft.tokens, TOKENS)
    assert draft.heads == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"heads": 0}, r"heads must be a whole number in \[1, 32\]; got 0"),
        ({"width": 0}, "width must be"),
        ({"vocabulary": 0}, "vocabulary must be"),
        ({"blocks": 9}, r"blocks must be a whole number in \[0, 8\]; got 9"),
        ({"blocks": 0, "own_output": False}, r"blocks must be a whole number in \[1, 8\]; got 0"),
    ],
)
def test_impossible_sizes_are_refused(change, message):
    sizes = {"width": 8, "heads": 3, "vocabulary": 5} | change
    with pytest.raises(ValueError, match=message):
        MedusaShape(**sizes)
