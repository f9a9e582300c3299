"""Medusa's drafter: which token stands where, which state the heads read, and the loop around it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from drafter_conformance import check_drafter, sampled_texts, text_law, texts_fit
from hypothesis import given
from hypothesis import strategies as st
from small_models import CONTEXT

import simulator as sim
from real_runs.drafters.level_draws import draw_nodes, layout_of
from real_runs.drafters.medusa import Medusa
from real_runs.heads.medusa_heads import MedusaHeads, MedusaShape
from real_runs.heads.target_layers import output_rows_of
from real_runs.prompts import read_prompts
from real_runs.target import load_target

PROMPT = np.array([256, *b"while True:"])
TREE = sim.Tree.from_paths([(0,), (1,), (2,), (0, 0), (0, 1), (1, 0), (0, 0, 0), (0, 0, 2)])
CHAIN = sim.Tree.chain(3)
GREEDY = {"rule": sim.greedy(), "sampling": sim.Sampling(temperature=0.0), "rng": 0}


def always(_):
    return True


def some_heads(target, *, heads=3, tokens=None, noise=0.3, seed=0):
    """Untrained heads: the target's own output layer behind blocks of noise."""
    ids = np.arange(target.vocabulary) if tokens is None else np.asarray(tokens)
    output = output_rows_of(target.model, ids)
    shape = MedusaShape(width=output.shape[1], heads=heads, vocabulary=len(ids))
    module = MedusaHeads(shape, tokens=ids, output=output).to(output.dtype)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(
                noise * torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)
            )
    return module.requires_grad_(requires_grad=False)


@pytest.fixture(scope="module")
def target(small_target_folder):
    return load_target(str(small_target_folder), dtype="float64", keep_hidden=True)


@pytest.fixture(scope="module")
def tiny():
    return load_target("tiny", dtype="float64", keep_hidden=True)


def decode(target, drafter, prompt=PROMPT, *, gamma=3, max_tokens=40, **options):
    return sim.decode(
        prompt,
        target=target,
        drafter=drafter,
        chain=sim.Chain(gamma=gamma),
        max_tokens=max_tokens,
        **{**GREEDY, **options},
    )


class Watched:
    """The drafter, whose proposals are held against the text read anew."""

    def __init__(self, drafter, heads, other):
        self.drafter, self.heads, self.other = drafter, heads, other
        self.picked = drafter.picked
        self.read_pass = drafter.read_pass
        self.proposals = 0

    def start(self, prompt, sampling):
        self.drafter.start(prompt, sampling)
        self.text = prompt.tolist()

    def settle(self, tokens):
        self.drafter.settle(tokens)
        self.text += tokens.tolist()

    def propose(self, length, keep_going, rng):
        draft = self.drafter.propose(length, keep_going, rng)
        self.other.start(np.array(self.text[:-1]))  # the last token has no state yet
        with torch.inference_mode():
            logits = self.heads(self.other.hidden[-1:])[0].numpy()
        tree = self.drafter.tree
        ranked = self.heads.tokens[np.argsort(-logits, axis=1)]
        wanted = [ranked[len(way) - 1, way[-1]] for way in tree.paths if len(way) <= length]
        assert draft.tokens.tolist() == wanted
        if draft.parents is None:
            assert tree.parents == CHAIN.parents
        else:
            kept = [node for node, depth in enumerate(tree.depths) if depth <= length]
            assert [kept[parent] if parent >= 0 else -1 for parent in draft.parents] == [
                tree.parents[node] for node in kept
            ]
        assert draft.probs is None
        self.proposals += 1
        return draft


@pytest.mark.parametrize("tree", [TREE, CHAIN], ids=["tree", "chain"])
@pytest.mark.parametrize("tokens", [None, np.arange(5, 257, 3)], ids=["all", "reduced"])
@pytest.mark.parametrize("rule", [sim.greedy(), sim.one_hot()], ids=lambda rule: rule.name)
def test_every_node_is_its_heads_candidate_from_the_last_state(
    target, small_target_folder, tree, tokens, rule
):
    """In every round, up to the end of the context, where the tree is cut; also with fewer tokens."""
    heads = some_heads(target, tokens=tokens)
    other = load_target(str(small_target_folder), dtype="float64", keep_hidden=True)
    watched = Watched(Medusa(target, heads, tree), heads, other)
    sampling = sim.Sampling(temperature=0.0 if rule.name == "greedy" else 1.0)
    text = decode(target, watched, max_tokens=99, rule=rule, sampling=sampling)
    assert text.ended == "context"
    assert len(text.tokens) == CONTEXT - len(PROMPT) + 1
    assert watched.proposals == watched.drafter.forwards > 10


def test_a_state_of_another_row_would_be_noticed(target, small_target_folder):
    heads = some_heads(target)
    other = load_target(str(small_target_folder), dtype="float64", keep_hidden=True)
    drafter = Medusa(target, heads, TREE)
    watched = Watched(drafter, heads, other)
    watched.read_pass = lambda logits, kept: drafter.read_pass(logits, kept + 1)
    with pytest.raises(AssertionError):
        decode(target, watched)


@pytest.mark.parametrize("picked", ["chosen", "drawn", "distinct"])
@pytest.mark.parametrize("tree", [TREE, CHAIN], ids=["tree", "chain"])
def test_greedy_texts_of_the_tiny_target_are_the_plain_ones(tiny, tree, picked):
    drafter = Medusa(tiny, some_heads(tiny, noise=0.02), tree, picked=picked)
    accepted = 0
    for prompt in read_prompts("bundled", target="tiny").prompts[::26]:
        tokens = tiny.tokenizer.encode(prompt.prompt)
        plain = sim.decode(tokens, target=tiny, max_tokens=30, **GREEDY)
        sampling = sim.Sampling(temperature=0.0 if picked == "chosen" else 1.0)
        text = decode(tiny, drafter, tokens, max_tokens=30, sampling=sampling)
        assert text.tokens == plain.tokens
        accepted += sum(text.table.accepted)
    assert accepted > 0  # untrained heads repeat the target's last choice: a space behind a space


def test_what_is_drawn_is_judged_by_its_own_rule_and_no_other(target):
    heads = some_heads(target)
    rules = {
        "drawn": sim.speculative_sampling(),
        "distinct": sim.without_replacement(),
        "chosen": sim.one_hot(),
    }
    sampling = sim.Sampling(temperature=1.0)
    for picked, rule in rules.items():
        drafter = Medusa(target, heads, TREE, picked=picked)
        text = decode(target, drafter, rule=rule, sampling=sampling)
        assert len(text.tokens) == 40
        for other, wrong in rules.items():
            if other != picked and wrong.name != "one_hot":
                with pytest.raises(ValueError, match="rule must be lossless for drafts that are"):
                    decode(target, drafter, rule=wrong, sampling=sampling)
    lossy = {"rule": sim.typical_acceptance(), "sampling": sampling}
    with pytest.raises(ValueError, match="typical_acceptance is not"):
        decode(target, Medusa(target, heads, TREE), **lossy)
    text = decode(target, Medusa(target, heads, TREE), allow_lossy=True, **lossy)
    assert len(text.tokens) == 40


@pytest.mark.parametrize("picked", ["drawn", "distinct"])
def test_drawn_rows_are_the_heads_own_distribution(target, picked):
    ids = np.arange(5, 257, 3)
    heads = some_heads(target, tokens=ids)
    sampling = sim.Sampling(temperature=0.7, top_k=20)
    drafter = Medusa(target, heads, TREE, picked=picked)
    target.start(PROMPT)
    drafter.start(PROMPT, sampling)
    draft = drafter.propose(3, always, np.random.default_rng(0))
    with torch.inference_mode():
        rows = sampling.probabilities(heads(target.hidden[-1:])[0].numpy())
    expected = np.zeros((3, 257))
    expected[:, ids] = rows
    for node in range(draft.tokens.size):
        depth = TREE.depths[node]
        np.testing.assert_allclose(draft.probs[node], expected[depth - 1], atol=1e-9)
        assert draft.probs[node, draft.tokens[node]] > 0
    assert draft.parents.tolist() == list(TREE.parents)


def test_a_chain_stops_by_the_heads_own_probability(target):
    heads = some_heads(target, noise=0.1)
    drafter = Medusa(target, heads, CHAIN)
    target.start(PROMPT)
    drafter.start(PROMPT, sim.Sampling())
    seen = []

    def twice(confidence):
        seen.append(confidence)
        return len(seen) < 2

    draft = drafter.propose(3, twice, np.random.default_rng(0))
    with torch.inference_mode():
        best = heads(target.hidden[-1:])[0].softmax(dim=1).max(dim=1)
    assert draft.tokens.tolist() == best.indices[:2].tolist()
    np.testing.assert_allclose(seen, best.values[:2], atol=1e-12)
    stop = sim.ConfidenceThreshold(threshold=0.3)
    chain = sim.Chain(gamma=3, stop=stop)
    text = sim.decode(PROMPT, target=target, drafter=drafter, chain=chain, max_tokens=40, **GREEDY)
    plain = sim.decode(PROMPT, target=target, max_tokens=40, **GREEDY)
    assert text.tokens == plain.tokens


def test_what_heads_and_target_cannot_do_is_refused(target, small_target_folder):
    heads = some_heads(target, tokens=np.arange(4))
    forgetful = load_target(str(small_target_folder))
    for wrong, message in (
        (
            (forgetful, heads, CHAIN),
            "target must keep the states that heads read; load it with keep",
        ),
        ((target, heads, sim.Tree.chain(4)), r"tree must have a depth of 1 to 3, .*; got 4\."),
        ((target, heads, sim.Tree(parents=())), r"tree must have a depth of 1 to 3, .*; got 0\."),
        ((target, heads, sim.Tree.from_widths([5])), r"tree must have ranks below 4, .*; got 4\."),
    ):
        with pytest.raises(ValueError, match=message):
            Medusa(*wrong)
    with pytest.raises(ValueError, match="picked must be chosen, drawn or distinct; got 'dropped'"):
        Medusa(target, heads, CHAIN, picked="dropped")
    drafter = Medusa(target, heads, CHAIN)
    with pytest.raises(ValueError, match="start must come first"):
        drafter.propose(3, always, np.random.default_rng(0))
    target.start(PROMPT)
    with pytest.raises(ValueError, match=r"must have read the prompt of 3 tokens .* it holds 12\."):
        drafter.start(PROMPT[:3], sim.Sampling())


class StatefulChain(sim.MarkovChain):
    """A Markov chain that keeps its states: its last token, as a unit vector."""

    keeps_hidden = True

    @property
    def length(self):
        return len(self.tokens)

    @property
    def hidden(self):
        last = self.tokens[len(self.tokens) - self._pass :]
        return torch.eye(self.vocabulary, dtype=torch.float64)[last]

    def heads(self, count):
        """Heads that are right: head k gives the chances of the token k + 2 steps on."""
        module = MedusaHeads(
            MedusaShape(width=self.vocabulary, heads=count, vocabulary=self.vocabulary),
            tokens=np.arange(self.vocabulary),
            output=torch.zeros(self.vocabulary, self.vocabulary, dtype=torch.float64),
        ).to(torch.float64)
        with torch.no_grad():
            for head in range(count):
                ahead = np.linalg.matrix_power(self.transitions, head + 2)
                module.outputs[head].copy_(torch.from_numpy(np.log(ahead).T))
        return module


MATRIX = [
    [0.05, 0.6, 0.3, 0.05],
    [0.2, 0.1, 0.15, 0.55],
    [0.7, 0.1, 0.1, 0.1],
    [0.1, 0.2, 0.6, 0.1],
]


@pytest.mark.parametrize("picked", ["chosen", "drawn", "distinct"])
@pytest.mark.parametrize("tree", [TREE, CHAIN], ids=["tree", "chain"])
def test_it_does_what_every_drafter_must(tree, picked):
    chain = StatefulChain(MATRIX, context=40)
    heads = chain.heads(3)
    check_drafter(lambda: Medusa(chain, heads, tree, picked=picked), chain, [[1, 2, 0, 1], [3]])


@pytest.mark.parametrize(
    ("picked", "rule"),
    [
        ("chosen", sim.one_hot()),
        ("chosen", sim.sample_and_match()),
        ("drawn", sim.speculative_sampling()),
        ("distinct", sim.without_replacement()),
    ],
)
def test_drawn_texts_follow_the_target(picked, rule):
    chain = StatefulChain([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]])
    tree = sim.Tree.from_widths([2, 2])
    drafter = Medusa(chain, chain.heads(2), tree, picked=picked)
    options = {"rule": rule, "length": 3, "depth": 2, "count": 1_000}
    counts = sampled_texts(drafter, chain, [0, 1], **options)
    assert texts_fit(counts, text_law(chain, [0, 1], 3))
    if picked == "chosen":  # the negative control: a lossy rule
        options |= {"rule": sim.typical_acceptance(), "allow_lossy": True}
        counts = sampled_texts(drafter, chain, [0, 1], **options)
        assert not texts_fit(counts, text_law(chain, [0, 1], 3))


ROWS = np.array([[0.5, 0.3, 0.2, 0.0], [0.1, 0.0, 0.6, 0.3]])
SIBLINGS = sim.Tree.from_paths([(0,), (1,), (0, 0), (0, 1), (1, 0)])


def pairs(distinct, runs=20_000):
    """How often the first node's siblings were (a, b), and the second level's."""
    layout, rng = layout_of(SIBLINGS, 2), np.random.default_rng(7)
    counts = np.zeros((2, 4, 4))
    for _ in range(runs):
        nodes = draw_nodes(ROWS, layout, distinct=distinct, rng=rng)
        assert nodes.places.size == 5
        counts[0, nodes.places[0], nodes.places[1]] += 1
        counts[1, nodes.places[2], nodes.places[3]] += 1
    return counts


@pytest.mark.parametrize("distinct", [False, True])
def test_siblings_are_drawn_with_or_without_replacement(distinct):
    """Chi-square of all pairs: at most 2 × 8 degrees of freedom, P(above 80) < 1e-9."""
    counts = pairs(distinct)
    law = ROWS[:, :, None] * ROWS[:, None, :]
    other = law * (1 - np.eye(4)) / (1 - ROWS)[:, :, None]
    right, wrong = (other, law) if distinct else (law, other)
    seen, runs = right > 0, counts[0].sum()
    assert not counts[~seen].any()
    assert (((counts - runs * right) ** 2)[seen] / (runs * right[seen])).sum() < 80
    either = wrong > 0
    assert (((counts - runs * wrong) ** 2)[either] / (runs * wrong[either])).sum() > 200


def test_a_child_that_cannot_be_drawn_is_missing_with_its_own():
    """Two columns are possible and three children asked for; the third one's children go as well."""
    tree = sim.Tree.from_paths([(0,), (1,), (2,), (0, 0), (2, 0), (2, 0, 0)])
    rows = np.array([[0.0, 0.5, 0.5], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    nodes = draw_nodes(rows, layout_of(tree, 3), distinct=True, rng=np.random.default_rng(0))
    assert sorted(nodes.places[:2].tolist()) == [1, 2]
    assert nodes.places[2:].tolist() == [0]
    assert nodes.parents.tolist() == [-1, -1, 0]
    assert nodes.levels.tolist() == [0, 0, 1]
    wide = sim.Tree.from_widths([5])  # more children than columns
    nodes = draw_nodes(rows[:1], layout_of(wide, 1), distinct=True, rng=np.random.default_rng(0))
    assert sorted(nodes.places.tolist()) == [1, 2]


@given(widths=st.lists(st.integers(1, 3), min_size=1, max_size=4), depth=st.integers(1, 4))
def test_a_cut_tree_is_the_tree_of_the_shorter_paths(widths, depth):
    tree = sim.Tree.from_widths(widths)
    layout = layout_of(tree, depth)
    cut = sim.Tree.from_paths([each for each in tree.paths if len(each) <= depth])
    assert tuple(layout.parents) == cut.parents
    assert tuple(layout.ranks) == tuple(layout.siblings) == cut.ranks
    assert tuple(layout.levels + 1) == cut.depths
