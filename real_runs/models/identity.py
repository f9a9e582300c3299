"""Which model a number was measured on, exactly enough to tell it from every other one."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version

from real_runs.models.sources import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelIdentity:
    """A loaded model: where it is from, its weights' hash, its size, and what computed it.

    `sha256` is over the weight files (`Source.sha256`), `parameters` counts shared ones once,
    `revision` is the hub's commit, `dtype` that of the arithmetic (GGUF weights are unpacked to it).
    """

    name: str
    kind: Kind
    revision: str | None
    sha256: str
    architecture: str
    parameters: int
    layers: int
    hidden_size: int
    vocabulary: int
    context: int | None  # [tokens]
    dtype: str
    device: str
    attention: str
    torch_version: str
    transformers_version: str


def library_versions() -> tuple[str, str]:
    """Versions of torch and transformers.

    >>> len(library_versions())
    2
    """
    return version("torch"), version("transformers")
