"""One word says what a draft keeps: counted over all words, and where a word leaves it open."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.serving.independent_drafts import IndependentDrafts


class EveryWord:
    """Draws every 16-bit word once, and the same uniform always."""

    def __init__(self, uniform):
        self.uniform = uniform

    def integers(self, *_, size, dtype):
        assert dtype is np.uint64
        assert size == 1 << 14
        return np.arange(1 << 16, dtype=np.uint16).view(np.uint64)

    def random(self, size):
        return np.full(size, self.uniform)


@pytest.mark.parametrize(
    "conditional",
    [
        (0.7, 0.7, 0.7, 0.7),
        (1 / 3, 0.9),
        (0.5, 0.5),
        (1.0, 0.3),
        (1.0, 1.0),
        (0.0, 0.5),
        (0.3 / 65536, 0.5),
        (0.7, 0.999999, 0.999999),
    ],
)
@pytest.mark.parametrize("uniform", [0.0, 0.1, 0.4, 0.8, 0.999])
def test_all_words_together_keep_what_the_law_says(conditional, uniform):
    kept = IndependentDrafts(conditional, EveryWord(uniform)).draw(1 << 16)
    for depth, survival in enumerate(np.cumprod(conditional), start=1):
        whole, part = divmod(survival * 65536, 1.0)
        assert np.count_nonzero(kept >= depth) == whole + (uniform < part)
    assert np.all(np.diff(kept) <= 0)


def test_any_number_is_drawn():
    for n in (1, 2, 3, 4, 5, 1001):
        assert IndependentDrafts((0.5,), np.random.default_rng(0)).draw(n).shape == (n,)
