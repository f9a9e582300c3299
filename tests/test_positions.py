"""The coins of whole texts: every flip against exact fractions, the rare ties included."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simulator._positions import Words


@pytest.mark.parametrize("p", [0.0, 1.0, 0.7, 2.0**-20, 1 - 2.0**-30, 300.5 / 65_536])
def test_a_flip_compares_the_whole_uniform_with_p(p):
    """As fractions of whole numbers: a word is the uniform's first 16 bits, 53 more follow it."""
    texts, positions, chances = 6, 3000, (p, 0.3, np.linspace(0.0, 1.0, 6))
    flags = Words(np.random.default_rng(2)).flips(texts, positions, *chances)
    words, uniforms = drawn_words(texts, positions, seed=2, chances=chances)
    for flag, chance in zip(flags, chances, strict=True):
        each = np.broadcast_to(chance, (texts,))
        for text in range(texts):
            exact = Fraction(float(each[text]))
            for position in range(0, positions, 7):
                uniform = Fraction(int(words[position, text]))
                uniform += Fraction(uniforms.get((position, text), 0.5))
                assert flag[position, text] == (uniform / 65_536 < exact)


def test_ties_happen_and_are_settled_by_the_fraction():
    p = 300.3 / 65_536
    fraction = p * 65_536 - 300
    (flags,) = Words(np.random.default_rng(3)).flips(40, 40_000, p)
    words, uniforms = drawn_words(40, 40_000, seed=3, chances=(p,))
    tied = [(where, u) for where, u in uniforms.items() if words[where] == 300]
    assert len(tied) > 5
    assert all(flags[where] == (u < fraction) for where, u in tied)
    assert {bool(u < fraction) for _, u in tied} == {True, False}
    assert any(fraction < u < 0.5 for _, u in tied)


def drawn_words(texts, positions, *, seed, chances):
    """The words again, and the uniform of each that ties with a chance, by position and text."""
    again = Words(np.random.default_rng(seed))
    words = again.draw(texts, positions)
    ties = np.zeros(words.shape, dtype=bool)
    for chance in chances:
        ties |= words == np.floor(np.broadcast_to(chance, (texts,)) * 65_536)
    where = sorted(zip(*np.nonzero(ties), strict=True), key=lambda at: (at[1] // 4, at[0], at[1]))
    return words, dict(zip(where, again.uniforms.random(len(where)), strict=True))


def test_ranks_say_which_chances_a_uniform_is_below():
    chances = sorted({0.0, 1.0, 0.3, *(np.array([7.1, 7.1, 7.5, 7.9, 8.0]) / 65_536)})
    ranks = Words(np.random.default_rng(4)).ranks(40, 60_000, chances)
    words, uniforms = drawn_words(40, 60_000, seed=4, chances=chances)
    seen = set()
    for (position, text), uniform in uniforms.items():
        exact = (Fraction(int(words[position, text])) + Fraction(uniform)) / 65_536
        rank = sum(exact >= Fraction(p) for p in chances)
        assert ranks[position, text] == rank
        seen.add(rank)
    assert {2, 3, 4}.issubset(seen)  # within one word
    plain = words[:, 0].astype(np.int64)
    beyond = np.searchsorted(np.floor(np.array(chances) * 65_536), plain, side="right")
    settled = [(position, 0) not in uniforms for position in range(60_000)]
    assert np.array_equal(ranks[settled, 0], beyond[settled])
