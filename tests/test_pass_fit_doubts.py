"""What a fit doubts: times in another unit than was said, and a cost of tokens that they do not show."""

import dataclasses

import numpy as np
import pytest

from analysis import accelerator, architecture
from analysis.hardware import Machine
from analysis.pass_cost import PassCost
from analysis.pass_fit import fit_pass_cost
from analysis.predicted_pass import predict_pass
from simulator import StepSample

MODEL, MACHINE = architecture("Llama 3.1 8B"), Machine(accelerator=accelerator("H100"))
COST = predict_pass(MODEL, MACHINE)
QUESTION = "are these milliseconds, read as seconds?"
RIGHT = "Is the unit of the times right?"
SPREAD = [(b, n, s) for b in (1, 16, 128) for n in (1, 4, 8) for s in (100, 4000)]


def times(cost, settings, *, factor=1.0):
    return [
        StepSample(batch=b, tokens=n, context=s, seconds=factor * float(cost.seconds(b, n, s)))
        for b, n, s in settings
    ]


def doubts(found, text):
    return [note for note in found.notes if text in note]


@pytest.mark.parametrize("known", [{}, {"model": MODEL, "machine": MACHINE}])
def test_milliseconds_read_as_seconds_are_asked_about(known):
    right = fit_pass_cost(times(COST, SPREAD), **known)
    wrong = fit_pass_cost(times(COST, SPREAD, factor=1e3), **known)

    assert not doubts(right, QUESTION)
    assert wrong.notes[0].startswith("A plain pass takes 6.")
    assert wrong.notes[0].endswith(QUESTION)
    assert ("of the bandwidth" in wrong.notes[0]) == bool(known)
    assert wrong.cost.verify_cost(8, 16, 500) == pytest.approx(right.cost.verify_cost(8, 16, 500))


def test_with_a_machine_two_seconds_are_asked_about_too_and_a_slow_machine_is_not():
    settings = [each for each in SPREAD if each[0] == 1]
    known = {"model": MODEL, "machine": MACHINE}
    assert doubts(fit_pass_cost(times(COST, settings, factor=400.0), **known), QUESTION)
    assert not doubts(fit_pass_cost(times(COST, settings, factor=400.0)), QUESTION)
    assert not doubts(fit_pass_cost(times(COST, settings, factor=20.0), **known), QUESTION)


def test_a_small_model_reaches_little_bandwidth_without_a_question():
    """Launching kernels takes most of a pass there: 10 ms where reading takes 0.08 ms."""
    samples = [StepSample(batch=1, tokens=n, context=100, seconds=0.01) for n in (1, 4, 8)]
    found = fit_pass_cost(samples, model=architecture("SmolLM2 135M"), machine=MACHINE)
    assert found.machine.memory_share < 0.02
    assert not doubts(found, QUESTION)


def test_passes_faster_than_the_machine_can_are_asked_about():
    known = {"model": MODEL, "machine": MACHINE}
    assert len(doubts(fit_pass_cost(times(COST, SPREAD, factor=1e-3), **known), RIGHT)) == 1
    little = fit_pass_cost(times(COST, SPREAD, factor=0.75), **known)
    assert doubts(little, "ends at 1, its bound") or little.machine.memory_share > 0.99
    assert not doubts(little, RIGHT)


FLAT = PassCost(weights_s=0.01, compute_s=0.0)
STEEP = PassCost(weights_s=0.01, compute_s=2e-5, overlap=1.0)
UNSEEN = "The times do not show what further tokens cost"


def test_times_of_one_batch_that_do_not_grow_bound_wider_passes_from_below():
    settings = [(1, n, 100) for n in (1, 4, 8)]
    flat = fit_pass_cost(times(FLAT, settings))
    assert not flat.compute_seen
    assert flat.cost.verify_cost(500) == pytest.approx(1.0)
    assert (
        "of passes over more than 8 tokens in all, times and V(n) are a lower bound."
        in (doubts(flat, UNSEEN)[0])
    )
    steep = fit_pass_cost(times(STEEP, settings))
    assert steep.compute_seen
    assert not doubts(steep, UNSEEN)


def test_falling_times_end_at_the_bound_as_well():
    samples = [
        StepSample(batch=1, tokens=n, context=s, seconds=0.01 - 1e-5 * n)
        for n in (1, 2, 4, 8) for s in (100, 1000)
    ]  # fmt: skip
    found = fit_pass_cost(samples)
    assert not found.compute_seen
    assert doubts(found, UNSEEN)


def test_a_single_time_sees_no_cost_of_tokens():
    found = fit_pass_cost([StepSample(batch=2, tokens=3, context=50, seconds=0.02)])
    assert not found.compute_seen
    assert "over more than 6 tokens in all" in doubts(found, UNSEEN)[0]


def test_with_a_machine_the_assumed_arithmetic_is_no_lower_bound():
    known = {"model": MODEL, "machine": MACHINE}
    one = fit_pass_cost([StepSample(batch=1, tokens=1, context=100, seconds=0.01)], **known)
    assert "operations_share" in one.assumed
    assert not one.compute_seen
    assert not doubts(one, UNSEEN)
    assert doubts(one, "operations_share")
    assert fit_pass_cost(times(COST, SPREAD), **known).compute_seen
    fast = fit_pass_cost(times(FLAT, [(1, n, 100) for n in (1, 4, 8)]), **known)
    assert fast.parameters["operations_share"].value == 1.0
    assert not fast.compute_seen
    assert doubts(fast, UNSEEN)


CACHE = "Reading the weights and reading the cache cannot be told apart"
WIDTHS = (1, 2, 4, 8)


def noisy(settings):
    rng = np.random.default_rng(2)
    exact = times(PassCost(weights_s=0.004, compute_s=1e-4, kv_s=1e-7), settings)
    return [
        dataclasses.replace(each, seconds=each.seconds * (1.0 + 0.02 * rng.standard_normal()))
        for each in exact
    ]


def test_one_batch_and_one_context_do_not_tell_the_weights_from_the_cache():
    found = fit_pass_cost(noisy([(8, n, 1000) for n in WIDTHS]))
    (said,) = doubts(found, CACHE)
    assert "all passes hold 8,000 tokens" in said


def test_contexts_that_hardly_differ_do_not_either_and_others_do():
    near = [(1, n, 1000 + 2 * i) for i in range(5) for n in WIDTHS]
    (said,) = doubts(fit_pass_cost(noisy(near)), CACHE)
    assert "all passes hold 1,000 to 1,008 tokens" in said
    for apart in ([(1, n, s) for s in (500, 9000) for n in WIDTHS], SPREAD):
        assert not doubts(fit_pass_cost(noisy(apart)), CACHE)
    exact = times(PassCost(weights_s=0.004, compute_s=1e-4, kv_s=1e-7), near)
    assert not doubts(fit_pass_cost(exact), CACHE)


def test_without_a_context_and_with_a_machine_there_is_nothing_to_tell_apart():
    assert not doubts(fit_pass_cost(noisy([(1, n, 0) for n in WIDTHS])), CACHE)
    known = {"model": MODEL, "machine": MACHINE}
    assert not doubts(fit_pass_cost(noisy([(8, n, 1000) for n in WIDTHS]), **known), CACHE)
