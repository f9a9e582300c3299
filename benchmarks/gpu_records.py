"""What `gpu.py` measured, as values: written as JSON, read back, and nothing in it that does not follow.

Schema 1. Times are seconds where a name ends in `_s`; a Spread is a median with its quartiles. `passes`
are single passes of a model: mode `eager` (growing cache), `static` (static cache) or `graph` (static
cache, CUDA graph), `status` measured, skipped, out of memory or "failed: why"; `floor_s` is moved_bytes
over the copy's rate and `over_floor` the median over it. `costs` are V(n) and c at each batch; `loops`
are the draft–verify loops at forced acceptance; `break_even` the batch where speculation stops paying.
The last three and the floors follow from the rest: `gpu_derived.check_report` refuses a report where they
do not.
"""

from __future__ import annotations

import dataclasses
import json
import math
import types
import typing
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SCHEMA = 1
LARGEST_FILE = 10_000_000
LARGEST_DIFFERENCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Median, quartiles and number of repeats."""

    median: float
    low: float
    high: float
    repeats: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How fast the device copies (bytes read and written) and multiplies (two operations a term)."""

    copied_bytes: int
    copy_s: Spread
    bytes_per_s: float
    product_side: int
    product_s: Spread
    operations_per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """Where it ran."""

    name: str
    memory_bytes: int | None
    torch: str
    cuda: str | None
    driver: str | None
    python: str
    threads: int
    attention: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A stack's sizes; `read_weights` are the elements that every pass reads."""

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    width: int
    vocabulary: int
    tied: bool
    weights: int
    read_weights: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One part of the run: done, skipped or partly skipped, and why."""

    name: str
    status: str
    seconds: float
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassTime:
    """A pass over `tokens` new tokens of each of `batch` requests that hold `context` tokens."""

    model: str
    mode: str
    batch: int
    tokens: int
    context: int
    status: str
    pass_s: Spread | None
    moved_bytes: int
    operations: int
    floor_s: float | None
    over_floor: float | None
    product_floor_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassCosts:
    """c = draft pass / target pass over one token, and V(n) at the widths measured."""

    mode: str
    batch: int
    context: int
    target_s: float
    draft_s: float | None
    cost_ratio: float | None
    widths: tuple[int, ...]
    verify_cost: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopTime:
    """A draft–verify loop whose drafts are kept with chance p, against plain decoding in turn.

    `plain_token_s` and `round_s` hold a value per repeat. A round's time does not depend on how much
    of it is kept, so `speedup` is tokens_per_round · plain_token_s / round_s, repeat by repeat, with
    the tokens per round of all repeats together. `formula` is the closed form with the passes and
    the overhead measured beside it, `formula_passes` without the overhead, and `formula_counts`
    with the tokens per round that came about.
    """

    mode: str
    gamma: int
    p: float
    rounds: int
    accepted: int
    tokens_per_round: float
    expected_tokens: float
    plain_token_s: tuple[float, ...]
    round_s: tuple[float, ...]
    speedup: Spread
    target_s: float
    verify_s: float
    draft_s: float
    draft_two_s: float
    plain_overhead_s: float
    round_overhead_s: float
    formula: float
    formula_passes: float
    formula_counts: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """The smallest measured batch with a speedup of at most 1; None if all of `batches` pay."""

    mode: str
    gamma: int
    p: float
    batches: tuple[int, ...]
    speedups: tuple[float, ...]
    batch: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A whole run. `small`: tiny shapes that try the code and say nothing about a machine."""

    schema: int
    small: bool
    date: str
    seed: int
    minutes: float
    dtype: str
    context: int
    device: Device
    target: Model
    draft: Model
    stages: tuple[Stage, ...]
    rates: Rates | None
    passes: tuple[PassTime, ...]
    costs: tuple[PassCosts, ...]
    loops: tuple[LoopTime, ...]
    break_even: tuple[BreakEven, ...]


def spread(values: Sequence[float]) -> Spread:
    """Median and quartiles."""
    low, median, high = np.quantile(values, (0.25, 0.5, 0.75))
    return Spread(median=float(median), low=float(low), high=float(high), repeats=len(values))


def write_report(report: Report, path: Path) -> None:
    """As JSON, whole or not at all."""
    text = json.dumps(dataclasses.asdict(report), indent=1, allow_nan=False, ensure_ascii=False)
    part = path.with_name(path.name + ".part")
    part.write_text(text + "\n", encoding="utf-8")
    part.replace(path)


def load_report(path: Path) -> Report:
    """The report of a JSON file, its fields and their types checked."""
    if path.stat().st_size > LARGEST_FILE:
        raise ValueError(f"{path} must be at most {LARGEST_FILE:,} bytes.")
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{path} must be the JSON that gpu.py writes: {error}") from None
    report = _built(Report, data, "report")
    if report.schema != SCHEMA:
        raise ValueError(f"schema must be {SCHEMA}; got {report.schema}.")
    return report


def difference(told: object, computed: object) -> bool:
    """Whether two values differ by more than rounding anywhere."""
    if isinstance(told, float) and isinstance(computed, float):
        return not math.isclose(told, computed, rel_tol=LARGEST_DIFFERENCE)
    if dataclasses.is_dataclass(told) and type(told) is type(computed):
        names = [field.name for field in dataclasses.fields(told)]
        return any(difference(getattr(told, n), getattr(computed, n)) for n in names)
    if isinstance(told, tuple) and isinstance(computed, tuple):
        pairs = zip(told, computed, strict=False)
        return len(told) != len(computed) or any(difference(a, b) for a, b in pairs)
    return told != computed


def _built(kind: Any, data: object, where: str) -> Any:
    """`data` as the annotated type `kind`; ValueError where it is not."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return None if data is None else _built(inner[0], data, where)
    if origin is tuple and isinstance(data, list):
        return tuple(_built(inner[0], entry, f"{where}[{i}]") for i, entry in enumerate(data))
    if dataclasses.is_dataclass(kind) and isinstance(data, dict):
        hints = typing.get_type_hints(kind)
        if set(data) != set(hints):
            raise ValueError(f"{where} must have the fields {', '.join(hints)}.")
        return kind(**{n: _built(hint, data[n], f"{where}.{n}") for n, hint in hints.items()})
    if kind is float and type(data) in (int, float) and -1e300 < data < 1e300:
        return float(data)
    if kind in (int, str, bool) and type(data) is kind:
        return data
    raise ValueError(f"{where} must be {getattr(kind, '__name__', kind)}; got {str(data)[:40]!r}.")
