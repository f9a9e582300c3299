"""Closure and prediction of runs whose truth is known."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measured_runs import COST_RATIO, OVERHEAD, STEP_S, measured_run, pass_cost, plain_request

from analysis import estimate_p, expected_tokens, speedup
from analysis.runs import statistics as run_statistics
from analysis.runs.first_passage import expected_rounds, survival_of_constant
from analysis.runs.prediction import summarize_run
from analysis.runs.sums import sums_of
from simulator.costs import PassTimes, StepTimes

FALLING = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.3)
FAR = 6.5
"""A normal deviation beyond so many standard errors has chance 1e-10."""


def changed(requests, gamma, **changes):
    """The requests with fields of those of one gamma replaced by functions of the request."""
    return tuple(
        dataclasses.replace(r, **{name: f(r) for name, f in changes.items()})
        if r.gamma == gamma
        else r
        for r in requests
    )


def by_gamma(entries):
    return {entry.gamma: entry for entry in entries}


# Measured


def test_measured_quantities_are_ratios_of_sums():
    requests = measured_run(spread=0.1, slow=0.2, repeats=2)
    summary = summarize_run(requests, resamples=100)
    plain = [r for r in requests if r.gamma == 0]
    for entry in summary.measured:
        here = [r for r in requests if r.gamma == entry.gamma]
        table = sum((r.table for r in here[1:]), here[0].table)
        per_token = [
            sum(r.decode_s for r in group) / sum(r.emitted for r in group)
            for group in (plain, here)
        ]
        whole = [
            sum(r.prefill_s + r.decode_s for r in group) / sum(r.emitted + 1 for r in group)
            for group in (plain, here)
        ]
        assert entry.table == table
        assert entry.speedup.value == pytest.approx(per_token[0] / per_token[1], rel=1e-12)
        assert entry.whole_request.value == pytest.approx(whole[0] / whole[1], rel=1e-12)
        assert entry.tokens_per_round.value == pytest.approx(table.tokens_per_round.value)
        assert entry.emitted_per_round.value == pytest.approx(table.emitted_per_round)
        assert entry.accepted_fraction.value == pytest.approx(table.accepted_fraction.value)
        assert entry.discarded_per_round.value == pytest.approx(table.discarded / table.rounds)
        shares = entry.draft_share, entry.verify_share, entry.rest_share
        assert sum(share.value for share in shares) == pytest.approx(1.0)
        assert [p.value for p in entry.acceptance] == pytest.approx(
            [p.value for p in table.conditional_acceptance], nan_ok=True
        )


def test_costs_are_those_of_step_times_and_p_is_the_estimate_of_the_largest_gamma():
    requests = measured_run(slow=0.3, overhead=lambda gamma: 0.02 * gamma)
    summary, times = summarize_run(requests, resamples=100), StepTimes.of(requests)
    assert summary.plain_step_s.value == pytest.approx(times.target_step_s)
    assert summary.cost_ratio.value == pytest.approx(times.cost_ratio)
    assert summary.overhead.value == pytest.approx(times.overhead)
    assert summary.p.value == pytest.approx(estimate_p(summary.measured[-1].table).value)
    for width, cost in summary.verify_costs:
        assert cost.value == pytest.approx(times.verify_cost(width))


# Closure


def test_the_account_closes_where_times_follow_the_model():
    for closure in summarize_run(measured_run(), resamples=100).closures:
        assert closure.error.value == pytest.approx(0.0, abs=1e-12)


def test_an_overhead_that_grows_with_gamma_shows_as_the_error_that_it_is():
    requests = measured_run(overhead=lambda gamma: 0.1 * gamma)
    summary = summarize_run(requests, resamples=100)
    rounds = {e.gamma: e.table.rounds for e in summary.measured}
    pooled = sum(0.1 * g * n for g, n in rounds.items()) / sum(rounds.values())
    for closure in summary.closures:
        base = closure.gamma * COST_RATIO + pass_cost(closure.gamma + 1)
        expected = (base + 0.1 * closure.gamma) / (base + pooled) - 1.0
        assert closure.error.value == pytest.approx(expected, abs=1e-12)
    assert summary.closure_error > 0.03


def test_a_draft_that_gets_dearer_with_depth_shows():
    requests = measured_run(cost_ratio=lambda gamma: 0.05 * (1 + gamma))
    summary = summarize_run(requests, resamples=100)
    drafted = {e.gamma: e.table.drafted for e in summary.measured}
    pooled = sum(0.05 * (1 + g) * n for g, n in drafted.items()) / sum(drafted.values())
    for closure in summary.closures:
        g, base = closure.gamma, pass_cost(closure.gamma + 1) + OVERHEAD
        expected = (base + g * 0.05 * (1 + g)) / (base + g * pooled) - 1.0
        assert closure.error.value == pytest.approx(expected, abs=1e-12)
    assert summary.closures[0].error.value < -0.1
    assert summary.closures[-1].error.value > 0.05


def test_a_clock_that_ran_on_for_one_gamma_shows_there():
    """Negative control: were closure true by construction, this would change nothing."""
    slow = changed(measured_run(), 4, decode_s=lambda r: 1.3 * r.decode_s)
    errors = {c.gamma: c.error.value for c in summarize_run(slow, resamples=100).closures}
    assert errors[4] > 0.1
    assert all(errors[g] < -0.02 for g in (1, 2, 8))


def test_drafts_cut_short_cost_what_their_own_passes_cost():
    """Half of the rounds of gamma 4 pass two tokens only: V(2) counts for them, and closure holds."""

    def shorter(request):
        n = request.table.rounds
        short = n // 2
        return tuple(
            PassTimes(width=w, count=count, total_s=STEP_S * count * pass_cost(w))
            for w, count in ((2, short), (5, n - short))
        )

    def table(request):
        short = request.table.rounds // 2
        return dataclasses.replace(
            request.table,
            drafted=request.table.drafted - 3 * short,
            tested=(request.table.rounds, 0, 0, 0),
            accepted=(request.table.accepted[0], 0, 0, 0),
            discarded=0,
        )

    requests = measured_run(gammas=(1, 4))
    requests = changed(requests, 4, table=table, passes=shorter)
    requests = changed(
        requests,
        4,
        emitted=lambda r: r.table.emitted,
        draft_s=lambda r: STEP_S * COST_RATIO * r.table.drafted,
        decode_s=lambda r: (
            r.verify_s + STEP_S * (COST_RATIO * r.table.drafted + OVERHEAD * r.table.rounds)
        ),
    )
    for closure in summarize_run(requests, resamples=100).closures:
        assert closure.error.value == pytest.approx(0.0, abs=1e-12)


# Prediction


@pytest.mark.parametrize("p", [0.0, 1.0])
@pytest.mark.parametrize("length", [1, 7, 64, 65])
def test_prediction_is_exact_where_nothing_is_random(p, length):
    summary = summarize_run(measured_run(acceptance=(p,), length=length), resamples=100)
    for entry in summary.predictions:
        here = summary.at(entry.gamma)
        rounds = math.ceil(length / (entry.gamma + 1)) if p else length
        assert here.emitted_per_round.value == pytest.approx(length / rounds)
        for way in (entry.constant, entry.by_depth):
            assert way.tokens.value == pytest.approx(here.tokens_per_round.value)
            assert way.emitted.value == pytest.approx(here.emitted_per_round.value)
            assert way.error.value == pytest.approx(0.0, abs=1e-12)


def test_the_article_s_formula_is_that_of_the_closed_form():
    summary = summarize_run(measured_run(), resamples=100)
    p, c = summary.p.value, summary.cost_ratio.value
    for entry in summary.predictions:
        assert entry.article.speedup.value == pytest.approx(speedup(p, entry.gamma, c))
        assert entry.constant.tokens.value == pytest.approx(expected_tokens(p, entry.gamma))


def test_falling_acceptance_is_foreseen_by_depth_and_not_by_one_p():
    requests = measured_run(acceptance=FALLING, prompts=300, length=100)
    for entry in summarize_run(requests, resamples=400).predictions[:-1]:
        assert entry.foreseen
        assert abs(entry.by_depth.error.value) < FAR * entry.by_depth.error.se
    first = summarize_run(requests, resamples=400).predictions[0]
    assert abs(first.constant.error.value) > FAR * first.constant.error.se  # the negative control
    assert first.constant.error.value < -0.04


def test_short_texts_lose_part_of_their_last_round_and_that_is_foreseen():
    requests = measured_run(prompts=300, length=6)
    summary = summarize_run(requests, resamples=400)
    for entry in summary.predictions:
        lost = entry.constant.tokens.value - entry.constant.emitted.value
        error = entry.constant.error
        assert abs(error.value) < FAR * error.se
        assert lost > (0.02 if entry.gamma == 1 else 0.1)
    no_account = (
        summary.predictions[2].constant.tokens.value / summary.at(4).emitted_per_round.value
    )
    assert no_account > 1.2  # as if texts never ended: far off


def test_lengths_come_from_the_plain_texts_one_by_one():
    lengths = (3, 3, 50, 200)
    summary = summarize_run(measured_run(prompts=4, length=lengths, gammas=(2, 4)), resamples=100)
    needed = expected_rounds(survival_of_constant(np.array([summary.p.value]), 2), 200)[0]
    expected = sum(lengths) / sum(needed[n] for n in lengths)
    assert summary.predictions[0].constant.emitted.value == pytest.approx(expected)


def test_very_long_texts_take_the_rate_of_long_ones():
    summary = summarize_run(measured_run(prompts=2, length=3000, gammas=(2, 4)), resamples=100)
    needed = expected_rounds(survival_of_constant(np.array([summary.p.value]), 2), 3000)[0]
    emitted = summary.predictions[0].constant.emitted.value
    assert emitted == pytest.approx(3000 / needed[3000], rel=1e-9)


def test_rounds_without_a_draft_are_part_of_what_is_foreseen():
    """As a prompt lookup has them where nothing matches: they give one token for one plain step."""
    summary = summarize_run(
        measured_run(prompts=300, length=60, empty=0.3, length_rule="scheduled"), resamples=400
    )
    for closure in summary.closures:
        assert closure.error.value == pytest.approx(0.0, abs=1e-12)
    for entry in summary.predictions:
        for way in (entry.constant, entry.by_depth):
            assert abs(way.error.value) < FAR * way.error.se
    full = expected_tokens(summary.p.value, 4)
    assert (
        full / summary.at(4).tokens_per_round.value > 1.2
    )  # negative control: drafts always there


def test_the_largest_gamma_is_marked_as_the_source():
    summary = summarize_run(measured_run(), resamples=100)
    assert [entry.foreseen for entry in summary.predictions] == [True, True, True, False]
    assert {entry.source for entry in summary.predictions} == {8}


@pytest.mark.parametrize(
    ("rule", "words"),
    [("confidence", "by the draft's confidence"), ("unknown", "by an unknown rule")],
)
def test_counts_that_describe_only_what_was_offered_predict_nothing(rule, words):
    summary = summarize_run(measured_run(length_rule=rule), resamples=100)
    assert summary.predictions == ()
    assert words in summary.refusal
    assert len(summary.closures) == 4  # the account of the run itself stands


@pytest.mark.parametrize("rule", ["fixed", "scheduled"])
def test_other_length_rules_predict(rule):
    summary = summarize_run(measured_run(length_rule=rule), resamples=100)
    assert len(summary.predictions) == 4
    assert summary.refusal == ""


def test_one_draft_length_foresees_nothing():
    summary = summarize_run(measured_run(gammas=(4,)), resamples=100)
    assert not any(entry.foreseen for entry in summary.predictions)
    assert "γ = 4 is the only one" in summary.refusal


def test_a_width_without_a_pass_leaves_the_prediction_unknown():
    """γ = 2 whose passes all had two tokens: V(3) was never seen."""
    requests = changed(
        measured_run(gammas=(2, 4)),
        2,
        passes=lambda r: tuple(dataclasses.replace(p, width=2) for p in r.passes),
    )
    summary = summarize_run(requests, resamples=100)
    assert math.isnan(summary.predictions[0].by_depth.speedup.value)
    assert math.isnan(summary.at(2).verify_cost.value)
    assert str(summary.predictions[0].by_depth.speedup) == "unknown"


# Intervals


def test_intervals_are_over_prompts_and_wider_than_those_of_independent_rounds():
    """The ratio is about 2.5 here, its error below 0.15."""
    here = summarize_run(measured_run(spread=0.15, prompts=200, gammas=(4,))).at(4)
    assert here.tokens_per_round.se > 1.5 * here.table.tokens_per_round.se


def test_without_differences_between_prompts_both_agree():
    here = summarize_run(measured_run(prompts=300, length=150, gammas=(4,))).at(4)
    assert here.tokens_per_round.se == pytest.approx(here.table.tokens_per_round.se, rel=0.3)


def test_a_slow_machine_s_prompts_are_paired():
    """Times that differ threefold between prompts, plain and drafted alike, leave the gain sure."""
    summary = summarize_run(measured_run(acceptance=(1.0,), slow=0.6, gammas=(4,), length=65))
    entry = summary.at(4)
    assert entry.speedup.interval[1] - entry.speedup.interval[0] < 1e-9
    low, high = summary.plain_step_s.interval
    assert high / low > 1.3


def test_best_and_what_cannot_be_told_from_it():
    summary = summarize_run(measured_run(spread=0.1))
    assert summary.best == max(summary.measured, key=lambda e: e.speedup.value).gamma
    assert summary.best not in summary.as_good
    sure = summarize_run(measured_run(acceptance=(1.0,), length=90))
    assert (sure.best, sure.as_good) == (8, ())


def test_one_prompt_has_values_and_no_interval():
    summary = summarize_run(measured_run(prompts=1))
    assert summary.at(4).speedup.interval is None
    assert summary.at(4).speedup.value > 0.0
    assert {summary.best, *summary.as_good} == {1, 2, 4, 8}


# Conservation


@given(
    seed=st.integers(0, 2**20),
    factor=st.floats(1e-3, 1e3),
    p=st.floats(0.05, 0.95),
)
@settings(max_examples=25)
def test_the_unit_of_time_and_the_order_of_lines_do_not_matter(seed, factor, p):
    requests = measured_run(prompts=4, length=20, acceptance=(p,), slow=0.2, rng=seed)
    scaled = tuple(
        dataclasses.replace(
            r,
            prefill_s=r.prefill_s * factor,
            decode_s=r.decode_s * factor,
            draft_s=r.draft_s * factor,
            passes=tuple(dataclasses.replace(t, total_s=t.total_s * factor) for t in r.passes),
        )
        for r in reversed(requests)
    )
    first, second = (summarize_run(run, resamples=100) for run in (requests, scaled))
    for one, two in zip(first.measured, second.measured, strict=True):
        assert one.table == two.table
        assert one.speedup.value == pytest.approx(two.speedup.value, rel=1e-9)
        assert one.round_cost.value == pytest.approx(two.round_cost.value, rel=1e-9)
        parts = (one.draft_share, one.verify_share, one.rest_share)
        assert sum(part.value for part in parts) == pytest.approx(1.0)
        assert one.speedup.value == pytest.approx(
            one.emitted_per_round.value / one.round_cost.value, rel=1e-9
        )
    for one, two in zip(first.closures, second.closures, strict=True):
        assert one.error.value == pytest.approx(two.error.value, abs=1e-9)
    for one, two in zip(first.predictions, second.predictions, strict=True):
        assert one.by_depth.error.value == pytest.approx(two.by_depth.error.value, abs=1e-9)


@given(seed=st.integers(0, 2**20), copies=st.integers(2, 4))
@settings(max_examples=15)
def test_prompts_said_twice_change_no_value(seed, copies):
    requests = measured_run(prompts=3, length=20, rng=seed)
    more = tuple(
        dataclasses.replace(r, prompt=f"{r.prompt}, {copy}")
        for copy in range(copies)
        for r in requests
    )
    one, two = (summarize_run(run, resamples=100) for run in (requests, more))
    assert two.requests == copies * one.requests
    for first, second in zip(one.measured, two.measured, strict=True):
        assert second.speedup.value == pytest.approx(first.speedup.value)
        assert second.table.rounds == copies * first.table.rounds
    for first, second in zip(one.predictions, two.predictions, strict=True):
        assert second.by_depth.error.value == pytest.approx(first.by_depth.error.value, nan_ok=True)


def test_many_draws_at_once_are_the_draws_one_by_one(rng):
    sums = sums_of(measured_run(spread=0.2, slow=0.2))
    weights = rng.multinomial(12, np.full(12, 1 / 12), size=5).astype(float)
    together = run_statistics.of_weights(sums, weights)
    for i in range(5):
        alone = run_statistics.of_weights(sums, weights[i : i + 1])
        for name, values in together.items():
            assert values[i] == pytest.approx(alone[name][0], rel=1e-12, nan_ok=True), name


# Bad input


def test_prompts_that_lack_a_gamma_are_left_out_and_counted():
    requests = measured_run()
    summary = summarize_run(requests[:-1], resamples=100)
    assert (summary.prompts, summary.left_out) == (11, 4)
    whole = summarize_run(requests[:-5], resamples=100)
    assert summary.at(4).speedup.value == whole.at(4).speedup.value


def test_repeats_are_paired_too():
    requests = measured_run(repeats=2)
    kept = [r for r in requests if not (r.prompt == "prompt 0" and r.gamma == 8 and r.repeat == 1)]
    summary = summarize_run(kept, resamples=100)
    assert (summary.prompts, summary.left_out) == (12, 4)


def one_changed(**changes):
    requests = measured_run(prompts=2)
    return (*requests[:-1], dataclasses.replace(requests[-1], **changes))


@pytest.mark.parametrize(
    ("requests", "sentence"),
    [
        ((), r"plain decoding \(gamma 0\) and a gamma of at least 1; got no request"),
        ((plain_request("a", 3),), "a gamma of at least 1; got 0"),
        (measured_run(prompts=2)[1:5], "a gamma of at least 1; got 1, 2, 4, 8"),
        (measured_run(prompts=1) * 2, "prompt 'prompt 0', gamma 0, repeat 0 came twice"),
        (
            tuple(r for r in measured_run(prompts=2) if (r.prompt == "prompt 0") == (r.gamma == 0)),
            r"measured with every gamma \(0, 1, 2, 4, 8\); got none",
        ),
        (one_changed(decode_s=math.nan), "times must be finite seconds of at least 0"),
        (one_changed(prefill_s=-1.0), "not so at prompt 'prompt 1', gamma 8, repeat 0"),
        (one_changed(decode_s=1e-6), "decode_s must hold the times of the model calls"),
        (one_changed(emitted=3), "emitted must be what the table says, 64; got 3"),
        (one_changed(gamma=3), r"be at least the depths of its table; got 8 depths"),
        (one_changed(gamma=10**6), r"gamma must lie in \[0, 64\]"),
        (one_changed(passes=(PassTimes(width=0, count=1, total_s=0.0),)), r"lie in \[1, 1024\]"),
        (
            one_changed(passes=(PassTimes(width=1, count=10**12, total_s=0.0),)),
            "counts must lie in",
        ),
        (
            measured_run(gammas=tuple(range(1, 18)), prompts=1, length=2),
            "at most 16 draft lengths; got 17",
        ),
        (
            (
                *measured_run(gammas=(1,), prompts=1),
                *(plain_request(str(i), 1) for i in range(10_000)),
            ),
            "requests must be at most 10,000; got 10,002",
        ),
        (measured_run(length=0), "requests of gamma 0 must have emitted above 0; got 0"),
    ],
)
def test_records_that_no_run_has_get_a_sentence(requests, sentence):
    with pytest.raises(ValueError, match=sentence):
        summarize_run(requests, resamples=100)


def test_a_gamma_that_was_not_measured_gets_a_sentence():
    with pytest.raises(ValueError, match=r"one of the run's \(1, 2, 4, 8\); got 3"):
        summarize_run(measured_run(), resamples=100).at(3)


def test_a_large_hostile_run_is_answered_in_bounded_memory():
    requests = measured_run(gammas=(63, 64), prompts=30, length=3000, acceptance=(0.5,))
    assert math.isfinite(summarize_run(requests, resamples=100).closures[0].error.value)
