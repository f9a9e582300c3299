"""Facts about the device and the versions that times depend on."""

from __future__ import annotations

import functools
import platform
import shutil
import subprocess

import torch
from gpu_records import Device
from gpu_stack import Shape
from torch.nn.attention import SDPBackend


@functools.cache
def device_facts(device: str, dtype: torch.dtype, shape: Shape) -> Device:
    """The device and the versions that its times depend on; no name of a host."""
    on_gpu = device == "cuda"
    found = torch.cuda.get_device_properties(0) if on_gpu else None
    return Device(
        name=found.name if found else f"CPU, {platform.machine()}",
        memory_bytes=found.total_memory if found else None,
        torch=torch.__version__,
        cuda=torch.version.cuda if on_gpu else None,
        driver=driver_version() if on_gpu else None,
        python=platform.python_version(),
        threads=torch.get_num_threads(),
        attention=attention_kernels(device, dtype, shape),
    )


def driver_version() -> str | None:
    """As `nvidia-smi` tells it; None where there is none."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    query = [program, "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        told = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return (told.stdout.split() or [None])[0]


def attention_kernels(device: str, dtype: torch.dtype, shape: Shape) -> str | None:
    """Which kernels PyTorch takes for attention as the passes call it; MATH would be a slow one."""
    group, columns = shape.heads // shape.kv_heads, 64
    rows = torch.zeros(1, shape.kv_heads, group, shape.head_size, device=device, dtype=dtype)
    keys = torch.zeros(1, shape.kv_heads, columns, shape.head_size, device=device, dtype=dtype)
    mask = torch.zeros(group, columns, device=device, dtype=dtype)
    try:
        chosen = [torch._fused_sdp_choice(rows, keys, keys, attn_mask=m) for m in (None, mask)]  # noqa: SLF001 — the only one that tells
        plain, masked = (SDPBackend(choice).name for choice in chosen)
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return None
    return f"{plain} without a mask, {masked} with one"
