"""How large a tree should be: against all sizes and depths tried one by one, and Sequoia's own choice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from published_trees import SEQUOIA_DEMO, SEQUOIA_DRAFT_TIME, SEQUOIA_PASS_TIMES

from analysis import best_gamma, best_tree, paying_size, tree_value

RATES = [0.6, 0.15, 0.1]


def steps_of(depth, steps):
    return {"sequential": depth, "one": min(depth, 1), "none": 0}[steps]


@settings(max_examples=12, deadline=None)
@given(
    st.sampled_from(["sequential", "one", "none"]),
    st.floats(0.0, 0.4),
    st.lists(st.floats(0.5, 3.0), min_size=11, max_size=11),
    st.floats(0.0, 0.3),
    st.booleans(),
)
def test_every_size_is_the_best_of_all_depths(steps, cost_ratio, costs, overhead, by_depth):
    rates = [[0.6, 0.1], [0.2, 0.3], [0.5, 0.4]] if by_depth else RATES
    found = paying_size(
        rates,
        cost_ratio=cost_ratio,
        verify_cost=costs,
        max_nodes=10,
        steps=steps,
        max_depth=3,
        overhead=overhead,
    )
    tried = {0: 1.0}
    for nodes in range(1, 11):
        for depth in range(1, 4):
            try:
                tokens = best_tree(rates, nodes, max_depth=depth).tokens_per_round
            except ValueError:  # no room
                continue
            cost = costs[nodes] + cost_ratio * steps_of(depth, steps) + overhead
            tried[nodes] = max(tried.get(nodes, 0.0), tokens / cost)
    assert [point.speedup for point in found.points] == pytest.approx(list(tried.values()))
    assert found.best.speedup == pytest.approx(max(tried.values()))
    assert found.tree.nodes == found.best.nodes
    assert found.tree.gamma <= found.best.depth
    assert tree_value(found.tree, rates) == pytest.approx(found.best.tokens_per_round)
    speeds = [point.speedup for point in found.points]
    falls = [n for n in range(10) if speeds[n + 1] < speeds[n] * (1 - 1e-12)]
    assert found.loses_from == (falls[0] if falls else None)
    behind = [n for n in range(11) if speeds[n] >= 1.0][-1] + 1
    assert found.behind_plain_from == (behind if behind <= 10 else None)
    assert found.at_limit == (found.best.nodes == 10)


def test_sequoias_demo_picks_its_chain_of_three():
    """Golden test G7: its search counts levels with the root, a draft step more than the depth."""

    def passes(tokens):
        return SEQUOIA_PASS_TIMES[min(size for size in SEQUOIA_PASS_TIMES if size >= tokens)] / 10.0

    found = paying_size(
        SEQUOIA_DEMO,
        cost_ratio=SEQUOIA_DRAFT_TIME / 10.0,
        overhead=SEQUOIA_DRAFT_TIME / 10.0,
        verify_cost=passes,
        max_nodes=31,
        max_depth=9,
    )
    assert found.tree.parents == (-1, 0, 1)
    assert found.best.speedup == pytest.approx(2.046, abs=6e-4)
    assert found.loses_from == 3


def test_a_chain_is_the_best_chain():
    """Trees of one child per node: the choice is that of the draft length."""
    found = paying_size([0.8], cost_ratio=0.1, verify_cost=1.0, max_nodes=20)
    assert found.best.nodes == best_gamma(p=0.8, cost_ratio=0.1).gamma == 6
    assert found.best.speedup == pytest.approx(best_gamma(p=0.8, cost_ratio=0.1).speedup)


def test_a_flat_pass_takes_all_nodes_and_a_steep_one_none():
    flat = paying_size(RATES, cost_ratio=0.0, verify_cost=1.0, max_nodes=24, steps="none")
    assert (flat.best.nodes, flat.at_limit, flat.loses_from) == (24, True, None)
    steep = paying_size(RATES, cost_ratio=0.0, verify_cost=float, max_nodes=24)
    assert (steep.best.nodes, steep.best.speedup, steep.best.depth) == (0, 1.0, 0)
    assert (steep.tree.nodes, steep.loses_from, steep.behind_plain_from) == (0, 0, 1)


def test_dearer_passes_never_make_the_tree_larger():
    slopes = np.linspace(0.0, 0.2, 9)
    sizes = [
        paying_size(
            RATES,
            cost_ratio=0.02,
            verify_cost=lambda n, slope=slope: 1.0 + slope * (n - 1),
            steps="one",
            max_nodes=40,
        ).best.nodes
        for slope in slopes
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == 40
    assert sizes[-1] < 10


def test_sizes_without_room_are_left_out():
    found = paying_size([0.5, 0.2], cost_ratio=0.0, verify_cost=1.0, max_nodes=64, max_depth=2)
    assert [point.nodes for point in found.points] == list(range(7))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": "two"}, "steps must be one of sequential, one, none; got 'two'"),
        ({"cost_ratio": -0.1}, "cost_ratio must be"),
        ({"overhead": -0.1}, "overhead must be"),
        ({"max_nodes": 10**6}, "max_nodes must be"),
        ({"max_depth": 0}, "max_depth must be"),
        ({"verify_cost": [1.0, 1.1]}, "verify_cost must"),
        ({"verify_cost": 0.0}, "verify_cost must be"),
    ],
)
def test_bad_input_is_one_sentence(options, message):
    asked = {"cost_ratio": 0.1, "verify_cost": 1.0, "max_nodes": 8} | options
    with pytest.raises(ValueError, match=message) as error:
        paying_size(RATES, **asked)
    assert "\n" not in str(error.value)
