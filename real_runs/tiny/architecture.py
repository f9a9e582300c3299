"""The two models of the tiny pair: their shapes, and a tokenizer with one token per byte.

Plain Llama configurations, so that transformers loads them like any other model. The target is deep
and narrow because a pass over it then costs many times a pass over the one-layer draft, as in pairs
that people really use.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
SEPARATOR = 256
"""The one token that is no byte: it opens every file."""
CONTEXT = 512
"""Longest sequence in bytes, in training and after."""
NAMES = ("target", "draft")


def folder_of(name: str) -> Path:
    """Where a model of the pair lies."""
    return FOLDER / name


def build_model(name: str) -> Any:
    """A freshly initialised model of the pair, by name."""
    from transformers import LlamaConfig, LlamaForCausalLM  # noqa: PLC0415 — costs seconds

    width, layers = {"target": (192, 8), "draft": (96, 1)}[name]
    config = LlamaConfig(
        vocab_size=SEPARATOR + 1,
        hidden_size=width,
        intermediate_size=8 * width // 3,
        num_hidden_layers=layers,
        num_attention_heads=width // 32,
        num_key_value_heads=width // 32,
        max_position_embeddings=CONTEXT,
        rope_parameters={"rope_type": "default", "rope_theta": 10_000.0},
        tie_word_embeddings=True,
        bos_token_id=SEPARATOR,
        eos_token_id=SEPARATOR,
        attention_bias=False,
    )
    return LlamaForCausalLM(config)


def build_tokenizer() -> Any:
    """A tokenizer with one token per byte, whose id is the byte."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors  # noqa: PLC0415
    from transformers import PreTrainedTokenizerFast  # noqa: PLC0415

    separator = "<|file|>"
    characters = _byte_characters()
    vocabulary = {character: byte for byte, character in enumerate(characters)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([separator])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{separator} $A", special_tokens=[(separator, SEPARATOR)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=separator,
        eos_token=separator,
        model_max_length=CONTEXT,
        clean_up_tokenization_spaces=False,
    )


def _byte_characters() -> list[str]:
    """The printable character that stands for each byte in byte-level tokenizers (GPT-2's rule)."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    spare = iter(range(0x100, 0x200))
    return [chr(byte if byte in printable else next(spare)) for byte in range(256)]
