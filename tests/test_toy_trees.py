"""The loop with trees on toy models: greedy is greedy, texts follow the target, and nothing is lost."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from drafter_conformance import check_drafter, sampled_texts, text_law, texts_fit
from scipy.stats import chisquare
from stats import CHI_SQUARE_LIMIT
from toy_tree_drafters import ConfidentTrees, Pretender, Riders

import simulator as sim
from analysis import children_law
from simulator import Chain, MarkovChain, Sampling, ToyTreeDrafter, Tree, decode

TREE = Tree.from_paths([(0,), (1,), (0, 0), (0, 1), (1, 0), (0, 0, 0)])
WIDE = Tree.from_widths([2, 2])
THREE = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]])
DRAFT = np.array([[0.3, 0.3, 0.4], [0.5, 0.2, 0.3], [0.1, 0.6, 0.3]])
OWN_RULE = {
    "drawn": sim.speculative_sampling(),
    "distinct": sim.without_replacement(),
    "chosen": sim.one_hot(),
    "dropped": sim.sample_and_match(),
}
TEXTS, LENGTH = 500, 3


def chain_of(vocabulary=6, seed=3, context=40):
    rows = np.random.default_rng(seed).gamma(0.5, size=(vocabulary, vocabulary)) + 1e-3
    return MarkovChain(rows / rows.sum(axis=1, keepdims=True), context=context)


def drafter_of(kind, model, picked):
    if kind == "confident":
        return ConfidentTrees(model, picked=picked)
    trees = {"static": TREE, "in turn": [TREE, Tree.chain(2), WIDE, Tree(parents=())]}[kind]
    return ToyTreeDrafter(
        model, trees, picked=picked, drop_below=0.15 if picked == "dropped" else 0.0
    )


KINDS = [
    *((kind, picked) for kind in ("static", "in turn") for picked in OWN_RULE),
    *(("confident", picked) for picked in ("drawn", "distinct", "chosen")),
]


@pytest.mark.parametrize(("kind", "picked"), KINDS)
def test_every_tree_drafter_does_what_drafters_do(kind, picked):
    target = chain_of()
    model = target.mixed(0.3, np.full(6, 1 / 6))
    check_drafter(lambda: drafter_of(kind, model, picked), target, [[1, 2, 0], [3]], depth=3)


def test_what_rides_along_is_read_and_changes_nothing():
    target = chain_of()
    model = target.mixed(0.3, np.full(6, 1 / 6))
    check_drafter(lambda: Riders(model, TREE), target, [[1, 2, 0], [3]], depth=3)
    options = {"target": target, "chain": Chain(gamma=3), "rule": sim.one_hot(), "rng": 3}
    riders = Riders(model, TREE)
    texts = [
        decode([1, 2, 0], drafter=drafter, max_tokens=500, record="rounds", **options)
        for drafter in (riders, ToyTreeDrafter(model, TREE, picked="chosen"))
    ]
    assert texts[0] == texts[1]
    assert len(riders.passes) == len(texts[0].rounds)
    full = TREE.nodes + 1 + riders.riders
    widths = [len(logits) for logits, _ in riders.passes]
    assert widths[0] == full
    # The last rounds have no room for them behind the text: 40 tokens of context, riders 4 deep.
    for width, one in zip(widths, texts[0].rounds, strict=True):
        room = 40 - 3 - one.start
        assert (width == full) == (room >= riders.riders)
    with np.errstate(divide="ignore"):
        rows = np.log(target.transitions)
    for (logits, kept), one in zip(riders.passes, texts[0].rounds, strict=True):
        assert len(kept) == one.emitted
        fed = [texts[0].tokens[one.start - 1 + i] for i in range(one.emitted)]
        np.testing.assert_array_equal(logits[kept], rows[fed])
        if len(logits) == full:
            np.testing.assert_array_equal(logits[-4:], rows[[0, 1, 2, 3]])


@pytest.mark.parametrize("stops", [(), (2,)])
@pytest.mark.parametrize("picked", OWN_RULE)
def test_nothing_is_lost_or_counted_twice(picked, stops, rng):
    target = chain_of(context=None)
    model = target.mixed(0.3, np.full(6, 1 / 6))
    drafter = drafter_of("in turn", model, picked)
    ends = set()
    for max_tokens in (1, 2, 3, 60, 61):
        text = decode(
            [1, 2, 0], target=target, drafter=drafter, chain=Chain(gamma=3), rule=OWN_RULE[picked],
            max_tokens=max_tokens, stop_tokens=stops, rng=rng, record="rounds",
        )  # fmt: skip
        assert target.tokens == [1, 2, 0, *text.tokens[:-1]]
        assert model.tokens == [1, 2, 0, *text.tokens[:-1]]
        assert target.passes == 1 + text.table.rounds
        assert len(text.tokens) == 1 + text.table.emitted <= max_tokens
        assert all(token not in stops for token in text.tokens[:-1])
        assert text.table.discarded == sum(r.accepted + 1 - r.emitted for r in text.rounds)
        assert text.ended == ("stop" if text.tokens[-1] in stops else "limit")
        ends.add(text.ended)
    assert ("stop" in ends) == bool(stops)


def test_nothing_behind_an_accepted_stop_token_is_tested():
    """The target says 1 and 0 in turn; the tree is right three times over, the second is a stop."""
    target = MarkovChain([[0.0, 1.0], [1.0, 0.0]])
    drafter = ToyTreeDrafter(target, Tree.from_widths([2, 1, 1]), picked="chosen")
    text = decode(
        [0], target=target, drafter=drafter, chain=Chain(gamma=3), rule=sim.greedy(),
        max_tokens=50, stop_tokens=[1], rng=0, record="rounds",
    )  # fmt: skip
    assert text.tokens == (1,)  # from prefill
    text = decode(
        [1], target=target, drafter=drafter, chain=Chain(gamma=3), rule=sim.greedy(),
        max_tokens=50, stop_tokens=[1], rng=0, record="rounds",
    )  # fmt: skip
    assert text.tokens == (0, 1)
    assert text.table == sim.AcceptanceTable(
        rounds=1, drafted=6, tested=(1, 0, 0), accepted=(1, 0, 0), discarded=1
    )


@cache
def law():
    return text_law(MarkovChain(THREE), [0], LENGTH)


@pytest.mark.parametrize(("kind", "picked"), KINDS)
def test_texts_follow_the_target(kind, picked):
    drafter = drafter_of(kind, MarkovChain(DRAFT), picked)
    counts = sampled_texts(
        drafter, MarkovChain(THREE), [0], rule=OWN_RULE[picked], length=LENGTH, count=TEXTS, depth=3
    )
    assert texts_fit(counts, law())


@pytest.mark.parametrize(
    ("drafter", "rule"),
    [
        (Pretender(MarkovChain(DRAFT), WIDE, pretends="distinct"), sim.without_replacement()),
        (Pretender(MarkovChain(DRAFT), WIDE, pretends="drawn"), sim.speculative_sampling()),
        (drafter_of("static", MarkovChain(DRAFT), "distinct"), sim.typical_acceptance(epsilon=0.3)),
    ],
)
def test_texts_of_a_wrong_pair_do_not(drafter, rule):
    counts = sampled_texts(
        drafter, MarkovChain(THREE), [0], rule=rule, length=LENGTH, count=TEXTS, depth=3,
        allow_lossy=True,
    )  # fmt: skip
    assert not texts_fit(counts, law())


def one_place(drafter, target, rule, rounds=1_500):
    """Counts of the first token of rounds in one context, where all are independent."""
    text = decode(
        [0], target=target, drafter=drafter, chain=Chain(gamma=1), rule=rule, rng=0,
        max_tokens=2 * rounds + 1, record="rounds", allow_lossy=True,
    )  # fmt: skip
    assert len(text.rounds) >= rounds  # of which the first count: their number was settled before
    first = [text.tokens[r.start] for r in text.rounds[:rounds]]
    return np.bincount(first, minlength=target.vocabulary)


@pytest.mark.parametrize(
    ("make", "rule", "picked"),
    [
        # The published case: without replacement on the top 2 gives (.833, 0, .167).
        (
            lambda model, tree: Pretender(model, tree, pretends="distinct"),
            sim.without_replacement(),
            "chosen",
        ),
        (
            lambda model, tree: ToyTreeDrafter(model, tree, picked="dropped", drop_below=0.2),
            sim.speculative_sampling(),
            "dropped",
        ),
    ],
    ids=["chosen as if drawn", "pruned by confidence"],
)
def test_negative_controls_emit_what_the_enumeration_says(make, rule, picked):
    pair = sim.IndependentContexts([[0.5, 0.3, 0.2]], [[0.6, 0.3, 0.1]])
    exact = children_law(
        [0.5, 0.3, 0.2], [0.6, 0.3, 0.1], 2, rule=rule, picked=picked,
        drop_below=0.2 if picked == "dropped" else 0.0,
    )  # fmt: skip
    drafter = make(pair.draft, Tree.from_widths([2]))
    if picked == "chosen":
        assert np.round([float(p) for p in exact.emitted], 3).tolist() == [0.833, 0.0, 0.167]
    else:
        with pytest.raises(ValueError, match="rule must be lossless for drafts that are dropped"):
            decode([0], target=pair.target, drafter=drafter, chain=Chain(gamma=1), rule=rule,
                   max_tokens=9, rng=0)  # fmt: skip
    counts = one_place(drafter, pair.target, rule)
    expected = np.array(exact.emitted, float) * counts.sum()
    some = expected > 1e-9
    assert not counts[~some].any()
    assert chisquare(counts[some], expected[some]).pvalue >= CHI_SQUARE_LIMIT
    wanted = np.array([0.5, 0.3, 0.2]) * counts.sum()
    assert chisquare(counts, wanted).pvalue < CHI_SQUARE_LIMIT


@pytest.mark.parametrize("picked", ["drawn", "distinct", "chosen"])
def test_acceptance_by_depth_is_the_exact_one(picked):
    """One context: a node with k children keeps one with the enumerated chance, at every depth."""
    target, draft = [0.5, 0.3, 0.2], [0.2, 0.7, 0.1]
    pair = sim.IndependentContexts([target], [draft])
    rule, rounds = OWN_RULE[picked], 800
    drafter = ToyTreeDrafter(pair.draft, Tree.from_widths([2, 3]), picked=picked)
    text = decode(
        [0], target=pair.target, drafter=drafter, chain=Chain(gamma=2), rule=rule, rng=1,
        max_tokens=3 * rounds + 1, record="rounds",
    )  # fmt: skip
    lengths = np.bincount([r.accepted for r in text.rounds[:rounds]], minlength=3)
    kept = [
        float(children_law(target, draft, count, rule=rule, picked=picked).acceptance)
        for count in (2, 3)
    ]
    expected = np.array([1 - kept[0], kept[0] * (1 - kept[1]), kept[0] * kept[1]]) * rounds
    some = expected > 1e-9
    assert not lengths[~some].any()
    assert chisquare(lengths[some], expected[some]).pvalue >= CHI_SQUARE_LIMIT
    assert chisquare(lengths[::-1] + 1, expected + 1).pvalue < CHI_SQUARE_LIMIT


def test_temperature_and_filters_reach_the_siblings(rng):
    drafter = ToyTreeDrafter(
        sim.IndependentContexts([[1.0, 0.0, 0.0]], [[0.6, 0.3, 0.1]]).draft,
        Tree.from_widths([3]),
        picked="distinct",
    )
    drafter.start([0], Sampling(top_k=2, temperature=0.5))
    drafter.settle(np.array([0]))
    draft = drafter.propose(2, lambda _: True, rng)
    assert sorted(draft.tokens) == [0, 1]  # of three wanted, two are possible
    np.testing.assert_allclose(draft.probs, [[0.8, 0.2, 0.0]] * 2)
    drafter.start([0], Sampling(temperature=0.0))
    drafter.settle(np.array([0]))
    assert drafter.propose(1, lambda _: True, rng).tokens.tolist() == [0]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda m: ToyTreeDrafter(m, TREE, picked="sorted"), "picked must be .*distinct; got 'sor"),
        (
            lambda m: ToyTreeDrafter(m, TREE, drop_below=0.1),
            "drop_below belongs to picked 'dropped'",
        ),
        (lambda m: ToyTreeDrafter(m, []), r"tree must be a Tree or several.*got \[\]"),
        (lambda m: ToyTreeDrafter(m, [TREE, 3]), "tree must be a Tree or several"),
        (
            lambda m: ToyTreeDrafter(m, Tree(parents=(-1,), ranks=(3,)), picked="chosen"),
            "at most the 3 tokens of the vocabulary as candidates behind one node; got 4",
        ),
        (
            lambda m: ToyTreeDrafter(m, Tree.from_widths([4]), picked="distinct"),
            "at most the 3 tokens of the vocabulary",
        ),
        (lambda m: ToyTreeDrafter(m, TREE).propose(1, None, None), "settle must come first"),
    ],
)
def test_bad_values_are_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make(MarkovChain(THREE))


class ChainOnly:
    """A target that reads chains and nothing else."""

    def __init__(self, model):
        self.vocabulary, self.context = model.vocabulary, model.context
        self.start, self.extend, self.rollback = model.start, model.extend, model.rollback


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rule": sim.block_verification()}, "rule must be one that can judge a tree.*got block"),
        ({"rule": sim.lenience(1.0)}, "rule must be one that can judge a tree"),
        ({"rule": sim.one_hot(), "record": "every_position"}, "must propose chains with record="),
        (
            {"rule": sim.one_hot(), "chain": Chain(gamma=3, stop=sim.ConfidenceThreshold(threshold=0.2))},
            "must propose chains with a chain that stops by confidence",
        ),
        (
            {"rule": sim.one_hot(), "target": ChainOnly(MarkovChain(THREE))},
            "target must be able to read a tree in one pass; ChainOnly is not",
        ),
    ],
)  # fmt: skip
def test_what_cannot_go_with_a_tree_is_one_sentence(change, sentence):
    options = {
        "target": MarkovChain(THREE), "drafter": ToyTreeDrafter(MarkovChain(DRAFT), TREE),
        "chain": Chain(gamma=3), "max_tokens": 9, "rng": 0,
    } | change  # fmt: skip
    with pytest.raises(ValueError, match=sentence) as refused:
        decode([0], **options)
    assert "\n" not in str(refused.value)


def test_throwing_away_makes_distinct_drafts_lossy_too():
    drafter = ToyTreeDrafter(MarkovChain(DRAFT), TREE, picked="distinct")
    stop = sim.ConfidenceThreshold(threshold=0.2, drops_last=True)
    with pytest.raises(ValueError, match="rule must be lossless for drafts that are dropped"):
        decode([0], target=MarkovChain(THREE), drafter=drafter, chain=Chain(gamma=2, stop=stop),
               rule=sim.without_replacement(), max_tokens=5, rng=0)  # fmt: skip
