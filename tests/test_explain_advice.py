"""What an explanation advises does not contradict what is known of other draft lengths, batch and speeds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from measured_runs import measured_run
from sick_runs import expected_table

import analysis as an
from analysis.deployment.round_parts import RoundParts
from analysis.diagnosis.finding import Finding
from analysis.doctor import Diagnosis, diagnosis_section
from analysis.explaining.advice import advice
from analysis.explaining.break_even import OtherLengths
from analysis.explaining.findings import applying
from analysis.explaining.parts import listed
from analysis.explaining.report import explain_report
from simulator import AcceptanceTable, Clock, Estimate, Observation, ReportedRatio

KNOWN = OtherLengths(speedups=((1, 1.2), (2, 1.5), (4, 1.49), (8, 1.1)), how="as measured")
KINDS = ("drafting", "wider", "overhead", "together", "tokens")


@pytest.mark.parametrize("kind", KINDS)
def test_a_length_is_named_only_where_it_is_known_to_be_faster(kind):
    def said(gamma):
        return advice(kind, gamma=gamma, batch=1, others=KNOWN)

    assert "Draft fewer tokens: γ = 2 gives 1.50× (as measured)." in said(8)
    assert "Draft more tokens: γ = 2 gives 1.50× (as measured)." in said(1)
    for at_best in (2, 4):  # 4 is within a hundredth of the best
        assert "γ" not in said(at_best)
        assert "raft fewer" not in said(at_best)


def test_where_nothing_is_known_of_other_lengths_they_are_something_to_try():
    def said(kind, gamma):
        return advice(kind, gamma=gamma, batch=1, others=None)

    assert said("drafting", 4).endswith("Try shorter drafts.")
    assert said("wider", None).endswith("Try shorter drafts.")
    assert "shorter" not in said("wider", 1)
    assert said("overhead", 4).endswith("Longer drafts spread it.")
    assert said("together", 4) == ""
    assert "drafts" not in said("tokens", 4)


@pytest.mark.parametrize(("batch", "fewer"), [(None, True), (8, True), (1.5, True), (1, False)])
def test_one_request_cannot_run_with_fewer(batch, fewer):
    assert ("fewer requests" in advice("wider", gamma=4, batch=batch, others=KNOWN)) is fewer
    assert "fewer requests" not in advice("drafting", gamma=4, batch=batch, others=KNOWN)


def predicted(gamma):
    return RoundParts(
        gamma=gamma, batch=4, plain_s=1.0, drafting_s=0.1 * gamma, wider_s=0.6,
        tokens_per_round=Estimate(value=an.expected_tokens(0.7, gamma)),
    )  # fmt: skip


def test_a_prediction_names_its_fastest_length():
    """The wider pass costs the same at every length, so that longer drafts pay it better."""
    others = [predicted(gamma) for gamma in range(1, 9)]
    best = max(others, key=lambda parts: parts.speedup.value)
    found = an.explain(predicted(1), others=others)
    assert f"Draft more tokens: γ = {best.gamma} gives {best.speedup.value:.2f}×" in (
        found.attack.advice
    )
    at_best = an.explain(best, others=others)
    assert "Draft" not in at_best.attack.advice


def test_a_run_has_findings_about_its_length_alone_and_no_advice_against_its_measurements():
    """A wider pass that costs a step whatever its width: short drafts pay it badly, long ones do not."""
    requests = measured_run(prompts=6, overhead=lambda gamma: 1.5 if gamma else 0.0)
    summary = an.summarize_run(requests, resamples=100)
    for entry in summary.measured:
        found = an.explain_run(summary, entry.gamma)
        assert all(not each.where or f"γ = {entry.gamma}" in each.where for each in found.findings)
        said = [found.attack.advice, *(each.advice for each in found.findings)]
        if entry.gamma == summary.best:
            assert not any("raft fewer" in each or "shorter" in each for each in said)
        elif summary.best > entry.gamma:
            assert any(f"Draft more tokens: γ = {summary.best} gives" in each for each in said)


def test_findings_of_another_observation_are_told_of_the_subject():
    subject = Observation(
        name="a", gamma=4, counts=expected_table(0.02, 4, 100_000), length_rule="fixed"
    )
    own = an.diagnose(subject).findings[0]
    elsewhere = replace(own, where=("b",), evidence="b is worse.")
    stranger = Finding(code="window_counters", evidence="b.", reason="", advice="", where=("b",))
    general = replace(stranger, where=())
    told = applying(Diagnosis(findings=(elsewhere, stranger, general)), subject)
    assert told == (own, general)


@pytest.mark.parametrize(
    ("clock", "missing"),
    [
        (Clock(), "the speed with and without speculation."),
        (Clock(plain_tokens_per_s=50.0), "the speed with speculation."),
        (Clock(plain_s_per_token=0.02), "the speed with speculation."),
        (Clock(tokens_per_s=50.0), "the speed without speculation."),
        (Clock(s_per_round=0.05), "the speed without speculation."),
    ],
)
def test_the_refusal_names_the_speed_that_is_missing(clock, missing):
    seen = Observation(gamma=4, counts=expected_table(0.7, 4, 1000), clock=clock)
    assert f"not known: {missing[:-1]} is missing." in an.explain_measured(seen).refusal


def test_a_speed_is_missing_beside_unknown_tokens_too():
    refusal = an.explain_measured(Observation(clock=Clock(tokens_per_s=50.0))).refusal
    assert refusal.endswith("nor is the speed without speculation.")


def test_bounds_say_what_they_assume_wherever_it_narrows_them():
    """One drafted token, 1.5 steps more than plain: each token's cap narrows drafting and judging."""

    def notes(cost):
        seen = Observation(
            gamma=1, batch=1, length_rule="fixed", counts=expected_table(0.7, 1, 1000),
            clock=Clock(s_per_round=cost, plain_s_per_token=1.0),
        )  # fmt: skip
        return " ".join(an.explain_measured(seen).notes)

    assert "assume that a drafted token" in notes(2.5)
    assert "assume that a drafted token" in notes(4.5)
    assert "assume" not in notes(1.9)


def test_lumps_are_listed_in_words():
    assert listed("drafting + overhead", "or") == "drafting or overhead"
    assert listed("drafting", "or") == "drafting"


def test_findings_stand_in_the_section_of_the_doctor():
    seen = Observation(gamma=4, counts=expected_table(0.7, 4, 100_000), length_rule="fixed")
    section = explain_report(an.explain_measured(seen)).sections[-1]
    assert section == diagnosis_section(an.diagnose(seen))


def test_draft_lengths_are_whole_in_the_report():
    explanation = an.explain(predicted(4))
    rows = {row[0]: row for row in explain_report(explanation).sections[2].rows}
    assert all(each is None or isinstance(each, int) for each in rows["gamma"][1:3])
    assert isinstance(rows["drafting"][1], float)


@pytest.mark.parametrize(("falls", "said"), [(1.0, "Draft more tokens"), (0.6, "Try shorter")])
def test_one_p_foresees_no_length_where_acceptance_changes_with_depth(falls, said):
    """All parts are known; at one p longer drafts would pay, and with p falling none is named."""
    rounds, kept = 100_000, [80_000]
    for depth in range(1, 4):
        kept.append(round(kept[-1] * 0.8 * falls**depth))
    table = AcceptanceTable(
        rounds=rounds, drafted=4 * rounds, tested=(rounds, *kept[:-1]), accepted=tuple(kept),
        discarded=0, length_rule="fixed",
    )  # fmt: skip
    clock = Clock(decode_s=rounds * 1.5, plain_s_per_token=1.0)
    seen = Observation(gamma=4, batch=1, length_rule="fixed", counts=table, clock=clock)
    found = an.explain_measured(seen, verify_cost=1.4, cost_ratio=0.01)
    assert ("acceptance_falls_with_depth" in found.codes) is (falls < 1.0)
    assert ("what rounds at other draft lengths" in found.break_even[-1].sentence) is (falls < 1.0)
    assert found.attack.kind == "wider"
    assert said in found.attack.advice


@pytest.mark.parametrize(("half", "shown"), [(0.05, "1.00 (0.96 to 1.04)"), (0.003, "1.00.")])
def test_a_range_is_said_where_its_digits_show_it(half, shown):
    printed = ReportedRatio(
        quantity="tokens_per_round", value=2.5, half_width=half, averaged_over="run"
    )
    seen = Observation(
        gamma=4, batch=1, length_rule="fixed", printed=(printed,), clock=Clock(speedup=1.25)
    )
    assert f"(not told apart) take {shown}" in explain_report(an.explain_measured(seen)).headline
