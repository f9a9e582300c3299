"""What `gpu.py` measures: in real sizes, and in tiny ones that try the code."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import torch
from gpu_stack import LLAMA_1B, LLAMA_8B, Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is measured: shapes, contexts [tokens], widths, batches, draft lengths, acceptances.

    Batch 1 is measured at all `widths`, so that `batches` begin above it.
    """

    small: bool
    device: str
    dtype: torch.dtype
    target: Shape
    draft: Shape
    modes: tuple[str, ...]
    loop_mode: str
    context: int
    long_context: int
    widths: tuple[int, ...]
    batches: tuple[int, ...]
    batch_widths: tuple[int, ...]
    gammas: tuple[int, ...]
    chances: tuple[float, ...]
    loop_tokens: int
    repeats: int
    batch_repeats: int
    loop_repeats: int
    copied_bytes: int
    product_side: int


REAL = Settings(
    small=False,
    device="cuda",
    dtype=torch.bfloat16,
    target=LLAMA_8B,
    draft=LLAMA_1B,
    modes=("graph", "eager"),
    loop_mode="graph",
    context=512,
    long_context=8192,
    widths=(1, 2, 3, 5, 9, 17, 33),
    batches=(2, 4, 8, 16, 32, 64, 128, 256),
    batch_widths=(1, 2, 3, 5, 9),
    gammas=(1, 2, 4, 8),
    chances=(0.5, 0.7, 0.9),
    loop_tokens=128,
    repeats=25,
    batch_repeats=9,
    loop_repeats=5,
    copied_bytes=2**30,
    product_side=8192,
)
_SMALL_TARGET = Shape(
    name="tiny target",
    layers=3,
    hidden=96,
    heads=8,
    kv_heads=2,
    head_size=16,
    width=192,
    vocabulary=512,
    tied=False,
)
_SMALL_DRAFT = dataclasses.replace(
    _SMALL_TARGET, name="tiny draft", layers=1, hidden=64, width=128, tied=True
)
SMALL = dataclasses.replace(
    REAL,
    small=True,
    device="cpu",
    dtype=torch.float32,
    target=_SMALL_TARGET,
    draft=_SMALL_DRAFT,
    modes=("static", "eager"),
    loop_mode="static",
    context=48,
    long_context=192,
    batches=(2, 4),
    loop_tokens=18,
    repeats=5,
    batch_repeats=3,
    loop_repeats=3,
    copied_bytes=2**22,
    product_side=128,
)
