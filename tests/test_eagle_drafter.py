"""The EAGLE drafter on the tiny target, with a head of random weights: losslessness needs no training."""

from __future__ import annotations

import numpy as np
import pytest
from drafter_conformance import check_drafter
from scipy import stats

import simulator as sim

torch = pytest.importorskip("torch")

from real_runs.drafters.eagle import Eagle  # noqa: E402
from real_runs.drafters.eagle_growth import _candidates  # noqa: E402
from real_runs.heads.eagle_head import EagleHead, EagleShape  # noqa: E402
from real_runs.heads.target_layers import embedding_of, output_rows_of  # noqa: E402
from real_runs.target import load_target  # noqa: E402

TREE = sim.Tree.from_paths(
    [(0,), (1,), (2,), (0, 0), (0, 1), (1, 0), (0, 0, 0), (0, 0, 1), (1, 0, 0)]
)
SHAPES = {
    "loop's chain": {},
    "chain": {"tree": sim.Tree.chain(3)},
    "static": {"tree": TREE},
    "dynamic": {"nodes": 9, "expand": 3},
}
PROMPT = np.frombuffer(b"def mean(values):\n    return sum(", dtype=np.uint8).astype(np.int64)


@pytest.fixture(scope="module")
def target():
    return load_target("tiny", dtype="float64", keep_hidden=True)


def head_of(target, *, attention_heads=6, tokens=None):
    """A head of random weights over all tokens, or some."""
    torch.manual_seed(3)
    tokens = np.arange(target.vocabulary) if tokens is None else tokens
    width = target.model.config.hidden_size
    made = EagleHead(
        EagleShape(width=width, attention_heads=attention_heads, inner=64, vocabulary=tokens.size),
        tokens=tokens,
        embedding=embedding_of(target.model),
        output=output_rows_of(target.model, tokens),
    )
    return made.double().eval()


@pytest.fixture(scope="module")
def head(target):
    return head_of(target)


def text_of(target, drafter, *, depth, rule, rng=0, tokens=40, temperature=0.0):
    return sim.decode(
        PROMPT,
        target=target,
        drafter=drafter,
        chain=sim.Chain(gamma=depth),
        rule=rule,
        sampling=sim.Sampling(temperature=temperature),
        max_tokens=tokens,
        rng=rng,
        record="rounds",
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_greedy_text_is_that_of_plain_decoding(target, head, shape):
    plain = sim.decode(PROMPT, target=target, rule=sim.greedy(), max_tokens=40, rng=0)
    drafter = Eagle(target, head, **SHAPES[shape])
    text = text_of(target, drafter, depth=3, rule=sim.greedy())
    assert text.tokens == plain.tokens
    assert {entry.drafted for entry in text.rounds} == {3 if "chain" in shape else 9}
    assert drafter.forwards == 3 * len(text.rounds)


def level_by_level(head, tokens, states):
    """Logits behind any path of drafted tokens, by the head's own forward over everything."""

    def behind(path):
        ids = torch.tensor([*tokens, *path])[None]
        known = torch.cat([states, states.new_zeros(len(path), states.shape[1])])[None]
        with torch.inference_mode():
            return head.logits(head(ids, known, len(path) + 1)[-1])[0, -1].numpy()

    return behind


@pytest.fixture(scope="module")
def read(target, head):
    """A drafter that has read a prompt, and the logits behind any path of tokens that it may draft."""
    first = int(target.start(PROMPT).argmax())
    states = target.hidden.clone()
    return first, level_by_level(head, [*PROMPT[1:].tolist(), first], states)


def begun(target, head, first, **shape):
    target.start(PROMPT)
    drafter = Eagle(target, head, **shape)
    drafter.start(PROMPT, sim.Sampling(temperature=1.0))
    drafter.settle(np.array([first]))
    return drafter


def paths_of(draft):
    """The tokens on the way to each node."""
    paths = []
    for token, parent in zip(draft.tokens.tolist(), draft.parents.tolist(), strict=True):
        paths.append(((*paths[parent],) if parent >= 0 else ()) + (token,))
    return paths


def test_a_static_tree_holds_the_likeliest_tokens_in_order_of_rank(target, head, read):
    first, behind = read
    draft = begun(target, head, first, tree=TREE).propose(3, bool, np.random.default_rng(0))
    found = {}
    for path, ranks in zip(paths_of(draft), TREE.paths, strict=True):
        order = np.argsort(-behind(list(path[:-1])), kind="stable")
        assert order[ranks[-1]] == path[-1]
        found[ranks] = path
    assert len(found) == TREE.nodes
    shallow = begun(target, head, first, tree=TREE).propose(2, bool, np.random.default_rng(0))
    assert paths_of(shallow) == [path for path in paths_of(draft) if len(path) <= 2]


def test_a_dynamic_tree_holds_the_nodes_of_highest_value(target, head, read):
    first, behind = read
    expand, nodes = 3, 9
    offered, above = {}, {(): 1.0}
    for _ in range(3):
        level = {}
        for path, worth in above.items():
            logits = behind(list(path))
            likely = np.exp(logits - logits.max())
            likely /= likely.sum()
            for token in np.argsort(-likely, kind="stable")[:expand]:
                level[(*path, int(token))] = worth * likely[token]
        offered |= level
        above = dict(sorted(level.items(), key=lambda item: -item[1])[:expand])
    best = {path for path, _ in sorted(offered.items(), key=lambda item: -item[1])[:nodes]}
    drafter = begun(target, head, first, nodes=nodes, expand=expand)
    assert set(paths_of(drafter.propose(3, bool, np.random.default_rng(0)))) == best


@pytest.mark.parametrize("picked", ["drawn", "distinct"])
def test_a_drawn_sibling_is_the_next_draw_whatever_its_rank(target, head, read, picked):
    """A rule takes the second child for the second draw; the third has another law given the first."""
    first, _ = read
    shapes = [
        sim.Tree.from_paths([(0,), (1,), (0, 0), (0, 1)]),
        sim.Tree.from_paths([(0,), (7,), (0, 3), (0, 5)]),
        sim.Tree(parents=(-1, -1, 0, 0), ranks=(3, 0, 9, 1)),
    ]
    drafts = [
        begun(target, head, first, tree=tree, picked=picked).propose(
            2, bool, np.random.default_rng(4)
        )
        for tree in shapes
    ]
    assert drafts[0].tokens.tolist() == drafts[1].tokens.tolist() == drafts[2].tokens.tolist()


@pytest.mark.parametrize("picked", ["drawn", "distinct"])
def test_drawn_siblings_carry_the_distribution_they_came_from(target, head, read, picked):
    first, behind = read
    drafter = begun(target, head, first, tree=TREE, picked=picked)
    draft = drafter.propose(3, bool, np.random.default_rng(1))
    assert len(draft.tokens) == TREE.nodes
    for node, path in enumerate(paths_of(draft)):
        expected = sim.Sampling(temperature=1.0).probabilities(behind(list(path[:-1])))
        np.testing.assert_allclose(draft.probs[node], expected, atol=1e-9)
    for below in TREE.children:
        siblings = [int(draft.tokens[node]) for node in below]
        if picked == "distinct":
            assert len(set(siblings)) == len(siblings)


def pairs_drawn(picked, logits, rng, rounds):
    """How often each ordered pair of columns was drawn, [n, n]."""
    counts = np.zeros((logits.size, logits.size))
    row = torch.from_numpy(logits)[None]
    for _ in range(rounds):
        ((places, _),) = _candidates(
            row, [2], picked=picked, sampling=sim.Sampling(temperature=1.0), rng=rng
        )
        counts[places[0], places[1]] += 1
    return counts


def test_siblings_drawn_without_replacement_have_the_law_of_successive_draws():
    """P(x, then y) = Q(x) Q(y) / (1 - Q(x)), by chi-square at 1e-8; with replacement it is another."""
    logits = np.log([0.5, 0.25, 0.15, 0.1])
    law = np.exp(logits)
    expected = 4000 * law[:, None] * law[None] / (1.0 - law[:, None])
    np.fill_diagonal(expected, 0.0)
    counts = pairs_drawn("distinct", logits, np.random.default_rng(5), 4000)
    assert np.trace(counts) == 0
    off = ~np.eye(4, dtype=bool)
    assert stats.chisquare(counts[off], expected[off]).pvalue > 1e-8
    replaced = pairs_drawn("drawn", logits, np.random.default_rng(5), 4000)
    assert stats.chisquare(replaced.ravel(), 4000 * np.outer(law, law).ravel()).pvalue > 1e-8
    share = replaced[off] * 4000 / replaced[off].sum()
    assert stats.chisquare(share, expected[off]).pvalue < 1e-8  # the negative control


@pytest.mark.parametrize(
    ("shape", "picked", "rule"),
    [
        ("chain", "drawn", sim.speculative_sampling()),
        ("static", "drawn", sim.speculative_sampling()),
        ("static", "distinct", sim.without_replacement()),
        ("static", "chosen", sim.one_hot()),
        ("dynamic", "chosen", sim.one_hot()),
    ],
)
def test_sampled_runs_count_what_they_draft(target, head, shape, picked, rule):
    drafter = Eagle(target, head, picked=picked, **SHAPES[shape])
    text = text_of(target, drafter, depth=3, rule=rule, temperature=1.0, tokens=60)
    again = text_of(target, drafter, depth=3, rule=rule, temperature=1.0, tokens=60)
    assert text.tokens == again.tokens
    assert len(text.tokens) == 60


@pytest.fixture(scope="module")
def small(small_target_folder):
    return load_target(str(small_target_folder), dtype="float64", keep_hidden=True)


@pytest.mark.parametrize(
    ("shape", "picked"),
    [
        ("loop's chain", "drawn"),
        ("chain", "chosen"),
        ("static", "chosen"),
        ("static", "drawn"),
        ("static", "distinct"),
        ("dynamic", "chosen"),
    ],
)
def test_it_does_what_every_drafter_must(small, shape, picked):
    some = np.arange(0, small.vocabulary, 2)
    check_drafter(
        lambda: Eagle(
            small,
            head_of(small, attention_heads=2, tokens=some),
            picked=picked,
            **SHAPES[shape],
        ),
        small,
        [[3, 14, 15]],
        max_tokens=12,
        useful=False,
    )


def test_rules_that_are_not_exact_are_refused(target, head):
    with pytest.raises(ValueError, match="rule must be lossless for drafts that are chosen"):
        text_of(target, Eagle(target, head, tree=TREE), depth=3, rule=sim.without_replacement())


def test_what_cannot_be_is_refused_in_a_sentence(target, head):
    with pytest.raises(ValueError, match="must be chosen in a dynamic tree"):
        Eagle(target, head, nodes=4, expand=2, picked="drawn")
    with pytest.raises(ValueError, match="by its shape, or by nodes and expand"):
        Eagle(target, head, tree=TREE, nodes=4, expand=2)
    with pytest.raises(ValueError, match="picked must be chosen, drawn or distinct"):
        Eagle(target, head, picked="dropped")
    with pytest.raises(ValueError, match="tree must have one node"):
        Eagle(target, head, tree=sim.Tree(parents=()))
    with pytest.raises(ValueError, match="loaded with keep_hidden"):
        Eagle(load_target("tiny", dtype="float64"), head)
