"""Prompt lookup against a search of the whole text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from real_runs.drafters import PromptLookup
from simulator import Sampling


def always(_):
    return True


def copied(text, longest, shortest, length):
    """Prompt lookup by looking everywhere, one token after the other."""
    for size in range(min(longest, len(text) - 1), shortest - 1, -1):
        for begin in range(len(text) - size - 1, -1, -1):
            if text[begin : begin + size] == text[-size:]:
                made = list(text)
                for i in range(length):
                    made.append(made[begin + size + i])
                return made[len(text) :]
    return []


@given(
    pieces=st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=6),
    longest=st.integers(1, 4),
    shortest=st.integers(1, 4),
    length=st.integers(1, 9),
)
@settings(max_examples=300)
def test_prompt_lookup_is_a_search_of_the_whole_text(pieces, longest, shortest, length):
    shortest = min(shortest, longest)
    lookup = PromptLookup(longest, shortest)
    lookup.start(np.array(pieces[0]), Sampling())
    text = list(pieces[0])
    for piece in [*pieces[1:], None]:
        proposal = lookup.propose(length, always, np.random.default_rng(0))
        assert proposal.tokens.tolist() == copied(text, longest, shortest, length)
        assert proposal.probs is None
        if piece is not None:
            lookup.settle(np.array(piece))
            text += piece


def test_prompt_lookup_prefers_the_longest_then_the_latest():
    rng = np.random.default_rng(0)
    lookup = PromptLookup(longest_ngram=2)
    lookup.start(np.array([1, 2, 7, 0, 2, 8, 0, 1, 2]), Sampling())
    assert lookup.propose(1, always, rng).tokens.tolist() == [7], "[1, 2] before the later [2]"
    lookup = PromptLookup(longest_ngram=1)
    lookup.start(np.array([1, 2, 7, 0, 2, 8, 0, 1, 2]), Sampling())
    assert lookup.propose(1, always, rng).tokens.tolist() == [8]
    assert lookup.propose(9, lambda _: False, rng).tokens.tolist() == [8]
    lookup.start(np.array([1, 2, 3]), Sampling())
    assert lookup.propose(4, always, rng).tokens.tolist() == [], "the text before is forgotten"


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((0,), r"longest_ngram must be a whole number of at least 1; got 0\."),
        ((2, 0), r"shortest_ngram must be a whole number in \[1, 2\]; got 0\."),
        ((2, 3), r"shortest_ngram must be a whole number in \[1, 2\]; got 3\."),
    ],
)
def test_bad_sizes_of_ngrams(sizes, message):
    with pytest.raises(ValueError, match=message):
        PromptLookup(*sizes)
