"""Several observations side by side: what changed, and what cannot be compared."""

from __future__ import annotations

import dataclasses

import pytest
from sick_runs import PLAIN, expected_table, run, timed

from analysis import diagnose
from analysis.diagnosis.known import know
from simulator import CountedUnit, Observation

HARMLESS = {"healthy", "rate_is_accepted_over_drafted", "gamma_could_be_longer"}


def test_two_equal_healthy_runs_are_healthy():
    codes = set(diagnose([run(name="a"), run(name="b")]).codes)
    assert "healthy" in codes
    assert codes <= HARMLESS


def test_a_change_says_which_part_is_which():
    slower_text = diagnose([run(p=0.8, name="code"), run(p=0.5, name="prose")])
    assert "its time is not the cause" in slower_text.finding("acceptance_changed").evidence
    assert slower_text.finding("pass_time_changed") is None

    slower_engine = diagnose([run(name="old"), run(plain=2 * PLAIN, name="new")])
    assert slower_engine.finding("acceptance_changed") is None
    assert "0.056 s (new)" in slower_engine.finding("pass_time_changed").evidence


def test_other_models_are_not_compared():
    codes = diagnose([run(p=0.8), run(p=0.5, target="dense-70B")]).codes
    assert "acceptance_changed" not in codes


def test_a_switch_with_equal_acceptance_is_overhead():
    runs = [run(name="CUDA graph on"), run(overhead=0.6, name="CUDA graph off")]
    assert "fixed_overhead_dominates" in diagnose(runs).codes
    assert (
        "fixed_overhead_dominates"
        not in diagnose(
            [dataclasses.replace(r, name=n) for r, n in zip(runs, "ab", strict=True)]
        ).codes
    )


def test_texts_are_not_a_sweep_over_gamma():
    """Prose at γ = 2 and code at γ = 6: the time per token differs by text, not by γ."""
    prose = dataclasses.replace(timed(2, 2.3, 0.012), name="prose")
    code = dataclasses.replace(timed(6, 2.2, 0.013), name="code")
    assert "gamma_too_long" not in diagnose([prose, code]).codes
    assert "gamma_too_long" in diagnose([timed(2, 2.3, 0.012), timed(6, 2.5, 0.013)]).codes


def test_a_gate_is_no_draft_length():
    gated = [timed(2, 2.3, 0.010), timed(6, 2.6, 0.012)]
    gated = [dataclasses.replace(each, length_rule="confidence") for each in gated]
    assert "gamma_too_long" not in diagnose(gated).codes


def test_intervals_of_a_log_are_compared():
    quiet = tuple(CountedUnit(counts=expected_table(0.7, 4, 250)) for _ in range(20))
    busy = (*quiet, CountedUnit(counts=expected_table(0.3, 4, 250)))
    base = {"gamma": 4, "unit": "interval"}

    same = diagnose(Observation(counts=expected_table(), units=quiet, **base))
    mixed = diagnose(Observation(counts=expected_table(), units=busy, **base))

    assert "acceptance_changed" not in same.codes
    assert "acceptance_changed" in mixed.codes
    assert mixed.healthy  # mixed traffic is no illness
    requests = diagnose(Observation(counts=expected_table(), units=busy, gamma=4))
    assert "acceptance_changed" not in requests.codes


def test_requests_that_differ_widen_the_error():
    """40 requests of 25 rounds, half at p = 0.9 and half at 0.5: as rounds their mean looks sure."""
    kinds = [expected_table(p, 4, 25) for p in (0.9, 0.5)]
    units = tuple(CountedUnit(counts=table) for table in kinds * 20)
    pooled = expected_table(0.9, 4, 500) + expected_table(0.5, 4, 500)

    by_round = know(Observation(counts=pooled)).tokens.se_most
    by_request = know(Observation(counts=pooled, units=units)).tokens.se_most

    spread = (kinds[0].tokens_per_round.value - kinds[1].tokens_per_round.value) / 2.0
    assert by_request == pytest.approx(spread / 39**0.5)
    assert by_request > 2.0 * by_round
