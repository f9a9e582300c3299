"""An engine's numbers explained: nothing is invented, ranges hold the truth, contradictions are said."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from measured_runs import COST_RATIO, OVERHEAD, measured_run, pass_cost
from sick_runs import PLAIN, expected_table, run

import analysis as an
from analysis.explaining.cost_line import line_through
from analysis.explaining.report import explain_report
from analysis.explaining.splitting import verify_at
from analysis.explaining.words import headline
from simulator import Clock, Observation, ReportedRatio


def observed(drafting=0.3, wider=0.2, overhead=0.1, *, p=0.7, gamma=4, timed=False, **more):
    """A run whose round takes a plain step and these parts, so that the truth is known."""
    table = expected_table(p, gamma, 100_000)
    decode_s = table.rounds * PLAIN * (1.0 + drafting + wider + overhead)
    clock = Clock(
        decode_s=decode_s,
        draft_s=table.rounds * PLAIN * drafting if timed else None,
        plain_s_per_token=PLAIN,
    )
    values = {"gamma": gamma, "batch": 1, "length_rule": "fixed", "counts": table, "clock": clock}
    return Observation(**(values | more))


def costs(explanation):
    return {part.name: part.cost.number for part in explanation.parts}


amounts = st.floats(0.0, 2.0)


def test_nothing_known_beside_the_clock_stays_one_lump():
    explanation = an.explain_measured(observed())
    assert costs(explanation) == {
        "plain pass": 1.0,
        "drafting + verification + overhead": pytest.approx(0.6),
    }
    assert any("To tell them apart measure V" in note for note in explanation.notes)


def test_timed_drafting_leaves_verification_and_overhead_together():
    explanation = an.explain_measured(observed(timed=True))
    assert costs(explanation) == {
        "plain pass": 1.0,
        "drafting": pytest.approx(0.3),
        "verification + overhead": pytest.approx(0.3),
    }


def test_with_the_width_known_drafting_and_overhead_stay_together():
    explanation = an.explain_measured(observed(), verify_cost=1.2)
    assert costs(explanation) == {
        "plain pass": 1.0,
        "drafting + overhead": pytest.approx(0.4),
        "wider verification": pytest.approx(0.2),
    }


@given(st.floats(0.01, 2.0), amounts, amounts, st.booleans())
def test_with_v_and_drafting_known_the_rest_is_overhead(drafting, wider, overhead, timed):
    seen = observed(drafting, wider, overhead, timed=timed)
    told = {"verify_cost": 1.0 + wider} | ({} if timed else {"cost_ratio": drafting / 4})
    explanation = an.explain_measured(seen, **told)
    assert not explanation.contradiction
    assert explanation.part("together") is None
    for kind, truth in (("drafting", drafting), ("wider", wider), ("overhead", overhead)):
        assert explanation.part(kind).cost.number == pytest.approx(truth, abs=1e-9)


@given(amounts, amounts, amounts, st.booleans(), st.booleans(), st.booleans())
def test_ranges_hold_the_truth_however_little_is_told(d, w, o, timed, v_known, c_known):
    """Where drafts and verification cost at most a plain step per token, as the bounds assume."""
    rounding = 0.005
    seen = observed(d, w, o, timed=timed)
    tokens = seen.counts.tokens_per_round.value
    cost = 1.0 + d + w + o
    printed = ReportedRatio(
        quantity="tokens_per_round",
        value=round(tokens, 2),
        half_width=rounding,
        averaged_over="run",
    )
    clock = Clock(
        plain_s_per_token=PLAIN,
        s_per_token=PLAIN * cost / tokens,
    )
    seen = replace(seen, counts=None, printed=(printed,), clock=clock)
    explanation = an.explain_measured(
        seen,
        verify_cost=1.0 + w if v_known else None,
        cost_ratio=d / 4 if c_known else None,
    )
    truth = {"drafting": d, "wider": w, "overhead": o}
    tight = 1e-9
    for part in explanation.parts:
        low, high = part.cost.range
        if part.kind in truth:
            assert low - tight <= truth[part.kind] <= high + tight
        if part.kind == "together":
            inside = sum(truth[member.kind] for member in part.members)
            assert low - tight <= inside <= high + tight
            for member in part.members:
                assert member.range[0] - tight <= truth[member.kind] <= member.range[1] + tight
    assert explanation.cost.range[0] - tight <= cost <= explanation.cost.range[1] + tight


def test_rounding_reaches_every_part_that_rests_on_it():
    printed = ReportedRatio(
        quantity="tokens_per_round", value=2.5, half_width=0.05, averaged_over="run"
    )
    seen = Observation(
        gamma=4, batch=1, length_rule="fixed", printed=(printed,), clock=Clock(speedup=1.25)
    )
    explanation = an.explain_measured(seen, verify_cost=1.2)
    assert explanation.cost.range == pytest.approx((2.45 / 1.25, 2.55 / 1.25))
    lump = explanation.part("together")
    assert lump.cost.range == pytest.approx((1.96 - 1.2, 2.04 - 1.2))
    assert explanation.part("wider").cost.range == pytest.approx((0.2, 0.2))


def test_a_negative_rest_is_a_contradiction_and_nothing_is_attacked():
    explanation = an.explain_measured(observed(), verify_cost=1.5, cost_ratio=0.1)
    assert "contradict" in explanation.contradiction
    assert "-0.300 are left" in explanation.contradiction
    assert explanation.attack is None
    assert explanation.break_even == ()
    assert explanation.contradiction in headline(explanation)
    assert explanation.part("overhead").cost.number == pytest.approx(-0.3)


def test_a_rest_that_rounding_could_make_positive_is_none():
    printed = ReportedRatio(
        quantity="tokens_per_round", value=2.5, half_width=0.05, averaged_over="run"
    )
    seen = Observation(gamma=4, length_rule="fixed", printed=(printed,), clock=Clock(speedup=2.5))
    assert not an.explain_measured(seen, verify_cost=1.01, cost_ratio=0.0).contradiction
    assert an.explain_measured(seen, verify_cost=1.03, cost_ratio=0.0).contradiction


def test_a_round_faster_than_a_plain_pass_is_said_to_be_impossible():
    explanation = an.explain_measured(
        Observation(
            gamma=4, length_rule="fixed", counts=expected_table(), clock=Clock(speedup=4.0), batch=1
        )
    )
    assert explanation.codes[0] == "speedup_above_tokens_per_round"
    assert "cannot be: a speedup of 4.00 with 2.77 tokens per round" in explanation.refusal
    assert explanation.codes[0] not in explanation.refusal
    assert explanation.parts == ()


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (Observation(), "(give the rounds, or a mean length), nor is the speed with"),
        (Observation(counts=expected_table(), gamma=4), "A round gives 2.77 tokens."),
        (Observation(clock=Clock(speedup=1.4), gamma=4), "The speedup is 1.40."),
        (
            Observation(counts=expected_table(), gamma=4, clock=Clock(s_per_round=0.02)),
            "takes 20 ms",
        ),
    ],
)
def test_where_nothing_follows_it_says_what_is_missing(seen, words):
    explanation = an.explain_measured(seen)
    assert "not known" in explanation.refusal
    assert words in explanation.refusal
    assert explanation.parts == ()
    report = explain_report(explanation)
    assert report.headline == explanation.refusal
    assert [section.name for section in report.sections] == ["findings"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"observations": ()}, "observations must hold at least one"),
        ({"about": "elsewhere"}, "about must be the name of one observation"),
        ({"verify_cost": -1.0}, "verify_cost must be a finite number of at least 0; got -1"),
        ({"verify_cost": 0.0}, "verify_cost must be above 0"),
        ({"verify_cost": lambda _width: math.nan}, "verify_cost must be a finite number"),
        ({"cost_ratio": -0.1}, "cost_ratio must be a finite number of at least 0; got -0.1"),
    ],
)
def test_bad_arguments_are_refused_in_a_sentence(arguments, words):
    with pytest.raises(ValueError, match=words):
        an.explain_measured(**({"observations": observed()} | arguments))


def test_a_function_of_the_width_is_read_at_the_drafted_length():
    assert verify_at(lambda width: 1.0 + width / 10.0, 4.0) == pytest.approx(1.5)
    assert verify_at(lambda width: float(width * width), 2.5) == pytest.approx((9.0 + 16.0) / 2.0)
    with pytest.raises(ValueError, match="one number"):
        verify_at(float, None)
    given_v = an.explain_measured(observed(), verify_cost=lambda width: 1.0 + 0.05 * (width - 1))
    assert given_v.part("wider").cost.number == pytest.approx(0.2)


def test_timed_drafting_wins_over_a_cost_ratio_and_says_so():
    explanation = an.explain_measured(observed(timed=True), cost_ratio=0.5)
    assert explanation.part("drafting").cost.number == pytest.approx(0.3)
    assert any("cost ratio that was given is not used" in note for note in explanation.notes)


def sweep(gammas, cost, p=0.7, **more):
    return [
        replace(
            observed(cost(gamma) - 1.0, 0.0, 0.0, p=p, gamma=gamma, target="pair", **more),
            name=f"γ = {gamma}",
        )
        for gamma in gammas
    ]


@given(st.floats(0.0, 2.0), st.floats(0.01, 0.5), st.integers(2, 5))
def test_a_sweep_splits_fixed_cost_from_that_of_tokens(fixed, each, first):
    seen = sweep((first, first + 1, first + 3, first + 4), lambda gamma: 1.0 + fixed + each * gamma)
    assume("impossible" not in {finding.kind for finding in an.diagnose(seen).findings})
    explanation = an.explain_measured(seen)
    assert explanation.part("overhead").cost.number == pytest.approx(fixed, abs=1e-6)
    assert explanation.part("together").cost.number == pytest.approx(each * first, abs=1e-6)
    assert explanation.part("together").name == "drafting + verification"
    assert explanation.line.residual == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("each", [0.11328125, 0.1, 0.3, 0.07])
@pytest.mark.parametrize("first", [2, 3, 5])
def test_a_sweep_without_fixed_cost_has_none_whichever_way_it_is_rounded(each, first):
    lengths = (first, first + 1, first + 3, first + 4)
    explanation = an.explain_measured(sweep(lengths, lambda gamma: 1.0 + each * gamma))
    assert explanation.part("overhead").cost.number == pytest.approx(0.0, abs=1e-6)
    assert not any("bend upwards" in note for note in explanation.notes)


def test_what_is_not_sure_of_the_fixed_cost_is_not_sure_of_the_rest():
    """Costs off the line: the more is fixed, the less is left for drafting and verification."""
    off = {2: 0.02, 3: -0.03, 5: 0.01, 8: 0.0}
    explanation = an.explain_measured(sweep(off, lambda gamma: 1.6 + 0.2 * gamma + off[gamma]))
    fixed, lump = explanation.part("overhead").cost, explanation.part("together").cost
    assert fixed.range[0] < fixed.number < fixed.range[1]
    cost = explanation.cost.number
    expected = (cost - 1.0 - fixed.range[1], cost - 1.0 - fixed.range[0])
    assert lump.range == pytest.approx(expected)


def test_a_sweep_and_timed_drafting_tell_all_three_parts():
    seen = sweep((2, 3, 5, 8), lambda gamma: 1.4 + 0.2 * gamma)
    first = replace(
        seen[0], clock=replace(seen[0].clock, draft_s=0.1 * 2 * PLAIN * seen[0].counts.rounds)
    )
    explanation = an.explain_measured([first, *seen[1:]])
    assert costs(explanation) == {
        "plain pass": 1.0,
        "drafting": pytest.approx(0.2),
        "wider verification": pytest.approx(0.2),
        "fixed overhead": pytest.approx(0.4),
    }


def test_what_was_given_is_preferred_to_the_line():
    explanation = an.explain_measured(
        sweep((2, 3, 5), lambda gamma: 1.4 + 0.2 * gamma), verify_cost=1.3, cost_ratio=0.1
    )
    assert explanation.part("overhead").cost.number == pytest.approx(0.3)
    assert explanation.line.fixed.number == pytest.approx(1.4)


def test_the_observation_that_is_named_is_explained():
    seen = sweep((2, 3, 5), lambda gamma: 1.4 + 0.2 * gamma)
    explanation = an.explain_measured(seen, about="γ = 5")
    assert explanation.gamma == 5
    assert explanation.cost.number == pytest.approx(2.4)
    assert explanation.part("overhead").cost.number == pytest.approx(0.4)


@pytest.mark.parametrize(
    "change",
    [
        {"target": "another"},
        {"batch": 8},
        {"context": 4096},
        {"name": "γ = 5, 400 W"},
        {"length_rule": "confidence"},
        {"clock": Clock(decode_s=100_000 * 2.4 * 0.03, plain_s_per_token=0.03)},
    ],
)
def test_two_lengths_and_a_stranger_make_no_line(change):
    seen = sweep((2, 3, 5), lambda gamma: 1.4 + 0.2 * gamma)
    assert an.explain_measured(seen).line is not None
    explanation = an.explain_measured([seen[0], seen[1], replace(seen[2], **change)])
    assert explanation.line is None
    assert explanation.part("together").name.startswith("drafting + verification + overhead")


def test_a_power_cap_is_its_own_sweep():
    """llama.cpp on an RTX 5090 (sudoingX/qwen38-mtp, README): tokens/s by γ at two caps; rounds made up.

    Under the lower cap the same round costs more per token, and the best length is shorter.
    """
    p = 0.75
    speeds = {
        600: (74.8, (115.7, 144.4, 156.0, 162.1, 159.7, 153.2)),
        400: (71.2, (108.4, 129.3, 133.8, 132.8, 127.5, 123.3)),
    }
    seen = {
        cap: [
            Observation(
                name=f"γ = {gamma}, {cap} W", gamma=gamma, batch=1, length_rule="fixed", method="mtp",
                counts=expected_table(p, gamma, 100_000),
                clock=Clock(tokens_per_s=speed, plain_tokens_per_s=plain),
            )
            for gamma, speed in enumerate(values, start=1)
        ]
        for cap, (plain, values) in speeds.items()
    }  # fmt: skip
    lines = {cap: an.explain_measured([*seen[cap], *seen[1000 - cap]]).line for cap in seen}
    for cap, line in lines.items():
        alone = an.explain_measured(seen[cap]).line
        assert [length for length, _ in line.points] == [1, 2, 3, 4, 5, 6]
        assert line.per_token.number == pytest.approx(alone.per_token.number)
    assert lines[400].per_token.number > lines[600].per_token.number


def test_the_line_covers_the_truth_as_often_as_it_says():
    """Points with normal errors: 95 % intervals of both coefficients, 4,000 sweeps of 5 points.

    The count of hits is binomial; 5.8 standard deviations are a false alarm of 1e-8.
    """
    rng = np.random.default_rng(7)
    hits = {"fixed": 0, "per_token": 0, "narrow": 0}
    draws, lengths = 4_000, np.array([1.0, 2.0, 3.0, 5.0, 8.0])
    for _ in range(draws):
        values = 1.3 + 0.12 * lengths + 0.02 * rng.standard_normal(5)
        line = line_through(
            [(n, c, (c, c)) for n, c in zip(lengths.tolist(), values.tolist(), strict=True)]
        )
        for name, truth in (("fixed", 1.3), ("per_token", 0.12)):
            low, high = getattr(line, name).range
            hits[name] += low <= truth <= high
        low, high = line.fixed.range
        middle, half = (low + high) / 2.0, (high - low) / 2.0
        hits["narrow"] += abs(middle - 1.3) <= 1.96 / 3.182 * half  # normal in place of Student's t
    allowed = 5.8 * math.sqrt(draws * 0.95 * 0.05)
    assert abs(hits["fixed"] - 0.95 * draws) < allowed
    assert abs(hits["per_token"] - 0.95 * draws) < allowed
    assert abs(hits["narrow"] - 0.95 * draws) > allowed  # a wrong interval would be seen


def test_rounding_widens_the_line():
    points = [(n, 1.3 + 0.1 * n, (1.2 + 0.1 * n, 1.4 + 0.1 * n)) for n in (1, 2, 4)]
    line = line_through(points)
    assert line.residual == pytest.approx(0.0, abs=1e-12)
    design = np.linalg.pinv(np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 4.0]]))
    half = 0.1 * np.abs(design[0]).sum()
    assert line.fixed.range == pytest.approx((1.3 - half, 1.3 + half), abs=1e-9)
    with pytest.raises(ValueError, match="3 draft lengths at least; got 2"):
        line_through([*points[:2], points[1]])


def test_overhead_that_no_split_could_explain_is_attacked_even_in_a_lump():
    explanation = an.explain_measured(run(gamma=2, price=0.1, overhead=9.0))
    assert explanation.attack.kind == "overhead"
    assert "fixed_overhead_dominates" in explanation.codes
    low, high = explanation.attack.without.range
    truth = explanation.tokens.number / 1.2  # without the 9 steps
    assert low <= truth <= high


def test_broken_acceptance_is_attacked_whatever_rounds_cost():
    explanation = an.explain_measured(run(p=0.005, gamma=4, price=0.5))
    assert "chance_level_first_position" in explanation.codes
    assert explanation.attack.kind == "tokens"
    assert explanation.attack.advice == explanation.findings[0].advice


def test_drafts_of_many_lengths_have_no_one_p():
    explanation = an.explain_measured(observed(length_rule="confidence"))
    assert explanation.p is None
    needed = {each.what: each for each in explanation.break_even}
    assert needed["p"].needed is None
    assert "Does not follow" in needed["p"].sentence


SUMMARY = an.summarize_run(measured_run(spread=0.05, slow=0.1, prompts=20), resamples=200)


@pytest.mark.parametrize("gamma", [1, 2, 4, 8])
def test_every_part_of_a_measured_run_is_found(gamma):
    explanation = an.explain_run(SUMMARY, gamma)
    truth = {
        "drafting": COST_RATIO * gamma,
        "wider": pass_cost(gamma + 1) - 1.0,
        "overhead": OVERHEAD,
    }
    for kind, value in truth.items():
        cost = explanation.part(kind).cost
        # a prompt's own speed weighs a little more where it has more rounds
        assert cost.number == pytest.approx(value, rel=0.03)
        assert cost.value.interval[0] <= cost.number <= cost.value.interval[1]
    measured = SUMMARY.at(gamma)
    assert explanation.speedup == measured.speedup
    assert explanation.round_cost == measured.round_cost
    total = math.fsum(part.cost.number for part in explanation.parts)
    assert total == pytest.approx(measured.round_cost.value, rel=1e-12)
    assert explanation.tokens.number / total == pytest.approx(measured.speedup.value, rel=1e-12)
    assert "rate_is_accepted_over_drafted" in explanation.codes or gamma == 1


def test_parts_are_exact_where_every_prompt_is_as_fast():
    summary = an.summarize_run(measured_run(prompts=6), resamples=100)
    explanation = an.explain_run(summary, 4)
    assert explanation.part("drafting").cost.number == pytest.approx(0.5, rel=1e-9)
    assert explanation.part("wider").cost.number == pytest.approx(0.25, rel=1e-9)
    assert explanation.part("overhead").cost.number == pytest.approx(OVERHEAD, rel=1e-9)


def test_a_run_breaks_even_where_it_says():
    explanation = an.explain_run(SUMMARY, 8)
    entry = SUMMARY.at(8)
    wasted = entry.tokens_per_round.value - entry.emitted_per_round.value
    found = {each.what: each for each in explanation.break_even}
    tokens = an.expected_tokens(found["p"].needed, 8) - wasted
    assert tokens / entry.round_cost.value == pytest.approx(1.0, abs=1e-9)
    cost = entry.round_cost.value - explanation.part("drafting").cost.number
    back = cost + found["drafting"].needed
    assert entry.emitted_per_round.value / back == pytest.approx(1.0, abs=1e-9)
    assert "of the lengths that were measured" in found["gamma"].sentence


def test_the_best_length_of_a_run_is_explained_if_none_is_named():
    assert an.explain_run(SUMMARY).gamma == SUMMARY.best
    with pytest.raises(ValueError, match="gamma must be one of the run's"):
        an.explain_run(SUMMARY, 3)


def test_tokens_thrown_away_are_said_and_count_as_no_gain():
    explanation = an.explain_run(SUMMARY, 8)
    assert any("thrown away" in note for note in explanation.notes)
    assert explanation.tokens.number == SUMMARY.at(8).emitted_per_round.value


def test_less_time_outside_than_a_plain_step_is_negative_overhead():
    """Plain steps that spend half of their time outside of the model, rounds that spend none."""
    requests = [
        replace(
            request,
            decode_s=2.0 * request.decode_s if request.gamma == 0 else request.decode_s,
        )
        for request in measured_run(prompts=6, overhead=lambda _gamma: 0.0)
    ]
    explanation = an.explain_run(an.summarize_run(requests, resamples=100), 4)
    assert explanation.part("overhead").cost.number == pytest.approx(-0.5, rel=1e-9)
    assert explanation.part("wider").cost.number == pytest.approx(0.125, rel=1e-9)
    assert any("overhead is negative" in note for note in explanation.notes)
