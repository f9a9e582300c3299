"""gpt-fast: shares of rounds by accepted tokens, and a mean without the bonus."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from real_runs.engines import MetricsFormatError, read_text


def printed(counts):
    """What gpt-fast prints of rounds by accepted tokens."""
    total = sum(counts)
    shares = [count / total for count in counts]
    mean = sum(kept * count for kept, count in enumerate(counts)) / total
    return (
        f"==========\nAcceptance probs: {shares}\nMean Accepted: {mean}\nAverage tokens/sec: 51.30"
    )


def test_shares_become_survival():
    (reading,) = read_text(printed([40, 30, 20, 10]))

    found = {(each.quantity, each.depth): each.value for each in reading.printed}
    assert (reading.engine, reading.gamma, reading.counts) == ("gpt-fast", 3, None)
    assert found["accepted_per_round", None] == 1.0
    assert [found["survival", depth] for depth in range(3)] == pytest.approx([0.6, 0.3, 0.1])


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=9).filter(lambda each: sum(each) > 0))
def test_what_is_printed_is_read(counts):
    (reading,) = read_text(printed(counts))

    assert reading.gamma == len(counts) - 1
    survival = [each for each in reading.printed if each.quantity == "survival"]
    for depth, ratio in enumerate(survival):
        true = sum(counts[depth + 1 :]) / sum(counts)
        assert abs(ratio.value - true) <= ratio.half_width + 1e-12


def test_a_mean_rounded_to_two_digits():
    (reading,) = read_text("Acceptance probs: [0.4, 0.3, 0.3]\nMean Accepted: 0.90")
    assert reading.printed[0].half_width == 0.005


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Acceptance probs: [0.41234, 0.3123]", "sum to 0.72464 and not to 1"),
        ("Acceptance probs: N/A (no samples recorded)", "nothing was drafted"),
        ("Acceptance probs: [1.0]", "nothing was drafted"),
        ("Acceptance probs: [0.5, 0.5", "cut short"),
        ("Acceptance probs: [0.5, x]", "not a number"),
    ],
)
def test_what_is_no_histogram(text, reason):
    with pytest.raises(MetricsFormatError, match=reason):
        read_text(text)


def test_a_mean_with_the_bonus_contradicts_the_shares():
    (reading,) = read_text("Acceptance probs: [0.4000, 0.3000, 0.3000]\nMean Accepted: 1.9")
    assert [each.quantity for each in reading.printed] == ["survival", "survival"]
    assert "is the bonus in it?" in reading.skipped[0].reason
