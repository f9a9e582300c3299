"""What a machine can do: bytes and operations per second, memory, and what of it programs reach."""

from __future__ import annotations

import math
from dataclasses import dataclass

from simulator._checks import as_count, as_nonnegative, as_probability


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """One device as its maker describes it.

    `memory_bytes_per_s` is the bandwidth of its memory, `operations_per_s` its dense matrix arithmetic at
    16 bits (a multiplication and an addition are two operations), `memory_bytes` its capacity.
    `link_bytes_per_s` is what it exchanges with the others of one machine, 0 where there is no link.
    `source` and `url` say where the numbers are printed.
    """

    name: str
    memory_bytes_per_s: float
    operations_per_s: float
    memory_bytes: float
    link_bytes_per_s: float = 0.0
    source: str = ""
    url: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("memory_bytes_per_s", "operations_per_s", "memory_bytes"):
            if as_nonnegative(name, getattr(self, name)) == 0.0:
                raise ValueError(f"{name} must be above 0; got 0.")
        as_nonnegative("link_bytes_per_s", self.link_bytes_per_s)

    @property
    def knee(self) -> float:
        """Operations per byte at which arithmetic takes as long as reading."""
        return self.operations_per_s / self.memory_bytes_per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Devices that run one model together, and what programs reach of them.

    `memory_share` and `operations_share` are the parts of bandwidth and arithmetic that are reached,
    `overlap` is the k of `PassCost`. `fixed_s` is what a pass takes beside its model (scheduling, sampling),
    `layer_s` what each layer adds to that (launches), `token_s` what a token does, `link_latency_s` one
    exchange between devices. The defaults are assumed
    (see `docs/architecture.md`): fit them from measured step times where there are some
    (`fit_pass_cost`). Raises ValueError for values out of range and several devices without a link.
    """

    accelerator: Accelerator
    devices: int = 1
    memory_share: float = 0.8
    operations_share: float = 0.6
    overlap: float = 1.0
    fixed_s: float = 2e-4
    layer_s: float = 5e-6
    token_s: float = 0.0
    link_latency_s: float = 1e-5

    def __post_init__(self) -> None:
        as_count("devices", self.devices, least=1)
        for name in ("memory_share", "operations_share"):
            if as_probability(name, getattr(self, name)) == 0.0:
                raise ValueError(f"{name} must be above 0; got 0.")
        for name in ("fixed_s", "layer_s", "token_s", "link_latency_s"):
            as_nonnegative(name, getattr(self, name))
        if isinstance(self.overlap, bool) or not (self.overlap >= 1.0 or math.isinf(self.overlap)):
            raise ValueError(
                f"overlap must be at least 1 (inf is the roofline); got {self.overlap!r}."
            )
        if self.devices > 1 and self.accelerator.link_bytes_per_s == 0.0:
            raise ValueError(
                f"devices must be 1 for {self.accelerator.name}, which has no link; got {self.devices}."
            )

    @property
    def memory_bytes(self) -> float:
        """Memory of all devices."""
        return self.devices * self.accelerator.memory_bytes
