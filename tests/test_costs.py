"""Step times of a run: pooled over draft lengths, in plain steps."""

from __future__ import annotations

import dataclasses

import pytest
from measured_runs import COST_RATIO, OVERHEAD, STEP_S, measured_run, pass_cost, plain_request

from simulator import AcceptanceTable
from simulator.costs import MeasuredRequest, PassTimes, StepTimes


def request(gamma, *, rounds, decode_s, draft_s=0.0, passes=(), drafted=0):
    return MeasuredRequest(
        prompt="a",
        gamma=gamma,
        repeat=0,
        table=AcceptanceTable(rounds=rounds, drafted=drafted, tested=(), accepted=()),
        emitted=rounds,
        prefill_s=0.0,
        decode_s=decode_s,
        passes=passes,
        draft_steps=drafted,
        draft_s=draft_s,
    )


def test_the_costs_of_a_run_are_those_it_was_made_with():
    times = StepTimes.of(measured_run())
    assert times.target_step_s == pytest.approx(STEP_S, rel=1e-12)
    assert times.cost_ratio == pytest.approx(COST_RATIO, rel=1e-12)
    assert times.overhead == pytest.approx(OVERHEAD, rel=1e-9)
    assert sorted(times.pass_s) == [1, 2, 3, 5, 9]
    for width in times.pass_s:
        assert times.verify_cost(width) == pytest.approx(pass_cost(width), rel=1e-12)


def test_costs_are_pooled_over_draft_lengths():
    requests = (
        request(0, rounds=10, decode_s=10.0),
        request(1, rounds=4, decode_s=8.0, draft_s=1.0, drafted=4),
        request(2, rounds=1, decode_s=5.0, draft_s=2.0, drafted=2),
    )
    times = StepTimes.of(requests)
    assert times.cost_ratio == 3.0 / 6.0
    assert times.overhead == (7.0 + 3.0) / 5.0


def test_passes_of_one_width_are_pooled_and_empty_ones_ignored():
    first = PassTimes(width=2, count=3, total_s=0.3)
    second = PassTimes(width=2, count=1, total_s=0.5)
    empty = PassTimes(width=7, count=0, total_s=0.0)
    requests = (
        request(0, rounds=1, decode_s=1.0),
        request(1, rounds=4, decode_s=2.0, passes=(first, empty)),
        request(2, rounds=4, decode_s=2.0, passes=(second,)),
    )
    assert StepTimes.of(requests).pass_s == {2: pytest.approx(0.2)}


def test_the_parts_of_a_request_add_up_to_its_clock():
    for entry in measured_run(prompts=2):
        assert entry.verify_s + entry.draft_s + entry.rest_s == pytest.approx(entry.decode_s)


def test_a_draft_that_never_drafts_costs_nothing():
    requests = (request(0, rounds=1, decode_s=1.0), request(1, rounds=1, decode_s=1.0))
    assert StepTimes.of(requests).cost_ratio == 0.0


def test_a_width_that_was_not_measured_has_no_cost():
    with pytest.raises(ValueError, match=r"measured \(1, 2, 3, 5, 9\); got 4\."):
        StepTimes.of(measured_run()).verify_cost(4)


@pytest.mark.parametrize(
    ("requests", "sentence"),
    [
        ((), "some with gamma 0, plain decoding; got none."),
        ((plain_request("a", 4),), "some with a gamma of at least 1; got none."),
        (
            (plain_request("a", 0), request(1, rounds=1, decode_s=1.0)),
            "a token of plain decoding at least; got none.",
        ),
        (
            (plain_request("a", 4), request(1, rounds=0, decode_s=1.0)),
            "a round of drafting at least; got none.",
        ),
    ],
)
def test_a_run_without_what_it_needs_is_refused(requests, sentence):
    with pytest.raises(ValueError, match=sentence):
        StepTimes.of(requests)


def test_step_times_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        StepTimes.of(measured_run()).rest_s = 0.0
