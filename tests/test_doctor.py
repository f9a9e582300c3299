"""Every finding where its cause is, none where it is not, and no cry of wolf over healthy runs."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from sick_runs import SICK, expected_table, printed, ratio, run, survival

from analysis import best_gamma, diagnose
from analysis.diagnosis.acceptance import trend
from analysis.diagnosis.cost import DEAR
from analysis.diagnosis.finding import CODES, KINDS, Finding
from analysis.diagnosis.known import know
from analysis.doctor import diagnosis_rows, diagnosis_section
from simulator import (
    METHODS,
    AcceptanceTable,
    AcceptanceTotals,
    Clock,
    Observation,
    ReportedRatio,
    draft_model,
    simulate_counts,
)
from simulator._counting import LENGTH_RULES

HARMLESS = {"healthy", "rate_is_accepted_over_drafted", "gamma_could_be_longer"}


def test_every_code_has_its_pair():
    assert set(SICK) == set(CODES)


@pytest.mark.parametrize("code", CODES)
def test_a_cause_is_found_and_without_it_nothing(code):
    sick, healed = SICK[code]

    finding = diagnose(sick).finding(code)
    assert finding is not None
    assert diagnose(healed).finding(code) is None
    assert any(character.isdigit() for character in finding.evidence) or code == "not_enough_data"
    assert finding.reason
    assert finding.advice


@pytest.mark.parametrize("rounds", [500, 5_000, 500_000])
@pytest.mark.parametrize("gamma", [1, 2, 4, 8])
@pytest.mark.parametrize("p", [0.5, 0.7, 0.85])
def test_no_wolf_is_cried_over_healthy_counts(p, gamma, rounds):
    table = expected_table(p, gamma, rounds)
    codes = set(diagnose(Observation(counts=table, gamma=gamma, method="eagle")).codes)
    assert "healthy" in codes
    assert codes <= HARMLESS


@pytest.mark.parametrize("p", [0.6, 0.7, 0.8, 0.9])
@pytest.mark.parametrize("cost_ratio", [0.02, 0.05, 0.1])
def test_no_wolf_is_cried_over_the_best_draft_length(p, cost_ratio):
    gamma = min(best_gamma(p, cost_ratio).gamma, 12)
    codes = set(diagnose(run(p, gamma, 50_000, price=cost_ratio)).codes)
    assert "healthy" in codes
    assert codes <= HARMLESS


def test_the_trend_test_keeps_its_false_alarm_rate():
    """|z| >= 3.3 has chance 1e-3; 5e-3 is granted to the normal approximation at 400 rounds."""
    tables = [
        simulate_counts(draft_model(p=0.7, gamma=5), rounds=400, rng=seed) for seed in range(600)
    ]
    alarms = sum(
        any("depth" in code for code in diagnose(Observation(counts=table)).codes)
        for table in tables
    )
    assert binom.sf(alarms - 1, len(tables), 5e-3) >= 1e-8


def test_the_trend_of_a_real_histogram():
    """vLLM's per-request metrics, histogram [39, 1, 0, 3]: conditional acceptance .09, .75, 1."""
    assert trend(((43, 43, 4, 4), (4, 4, 3, 3), (3, 3, 3, 3))) == pytest.approx(7.0 / 2.24**0.5)
    assert trend(((100, 100, 50, 50), (50, 50, 25, 25))) == 0.0
    assert trend(((10, 10, 10, 10), (10, 10, 10, 10))) == 0.0


def test_a_trend_that_rounding_leaves_open_is_none():
    wide = ((1_000, 1_000, 650, 750), (650, 750, 420, 520))
    assert trend(wide) == 0.0


def test_the_price_at_which_a_token_is_dear():
    """At this price no draft length reaches 1.5× with p = 0.8, at a quarter of a step one does."""
    assert best_gamma(0.8, DEAR).speedup < 1.5 < best_gamma(0.8, 0.25).speedup


def test_speculation_that_loses_is_not_healthy():
    codes = diagnose(run(p=0.15, gamma=1, price=0.25)).codes
    assert "healthy" not in codes
    assert "verify_cost_dominates" in codes


def test_impossible_numbers_silence_conclusions():
    findings = diagnose(
        printed(ratio("tokens_per_round", 9.0), clock=Clock(speedup=1.1), method="mtp")
    ).findings
    assert findings[0].code == "length_outside_range"
    assert not {"verify_cost_dominates", "healthy"} & {each.code for each in findings}


def test_most_important_first_and_one_per_code():
    broken = [run(p=0.02, name=name) for name in ("a", "b", "c")]
    diagnosis = diagnose(broken)

    assert len(set(diagnosis.codes)) == len(diagnosis.codes)
    assert list(diagnosis.codes) == sorted(diagnosis.codes, key=CODES.index)
    assert diagnosis.findings[0].where == ("a", "b", "c")


def test_printed_survival_alone_dies_after_the_first():
    line = printed(*survival(0.139, 0.0, 0.0, 0.0))
    assert "dead_after_first" in diagnose(line).codes
    assert "dead_after_first" not in diagnose(printed(*survival(0.6, 0.3, 0.2, 0.1))).codes


def test_emitted_tokens_show_rounds_without_a_draft():
    kept = sum(expected_table().accepted)
    seen = run(emitted=5_000 + kept + 1_500)
    assert "1,500 of 6,500 rounds" in diagnose(seen).finding("undrafted_rounds").evidence
    assert "undrafted_rounds" not in diagnose(run(emitted=5_000 + kept + 1)).codes


def test_a_rate_a_hundred_times_off_the_counts_is_a_unit_error():
    off = run(printed=(ratio("accepted_fraction", 0.0044, 0.0001),))
    assert "unit_error" in diagnose(off).codes


def test_more_accepted_than_emitted_is_impossible():
    """365 accepted of 514 drafted in an answer of 42 tokens."""
    assert diagnose(Observation(drafted=514, accepted=365, emitted=42)).codes[0] == (
        "accepted_without_drafted"
    )


def test_rows_and_section():
    diagnosis = diagnose(run(p=0.02, name="a"))
    section = diagnosis_section(diagnosis)
    assert section.rows == diagnosis_rows(diagnosis)
    assert all(len(row) == len(section.columns) for row in section.rows)
    assert section.rows[0][:3] == ("chance_level_first_position", "problem", "a")
    assert diagnosis.findings[0].sentence.count(".") >= 3


def test_an_unknown_code_and_no_observation_are_refused():
    with pytest.raises(ValueError, match="code must be one of"):
        Finding(code="tired", evidence="", reason="", advice="")
    with pytest.raises(ValueError, match="at least one Observation"):
        diagnose([])


NUMBERS = st.none() | st.sampled_from([0, 1, 2, 7, 100, 10**6, 10**18])
REALS = st.none() | st.sampled_from(
    [0.0, -1.0, 1e-300, 0.5, 3.0, 1e300, float("nan"), float("inf")]
)
RATIOS = st.builds(
    ReportedRatio,
    quantity=st.sampled_from(
        [
            "tokens_per_round",
            "accepted_fraction",
            "survival",
            "efficiency",
            "fraction_with_bonus",
            "head_accuracy",
            "drafted_per_round",
            "accepted_per_round",
            "rate",
        ]
    ),
    value=st.sampled_from([-1.0, 0.0, 0.3, 1.0, 2.5, 60.0, 1e300]),
    half_width=st.sampled_from([0.0, 0.005, 2.0]),
    averaged_over=st.just("run"),
    depth=st.none() | st.integers(0, 5),
)
COUNTS = st.sampled_from(
    [
        None,
        AcceptanceTable(rounds=0, drafted=0, tested=(), accepted=()),
        AcceptanceTable(rounds=3, drafted=6, tested=(3, 0), accepted=(0, 0)),
        AcceptanceTotals(drafted=0, accepted=0),
        AcceptanceTotals(drafted=9, accepted=9),
        AcceptanceTotals(drafted=259, accepted=167, rounds=87, accepted_by_depth=(70, 55, 42)),
    ]
)
OBSERVATIONS = st.builds(
    Observation,
    name=st.sampled_from(["", "a", "γ = 3", "CUDA graph 1"]),
    engine=st.sampled_from([None, "vllm", "llama.cpp"]),
    version=st.sampled_from([None, "V0"]),
    method=st.sampled_from([None, *METHODS]),
    gamma=NUMBERS,
    batch=REALS,
    context=NUMBERS,
    rounds=NUMBERS,
    drafted=NUMBERS,
    accepted=NUMBERS,
    emitted=NUMBERS,
    undrafted_rounds=NUMBERS,
    length_rule=st.sampled_from(LENGTH_RULES),
    counts=COUNTS,
    printed=st.lists(RATIOS, max_size=5).map(tuple),
    clock=st.builds(Clock, **{field.name: REALS for field in dataclasses.fields(Clock)}),
)


@settings(deadline=None, max_examples=150)
@given(st.lists(OBSERVATIONS, min_size=1, max_size=3))
def test_no_numbers_break_the_doctor(observations):
    diagnosis = diagnose(observations)
    assert diagnosis.findings
    assert set(diagnosis.codes) <= set(KINDS)
    assert len(diagnosis.times) == len(observations)


def test_known_quantities_of_a_plain_table():
    known = know(Observation(counts=expected_table(0.7, 4, 10_000)))
    assert known.p == pytest.approx((0.7, 0.7), abs=1e-4)
    assert known.first == (0.7, 0.7)
    assert known.drafted_per_round == (4.0, 4.0)
