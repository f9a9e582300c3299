"""The loop's own way through a tree under the greedy rule against `judge_tree`."""

from __future__ import annotations

import numpy as np

import simulator as sim
from simulator._judging import judge_draft
from simulator._rows import LogitRows
from simulator.models import Draft
from simulator.tree_verification import children_of, judge_tree

SAMPLING = sim.Sampling(temperature=0.0)


def outcome(judge, *given, **named):
    """Path, following token and tested depths, or the sentence of the refusal."""
    try:
        verdict = judge(*given, **named)
    except ValueError as error:
        return str(error)
    following = verdict.following if hasattr(verdict, "following") else verdict.next_token
    return verdict.path, following, verdict.tested


def test_the_greedy_way_through_a_tree_is_that_of_the_rule():
    """With ties, equal siblings, impossible tokens, and rows that are broken."""
    rng = np.random.default_rng(0)
    refused = deep = 0
    for _ in range(500):
        nodes, vocabulary = int(rng.integers(0, 12)), int(rng.integers(2, 5))
        parents = np.array([rng.integers(-1, node) if node else -1 for node in range(nodes)], int)
        tokens = rng.integers(0, vocabulary, nodes)
        logits = rng.integers(0, 3, (nodes + 1, vocabulary)).astype(np.float64)
        logits[rng.random(logits.shape) < 0.1] = -np.inf
        logits[rng.random(logits.shape) < 0.02] = np.nan
        draft = Draft(tokens=tokens, parents=parents)
        rows = LogitRows(logits, SAMPLING, "the target's logits")
        found = outcome(judge_draft, logits, draft, sim.greedy(), SAMPLING, rng)
        assert found == outcome(
            judge_tree, rows, None, tokens, children_of(parents), rule=sim.greedy(), rng=rng
        )
        refused += isinstance(found, str)
        deep += not isinstance(found, str) and len(found[0]) > 1
    assert refused > 10
    assert deep > 50
