"""Facts about the machine that times depend on, by allow-list: no name of a host, person or place."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from real_runs.runs.header import Environment

PACKAGES = ("specdec", "numpy", "torch", "transformers", "tokenizers", "safetensors", "gguf")
"""Packages whose versions are recorded where they are installed."""
_CPU_INFO = Path("/proc/cpuinfo")
_CPU_KEYS = ("model name", "Hardware", "Processor")


def environment(*, accelerator: str | None = None) -> Environment:
    """What this process runs on.

    >>> environment().cores >= 1
    True
    """
    return Environment(
        python=platform.python_version(),
        packages=tuple((name, found) for name in PACKAGES if (found := _version(name))),
        system=platform.system(),
        machine=platform.machine(),
        cpu=cpu_name(),
        cores=_cores(),
        memory_bytes=_memory_bytes(),
        accelerator=accelerator,
    )


def cpu_name(cpu_info: Path = _CPU_INFO) -> str:
    """The processor's model name; the architecture where the system does not tell."""
    with suppress(OSError):
        for line in cpu_info.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() in _CPU_KEYS and value.strip():
                return value.strip()
    return platform.processor() or platform.machine()


def accelerator_name(device: str) -> str | None:
    """The name of the accelerator behind a torch device; None for the processor itself."""
    if device.startswith("cuda"):
        import torch  # noqa: PLC0415

        return str(torch.cuda.get_device_name(device))
    return "Apple GPU (mps)" if device.startswith("mps") else None


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory_bytes() -> int:
    """Physical memory; 0 where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0
