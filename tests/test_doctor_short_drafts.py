"""The doctor on drafts that something ended early: it describes them and predicts nothing from them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import real_runs
from analysis import diagnose, pass_time
from analysis.cli_sources import observation_of
from analysis.diagnosis.known import know
from simulator import AcceptanceTable, AcceptanceTotals, Clock, Observation

GATED = Observation(
    engine="llama.cpp",
    rounds=300,
    drafted=922,
    accepted=899,
    counts=AcceptanceTotals(rounds=300, drafted=922, accepted=899),
    clock=Clock(tokens_per_s=150.0, plain_tokens_per_s=60.0),
)
PREDICTIONS = {"gamma_too_long", "gamma_could_be_longer"}


@pytest.mark.parametrize("gamma", [None, 16])
@pytest.mark.parametrize("rule", ["unknown", "confidence"])
def test_a_gate_is_named_and_no_longer_draft_recommended(rule, gamma):
    found = diagnose(dataclasses.replace(GATED, length_rule=rule, gamma=gamma))

    assert {"short_drafts", "saturated_acceptance"} <= set(found.codes)
    assert not PREDICTIONS & set(found.codes)
    advice = found.finding("saturated_acceptance").advice
    assert "Loosen the rule" in advice
    assert "Draft longer" not in advice


def test_full_drafts_are_told_to_be_longer():
    full = dataclasses.replace(
        GATED,
        gamma=3,
        length_rule="fixed",
        drafted=900,
        accepted=880,
        counts=AcceptanceTotals(rounds=300, drafted=900, accepted=880, longest_draft=3),
    )
    found = diagnose(full)

    assert "short_drafts" not in found.codes
    assert found.finding("saturated_acceptance").advice.startswith("Draft longer")


@pytest.mark.parametrize(
    ("drafted", "gamma", "short"),
    [(900, None, False), (896, 3, False), (760, 3, True), (922, None, True), (1_190, None, False)],
    ids=["whole", "nearly", "known limit", "above three", "nearly four"],
)
def test_a_mean_that_needs_a_longer_draft_shows_that_others_were_cut(drafted, gamma, short):
    counts = AcceptanceTotals(rounds=300, drafted=drafted, accepted=500, longest_draft=gamma)
    seen = Observation(counts=counts, gamma=gamma, rounds=300, drafted=drafted, accepted=500)

    assert know(seen).cut_short is short


def test_what_a_gate_offered_predicts_no_other_length():
    table = AcceptanceTable(
        rounds=5_000, drafted=9_000, tested=(5_000, 3_000, 1_000), accepted=(3_500, 2_600, 960),
        length_rule="confidence",
    )  # fmt: skip
    gated = diagnose(Observation(counts=table, length_rule="confidence"))
    free = diagnose(
        Observation(counts=dataclasses.replace(table, length_rule="fixed"), length_rule="fixed")
    )

    assert "predict no other γ" in gated.finding("acceptance_rises_with_depth").advice
    assert "Predict other γ by depth" in free.finding("acceptance_rises_with_depth").advice


def test_a_wrong_clock_hides_no_broken_draft():
    table = AcceptanceTable(
        rounds=900, drafted=3_600, tested=(900, 20, 1, 0), accepted=(20, 1, 0, 0)
    )
    clock = Clock(tokens_per_s=94.0, plain_tokens_per_s=20.0)
    found = diagnose(Observation(counts=table, gamma=4, rounds=900, clock=clock))

    assert found.codes[0] == "speedup_above_tokens_per_round"
    assert "chance_level_first_position" in found.codes
    assert "fixed_overhead_dominates" not in found.codes


def test_few_rounds_are_called_healthy_only_as_far_as_they_show():
    few = diagnose(Observation(counts=AcceptanceTotals(rounds=30, drafted=90, accepted=50)))
    many = diagnose(
        Observation(counts=AcceptanceTotals(rounds=30_000, drafted=90_000, accepted=50_000))
    )

    assert "so few rounds" in few.finding("healthy").advice
    assert many.finding("healthy").advice.startswith("Acceptance needs no mending, but whether ")


def test_a_schedule_chooses_no_tokens_by_their_chances():
    table = AcceptanceTable(
        rounds=5_000, drafted=9_000, tested=(5_000, 3_000, 1_000), accepted=(3_500, 2_600, 960),
        length_rule="scheduled",
    )  # fmt: skip
    found = diagnose(Observation(counts=table, length_rule="scheduled", method="ngram"))

    assert "Predict other γ by depth" in found.finding("acceptance_rises_with_depth").advice
    assert "no more than the passage" in found.finding("short_drafts").reason
    assert "by depth only" in found.finding("short_drafts").advice


def test_a_measured_run_shows_which_of_its_draft_lengths_is_too_long():
    """The bundled run at γ = 1, 2, 4, 6 and 8, of which it says decoding times and no speed."""
    folder = Path(real_runs.__file__).parent / "data" / "runs" / "tiny"
    sweep = [
        observation_of(folder, gamma=gamma, engine=None, layout=None)[0]
        for gamma in (1, 2, 4, 6, 8)
    ]
    speedups = {seen.gamma: pass_time(seen).speedup.number for seen in sweep}
    best = max(speedups, key=speedups.get)

    finding = diagnose(sweep).finding("gamma_too_long")
    assert best == 6
    assert finding.advice == "Use γ = 6."
    assert f"{1 - speedups[8] / speedups[6]:.1%} slower" in finding.evidence


@pytest.mark.parametrize(("second", "said"), [(0.69, False), (0.66, True)])
def test_a_change_with_depth_that_matters_to_nobody_is_no_finding(second, said):
    """In millions of rounds both are many standard errors from one p."""
    rounds, first = 20_000_000, 14_000_000
    table = AcceptanceTable(
        rounds=rounds,
        drafted=2 * rounds,
        tested=(rounds, first),
        accepted=(first, round(second * first)),
    )
    found = diagnose(Observation(counts=table, length_rule="fixed", gamma=2))

    assert ("acceptance_falls_with_depth" in found.codes) is said


@pytest.mark.parametrize(("speedup", "impossible"), [(2.04, False), (2.08, True)])
def test_two_clocks_differ_by_a_few_per_cent(speedup, impossible):
    """200,000 rounds of exactly 2 tokens."""
    counts = AcceptanceTotals(rounds=200_000, drafted=200_000, accepted=200_000)
    found = diagnose(Observation(counts=counts, clock=Clock(speedup=speedup)))

    assert ("speedup_above_tokens_per_round" in found.codes) is impossible


def test_an_error_that_is_a_bound_is_called_one():
    counts = {"rounds": 300, "drafted": 900, "accepted": 500}
    bounded = AcceptanceTotals(**counts, longest_draft=16)
    known = AcceptanceTable(
        rounds=60, drafted=120, tested=(60, 30), accepted=(30, 15), length_rule="fixed"
    )

    worst = diagnose(Observation(counts=bounded, gamma=16)).finding("small_sample")
    assert "at worst" in worst.evidence
    assert (
        "known to about ±" in diagnose(Observation(counts=known)).finding("small_sample").evidence
    )
