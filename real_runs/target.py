"""`load_target`: any causal language model of transformers, ready for the loop."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from real_runs.models.sources import find_source

if TYPE_CHECKING:
    from real_runs.models.causal import CausalTarget

NEEDED = ("torch", "transformers", "safetensors", "tokenizers", "accelerate", "gguf")


def load_target(
    name: str, *, device: str = "cpu", dtype: str = "float32", keep_hidden: bool = False
) -> CausalTarget:
    """Load a model by name.

    `name` is "tiny" or "tiny-draft" (bundled), "smollm2" (`make real-model`), a folder with
    config.json and safetensors, a .gguf file, or a hub id; what exists on disk never goes to the
    network. `device` is cpu, cuda or mps, `dtype` float32, bfloat16, float16 or float64. Code that a
    model brings along is never run.

    Raises ValueError, one sentence each: the extra `real` is missing, the model cannot be found or
    is damaged, device or dtype are not to be had, its cache cannot forget tokens.

    >>> load_target("tiny", device="tpu")
    Traceback (most recent call last):
    ValueError: device must be one of cpu, cuda, mps; got 'tpu'.
    """
    check_installed()
    from real_runs.models.causal import CausalTarget  # noqa: PLC0415 — torch costs seconds at import
    from real_runs.models.devices import as_device, as_dtype  # noqa: PLC0415
    from real_runs.models.loading import load_model, load_tokenizer, quiet  # noqa: PLC0415

    where = as_device(device)
    precision = as_dtype(dtype, where)
    source = find_source(name)
    with quiet():
        model = load_model(source, precision)
        tokenizer = load_tokenizer(source, model)
    return CausalTarget(
        model=model.to(where), tokenizer=tokenizer, source=source, keep_hidden=keep_hidden
    )


def check_installed() -> None:
    """ValueError, one sentence, where the extra `real` is missing."""
    missing = [package for package in NEEDED if not _is_installed(package)]
    if missing:
        raise ValueError(
            'actual models need the extra `real`, pip install -e ".[real]" in the checkout; missing: '
            f"{', '.join(missing)}."
        )


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ImportError:  # a finder that forbids it
        return False
