"""`specdec explain` of a log beside a described machine: V and c as predicted, what is given preferred."""

from __future__ import annotations

import pytest
from explanations import CODE, LLAMA, SLOW, TINY, costs, told

import analysis as an

PLAIN = ("--plain-tps", "48")
EAGLE = (*LLAMA, "--draft", "eagle")


def passes():
    machine = an.Machine(accelerator=an.accelerator("H100 SXM"))
    return an.predict_pass(an.architecture("Llama 3.1 8B"), machine)


def how(found):
    return {row["part"]: row["how_known"] for row in found["waterfall"]}


def test_a_log_is_split_by_what_a_machine_would_take():
    """The parts are those of a predicted round at the same length; overhead is what the clock leaves."""
    found = told(CODE, *PLAIN, *EAGLE, "--context", "512")
    parts, known = costs(found), passes()
    wider = known.seconds(1, 7, 512) / known.seconds(1, 1, 512) - 1.0
    assert parts["wider verification"] == pytest.approx(wider)
    alone = costs(told(*LLAMA, "--draft", "eagle p=0.8", "--gamma", "6", "--context", "512"))
    assert parts["drafting"] == pytest.approx(alone["drafting"])
    whole = (1.0 + 983 / 261) * 48.0 / 124.5
    rest = whole - 1.0 - parts["drafting"] - wider
    assert parts["fixed overhead"] == pytest.approx(rest)
    assert "predicted for this machine" in how(found)["drafting"]
    assert "predicted for this machine" in how(found)["wider verification"]
    assert any("at batch 1 and 512 tokens of context" in note for note in found["notes"])
    assert found["parameters"]["context"] == 512


def test_without_a_draft_only_the_pass_is_predicted():
    found = told(CODE, *PLAIN, *LLAMA)
    assert set(costs(found)) >= {"drafting + overhead", "wider verification"}
    assert "context" not in found["parameters"]


def test_the_pass_is_that_of_all_requests_that_run_together():
    known = passes()
    for running in (1, 64):
        found = costs(told(CODE, *PLAIN, *EAGLE, "--running", str(running)))
        wider = known.seconds(running, 7, 1024) / known.seconds(running, 1, 1024) - 1.0
        assert found["wider verification"] == pytest.approx(wider)


def test_what_is_given_is_preferred_to_what_is_predicted():
    found = told(CODE, *PLAIN, *EAGLE, "--verify-cost", "1.3")
    assert costs(found)["wider verification"] == pytest.approx(0.3)
    assert how(found)["wider verification"] == "V = 1.3, as given"
    assert "predicted" in how(found)["drafting"]


def test_measured_steps_price_the_pass_of_a_log():
    found = told(CODE, *PLAIN, "--steps", TINY, "--context", "64")
    assert "predicted for this machine" in how(found)["wider verification"]


def test_a_log_alone_names_no_machine_and_says_how_to_tell_parts_apart():
    found = told(CODE, *PLAIN)
    assert set(found["parameters"]) == {"source", "plain_tps", "gamma", "batch"}
    assert any("--target, --hardware and --draft predict it" in note for note in found["notes"])
    split = told(CODE, *PLAIN, *EAGLE)
    assert not any("predict it" in note for note in split["notes"])


def test_the_name_of_the_target_stays_a_name_without_hardware():
    assert told(SLOW, *PLAIN, "--target", "some 30B-A3B")["parameters"]["target"] == "some 30B-A3B"


def test_a_lookup_that_misses_has_no_one_p():
    found = told(*LLAMA, "--draft", "lookup p=0.9 coverage=0.3", "--gamma", "5")
    needed = {row["what"]: row for row in found["break_even"]}
    assert needed["p"]["now"] is None
    assert any("30% of the rounds have a draft" in note for note in found["notes"])
    assert not any("If one p" in note for note in found["notes"])


def test_a_batch_at_which_nothing_pays_is_said_first():
    found = told(*LLAMA, "--draft", "eagle p=0.3", "--batch", "256", "--gamma", "5")
    assert found["headline"].startswith("Do not speculate at this batch, 256: no draft of 1 to 16")
    assert "`specdec plan`" in found["headline"]
    assert "γ = 1" not in found["headline"]
