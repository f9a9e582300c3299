"""What an explanation leads with, and what it does not claim where numbers do not show it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sick_runs import expected_table, run

import analysis as an
from analysis.deployment.round_parts import RoundParts
from analysis.explaining.report import explain_report
from analysis.explaining.words import headline
from simulator import Clock, Estimate, Observation


def parts(gamma, wider, batch=64):
    return RoundParts(
        gamma=gamma, batch=batch, plain_s=1.0, drafting_s=0.1 * gamma, wider_s=wider * gamma,
        tokens_per_round=Estimate(value=an.expected_tokens(0.3, gamma)),
    )  # fmt: skip


def predicted(wider, batch=64):
    return an.explain(
        parts(4, wider, batch), others=[parts(gamma, wider, batch) for gamma in range(1, 9)]
    )


def test_where_no_length_pays_the_headline_begins_with_it_and_names_none():
    """At γ = 1 a round gives 1.3 tokens: it costs 1.4 steps in one case and 1.2 in the other."""
    losing, paying = predicted(0.3), predicted(0.1)
    said = headline(losing)
    assert said.startswith(
        "Do not speculate at this batch, 64: no draft of 1 to 8 tokens pays (as predicted for each length). "
        "`specdec plan` looks for batches and drafts that do. "
    )
    assert f"{losing.speedup.value:.2f}×: a round gives" in said
    assert "Draft fewer" not in said
    assert paying.speedup.value < 1.0
    assert paying.verdict == ""
    assert "Draft fewer tokens: γ = 1 gives 1.08×" in headline(paying)


def test_the_verdict_at_batch_one_does_not_send_to_other_batches():
    verdict = predicted(0.3, batch=1).verdict
    assert verdict.startswith("Do not speculate like this: no draft of 1 to 8")
    assert "batch" not in verdict


def test_lengths_that_only_follow_in_proportion_forbid_nothing():
    alone = an.explain(parts(4, 0.3))
    assert "Cannot alone: no draft of" in alone.break_even[-1].sentence
    assert alone.verdict == ""


@pytest.mark.parametrize("method", ["eagle", "mtp", "draft_model"])
def test_without_a_clock_on_drafting_no_part_of_a_lump_is_more_likely(method):
    found = an.explain_measured(run(p=0.5, gamma=4, price=0.6, method=method))
    assert "verify_cost_dominates" in found.codes
    assert found.attack.likely is None
    said = headline(found)
    assert "First find out whether drafting, verification or overhead takes most of that." in said
    assert "time the drafting" in found.attack.advice
    assert any("To tell them apart measure" in note for note in found.notes)


def test_a_clock_on_drafting_shows_that_verification_is_what_is_left():
    seen = run(p=0.5, gamma=4, price=0.6)
    timed = replace(seen, clock=replace(seen.clock, draft_s=0.02 * seen.clock.decode_s))
    found = an.explain_measured(timed)
    assert found.attack.likely == "wider"
    assert "Attack wider verification first, the most likely of" in headline(found)


def test_the_doctor_says_what_it_infers():
    untimed = run(p=0.5, gamma=4, price=0.6, method="eagle")
    timed = replace(untimed, clock=replace(untimed.clock, draft_s=0.02 * untimed.clock.decode_s))
    guess, shown = (an.diagnose(each).finding("verify_cost_dominates") for each in (untimed, timed))
    assert "Drafting was not timed; drafts of this family are cheap as a rule." in guess.evidence
    assert guess.reason.startswith("Probably a pass over several tokens")
    assert "drafting that is slow itself would look the same" in guess.reason
    assert shown.reason.startswith("A pass over several tokens")
    assert "Probably" not in shown.reason


def test_parts_that_are_all_known_overrule_the_advice_of_a_finding_about_another():
    seen = run(p=0.5, gamma=4, price=0.6, method="eagle")
    found = an.explain_measured(seen, verify_cost=1.05, cost_ratio=0.02)
    assert "verify_cost_dominates" in found.codes
    assert found.attack.kind == "overhead"
    assert found.attack.advice.startswith("Profile one round")


def test_predicted_parts_are_marked_and_a_log_that_does_not_fit_them_is_said_to():
    seen = run(p=0.7, gamma=4, price=0.1)
    found = an.explain_measured(
        seen, verify_cost=1.2, cost_ratio=0.02, predicted=("drafting", "wider")
    )
    assert found.part("wider").cost.how == "V = 1.2, predicted for this machine"
    assert found.part("drafting").cost.how == "drafted tokens × c, predicted for this machine"
    mixed = an.explain_measured(seen, verify_cost=1.2, cost_ratio=0.02, predicted=("drafting",))
    assert mixed.part("wider").cost.how == "V = 1.2, as given"
    slower = an.explain_measured(seen, verify_cost=2.0, cost_ratio=0.02, predicted=("wider",))
    assert slower.contradiction.startswith(
        "The log does not fit what is predicted for this machine"
    )
    assert slower.attack is None


@pytest.mark.parametrize(("plain", "asked"), [(33.0, True), (2000.0, False), (5.0, False)])
def test_the_plain_speed_of_one_request_is_asked_about(plain, asked):
    """64 at a time: 2,112 tokens per second together would be plausible beside 3,000, 320 would not."""
    seen = Observation(
        gamma=4, length_rule="fixed", counts=expected_table(0.7, 4, 5_000),
        clock=Clock(tokens_per_s=3_000.0, plain_tokens_per_s=plain, running=64.0),
    )  # fmt: skip
    refusal = an.explain_measured(seen).refusal
    assert ("Is 33 tokens per second the plain speed of one request?" in refusal) is asked
    assert ("all 64 together is wanted, then about 2,112." in refusal) is asked
    alone = an.explain_measured(replace(seen, clock=replace(seen.clock, running=1.0)))
    assert "one request?" not in alone.refusal


def test_rounds_without_a_draft_have_no_one_p():
    covered = parts(4, 0.0)
    whole, some = an.explain(covered), an.explain(covered, coverage=0.3)
    assert whole.p is not None
    assert (some.p, some.ceiling) == (None, None)
    assert any("30% of the rounds have a draft" in note for note in some.notes)
    assert some.net == whole.net
    with pytest.raises(ValueError, match="coverage must be"):
        an.explain(covered, coverage=1.5)
    logged = run(p=0.7, gamma=4, price=0.1)
    assert an.explain_measured(logged).p is not None
    assert an.explain_measured(replace(logged, undrafted_rounds=500)).p is None


def test_where_no_part_costs_anything_acceptance_is_what_is_left():
    nearly_free = replace(parts(4, 0.0), drafting_s=0.001)
    assert an.explain(nearly_free, coverage=0.3).attack.kind == "tokens"
    assert an.explain(parts(4, 0.0), coverage=0.3).attack.kind == "drafting"


def test_no_sentence_holds_a_code():
    broken = an.explain_measured(run(p=0.005, gamma=4, price=0.5))
    assert broken.attack.sentence == (
        "The findings say so: the first drafted token is kept no more often than by chance."
    )
    outside = run(gamma=4)
    outside = replace(outside, counts=None, gamma=2, rounds=100, drafted=400, accepted=200)
    for found in (broken, an.explain_measured(outside)):
        assert not any(code in headline(found) for code in found.codes)


def test_acceptance_is_fine_only_where_the_doctor_says_so():
    unpaid = Clock(tokens_per_s=50.0)
    well = an.explain_measured(run(p=0.7, gamma=4, clock=unpaid))
    ill = an.explain_measured(run(p=0.005, gamma=4, clock=unpaid))
    assert well.refusal.startswith("Acceptance is fine; whether it pays is not known: ")
    assert ill.refusal.startswith("Whether it pays is not known: ")


def test_the_printed_columns_are_explained():
    report = explain_report(an.explain(parts(4, 0.1)))
    assert report.sections[0].columns[1] == "gives_or_takes"
    for column in ("left", "speed_after"):
        assert column in report.sections[0].columns
        assert column.replace("_", " ") in report.notes[0]
    assert "Speedup without" in report.notes[0]
    assert "All in plain steps" not in " ".join(explain_report(an.explain(parts(0, 0.0))).notes)
