"""Shapes from config.json: equal to the models that transformers builds; anything else is one sentence."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import Architecture, architecture_of_config

LLAMA = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
    "hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 96, "vocab_size": 300, "tie_word_embeddings": False,
}  # fmt: skip
MIXTRAL = {**LLAMA, "model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2}

SMALL = {
    "hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 96, "vocab_size": 300, "pad_token_id": 0,
}  # fmt: skip
ROUTED = {
    "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 48, "head_dim": 16
}  # fmt: skip
GROUPED = {**ROUTED, "n_routed_experts": 8, "n_group": 1, "topk_group": 1}
BUILT = [
    ("llama", {}), ("llama", {"tie_word_embeddings": True}), ("mistral", {}), ("qwen2", {}),
    ("qwen3", {"head_dim": 32}), ("gemma2", {"head_dim": 32}), ("phi3", {}), ("apertus", {}),
    ("arcee", {}), ("nemotron", {}), ("starcoder2", {}), ("smollm3", {}), ("cohere", {}), ("phi", {}),
    ("mixtral", {"num_local_experts": 8, "num_experts_per_tok": 2}), ("qwen3_moe", ROUTED),
    ("qwen3_moe", {**ROUTED, "mlp_only_layers": [0, 2]}),
    ("qwen3_moe", {**ROUTED, "decoder_sparse_step": 2}),
    ("qwen2_moe", {**ROUTED, "shared_expert_intermediate_size": 40}),
    ("glm4_moe", {**GROUPED, "first_k_dense_replace": 1, "n_shared_experts": 1}),
    ("dots1", {**GROUPED, "first_k_dense_replace": 2, "n_shared_experts": 2}),
    ("llama4_text", {
        "num_local_experts": 8, "num_experts_per_tok": 2, "head_dim": 16, "intermediate_size_mlp": 112,
        "interleave_moe_layer_step": 2,
    }),
]  # fmt: skip


@pytest.mark.parametrize(("model_type", "changes"), BUILT)
def test_the_weights_are_those_that_transformers_builds(model_type, changes):
    """Every matrix of the real model, from the file that it would write; only norms and biases are left."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    config = transformers.CONFIG_MAPPING[model_type](**SMALL, **changes)
    model = architecture_of_config(config.to_json_string(use_diff=True), name=model_type)
    with torch.device("meta"):
        built = transformers.AutoModelForCausalLM.from_config(config)
    matrices = {id(weight): weight for weight in built.parameters() if weight.dim() > 1}
    gate = (
        64 * 4 if model_type == "qwen2_moe" else 0
    )  # of the shared expert, one number per layer and input
    assert model.parameters == sum(weight.numel() for weight in matrices.values()) - gate
    assert (model.layers, model.heads, model.kv_heads) == (4, 4, 2)


def test_text_bytes_and_objects_say_the_same():
    text = json.dumps(LLAMA)
    model = architecture_of_config(LLAMA, name="x")
    assert model == architecture_of_config(text, name="x")
    assert model == architecture_of_config(text.encode(), name="x")
    assert model == architecture_of_config("\ufeff".encode() + text.encode(), name="x")
    assert (model.hidden, model.width, model.head_size, model.gated, model.tied) == (
        64, 96, 16, True, False,
    )  # fmt: skip


def test_what_a_file_leaves_out():
    bare = {key: value for key, value in LLAMA.items() if key != "num_key_value_heads"}
    assert architecture_of_config(bare).kv_heads == 4, "as many as for queries"
    assert architecture_of_config({**LLAMA, "head_dim": None}).head_dim is None
    del bare["tie_word_embeddings"]
    assert not architecture_of_config(bare).tied
    assert architecture_of_config({**bare, "model_type": "gemma2"}).tied
    gpt2 = {"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 300}
    model = architecture_of_config(gpt2)
    assert (model.width, model.gated, model.tied) == (256, False, True)
    one = {**LLAMA, "model_type": "falcon", "num_key_value_heads": None, "multi_query": True}
    assert architecture_of_config(one).kv_heads == 1


def test_the_name():
    assert architecture_of_config(LLAMA).name == "llama"
    assert (
        architecture_of_config({**LLAMA, "_name_or_path": "/data/org/Model-8B/"}).name == "Model-8B"
    )
    hostile = {**LLAMA, "_name_or_path": "a/b\n\x1b[31m" + "c" * 500}
    assert architecture_of_config(hostile).name == "b[31m" + "c" * 75
    assert architecture_of_config({**LLAMA, "_name_or_path": ""}, name="mine").name == "mine"


def test_a_multimodal_configuration_is_read_at_its_text():
    whole = {
        "model_type": "some_vlm", "text_config": LLAMA, "vision_config": {"hidden_size": 7},
        "tie_word_embeddings": True,
    }  # fmt: skip
    inner = dict(LLAMA)
    del inner["tie_word_embeddings"]
    model = architecture_of_config({**whole, "text_config": inner})
    assert (model.hidden, model.layers, model.tied) == (64, 4, True)
    assert not architecture_of_config(whole).tied, "the inner object is the closer one"


def test_what_is_approximated_is_said():
    windows = ["sliding_attention", "full_attention"] * 2
    note = architecture_of_config({**LLAMA, "layer_types": windows, "sliding_window": 512}).note
    assert note == "2 layers have a window of 512 tokens, counted as full attention here."
    assert architecture_of_config({**LLAMA, "sliding_window": 4096}).note.startswith(
        "Attention has"
    )
    off = {**LLAMA, "sliding_window": 4096, "use_sliding_window": False}
    assert architecture_of_config(off).note == ""
    quantized = architecture_of_config({**LLAMA, "quantization_config": {"quant_method": "awq"}})
    assert quantized.note == "The weights are quantized (awq): give their bits."


def refusal(config):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 — the message is what is tested
        architecture_of_config(config)
    message = str(caught.value)
    assert message.startswith("config")
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 400
    return message


def test_missing_fields_are_all_named():
    assert refusal({}) == (
        "config.json must give hidden_size, num_hidden_layers, num_attention_heads, vocab_size, "
        "intermediate_size; without them the model's shape is unknown."
    )
    for name in ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size"):
        message = refusal({key: value for key, value in LLAMA.items() if key != name})
        assert message == f"config.json must give {name}; without it the model's shape is unknown."
    assert "must give num_experts_per_tok;" in refusal({**MIXTRAL, "num_experts_per_tok": None})
    assert "must give moe_intermediate_size;" in refusal({**MIXTRAL, "intermediate_size": None})
    assert "must give num_hidden_layers;" in refusal({**MIXTRAL, "num_hidden_layers": None})


SIZES = [
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "vocab_size",
]


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize(
    "value",
    [0, -1, 1.5, 64.0, True, "64", [64], {"a": 1}, 10**9, 10**400, float("nan"), float("inf")],
)
def test_sizes_that_are_none(name, value):
    assert f"{name} must be a whole number in [1, 100000000]; got " in refusal(
        {**LLAMA, name: value}
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"intermediate_size": [96, 96]}, "intermediate_size must be a whole number"),
        ({"intermediate_size": 0}, "width must be above 0"),
        ({"num_key_value_heads": 8}, "kv_heads must be a whole number in [1, 4]; got 8"),
        ({"tie_word_embeddings": 1}, "tie_word_embeddings must be true or false; got 1"),
        ({"model_type": 3}, "model_type must be a text; got 3"),
        ({"hidden_act": ["silu"]}, "hidden_act must be a text; got a list"),
        ({"layer_types": "full_attention"}, "layer_types must be a list of texts"),
        ({"layer_types": [1, 2]}, "layer_types must be a list of texts; got a list"),
        (
            {"layer_types": ["linear_attention"]},
            "'linear_attention' (layer_types) are not supported",
        ),
        ({"sliding_window": -5}, "sliding_window must be a whole number"),
        ({"kv_lora_rank": 512}, "latent attention (MLA)"),
        ({"mamba_d_state": 16}, "state-space layers (mamba_d_state)"),
        ({"linear_num_key_heads": 16}, "linear attention (linear_num_key_heads)"),
        ({"block_configs": [{}]}, "layers that differ from one another (block_configs)"),
        ({"is_encoder_decoder": True}, "an encoder and a decoder (is_encoder_decoder)"),
        ({"model_type": "bert"}, "a model of type bert has an encoder"),
        ({"moe_num_experts": 64}, "moe_num_experts speaks of experts"),
        ({"number_of_experts": 64}, "number_of_experts speaks of experts"),
    ],
)
def test_shapes_that_are_refused(change, message):
    assert message in refusal({**LLAMA, **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_experts_per_tok": 9}, "experts_per_token must be a whole number in [1, 8]; got 9"),
        ({"num_experts_per_tok": 0}, "num_experts_per_tok must be a whole number in [1, "),
        ({"moe_intermediate_size": 0}, "moe_intermediate_size must be a whole number in [1, "),
        ({"num_local_experts": -8}, "num_local_experts must be a whole number"),
        ({"mlp_only_layers": [4]}, "mlp_only_layers must list layers below 4; got a list"),
        ({"mlp_only_layers": [True]}, "mlp_only_layers must list layers below 4"),
        ({"mlp_only_layers": 2}, "mlp_only_layers must list layers below 4; got 2"),
        ({"mlp_only_layers": [0, 1, 2, 3]}, "experts in at least one layer; got none"),
        ({"first_k_dense_replace": 4}, "experts in at least one layer; got none"),
        ({"decoder_sparse_step": 5}, "experts in at least one layer; got none"),
        ({"moe_layer_freq": 2}, "moe_layer_freq must be 1"),
        ({"moe_layer_freq": [0, 1, 1, 1]}, "moe_layer_freq must be 1"),
    ],
)
def test_mixtures_that_are_refused(change, message):
    assert message in refusal({**MIXTRAL, **change})


def test_more_layers_than_any_model_has_are_no_work():
    """Sizes are bounded, and so is what a hostile one makes the reader do."""
    many = {**MIXTRAL, "num_hidden_layers": 100_000_000, "decoder_sparse_step": 2}
    assert "num_hidden_layers must be at most 10,000 in a mixture" in refusal(many)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be JSON; it cannot be read: "),
        ("{", "must be JSON; it cannot be read: "),
        ("{'a': 1}", "must be JSON; it cannot be read: "),
        (b"\xff\xfe\x00", "must be JSON; it cannot be read: "),
        ("[" * 100_000, "must be JSON; it cannot be read: "),
        ('{"a":' * 50_000 + "1" + "}" * 50_000, "must be JSON; it cannot be read: "),
        ("[1]", "must be a JSON object with the model's sizes; got a list"),
        ("3", "must be a JSON object with the model's sizes; got a number"),
        ('"x"', "must be a JSON object with the model's sizes; got a string"),
        ("null", "must be a JSON object with the model's sizes; got null"),
        ("true", "must be a JSON object with the model's sizes; got true or false"),
        (" " * 1_000_001, "must have at most 1,000,000 characters; got 1,000,001"),
        ('{"hidden_size": ' + "9" * 900_000 + "}", "hidden_size must be a whole number"),
        ('{"hidden_size": 1e400}', "hidden_size must be a whole number"),
        ('{"text_config": []}', "must give hidden_size"),
    ],
)
def test_texts_that_are_no_configuration(text, message):
    assert message in refusal(text)


@pytest.mark.parametrize("value", [None, 3, ["a"], object()])
def test_what_is_no_text(value):
    assert "config must be the text of a config.json or its object; got " in refusal(value)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=6,
)  # fmt: skip
NAMES = sorted({
    *MIXTRAL, "head_dim", "n_shared_experts", "shared_expert_intermediate_size", "mlp_only_layers",
    "moe_layers", "decoder_sparse_step", "first_k_dense_replace", "moe_layer_freq", "layer_types",
    "sliding_window", "use_sliding_window", "quantization_config", "text_config", "kv_lora_rank",
    "multi_query", "_name_or_path", "is_encoder_decoder", "moe_intermediate_size",
})  # fmt: skip


@given(
    base=st.sampled_from([LLAMA, MIXTRAL, {}]),
    change=st.dictionaries(st.sampled_from(NAMES), values),
)
def test_any_values_give_a_model_or_a_sentence(base, change):
    try:
        model = architecture_of_config({**base, **change})
    except ValueError as error:
        message = str(error)
        assert message.startswith("config")
        assert message.endswith(".")
        assert "\n" not in message
    else:
        assert isinstance(model, Architecture)
        assert model.parameters > 0


@given(text=st.text(max_size=200) | st.binary(max_size=200))
def test_any_text_gives_a_sentence(text):
    with pytest.raises(ValueError, match=r"^config\.json must"):
        architecture_of_config(text)
