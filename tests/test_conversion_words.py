"""The field's words and printed lines: what each means to its engine, and where that is not clear."""

from __future__ import annotations

import pytest

from analysis.conversion.names import engine_name, field_names, find_name
from analysis.conversion.quantities import ASSUMPTIONS, QUANTITIES
from analysis.conversion.rules import RULES
from analysis.converting import convert

VLLM_V0 = {"engine": "vllm", "version": "0.7.3"}
VLLM_09 = {"engine": "vllm", "version": "0.9.1"}
VLLM = {"engine": "vllm", "version": "0.10.2"}
VLLM_NEW = {"engine": "vllm", "version": "0.33.0"}
SGLANG_OLD = {"engine": "sglang", "version": "0.5.10", "window": 4}
SGLANG_NEW = {"engine": "sglang", "version": "0.5.11", "window": 4}
LLAMA = {"engine": "llama.cpp"}
MODELOPT = {"engine": "model-optimizer"}

# What engines print: word, text, settings, and a quantity with the value that the source's counts give.
PRINTED = [
    # vllm-ascend issue 9803: 474 accepted of 624 drafted, 208 rounds, γ = 3
    (
        "Mean acceptance length",
        "3.28",
        VLLM,
        "accepted_per_round",
        474 / 208,
    ),
    (
        "Avg Draft acceptance rate",
        "76.0%",
        VLLM | {"gamma": 3},
        "tokens_per_round",
        1 + 474 / 208,
    ),
    (
        "Per-position acceptance rate",
        "0.938, 0.769, 0.572",
        VLLM,
        "tokens_per_round",
        1 + 474 / 208,
    ),
    # vllm issue 19254: 150 of 387, γ = 3
    (
        "Draft acceptance rate",
        "38.8%",
        VLLM_09 | {"gamma": 3},
        "tokens_per_round",
        1 + 150 / 129,
    ),
    (
        "Per-position acceptance rate",
        "0.543, 0.357, 0.264",
        VLLM_09,
        "tokens_per_round",
        1 + 150 / 129,
    ),
    # vLLM V0, γ = 4: 53,716 drafted, 34,244 emitted
    (
        "System efficiency",
        "0.510",
        VLLM_V0 | {"gamma": 4},
        "emitted_per_round",
        34244 / 13429,
    ),
    # vLLM per-request metrics: 10 accepted in 43 rounds
    (
        "acceptance_histogram",
        "39,1,0,3",
        VLLM_NEW,
        "tokens_per_round",
        1.2325581395348837,
    ),
    (
        "acceptance_histogram",
        "39,1,0,3",
        VLLM_NEW,
        "accepted_fraction",
        0.07751937984496124,
    ),
    # SGLang: accept len 2.17 with window 4 prints 0.54 up to 0.5.10 and 0.39 from 0.5.11 on
    (
        "accept len",
        "2.17",
        SGLANG_OLD,
        "fraction_with_bonus",
        2.17 / 4,
    ),
    (
        "accept len",
        "2.17",
        SGLANG_NEW,
        "accepted_per_window",
        1.17 / 3,
    ),
    (
        "accept rate",
        "0.54",
        SGLANG_OLD,
        "tokens_per_round",
        2.17,
    ),
    (
        "accept rate",
        "0.39",
        SGLANG_NEW,
        "tokens_per_round",
        2.17,
    ),
    # SGLang meta_info: 63 correct of 43 rounds
    (
        "spec_correct_drafts_histogram",
        "11, 14, 11, 4, 0, 3",
        {"engine": "sglang", "version": "0.5.12"},
        "tokens_per_round",
        2.4651162790697674,
    ),
    # llama.cpp pull request 24536: 167 of 259 in 87 rounds
    (
        "mean acceptance length",
        "2.92",
        LLAMA,
        "accepted_per_round",
        167 / 87,
    ),
    (
        "acceptance rate per position",
        "(0.805, 0.632, 0.483)",
        LLAMA,
        "tokens_per_round",
        1 + 167 / 87,
    ),
    # llama.cpp example: 208 of 260, 52 rounds of γ = 5
    (
        "accept",
        "80.000%",
        LLAMA | {"gamma": 5},
        "tokens_per_round",
        5.0,
    ),
    # Model-Optimizer speculation profile: AL 2.925
    (
        "conditional_accept_rates",
        "0.816,0.777,0.750",
        MODELOPT,
        "tokens_per_round",
        2.925,
    ),
    (
        "conditional_accept_rates",
        "0.816,0.777,0.750",
        MODELOPT,
        "survival",
        (0.816, 0.634, 0.475),
    ),
    (
        "marginal_accept_rates",
        "0.816,0.634,0.475",
        MODELOPT,
        "conditional_acceptance",
        (0.816, 0.777, 0.750),
    ),
    # InferenceX pull request 2330: an acceptance length of 3.5 is 2.5 for TensorRT-LLM
    (
        "FORCE_NUM_ACCEPTED_TOKENS",
        "2.5",
        {"engine": "tensorrt-llm"},
        "tokens_per_round",
        3.5,
    ),
]


@pytest.mark.parametrize(("word", "printed", "settings", "quantity", "value"), PRINTED)
def test_printed_numbers_say_what_their_sources_say(word, printed, settings, quantity, value):
    found = convert(word, printed, **settings).get(quantity)

    values = value if isinstance(value, tuple) else (value,)
    for (low, high), known in zip(found.ranges, values, strict=True):
        digits = 5e-4 if isinstance(value, tuple) else 0.0  # the profile's own rounding
        assert low - digits - 1e-12 <= known <= high + digits + 1e-12


@pytest.mark.parametrize(
    ("word", "settings", "quantity"),
    [
        ("accept rate", {"engine": "sglang", "version": "0.4.6.post5"}, "fraction_with_bonus"),
        ("accept rate", {"engine": "sglang", "version": "0.5.10"}, "fraction_with_bonus"),
        ("accept rate", {"engine": "sglang", "version": "0.5.11"}, "accepted_per_window"),
        ("Accept Rate", {"engine": "SGLang", "version": "v0.5.23"}, "accepted_per_window"),
        ("mean acceptance length", {"engine": "vllm", "version": "0.9"}, "tokens_per_round"),
        ("mean acceptance length", {"engine": "vllm", "version": "0.8.4"}, "accepted_per_round"),
        ("draft acceptance rate", {"engine": "vllm", "version": "0.7"}, "v0_accepted_fraction"),
        ("draft acceptance rate", {"engine": "vllm", "version": "0.10"}, "accepted_fraction"),
        ("Mean Accepted", {"engine": "gpt-fast"}, "accepted_per_round"),
        ("#Mean accepted tokens", {}, "tokens_per_round"),
        ("simulated_acc_len", {}, "accepted_per_round"),
        ("num_matches", {"engine": "hf"}, "accepted_per_round"),
        ("τ", {"engine": "eagle"}, "tokens_per_round"),
        ("n-alpha", {}, "conditional_acceptance"),
        ("[DAR]", {"engine": "trtllm"}, "accepted_fraction"),
        ("acceptanceLength", {"engine": "tensorrt-llm"}, "tokens_per_round"),
        ("accepted per verified", {}, "accepted_per_verified"),
        ("acceptance rate", {"engine": "papers"}, "p"),
        ("acceptance_length", {"engine": "specspecs"}, "accepted_per_round"),
        ("joint", {}, "survival"),
        ("nextn_accepted", {}, "accepted_per_round"),
    ],
)
def test_words_mean_what_their_engine_means_by_them(word, settings, quantity):
    by_depth = quantity in {"conditional_acceptance", "survival"}
    value = [0.6, 0.5] if by_depth else 0.6 if "per_round" not in quantity else 1.6

    assert convert(word, value, gamma=2, **settings).quantity == quantity


@pytest.mark.parametrize(
    ("word", "settings", "said"),
    [
        ("acceptance rate", {}, "give the engine: accepted_fraction"),
        ("accept rate", {"engine": "sglang"}, "give the version"),
        ("accept rate", {"engine": "sglang", "version": "0.5"}, "give the version"),
        ("draft acceptance rate", {"engine": "vllm", "version": "0.8.4"}, "v0_accepted_fraction"),
        ("draft acceptance rate", {"engine": "vllm"}, "give the version"),
    ],
)
def test_a_word_with_several_meanings_is_refused(word, settings, said):
    with pytest.raises(ValueError, match="has several meanings") as refusal:
        convert(word, 0.6, gamma=4, **settings)
    assert said in str(refusal.value)


def test_the_name_of_the_line_decides_between_the_two_lines_of_one_version():
    word = "SpecDecoding metrics: Draft acceptance rate"
    assert convert(word, "64.5%", engine="vllm", version="0.8.4").quantity == "accepted_fraction"


def test_every_row_of_the_table_is_whole():
    for name in field_names():
        assert name.quantity in QUANTITIES, name
        assert name.kind in {"prints", "setting"}, name
        assert name.unit in {"fraction", "percent", "tokens", "rounds", "ratio", "seconds"}, name
        assert name.source, name
        assert all(name.names), name
        assert engine_name(name.engine) == name.engine


def test_every_name_is_found_with_the_versions_it_holds_for():
    for name in field_names():
        version = name.since or name.until or None
        for word in name.names:
            try:
                found = find_name(word, name.engine, version)
            except ValueError as refusal:  # one version, two kinds of lines
                assert "several meanings" in str(refusal)  # noqa: PT017
                assert (name.engine, version) == ("vllm", "0.8")
                continue
            if found is not None:  # None: a word that is ours too
                assert found.quantity == name.quantity


def test_rules_name_known_quantities_and_assumptions():
    for rule in RULES:
        assert {*rule.sources, rule.target} <= set(QUANTITIES)
        assert rule.needs <= set(ASSUMPTIONS)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"quantity": "velocity"}, "quantity must be one of tokens_per_round"),
        (
            {"quantity": "velocity", "engine": "vllm"},
            "quantity must be one of Draft acceptance rate",
        ),
        ({"quantity": 3}, "quantity must be a word"),
        ({"engine": "abacus"}, "engine must be one of"),
        ({"version": "0.9"}, "engine must be given with a version"),
        (
            {"quantity": "accept len", "engine": "sglang", "version": "new"},
            "version must be one such as",
        ),
        (
            {"quantity": "System efficiency", "engine": "vllm", "version": "0.9"},
            "exists in vllm up to 0.8; got version '0.9'",
        ),
        ({"known": ["luck"]}, "known must name some of full_drafts"),
        ({"known": "luck"}, "known must name some of full_drafts"),
        ({"gamma": 0}, "gamma must be a whole number in [1, 10000]; got 0."),
        ({"gamma": 2.5}, "gamma must be a whole number"),
        ({"window": 1}, "window must be a whole number in [2, 10000]"),
        ({"half_width": -1.0}, "half_width must be"),
        ({"value": "abc"}, "value must be numbers such as"),
        ({"value": "nan"}, "value must be numbers such as"),
        ({"value": "1e9"}, "value must be numbers such as"),
        ({"value": "9" * 50}, "value must be numbers such as"),
        ({"value": "1," * 60_000}, "value must be a text of at most"),
        ({"value": "1," * 2_000}, "value must have 1 to 1,000 numbers"),
        ({"value": []}, "value must have 1 to 1,000 numbers; got 0."),
        ({"value": float("inf")}, "value must be finite"),
        ({"value": [True]}, "value must be a number, a text or a list"),
        ({"value": None}, "value must be a number, a text or a list"),
        ({"value": [2.0, 1.5]}, "tokens_per_round must be one number; got 2."),
        ({"value": 0.5}, "tokens_per_round must be at least 1; got 0.5. Without the bonus token"),
        ({"value": 5.2, "gamma": 4}, "tokens_per_round must lie in [1, 5]; got 5.2."),
        ({"quantity": "accepted_fraction", "value": 64.5}, "A percent is written 64.5%."),
        ({"quantity": "p", "value": 2.9}, "p must lie in [0, 1]; got 2.9."),
        ({"quantity": "survival", "value": [0.5, 0.8]}, "survival must not rise with depth"),
        ({"quantity": "survival", "value": [0.5, 0.4], "gamma": 1}, "survival must have at most 1"),
        ({"quantity": "histogram", "value": [3.5, 1]}, "histogram[0] must be a whole number"),
        ({"quantity": "histogram", "value": [-1, 1]}, "histogram[0] must be at least 0; got -1."),
        (
            {"quantity": "fraction_with_bonus", "value": 0.1, "window": 4},
            "fraction_with_bonus is impossible here, for tokens_per_round must",
        ),
    ],
)
def test_bad_input_is_one_sentence(settings, sentence):
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 — the sentence is checked below
        convert(**{"quantity": "tokens_per_round", "value": 2.0} | settings)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 1_000


def test_a_percent_is_a_percent_with_and_without_its_sign():
    marked = convert("Avg Draft acceptance rate", "76.0%", engine="vllm", version="0.10.2")
    bare = convert("Avg Draft acceptance rate", "76.0", engine="vllm", version="0.10.2")
    fraction = convert("Avg Draft acceptance rate", "0.760", engine="vllm", version="0.10.2")

    assert marked.given.value == bare.given.value == fraction.given.value == 0.76
    assert marked.given.range == pytest.approx((0.7595, 0.7605), abs=1e-12)
    assert any("read as a fraction" in text for text in fraction.warnings)
    assert not any("read as a fraction" in text for text in bare.warnings)


def test_numbers_without_digits_behind_the_point_are_exact():
    assert convert("tokens_per_round", "3").given.range == (3.0, 3.0)
    assert convert("tokens_per_round", 3.25).given.range == (3.25, 3.25)
    assert convert("tokens_per_round", "3.25").given.range == pytest.approx((3.245, 3.255))
    assert convert("tokens_per_round", 3.25, half_width=0.1).given.range == pytest.approx(
        (3.15, 3.35)
    )
