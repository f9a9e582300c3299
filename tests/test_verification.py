"""The rules on probabilities: exact edges, laws against enumeration, and wrong engines caught."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chi2, chisquare
from stats import CHI_SQUARE_LIMIT

import simulator as sim
from simulator._judging import _judge_greedy
from simulator._picking import pick
from simulator.verification import chunks

ROUNDS = 200_000
IDENTICAL = np.array([0.5, 0.3, 0.2])
PLAIN_RULES = [rule for rule in sim.RULES if rule.lossless_for]
SAMPLED = [rule for rule in PLAIN_RULES if rule.name != "greedy"]
named = pytest.mark.parametrize("rule", sim.RULES, ids=lambda rule: rule.name)


def pair(seed, gamma, vocabulary=4):
    rng = np.random.default_rng(seed)
    return (
        rng.dirichlet(np.full(vocabulary, 0.7), size=gamma + 1),
        rng.dirichlet(np.full(vocabulary, 0.7), size=gamma),
    )


def run(rule, target, draft, *, drafted=None, rounds=ROUNDS, seed=1):
    """Many rounds in the same contexts; drafts drawn unless given."""
    gamma = len(draft)
    rng = np.random.default_rng(seed)
    if drafted is None:
        drafted = sim.draw(np.broadcast_to(draft, (rounds, *draft.shape)), rng=rng)
    contexts = (np.tile(np.arange(gamma + 1), (rounds, 1)), np.tile(np.arange(gamma), (rounds, 1)))
    return drafted, sim.verify(target, draft, drafted, rule=rule, rng=rng, contexts=contexts)


def outcomes(drafted, verdict, vocabulary):
    """One number per round for (kept tokens, the token behind them)."""
    code = np.zeros(len(drafted), dtype=np.int64)
    for depth in range(drafted.shape[1] + 1):
        kept = depth < verdict.lengths
        column = drafted[:, min(depth, drafted.shape[1] - 1)]
        digit = np.where(
            kept, column + 1, np.where(depth == verdict.lengths, verdict.next_token + 1, 0)
        )
        code = code * (vocabulary + 1) + digit
    return code * (drafted.shape[1] + 1) + verdict.lengths


def first_tokens(drafted, verdict):
    return np.where(verdict.lengths > 0, drafted[:, 0], verdict.next_token)


def fits(counts, probs):
    """Support, then Pearson's chi-square at a limit far out (see stats.py)."""
    assert counts[probs == 0.0].sum() == 0
    some = probs > 0.0
    return chisquare(counts[some], probs[some] / probs[some].sum() * counts.sum()).pvalue


def same_law(first, second):
    """Two-sample chi-square on outcomes seen often enough."""
    values, where = np.unique(np.concatenate([first, second]), return_inverse=True)
    table = np.zeros((2, values.size))
    np.add.at(table, (np.repeat([0, 1], [first.size, second.size]), where), 1)
    rare = table.sum(axis=0) < 50
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)]) if rare.any() else table
    expected = table.sum(axis=0) * table.sum(axis=1)[:, None] / table.sum()
    statistic = ((table - expected) ** 2 / np.maximum(expected, 1e-9)).sum()
    return chi2.sf(statistic, table.shape[1] - 1)


@pytest.mark.parametrize("rule", SAMPLED, ids=lambda rule: rule.name)
@pytest.mark.parametrize("gamma", [1, 3])
def test_the_first_token_follows_the_target(rule, gamma):
    target, draft = pair(3, gamma)
    drafted, verdict = run(rule, target, draft)
    counts = np.bincount(first_tokens(drafted, verdict), minlength=4)
    assert fits(counts, target[0]) > CHI_SQUARE_LIMIT


@pytest.mark.parametrize(
    "rule", [sim.lenience(0.5), sim.typical_acceptance(), sim.greedy()], ids=lambda rule: rule.name
)
def test_a_lossy_rule_is_seen_by_the_same_test(rule):
    target, draft = pair(3, 1)
    drafted, verdict = run(rule, target, draft)
    counts = np.bincount(first_tokens(drafted, verdict), minlength=4)
    assert fits(counts, target[0]) < CHI_SQUARE_LIMIT


def test_speculative_sampling_on_chosen_tokens_is_seen_to_be_lossy():
    target, draft = np.array([[0.2, 0.5, 0.3], [1, 0, 0]]), np.array([[0.4, 0.3, 0.3]])
    drafted = np.zeros((ROUNDS, 1), dtype=np.int64)
    _, verdict = run(sim.speculative_sampling(), target, draft, drafted=drafted)
    counts = np.bincount(first_tokens(drafted, verdict), minlength=3)
    assert fits(counts, target[0]) < CHI_SQUARE_LIMIT


@pytest.mark.parametrize("gamma", [1, 2])
def test_sample_and_match_and_one_hot_have_one_joint_law(gamma):
    target, draft = pair(8, gamma)
    laws = [
        outcomes(*run(rule, target, draft, seed=seed), 4)
        for seed, rule in enumerate([sim.sample_and_match(), sim.one_hot()])
    ]
    assert same_law(*laws) > CHI_SQUARE_LIMIT


def test_another_rule_has_another_joint_law():
    target, draft = pair(8, 2)
    laws = [
        outcomes(*run(rule, target, draft, seed=seed), 4)
        for seed, rule in enumerate([sim.speculative_sampling(), sim.one_hot()])
    ]
    assert same_law(*laws) < CHI_SQUARE_LIMIT


@pytest.mark.parametrize("gamma", [1, 3])
def test_acceptance_is_the_overlap_of_the_distributions(gamma):
    target, draft = pair(5, gamma)
    _, verdict = run(sim.speculative_sampling(), target, draft)
    overlap = np.minimum(target[:-1], draft).sum(axis=1)
    law = np.append(np.cumprod(overlap), 0.0)
    law = np.append(1.0, law[:-1]) - law[: gamma + 1]
    law[-1] = np.prod(overlap)
    assert fits(np.bincount(verdict.lengths, minlength=gamma + 1), law) > CHI_SQUARE_LIMIT
    assert law.sum() == pytest.approx(1.0)


def test_block_verification_keeps_its_exact_share():
    """Sun et al.'s golden pair: 10/9 and 11/9 accepted tokens at gamma 2."""
    target, draft = np.tile([1 / 3, 2 / 3], (3, 1)), np.tile([2 / 3, 1 / 3], (2, 1))
    means = {}
    for rule in (sim.speculative_sampling(), sim.block_verification()):
        _, verdict = run(rule, target, draft)
        means[rule.name] = verdict.lengths.mean()
    limit = 6.2 / math.sqrt(ROUNDS)  # the standard deviation of a length in [0, 2] is at most 1
    assert abs(means["speculative_sampling"] - 10 / 9) < limit
    assert abs(means["block_verification"] - 11 / 9) < limit
    assert 2 * limit < 1 / 9  # the test can tell the two apart


def test_block_verification_at_gamma_one_is_token_verification():
    target, draft = pair(11, 1)
    _, token = run(sim.speculative_sampling(), target, draft)
    _, block = run(sim.block_verification(), target, draft)
    assert (token.lengths == block.lengths).all()
    assert (token.next_token == block.next_token).all()


@pytest.mark.parametrize("rule", PLAIN_RULES, ids=lambda rule: rule.name)
def test_at_temperature_zero_every_lossless_rule_is_greedy(rule):
    rng = np.random.default_rng(0)
    target = np.eye(3)[rng.integers(3, size=(500, 4))]
    draft = np.eye(3)[rng.integers(3, size=(500, 3))]
    drafted = draft.argmax(axis=-1)
    verdict = sim.verify(target, draft, drafted, rule=rule, rng=0)
    agree = np.cumprod(drafted == target[:, :3].argmax(axis=-1), axis=1).sum(axis=1)
    assert (verdict.lengths == agree).all()
    assert (verdict.next_token == target.argmax(axis=-1)[np.arange(500), agree]).all()


@pytest.mark.parametrize(
    "rule", [sim.speculative_sampling(), sim.block_verification()], ids=lambda rule: rule.name
)
def test_identical_distributions_accept_everything(rule):
    _, verdict = run(rule, np.tile(IDENTICAL, (4, 1)), np.tile(IDENTICAL, (3, 1)))
    assert (verdict.lengths == 3).all()


@pytest.mark.parametrize("rule", SAMPLED, ids=lambda rule: rule.name)
def test_disjoint_distributions_accept_nothing_and_emit_the_target(rule):
    target, draft = np.tile([0.25, 0.75, 0, 0], (3, 1)), np.tile([0, 0, 0.6, 0.4], (2, 1))
    _, verdict = run(rule, target, draft)
    assert (verdict.lengths == 0).all()
    assert fits(np.bincount(verdict.next_token, minlength=4), target[0]) > CHI_SQUARE_LIMIT


@named
def test_an_empty_draft_emits_one_token(rule):
    target = np.tile([0.0, 1.0], (5, 1, 1))
    verdict = sim.verify(target, np.empty((5, 0, 2)), np.empty((5, 0), int), rule=rule, rng=0)
    assert (verdict.lengths == 0).all()
    assert (verdict.next_token == 1).all()


@named
def test_no_rounds_are_no_rounds(rule):
    verdict = sim.verify(
        np.empty((0, 3, 2)), np.empty((0, 2, 2)), np.empty((0, 2), int), rule=rule, rng=0
    )
    assert verdict.lengths.shape == verdict.next_token.shape == (0,)


@named
def test_logits_and_pools_and_arrays_agree(rule):
    rng = np.random.default_rng(4)
    logits = rng.normal(size=(2, 300, 4, 40)).astype(np.float32)
    target, draft = logits[0], logits[1, :, :3]
    sampling = sim.Sampling(temperature=0.7)
    probs = [sampling.probabilities(part) for part in (target, draft)]
    drafted = sim.draw(probs[1], rng=5)
    verdicts = [
        sim.verify(*probs, drafted, rule=rule, rng=6),
        sim.verify_logits(target, draft, drafted, rule=rule, rng=6, sampling=sampling),
        sim.verify(
            *(part.reshape(-1, 40) for part in probs),
            drafted,
            rule=rule,
            rng=6,
            contexts=(np.arange(1200).reshape(300, 4), np.arange(900).reshape(300, 3)),
        ),
    ]
    for verdict in verdicts[1:]:
        assert (verdict.lengths == verdicts[0].lengths).all()
        assert (verdict.next_token == verdicts[0].next_token).all()


def test_filtered_logits_give_filtered_tokens_only():
    logits = np.tile(np.arange(6.0), (2_000, 2, 1))
    drafted = np.full((2_000, 1), 5)
    verdict = sim.verify_logits(
        logits,
        logits[:, :1],
        drafted,
        rule=sim.speculative_sampling(),
        rng=0,
        sampling=sim.Sampling(top_k=2),
    )
    assert set(np.unique(verdict.next_token)) == {4, 5}


def test_the_seed_decides_and_nothing_else(monkeypatch):
    target, draft = pair(2, 3)
    _, first = run(sim.speculative_sampling(), target, draft, rounds=5_000)
    monkeypatch.setitem(chunks.__globals__, "CHUNK", 40)
    _, second = run(sim.speculative_sampling(), target, draft, rounds=5_000)
    assert (first.lengths == second.lengths).all()
    assert (first.next_token == second.next_token).all()


@pytest.mark.parametrize("vocabulary", [3, 256, 257, 1000, 128 * 5])
def test_picking_never_takes_an_impossible_token(vocabulary):
    rng = np.random.default_rng(0)
    weights = rng.random((400, vocabulary)) * (rng.random((400, vocabulary)) < 0.05)
    weights[:, -1] = 0.0
    possible = weights.sum(axis=1) > 0.0
    edges = np.where(np.arange(400) % 3 == 0, 0.0, 1.0 - 2.0**-53)
    for uniforms in (edges, rng.random(400)):
        tokens = pick(weights, uniforms)
        assert (tokens[~possible] == -1).all()
        assert (weights[np.arange(400), tokens][possible] > 0.0).all()


def test_picking_inverts_the_running_sum():
    rng = np.random.default_rng(1)
    weights, uniforms = rng.random((300, 1000)), rng.random(300)
    running = weights.cumsum(axis=1)
    wanted = (running <= (uniforms * running[:, -1])[:, None]).sum(axis=1)
    assert (pick(weights, uniforms) == wanted).all()


def test_picked_tokens_follow_large_rows():
    probs = np.random.default_rng(2).dirichlet(np.ones(600))
    tokens = pick(np.tile(probs, (60_000, 1)), np.random.default_rng(3).random(60_000))
    assert fits(np.bincount(tokens, minlength=600), probs) > CHI_SQUARE_LIMIT


@pytest.mark.parametrize(
    "rule", [sim.speculative_sampling(), sim.block_verification()], ids=lambda rule: rule.name
)
def test_two_tokens_together_follow_the_target(rule):
    # Behind one kept token a block corrects from max(w P - Q, 0), w below 1: only pairs show it.
    rounds, rng = 200_000, np.random.default_rng(11)
    target = np.array([[0.5, 0.25, 0.25], [0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])
    draft = np.array([[0.2, 0.3, 0.5], [0.7, 0.2, 0.1]])
    drafted = np.column_stack([rng.choice(3, rounds, p=row) for row in draft])
    where = np.tile([0, 1, 2], (rounds, 1)), np.tile([0, 1], (rounds, 1))
    verdict = sim.verify(target, draft, drafted, rule=rule, rng=rng, contexts=where)
    first = np.where(verdict.lengths > 0, drafted[:, 0], verdict.next_token)
    plain = rng.choice(3, rounds, p=target[1])  # a round that kept nothing goes on without a draft
    second = np.select(
        [verdict.lengths == 0, verdict.lengths == 1], [plain, verdict.next_token], drafted[:, 1]
    )
    seen = np.bincount(3 * first + second, minlength=9)
    expected = rounds * np.outer(target[0], target[1]).ravel()
    statistic = ((seen - expected) ** 2 / expected).sum()
    assert statistic < 53.0  # chi-square on 8 degrees of freedom exceeds it with chance 1e-8


def test_the_loop_s_short_cut_for_greedy_is_the_rule():
    rng = np.random.default_rng(9)
    lengths = set()
    for _ in range(300):
        logits = rng.integers(4, size=(4, 5)).astype(np.float32)  # ties on purpose
        drafted = np.where(rng.random(3) < 0.7, logits[:3].argmax(axis=1), rng.integers(5, size=3))
        verdict = sim.verify_logits(logits[None], None, drafted[None], rule=sim.greedy(), rng=0)
        short = _judge_greedy(logits, drafted.tolist())
        assert short == (verdict.lengths[0], verdict.next_token[0])
        lengths.add(short[0])
    assert lengths == {0, 1, 2, 3}
