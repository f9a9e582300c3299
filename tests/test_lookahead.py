"""Lookahead against a direct implementation, and in the loop."""

from __future__ import annotations

import numpy as np
import pytest
from drafter_conformance import check_drafter, sampled_texts, text_law, texts_fit
from hypothesis import given, settings
from hypothesis import strategies as st

import simulator as sim
from real_runs.drafters import Lookahead, PromptLookup
from real_runs.drafters.lookahead import window_parents
from real_runs.drafters.ngram_pool import NgramPool, merged
from real_runs.prompts import read_prompts
from real_runs.target import load_target
from simulator._toy import ToyModel, contexts_at

GREEDY = {"rule": sim.greedy(), "sampling": sim.Sampling(temperature=0.0)}


class Moody(ToyModel):
    """What follows depends on the last token and on the position: a wrong one of either is noticed."""

    def __init__(self, vocabulary=5, contexts=3, seed=0, context=None, sharpness=2.0):
        super().__init__(vocabulary, context)
        logits = sharpness * np.random.default_rng(seed).normal(
            size=(contexts, vocabulary, vocabulary)
        )
        weights = np.exp(logits)
        self.table = weights / weights.sum(axis=-1, keepdims=True)

    def rows(self, tokens, positions):
        contexts = contexts_at(positions, contexts=len(self.table), seed=1)
        return self.table[contexts, tokens]


class Direct:
    """Lookahead as one would explain it: every guess read alone, the pool a list of all n-grams."""

    def __init__(self, model, *, window, ngram, candidates, from_prompt):
        self.model, self.window, self.ngram = model, window, ngram
        self.candidates, self.from_prompt = candidates, from_prompt

    def start(self, prompt, first):
        self.text = [*prompt, first]
        tail = prompt[-(self.ngram - 1) * self.window :]
        guesses = [tail[i % len(tail)] for i in range((self.ngram - 1) * self.window)]
        # columns[w][k]: the guess of level k in column w
        self.columns = [guesses[w :: self.window] for w in range(self.window)]
        self.seen = []
        if self.from_prompt:
            self.seen = [
                tuple(self.text[i : i + self.ngram]) for i in range(len(self.text) - self.ngram + 1)
            ]

    def proposals(self):
        """All candidates, the latest first."""
        found = []
        for ngram in reversed(self.seen):
            if ngram[0] == self.text[-1] and ngram[1:] not in found:
                found.append(ngram[1:])
        return found[: self.candidates]

    def passengers(self):
        """The window by levels, without the text's last token."""
        return [
            self.columns[w][k]
            for k in range(self.ngram - 1)
            for w in range(self.window)
            if k + w > 0
        ]

    def step(self, emitted):
        """What a round that emitted these tokens leaves behind."""
        self.columns[0][0] = self.text[-1]
        level0 = [column[0] for column in self.columns]
        ended = []
        for w, column in enumerate(self.columns):
            after = self.model.start([*self.text[:-1], *level0[:w], *column])
            ended.append((*column, int(after.argmax())))
        self.seen += ended
        moved = [list(ngram[1:]) for ngram in ended]
        by = (len(emitted) - 1) % self.window
        self.columns = moved[by:] + moved[:by]
        for token in emitted:
            self.text.append(token)
            if self.from_prompt and len(self.text) >= self.ngram:
                self.seen.append(tuple(self.text[-self.ngram :]))


class Compared:
    """The drafter, held against the direct implementation before and after every round."""

    picked = "chosen"

    def __init__(self, drafter, direct):
        self.drafter, self.direct = drafter, direct
        self.rounds = self.offered = 0
        self.read_pass = drafter.read_pass

    def start(self, prompt, sampling):
        self.drafter.start(prompt, sampling)
        self.prompt = prompt.tolist()

    def settle(self, tokens):
        self.drafter.settle(tokens)
        if self.prompt is not None:
            self.direct.start(self.prompt, int(tokens[0]))
            self.prompt = None
        else:
            self.direct.step(tokens.tolist())
            self.rounds += 1
        pool = {ngram[0]: [] for ngram in self.direct.seen}
        for ngram in reversed(self.direct.seen):
            found = pool[ngram[0]]
            if ngram[1:] not in found and len(found) < self.direct.candidates:
                found.append(ngram[1:])
        assert {first: self.drafter.pool.after(first) for first in pool} == pool
        assert len(self.drafter.pool) == sum(map(len, pool.values()))

    def propose(self, length, keep_going, rng):
        draft = self.drafter.propose(length, keep_going, rng)
        judged = draft.judged
        wanted = {candidate[:length] for candidate in self.direct.proposals()}
        children = set(draft.parents[:judged].tolist())
        leaves = [node for node in range(judged) if node not in children]
        assert {tuple(draft.tokens[path(draft, leaf)].tolist()) for leaf in leaves} == wanted
        paths = [tuple(draft.tokens[path(draft, node)].tolist()) for node in range(judged)]
        assert len(set(paths)) == judged, "no two nodes may stand for the same beginning"
        assert draft.tokens[judged:].tolist() == self.direct.passengers()
        self.offered += judged
        return draft


def path(draft, node):
    nodes = [node]
    while draft.parents[nodes[0]] >= 0:
        nodes.insert(0, int(draft.parents[nodes[0]]))
    return nodes


@given(
    window=st.integers(1, 5),
    ngram=st.integers(2, 5),
    candidates=st.integers(1, 4),
    from_prompt=st.booleans(),
    seed=st.integers(0, 50),
    warm=st.booleans(),
    prompt=st.lists(st.integers(0, 4), min_size=1, max_size=9),
)
@settings(max_examples=120)
def test_a_step_is_that_of_a_direct_implementation(
    window, ngram, candidates, from_prompt, seed, warm, prompt
):
    """Same window, same pool, same candidates in every round, greedy and drawn."""
    shape = {
        "window": window, "ngram": ngram, "candidates": candidates, "from_prompt": from_prompt,
    }  # fmt: skip
    compared = Compared(Lookahead(**shape), Direct(Moody(seed=seed), **shape))
    options = {"rule": sim.one_hot()} if warm else GREEDY
    text = sim.decode(
        prompt,
        target=Moody(seed=seed),
        drafter=compared,
        chain=sim.Chain(gamma=ngram - 1),
        max_tokens=25,
        rng=seed,
        **options,
    )
    assert compared.rounds == text.table.rounds > 4
    plain = sim.decode(prompt, target=Moody(seed=seed), max_tokens=25, rng=seed, **GREEDY)
    if not warm:
        assert text.tokens == plain.tokens


@pytest.mark.parametrize("wrong", ["unmoved", "older first", "a level late"])
def test_another_window_or_pool_is_noticed(wrong, monkeypatch):
    shape = {"window": 4, "ngram": 4, "candidates": 2, "from_prompt": False}
    drafter = Lookahead(**shape)
    if wrong == "unmoved":
        monkeypatch.setattr(np, "roll", lambda array, *_, **__: array.copy())
    elif wrong == "older first":
        after = drafter.pool.after
        monkeypatch.setattr(drafter.pool, "after", lambda first: after(first)[::-1])
    else:
        read = drafter.read_pass
        drafter.read_pass = lambda logits, kept: read(np.roll(logits, 1, axis=0), kept)
    failed = False
    for seed in range(8):
        try:
            sim.decode(
                [0, 1, 2, 3],
                target=Moody(seed=seed),
                drafter=Compared(drafter, Direct(Moody(seed=seed), **shape)),
                chain=sim.Chain(gamma=3),
                max_tokens=25,
                rng=0,
                **GREEDY,
            )
        except AssertionError:
            failed = True
    assert failed


def test_passengers_see_what_the_window_says():
    """Level 0 is a chain; below it every token sees its column, and level 0 up to that."""
    window, ngram = 4, 5
    parents = window_parents(window, ngram)
    assert parents.size == window * (ngram - 1) - 1
    for number in range(parents.size):
        level, column = divmod(number + 1, window)
        wanted = [*range(1, column + 1), *(k * window + column for k in range(1, level + 1))]
        way = [number]
        while parents[way[0]] >= 0:
            way.insert(0, int(parents[way[0]]))
        assert [entry + 1 for entry in way] == wanted


def test_near_the_end_of_the_context_the_window_stays_at_home():
    for context in range(10, 24):
        text = sim.decode(
            [0, 1, 2],
            target=Moody(context=context),
            drafter=Lookahead(window=6, ngram=4, candidates=3),
            chain=sim.Chain(gamma=3),
            max_tokens=99,
            rng=0,
            **GREEDY,
        )
        plain = sim.decode([0, 1, 2], target=Moody(context=context), max_tokens=99, rng=0, **GREEDY)
        assert text.ended == plain.ended == "context"
        assert text.tokens == plain.tokens


def test_a_new_text_begins_with_nothing_from_the_last_one():
    drafter = Lookahead(window=3, ngram=3, candidates=3, from_prompt=True)
    options = {
        "target": Moody(), "drafter": drafter, "chain": sim.Chain(gamma=2),
        "max_tokens": 30, "rng": 0, **GREEDY,
    }  # fmt: skip
    first = sim.decode([3, 1], **options)
    sim.decode([0, 4, 4, 2], **options)
    assert sim.decode([3, 1], **options) == first


@pytest.mark.parametrize("from_prompt", [False, True])
def test_it_does_what_every_drafter_must(from_prompt):
    check_drafter(
        lambda: Lookahead(window=3, ngram=4, candidates=3, from_prompt=from_prompt),
        Moody(context=40),
        [[1, 2, 0, 1], [3]],
    )


@pytest.mark.parametrize("rule", [sim.one_hot(), sim.sample_and_match()], ids=lambda r: r.name)
def test_drawn_texts_follow_the_target(rule):
    model, prompt = Moody(vocabulary=3, sharpness=0.7), [0, 1, 2]
    drafter = Lookahead(window=2, ngram=3, candidates=2, from_prompt=True)
    counts = sampled_texts(drafter, model, prompt, rule=rule, length=3, count=1_000, depth=2)
    assert texts_fit(counts, text_law(model, prompt, 3))
    assert not texts_fit(counts, text_law(Moody(vocabulary=3, sharpness=0.7, seed=1), prompt, 3))


@pytest.fixture(scope="module")
def tiny():
    return load_target("tiny", dtype="float64")


def test_on_the_tiny_target_greedy_is_token_for_token_and_pays(tiny):
    """W = 5, N = 4, G = 5 without the prompt's n-grams; 1.3 tokens per round is the least it must give."""
    rounds = accepted = 0
    for prompt in read_prompts("bundled", target="tiny").prompts[::13]:
        options = {
            "target": tiny, "max_tokens": 60, "rng": 0,
            "stop_tokens": tiny.tokenizer.stop_tokens, **GREEDY,
        }  # fmt: skip
        tokens = tiny.tokenizer.encode(prompt.prompt)
        plain = sim.decode(tokens, **options)
        drafter = Lookahead(window=5, ngram=4, candidates=5)
        text = sim.decode(tokens, drafter=drafter, chain=sim.Chain(gamma=3), **options)
        assert text.tokens == plain.tokens
        rounds += text.table.rounds
        accepted += sum(text.table.accepted)
    assert 1 + accepted / rounds > 1.3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"window": 0}, r"window must be a whole number in \[1, 256\]; got 0\."),
        ({"ngram": 1}, r"ngram must be a whole number in \[2, 32\]; got 1\."),
        ({"candidates": 0}, r"candidates must be a whole number in \[1, 256\]; got 0\."),
        ({"window": 2.5}, r"window must be a whole number in \[1, 256\]; got 2\.5\."),
    ],
)
def test_sizes_below_the_least_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Lookahead(**{"window": 3, "ngram": 3, "candidates": 3, **change})


def test_the_pool_is_bounded_and_keeps_the_latest():
    pool = NgramPool(per_token=3, tokens=4)
    rng = np.random.default_rng(0)
    latest = {}
    for first, *rest in rng.integers(0, 7, size=(500, 3)).tolist():
        pool.add(first, tuple(rest))
        found = latest.pop(first, [])
        latest[first] = [tuple(rest), *(each for each in found if each != tuple(rest))][:3]
        while len(latest) > 4:
            del latest[next(iter(latest))]
        assert len(pool) <= 12
        assert [pool.after(token) for token in range(7)] == [
            latest.get(token, []) for token in range(7)
        ]
    pool.clear()
    assert len(pool) == 0


@given(
    candidates=st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=4).map(tuple), max_size=6),
    length=st.integers(1, 5),
)
def test_merged_candidates_are_all_there_and_none_is_twice(candidates, length):
    tokens, parents = merged(candidates, length)
    ways = []
    for token, parent in zip(tokens, parents, strict=True):
        ways.append((*(ways[parent] if parent >= 0 else ()), token))
    begun = {each[:end] for each in candidates for end in range(1, min(len(each), length) + 1)}
    assert len(set(ways)) == len(ways)
    assert set(ways) == begun


def test_with_n_grams_of_the_text_alone_it_finds_what_prompt_lookup_finds():
    """W = 1 and one candidate: the window's only column ends n-grams of the text, or nearly so."""
    drafter = Lookahead(window=1, ngram=2, candidates=1, from_prompt=True)
    lookup = PromptLookup(longest_ngram=1)
    rng = np.random.default_rng(0)
    text = rng.integers(0, 4, size=40)
    for each in (drafter, lookup):
        each.start(text[:39], sim.Sampling())
        each.settle(text[39:])
    ours = drafter.propose(1, lambda _: True, rng)
    assert ours.tokens.tolist() == lookup.propose(1, lambda _: True, rng).tokens.tolist()
    assert ours.passengers == 0
