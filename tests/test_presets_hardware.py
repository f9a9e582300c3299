"""Presets: every number has a source, counts agree with those in print, names are found and not confused."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from importlib.resources import files

import pytest

from analysis import accelerator, accelerators, architecture, architecture_of_config, architectures
from analysis.closest_names import find_named, plain_name


def rows(name):
    text = (files("analysis") / "data" / name).read_text(encoding="utf-8")
    return {record["name"]: record for record in csv.DictReader(text.splitlines())}


MODELS, CARDS = rows("architectures.csv"), rows("accelerators.csv")


def test_all_rows_are_presets_with_a_source():
    assert [model.name for model in architectures()] == list(MODELS)
    assert [card.name for card in accelerators()] == list(CARDS)
    for preset in (*architectures(), *accelerators()):
        assert len(preset.source) > 20, preset.name
        assert (
            preset.url.startswith("https://")
            or "measured" in preset.source
            or ("bundled" in preset.source)
        )
    for wanted in ("A100 80GB SXM", "A100 80GB PCIe", "H100 SXM", "H200", "RTX 4090", "M3 Ultra"):
        accelerator(wanted)


@pytest.mark.parametrize("name", list(MODELS))
def test_parameters_agree_with_print(name):
    """Within 1 % beyond half a unit of the last printed digit; active counts in print have the embedding."""
    model, row = architecture(name), MODELS[name]

    def agree(count, printed):
        digits = printed.lower().partition("e")[0]
        unit = float(printed) / float(digits) * 10.0 ** -len(digits.partition(".")[2])
        assert abs(count - float(printed)) <= 0.01 * float(printed) + unit / 2

    agree(model.parameters, row["parameters_printed"])
    assert abs(model.parameters / float(row["parameters_printed"]) - 1) < 0.01
    if model.experts:
        agree(model.active_parameters + model.output_parameters, row["active_printed"])
    else:
        assert row["active_printed"] == ""
        rest = model.parameters if model.tied else model.parameters - model.output_parameters
        assert model.active_parameters == rest


def test_a_wrong_dimension_would_not_agree():
    """The negative control: one feed-forward matrix less, or all heads with keys, and counts are off."""
    for change in ({"gated": False}, {"kv_heads": 32}):
        wrong = replace(architecture("Llama 3.1 8B"), **change)
        assert abs(wrong.parameters / 8.03e9 - 1) > 0.01


@pytest.mark.parametrize("name", ["target", "draft"])
def test_the_tiny_pair_is_the_bundled_one(name):
    config = (files("real_runs") / "tiny" / name / "config.json").read_text(encoding="utf-8")
    read = architecture_of_config(config)
    preset = architecture(f"tiny {name}")
    for field in (
        "layers", "hidden", "heads", "kv_heads", "head_dim", "width", "vocabulary", "gated", "tied",
        "experts",
    ):  # fmt: skip
        assert getattr(read, field) == getattr(preset, field), field
    assert json.loads(config)["hidden_size"] == preset.hidden


def test_arithmetic_is_dense():
    """The figures with sparsity, twice as high, would put the knees of these cards beyond 400."""
    for card in accelerators():
        assert card.knee < 310, card.name
        assert card.operations_8bit_per_s == 0.0 or (
            card.operations_8bit_per_s == pytest.approx(2 * card.operations_per_s, rel=0.002)
        )
    assert accelerator("H100").operations_per_s == 989e12
    assert accelerator("A100").operations_per_s == 312e12
    assert accelerator("RTX 4090").operations_per_s == 165.2e12
    assert accelerator("H200").memory_bytes_per_s > accelerator("H100").memory_bytes_per_s
    assert accelerator("A100 PCIe").memory_bytes_per_s == 1.935e12


def test_links_count_one_direction():
    assert accelerator("H100").link_bytes_per_s == 900e9 / 2
    assert accelerator("A100").link_bytes_per_s == 600e9 / 2
    assert accelerator("CPU").link_bytes_per_s == accelerator("M3 Ultra").link_bytes_per_s == 0


@pytest.mark.parametrize("known", [MODELS, CARDS], ids=["models", "accelerators"])
def test_no_spelling_means_two_things(known):
    owner = {}
    for name, row in known.items():
        for spelling in (name, *filter(None, row["also"].split("|"))):
            assert owner.setdefault(plain_name(spelling), name) == name
    for spelling, name in owner.items():
        find = architecture if known is MODELS else accelerator
        assert find(spelling).name == name


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Llama 3 8B", "Llama 3.1 8B"),
        ("meta-llama/Meta-Llama-3.1-8B-Instruct", "Llama 3.1 8B"),
        ("  QWEN3_30B_A3B ", "Qwen3 30B-A3B"),
        ("Qwen/Qwen3-0.6B", "Qwen3 0.6B"),
        ("tiny", "tiny target"),
    ],
)
def test_models_by_any_spelling(written, name):
    assert architecture(written).name == name


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("h100", "H100 SXM"), ("NVIDIA A100-SXM4-80GB", "A100 80GB SXM"), ("cpu", "2-core x86 CPU"),
        ("NVIDIA H100 80GB HBM3", "H100 SXM"), ("gh200", "GH200 96GB"), ("m3-ultra", "Apple M3 Ultra"),
    ],
)  # fmt: skip
def test_accelerators_by_any_spelling(written, name):
    assert accelerator(written).name == name


@pytest.mark.parametrize(
    ("written", "close"),
    [("lama 3.1 8b", "Llama 3.1 8B"), ("Qwen3-7B", "Qwen3 8B"), ("mixtral 8x22b", "Mixtral 8x7B")],
)
def test_an_unknown_model_lists_the_closest(written, close):
    with pytest.raises(ValueError, match=r"^model must be a known preset") as caught:
        architecture(written)
    message = str(caught.value)
    assert f"the closest are {close}" in message or f", {close}" in message
    assert message.endswith(f"got {written!r}.")
    assert message.count(",") <= 2, "no more than three are listed"


def test_an_unknown_accelerator_lists_the_closest():
    with pytest.raises(ValueError, match="the closest are RTX 4090") as caught:
        accelerator("RTX 4080")
    assert str(caught.value).startswith("accelerator must be a known preset (")
    with pytest.raises(
        ValueError, match=r"\(known are A100 80GB SXM, .*2-core x86 CPU\); got 'zzz'"
    ):
        accelerator("zzz")


@pytest.mark.parametrize("name", ["", "  ", "-/-", None, 3, True, "x" * 201, "x" * 10**6])
@pytest.mark.parametrize("find", [accelerator, architecture])
def test_what_is_no_name(find, name):
    with pytest.raises(ValueError, match="must be") as caught:
        find(name)
    assert str(caught.value).endswith(".")
    assert len(str(caught.value)) < 600
    assert "\n" not in str(caught.value)


def test_values_that_are_equal_keep_their_own_names():
    assert find_named("number", "two", {"one": 1, "two": 2, "zwei": 2}) == 2
    with pytest.raises(ValueError, match="the closest are two"):
        find_named("number", "twoo", {"one": 1, "two": 2})
