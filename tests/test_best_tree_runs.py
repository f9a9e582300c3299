"""`--tree best`: what is timed before a run, what is chosen by it, and what the folder keeps of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from toy_runs import PROMPTS, documents, rewrite, transitions
from tree_runs import HEADS, TREE, TREE_SETTINGS, Heads, tree_bench

from analysis.runs.fastest_tree import fastest
from analysis.trees.search import best_tree
from analysis.trees.values import tree_value
from real_runs.measure import measure
from real_runs.runs.errors import RunFolderError
from real_runs.runs.facts import facts_of, system_of
from real_runs.runs.header import TreeCosts
from real_runs.runs.reading import HEADER, read_run
from real_runs.runs.verify import verify_run
from real_runs.settings import check_settings
from real_runs.timing import Stopwatch
from real_runs.tree_choice import BestTree, choice_of, cost_of, costs_problem
from real_runs.tree_costs import (
    LEAST_SWEEPS,
    MOST_SWEEPS,
    time_tree_costs,
    timed_widths,
    typical_text,
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
PLAIN_NS, STEP_NS = 1000, 300
V_SMOLLM2 = {
    **{1: 1.0, 2: 1.59, 3: 1.94, 4: 1.38, 5: 1.27, 6: 1.36, 7: 1.60, 8: 1.33, 9: 1.45, 10: 1.50},
    **{11: 1.67, 12: 1.43, 13: 1.51, 15: 1.61, 16: 1.51, 17: 1.77},
}
"""V(n) of SmolLM2-135M in float32 on two cores of a CPU: medians of nine sweeps, the same in each run."""


class Clock(Stopwatch):
    """A clock that only the models move."""

    def __init__(self):
        self.ns = 0
        super().__init__()

    def now(self):
        return self.ns


class Ticking(MarkovChain):
    """A pass takes 1000 ns and 100 for each token behind the first; `slow(call)` ones ten times that.

    `costs`: V by width, where it is another. `read`: the widths of all passes over chains.
    """

    clock = None
    calls = 0
    unit = 1
    costs = None
    read = ()

    def slow(self, _call):
        return False

    def extend(self, tokens):
        type(self).calls += 1
        type(self).read += (len(tokens),)
        taken = PLAIN_NS + 100 * (len(tokens) - 1)
        if self.costs is not None:
            taken = round(PLAIN_NS * self.costs[len(tokens)])
        self.clock.ns += self.unit * taken * (10 if self.slow(self.calls) else 1)
        return super().extend(tokens)

    def extend_tree(self, tokens, parents):
        self.clock.ns += PLAIN_NS + 100 * (len(tokens) - 1)
        return super().extend_tree(tokens, parents)


class TickingHeads(Heads):
    """Every forward takes 300 ns; "sequential" ones go once per token."""

    clock, sequential = None, False

    def propose(self, length, keep_going, rng):
        draft = super().propose(length, keep_going, rng)
        more = len(draft.tokens) - 1 if self.sequential else 0
        self.forwards += more
        self.clock.ns += STEP_NS * (1 + more)
        return draft


def timed(
    drafter="medusa", *, nodes=5, depth=3, slow=None, context=64, settings=ASKED, **attributes
):
    clock = Clock()
    kind = type("Target", (Ticking,), {"clock": clock} | attributes)
    target = kind(transitions(), context=context)
    if slow is not None:
        target.slow = slow
    draft = MarkovChain(transitions(), context=64).mixed(0.4, np.full(6, 1 / 6))
    made = []

    def make(chain):
        made.append(chain)
        picked = chain.siblings if chain.temperature else "chosen"
        heads = TickingHeads(draft, Tree.chain(*chain.gammas), picked=picked)
        heads.clock, heads.sequential = clock, drafter == "eagle"
        return heads

    costs = time_tree_costs(
        target,
        make,
        np.arange(5).repeat(2),
        settings=replace(settings, drafter=drafter),
        depth=depth,
        nodes=nodes,
        watch=clock,
    )
    made.extend(kind.read)
    return costs, made


@pytest.mark.parametrize(("drafter", "steps"), [("medusa", "one"), ("eagle", "sequential")])
def test_times_are_those_of_the_clock(drafter, steps):
    costs, (chain, *_) = timed(drafter)
    assert costs.widths == (1, 2, 3, 4, 5, 6)
    assert costs.verify_costs == pytest.approx([1.0, 1.1, 1.2, 1.3, 1.4, 1.5])
    assert (costs.steps, costs.plain_s, costs.context) == (steps, pytest.approx(1e-6), 10)
    assert costs.step_cost == pytest.approx(STEP_NS / PLAIN_NS)
    assert (chain.tree, chain.shape, chain.gammas) == ("chain", None, (2,))
    assert timed(drafter, depth=1)[1][0].gammas == (1,)
    assert timed(drafter, nodes=1)[1][0].gammas == (1,)


def test_a_machine_that_stumbles_now_and_then_gives_the_same_values():
    """Every sixth pass takes ten times as long; few of a width's sweeps are hit."""
    costs, _ = timed(slow=lambda call: call % 6 == 0)
    assert costs.verify_costs == pytest.approx([1.0, 1.1, 1.2, 1.3, 1.4, 1.5])


def test_a_machine_that_slows_down_slows_all_widths_alike():
    """Each pass takes a thousandth of a plain one longer than the one before."""

    def slower(self, tokens):
        self.clock.ns += self.calls
        return Ticking.extend(self, tokens)

    costs, _ = timed(extend=slower)
    assert costs.verify_costs == pytest.approx([1.0, 1.1, 1.2, 1.3, 1.4, 1.5], rel=0.03)


@pytest.mark.parametrize("unit", [1, 10**6])
def test_widths_are_timed_in_sweeps_until_there_is_enough(unit):
    """Passes of a microsecond go through all sweeps, those of a second through the least."""
    _, (_, *read) = timed(unit=unit)
    sweeps = 1 + (MOST_SWEEPS if unit == 1 else LEAST_SWEEPS)
    passes = np.array(read[1 : 1 + 6 * sweeps]).reshape(sweeps, 6)
    assert np.array_equal(np.sort(passes), np.tile(np.arange(1, 7), (sweeps, 1)))
    assert len({tuple(sweep) for sweep in passes.tolist()}) > 1


def test_a_wide_pass_may_take_less_time_than_a_narrow_one():
    """Every V is that of its own width, and so is that of the chain that times a step."""
    values = V_SMOLLM2 | {14: 1.56}
    costs, (chain, *_) = timed(nodes=16, depth=4, costs=values)
    assert dict(zip(costs.widths, costs.verify_costs, strict=True)) == values
    assert chain.gammas == (4,)


def test_distinct_siblings_are_timed_as_a_chain_that_is_drawn():
    settings = replace(
        ASKED, siblings="distinct", temperature=1.0, rule="without_replacement", drafter="eagle"
    )
    costs, (chain, *_) = timed("eagle", settings=settings)
    assert (chain.siblings, chain.rule) == ("drawn", "speculative_sampling")
    assert costs.step_cost == pytest.approx(STEP_NS / PLAIN_NS)


def test_a_context_without_room_is_one_sentence():
    with pytest.raises(ValueError, match=r"tree best:5 must time passes of up to 6 tokens"):
        timed(context=21)
    assert timed(context=25)[0].context == 25 - 21


def test_widths_reach_from_one_token_to_the_whole_tree():
    assert timed_widths(1) == (1, 2)
    assert timed_widths(31) == tuple(range(1, 33))
    assert timed_widths(32) == tuple(range(1, 34))
    assert timed_widths(33) == (*range(1, 34), 34)
    assert timed_widths(64) == (*range(1, 34), 40, 48, 56, 64, 65)
    assert timed_widths(512)[37:] == (80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 513)
    assert typical_text([np.array([3, 4])], 4).tolist() == [3, 4, 3, 4]


RATES = [[0.5, 0.25, 0.1], [0.6, 0.2, 0.1], [0.4, 0.2, 0.1], [0.4, 0.2, 0.1]]


def chosen(costs, rates=RATES, nodes=None):
    return fastest(
        rates,
        costs.widths[-1] - 1 if nodes is None else nodes,
        widths=costs.widths,
        verify_costs=costs.verify_costs,
        step_cost=costs.step_cost,
        steps=costs.steps,
    )


def priced(by_width, **changes):
    """The costs with V by width."""
    return replace(COSTS, widths=tuple(by_width), verify_costs=tuple(by_width.values()), **changes)


@pytest.mark.parametrize("steps", ["one", "sequential"])
@pytest.mark.parametrize("step_cost", [0.0, 0.1, 0.6])
@pytest.mark.parametrize(
    "by_width",
    [
        V_SMOLLM2,
        dict.fromkeys(range(1, 18), 1.0),
        {width: float(width) for width in range(1, 18)},
        {1: 1.0, 2: 3.0, 3: 0.5, 7: 0.9, 17: 4.0},
    ],
)
def test_no_tree_of_another_timed_size_or_depth_is_faster(steps, step_cost, by_width):
    costs = priced(by_width, steps=steps, step_cost=step_cost)
    tree = chosen(costs)

    def speedup(each):
        return tree_value(each, RATES) / cost_of(costs, each.nodes, each.gamma)

    others = [
        best_tree(RATES, width - 1, max_depth=depth).tree
        for depth in (1, 2, 3, 4)
        for width in costs.widths[1:]
        if depth < width <= (17 if depth > 1 else 4)
    ]
    assert tree.nodes + 1 in costs.widths
    assert speedup(tree) == pytest.approx(max(speedup(each) for each in others), rel=1e-12)


@pytest.mark.parametrize(
    ("rates", "nodes"), [([[0.45, 0.15, 0.08]] * 4, 4), ([[0.6, 0.2, 0.1]] * 4, 8)]
)
def test_a_dear_width_between_cheap_ones_is_passed_over(rates, nodes):
    """Six nodes need a pass of seven tokens, which takes longer than one of eight.

    With V on straight lines between few widths, and none above a wider one, six would be chosen.
    """
    costs = priced(V_SMOLLM2, step_cost=0.05)
    tree = chosen(costs, rates)
    assert tree.nodes == nodes
    few = {width: V_SMOLLM2[width] for width in (1, 2, 3, 5, 9, 17)}
    capped = np.minimum.accumulate(list(few.values())[::-1])[::-1]
    lines = np.interp(range(1, 18), list(few), capped).tolist()
    smooth = priced(dict(enumerate(lines, start=1)), step_cost=0.05)
    other = chosen(smooth, rates)
    true = [
        tree_value(each, rates) / cost_of(costs, each.nodes, each.gamma) for each in (tree, other)
    ]
    assert other != tree
    assert true[0] > 1.05 * true[1]


def test_a_size_whose_pass_was_not_timed_is_never_chosen():
    """Thirteen nodes are what all others point at, and a pass of fourteen is missing."""
    flat = dict.fromkeys(range(1, 15), 1.0) | {15: 9.0}
    assert chosen(priced(flat)).nodes == 13
    del flat[14]
    assert chosen(priced(flat)).nodes == 12


def test_cheap_passes_take_wide_trees_and_dear_steps_flat_ones():
    rates = [[0.6, 0.2, 0.1]] * 4
    flat = priced(dict.fromkeys(range(1, 32), 1.0), step_cost=0.01)
    whole = chosen(flat, rates)
    assert (whole.nodes, whole.gamma) == (30, 4)
    assert chosen(replace(flat, step_cost=0.85, steps="sequential"), rates).gamma == 1
    dear = {width: 1.0 if width == 1 else 1.5 * width for width in range(1, 32)}
    assert chosen(priced(dear), rates).nodes == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"widths": (2, 4, 6)},
        {"widths": (1, 3, 6)},
        {"widths": (1, 1, 6)},
        {"widths": (1, 2, 5)},
        {"widths": (1, 2, 7)},
        {"widths": (1,), "verify_costs": (1.0,)},
        {"verify_costs": (1.0,)},
    ],
)
def test_widths_without_an_end_or_a_cost_are_one_sentence(changes):
    given = {"widths": (1, 2, 6), "verify_costs": (1.0, 1.2, 1.5)} | changes
    with pytest.raises(ValueError, match="widths must rise from 1 and 2 to 6, one cost each"):
        fastest([[0.5]] * 5, 5, **given, step_cost=0.1, steps="one")


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
