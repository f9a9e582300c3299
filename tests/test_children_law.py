"""One place in the text with several drafted tokens: laws by enumeration, then what is sampled against them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from stats import CHI_SQUARE_LIMIT, FEWEST_EXPECTED, merged_starts

from analysis import (
    acceptance_probability,
    children_law,
    emitted_law,
    expected_accepted,
    k_seq_acceptance,
    optimal_acceptance,
    total_variation,
)
from analysis.tokens.one_decision import one_decision
from simulator import TREE_RULES, block_verification, draw, lenience
from simulator.rules import (
    PICKED,
    greedy,
    one_hot,
    sample_and_match,
    speculative_sampling,
    typical_acceptance,
    without_replacement,
)
from simulator.tree_verification import judge_children

F = Fraction
TARGET = [F(n, 20) for n in (7, 1, 0, 8, 4)]
DRAFT = [F(n, 20) for n in (3, 6, 5, 6, 0)]  # its third token is never said, its last never drafted
DROP_BELOW = 0.2
WAYS = (*PICKED, "distinct")
RULE = {rule.name: rule for rule in TREE_RULES}
LOSSLESS = [(rule, picked) for rule in TREE_RULES for picked in rule.lossless_for]
# A rule that divides by the draft's probabilities refuses what it cannot have drawn.
REFUSED = {("without_replacement", "drawn"), ("without_replacement", "dropped")}
LOSSY = [
    (rule, picked)
    for rule in TREE_RULES
    for picked in WAYS
    if picked not in rule.lossless_for and (rule.name, picked) not in REFUSED
]
ROUNDS = 60_000


def how(picked):
    return {"picked": picked, "drop_below": DROP_BELOW if picked == "dropped" else 0.0}


def named(pair):
    return f"{pair[0].name}-{pair[1]}" if isinstance(pair, tuple) else None


def law(rule, picked, count, *, target=TARGET, draft=DRAFT):
    found = children_law(target, draft, count, rule=rule, **how(picked))
    assert sum(found.emitted) == pytest.approx(1, abs=1e-12)
    return found


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("pair", LOSSLESS, ids=named)
def test_lossless_pairs_emit_the_target_exactly(pair, count):
    found = law(*pair, count)
    assert found.distance == 0
    wanted = [0, 0, 0, 1, 0] if pair[0].name == "greedy" else TARGET
    assert list(found.emitted) == wanted


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("pair", LOSSY, ids=named)
def test_every_other_pair_does_not(pair, count):
    assert law(*pair, count).distance > F(1, 40)


def test_the_stated_controls():
    """As sentences, whatever the table of rules says."""
    target, draft = [F(5, 10), F(3, 10), F(2, 10)], [F(6, 10), F(3, 10), F(1, 10)]
    chosen = children_law(target, draft, 2, rule=without_replacement(), picked="chosen")
    assert list(chosen.emitted) == [F(5, 6), 0, F(1, 6)]  # (.833, 0, .167)
    points = children_law(target, draft, 2, rule=one_hot(), picked="chosen")
    assert list(points.emitted) == target
    assert points.by_rank == (F(5, 10), F(3, 10))
    pruned = children_law(
        target, draft, 2, rule=speculative_sampling(), picked="dropped", drop_below=0.2
    )
    assert pruned.distance > F(1, 100)
    # Drawn with replacement and without: neither rule will do for the other's children.
    assert law(speculative_sampling(), "distinct", 2).distance > F(1, 100)
    with pytest.raises(ValueError, match="without_replacement must have children that the draft"):
        law(without_replacement(), "drawn", 2)


def test_published_unit_cases():
    """Chen et al. 2024 (Sequoia), appendix F."""
    target, draft = [F(1), F(0)], [F(1, 2), F(1, 2)]
    assert children_law(target, draft, 2, rule=speculative_sampling()).acceptance == F(3, 4)
    floats = [1.0, 0.0], [0.5, 0.5]
    assert k_seq_acceptance(*floats, 2) == pytest.approx(0.75, abs=1e-12)
    assert optimal_acceptance(*floats, 2) == pytest.approx(0.75, abs=1e-12)
    distinct = children_law(target, draft, 2, rule=without_replacement(), picked="distinct")
    assert distinct.acceptance == 1
    same = [F(6, 10), F(4, 10)]
    assert children_law(same, same, 1, rule=one_hot(), picked="chosen").acceptance == F(6, 10)
    for rule, picked in ((speculative_sampling(), "drawn"), (without_replacement(), "distinct")):
        assert children_law(same, same, 1, rule=rule, picked=picked).acceptance == 1
    floats = [0.6, 0.4], [0.6, 0.4]
    assert k_seq_acceptance(*floats, 1) == optimal_acceptance(*floats, 1) == 1.0


@pytest.mark.parametrize("picked", WAYS)
def test_point_masses_are_a_look_up_in_law(picked):
    """Token by token and rank by rank, in exact fractions."""
    for count in range(5):
        assert law(one_hot(), picked, count) == law(sample_and_match(), picked, count)


def test_one_child_is_a_chain_of_one():
    for rule in TREE_RULES:
        for picked in ("drawn", "chosen"):
            if rule.name == "without_replacement":
                continue
            found = law(rule, picked, 1)
            expected = acceptance_probability(
                np.array(TARGET, float), np.array(DRAFT, float), rule=rule, picked=picked
            )
            assert float(found.acceptance) == pytest.approx(expected, abs=1e-12)
            texts = emitted_law(
                lambda _: TARGET, lambda _: DRAFT, rule=rule, gamma=1, length=1, picked=picked
            )
            assert [texts.weights.get((token,), 0) for token in range(5)] == list(found.emitted)


def test_on_a_chain_without_replacement_is_speculative_sampling():
    """No token has siblings there; every exact function must know."""
    pair = np.array(TARGET, float), np.array(DRAFT, float)
    rules = speculative_sampling(), without_replacement()
    for ask in (
        lambda rule: acceptance_probability(*pair, rule=rule),
        lambda rule: expected_accepted(*pair, 3, rule=rule),
        lambda rule: one_decision(*pair, rule=rule),
        lambda rule: emitted_law(lambda _: TARGET, lambda _: DRAFT, rule=rule, gamma=2, length=2),
    ):
        assert ask(rules[0]) == ask(rules[1])
    assert acceptance_probability(*pair, rule=rules[1]) != pytest.approx(
        acceptance_probability(*pair, rule=typical_acceptance())
    )
    assert law(rules[1], "distinct", 1) == law(rules[0], "drawn", 1)


def multi_round(target, draft, count):
    """Rank r of multi-round sampling: 1 - total variation from Q of what r rejections have left."""
    rates, reached = [], 1.0
    for _ in range(count):
        overlap = float(np.minimum(target, draft).sum())
        rates.append(reached * overlap)
        reached *= 1.0 - overlap
        rest = np.maximum(target - draft, 0.0)
        if not rest.sum() > 0.0:
            break
        target = rest / rest.sum()
    return rates + [0.0] * (count - len(rates))


distributions = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


@settings(max_examples=60)
@given(distributions, distributions, st.sampled_from(LOSSLESS), st.integers(0, 3))
def test_any_pair_in_floats_and_fractions(target, draft, pair, count):
    rule, picked = pair
    rows = [[F(n, sum(row)) for n in row] for row in (target, draft)]
    exact = children_law(*rows, count, rule=rule, **how(picked))
    assert exact.distance == 0
    floats = [[float(p) for p in row] for row in rows]
    found = children_law(*floats, count, rule=rule, **how(picked))
    assert found.distance < 1e-12
    if not (rule.name == "greedy" or picked == "dropped"):  # ties and limits turn on the last digit
        assert found.by_rank == pytest.approx([float(p) for p in exact.by_rank], abs=1e-12)


@settings(max_examples=60)
@given(distributions, distributions, st.integers(1, 4))
def test_drawn_children_in_closed_form_and_their_bounds(target, draft, count):
    target, draft = np.array(target) / sum(target), np.array(draft) / sum(draft)
    found = children_law(target, draft, count, rule=speculative_sampling())
    assert found.by_rank == pytest.approx(multi_round(target, draft, count), abs=1e-12)
    best = optimal_acceptance(target, draft, count)
    cuts = [
        draft[list(some)].sum() ** count - target[list(some)].sum()
        for size in range(5)
        for some in combinations(range(4), size)
    ]
    assert best == pytest.approx(1.0 - max(cuts), abs=1e-12)  # every cut, not only the sorted ones
    assert float(found.acceptance) <= best + 1e-12
    sequence = k_seq_acceptance(target, draft, count)
    assert sequence <= best + 1e-12
    assert sequence >= (1.0 - 1.0 / np.e) * best - 1e-9  # Sun et al. 2023
    if count == 1:
        overlap = 1.0 - total_variation(target, draft)
        assert [best, sequence] == pytest.approx([overlap, overlap], abs=1e-9)


def test_k_seq_is_lossless_from_its_own_rho_on():
    target, draft = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.7, 0.1])
    shares = []
    for rho in (1.83, 2.2, 3.0):
        keeps = np.minimum(1.0, target / (rho * draft))
        beta = draft @ keeps
        chance = k_seq_acceptance(target, draft, 3, rho=rho)
        assert chance == pytest.approx(1.0 - (1.0 - beta) ** 3, abs=1e-12)
        emitted = (
            draft * keeps * chance / beta
        )  # of kept tokens, which may nowhere exceed the target
        assert (emitted <= target + 1e-12).all()
        shares.append(chance)
    assert shares == sorted(shares, reverse=True)
    assert k_seq_acceptance(target, draft, 3) >= shares[0]
    with pytest.raises(
        ValueError, match=r"rho must be large enough to be lossless, 1\.\d+ or more"
    ):
        k_seq_acceptance(target, draft, 3, rho=1.0)
    with pytest.raises(ValueError, match=r"rho must lie in \[1, 3\]"):
        k_seq_acceptance(target, draft, 3, rho=3.5)


# --- what is sampled ---------------------------------------------------------------------------


def drawn_children(rng, draft, count, picked, rounds=ROUNDS):
    """Children of many rounds, [rounds, count]; dropped ones are not there to be judged alike."""
    if picked == "chosen":
        ranked = np.argsort(-draft, kind="stable")[:count]
        return np.tile(ranked, (rounds, 1))
    if picked == "drawn":
        return draw(np.broadcast_to(draft, (rounds, count, draft.size)), rng=rng)
    # The largest of log Q + Gumbel noise: drawn without replacement, in the order of drawing.
    with np.errstate(divide="ignore"):
        keys = np.log(draft) + rng.gumbel(size=(rounds, draft.size))
    return np.argsort(-keys, axis=1)[:, :count]


def outcomes(rule, picked, count, *, target=None, judge=None, seed=0):
    """Counts of (rank kept or none, token), [count + 1, vocabulary], over many rounds."""
    rng = np.random.default_rng(seed)
    target = np.array(TARGET, float) if target is None else target
    draft = np.array(DRAFT, float)
    children = drawn_children(rng, draft, count, picked)
    kept, following = (judge or judge_children)(
        np.tile(target, (ROUNDS, 1)),
        np.tile(draft, (ROUNDS, 1)) if rule.needs_draft_probs else None,
        children,
        rule=rule,
        uniform=rng.random,
    )
    assert ((kept < 0) == (following >= 0)).all()
    token = np.where(kept < 0, following, children[np.arange(ROUNDS), kept])
    counts = np.zeros((count + 1, target.size), dtype=np.int64)
    np.add.at(counts, (kept, token), 1)  # row -1 is the last
    return counts


def fits(counts, found):
    """Support, then Pearson's chi-square over merged cells of the joint law of rank and token."""
    chances = np.array([*found.kept, found.following], float).ravel()
    seen = counts.ravel()
    if seen[chances == 0.0].any():
        return False
    order = np.argsort(-chances)
    expected = chances[order] * ROUNDS
    starts = merged_starts(expected)
    assert len(starts) > 2
    assert np.add.reduceat(expected, starts).min() >= FEWEST_EXPECTED
    sums = [np.add.reduceat(values, starts) for values in (seen[order], expected)]
    return chisquare(*sums).pvalue >= CHI_SQUARE_LIMIT


SAMPLED = [
    (rule, picked)
    for rule, picked in [*LOSSLESS, *LOSSY]
    if rule.name not in {"greedy", "typical_acceptance"}
    and picked != "dropped"
    and not (rule.name == "speculative_sampling" and picked == "distinct")
]


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("pair", SAMPLED, ids=named)
def test_judging_follows_the_enumeration(pair, count):
    rule, picked = pair
    counts = outcomes(rule, picked, count)
    assert fits(counts, law(rule, picked, count))
    other = sample_and_match() if rule.needs_draft_probs else speculative_sampling()
    if picked == "drawn":
        assert not fits(counts, law(other, picked, count)), "the test tells two rules apart"


def test_judging_in_single_precision_follows_it_too():
    counts = outcomes(without_replacement(), "distinct", 3, target=np.array(TARGET, np.float32))
    assert fits(counts, law(without_replacement(), "distinct", 3))


@pytest.mark.parametrize(
    ("run", "claimed"),
    [
        (("speculative_sampling", "drawn"), ("speculative_sampling", "distinct")),
        (("without_replacement", "distinct"), ("speculative_sampling", "distinct")),
        (("one_hot", "distinct"), ("one_hot", "drawn")),
        (("one_hot", "chosen"), ("without_replacement", "chosen")),
    ],
)
def test_the_law_of_another_rule_or_draft_is_caught(run, claimed):
    counts = outcomes(RULE[run[0]], run[1], 3)
    assert not fits(counts, law(RULE[claimed[0]], claimed[1], 3))


def test_sorted_siblings_are_caught():
    """Drawn children that are put in order of likelihood afterwards were not drawn in that order."""

    def judge(target, draft, children, **options):
        ranked = np.take_along_axis(draft, children, axis=1).argsort(axis=1, kind="stable")
        children[:] = np.take_along_axis(children, ranked[:, ::-1], axis=1)
        return judge_children(target, draft, children, **options)

    counts = outcomes(without_replacement(), "distinct", 2, judge=judge)
    emitted, wanted = counts.sum(axis=0), np.array(TARGET, float) * ROUNDS
    some = wanted > 0.0
    assert chisquare(emitted[some], wanted[some]).pvalue < CHI_SQUARE_LIMIT


def test_all_that_is_possible_as_children_is_never_refused():
    target = np.tile([0.5, 0.25, 0.25, 0.0], (5_000, 1))
    children = np.tile([3, 2, 0, 0, 1], (5_000, 1))
    edge = np.nextafter(1.0, 0.0)
    kept, _ = judge_children(
        target, None, children, rule=one_hot(), uniform=lambda n: np.full(n, edge)
    )
    assert (kept == 4).all()
    draft = np.tile([0.25, 0.25, 0.25, 0.25], (5_000, 1))
    rng = np.random.default_rng(0)
    every = drawn_children(rng, draft[0], 4, "distinct", rounds=5_000)
    kept, following = judge_children(
        target, draft, every, rule=without_replacement(), uniform=rng.random
    )
    assert (kept >= 0).all()
    assert (following == -1).all()
    assert draft.min() == 0.25, "what was given is not written to"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"rule": block_verification()},
            "rule must be one that can judge a tree, .* got block_ver",
        ),
        ({"rule": lenience(0.5)}, "rule must be one that can judge a tree"),
        ({"rule": greedy}, "rule must be one of simulator's rules"),
        ({"children": -1}, "children must be a whole number"),
        ({"children": 30}, r"vocabulary\^children must be at most 200,000 .* got 2\^30"),
        ({"children": 3, "picked": "chosen"}, "at most the 2 tokens of the vocabulary; got 3"),
        ({"picked": "dropped"}, "drop_below must be above 0"),
        ({"picked": "sorted"}, "picked must be one of drawn, dropped, chosen, distinct; got"),
        ({"target_probs": [0.6, 0.6]}, "target_probs must hold probabilities that sum to 1"),
        ({"draft_probs": [1.0]}, "draft_probs must have as many tokens as target_probs, 2; got 1"),
        ({"draft_probs": 3}, "draft_probs must be probabilities"),
        (
            {"draft_probs": [1.0, 0.0], "picked": "chosen", "rule": speculative_sampling()},
            "token 1 has probability 0 there",
        ),
    ],
)
def test_bad_input_is_one_sentence(options, sentence):
    options = {"children": 2, "rule": one_hot()} | options
    target = options.pop("target_probs", [0.5, 0.5])
    draft = options.pop("draft_probs", [0.5, 0.5])
    with pytest.raises(ValueError, match=sentence) as refused:
        children_law(target, draft, options.pop("children"), **options)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("rule", [one_hot(), sample_and_match(), without_replacement()])
def test_a_large_vocabulary_and_no_correction_at_all(rule):
    target = np.zeros((1, 1_000))
    target[0, 7] = 1.0
    kept, following = judge_children(
        target, target.copy(), np.array([[7]]), rule=rule, uniform=np.random.default_rng(0).random
    )
    assert (kept.tolist(), following.tolist()) == ([0], [-1])
