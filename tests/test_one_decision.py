"""One decision, exactly: golden cases, the other exact answers, the engine, and wrong laws rejected."""

import numpy as np
import pytest
from scipy.stats import chisquare
from stats import CHI_SQUARE_LIMIT, FEWEST_EXPECTED

import analysis as an
import simulator as sim
from analysis.tokens.one_decision import one_decision

RULES = [*sim.RULES, sim.lenience(0.2), sim.typical_acceptance(epsilon=0.02, delta=1.0)]
PAIRS = {
    "apart": ([0.5, 0.3, 0.1, 0.1], [0.1, 0.2, 0.3, 0.4]),
    "near": ([0.5, 0.3, 0.1, 0.1], [0.45, 0.35, 0.15, 0.05]),
    "same": ([0.4, 0.3, 0.2, 0.1], [0.4, 0.3, 0.2, 0.1]),
    "disjoint": ([0.7, 0.3, 0.0, 0.0], [0.0, 0.0, 0.6, 0.4]),
    "sure": ([0.0, 1.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]),
    "both sure": ([0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]),
    "ties": ([0.25, 0.25, 0.25, 0.25], [0.5, 0.5, 0.0, 0.0]),
}
every_rule = pytest.mark.parametrize(
    "rule", RULES, ids=lambda rule: f"{rule.name}-{rule.lenience}-{rule.epsilon}"
)
every_pair = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
both_ways = pytest.mark.parametrize("picked", ["drawn", "chosen"])


def proposal(draft, picked):
    return np.asarray(draft) if picked == "drawn" else np.eye(len(draft))[np.argmax(draft)]


def joint(law, draft, picked):
    """P(x is drafted, y comes out) with x kept on the diagonal apart: [2, vocabulary, vocabulary]."""
    proposed, keep = proposal(draft, picked), np.asarray(law.keep)
    rejected = (proposed * (1 - keep))[:, None] * np.asarray(law.corrections)
    return np.stack([np.diag(proposed * keep), rejected])


@every_rule
@every_pair
@both_ways
def test_it_adds_up_to_the_other_exact_answers(rule, pair, picked):
    target, draft = pair
    law = one_decision(target, draft, rule=rule, picked=picked)
    kept, rejected = joint(law, draft, picked)
    acceptance = an.acceptance_probability(target, draft, rule=rule, picked=picked)
    assert kept.sum() == pytest.approx(acceptance, abs=1e-12)
    emitted = an.emitted_law(
        lambda _: target, lambda _: draft, rule=rule, gamma=1, length=1, picked=picked
    )
    comes_out = (kept + rejected).sum(axis=0)
    wanted = [emitted.weights.get((token,), 0.0) for token in range(len(target))]
    assert comes_out == pytest.approx(wanted, abs=1e-12)
    assert np.sum(law.corrections, axis=1) == pytest.approx(np.ones(len(target)))
    if acceptance < 1 - 1e-12:
        assert np.multiply(1 - acceptance, law.replacement) == pytest.approx(rejected.sum(axis=0))
    else:
        assert not any(law.replacement)
    if rule.is_lossless(picked) and rule.name != "greedy":
        assert comes_out == pytest.approx(target, abs=1e-12)


def test_golden_values_of_speculative_sampling():
    law = one_decision([0.5, 0.3, 0.1, 0.1], [0.1, 0.2, 0.3, 0.4], rule=sim.speculative_sampling())
    assert law.keep == pytest.approx((1.0, 1.0, 1 / 3, 0.25))
    assert law.replacement == pytest.approx((0.8, 0.2, 0.0, 0.0))
    assert law.threshold is None


def test_the_residual_of_lenience_is_that_of_speculative_sampling():
    strict, mild = (
        one_decision([0.5, 0.5], [0.9, 0.1], rule=rule)
        for rule in (sim.speculative_sampling(), sim.lenience(0.8))
    )
    assert strict.corrections == mild.corrections
    assert mild.keep == pytest.approx((0.5 / 0.72, 1.0))


def test_the_threshold_of_typical_acceptance():
    half = one_decision([0.5, 0.5], [0.5, 0.5], rule=sim.typical_acceptance())
    assert half.threshold == pytest.approx(min(0.09, 0.3 / 2))
    flat = one_decision([0.1] * 10, [0.1] * 10, rule=sim.typical_acceptance())
    assert flat.threshold == pytest.approx(0.03)
    assert one_decision([0.09, 0.91], [1.0, 0.0], rule=sim.typical_acceptance()).keep[0] == 0.0


def sampled(target, draft, rule, picked, rounds, rng):
    """Counts of the engine in the cells of `joint`."""
    drafted = (
        sim.draw(np.tile(draft, (rounds, 1)), rng=rng)
        if picked == "drawn"
        else np.full(rounds, np.argmax(draft))
    )
    target, draft = np.tile(target, (rounds, 2, 1)), np.tile(draft, (rounds, 1, 1))
    verdict = sim.verify(target, draft, drafted[:, None], rule=rule, rng=rng)
    kept = verdict.lengths > 0
    counts = np.zeros((2, target.shape[-1], target.shape[-1]))
    np.add.at(
        counts, ((~kept).astype(int), drafted, np.where(kept, drafted, verdict.next_token)), 1
    )
    return counts


def fits(counts, law):
    """Support first, then Pearson's chi-square on cells of FEWEST_EXPECTED or more, the rest as one."""
    expected = law * counts.sum()
    if counts[law <= 1e-15].any():
        return False
    large = expected >= FEWEST_EXPECTED
    seen, wanted = (np.append(a[large], a[~large].sum()) for a in (counts, expected))
    if wanted[-1] < FEWEST_EXPECTED:
        seen, wanted = (np.append(a[:-2], a[-2:].sum()) for a in (seen, wanted))
    return seen.size < 2 or chisquare(seen, wanted).pvalue >= CHI_SQUARE_LIMIT


@every_rule
@every_pair
@both_ways
def test_the_engine_follows_it(rule, pair, picked, rng):
    target, draft = pair
    law = one_decision(target, draft, rule=rule, picked=picked)
    counts = sampled(target, draft, rule, picked, 20_000, rng)
    assert fits(counts, joint(law, draft, picked))


@pytest.mark.parametrize("right", range(len(sim.RULES)))
@pytest.mark.parametrize("wrong", range(len(sim.RULES)))
def test_another_rule_s_law_is_rejected(right, wrong, rng):
    # By the joint law of drafted, kept and emitted word: one-hot and block are twins of others.
    twins = {"one_hot": "sample_and_match", "block_verification": "speculative_sampling"}
    names = [twins.get(sim.RULES[i].name, sim.RULES[i].name) for i in (right, wrong)]
    target, draft = PAIRS["apart"]
    law = one_decision(target, draft, rule=sim.RULES[wrong])
    counts = sampled(target, draft, sim.RULES[right], "drawn", 20_000, rng)
    assert fits(counts, joint(law, draft, "drawn")) == (names[0] == names[1])


@pytest.mark.parametrize(
    ("target", "draft", "picked", "sentence"),
    [
        ([0.5, 0.5], [1.0], "drawn", "as many tokens as target_probs, 2; got 1"),
        ([0.5, 0.6], [0.5, 0.5], "drawn", "target_probs must have rows that sum to 1"),
        ([0.5, 0.5], [-0.5, 1.5], "drawn", "draft_probs must hold probabilities"),
        ([[0.5, 0.5]], [0.5, 0.5], "drawn", r"target_probs must have shape \[vocabulary\]"),
        ([0.5, 0.5], [0.5, 0.5], "dropped", "picked must be drawn or chosen; got 'dropped'"),
    ],
)
def test_bad_input_gets_a_sentence(target, draft, picked, sentence):
    with pytest.raises(ValueError, match=sentence):
        one_decision(target, draft, rule=sim.speculative_sampling(), picked=picked)
