"""The coin under the engine: exact on hand-written words, exact in probability where words tie."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from simulator.flips import count_flips, flip

FALSE_ALARM_RATE = 1e-8


class Scripted:
    """A generator whose words and uniforms are written down."""

    def __init__(self, words, uniforms=()):
        self.words = np.array(words, dtype=np.uint16)
        self.uniforms = np.array(uniforms, dtype=float)

    def integers(self, low, high, *, size, dtype):
        assert (low, high, dtype) == (0, 65_536, np.uint16)
        taken, self.words = self.words[:size], self.words[size:]
        return taken

    def random(self, size):
        taken, self.uniforms = self.uniforms[:size], self.uniforms[size:]
        return taken


@pytest.mark.parametrize(
    ("p", "words", "uniforms", "expected"),
    [
        (0.5, [0, 32_767, 32_768, 65_535], [], [True, True, False, False]),
        (1.0, [0, 65_535], [], [True, True]),
        (0.0, [0, 65_535], [], [False, False]),
        (100.25 / 65_536, [99, 100, 100, 101], [0.2, 0.3], [True, True, False, False]),
    ],
    ids=["half", "always", "never", "ties"],
)
def test_words_below_p_come_up_and_ties_are_settled(p, words, uniforms, expected):
    assert flip(Scripted(words, uniforms), p, len(words)).tolist() == expected
    assert count_flips(Scripted(words, uniforms), p, len(words)) == sum(expected)


@pytest.mark.parametrize("p", [0.7, 1e-5, 1 - 1e-5, 0.3 / 65_536], ids=str)
def test_a_flip_has_probability_p_even_below_a_word(p, rng):
    n = 1 << 24

    came_up = count_flips(rng, p, n)

    assert binomtest(came_up, n, p).pvalue >= FALSE_ALARM_RATE


def test_words_alone_would_be_noticed(rng):
    """Negative control: without settling ties, 0.3 of a word never comes up."""
    n, p = 1 << 24, 0.3 / 65_536
    whole = int(p * 65_536)
    words = rng.integers(0, 65_536, size=n, dtype=np.uint16)

    came_up = int(np.count_nonzero(words < whole))

    assert binomtest(came_up, n, p).pvalue < FALSE_ALARM_RATE


@pytest.mark.parametrize("n", [0, 1, 7, 100_001])
def test_counting_and_flipping_share_one_stream(n):
    counted, flipped = np.random.default_rng(3), np.random.default_rng(3)

    assert count_flips(counted, 0.7, n) == flip(flipped, 0.7, n).sum()
    assert counted.bit_generator.state == flipped.bit_generator.state
