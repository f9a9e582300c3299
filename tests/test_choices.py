"""The many-sided coin: exact on hand-written words, exact in probability where words tie."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest
from test_flips import FALSE_ALARM_RATE, Scripted

from simulator import choices
from simulator.choices import choose, count_choices, multinomial

CHANCES = {
    "one": [0.7],
    "few": [0.5, 0.2, 0.1],
    "sum 1": [0.1] * 10,
    "zeros": [0.0, 0.4, 0.0, 0.6, 0.0],
    "tiny": [0.3 / 65_536, 0.25 / 65_536, 0.2 / 65_536, 0.5],
    "many": [0.9 / 40] * 40,
    "hundreds": [0.9 / 400] * 400,
    "none": [],
}


@pytest.mark.parametrize(
    ("chances", "words", "uniforms", "expected"),
    [
        ([0.5, 0.25], [0, 32_767, 32_768, 49_151, 49_152, 65_535], [], [0, 0, 1, 1, 2, 2]),
        ([1.0], [0, 65_535], [], [0, 0]),
        ([0.0, 1.0], [0, 65_535], [], [1, 1]),
        ([100.25 / 65_536, 0.5], [99, 100, 100, 101, 65_535], [0.2, 0.3], [0, 0, 1, 1, 2]),
        ([0.25 / 65_536, 0.5 / 65_536], [0, 0, 0, 1], [0.2, 0.7, 0.8], [0, 1, 2, 2]),
    ],
    ids=["no ties", "always", "never first", "a tie", "two sums in one word"],
)
def test_words_fall_between_the_running_sums_and_ties_are_settled(
    chances, words, uniforms, expected
):
    assert choose(Scripted(words, uniforms), chances, len(words)).tolist() == expected
    counts = count_choices(Scripted(words, uniforms), chances, len(words))
    assert counts.tolist() == np.bincount(expected, minlength=len(chances) + 1).tolist()


@pytest.mark.parametrize("n", [0, 1, 7, 300_001])
@pytest.mark.parametrize("name", CHANCES)
def test_counting_and_choosing_share_one_stream(name, n):
    counted, chosen = np.random.default_rng(3), np.random.default_rng(3)
    counts = count_choices(counted, CHANCES[name], n)
    drawn = choose(chosen, CHANCES[name], n)
    assert counts.tolist() == np.bincount(drawn, minlength=len(CHANCES[name]) + 1).tolist()
    assert counted.bit_generator.state == chosen.bit_generator.state


@pytest.mark.parametrize("few", [0, 1000])
@pytest.mark.parametrize("name", CHANCES)
def test_comparing_and_a_histogram_count_alike(name, few, monkeypatch):
    expected = count_choices(np.random.default_rng(3), CHANCES[name], 300_001)
    monkeypatch.setattr(choices, "_FEW", few)
    counts = count_choices(np.random.default_rng(3), CHANCES[name], 300_001)
    assert counts.tolist() == expected.tolist()


@pytest.mark.parametrize("name", ["few", "tiny", "many"])
def test_every_choice_has_its_chance_even_below_a_word(name, rng):
    n = 1 << 23
    counts = count_choices(rng, CHANCES[name], n)
    for count, chance in zip(counts.tolist(), CHANCES[name], strict=False):
        assert binomtest(count, n, chance).pvalue >= FALSE_ALARM_RATE


def test_words_alone_would_be_noticed(rng):
    """Negative control: without settling ties, three rates below one word all go to the last of them."""
    n, chances = 1 << 24, CHANCES["tiny"]
    words = rng.integers(0, 65_536, size=n, dtype=np.uint16)
    assert binomtest(0, n, chances[0]).pvalue < FALSE_ALARM_RATE
    assert binomtest(int(np.count_nonzero(words == 0)), n, chances[2]).pvalue < FALSE_ALARM_RATE


@pytest.mark.parametrize("draw", [count_choices, multinomial])
@pytest.mark.parametrize("chances", [[0.1] * 10, [0.7, 0.2, 0.1], [1 / 3, 1 / 3, 1 / 3]], ids=str)
def test_rates_that_make_up_1_leave_nothing_over(draw, chances, rng):
    n = 10**6 if draw is count_choices else 2**62
    counts = draw(rng, chances, n)
    assert counts[-1] == 0
    assert counts.sum() == n


@pytest.mark.parametrize("name", CHANCES)
def test_a_multinomial_has_the_same_chances(name, rng):
    n = 10**12
    counts = multinomial(rng, CHANCES[name], n)
    assert counts.sum() == n
    for count, chance in zip(counts.tolist(), CHANCES[name], strict=False):
        limit = 7.0 * np.sqrt(n * chance * (1.0 - chance)) + 40.0
        assert abs(count - n * chance) <= limit


def test_progress_is_the_share_of_the_words(monkeypatch):
    monkeypatch.setattr(choices, "_CHUNK", 64)
    monkeypatch.setattr(choices, "_CHUNKS_PER_REPORT", 2)
    reports = []
    count_choices(np.random.default_rng(0), [0.5], 640, reports.append)
    assert reports == [0.0, 0.2, 0.4, 0.6, 0.8]
