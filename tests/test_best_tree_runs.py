"""Runs with `--tree best`: what their folder keeps of the choice, and who may make it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from toy_runs import PROMPTS, documents, rewrite, transitions
from tree_runs import HEADS, TREE, TREE_SETTINGS, tree_bench

from analysis.trees.values import tree_value
from real_runs.measure import measure
from real_runs.runs.errors import RunFolderError
from real_runs.runs.facts import facts_of, system_of
from real_runs.runs.header import TreeCosts
from real_runs.runs.reading import HEADER, read_run
from real_runs.runs.verify import verify_run
from real_runs.settings import check_settings
from real_runs.tree_choice import BestTree, choice_of, costs_problem
from real_runs.tree_costs import (
    timed_widths,
)
from real_runs.tree_settings import shape_of
from simulator import MarkovChain, Tree

COSTS = TreeCosts(
    widths=(1, 2, 3, 4, 5, 6),
    verify_costs=(1.0, 1.0, 1.25, 0.875, 1.5, 2.0),
    steps="one",
    step_cost=0.25,
    plain_s=0.004,
    context=8,
)
BEST = replace(TREE_SETTINGS, tree="best:5")
ASKED = replace(TREE_SETTINGS, tree="best:5", shape=None, gammas=())


def run_of(folder, settings=BEST, costs=COSTS):
    return measure(tree_bench(settings), settings, PROMPTS, folder, tree_costs=costs)


def test_a_run_keeps_what_decided_its_tree_and_says_so(tmp_path):
    run = run_of(tmp_path / "run")
    assert run.header.tree_costs == COSTS
    assert read_run(tmp_path / "run") == run
    assert verify_run(tmp_path / "run").passed
    sentence = choice_of(run.header)
    assert dict(facts_of(run))["tree chosen"] == sentence
    assert system_of(run) == "medusa best tree of 5"
    value = tree_value(TREE, HEADS.accuracies)
    assert f"{value / 2.25:.3g} with {value:.3g} tokens per round" in sentence
    assert "V(6) 2 (of 5 widths timed the cheapest is V(4) 0.875, the dearest V(6) 2)" in sentence
    assert sentence.endswith("time outside the models is not counted")
    assert "the least loss foretold" in sentence  # 1 + .5 + .25 + ... tokens for 2.25 plain passes
    cheap = replace(run.header, tree_costs=replace(COSTS, step_cost=0.01, verify_costs=(1.0,) * 6))
    assert "the largest speedup that is foretold, 2.2" in choice_of(cheap)
    assert choice_of(replace(run.header, tree_costs=None)) == ""


def test_a_best_tree_that_is_a_chain_is_drafted_and_verified_as_one(tmp_path):
    chain = replace(BEST, shape=shape_of(Tree.chain(3)), gammas=(1, 3))
    models = tree_bench(chain)
    make = models.make_drafter

    class Chains(type(make(None))):
        def propose(self, length, keep_going, rng):
            draft = super().propose(length, keep_going, rng)
            return replace(draft, parents=None)

    def chains(_watch):
        draft = MarkovChain(transitions(), context=64).mixed(0.4, np.full(6, 1 / 6))
        return Chains(draft, Tree.chain(3), picked="chosen")

    measure(
        replace(models, make_drafter=chains), chain, PROMPTS, tmp_path / "run", tree_costs=COSTS
    )
    result = verify_run(tmp_path / "run")
    assert result.passed, result.findings


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (None, "tree best:N and the costs that it was chosen by must go together"),
        ({"widths": [1, 2, 3, 4, 5, 7]}, "the widths of its tree's costs must be"),
        ({"verify_costs": [1.0, 2.0]}, "must have one V per width, the first 1"),
        (
            {"verify_costs": [1.5, 2.0, 1.5, 2.0, 2.0, 2.0]},
            "must have one V per width, the first 1",
        ),
        ({"verify_costs": [1.0, 2.0, 1.5, -1.0, 2.0, 2.0]}, "must be above 0; one is -1"),
        ({"step_cost": 0.0}, "must be above 0; one is 0"),
        ({"steps": "sequential"}, "the steps of its tree's costs must be those of medusa"),
        ({"steps": "none"}, "tree_costs.steps must be one of sequential, one"),
    ],
)
def test_costs_that_cannot_be_are_found_and_never_told(tmp_path, change, words):
    run_of(tmp_path / "run")
    (header,) = documents(tmp_path / "run", HEADER)
    costs = None if change is None else header["tree_costs"] | change
    rewrite(tmp_path / "run", HEADER, [header | {"tree_costs": costs}])
    (finding,) = verify_run(tmp_path / "run").findings
    assert words in finding
    if "one of" not in words:
        assert "tree chosen" not in dict(facts_of(read_run(tmp_path / "run")))


def test_a_tree_whose_width_was_not_timed_is_found(tmp_path):
    widths = timed_widths(64)
    costs = replace(COSTS, widths=widths, verify_costs=(1.0,) * len(widths))
    header = run_of(tmp_path / "run", replace(BEST, tree="best:64"), costs).header
    assert costs_problem(header) == ""
    untimed = replace(header.settings, shape=shape_of(Tree.chain(33)))
    assert "must be one of those timed; it is 34" in costs_problem(
        replace(header, settings=untimed)
    )


def test_costs_without_a_tree_that_they_chose_are_found(tmp_path):
    run_of(tmp_path / "run", TREE_SETTINGS)
    (finding,) = verify_run(tmp_path / "run").findings
    assert "must go together" in finding


def begun(folder, settings=ASKED, heads=HEADS, choose=lambda *_: TREE):
    return BestTree.begin(settings, heads, folder, choose)


def test_a_new_run_has_the_chosen_tree_at_its_depth_and_at_half(tmp_path):
    asked = []

    def choose(rates, nodes, costs):
        asked.append((rates, nodes, costs))
        return TREE

    best = begun(tmp_path / "none", choose=choose)
    check_settings(best.stand_in)
    settled = best.settled(best.stand_in, COSTS)
    assert asked == [(HEADS.accuracies, 5, COSTS)]
    assert (settled.shape, settled.gammas, settled.tree) == (shape_of(TREE), (1, 3), "best:5")
    assert begun(tmp_path, replace(ASKED, tree="best")).stand_in.tree == "best:64"
    limited = begun(tmp_path, replace(ASKED, gammas=(2, 1)), choose=lambda *_: Tree.chain(2))
    assert limited.rates == HEADS.accuracies[:2]
    assert limited.settled(limited.stand_in, COSTS).gammas == (1, 2)
    shallow = begun(tmp_path, replace(ASKED, gammas=(3,)), choose=lambda *_: Tree.chain(2))
    assert shallow.settled(shallow.stand_in, COSTS).gammas == (2,)


def test_a_run_that_is_there_keeps_its_tree_whatever_would_be_chosen_now(tmp_path):
    run = run_of(tmp_path / "run", replace(BEST, gammas=(1, 3)))
    best = begun(tmp_path / "run", choose=lambda *_: Tree.chain(1))
    assert best.known == run.header
    assert (best.stand_in.shape, best.stand_in.gammas) == (shape_of(TREE), (1, 3))
    other = begun(tmp_path / "run", replace(ASKED, tree="best:4"))
    assert other.stand_in.shape != shape_of(TREE)
    check_settings(other.stand_in)  # it is the folder that refuses it
    with pytest.raises(ValueError, match=r"settings\.tree was best:5, is best:4"):
        measure(tree_bench(other.stand_in), other.stand_in, PROMPTS, tmp_path / "run")


@pytest.mark.parametrize(
    ("settings", "heads", "choose", "words"),
    [
        (
            ASKED,
            replace(HEADS, accuracies=()),
            1,
            "heads must have known accuracies for tree best:5",
        ),
        (replace(ASKED, gammas=(4,)), HEADS, 1, "gamma must be at most the depth .* 3; got 4"),
        (ASKED, HEADS, None, "shape must be given with tree best:5"),
        (replace(ASKED, tree="best:0"), HEADS, 1, "tree's nodes must be"),
        (replace(ASKED, tree="best:"), HEADS, 1, "tree must be one of chain, .* best, best:N"),
        (replace(ASKED, tree="best:4:2"), HEADS, 1, "tree must be one of chain"),
    ],
)
def test_what_cannot_be_chosen_is_one_sentence(tmp_path, settings, heads, choose, words):
    with pytest.raises(ValueError, match=words):
        begun(tmp_path, settings, heads, choose)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"shape": None}, "shape must be given with tree best:5"),
        ({"tree": "best:4"}, "shape must have at most 4 nodes; got 5"),
        ({"gammas": (0,), "shape": None}, "gamma must be a whole number"),
    ],
)
def test_impossible_best_trees_are_one_sentence(changes, words):
    with pytest.raises(ValueError, match=words):
        check_settings(replace(BEST, **changes))


def test_a_gamma_that_makes_no_sense_is_left_to_be_refused(tmp_path):
    best = begun(tmp_path, replace(ASKED, gammas=(0, 2)))
    with pytest.raises(ValueError, match="gamma must be"):
        check_settings(best.stand_in)


def test_a_damaged_folder_is_refused_before_anything_is_timed(tmp_path):
    (tmp_path / HEADER).write_text("{}")
    with pytest.raises(RunFolderError):
        begun(tmp_path)
