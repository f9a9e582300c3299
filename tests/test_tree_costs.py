"""What the tree of `--tree best` is chosen by, on a clock that only the models move, and the choice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from toy_runs import transitions
from tree_runs import TREE_SETTINGS, Heads

from analysis.runs.fastest_tree import fastest
from analysis.trees.search import best_tree
from analysis.trees.values import tree_value
from real_runs.runs.header import TreeCosts
from real_runs.timing import Stopwatch
from real_runs.tree_choice import cost_of
from real_runs.tree_costs import (
    LEAST_SWEEPS,
    MOST_SWEEPS,
    time_tree_costs,
    timed_widths,
    typical_text,
)
from simulator import MarkovChain, Tree

COSTS = TreeCosts(
    widths=(1, 2, 3, 4, 5, 6),
    verify_costs=(1.0, 1.0, 1.25, 0.875, 1.5, 2.0),
    steps="one",
    step_cost=0.25,
    plain_s=0.004,
    context=8,
)
ASKED = replace(TREE_SETTINGS, tree="best:5", shape=None, gammas=())
PLAIN_NS, STEP_NS = 1000, 300
_VALUES = "1 1.59 1.94 1.38 1.27 1.36 1.6 1.33 1.45 1.5 1.67 1.43 1.51 1.61 1.51 1.77"
V_SMOLLM2 = dict(zip((*range(1, 14), 15, 16, 17), map(float, _VALUES.split()), strict=True))
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
    passes = np.array(read[: 6 * sweeps]).reshape(sweeps, 6)
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


def chosen(costs, rates=RATES):
    return fastest(
        rates,
        costs.widths[-1] - 1,
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
        for depth, room in ((1, 3), (2, 12), (3, 16), (4, 16))
        for width in costs.widths[1:]
        if width <= room + 1
    ]
    assert tree.nodes + 1 in costs.widths
    assert speedup(tree) == pytest.approx(max(speedup(each) for each in others), rel=1e-12)


def smoothed(by_width):
    """V on straight lines between few widths, none above that of a wider pass: the negative control."""
    few = {width: by_width[width] for width in (1, 2, 3, 5, 9, 17)}
    capped = np.minimum.accumulate(list(few.values())[::-1])[::-1]
    return dict(enumerate(np.interp(range(1, 18), list(few), capped).tolist(), start=1))


@pytest.mark.parametrize(
    ("steps", "ranks", "nodes"),
    [
        ("sequential", [0.45, 0.15, 0.08], 7),
        ("one", [0.5, 0.15, 0.05], 11),
    ],
)
def test_a_dear_width_between_cheap_ones_is_passed_over(steps, ranks, nodes):
    """Six nodes need a pass of seven tokens, dearer than one of eight; smoothed, it would be chosen."""
    rates = [ranks] * 4
    costs = priced(V_SMOLLM2, step_cost=0.05, steps=steps)
    tree = chosen(costs, rates)
    other = chosen(priced(smoothed(V_SMOLLM2), step_cost=0.05, steps=steps), rates)
    assert (tree.nodes, other.nodes) == (nodes, 6)
    true = [
        tree_value(each, rates) / cost_of(costs, each.nodes, each.gamma) for each in (tree, other)
    ]
    assert true[0] > 1.2 * true[1]


def test_weak_heads_take_the_cheapest_width():
    """That of five tokens, cheaper than those of two, three and four, for a tree of four nodes."""
    rates = [[0.6 * 0.6**depth, 0.08 * 0.6**depth, 0.03 * 0.6**depth] for depth in range(4)]
    for steps in ("one", "sequential"):
        assert chosen(priced(V_SMOLLM2, step_cost=0.05, steps=steps), rates).nodes == 4


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
