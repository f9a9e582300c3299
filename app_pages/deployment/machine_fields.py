"""The numbers of a machine: its own, where it is no preset, and what programs reach of it. No Streamlit."""

from __future__ import annotations

import dataclasses

from analysis.hardware import Machine
from app_pages.state import Field

_USUAL = {each.name: each.default for each in dataclasses.fields(Machine)}


def _usual(name: str, factor: float = 1.0) -> float:
    """What a machine is taken to reach unless somebody knows better, in the unit of its field."""
    return float(f"{float(str(_USUAL[name])) * factor:.10g}")


def field(
    key: str,
    name: str,
    label: str,
    limits: tuple[float, float],
    default: float,
    words: str,
    *,
    step: float = 1,
    decimals: int = 0,
) -> Field:
    """A number from 0 decimals (a count) on, with its limits."""
    return Field(
        key=key,
        name=name,
        label=label,
        low=limits[0],
        high=limits[1],
        default=default,
        step=step,
        decimals=decimals,
        help=words,
    )


DEVICES = field(
    *("devices", "devices", "Devices", (1, 64), 1),
    "How many of them run the model together.\n\nvLLM and SGLang: `--tensor-parallel-size`, `--tp`.",
)
MEMORY_SHARE = field(
    *("mem", "the memory share", "Bandwidth reached, share", (0.05, 1.0), _usual("memory_share")),
    "Part of the printed bandwidth that decoding reaches: bytes of the weights / (time of a plain step × "
    "bandwidth).",
    step=0.01,
    decimals=2,
)
OPERATIONS_SHARE = field(
    *(
        "ops",
        "the operations share",
        "Arithmetic reached, share",
        (0.05, 1.0),
        _usual("operations_share"),
    ),
    "Part of the printed operations that a long prompt reaches. Time a prompt of some thousand tokens.",
    step=0.01,
    decimals=2,
)
OVERLAP_K = field(
    *("k", "the overlap exponent", "Overlap exponent k", (1.0, 64.0), _usual("overlap")),
    "How reading and computing share the time: (memoryᵏ + computeᵏ)^(1/k). 1: one after the other; 64 is "
    "as good as a roofline, the longer of the two.",
    step=0.5,
    decimals=2,
)
FIXED_MS = field(
    *(
        "fixed",
        "the fixed time",
        "Fixed time of a pass (ms)",
        (0.0, 1000.0),
        _usual("fixed_s", 1e3),
    ),
    "Scheduling and sampling, whatever the model.",
    step=0.05,
    decimals=3,
)
LAYER_US = field(
    *(
        "launch",
        "the time per layer",
        "Fixed time per layer (µs)",
        (0.0, 100_000.0),
        _usual("layer_s", 1e6),
    ),
    "Launches of kernels. CUDA graphs make it small, eager mode 50 and more.",
    step=1,
    decimals=2,
)
TOKEN_US = field(
    *(
        "each",
        "the time per token",
        "Further time per token (µs)",
        (0.0, 100_000.0),
        _usual("token_s", 1e6),
    ),
    "Sampling and bookkeeping of each token in a pass.",
    step=1,
    decimals=2,
)
BANDWIDTH = field(
    *("gbs", "the bandwidth", "Memory bandwidth (GB/s)", (0.1, 1e6), 3350),
    "Of one device, as its maker prints it: 1,008 for an RTX 4090, 80 for two channels of DDR5.",
    decimals=1,
)
TFLOPS = field(
    *("tflops", "the arithmetic", "Arithmetic (TFLOP/s)", (1e-3, 1e6), 989),
    "Of one device: dense, at 16 bits. Figures with sparsity are twice as high.",
    decimals=1,
)
MEMORY_GB = field(
    *("gb", "the memory", "Memory (GB)", (1e-2, 1e6), 85.5),
    "Of one device: what weights and caches must fit into.",
    decimals=1,
)
LINK = field(
    *("link", "the link", "Link to the others (GB/s)", (0.0, 1e6), 450),
    "What one device sends to the others in one direction: NVLink 900 GB/s counts both. 0 for none, "
    "which allows one device only.",
    decimals=1,
)
OWN_NUMBERS = {"bandwidth": BANDWIDTH, "tflops": TFLOPS, "memory_gb": MEMORY_GB, "link": LINK}
"""What a machine of one's own is described by, by its name in `Choice`; the defaults are an H100's."""
