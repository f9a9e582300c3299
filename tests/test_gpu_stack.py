"""The decoder stacks of the GPU benchmark, and what a GPU only adds."""

import contextlib
from types import SimpleNamespace

import gpu_passes
import pytest
import torch
from gpu_settings import REAL
from gpu_stack import LLAMA_1B, LLAMA_8B, Stack
from plain_stack import plain_logits, some_tokens
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode


def cached_logits(stack, cache, tokens, widths):
    """Logits of all tokens, read in passes of those widths."""
    parts, start = [], 0
    for width in widths:
        if isinstance(cache, gpu_passes.GrowingCache):
            cache.rollback(start)
        positions = torch.arange(start, start + width)
        parts.append(stack.forward(tokens[:, start : start + width], positions, cache))
        start += width
    return torch.cat(parts, 1)


def both_caches(stack, batch, capacity=40):
    return gpu_passes.GrowingCache(stack, batch), gpu_passes.StaticCache(stack, batch, capacity)


WIDTHS = [(12,), (1,) * 12, (5, 1, 3, 1, 2), (1, 9, 2)]


@pytest.mark.parametrize("widths", WIDTHS)
@pytest.mark.parametrize("model", ["target", "draft"])
def test_both_caches_equal_a_network_without_one(stacks, model, widths):
    stack = stacks[model]
    tokens = some_tokens(stack, 2, 12)
    expected = plain_logits(stack, tokens)
    for cache in both_caches(stack, 2):
        logits = cached_logits(stack, cache, tokens, widths)
        torch.testing.assert_close(logits, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("broken", ["mask", "positions"])
def test_a_wrong_mask_or_position_is_seen(stacks, monkeypatch, broken):
    stack = stacks["target"]
    tokens = some_tokens(stack, 1, 12)
    if broken == "mask":
        monkeypatch.setattr(gpu_passes, "_mask", lambda *_: None)
    else:
        right = Stack.rotation
        monkeypatch.setattr(Stack, "rotation", lambda self, at: right(self, 2 * at))
    for cache in both_caches(stack, 1):
        logits = cached_logits(stack, cache, tokens, (5, 7))
        assert (logits - plain_logits(stack, tokens)).abs().max() > 1e-3


def test_a_growing_cache_rolls_back_but_not_forward(stacks):
    cache = gpu_passes.GrowingCache(stacks["draft"], 1)
    cache.fill(8)
    cache.rollback(5)
    assert cache.kv[0][0].shape[2] == 5
    with pytest.raises(ValueError, match="at most the 5 cached tokens; got 6"):
        cache.rollback(6)
    static = gpu_passes.StaticCache(stacks["draft"], 1, 60)
    step = gpu_passes.StaticPass(stacks["draft"], static, 1, 4)
    with pytest.raises(ValueError, match="room for 4 of 64 tokens; got 61"):
        step.run(61)


class Tape(TorchDispatchMode):
    """Records operations with their tensors, and replays them as a CUDA graph would.

    Each result of a replay goes to where the recorded one lay; nothing of Python runs again.
    """

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.calls.append((func, args, kwargs or {}, result))
        return result

    def replay(self):
        for func, args, kwargs, result in self.calls:
            again = func(*args, **kwargs)
            for old, new in zip(tree_leaves(result), tree_leaves(again), strict=True):
                if isinstance(old, torch.Tensor) and old.data_ptr() != new.data_ptr():
                    old.copy_(new)


@pytest.fixture
def taped(monkeypatch):
    """`torch.cuda` with streams that note their use, and graphs that are tapes."""
    log = []

    class Stream:
        def __init__(self, name):
            self.name = name

        def wait_stream(self, other):
            log.append(f"{self.name} waits for {other.name}")

    main = Stream("main")

    @contextlib.contextmanager
    def on(stream):
        log.append(f"on {stream.name}")
        yield
        log.append(f"off {stream.name}")

    gpu_passes._side_stream.cache_clear()
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _: main)
    monkeypatch.setattr(torch.cuda, "Stream", lambda _: Stream("side"))
    monkeypatch.setattr(torch.cuda, "stream", on)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Tape)
    monkeypatch.setattr(torch.cuda, "graph", lambda tape: tape)
    yield log
    gpu_passes._side_stream.cache_clear()


@pytest.mark.parametrize("count", [1, 5])
def test_a_captured_pass_replays_other_tokens_at_other_positions(stacks, taped, count):
    stack, start = stacks["target"], 11
    tokens = some_tokens(stack, 2, start + count, seed=3)
    chosen = []
    for replayed in (False, True):
        cache = gpu_passes.StaticCache(stack, 2, 40)
        step = gpu_passes.StaticPass(stack, cache, 2, count)
        if replayed:
            step.graph = gpu_passes.captured(step.step, stack.device)
        stack.forward(tokens[:, :start], torch.arange(start), cache)
        step.tokens.copy_(tokens[:, start:])
        step.run(start)
        chosen.append(step.chosen.clone())
    expected = plain_logits(stack, tokens)[:, start:].argmax(-1)
    assert torch.equal(chosen[0], expected)
    assert torch.equal(chosen[1], expected)
    order = ["side waits for main", "on side", "off side", "main waits for side"]
    assert taped == [*order, "on main", "off main"]


@pytest.mark.usefixtures("taped")
def test_a_pass_that_reads_a_value_on_the_host_would_not_replay(stacks):
    """The tape does what a graph does: positions read by Python are frozen in it."""
    stack, start = stacks["target"], 11
    tokens = some_tokens(stack, 1, start + 1, seed=3)
    cache = gpu_passes.StaticCache(stack, 1, 40)
    step = gpu_passes.StaticPass(stack, cache, 1, 1)

    def frozen():
        positions = torch.tensor([int(step.positions[0])])
        step.chosen.copy_(stack.forward(step.tokens, positions, cache).argmax(-1))

    step.graph = gpu_passes.captured(frozen, stack.device)
    stack.forward(tokens[:, :start], torch.arange(start), cache)
    before = [keys[:, :, start].clone() for keys, _ in cache.kv]
    step.tokens.copy_(tokens[:, start:])
    step.run(start)
    written = [
        not torch.equal(old, new[:, :, start])
        for old, (new, _) in zip(before, cache.kv, strict=True)
    ]
    assert not any(written)


@pytest.mark.parametrize("shape", [LLAMA_8B, LLAMA_1B])
def test_real_sizes_pass_without_their_memory(monkeypatch, shape):
    """On the meta device: shapes and types fit, no tensor is elsewhere, no value is read."""
    seeded = SimpleNamespace(manual_seed=lambda _: None)
    monkeypatch.setattr(torch, "Generator", lambda **_: seeded)
    with torch.inference_mode():
        stack = Stack(shape, device="meta", dtype=REAL.dtype, seed=0)
        static = gpu_passes.StaticPass(stack, gpu_passes.StaticCache(stack, 4, 521), 4, 9)
        static.run(512)
        cache = gpu_passes.GrowingCache(stack, 4)
        cache.fill(512)
        growing = gpu_passes.GrowingPass(stack, cache, 4, 9)
        growing.run(512)
        assert static.cache.capacity == 576
        read = [tensor for tensor in stack.tensors() if shape.tied or tensor is not stack.embedding]
        weights = sum(tensor.nbytes for tensor in read)
        kv = sum(keys.nbytes + values.nbytes for keys, values in cache.kv)
        rows = 0 if shape.tied else 4 * 9 * shape.hidden * 2
        moved = shape.moved_bytes(batch=4, tokens=9, context=512, element=2)
        assert moved == weights + kv + rows
        assert shape.weights == sum(tensor.numel() for tensor in stack.tensors())
    # The published sizes of the two models, so that the shapes are theirs.
    assert shape.weights == {LLAMA_8B: 8_030_261_248, LLAMA_1B: 1_235_814_400}[shape]


def test_operations_are_those_of_the_products(stacks):
    """Counted by PyTorch's own counter, which knows no product in place."""
    stack = stacks["target"]
    cache = gpu_passes.GrowingCache(stack, 2)
    cache.fill(7)

    def in_place(_, left, right, **__):
        return 2 * left[0] * left[1] * right[1]

    counter = FlopCounterMode(display=False, custom_mapping={torch.ops.aten.addmm_: in_place})
    with counter, sdpa_kernel(SDPBackend.MATH):
        stack.forward(some_tokens(stack, 2, 3), torch.arange(7, 10), cache)
    assert counter.get_total_flops() == stack.shape.operations(batch=2, tokens=3, context=7)
