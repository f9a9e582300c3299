"""The GPU benchmark's loop, what follows from its times, and failures of one case."""

import dataclasses
from types import SimpleNamespace

import gpu_clock
import gpu_derived
import gpu_groups
import gpu_loop
import gpu_records
import numpy as np
import pytest
import stats
import torch
from gpu_settings import REAL, SMALL
from gpu_stack import LLAMA_1B, LLAMA_8B, Stack
from plain_stack import plain_logits, some_tokens

from analysis.formulas import expected_tokens, speedup, tokens_pmf


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
