"""A machine as the command line names it: a preset, numbers with or without units, or both."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from analysis.hardware import Accelerator, Machine
from analysis.specs import OWN_MACHINE, Spec, named, read_spec

_DEVICE = (
    "memory_bytes_per_s", "operations_per_s", "memory_bytes", "link_bytes_per_s", "operations_8bit_per_s",
)  # fmt: skip
_UNITS = {
    "memory_bytes_per_s": ("B/s",), "link_bytes_per_s": ("B/s",), "memory_bytes": ("B", "iB"),
    "operations_per_s": ("FLOP/s", "FLOPS", "FLOPs", "OP/s", "OPS"),
    "operations_8bit_per_s": ("FLOP/s", "FLOPS", "FLOPs", "OP/s", "OPS"),
}  # fmt: skip
_LEAST = 1e8
"""Bytes and operations below which no machine is described but a unit forgotten."""
_MACHINE = tuple(field.name for field in dataclasses.fields(Machine) if field.name != "accelerator")
_MEANT = {
    "bandwidth": "memory_bytes_per_s", "flops": "operations_per_s", "memory": "memory_bytes",
    "tp": "devices", "gpus": "devices",
}  # fmt: skip
"""Words that come to mind for a key."""


def machine_of(text: str, option: str = "--hardware") -> Machine:
    """A preset's name, its own numbers, or both, as a Machine.

    Keys are the fields of `Machine` and `Accelerator`, bytes and operations with units if they have some.
    Raises ValueError for an unknown preset or key, and numbers so small that a unit must be missing.

    >>> machine_of("memory_bytes_per_s=1e12 operations_per_s=1e14 memory_bytes=24e9 overlap=inf").overlap
    inf
    """
    from analysis.machine_presets import accelerator  # noqa: PLC0415 — reads a file

    spec = read_spec(option, text, (*_DEVICE, *_MACHINE), meant=_MEANT)
    own = {key: _own_number(spec, key) for key in _DEVICE if key in spec.values}
    missing = [key for key in _DEVICE[:3] if key not in own]
    if not spec.name and missing:
        raise ValueError(
            f"{option} must name a preset or give {', '.join(missing)} too, as in '{OWN_MACHINE}'."
        )
    values: dict[str, Any] = {
        key: spec.whole(key) if key in {"devices", "arithmetic_bits"} else spec.number(key)
        for key in _MACHINE
        if key in spec.values
    }
    with named(option):
        if spec.name:
            with or_else(f"give '{OWN_MACHINE}'"):
                card = accelerator(spec.name)
            card = replace(card, **own) if own else card  # type: ignore[arg-type]
        else:
            card = Accelerator(name="own machine", **own)  # type: ignore[arg-type]
        return Machine(accelerator=card, **values)


def _own_number(spec: Spec, key: str) -> float | None:
    value, units = spec.size(key, _UNITS[key]), _UNITS[key]
    if value is not None and 0.0 < value < _LEAST:
        raise ValueError(
            f"{spec.option}: {key} must be in {units[0]}, such as 24e9 or 24G{units[0]}; "
            f"got {spec.values[key]!r:.60}, which no machine has."
        )
    return value


@contextmanager
def or_else(way: str) -> Iterator[None]:
    """Say of a preset that is unknown what else can be given."""
    try:
        yield
    except ValueError as error:
        what, got, name = str(error).rpartition("; got ")
        if type(error) is not ValueError or not got:
            raise
        raise ValueError(f"{what}, or {way}{got}{name}") from None
