"""Lines copied without their counts: what the printed ratios alone support."""

from __future__ import annotations

from itertools import accumulate
from operator import mul

import pytest
from commands import specdec
from hypothesis import assume, given
from hypothesis import strategies as st
from sample_lines import VLLM_LINE

from analysis import summarize
from analysis.ratio_summary import ratio_bounds
from real_runs.engines import MetricsFormatError, read_text
from simulator import ReportedRatio

WRAPPED = (
    "INFO SpecDecoding metrics: Mean acceptance length: 1.37,\n"
    "Per-position acceptance rate: 0.166, 0.093, 0.067, 0.045,\n"
    "Avg Draft acceptance rate: 9.3%\n"
)
"""A vLLM line as it stands in notes: wrapped, and without its counts."""


def test_a_line_without_counts_gives_its_ratios():
    (reading,) = read_text(WRAPPED)

    values = [(ratio.quantity, ratio.value, ratio.half_width) for ratio in reading.printed]
    assert reading.counts is None
    assert values[0] == ("accepted_fraction", 0.093, pytest.approx(0.0005))
    assert values[1] == ("tokens_per_round", 1.37, 0.005)
    assert [value for quantity, value, _ in values if quantity == "survival"] == [
        *(0.166, 0.093, 0.067, 0.045)
    ]


def test_what_follows_from_ratios():
    (reading,) = read_text(WRAPPED)

    summary = summarize(reading.counts, printed=reading.printed, cost_ratio=0.1)

    assert summary.gamma == 4
    assert summary.rounds is summary.drafted is summary.p is summary.p_interval is None
    assert summary.p_range == pytest.approx((0.28, 0.28), abs=2e-3)
    assert summary.speedup.value == pytest.approx(1.37 / 1.4)


def test_the_report_says_that_acceptance_changes_with_depth():
    result = specdec("import", "-", stdin=WRAPPED.encode())

    assert result.returncode == 0
    assert "p is between 0.279 and 0.281" in result.stderr
    assert "p is not the same at every depth" in result.stderr
    assert "without counts there is no sampling error" in result.stderr


def test_lines_with_counts_go_first():
    (reading,) = read_text(VLLM_LINE.decode() + WRAPPED)

    assert reading.counts.rounds == 208
    assert "Left out: 1 interval with ratios and no counts." in reading.notes


def test_of_several_lines_the_last_is_shown():
    (reading,) = read_text(WRAPPED + WRAPPED.replace("0.166", "0.167"))

    assert reading.printed[2].value == 0.167
    assert "The last of 2 intervals is shown." in reading.notes


@pytest.mark.parametrize(
    "change",
    [("1.37", "1.67"), ("0.093", "0.193"), ("0.166, ", "1.166, "), ("0.166", "nan")],
    ids=["length", "rising", "above one", "nan"],
)
def test_ratios_that_contradict_each_other_are_refused(change):
    with pytest.raises(MetricsFormatError, match="line 1: "):
        read_text(WRAPPED.replace(*change))


def test_a_line_that_breaks_off_is_not_taken_for_one_without_counts():
    with pytest.raises(MetricsFormatError, match="the line has no"):
        read_text("SpecDecoding metrics: Mean acceptance length: 1.37, Per-position acceptance")


def test_another_gamma_is_refused():
    (reading,) = read_text(WRAPPED)

    with pytest.raises(ValueError, match="gamma must be the 4 positions of the log; got 3"):
        summarize(None, printed=reading.printed, gamma=3)


def test_no_ratio_at_all_is_refused():
    with pytest.raises(ValueError, match="printed must hold a survival per depth; got none"):
        summarize(None)


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8))
def test_the_truth_is_within_the_rounding(by_depth):
    survival = list(accumulate(by_depth, mul))
    kept = sum(survival)
    tested = 1.0 + kept - survival[-1]
    assume(survival[0] > 0.0)
    printed = (
        ReportedRatio(
            quantity="tokens_per_round",
            value=round(1.0 + kept, 2),
            half_width=0.005 + 1e-12,
            averaged_over="test",
        ),
        *(
            ReportedRatio(
                quantity="survival",
                value=round(value, 3),
                half_width=0.0005 + 1e-12,
                averaged_over="test",
                depth=depth,
            )
            for depth, value in enumerate(survival)
        ),
    )

    bounds = ratio_bounds(printed)

    assert bounds.p[0] - 1e-9 <= kept / tested <= bounds.p[1] + 1e-9
    for (low, high), p, before in zip(bounds.p_by_depth, by_depth, [1.0, *survival], strict=False):
        if before > 0.0:
            assert low - 1e-9 <= p <= high + 1e-9
