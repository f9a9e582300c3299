"""How many requests fit: numbers by hand, and what must hold of all of them."""

from __future__ import annotations

import math

import pytest
from deployments import DRAFT, MACHINE, TARGET, accepted
from hypothesis import given
from hypothesis import strategies as st

from analysis.deployment.building import DraftKind, deploy
from analysis.deployment.memory import Memory
from analysis.hardware import Accelerator, Machine

MEMORY = Memory(
    capacity_bytes=80e9,
    target_bytes=16e9,
    target_kv_bytes=131_072,
    draft_bytes=2.5e9,
    draft_kv_bytes=32_768,
)


def test_requests_that_fit_by_hand():
    # 0.9 · 80 − 16 = 56 GB for caches of 4,096 · 131,072 bytes = 0.537 GB: 104; with the draft
    # 53.5 GB for 4,096 · 163,840 = 0.671 GB: 79
    assert MEMORY.free_bytes(drafting=False) == pytest.approx(56e9)
    assert MEMORY.request_bytes(4096, drafting=False) == 4096 * 131_072
    assert MEMORY.most_requests(4096, drafting=False) == 104
    assert MEMORY.most_requests(4096) == 79
    assert MEMORY.batch_lost(4096) == 25


def test_a_short_cache_of_the_draft_stops_growing():
    short = Memory(
        capacity_bytes=80e9, target_bytes=16e9, target_kv_bytes=1e5, draft_kv_bytes=1e5,
        draft_kv_budget=512,
    )  # fmt: skip
    assert short.request_bytes(300) == 2 * 300 * 1e5
    assert short.request_bytes(10_000) == 10_000 * 1e5 + 512 * 1e5
    assert short.request_bytes(10_000, drafting=False) == 10_000 * 1e5


def test_no_cache_takes_no_room_and_a_draft_too_large_leaves_none():
    assert MEMORY.most_requests(0) == math.inf
    assert MEMORY.batch_lost(0) == 0.0
    crowded = Memory(capacity_bytes=20e9, target_bytes=16e9, target_kv_bytes=1e5, draft_bytes=3e9)
    assert crowded.most_requests(0) == 0.0
    assert crowded.most_requests(100) == 0.0
    assert crowded.most_requests(100, drafting=False) == 200.0
    assert crowded.batch_lost(100) == 200.0


def test_deploying_counts_weights_and_caches():
    weights, cache = 2 * TARGET.parameters, 2 * TARGET.kv_numbers
    model, head, self_, lookup = (
        deploy(TARGET, MACHINE, draft, accepted(0.7)).memory
        for draft in (
            DraftKind(kind="model", model=DRAFT),
            DraftKind(kind="head", layers=1),
            DraftKind(kind="self", kv_budget=512),
            DraftKind(kind="lookup"),
        )
    )
    assert all(
        (one.target_bytes, one.target_kv_bytes) == (weights, cache)
        for one in (model, head, self_, lookup)
    )
    assert (model.draft_bytes, model.draft_kv_bytes) == (2 * DRAFT.parameters, 2 * DRAFT.kv_numbers)
    assert head.draft_kv_bytes == cache / 32  # one of 32 layers
    assert (self_.draft_bytes, self_.draft_kv_bytes, self_.draft_kv_budget) == (0.0, cache, 512)
    assert (lookup.draft_bytes, lookup.draft_kv_bytes) == (0.0, 0.0)
    few = deploy(TARGET, MACHINE, DraftKind(kind="lookup"), accepted(0.7), weight_bits=4, kv_bits=8)
    assert (few.memory.target_bytes, few.memory.target_kv_bytes) == (weights / 4, cache / 2)


def test_heads_that_several_devices_repeat_take_room_on_each():
    """8 heads of keys and values on 16 devices: each holds one, a token takes twice its numbers in all."""
    draft = DraftKind(kind="model", model=DRAFT)
    card = Accelerator(
        name="card", memory_bytes_per_s=2e12, operations_per_s=4e14, memory_bytes=80e9,
        link_bytes_per_s=2e11,
    )  # fmt: skip
    for devices, copies in ((1, 1), (TARGET.kv_heads, 1), (2 * TARGET.kv_heads, 2)):
        machine = Machine(accelerator=card, devices=devices)
        made = deploy(TARGET, machine, draft, accepted(0.7))
        assert made.memory.target_kv_bytes == 2 * copies * TARGET.kv_numbers
        kept = -(-DRAFT.kv_heads // devices) * devices
        assert made.memory.draft_kv_bytes == 2 * DRAFT.kv_numbers * kept / DRAFT.kv_heads
        # What is kept is what is read: the time of a token's cache is its bytes over all bandwidth.
        rate = devices * 2e12 * machine.memory_share
        assert made.target.kv_s * rate == pytest.approx(made.memory.target_kv_bytes)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"target_bytes": 73e9},
            r"weights must fit the memory: 73\.0 GB are more than 90% of .*; at least 2 times the devices",
        ),
        ({"draft_bytes": -1.0}, "draft_bytes must be a finite number of at least 0; got -1"),
        ({"usable": 1.2}, r"usable must be a number in \[0, 1\]; got 1.2"),
        ({"draft_kv_budget": 0}, "draft_kv_budget must be a whole number of at least 1; got 0"),
    ],
)
def test_what_memory_refuses(changes, sentence):
    values = {"capacity_bytes": 80e9, "target_bytes": 16e9, "target_kv_bytes": 1e5, **changes}
    with pytest.raises(ValueError, match=sentence):
        Memory(**values)


@given(
    free=st.floats(1e6, 1e12),
    target_kv=st.floats(1.0, 1e7),
    draft_kv=st.floats(0.0, 1e7),
    context=st.integers(1, 200_000),
    budget=st.none() | st.integers(1, 10_000),
)
def test_what_fits_fits_and_one_more_does_not(free, target_kv, draft_kv, context, budget):
    memory = Memory(
        capacity_bytes=free, target_bytes=0.0, target_kv_bytes=target_kv, draft_bytes=0.1 * free,
        draft_kv_bytes=draft_kv, draft_kv_budget=budget,
    )  # fmt: skip
    for drafting in (False, True):
        most, each = (
            memory.most_requests(context, drafting=drafting),
            memory.request_bytes(context, drafting=drafting),
        )
        room = memory.free_bytes(drafting=drafting)
        assert most * each <= room * (1 + 1e-12)
        assert (most + 1) * each >= room * (1 - 1e-12)
    assert memory.batch_lost(context) >= 0.0
    assert memory.most_requests(context + 1) <= memory.most_requests(context)
