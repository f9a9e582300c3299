"""Times of passes at one batch and context: all widths of target and draft take turns."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from dataclasses import dataclass

from gpu_clock import WARM_UPS, Budget, Clock, attempted, free, interleaved
from gpu_passes import GrowingCache, GrowingPass, StaticCache, StaticPass
from gpu_records import PassTime, Rates
from gpu_stack import Shape, Stack

# A guess of a pass that is launched kernel by kernel, and of capturing a graph: to know what fits.
LAUNCH_S_PER_LAYER = 3e-4
PREPARE_S = 0.3
SLOWNESS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Passes to be timed in turn: widths of the target, and of the draft."""

    mode: str
    batch: int
    context: int
    target_widths: tuple[int, ...]
    draft_widths: tuple[int, ...]

    def cases(self) -> list[tuple[str, int]]:
        """Model and tokens of each pass."""
        target = [("target", count) for count in self.target_widths]
        return target + [("draft", count) for count in self.draft_widths]


def pass_for(stack: Stack, mode: str, cache, batch: int, count: int):
    """A pass of that mode over `count` tokens of each request."""
    kind = GrowingPass if mode == "eager" else StaticPass
    return kind(stack, cache, batch, count)


def cache_for(stack: Stack, mode: str, batch: int, context: int, room: int):
    """A cache that holds `context` random tokens and has room for more."""
    if mode != "eager":
        return StaticCache(stack, batch, context + room)
    cache = GrowingCache(stack, batch)
    cache.fill(context)
    return cache


def expected_s(shape: Shape, group: Group, count: int, rates: Rates, element: int) -> float:
    """A guess of the time of a pass, to decide whether it fits."""
    sizes = {"batch": group.batch, "tokens": count, "context": group.context}
    moving = shape.moved_bytes(**sizes, element=element) / rates.bytes_per_s
    computing = shape.operations(**sizes) / rates.operations_per_s
    launching = 0.0 if group.mode == "graph" else LAUNCH_S_PER_LAYER * shape.layers
    return SLOWNESS * max(moving, computing) + launching


def group_s(
    shapes: dict[str, Shape], group: Group, *, rates: Rates, element: int, repeats: int
) -> float:
    """A guess of the time of a whole group."""
    runs = repeats + 2 * WARM_UPS + 1
    return sum(
        PREPARE_S * (group.mode == "graph")
        + runs * expected_s(shapes[model], group, count, rates, element)
        for model, count in group.cases()
    )


def time_group(
    stacks: dict[str, Stack], group: Group, *, repeats: int, clock: Clock, budget: Budget
) -> list[PassTime]:
    """Each pass of the group, measured or with the reason why not."""
    works: dict[str, Callable[[], None]] = {}
    failed: dict[str, str] = {}
    for model, stack in stacks.items():
        _prepare(stack, group, model, works, failed)
    spreads, reasons = interleaved(works, repeats, clock, budget)
    failed |= reasons
    works.clear()  # the next group needs the memory
    free()
    times = []
    for model, count in group.cases():
        case, stack = f"{model} {count}", stacks[model]
        status = failed.get(case, "measured")
        entry = unmeasured(stack.shape, group, model, count, status, stack.dtype.itemsize)
        times.append(dataclasses.replace(entry, pass_s=spreads.get(case)))
    return times


def unmeasured(
    shape: Shape, group: Group, model: str, count: int, status: str, element: int
) -> PassTime:
    """A pass of the group without its time."""
    sizes = {"batch": group.batch, "tokens": count, "context": group.context}
    return PassTime(
        model=model,
        mode=group.mode,
        **sizes,
        status=status,
        pass_s=None,
        moved_bytes=shape.moved_bytes(**sizes, element=element),
        operations=shape.operations(**sizes),
        floor_s=None,
        over_floor=None,
        product_floor_s=None,
    )


def _prepare(
    stack: Stack,
    group: Group,
    model: str,
    works: dict[str, Callable[[], None]],
    failed: dict[str, str],
) -> None:
    """Passes of a model on one cache, each run once; a pass that does not fit is told as failed."""
    counts = [count for name, count in group.cases() if name == model]
    if not counts:
        return
    cache, reason = attempted(
        lambda: cache_for(stack, group.mode, group.batch, group.context, max(counts))
    )
    for count in counts:
        work = None
        if reason is None:
            work, why = attempted(lambda count=count: _warm_pass(stack, group, cache, count))
        else:
            why = reason
        if work is None:
            failed[f"{model} {count}"] = why
        else:
            works[f"{model} {count}"] = work


def _warm_pass(stack: Stack, group: Group, cache, count: int) -> Callable[[], None]:
    made = pass_for(stack, group.mode, cache, group.batch, count)
    made.run(group.context)
    return functools.partial(made.run, group.context)
