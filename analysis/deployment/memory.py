"""How many requests fit: weights once, the cache of every request, and what the draft takes of both."""

from __future__ import annotations

import math
from dataclasses import dataclass

from simulator._checks import as_count, as_nonnegative, as_probability


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The memory of a deployment [bytes], all devices together.

    `capacity_bytes` is what the devices have, `usable` the share of it that weights and caches may take
    (engines keep some for activations). `target_bytes` and `draft_bytes` are the weights,
    `target_kv_bytes` and `draft_kv_bytes` the cache of one token of one request; `draft_kv_budget` is the
    most tokens of context that the draft keeps. Raises ValueError for a negative number and a target that
    does not fit.

    >>> memory = Memory(capacity_bytes=80e9, target_bytes=16e9, target_kv_bytes=131_072, draft_bytes=2e9)
    >>> memory.most_requests(4096, drafting=False), memory.most_requests(4096)
    (104.0, 100.0)
    """

    capacity_bytes: float
    target_bytes: float
    target_kv_bytes: float
    draft_bytes: float = 0.0
    draft_kv_bytes: float = 0.0
    draft_kv_budget: int | None = None
    usable: float = 0.9

    def __post_init__(self) -> None:
        for name in (
            "capacity_bytes", "target_bytes", "target_kv_bytes", "draft_bytes", "draft_kv_bytes"
        ):  # fmt: skip
            as_nonnegative(name, getattr(self, name))
        as_probability("usable", self.usable)
        if self.draft_kv_budget is not None:
            as_count("draft_kv_budget", self.draft_kv_budget, least=1)
        if self.target_bytes > self.usable * self.capacity_bytes:
            raise ValueError(
                f"the target's weights must fit the memory: {gigabytes(self.target_bytes)} are more "
                f"than {self.usable:.0%} of {gigabytes(self.capacity_bytes)}; {self._way_out()}."
            )

    def _way_out(self) -> str:
        """What would make room for a target that does not fit."""
        room = self.usable * self.capacity_bytes
        if room == 0.0:
            return "give it some"
        times = math.ceil(self.target_bytes / room)
        return (
            f"at least {times} times the devices (devices=) or at most {room / self.target_bytes:.0%} of "
            "the bits (weight_bits) would"
        )

    def request_bytes(self, context: float, *, drafting: bool = True) -> float:
        """The caches of one request that holds `context` tokens."""
        context = as_nonnegative("context", context)
        kept = context if self.draft_kv_budget is None else min(context, self.draft_kv_budget)
        return self.target_kv_bytes * context + (self.draft_kv_bytes * kept if drafting else 0.0)

    def free_bytes(self, *, drafting: bool = True) -> float:
        """What weights leave for caches."""
        weights = self.target_bytes + (self.draft_bytes if drafting else 0.0)
        return max(self.usable * self.capacity_bytes - weights, 0.0)

    def most_requests(self, context: float, *, drafting: bool = True) -> float:
        """Requests of `context` tokens that fit at once, whole; infinite if a cache takes nothing."""
        each = self.request_bytes(context, drafting=drafting)
        free = self.free_bytes(drafting=drafting)
        if each == 0.0:
            weights = self.target_bytes + (self.draft_bytes if drafting else 0.0)
            return math.inf if weights <= self.usable * self.capacity_bytes else 0.0
        room = free / each
        return float(math.floor(room)) if math.isfinite(room) else math.inf

    def batch_lost(self, context: float) -> float:
        """Requests that no longer fit because of the draft."""
        plain, with_draft = (self.most_requests(context, drafting=on) for on in (False, True))
        return 0.0 if math.isinf(plain) else plain - with_draft


def gigabytes(size: float) -> str:
    """Bytes for people: 12.3 GB (10⁹)."""
    return f"{size / 1e9:.1f} GB"
