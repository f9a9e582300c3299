"""Two runs compared: published pairs decomposed, sums that add up exactly, what is said beside them."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measured_runs import measured_run

import simulator as sim
from analysis import equivalent_p, tokens_variance
from analysis.compare import compare_runs
from analysis.comparison.inputs import observation_of_table
from analysis.comparison.resampling import Fixed, estimate, intervals
from simulator import (
    AcceptanceTable,
    AcceptanceTotals,
    Clock,
    CountedUnit,
    Observation,
    ReportedRatio,
)


def totals(rounds, drafted, accepted, *, longest, tokens_per_s=None, name="", **changes):
    return Observation(
        name=name,
        counts=AcceptanceTotals(
            rounds=rounds, drafted=drafted, accepted=accepted, longest_draft=longest
        ),
        clock=Clock(tokens_per_s=tokens_per_s),
        **changes,
    )


def test_llamacpp_issue_26750_is_acceptance():
    """Builds b10261 and b10532, same prompt: 132/198 at 69.23 t/s, then 121/231 at 57.67 t/s."""
    result = compare_runs(
        totals(68, 198, 132, longest=3, tokens_per_s=69.23, name="b10261"),
        totals(79, 231, 121, longest=3, tokens_per_s=57.67, name="b10532"),
        regression=0.05,
    )

    assert result.whole.factor.value == pytest.approx(57.67 / 69.23, rel=1e-12)
    acceptance, time = result.parts
    assert (acceptance.name, time.name) == ("acceptance", "pass_time")
    assert (acceptance.before, acceptance.after) == pytest.approx((200 / 68, 200 / 79), rel=1e-12)
    assert acceptance.factor.value == pytest.approx(68 / 79, rel=1e-12)
    assert time.before == pytest.approx(200 / 68 / 69.23, rel=1e-12)
    assert time.after == pytest.approx(200 / 79 / 57.67, rel=1e-12)
    assert acceptance.share == pytest.approx(0.82, abs=0.005)
    assert result.lower_bound
    # 68 rounds are few: the capped geometric law with these means has this much spread.
    spread = sum(
        tokens_variance(equivalent_p(gamma=3, tokens_per_round=mean), 3) / rounds / mean**2
        for mean, rounds in ((200 / 68, 68), (200 / 79, 79))
    )
    ends = [57.67 / 69.23 * math.exp(sign * 1.959964 * math.sqrt(spread)) for sign in (-1, 1)]
    assert result.whole.factor.interval == pytest.approx(tuple(ends), rel=1e-6)
    assert result.whole.change == "slower"
    assert result.verdict == "undecided"
    assert result.needed.units == ("round", "round")
    assert "slower" in result.sentence
    assert "b10532" in result.sentence


def test_club_3090_issue_105_is_acceptance_alone():
    """Two windows of one vLLM server, prose and code: the pass takes 38 ms in both."""
    result = compare_runs(
        totals(262, 1572, 489, longest=6, tokens_per_s=74.7),
        totals(261, 1566, 983, longest=6, tokens_per_s=124.5),
    )

    acceptance, time = result.parts
    assert time.before == pytest.approx(0.03837, abs=5e-6)
    assert time.after == pytest.approx(0.03828, abs=5e-6)
    assert acceptance.share == pytest.approx(0.9955, abs=5e-4)
    assert result.whole.change == "faster"
    assert time.change == "unknown"  # one number a side: its noise is not known
    assert time.factor.interval is None
    assert any("time is known as one number" in note for note in result.notes)


def test_a_pass_that_became_slower_is_seen_as_that():
    """SGLang with and without CUDA graphs: 5.39 tokens per round at 378.57 t/s, 5.36 at 276.3."""

    def printed(length, tokens_per_s):
        ratio = ReportedRatio(
            quantity="tokens_per_round", value=length, half_width=0.005, averaged_over="run"
        )
        return Observation(printed=(ratio,), clock=Clock(tokens_per_s=tokens_per_s))

    result = compare_runs(printed(5.39, 378.57), printed(5.36, 276.3), regression=0.1)

    acceptance, time = result.parts
    assert time.before == pytest.approx(0.01424, abs=5e-6)
    assert time.share == pytest.approx(0.982, abs=1e-3)
    assert acceptance.factor.value == pytest.approx(5.36 / 5.39, rel=1e-12)
    assert result.whole.factor.interval is None
    assert result.verdict == "undecided"  # nothing says how sure it is
    assert any("there is no interval" in note for note in result.notes)


@given(
    st.lists(
        st.tuples(st.integers(1, 300), st.integers(0, 900), st.floats(0.001, 5.0)),
        min_size=2,
        max_size=12,
    ),
    st.lists(
        st.tuples(st.integers(1, 300), st.integers(0, 900), st.floats(0.001, 5.0)),
        min_size=1,
        max_size=12,
    ),
)
def test_the_logs_of_the_parts_add_up(before, after):
    def side(rows):
        units = tuple(
            CountedUnit(
                name=f"{i}",
                counts=AcceptanceTotals(
                    rounds=rounds,
                    drafted=4 * rounds,
                    accepted=min(accepted, 4 * rounds),
                    emitted=rounds + min(accepted, 4 * rounds) - min(accepted, 4 * rounds, i % 3),
                ),
                decode_s=seconds,
            )
            for i, (rounds, accepted, seconds) in enumerate(rows)
        )
        counts = sum((unit.counts for unit in units[1:]), start=units[0].counts)
        return Observation(units=units, counts=counts)

    result = compare_runs(side(before), side(after), rng=1)

    scale = sum(abs(part.log_factor) for part in result.parts) + 1.0
    assert math.fsum(part.log_factor for part in result.parts) == pytest.approx(
        result.whole.log_factor, abs=1e-12 * scale
    )
    assert math.log(result.whole.after / result.whole.before) == pytest.approx(
        result.whole.log_factor, abs=1e-11 * scale
    )
    for part in (result.whole, *result.parts):
        assert part.factor.value == pytest.approx(math.exp(part.log_factor), rel=1e-12)
        if part.factor.interval is not None:
            assert part.factor.interval[0] <= part.factor.value <= part.factor.interval[1] or (
                part.factor.se == 0.0
            )


def test_swapping_the_sides_turns_the_factors_over():
    before = sim.observation_of_requests(measured_run(gammas=(4,), spread=0.1, rng=1))
    after = sim.observation_of_requests(measured_run(gammas=(4,), spread=0.1, slow=0.2, rng=2))

    there, back = compare_runs(before, after, rng=3), compare_runs(after, before, rng=3)

    assert there.whole.log_factor == pytest.approx(-back.whole.log_factor, abs=1e-12)
    assert there.whole.factor.interval == pytest.approx(
        tuple(1 / end for end in reversed(back.whole.factor.interval)), rel=1e-9
    )


def test_a_run_compared_with_itself_is_the_same():
    run = sim.observation_of_requests(measured_run(gammas=(2, 4)))

    result = compare_runs(run, run, regression=0.01)

    assert result.whole.factor.value == 1.0
    assert result.whole.factor.interval == pytest.approx((1.0, 1.0), abs=1e-12)
    assert result.whole.change == "within noise"
    assert result.verdict == "not regressed"
    assert all(depth.difference.value == 0.0 for depth in result.depths)


def test_units_of_a_measured_run_are_prompts_with_their_repeats():
    requests = measured_run(gammas=(2, 4), prompts=5, repeats=3)

    observation = sim.observation_of_requests(requests)

    assert observation.gamma == 4
    assert [unit.name for unit in observation.units] == [f"prompt {i}" for i in range(5)]
    ours = [r for r in requests if r.gamma == 4]
    assert observation.emitted == sum(r.emitted for r in ours)
    assert observation.clock.decode_s == pytest.approx(sum(r.decode_s for r in ours), rel=1e-12)
    assert observation.clock.plain_s_per_token == pytest.approx(0.01, rel=1e-12)
    assert sim.observation_of_requests(requests, gamma=2).gamma == 2
    with pytest.raises(ValueError, match=r"gamma must be one that was measured \(2, 4\); got 3"):
        sim.observation_of_requests(requests, gamma=3)


def test_pass_time_is_split_by_the_plain_step_where_both_sides_know_it():
    before = sim.observation_of_requests(measured_run(gammas=(4,)))
    after = sim.observation_of_requests(
        measured_run(gammas=(4,), verify_cost=lambda width: 1.0 + width / 8)
    )

    result = compare_runs(before, after)

    step, cost = result.rest
    assert (step.name, cost.name) == ("plain_step", "round_cost")
    assert step.log_factor + cost.log_factor == pytest.approx(
        result.part("pass_time").log_factor, abs=1e-12
    )
    assert cost.before == pytest.approx(4 * 0.125 + 1.25 + 0.0625, rel=1e-12)
    assert cost.after == pytest.approx(4 * 0.125 + 1.625 + 0.0625, rel=1e-12)


def test_simulated_tables_have_no_times_and_independent_rounds():
    first = AcceptanceTable(rounds=1000, drafted=2000, tested=(1000, 700), accepted=(700, 490))
    second = AcceptanceTable(rounds=1000, drafted=2000, tested=(1000, 600), accepted=(600, 360))

    result = compare_runs(
        observation_of_table(first), observation_of_table(second), regression=0.02
    )

    assert not result.timed
    assert not result.lower_bound
    assert result.verdict == "regressed"
    first_se, second_se = first.tokens_per_round.se, second.tokens_per_round.se
    log_se = math.hypot(first_se / 2.19, second_se / 1.96)
    assert result.whole.factor.se == pytest.approx(1.96 / 2.19 * log_se, rel=1e-12)
    assert [change.depth for change in result.depths] == [0, 1]


def test_rounds_without_a_draft_emit_one_token_each():
    counts = AcceptanceTotals(rounds=10, drafted=40, accepted=20, longest_draft=4)
    before = Observation(counts=counts, clock=Clock(tokens_per_s=30.0))
    after = Observation(counts=counts, undrafted_rounds=20, clock=Clock(tokens_per_s=30.0))

    result = compare_runs(before, after)

    assert result.part("acceptance").after == pytest.approx(50 / 30, rel=1e-12)
    assert result.whole.factor.value == pytest.approx(1.0, rel=1e-12)


def test_what_differs_beside_the_numbers_is_said():
    before = totals(
        100, 400, 200, longest=4, gamma=4, method="eagle", batch=1.0, length_rule="fixed"
    )
    after = totals(
        100, 300, 180, longest=3, gamma=3, method="mtp", batch=8.0, length_rule="confidence"
    )

    said = " ".join(compare_runs(before, after).caveats)

    for words in ("γ differs: 4 before, 3 after", "eagle before, mtp after", "1 before, 8 after"):
        assert words in said
    assert "drafts ended by confidence" in said
    assert compare_runs(before, before).caveats == ()


def test_intervals_of_a_log_are_no_requests():
    units = tuple(
        CountedUnit(counts=AcceptanceTotals(rounds=50, drafted=150, accepted=60 + i))
        for i in range(10)
    )
    log = Observation(
        counts=AcceptanceTotals(rounds=500, drafted=1500, accepted=645),
        units=units,
        unit="interval",
    )

    result = compare_runs(log, log)

    assert result.lower_bound
    assert not result.paired
    assert any("intervals of a log" in note for note in result.notes)


def test_a_single_pair_of_equal_draws_is_no_certainty():
    """With two requests a side the interval is wide, and says so by Student's t."""
    constant = Fixed(values=np.array([0.0]), variances=np.array([1.0]))

    (two,) = intervals([(constant, 2)], rng=np.random.default_rng(0), level=0.95)
    (sums,) = intervals([(constant, 0)], rng=np.random.default_rng(0), level=0.95)

    assert two.interval == pytest.approx((-12.7062, 12.7062), abs=1e-4)  # t with 1 degree
    assert sums.interval == pytest.approx((-1.959964, 1.959964), abs=1e-6)


def test_without_a_standard_error_there_is_no_interval():
    assert estimate(0.3, None, level=0.95).interval is None
    assert estimate(math.nan, 0.1, level=0.95).interval is None


def test_what_cannot_be_compared_is_refused():
    good = totals(100, 300, 150, longest=3)
    with pytest.raises(ValueError, match="after must have counts with rounds, or tokens per round"):
        compare_runs(good, Observation(drafted=10, accepted=5))
    for name, value in (("level", 1.0), ("power", 0.0), ("regression", 1.0), ("regression", -0.1)):
        with pytest.raises(ValueError, match=f"{name} must be a number"):
            compare_runs(good, good, **{name: value})


def test_the_result_is_the_same_for_the_same_seed():
    before = sim.observation_of_requests(measured_run(gammas=(4,), spread=0.1, rng=1))
    after = sim.observation_of_requests(measured_run(gammas=(4,), spread=0.1, rng=2))

    assert dataclasses.asdict(compare_runs(before, after, rng=7)) == dataclasses.asdict(
        compare_runs(before, after, rng=7)
    )
