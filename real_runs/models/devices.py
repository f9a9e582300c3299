"""Where arithmetic runs and in which precision: names to torch's own, threads, waiting for the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from simulator._checks import as_count

DEVICES = ("cpu", "cuda", "mps")
DTYPES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "float64": torch.float64,
}


def as_device(name: str) -> torch.device:
    """A device of this machine.

    Raises ValueError for another name and for a device that this machine or this torch lacks.

    >>> as_device("cpu")
    device(type='cpu')
    """
    if name not in DEVICES:
        raise ValueError(f"device must be one of {', '.join(DEVICES)}; got {name!r}.")
    here = {
        "cpu": True,
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
    }
    if not here[name]:
        usable = ", ".join(key for key, found in here.items() if found)
        raise ValueError(
            f"device {name} is not available to this torch ({torch.__version__}) on this machine; "
            f"available: {usable}."
        )
    return torch.device(name)


def as_dtype(name: str, device: torch.device) -> torch.dtype:
    """The precision of weights and arithmetic.

    Raises ValueError for another name, and for float64 on mps, which has none.

    >>> as_dtype("float64", torch.device("cpu"))
    torch.float64
    """
    if name not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}; got {name!r}.")
    if name == "float64" and device.type == "mps":
        raise ValueError("dtype float64 must run on cpu or cuda; mps has no such arithmetic.")
    return DTYPES[name]


def synchronize(device: torch.device) -> None:
    """Wait until the device has done everything it was given; a clock read before that is wrong."""
    if device.type != "cpu":
        torch.accelerator.synchronize(device)


@contextmanager
def set_threads(count: int) -> Iterator[None]:
    """Let torch compute with `count` threads inside, and with as many as before afterwards.

    Raises ValueError for less than one.

    >>> with set_threads(1):
    ...     torch.get_num_threads()
    1
    """
    count = as_count("threads", count, least=1)
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
