"""`specdec explain` of the formula and of predicted rounds: its numbers against arithmetic of the test."""

from __future__ import annotations

import pytest
from explanations import CODE, FORMULA, LLAMA, TINY, closed_form, costs, needed, net, told

import analysis as an


@pytest.mark.parametrize(
    ("more", "verify", "overhead"),
    [
        ((), 1.0, 0.0),
        (("--verify-cost", "1.3"), 1.3, 0.0),
        (("--verify-cost", "1,1.1,1.2,1.3,1.5,1.6"), 1.5, 0.0),
        (("--overhead", "0.25", "--verify-cost", "1"), 1.0, 0.25),
        (("--overhead", "2.5", "--verify-cost", "1.4"), 1.4, 2.5),
    ],
)
def test_the_formula_is_itemised(more, verify, overhead):
    found = told(*FORMULA, *more)
    tokens, cost = closed_form(0.7, 4), 0.4 + verify + overhead
    parts = costs(found)
    assert parts["tokens per round"] == pytest.approx(tokens)
    assert parts["drafting"] == pytest.approx(0.4)
    assert parts.get("wider verification", 0.0) == pytest.approx(verify - 1.0)
    assert parts.get("fixed overhead", 0.0) == pytest.approx(overhead)
    assert parts["net"] == pytest.approx(cost)
    assert net(found) == pytest.approx(tokens / cost)
    without = {row["part"]: row["speedup_without"] for row in found["attack"]}
    assert without["drafting"] == pytest.approx(tokens / (cost - 0.4))
    better = closed_form(0.85, 4) / cost
    assert without["acceptance, half as many rejections"] == pytest.approx(better)
    assert needed(found)["tokens per round"] == pytest.approx(cost)
    if tokens > cost - 0.4:
        assert needed(found)["drafting"] == pytest.approx(tokens - cost + 0.4)
    if cost < 5.0:
        assert closed_form(needed(found)["p"], 4) == pytest.approx(cost)


def test_acceptance_by_depth_ends_where_it_is_known():
    found = told("--by-depth", "0.8,0.7,0.5", "--cost-ratio", "0.1", "--verify-cost", "1.2")
    assert costs(found)["tokens per round"] == pytest.approx(1.0 + 0.8 + 0.56 + 0.28)
    assert net(found) == pytest.approx(2.64 / 1.5)
    assert found["parameters"]["gamma"] == 3
    gamma = found["break_even"][-1]
    assert (gamma["now"], gamma["needed"]) == (3, None)
    assert "up to 3 tokens pay" in gamma["verdict"]


def test_lengths_of_the_formula_have_their_own_passes():
    """V jumps at γ = 3: the length before it is faster, though γ = 4 pays."""
    found = told(*FORMULA, "--verify-cost", "1,1,1,2,2")
    faster = closed_form(0.7, 2) / 1.2
    assert net(found) < faster
    assert f"Draft fewer tokens: γ = 2 gives {faster:.2f}×" in found["headline"]


def test_no_draft_is_plain_decoding():
    found = told("--p", "0.7", "--gamma", "0", "--cost-ratio", "0.1", "--overhead", "3")
    assert costs(found) == {"tokens per round": 1.0, "plain pass": 1.0, "net": 1.0}
    assert "nothing is drafted" in found["headline"]


def test_a_prediction_is_explained_as_planned():
    """Parts agree with those of the deployment; without --gamma the fastest length is taken."""
    arguments = (*LLAMA, "--draft", "eagle p=0.75", "--batch", "8")
    best = told(*arguments)
    speeds = {gamma: net(told(*arguments, "--gamma", str(gamma))) for gamma in (2, 3, 5, 6)}
    assert net(best) >= max(speeds.values())
    machine = an.Machine(accelerator=an.accelerator("H100 SXM"))
    passes = an.predict_pass(an.architecture("Llama 3.1 8B"), machine)
    gamma = best["parameters"]["gamma"]
    assert costs(best)["tokens per round"] == pytest.approx(closed_form(0.75, gamma))
    wider = passes.seconds(8, gamma + 1, 1024) / passes.seconds(8, 1, 1024) - 1.0
    assert costs(best)["wider verification"] == pytest.approx(wider)
    assert any("are assumed to be reached" in note for note in best["notes"])
    assert best["parameters"]["batch"] == 8


@pytest.mark.parametrize(
    ("draft", "more"),
    [
        ("chain p=0.7 cost_ratio=0.1", ()),
        ("lookup", ("--p", "0.7")),
        ("lookup", ("--log", CODE)),
        ("lookup log=" + CODE, ("--gamma", "3", "--batch", "2.5")),
    ],
)
def test_measured_steps_price_a_round(draft, more):
    found = told("--steps", TINY, "--draft", draft, *more)
    assert costs(found)["plain pass"] == 1.0
    assert net(found) > 0.0
    assert found["parameters"]["steps"] == TINY


def test_hidden_drafting_is_shown():
    found = told(*LLAMA, "--draft", "eagle p=0.75", "--draft-overlap", "1", "--gamma", "4")
    parts = costs(found)
    assert parts["hidden by overlap"] == pytest.approx(-parts["drafting"])
    assert "is hidden by overlap" in found["headline"]


def test_every_length_up_to_the_one_that_is_explained_is_looked_at():
    """The longest draft that pays lies between the usual end of the search and γ."""
    long = told("--p", "0.7", "--gamma", "40", "--cost-ratio", "0.1")
    last = max(n for n in range(1, 41) if closed_form(0.7, n) >= 1.0 + 0.1 * n)
    assert last > 16
    assert needed(long)["gamma"] == last
    deployed = told("--steps", TINY, "--draft", "chain cost_ratio=0.05 p=0.7", "--gamma", "40")
    assert 16 < needed(deployed)["gamma"] < 40
