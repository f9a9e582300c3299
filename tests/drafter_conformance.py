"""What every drafter must do, whatever it proposes: `check_drafter` puts one through all of it.

The drafter is watched from inside the loop, since some learn from the target's passes and cannot be
asked alone. Made for small targets: each check decodes every prompt several times.
"""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare
from stats import CHI_SQUARE_LIMIT, merged_starts

from simulator import (
    RULES,
    TREE_RULES,
    Chain,
    PassReader,
    Sampling,
    decode,
    greedy,
)

EVERY_RULE = (*RULES, *(rule for rule in TREE_RULES if rule not in RULES))
COLD = {"rule": greedy(), "sampling": Sampling(temperature=0.0)}


class Watched:
    """A drafter as the loop sees it; asserts that drafter and loop keep their promises."""

    def __init__(self, drafter, vocabulary):
        self.drafter, self.vocabulary = drafter, vocabulary
        self.picked = drafter.picked
        self.grows_by_confidence = getattr(drafter, "grows_by_confidence", False)
        self.calls = []
        self.drafts = []
        if isinstance(drafter, PassReader):  # and only then
            self.read_pass = self._read_pass

    def start(self, prompt, sampling):
        self.calls = ["start"]
        self.drafter.start(prompt, sampling)

    def propose(self, length, keep_going, rng):
        assert self.calls[-1] == "settle", "a draft waits for the verdict on the last one"
        assert length >= 1
        draft = self.drafter.propose(length, keep_going, rng)
        assert_draft(draft, length, self.vocabulary, self.picked)
        self.drafts.append(draft)
        self.calls.append("propose")
        return draft

    def _read_pass(self, logits, kept):
        assert kept[0] == 0
        assert (np.diff(kept) > 0).all()
        assert kept[-1] < len(logits)
        if self.calls[-1] == "propose":
            draft = self.drafts[-1]
            assert draft.tokens.size + 1 - draft.passengers <= len(logits) <= draft.tokens.size + 1
        else:  # the context had no room for a draft: the root alone
            assert len(logits) == 1
        self.calls.append("read_pass")
        self.drafter.read_pass(logits, kept)

    def settle(self, tokens):
        assert tokens.size >= 1
        reads = isinstance(self.drafter, PassReader) and self.calls[-1] != "start"
        assert not reads or self.calls[-1] == "read_pass", "the pass is read before it is forgotten"
        self.calls.append("settle")
        self.drafter.settle(tokens)


def assert_draft(draft, length, vocabulary, picked):
    """A proposal that can be judged as its `picked` says it came about."""
    tokens, probs, parents = draft.tokens, draft.probs, draft.parents
    assert tokens.ndim == 1
    assert tokens.dtype.kind == "i"
    assert not tokens.size or 0 <= tokens.min() <= tokens.max() < vocabulary
    if parents is None:
        assert tokens.size <= length
        assert draft.passengers == 0
        parents = np.arange(-1, tokens.size - 1)
    assert parents.shape == tokens.shape
    depths = np.zeros(tokens.size + 1, dtype=int)  # the text's last token first
    for node, parent in enumerate(parents):
        assert -1 <= parent < node
        depths[node + 1] = depths[parent + 1] + 1
    assert depths[: draft.judged + 1].max() <= length
    if picked == "chosen":
        assert probs is None, "a chosen token was drawn from nothing"
    elif tokens.size:
        assert probs.shape == (tokens.size, vocabulary)
        np.testing.assert_allclose(probs.sum(axis=1), 1.0, atol=1e-4)
        assert probs.min() >= 0.0
        assert probs[np.arange(tokens.size), tokens].min() > 0.0
    for parent in range(-1, draft.judged):
        below = np.flatnonzero(parents[: draft.judged] == parent)
        if picked in {"chosen", "distinct"}:
            assert len(set(tokens[below])) == below.size, "two equal siblings: the second is wasted"
        if probs is not None and below.size:
            assert (probs[below] == probs[below[0]]).all(), "siblings come from one distribution"


def check_drafter(
    make_drafter, target, prompts, *, depth=3, max_tokens=24, chains=None, useful=True
):
    """Everything but sampled frequencies: greedy texts, ends, counts, new texts, repeats, refusals.

    `make_drafter()` gives a fresh drafter for `target`, a target with float64 logits and without ties;
    `depth` the longest path to ask for. `useful`: some of its tokens must be accepted.
    """
    chains = (Chain(gamma=1), Chain(gamma=depth)) if chains is None else chains
    one = Watched(make_drafter(), target.vocabulary)
    accepted = 0
    for prompt, chain in product(prompts, chains):
        plain = decode(prompt, target=target, max_tokens=max_tokens, rng=0, **COLD)
        later = plain.tokens[2 * len(plain.tokens) // 3 :]
        for stops in ((), later[:1]):
            expected = plain.tokens
            if stops and len(plain.tokens) > 1:
                expected = plain.tokens[: plain.tokens.index(stops[0]) + 1]
            texts = [
                decode(
                    prompt, target=target, drafter=drafter, chain=chain, max_tokens=max_tokens,
                    stop_tokens=stops, rng=seed, record="rounds", **COLD,
                )
                for seed, drafter in enumerate((one, make_drafter()))
            ]  # fmt: skip
            assert texts[0].tokens == expected, "greedy text is plain text, token for token"
            if one.picked == "chosen":
                assert texts[1] == texts[0], "a new text forgets the one before it"
            assert_counted(texts[0], chain, one, prompt)
            accepted += sum(texts[0].table.accepted)
    assert accepted or not useful, "a draft of which nothing is kept proves little"
    check_context_end(make_drafter, target, prompts[0], depth)
    check_rules(make_drafter, target, prompts[0], depth, max_tokens)


def assert_counted(text, chain, watched, prompt):
    """Nothing is lost or counted twice."""
    table, rounds = text.table, text.rounds
    assert len(text.tokens) == 1 + table.emitted
    assert table.rounds == len(rounds)
    assert table.drafted == sum(r.drafted for r in rounds)
    assert sum(table.accepted) == sum(r.accepted for r in rounds)
    assert sum(table.tested) == sum(r.tested for r in rounds)
    assert table.discarded == sum(r.accepted + 1 - r.emitted for r in rounds)
    assert all(r.emitted == r.accepted + 1 for r in rounds[:-1])
    assert all(r.tested <= chain.gamma for r in rounds)
    mine = watched.drafts[len(watched.drafts) - len(rounds) :]
    if len(mine) == len(rounds) and text.ended != "context":
        assert table.drafted == sum(draft.judged for draft in mine), f"behind {prompt}"


def check_context_end(make_drafter, target, prompt, depth):
    """Up to the last place of a short context, and no further."""
    if target.context is None or target.context > 256:
        return
    longer = target.context
    plain = decode(prompt, target=target, max_tokens=longer, rng=0, **COLD)
    text = decode(
        prompt, target=target, drafter=Watched(make_drafter(), target.vocabulary),
        chain=Chain(gamma=depth), max_tokens=longer, rng=0, **COLD,
    )  # fmt: skip
    assert plain.ended == text.ended == "context"
    assert text.tokens == plain.tokens
    assert len(text.tokens) == target.context - len(prompt) + 1


def check_rules(make_drafter, target, prompt, depth, max_tokens):
    """Rules that are not exact for the drafter are refused, the others run, each seed the same again."""
    options = {"target": target, "chain": Chain(gamma=depth), "max_tokens": max_tokens}
    for rule in EVERY_RULE:
        drafter = Watched(make_drafter(), target.vocabulary)
        if not rule.is_lossless(drafter.picked):
            with pytest.raises(ValueError, match="rule must be lossless for drafts that are"):
                decode(prompt, drafter=drafter, rule=rule, rng=0, **options)
            assert not drafter.calls, "refused before anything was read"
            continue
        if rule not in TREE_RULES and proposes_trees(make_drafter, target, prompt, depth):
            with pytest.raises(ValueError, match="rule must be one that can judge a tree"):
                decode(prompt, drafter=drafter, rule=rule, rng=0, **options)
            continue
        texts = [
            decode(prompt, drafter=one, rule=rule, rng=5, record="rounds", **options)
            for one in (drafter, make_drafter())
        ]
        assert texts[0] == texts[1]
        assert_counted(texts[0], Chain(gamma=depth), drafter, prompt)


def proposes_trees(make_drafter, target, prompt, depth):
    drafter = Watched(make_drafter(), target.vocabulary)
    chain = Chain(gamma=depth)
    decode(prompt, target=target, drafter=drafter, chain=chain, max_tokens=20, rng=0, **COLD)
    return any(draft.parents is not None for draft in drafter.drafts)


def text_law(target, prompt, length, sampling=None):
    """Probability of every text of `length` tokens under plain decoding, from the target's own rows."""
    sampling = Sampling() if sampling is None else sampling
    law = {(): 1.0}
    for _ in range(length):
        grown = {}
        for text, weight in law.items():
            row = sampling.probabilities(target.start(np.array([*prompt, *text])))
            grown |= {(*text, x): weight * p for x, p in enumerate(row.tolist()) if p > 0.0}
        law = grown
    return law


def sampled_texts(drafter, target, prompt, *, rule, length, count, depth, seed=0, **options):
    """How often each text of `length` tokens came out of `count` runs."""
    rng = np.random.default_rng(seed)
    chain = Chain(gamma=depth)
    return Counter(
        decode(
            prompt, target=target, drafter=drafter, chain=chain, rule=rule, max_tokens=length,
            rng=rng, **options,
        ).tokens
        for _ in range(count)
    )  # fmt: skip


def texts_fit(counts, law):
    """Support, then Pearson's chi-square over merged cells, at a false-alarm rate below 1e-8."""
    count = sum(counts.values())
    if not set(counts) <= set(law):
        return False
    ranked = sorted(law, key=lambda text: (-law[text], text))
    expected = np.array([law[text] for text in ranked]) * count
    seen = np.array([counts[text] for text in ranked])
    starts = merged_starts(expected)
    assert len(starts) > 2
    sums = [np.add.reduceat(values, starts) for values in (seen, expected)]
    return bool(chisquare(*sums).pvalue >= CHI_SQUARE_LIMIT)
