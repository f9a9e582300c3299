"""Clocks, memory limits and rates of a device: what the times of passes are held against."""

from __future__ import annotations

import gc
import time
import traceback
from collections.abc import Callable

import torch
from gpu_records import Rates, Spread, spread

WARM_UPS = 2
FEWEST_REPEATS = 3


class Clock:
    """Seconds of a piece of work: by events on a GPU, which works on after a call has returned."""

    def __init__(self, device: str) -> None:
        self.device = torch.device(device)

    def wait(self) -> None:
        """Until the device has done its work."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def seconds(self, work: Callable[[], object]) -> float:
        """Time on the device from before the work to behind it."""
        if self.device.type != "cuda":
            return self.wall_seconds(work)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.wait()
        begin.record()
        work()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3

    def wall_seconds(self, work: Callable[[], object]) -> float:
        """Time on the wall, the host's own work included."""
        self.wait()
        begin = time.perf_counter()
        work()
        self.wait()
        return time.perf_counter() - begin


class Budget:
    """What is left of the time given, from now on."""

    def __init__(self, minutes: float) -> None:
        self.end = time.monotonic() + 60.0 * minutes

    @property
    def left_s(self) -> float:
        return self.end - time.monotonic()

    def lacks(self, seconds: float) -> str | None:
        """Why work of so many seconds is skipped; None if it fits."""
        if seconds < self.left_s:
            return None
        return f"about {seconds:.3g} s needed, {max(self.left_s, 0.0):.3g} s left"


def interleaved(
    works: dict[str, Callable[[], object]], repeats: int, clock: Clock, budget: Budget
) -> tuple[dict[str, Spread], dict[str, str]]:
    """The spread of each work's seconds, taken in turn after a warm-up; and why a work has none.

    Work that fails is not tried again. Repeats end early, but not before three, when time is up.
    """
    seconds: dict[str, list[float]] = {name: [] for name in works}
    failed: dict[str, str] = {}
    for repeat in range(WARM_UPS + repeats):
        if repeat >= WARM_UPS + FEWEST_REPEATS and budget.left_s <= 0.0:
            break
        for name, work in works.items():
            if name in failed:
                continue
            took, reason = attempted(lambda work=work: clock.seconds(work))
            if reason is not None:
                failed[name] = reason
            elif repeat >= WARM_UPS:
                seconds[name].append(took)
    spreads = {name: spread(values) for name, values in seconds.items() if name not in failed}
    return spreads, failed


def attempted(work: Callable[[], object]) -> tuple[object, str | None]:
    """What the work returns, or None and "out of memory" or "failed: why"."""
    try:
        return work(), None
    except (RuntimeError, MemoryError) as error:
        if is_out_of_memory(error):
            reason = "out of memory"
        else:
            traceback.print_exc()
            reason = f"failed: {_first_line(error)}"
    # Only behind the except block nothing holds the frames, and with them the tensors, any more.
    free()
    return None, reason


def is_out_of_memory(error: BaseException | None) -> bool:
    """Also where ending a capture fails because memory ran out inside it."""
    while error is not None:
        text = str(error).lower()
        if isinstance(error, (torch.OutOfMemoryError, MemoryError)) or "out of memory" in text:
            return True
        if "can't allocate memory" in text or "not enough memory" in text:  # on a CPU
            return True
        error = error.__cause__ or error.__context__
    return False


def free() -> None:
    """Give back what no tensor holds any more."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def measured_rates(
    clock: Clock, *, copied: int, side: int, dtype: torch.dtype, repeats: int, budget: Budget
) -> Rates:
    """Bytes read and written per second by a copy; operations per second by a square product."""
    source = torch.randint(0, 100, (copied,), dtype=torch.uint8, device=clock.device)
    target = torch.empty_like(source)
    left, right = (torch.randn(side, side, dtype=dtype, device=clock.device) for _ in range(2))
    product = torch.empty_like(left)
    works = {
        "copy": lambda: target.copy_(source),
        "product": lambda: torch.mm(left, right, out=product),
    }
    spreads, failed = interleaved(works, repeats, clock, budget)
    if failed:
        raise RuntimeError("; ".join(f"{name}: {reason}" for name, reason in failed.items()))
    return Rates(
        copied_bytes=copied,
        copy_s=spreads["copy"],
        bytes_per_s=2 * copied / spreads["copy"].median,
        product_side=side,
        product_s=spreads["product"],
        operations_per_s=2 * side**3 / spreads["product"].median,
    )


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200]
