"""What a fit doubts: times in another unit than was said, and a cost of tokens that they do not show."""

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
