"""Fields of a `config.json`, and which shapes of models they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_MOST = 100_000_000  # of any size: the largest in use is below a million
_MOST_LISTED = 10_000  # layers that are gone through one by one
_UNGATED_TYPES = frozenset({
    "apertus", "arcee", "bloom", "codegen", "falcon", "fuyu", "gpt2", "gpt_bigcode", "gpt_neo", "gpt_neox",
    "gpt_neox_japanese", "gptj", "jais2", "mpt", "nanochat", "nemotron", "opt", "persimmon", "phi",
    "starcoder2", "xglm",
})  # fmt: skip
_UNGATED_ACTIVATIONS = frozenset({"relu2", "xielu", "gelu_new", "gelu_fast"})
_TIED_TYPES = frozenset({
    "bloom", "cohere", "cohere2", "ernie4_5", "falcon", "gemma", "gemma2", "gemma3", "gemma3_text", "gpt2",
    "gpt_bigcode", "gpt_neo", "gpt_neox_japanese", "mpt", "opt", "smollm3", "starcoder2", "vaultgemma",
    "xglm",
})  # fmt: skip
_REFUSED_FIELDS = {
    "kv_lora_rank": "latent attention (MLA), whose cache is not keys and values per head",
    "ssm_cfg": "state-space layers",
    "mamba_d_state": "state-space layers",
    "ssm_state_size": "state-space layers",
    "state_size": "state-space layers",
    "attn_layer_period": "state-space layers between attention",
    "linear_num_key_heads": "linear attention",
    "linear_attn_config": "linear attention",
    "block_configs": "layers that differ from one another",
    "global_head_dim": "layers that differ from one another",
    "hidden_size_per_layer_input": "embeddings in every layer",
    "lru_width": "recurrent layers",
}
_REFUSED_TYPES = {
    "mamba": "state-space layers", "mamba2": "state-space layers", "jamba": "state-space layers",
    "rwkv": "recurrent layers", "bert": "an encoder", "roberta": "an encoder", "t5": "an encoder",
}  # fmt: skip
_ATTENTION = frozenset({"full_attention", "sliding_attention", "chunked_attention"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """The fields of a configuration, checked as they are asked for. None and absent are the same.

    `inner` describes the language model, `outer` the whole configuration around it (or the same object).
    """

    inner: Mapping[str, object]
    outer: Mapping[str, object]

    def value(self, *names: str) -> object:
        """The first of these fields that has a value."""
        for name in names:
            if self.inner.get(name) is not None:
                return self.inner[name]
        return None

    def count(self, *names: str, least: int = 0) -> int | None:
        """A size under the first of these names; None if there is none. ValueError if it is no count."""
        for name in names:
            value = self.inner.get(name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST:
                raise ValueError(
                    f"{name} must be a whole number in [{least}, {_MOST}]; got {_shown(value)}."
                )
            return value
        return None

    def flag(self, name: str, *, default: bool) -> bool:
        """A truth value, also where only the outer object has it."""
        value = self.inner.get(name)
        if value is None:
            value = self.outer.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be true or false; got {_shown(value)}.")
        return value

    def words(self, name: str) -> str:
        """A text, in lower case; empty if there is none."""
        value = self.inner.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise ValueError(f"{name} must be a text; got {_shown(value)}.")
        return value.lower()

    @property
    def name(self) -> str:
        """What the configuration calls itself: the end of `_name_or_path`, or its type."""
        for value in (self.outer.get("_name_or_path"), self.outer.get("model_type")):
            if isinstance(value, str) and value.strip():
                last = value.strip().replace("\\", "/").rstrip("/").rpartition("/")[2]
                return "".join(letter for letter in last if letter.isprintable())[:80]
        return ""

    @property
    def tied_by_default(self) -> bool:
        """Whether this type ties its output layer where the file does not say."""
        return self.words("model_type") in _TIED_TYPES

    @property
    def layer_kinds(self) -> tuple[str, ...] | None:
        """The kind of attention of each layer; None if the file does not say."""
        kinds = self.value("layer_types")
        if kinds is None:
            return None
        if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
            raise ValueError(f"layer_types must be a list of texts; got {_shown(kinds)}.")
        return tuple(kinds)

    def dense_layers(self, layers: int) -> int:
        """Layers of a mixture that have no experts."""
        if layers > _MOST_LISTED:
            raise ValueError(
                f"num_hidden_layers must be at most {_MOST_LISTED:,} in a mixture; got {layers:,}."
            )
        step = self.count("decoder_sparse_step", "interleave_moe_layer_step", least=1) or 1
        first = self.count("first_k_dense_replace", "num_dense_layers") or 0
        every = self.value("moe_layer_freq")
        if every is not None and every != 1:
            raise ValueError(
                "moe_layer_freq must be 1, experts in every layer behind the first dense ones; got "
                f"{_shown(every)}."
            )
        # Every spelling of a step puts experts into the last layer of each group of so many.
        dense = {layer for layer in range(layers) if layer < first or (layer + 1) % step}
        dense.update(self._listed("mlp_only_layers", layers))
        routed = self._listed("moe_layers", layers)
        if routed:
            dense = set(range(layers)) - routed
        if len(dense) == layers > 0:
            raise ValueError("a mixture must have experts in at least one layer; got none.")
        return len(dense)

    def _listed(self, name: str, layers: int) -> set[int]:
        """Layers that a list names; none if there is no list."""
        listed = self.value(name)
        if listed is None:
            return set()
        if not isinstance(listed, list) or not all(_is_layer(x, layers) for x in listed):
            raise ValueError(f"{name} must list layers below {layers}; got {_shown(listed)}.")
        return set(listed)


def check_supported(fields: Fields) -> None:
    """Refuse shapes whose cache, reading or arithmetic the formulas do not describe."""
    for name, shape in _REFUSED_FIELDS.items():
        if fields.value(name) is not None:
            raise ValueError(
                f"the model has {shape} ({name}), which is not supported; give the cost of its passes."
            )
    model_type = fields.words("model_type")
    if model_type in _REFUSED_TYPES:
        raise ValueError(
            f"a model of type {model_type} has {_REFUSED_TYPES[model_type]}, which is not supported."
        )
    if fields.flag("is_encoder_decoder", default=False):
        raise ValueError("an encoder and a decoder (is_encoder_decoder) are not supported.")
    others = [kind for kind in fields.layer_kinds or () if kind not in _ATTENTION]
    if others:
        raise ValueError(f"layers of the kind {others[0]!r:.40} (layer_types) are not supported.")


def check_dense(fields: Fields) -> None:
    """Refuse a mixture whose number of experts stands under no known name, rather than call it dense."""
    for name, value in fields.inner.items():
        counts = isinstance(value, int) and not isinstance(value, bool) and value > 1
        if counts and isinstance(name, str) and ("expert" in name or name.startswith("moe_")):
            raise ValueError(
                f"{name[:60]} speaks of experts, but num_experts, num_local_experts or n_routed_experts "
                "must say how many there are."
            )


def is_gated(fields: Fields) -> bool:
    """Whether the feed-forward part has three matrices (gate, up, down) rather than two."""
    activation = fields.words("hidden_act") or fields.words("hidden_activation")
    return not (fields.words("model_type") in _UNGATED_TYPES or activation in _UNGATED_ACTIVATIONS)


def notes_on(fields: Fields) -> str:
    """What of the configuration the architecture does not say."""
    notes = []
    kinds = fields.layer_kinds
    sliding = [kind for kind in kinds or () if kind != "full_attention"]
    window = fields.count("sliding_window")
    if sliding or (window and kinds is None and fields.flag("use_sliding_window", default=True)):
        some = f"{len(sliding)} layers have" if sliding else "attention has"
        notes.append(f"{some} a window of {window or '?'} tokens, counted as full attention here")
    quantized = fields.value("quantization_config")
    if isinstance(quantized, Mapping):
        method = quantized.get("quant_method")
        kind = f" ({method})" if isinstance(method, str) and len(method) <= 40 else ""
        notes.append(f"the weights are quantized{kind}: give their bits")
    text = "; ".join(notes)
    return text[:1].upper() + text[1:] + "." if text else ""


def _is_layer(value: object, layers: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < layers


def _shown(value: object) -> str:
    """A value for an error message: short, on one line."""
    if isinstance(value, (list, Mapping)):
        return "a list" if isinstance(value, list) else "an object"
    return f"{value!r:.60}"
