"""What verification refuses, in one sentence with the place."""

from __future__ import annotations

import numpy as np
import pytest
import torch

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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": [[[0.5, 0.5], [1.0]]]}, "target_probs must be numbers .* NumPy cannot read"),
        ({"target": np.ma.masked_array(TARGET, TARGET > 1)}, "got a masked array"),
        ({"target": torch.tensor(TARGET).bfloat16()}, "half precision .torch.bfloat16.*float32"),
        ({"target": torch.tensor(TARGET, requires_grad=True)}, "got Tensor that NumPy cannot read"),
        ({"drafted": [[0], [0, 1]]}, "drafted must be token numbers .* NumPy cannot read"),
        (
            {"rule": sim.greedy},
            r"rule must be one of simulator's rules, such as simulator.greedy\(\)",
        ),
        ({"contexts": 5}, "contexts must be a pair"),
        ({"contexts": ([[0, 0]],)}, "contexts must be a pair"),
    ],
)
def test_what_cannot_be_read_is_told_in_a_sentence(change, message):
    with pytest.raises(ValueError, match=message):
        verify(**change)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rule", sim.RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize("temperature", [1e-320, 1e-50, 1e-5])
def test_a_temperature_below_the_precision_of_the_logits_is_greedy(rule, temperature):
    target = np.array([[[0.0, 1.0], [2.0, 0.0]]], np.float32)
    draft = np.array([[[0.0, 1.0]]], np.float32)
    verdict = sim.verify_logits(
        target, draft, [[1]], rule=rule, rng=0, sampling=sim.Sampling(temperature=temperature)
    )
    assert (verdict.lengths.tolist(), verdict.next_token.tolist()) == ([1], [0])


@pytest.mark.parametrize("sampling", [sim.Sampling(), sim.Sampling(top_k=1)])
def test_impossible_logits_are_named_with_their_row(sampling):
    logits = np.zeros((300, 2, 500))
    logits[299, 1] = -np.inf
    with pytest.raises(ValueError, match=r"target_logits must not be NaN .* row 599 breaks"):
        sim.verify_logits(
            logits, None, np.zeros((300, 1), int), rule=sim.greedy(), rng=0, sampling=sampling
        )
    logits[:, 0, 0] = 99.0  # kept, so that the last row is drawn from
    with pytest.raises(ValueError, match=r"target_logits must not be NaN .* row 599 breaks"):
        sim.verify_logits(
            logits, None, np.zeros((300, 1), int), rule=sim.one_hot(), rng=0, sampling=sampling
        )
