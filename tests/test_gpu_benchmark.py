import contextlib
import dataclasses
import gc
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import gpu
import gpu_clock
import gpu_derived
import gpu_device
import gpu_groups
import gpu_loop
import gpu_passes
import gpu_records
import gpu_stages
import gpu_table
import numpy as np
import pytest
import stats
import torch
from gpu_settings import REAL, SMALL
from gpu_stack import EPSILON, LLAMA_1B, LLAMA_8B, ROPE_BASE, Stack
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from analysis.formulas import expected_tokens, speedup, tokens_pmf

ROOT = Path(__file__).parents[1]
# Only torch, numpy and this repository: everything else that is installed here is hidden.
BARE = """
import runpy, sys
for name in ("transformers", "scipy", "pandas", "matplotlib", "typer", "rich", "streamlit"):
    sys.modules[name] = None
sys.argv = ["gpu.py", *sys.argv[1:]]
runpy.run_path(PROGRAM, run_name="__main__")
"""


@pytest.fixture(scope="module", autouse=True)
def little_to_collect():
    """As `gpu.py` itself does: looking through all that is imported takes longer than these tests."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The JSON and the table of a small run, in a process that has nothing but torch and numpy."""
    folder = tmp_path_factory.mktemp("gpu")
    path = folder / "gpu.json"
    program = BARE.replace("PROGRAM", repr(str(ROOT / "benchmarks" / "gpu.py")))
    command = [sys.executable, "-c", program, "--small", "--out", str(path)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return path, done.stdout


@pytest.fixture(scope="module")
def stacks():
    """Target and draft of the small run, in float64."""
    return {
        "target": Stack(SMALL.target, device="cpu", dtype=torch.float64, seed=1),
        "draft": Stack(SMALL.draft, device="cpu", dtype=torch.float64, seed=2),
    }


def test_a_small_run_measures_everything(small):
    report = gpu_records.load_report(small[0])
    gpu_derived.check_report(report)
    assert report.small
    assert {entry.status for entry in report.stages + report.passes} == {"done", "measured"}
    cases = {(e.model, e.mode, e.batch, e.context, e.tokens) for e in report.passes}
    assert len(cases) == len(report.passes)
    for mode in SMALL.modes:
        for n in SMALL.widths:
            assert ("target", mode, 1, SMALL.context, n) in cases
        for n in SMALL.batch_widths:
            assert ("target", mode, 1, SMALL.long_context, n) in cases
            assert all(("target", mode, b, SMALL.context, n) in cases for b in SMALL.batches)
        assert all(("draft", mode, b, SMALL.context, 1) in cases for b in SMALL.batches)
    cells = {(gamma, p) for gamma in SMALL.gammas for p in SMALL.chances}
    assert {(loop.gamma, loop.p) for loop in report.loops} == cells
    assert len(report.break_even) == len(cells) * len(SMALL.modes)
    assert {e.batches for e in report.break_even} == {(1, *SMALL.batches)}


def test_the_table_of_a_file_is_the_one_that_was_printed(small, capsys):
    path, printed = small
    assert gpu.main(["--table", str(path)]) == 0
    assert capsys.readouterr().out == printed
    assert "these times say nothing of a GPU" in printed
    assert "V(33)" in printed


def test_captions_say_what_flatters_a_long_context_and_what_the_formula_adds(small):
    report = gpu_records.load_report(small[0])
    told = {}
    for kernel in ("EFFICIENT_ATTENTION", "FLASH_ATTENTION"):
        attention = f"FLASH_ATTENTION without a mask, {kernel} with one"
        device = dataclasses.replace(report.device, attention=attention)
        told[kernel] = gpu_table.markdown(dataclasses.replace(report, device=device))

    said = "T(1) of a long context is inflated there, and V(n) = T(n) / T(1) flattered"
    assert said not in told["FLASH_ATTENTION"]
    assert told["EFFICIENT_ATTENTION"].count(said) == 1
    _, long_context = told["EFFICIENT_ATTENTION"].split(f"context {SMALL.long_context}\n")
    assert said in long_context.partition("### V(n)")[0]
    assert "a lower bound of the speedup" in told["FLASH_ATTENTION"]


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data["break_even"][0].update(batch=3),
        lambda data: data["passes"][0].update(over_floor=1.01),
        lambda data: data["passes"][0]["pass_s"].update(median=1.0),
        lambda data: data["loops"][0]["speedup"].update(median=2.5),
        lambda data: data["loops"][0].update(formula=2.5),
        lambda data: data["costs"][0].update(cost_ratio=0.01),
        lambda data: data["passes"][0].update(status="out of memory"),
        lambda data: data.pop("device"),
        lambda data: data.update(schema=2),
        lambda data: data.update(minutes="eight"),
    ],
)
def test_a_claim_that_does_not_follow_is_refused(small, tmp_path, capsys, edit):
    data = json.loads(small[0].read_text())
    edit(data)
    path = tmp_path / "gpu.json"
    path.write_text(json.dumps(data))
    assert gpu.main(["--table", str(path)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "must" in told.err


@pytest.mark.parametrize("text", ["", "[1", "\udcff", "[]", "[" * 100_000, '{"schema": 1e999}'])
def test_a_damaged_file_is_refused(tmp_path, text):
    path = tmp_path / "gpu.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match="must"):
        gpu_records.load_report(path)


def test_kept_results_come_from_a_gpu():
    for path in (ROOT / "docs" / "results").glob("gpu*.json"):
        report = gpu_records.load_report(path)
        gpu_derived.check_report(report)
        assert not report.small
        assert report.device.cuda


def test_without_time_all_is_recorded_as_skipped(tmp_path):
    threads = torch.get_num_threads()
    report = gpu_stages.measure(SMALL, minutes=0.0, seed=0, out=tmp_path / "gpu.json")
    torch.set_num_threads(threads)
    assert {entry.status for entry in report.stages} == {"skipped"}
    assert all(entry.reason for entry in report.stages)
    assert {entry.status for entry in report.passes} == {"skipped"}
    assert len(report.stages) == 3 + len(SMALL.modes) * (2 + len(SMALL.batches))
    assert report.loops == report.costs == report.break_even == ()
    assert gpu_records.load_report(tmp_path / "gpu.json") == report
    gpu_derived.check_report(report)
    assert "- loops: skipped" in gpu_table.markdown(report)


@pytest.mark.parametrize("wrong", [("--minutes", "nan"), ("--minutes", "-1"), ("--seed", "-1")])
def test_bad_options_are_refused(capsys, wrong):
    with pytest.raises(SystemExit, match="2"):
        gpu.main(["--small", *wrong])
    assert f"{wrong[0]} must be" in capsys.readouterr().err


def test_the_kernels_of_attention_are_told():
    told = gpu_device.attention_kernels("cpu", torch.float32, SMALL.target)
    names = [name for name in SDPBackend.__members__ if name in told]
    assert names
    assert told.endswith("with one")


def test_without_a_gpu_only_a_trial_is_possible(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert gpu.main([]) == 2
    assert "--small" in capsys.readouterr().err


# The stack


def plain_logits(stack, tokens):
    """The same network written differently: no cache, complex rotations, PyTorch's own grouping."""
    shape, count = stack.shape, tokens.shape[1]
    half = shape.head_size // 2
    frequencies = torch.tensor([ROPE_BASE ** (-i / half) for i in range(half)], dtype=torch.float64)
    angles = torch.arange(count)[:, None] * frequencies
    turn = torch.polar(torch.ones_like(angles), angles)[:, None]

    def turned(x):
        z = torch.complex(x[..., :half], x[..., half:]) * turn
        return torch.cat((z.real, z.imag), -1).transpose(1, 2)

    def normed(x, norm):
        return x / (x.square().mean(-1, keepdim=True) + EPSILON).sqrt() * stack.norms[norm]

    x = stack.embedding[tokens]
    for layer in range(shape.layers):
        qkv = (normed(x, 2 * layer) @ stack.qkv[layer].T).unflatten(-1, (-1, shape.head_size))
        q, k, v = qkv.split((shape.heads, shape.kv_heads, shape.kv_heads), 2)
        mixed = functional.scaled_dot_product_attention(
            turned(q), turned(k), v.transpose(1, 2), is_causal=True, enable_gqa=True
        )
        x = x + mixed.transpose(1, 2).flatten(2) @ stack.mix[layer].T
        gate, up = (normed(x, 2 * layer + 1) @ stack.gate_up[layer].T).chunk(2, -1)
        x = x + (functional.silu(gate) * up) @ stack.down[layer].T
    return normed(x, 2 * shape.layers) @ stack.output.T


def some_tokens(stack, batch, count, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(stack.shape.vocabulary, (batch, count), generator=generator)


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


# What a GPU only adds


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


# Failures of one case leave the others


def test_a_case_out_of_memory_is_recorded_and_the_rest_measured(monkeypatch):
    whole = gpu_groups.pass_for

    def short_of_memory(stack, mode, cache, batch, count):
        if count == 9:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")
        return whole(stack, mode, cache, batch, count)

    monkeypatch.setattr(gpu_groups, "pass_for", short_of_memory)
    stacks = {
        "target": Stack(SMALL.target, device="cpu", dtype=torch.float32, seed=0),
        "draft": Stack(SMALL.draft, device="cpu", dtype=torch.float32, seed=0),
    }
    group = gpu_groups.Group(
        mode="eager", batch=2, context=16, target_widths=(1, 2, 9), draft_widths=(1,)
    )
    clock, budget = gpu_clock.Clock("cpu"), gpu_clock.Budget(1.0)
    times = gpu_groups.time_group(stacks, group, repeats=3, clock=clock, budget=budget)
    status = {(entry.model, entry.tokens): entry.status for entry in times}
    assert status.pop(("target", 9)) == "out of memory"
    assert set(status.values()) == {"measured"}
    costs = gpu_derived.pass_costs(times)
    assert costs[0].widths == (1, 2)
    found = gpu_derived.break_even(costs, context=16, gammas=(1, 8), chances=(0.9,))
    assert [entry.gamma for entry in found] == [1]


def test_memory_that_runs_out_inside_a_capture_is_told_from_other_failures(capsys):
    def ended_badly():
        try:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        finally:
            raise RuntimeError("CUDA error: operation failed due to a previous error")

    assert gpu_clock.attempted(ended_badly) == (None, "out of memory")
    assert gpu_clock.attempted(lambda: torch.ones(2) @ torch.ones(3))[1].startswith("failed: ")
    assert "Traceback" in capsys.readouterr().err
    with pytest.raises(ZeroDivisionError):
        gpu_clock.attempted(lambda: 1 // 0)


def test_a_work_that_fails_later_has_no_time():
    runs = iter([None, None, None])
    works = {
        "good": lambda: None,
        "bad": lambda: next(runs, 0) is None or torch.ones(2) @ torch.ones(3),
    }
    spreads, failed = gpu_clock.interleaved(works, 4, gpu_clock.Clock("cpu"), gpu_clock.Budget(1.0))
    assert set(spreads) == {"good"}
    assert spreads["good"].repeats == 4
    assert set(failed) == {"bad"}


# The loop


def loop_plan(**changes):
    plan = gpu_loop.Plan(
        mode="static",
        context=6,
        tokens=20,
        gammas=(1, 2, 4),
        chances=(0.7,),
        repeats=3,
        seed=0,
    )
    return dataclasses.replace(plan, **changes)


def prompted_pair(stacks, mode, prompt):
    """The passes of the loop behind a prompt that both models have read."""
    pair = gpu_loop.pair_of(stacks["target"], stacks["draft"], loop_plan(mode=mode))
    for step in (pair.target[1], pair.draft[1]):
        if mode == "eager":
            step.cache.rollback(0)
        step.stack.forward(prompt, torch.arange(prompt.shape[1]), step.cache)
    return pair


def next_token(stack, text):
    return int(plain_logits(stack, torch.tensor([text]))[0, -1].argmax())


@pytest.mark.parametrize("mode", ["eager", "static"])
@pytest.mark.parametrize("gamma", [1, 2, 4])
def test_the_loop_keeps_and_rolls_back_what_it_should(stacks, mode, gamma):
    """Every token is what a model without a cache says behind exactly the tokens that were kept."""
    prompt = some_tokens(stacks["target"], 1, 6)
    pair = prompted_pair(stacks, mode, prompt)
    kept = [gamma, 0, gamma, gamma, gamma - 1, 0]
    text = gpu_loop.decode_speculatively(pair, 5, gamma, kept)
    assert len(text) == sum(kept) + len(kept)
    seen = [*prompt[0].tolist(), 5]
    for count in kept:
        for model in ("draft",) * count + ("target",):
            seen.append(next_token(stacks[model], seen))
    assert text == seen[7:]


@pytest.mark.parametrize("mode", ["eager", "static"])
def test_plain_decoding_is_the_target_alone(stacks, mode):
    prompt = some_tokens(stacks["target"], 1, 6)
    pair = prompted_pair(stacks, mode, prompt)
    text = gpu_loop.decode_plainly(pair, 5, 6)
    seen = [*prompt[0].tolist(), 5]
    for _ in text:
        seen.append(next_token(stacks["target"], seen))
    assert text == seen[7:]
    # With no draft kept, a loop says the same.
    pair = prompted_pair(stacks, mode, prompt)
    assert gpu_loop.decode_speculatively(pair, 5, 2, [0] * 6) == text


@pytest.mark.parametrize(("p", "gamma"), [(0.5, 1), (0.7, 4), (0.9, 8)])
def test_forced_verdicts_follow_the_law_of_the_formula(p, gamma):
    """Mean, distribution and support, each with a false alarm in 1e8 at most."""
    drawn = gpu_loop.draw_accepted(p, gamma, 50_000, np.random.default_rng(0))
    accepted = [int((drawn >= depth).sum()) for depth in range(1, gamma + 1)]
    table = SimpleNamespace(rounds=drawn.size, accepted=accepted)
    stats.assert_all(table, SimpleNamespace(pmf=tokens_pmf(p, gamma)))
    with pytest.raises(AssertionError):
        stats.assert_mean(table, SimpleNamespace(pmf=tokens_pmf(p + 0.02, gamma)))


def test_the_number_of_rounds_is_fixed_and_fits_the_caches():
    plan = loop_plan(tokens=128)
    assert gpu_loop.rounds_for(plan, 0.7, 4) == round(128 / 2.7731)
    every = np.full(60, 8)
    assert sum(kept + 1 for kept in gpu_loop.fitting(every, plan)) == 28 * 9
    room = 2 * plan.tokens + 2 * 4 + 2
    assert room >= 28 * 9


# What follows


def loop_time(**changes):
    nothing = gpu_records.spread([0.0])
    loop = gpu_records.LoopTime(
        mode="graph",
        gamma=4,
        p=0.7,
        rounds=100,
        accepted=180,
        plain_token_s=(10.0, 10.0, 11.0),
        round_s=(20.0, 14.0, 11.0),
        target_s=8.0,
        verify_s=10.0,
        draft_s=1.0,
        draft_two_s=1.5,
        plain_overhead_s=2.0,
        round_overhead_s=3.0,
        tokens_per_round=0.0,
        expected_tokens=0.0,
        speedup=nothing,
        formula=0.0,
        formula_passes=0.0,
        formula_counts=0.0,
    )
    return dataclasses.replace(loop, **changes)


def test_a_loop_is_held_against_the_closed_form():
    loop = gpu_derived.with_formulas(loop_time())
    assert loop.tokens_per_round == 2.8
    assert loop.speedup.median == pytest.approx(2.8 * 10.0 / 14.0)
    cost = 4 * 1.0 + 0.7**4 * 0.5 + 10.0 + 3.0
    assert loop.formula == pytest.approx(expected_tokens(0.7, 4) * 10.0 / cost)
    assert loop.formula_counts == pytest.approx(2.8 * 10.0 / cost)
    assert loop.formula_passes == pytest.approx(speedup(0.7, 4, 1 / 8, verify_cost=10 / 8))


def pass_times(batch, target, draft):
    """Measured passes with those seconds, by width."""
    shape = SMALL.target
    group = gpu_groups.Group(
        mode="graph", batch=batch, context=512, target_widths=tuple(target), draft_widths=(1,)
    )
    times = []
    for model, count in group.cases():
        seconds = target[count] if model == "target" else draft
        entry = gpu_groups.unmeasured(shape, group, model, count, "measured", 2)
        times.append(dataclasses.replace(entry, pass_s=gpu_records.spread([seconds] * 3)))
    return times


def test_the_break_even_batch_of_a_made_table():
    """T(b, n) = max(1, b · n / 16), T_d = 0.1: at γ 4, p 0.7 it pays while 2.773 · T(b, 1) > 0.4 + T(b, 5)."""
    passes = []
    for batch in (1, 2, 4, 8, 16):
        target = {n: max(1.0, batch * n / 16) for n in (1, 2, 5)}
        passes += pass_times(batch, target, 0.1)
    costs = gpu_derived.pass_costs(passes)
    found = gpu_derived.break_even(costs, context=512, gammas=(1, 4), chances=(0.5, 0.7, 0.99))
    batches = {(entry.gamma, entry.p): entry.batch for entry in found}
    assert batches[4, 0.7] == 8
    assert batches[4, 0.5] == 8
    assert batches[1, 0.99] == 16
    gains = next(entry.speedups for entry in found if (entry.gamma, entry.p) == (4, 0.7))
    assert gains == pytest.approx(
        [2.7731 / 1.4, 2.7731 / 1.4, 2.7731 / 1.65, 2.7731 / 2.9, 2.7731 / 5.4]
    )
    shorter = [entry for entry in costs if entry.batch <= 4]
    pays = gpu_derived.break_even(shorter, context=512, gammas=(4,), chances=(0.7,))
    assert pays[0].batch is None
    assert gpu_derived.break_even(costs, context=64, gammas=(4,), chances=(0.7,)) == ()


def test_floors_are_bytes_and_operations_over_the_measured_rates():
    rates = gpu_records.Rates(
        copied_bytes=100,
        copy_s=gpu_records.spread([0.5]),
        bytes_per_s=400.0,
        product_side=10,
        product_s=gpu_records.spread([0.1]),
        operations_per_s=20_000.0,
    )
    entry = dataclasses.replace(pass_times(1, {1: 3.0}, 1.0)[0], moved_bytes=800, operations=4000)
    entry = gpu_derived.against_floors(entry, rates)
    assert (entry.floor_s, entry.over_floor, entry.product_floor_s) == (2.0, 1.5, 0.2)


def test_rates_count_bytes_read_and_written():
    rates = gpu_clock.measured_rates(
        gpu_clock.Clock("cpu"),
        copied=4096,
        side=16,
        dtype=torch.float32,
        repeats=3,
        budget=gpu_clock.Budget(1.0),
    )
    assert rates.bytes_per_s == 2 * 4096 / rates.copy_s.median
    assert rates.operations_per_s == 2 * 16**3 / rates.product_s.median


def test_real_settings_are_those_of_the_plan():
    assert (REAL.target, REAL.draft, REAL.dtype) == (LLAMA_8B, LLAMA_1B, torch.bfloat16)
    assert REAL.device == "cuda"
    assert set(REAL.modes) == {"eager", "graph"}
    assert (REAL.gammas, REAL.chances) == ((1, 2, 4, 8), (0.5, 0.7, 0.9))
    # Every γ needs its width at every batch, or it has no break-even batch.
    assert {gamma + 1 for gamma in REAL.gammas} <= set(REAL.batch_widths) <= set(REAL.widths)
