"""Weights and tokenizer of a source, by transformers, and what it would only log made an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
from transformers.utils import logging

from real_runs.models.hub import first_line
from real_runs.models.sources import Source
from real_runs.models.text import TextTokenizer

ONLY_LOCAL = {"local_files_only": True, "trust_remote_code": False}
"""Nothing is fetched here, and no code that a model brings along is run."""


def load_model(source: Source, dtype: torch.dtype) -> Any:
    """A transformers model with all its weights. Raises ValueError for damaged or missing ones."""
    try:
        model, report = AutoModelForCausalLM.from_pretrained(
            source.folder,
            dtype=dtype,
            output_loading_info=True,
            **ONLY_LOCAL,
            **format_of(source),
        )
    except Exception as error:
        raise ValueError(f"{source.name} cannot be loaded: {_reason(error)}.") from error
    # transformers fills what is missing with random numbers and says so in a log line only.
    if absent := sorted(report["missing_keys"]):
        raise ValueError(
            f"{source.name} must hold all weights of a {type(model).__name__}; {len(absent)} are "
            f"missing, first {absent[0]}."
        )
    return model


def format_of(source: Source) -> dict[str, Any]:
    """What makes transformers read this kind of weights, and no other.

    Packed GGUF weights would be computed with kernels that are fetched from the hub, compiled code;
    so they are unpacked, always.
    """
    if source.gguf is None:
        return {"use_safetensors": True}
    return {"gguf_file": source.gguf, "quantization_config": GgufConfig(dequantize=True)}


def load_tokenizer(source: Source, model: Any) -> TextTokenizer:
    """The tokenizer of a model; what ends a text is also what the model's settings say ends it.

    Raises ValueError if there is none.
    """
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            source.folder, gguf_file=source.gguf, **ONLY_LOCAL
        )
    except Exception as error:
        raise ValueError(
            f"{source.name} must come with its tokenizer; it cannot be loaded: {_reason(error)}."
        ) from error
    stops = model.generation_config.eos_token_id
    return TextTokenizer(
        tokenizer,
        stop_tokens=stops if isinstance(stops, list) else [] if stops is None else [stops],
    )


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {first_line(error)}"


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars and remarks of transformers while it loads; errors still come as errors."""
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
