"""Predicted passes against speeds that others printed: one set of defaults, nothing tuned to a row.

The defaults were chosen with the speeds of one request in view, and before those of large batches were.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from analysis import Machine, accelerator, architecture, predict_pass

# Tokens per second at batch 1 and 16 bits. github.com/pytorch-labs/gpt-fast, README (A100 80GB at 330 W);
# SGLang in EAGLE-3 (Li et al. 2025), Table 4.
SINGLE = [
    ("Llama 2 7B", "A100", 1, 104.9), ("Llama 2 7B", "A100", 2, 168.84),
    ("Llama 2 7B", "A100", 4, 254.02), ("Llama 2 7B", "A100", 8, 328.43),
    ("Llama 2 70B", "A100", 2, 21.32), ("Llama 2 70B", "A100", 4, 38.01),
    ("Llama 2 70B", "A100", 8, 62.50), ("Llama 3.1 8B", "H100", 1, 158.34),
]  # fmt: skip

# github.com/NVIDIA/TensorRT-LLM, docs/source/performance.md (0.6.1): Llama 2 7B on one device; bits of
# weights, cache and arithmetic, batch, prompt, output, tokens per second of the whole batch.
BATCHES = [
    ("H100", 8, 768, 128, 128, 19_694), ("H100", 8, 112, 128, 2048, 6818),
    ("H100", 8, 80, 2048, 128, 2244), ("H100", 8, 48, 2048, 2048, 2740),
    ("A100", 16, 384, 128, 128, 5586), ("A100", 16, 60, 128, 2048, 1928),
    ("A100", 16, 52, 2048, 128, 591),
]  # fmt: skip
BARE = {
    "memory_share": 1.0, "operations_share": 1.0, "overlap": math.inf, "fixed_s": 0.0, "layer_s": 0.0,
    "link_latency_s": 0.0,
}  # fmt: skip


def single_errors(**changes):
    """Predicted / printed − 1 for one request."""
    return np.array([
        1 / predict_pass(
            architecture(model), Machine(accelerator=accelerator(card), devices=devices, **changes)
        ).seconds() / speed - 1
        for model, card, devices, speed in SINGLE
    ])  # fmt: skip


def batch_errors(**changes):
    """Predicted / printed − 1 for batches that read their prompts together and then decode."""
    errors = []
    for card, bits, batch, prompt, output, rate in BATCHES:
        cost = predict_pass(
            architecture("Llama 2 7B"),
            Machine(accelerator=accelerator(card), arithmetic_bits=bits, **changes),
            weight_bits=bits,
            kv_bits=bits,
        )
        reading = replace(cost, output_compute_s=cost.output_compute_s / prompt)
        seconds = reading.seconds(batch, prompt, (prompt + 1) / 2)
        seconds += float(np.sum(cost.seconds(batch, 1, prompt + np.arange(1, output))))
        errors.append(batch * output / seconds / rate - 1)
    return np.array(errors)


def test_one_request():
    assert np.abs(single_errors()).max() < 0.25
    assert np.abs(single_errors()).mean() < 0.10


def test_large_batches():
    assert np.abs(batch_errors()).max() < 0.25
    assert np.abs(batch_errors()).mean() < 0.15


def test_the_bare_roofline_promises_far_too_much():
    """The negative control: without shares and overheads the same rows are missed."""
    assert single_errors(**BARE).min() > 0.25
    assert single_errors(**BARE).max() > 2
    assert batch_errors(**BARE).min() > 0.15
    assert batch_errors(**BARE).max() > 0.8


@pytest.mark.parametrize(
    ("model", "bits", "speed"),
    [
        ("Llama 2 7B", 8, 155.58),
        ("Llama 2 7B", 5, 196.80),
        ("Llama 2 70B", 8, 19.13),
        ("Llama 2 70B", 5, 25.25),
    ],
)
def test_few_bits_are_slower_than_predicted(model, bits, speed):
    """gpt-fast's 8 bits, and 4 with their scales: such kernels reach less of the bandwidth."""
    a100 = Machine(accelerator=accelerator("A100"))
    predicted = 1 / predict_pass(architecture(model), a100, weight_bits=bits).seconds()
    assert 1.1 < predicted / speed < 1.6
