"""Predicted passes: every term by hand, every matrix listed once more."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from analysis import Accelerator, Architecture, Machine, architecture, predict_pass

CARD = Accelerator(
    name="card", memory_bytes_per_s=2e12, operations_per_s=4e14, operations_8bit_per_s=8e14,
    memory_bytes=8e10, link_bytes_per_s=2.5e11,
)  # fmt: skip
LLAMA = architecture("Llama 3.1 8B")


def machine(devices=1, **changes):
    """All that the maker prints, and nothing beside."""
    values = {
        "memory_share": 1.0, "operations_share": 1.0, "overlap": math.inf, "fixed_s": 0.0,
        "layer_s": 0.0, "link_latency_s": 0.0, **changes,
    }  # fmt: skip
    return Machine(accelerator=CARD, devices=devices, **values)


def listed(model):
    """Matrices of a model as (rows, columns, how many), written out layer by layer."""
    size = model.head_dim or model.hidden // model.heads
    matrices = [(model.vocabulary, model.hidden, 1)]
    if not model.tied:
        matrices.append((model.vocabulary, model.hidden, 1))
    for layer in range(model.layers):
        matrices += [
            (model.hidden, model.heads * size, 1),
            (model.hidden, model.kv_heads * size, 2),
            (model.heads * size, model.hidden, 1),
        ]
        each = 3 if model.gated else 2
        if not model.experts or layer < model.dense_layers:
            matrices.append((model.hidden, model.width, each))
        else:
            matrices.append((model.hidden, model.experts, 1))
            matrices.append((model.hidden, model.expert_width, each * model.experts))
            matrices.append((model.hidden, model.shared_width, each))
    return sum(rows * columns * count for rows, columns, count in matrices)


GLM = Architecture(
    name="some layers without experts, and a shared one", layers=6, hidden=64, heads=8, kv_heads=2,
    head_dim=16, width=200, vocabulary=1000, experts=12, experts_per_token=3, expert_width=40,
    shared_width=80, dense_layers=2,
)  # fmt: skip


@pytest.mark.parametrize(
    "model",
    [
        LLAMA,
        architecture("Qwen3 30B-A3B"),
        architecture("Mixtral 8x7B"),
        architecture("Apertus 8B"),
        GLM,
        replace(GLM, tied=True, gated=False),
    ],
    ids=lambda model: model.name,
)
def test_parameters_are_all_matrices(model):
    assert model.parameters == listed(model)
    idle = (model.experts - model.experts_per_token) * (
        model.expert_parameters // model.experts if model.experts else 0
    )
    embedding = 0 if model.tied else model.hidden * model.vocabulary
    assert model.active_parameters == listed(model) - idle - embedding


def test_one_device_by_hand():
    cost = predict_pass(LLAMA, machine(), weight_bits=8, kv_bits=4)
    layer = 4096 * 128 * (2 * 32 + 2 * 8) + 3 * 4096 * 14336
    assert cost.weights_s == pytest.approx(32 * layer / 2e12)
    assert cost.output_s == pytest.approx(4096 * 128256 / 2e12)
    assert cost.kv_s == pytest.approx(2 * 32 * 8 * 128 / 2 / 2e12)
    assert cost.compute_s == pytest.approx(2 * 32 * layer / 4e14)
    assert cost.output_compute_s == pytest.approx(2 * 4096 * 128256 / 4e14)
    assert cost.attention_s == pytest.approx(4 * 32 * 32 * 128 / 4e14)
    assert (cost.link_s, cost.link_token_s, cost.fixed_s, cost.token_s) == (0, 0, 0, 0)
    assert cost.experts is None


def test_a_plain_step_reads_every_weight_but_the_embedding_once():
    bytes_read = 2 * (LLAMA.parameters - 4096 * 128256)
    assert predict_pass(LLAMA, machine()).seconds() == pytest.approx(bytes_read / 2e12, rel=1e-12)


def test_shares_and_overheads():
    slow = machine(
        memory_share=0.5, operations_share=0.25, fixed_s=1e-3, layer_s=1e-5, token_s=2e-6
    )
    cost, whole = predict_pass(LLAMA, slow), predict_pass(LLAMA, machine())
    for name, factor in (("weights_s", 2), ("output_s", 2), ("kv_s", 2), ("compute_s", 4)):
        assert getattr(cost, name) == pytest.approx(factor * getattr(whole, name))
    assert cost.attention_s == pytest.approx(4 * whole.attention_s)
    assert cost.fixed_s == pytest.approx(1e-3 + 32 * 1e-5)
    assert cost.token_s == 2e-6
    assert predict_pass(LLAMA, replace(slow, overlap=3)).overlap == 3


def test_communication_by_hand():
    """Ring all-reduce: a device sends 2 (D − 1) / D of the numbers, 16 bits each; 2 per layer and one
    behind the embedding, and the logits are gathered once."""
    for devices in (2, 4, 8):
        cost = predict_pass(LLAMA, machine(devices, link_latency_s=1e-5))
        assert cost.link_s == pytest.approx((2 * 32 + 2) * 1e-5)
        share = (devices - 1) / devices
        reduced = (2 * 32 + 1) * 2 * share * 4096 * 2
        gathered = share * 128256 * 2
        assert cost.link_token_s == pytest.approx((reduced + gathered) / 2.5e11)
        alone = predict_pass(LLAMA, machine())
        for name in ("weights_s", "output_s", "kv_s", "compute_s", "attention_s"):
            assert getattr(cost, name) == pytest.approx(getattr(alone, name) / devices)


def test_devices_hold_whole_heads_of_keys_and_values():
    """8 of them on 16 devices are held twice: each device reads as much as one of 8 would."""
    eight, sixteen = (predict_pass(LLAMA, machine(d)) for d in (8, 16))
    assert sixteen.kv_s == pytest.approx(eight.kv_s)
    assert sixteen.weights_s == pytest.approx(eight.weights_s / 2)
    three = predict_pass(LLAMA, machine(3))
    assert three.kv_s == pytest.approx(3 / 8 * predict_pass(LLAMA, machine()).kv_s)


def test_grouped_heads_shrink_the_cache_and_not_the_attention():
    wide = replace(LLAMA, kv_heads=32)
    grouped, full = (predict_pass(model, machine()) for model in (LLAMA, wide))
    assert full.kv_s == pytest.approx(4 * grouped.kv_s)
    assert full.attention_s == grouped.attention_s


def test_few_bits_save_reading_and_not_computing():
    full, four = (predict_pass(LLAMA, machine(), weight_bits=bits) for bits in (16, 4))
    assert four.weights_s == pytest.approx(full.weights_s / 4)
    assert four.output_s == pytest.approx(full.output_s / 4)
    assert (four.compute_s, four.kv_s) == (full.compute_s, full.kv_s)
    assert four.knee() == pytest.approx(full.knee() / 4)
    kept = predict_pass(LLAMA, machine(), weight_bits=4, output_bits=16)
    assert (kept.weights_s, kept.output_s) == (four.weights_s, full.output_s)
    cache = predict_pass(LLAMA, machine(), kv_bits=8)
    assert cache.kv_s == pytest.approx(full.kv_s / 2)


def test_arithmetic_at_eight_bits_leaves_attention_at_sixteen():
    full, eight = (
        predict_pass(LLAMA, replace(machine(), arithmetic_bits=bits)) for bits in (16, 8)
    )
    assert eight.compute_s == pytest.approx(full.compute_s / 2)
    assert eight.output_compute_s == pytest.approx(full.output_compute_s / 2)
    assert eight.attention_s == full.attention_s
    card = replace(CARD, operations_8bit_per_s=0.0)
    none = replace(machine(), accelerator=card, arithmetic_bits=8)
    assert predict_pass(LLAMA, none).compute_s == full.compute_s


def test_experts_are_read_as_they_are_called():
    cost = predict_pass(GLM, machine())
    expert = 3 * 64 * 40
    assert cost.experts.all_s == pytest.approx(4 * 12 * expert * 2 / 2e12)
    attention = 6 * 64 * 16 * (2 * 8 + 2 * 2)
    always = attention + 2 * 3 * 64 * 200 + 4 * (64 * 12 + 3 * 64 * 80)
    assert cost.weights_s == pytest.approx(always * 2 / 2e12)
    assert cost.compute_s == pytest.approx(2 * (always + 4 * 3 * expert) / 4e14)
    one = cost.parts(1, 1, 0)
    assert one.experts_s == pytest.approx(4 * 3 * expert * 2 / 2e12), "one token calls its own"
    many = cost.parts(10_000, 1, 0)
    assert many.experts_s == pytest.approx(cost.experts.all_s)


def test_verification_costs_a_mixture_more_than_a_dense_model_of_its_step():
    mixture = predict_pass(architecture("Mixtral 8x7B"), machine())
    dense = predict_pass(architecture("Qwen3 32B"), machine())
    costs = [mixture.verify_cost(n) for n in (1, 2, 4, 8)]
    assert costs == sorted(costs)
    assert costs[2] > 2
    assert dense.verify_cost(8) == 1.0
    assert mixture.verify_cost(8, batch=32) < 1.01


# README of EAGLE (github.com/SafeAILab/EAGLE): parameters of its heads, two digits, output layer apart.
@pytest.mark.parametrize(
    ("target", "billions"),
    [
        (architecture("Llama 2 7B"), 0.24),
        (
            replace(architecture("Llama 2 7B"), hidden=5120, heads=40, kv_heads=40, width=13824),
            0.37,
        ),
        (architecture("Llama 2 70B"), 0.99),
    ],
)
def test_heads_have_the_parameters_that_eagle_prints(target, billions):
    head = target.draft_head()
    assert (head.parameters - head.output_parameters) / 1e9 == pytest.approx(billions, abs=0.005)


def test_a_head_with_a_short_vocabulary_and_more_layers():
    head = LLAMA.draft_head(layers=2, vocabulary=32_000)
    assert head.output_parameters == 32_000 * 4096
    assert head.kv_numbers == 2 * LLAMA.kv_numbers // 32
    assert head.name == "2 layers of Llama 3.1 8B"
    assert GLM.draft_head().parameters == listed(
        replace(GLM, layers=1, dense_layers=0, tied=True)
    ) + (2 * 64 * 64)
    for layers, vocabulary in ((0, None), (1, 0), (1.5, None), (True, None)):
        with pytest.raises(ValueError, match=r"^(layers|vocabulary) must be"):
            LLAMA.draft_head(layers=layers, vocabulary=vocabulary)


@pytest.mark.parametrize("value", [0, -4, math.nan, math.inf, None, "8", True, 1e308])
@pytest.mark.parametrize("name", ["weight_bits", "kv_bits", "output_bits"])
def test_bits_that_are_none(name, value):
    if (name, value) == ("output_bits", None):
        return
    with pytest.raises(ValueError, match=r"must be") as caught:
        predict_pass(LLAMA, machine(), **{name: value})
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("bits", [4, 16.5, True, None, "8"])
def test_arithmetic_at_other_bits(bits):
    with pytest.raises(ValueError, match=r"^arithmetic_bits must be 8 or 16; got"):
        replace(machine(), arithmetic_bits=bits)


SHAPE = {
    "name": "x", "layers": 2, "hidden": 64, "heads": 4, "kv_heads": 2, "width": 128, "vocabulary": 100
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layers": 0}, "layers must be"),
        ({"hidden": 2.5}, "hidden must be"),
        ({"heads": True}, "heads must be"),
        ({"kv_heads": 5}, "kv_heads must be a whole number in [1, 4]; got 5."),
        ({"vocabulary": -1}, "vocabulary must be"),
        ({"width": 0}, "width must be above 0"),
        ({"head_dim": 0}, "head_dim must be"),
        ({"hidden": 3, "kv_heads": 1}, "heads must be at most hidden (3)"),
        ({"experts": 4, "expert_width": 8}, "experts_per_token must be"),
        ({"experts": 4, "expert_width": 8, "experts_per_token": 5}, "experts_per_token must be"),
        ({"experts": 4, "experts_per_token": 1}, "expert_width must be"),
        ({"dense_layers": 1}, "dense_layers must be 0 unless"),
        ({"dense_layers": 3}, "dense_layers must be a whole number in [0, 2]"),
        ({"extra_parameters": -1}, "extra_parameters must be"),
    ],
)
def test_shapes_of_no_model(change, message):
    with pytest.raises(ValueError, match=r"must be") as caught:
        Architecture(**{**SHAPE, **change})
    assert str(caught.value).startswith(message)
