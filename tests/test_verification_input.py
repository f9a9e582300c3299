"""What verification refuses, in one sentence with the place."""

from __future__ import annotations

import numpy as np
import pytest

import simulator as sim

TARGET = np.array([[[0.5, 0.5], [0.5, 0.5]]])
DRAFT = np.array([[[0.5, 0.5]]])


def verify(target=TARGET, draft=DRAFT, drafted=((0,),), rule=None, **options):
    rule = sim.speculative_sampling() if rule is None else rule
    return sim.verify(target, draft, drafted, rule=rule, rng=0, **options)


def test_rows_are_divided_by_their_sums():
    slightly = TARGET * (1 + 5e-5)
    assert verify(slightly, rule=sim.block_verification()) == verify(rule=sim.block_verification())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"target": TARGET * 1.001},
            r"target_probs must have rows that sum to 1 .* row \[0, 0\] sums to 1.001",
        ),
        ({"draft": [[[0.5, 0.4]]]}, r"draft_probs must have rows .* row \[0, 0\] sums to 0.9"),
        (
            {"target": [[[0.5, 0.5], [1.5, -0.5]]]},
            r"target_probs must hold probabilities; got -0.5 at \[0, 1, 1\]",
        ),
        ({"target": [[[0.5, 0.5], [np.nan, 1.0]]]}, r"got nan at \[0, 1, 0\]"),
        ({"target": TARGET.astype(np.float16)}, "half precision .* take the softmax in float32"),
        ({"target": TARGET[:, :1]}, r"target_probs must have shape \[1, 2, 2\]"),
        ({"draft": np.tile(DRAFT, (1, 2, 1))}, r"draft_probs must have shape \[1, 1, 2\]"),
        ({"draft": [[[1.0, 0.0, 0.0]]]}, r"draft_probs must have shape \[1, 1, 2\]"),
        ({"drafted": [[2]]}, r"drafted must hold tokens in \[0, 1\]; got 2 to 2"),
        ({"drafted": [[-1]]}, "drafted must hold tokens"),
        ({"drafted": [[0.0]]}, "drafted must be token numbers"),
        ({"drafted": [0]}, r"drafted must be token numbers of shape \[rounds, gamma\]"),
        ({"draft": None}, "draft_probs must be given: speculative_sampling asks"),
        ({"draft": [[[0.0, 1.0]]]}, "token 0 has draft probability 0 in row 0"),
        ({"draft": [[[0.0, 1.0]]], "rule": sim.block_verification()}, "draft probability 0"),
    ],
)
def test_arrays_that_do_not_fit(change, message):
    with pytest.raises(ValueError, match=message):
        verify(**change)


@pytest.mark.parametrize(
    ("contexts", "message"),
    [
        (([[0, 2]], [[0]]), r"contexts\[0\] must number rows in \[0, 1\]; got 0 to 2"),
        (([[0, 1]], [[1]]), r"contexts\[1\] must number rows in \[0, 0\]"),
        (([[0]], [[0]]), r"contexts\[0\] must be whole numbers of shape \[1, 2\]"),
        (([[0.0, 1.0]], [[0]]), r"contexts\[0\] must be whole numbers"),
    ],
)
def test_contexts_that_do_not_fit(contexts, message):
    with pytest.raises(ValueError, match=message):
        verify(TARGET[0], DRAFT[0], contexts=contexts)


def test_pools_must_share_a_vocabulary():
    with pytest.raises(ValueError, match="pools must have shape"):
        verify(TARGET[0], np.ones((1, 1)), contexts=([[0, 1]], [[0]]))


@pytest.mark.parametrize(
    "logits",
    [np.zeros((1, 2, 2), np.float16), np.zeros((2, 2)), np.zeros((1, 2, 2), bool)],
)
def test_logits_of_a_wrong_kind(logits):
    with pytest.raises(ValueError, match="target_logits must be float32 or float64"):
        sim.verify_logits(logits, None, [[0]], rule=sim.greedy(), rng=0)


def test_logits_that_are_no_numbers_are_named():
    logits = np.zeros((1, 2, 2))
    logits[0, 1, 0] = np.nan
    with pytest.raises(ValueError, match="row 1 breaks this"):
        sim.verify_logits(logits, None, [[0]], rule=sim.greedy(), rng=0)


@pytest.mark.parametrize("factor", [0.0, -0.1, 1.1, float("nan")])
def test_lenience_lies_above_zero(factor):
    with pytest.raises(ValueError, match="factor"):
        sim.lenience(factor)


def test_lenience_of_one_is_speculative_sampling():
    rng = np.random.default_rng(0)
    target, draft = rng.dirichlet(np.ones(5), (400, 3)), rng.dirichlet(np.ones(5), (400, 2))
    drafted = sim.draw(draft, rng=1)
    first = sim.verify(target, draft, drafted, rule=sim.lenience(1.0), rng=2)
    second = sim.verify(target, draft, drafted, rule=sim.speculative_sampling(), rng=2)
    assert (first.lengths == second.lengths).all()
    assert (first.next_token == second.next_token).all()


def test_no_token_becomes_likelier_than_lenience_allows():
    target, draft = np.array([[0.1, 0.9], [1, 0]]), np.array([[0.9, 0.1]])
    n = 100_000
    drafted = sim.draw(np.broadcast_to(draft, (n, 1, 2)), rng=1)
    contexts = (np.tile([0, 1], (n, 1)), np.zeros((n, 1), int))
    verdict = sim.verify(target, draft, drafted, rule=sim.lenience(0.5), rng=2, contexts=contexts)
    first = np.where(verdict.lengths > 0, drafted[:, 0], verdict.next_token)
    share = (first == 0).mean()
    assert abs(share - 0.2) < 6 * np.sqrt(
        0.16 / n
    )  # P / factor, which speculative sampling keeps at 0.1
