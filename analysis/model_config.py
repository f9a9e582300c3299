"""A model's shape from its Hugging Face `config.json`: read as data, bounded, refused in one sentence.

Nothing of the file is executed or looked up. What it leaves out is taken as the models themselves take
it (as many heads for keys as for queries, head size = hidden / heads); what does not fit `Architecture`
is refused rather than approximated, and what is approximated is said in the architecture's `note`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from analysis.config_shapes import Fields, check_dense, check_supported, is_gated, notes_on
from analysis.model_shape import Architecture

_LARGEST = 1_000_000  # characters; a config.json has a few thousand
_LONGEST_COUNT = 9  # digits of a dimension
_NESTED = ("text_config", "llm_config", "language_config")


class ModelConfigError(ValueError):
    """A config.json that cannot be used: says which fields are missing or what is wrong, in a sentence."""


def architecture_of_config(
    config: str | bytes | Mapping[str, object], name: str | None = None
) -> Architecture:
    """The architecture that a `config.json` describes, given as its text or as the parsed object.

    Configurations of multimodal models are read at their `text_config`. `name` is the model's name, by
    default the configuration's own. Mixtures may have dense layers (`first_k_dense_replace`,
    `mlp_only_layers`, `decoder_sparse_step`) and shared experts. Raises ModelConfigError (a ValueError)
    for what is too large or no JSON object, missing fields (all are named), sizes that are not whole and
    positive, and shapes that the formulas do not cover (latent attention, state spaces, linear
    attention, encoders, layers that differ).

    >>> text = '''{"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16,
    ... "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 8192,
    ... "vocab_size": 128256, "tie_word_embeddings": true}'''
    >>> model = architecture_of_config(text, name="Llama 3.2 1B")
    >>> round(model.parameters / 1e9, 2), model.head_size
    (1.24, 64)
    """
    whole = config if isinstance(config, Mapping) else _parsed(config)
    inner = _inner(whole)
    try:
        return _architecture(Fields(inner=inner, outer=whole), name)
    except ModelConfigError:
        raise
    except ValueError as error:
        raise ModelConfigError(f"config.json: {error}") from None


def _architecture(fields: Fields, name: str | None) -> Architecture:
    check_supported(fields)
    count, missing = fields.count, []
    sizes: dict[str, int] = {}
    for key, spellings in (
        ("hidden", ("hidden_size", "n_embd", "d_model")),
        ("layers", ("num_hidden_layers", "n_layer", "n_layers", "num_layers")),
        ("heads", ("num_attention_heads", "n_head", "n_heads")),
        ("vocabulary", ("vocab_size",)),
    ):
        found = count(*spellings, least=1)
        if found is None:
            missing.append(spellings[0])
        else:
            sizes[key] = found
    experts = count("num_experts", "num_local_experts", "n_routed_experts") or 0
    width = count("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size")
    if width is None and fields.words("model_type") == "gpt2" and "hidden" in sizes:
        width = 4 * sizes["hidden"]
    mixture: dict[str, int] = {}
    if experts:
        mixture = _mixture(fields, width, sizes.get("layers", 0), missing)
        width = count("intermediate_size_mlp") or width
    else:
        check_dense(fields)
        if width is None:
            missing.append("intermediate_size")
    if missing:
        raise ModelConfigError(
            f"config.json must give {', '.join(missing)}; without {_them(missing)} the model's shape "
            "is unknown."
        )
    kv_heads = count("num_key_value_heads", "num_kv_heads", "n_head_kv", least=1)
    if kv_heads is None and fields.flag("multi_query", default=False):
        kv_heads = 1
    return Architecture(
        name=name or fields.name or "a model from config.json",
        layers=sizes["layers"],
        hidden=sizes["hidden"],
        heads=sizes["heads"],
        vocabulary=sizes["vocabulary"],
        experts=experts,
        experts_per_token=mixture.get("experts_per_token", 0),
        expert_width=mixture.get("expert_width", 0),
        shared_width=mixture.get("shared_width", 0),
        dense_layers=mixture.get("dense_layers", 0),
        width=0 if experts and not mixture["dense_layers"] else width or 0,
        kv_heads=sizes["heads"] if kv_heads is None else kv_heads,
        head_dim=count("head_dim", "attention_head_dim", least=1),
        gated=is_gated(fields),
        tied=fields.flag("tie_word_embeddings", default=fields.tied_by_default),
        source="its config.json",
        note=notes_on(fields),
    )


def _mixture(fields: Fields, width: int | None, layers: int, missing: list[str]) -> dict[str, int]:
    """The experts' sizes; what is missing is added to `missing`."""
    count = fields.count
    per_token = count("num_experts_per_tok", "experts_per_token", "moe_top_k", "moe_topk", least=1)
    if per_token is None:
        missing.append("num_experts_per_tok")
    expert_width = count("moe_intermediate_size", "expert_ffn_hidden_size", least=1) or width
    if expert_width is None:
        missing.append("moe_intermediate_size")
    shared = count("shared_expert_intermediate_size", "shared_intermediate_size")
    if shared is None and fields.words("model_type") in {"llama4", "llama4_text"}:
        shared = expert_width or 0
    if shared is None:
        shared = (count("n_shared_experts", "num_shared_experts") or 0) * (expert_width or 0)
    dense = fields.dense_layers(layers)
    if dense and width is None:
        missing.append("intermediate_size")
    return {
        "experts_per_token": per_token or 1,
        "expert_width": expert_width or 1,
        "shared_width": shared,
        "dense_layers": dense,
    }


def _them(missing: list[str]) -> str:
    return "it" if len(missing) == 1 else "them"


def _parsed(config: object) -> Mapping[str, object]:
    if not isinstance(config, (str, bytes, bytearray)):
        raise ModelConfigError(
            f"config must be the text of a config.json or its object; got {type(config).__name__}."
        )
    if len(config) > _LARGEST:
        raise ModelConfigError(
            f"config.json must have at most {_LARGEST:,} characters; got {len(config):,}."
        )
    try:
        value = json.loads(config, parse_int=_whole)
    except (ValueError, RecursionError) as error:  # JSON, UTF-8, nesting, digits
        why = str(error).split("\n")[0].rstrip(".")[:120]
        raise ModelConfigError(f"config.json must be JSON; it cannot be read: {why}.") from None
    if not isinstance(value, dict):
        raise ModelConfigError(
            f"config.json must be a JSON object with the model's sizes; got {_kind(value)}."
        )
    return value


def _inner(whole: Mapping[str, object]) -> Mapping[str, object]:
    for key in _NESTED:
        inner = whole.get(key)
        if isinstance(inner, Mapping) and "hidden_size" not in whole:
            return inner
    return whole


def _whole(digits: str) -> int | float:
    """Whole numbers as such; absurdly long ones as floats, which every check of a size refuses."""
    return int(digits) if len(digits) <= 2 * _LONGEST_COUNT else float(digits)


def _kind(value: object) -> str:
    words = {list: "a list", str: "a string", type(None): "null", bool: "true or false"}
    return words.get(type(value), "a number")
