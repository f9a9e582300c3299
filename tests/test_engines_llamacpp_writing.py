"""What is written as llama.cpp prints it comes back: counts exactly, the rest within its rounding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from real_runs.engines import read_text
from real_runs.engines.counts.lengths import from_steps
from real_runs.engines.llamacpp.writing import (
    llamacpp_request_line,
    llamacpp_statistics_line,
    llamacpp_timings,
)
from simulator import AcceptanceTable

EAGLE = AcceptanceTable(rounds=87, drafted=259, tested=(87, 70, 55), accepted=(70, 55, 42))


@st.composite
def tables(draw, *, most=80):
    """A table of rounds that drafted something, of any lengths."""
    drafted = draw(st.lists(st.integers(1, 7), min_size=1, max_size=most))
    return from_steps(tuple((each, draw(st.integers(0, each))) for each in drafted))


def counts_of(reading):
    counts = reading.counts
    accepted = counts.accepted if isinstance(counts.accepted, int) else sum(counts.accepted)
    return counts.rounds, counts.drafted, accepted


def test_the_line_of_june_is_written_as_it_was_printed():
    assert llamacpp_request_line(EAGLE) == (
        "draft acceptance = 0.64479 (  167 accepted /   259 generated), mean acceptance length =  2.92, "
        "acceptance rate per position = (0.805, 0.632, 0.483)"
    )


@given(table=tables())
def test_a_request_line_comes_back_as_far_as_it_tells(table):
    (reading,) = read_text(llamacpp_request_line(table))

    rounds, drafted, accepted = counts_of(reading)
    assert (drafted, accepted) == (table.drafted, sum(table.accepted))
    assert rounds in {None, table.rounds}
    if isinstance(reading.counts, AcceptanceTable):
        assert reading.counts.accepted == table.accepted
    elif reading.counts.depth_bounds is not None:
        bounds = zip(table.accepted, reading.counts.depth_bounds, strict=True)
        assert all(low <= kept <= high for kept, (low, high) in bounds)
    assert all(
        abs(ratio.value - table.accepted[ratio.depth] / table.rounds) <= ratio.half_width + 1e-12
        for ratio in reading.printed
        if ratio.depth is not None
    )


def test_a_request_line_of_few_rounds_comes_back_exactly():
    (reading,) = read_text(llamacpp_request_line(EAGLE))

    assert counts_of(reading) == (87, 259, 167)
    assert reading.counts.accepted_by_depth == (70, 55, 42)


@given(table=tables(), milliseconds=st.integers(0, 10**7))
def test_statistics_come_back_exactly(table, milliseconds):
    line = llamacpp_statistics_line(table, name="draft-mtp", draft_s=milliseconds / 1000)
    (reading,) = read_text(line)

    assert counts_of(reading) == (table.rounds, table.drafted, sum(table.accepted))
    assert reading.clock.draft_s == pytest.approx(milliseconds / 1000, abs=1e-9)
    assert reading.method == "mtp"


@given(table=tables(), seconds=st.none() | st.floats(1e-3, 1e4))
def test_timings_come_back_exactly(table, seconds):
    (reading,) = read_text(llamacpp_timings(table, decode_s=seconds))

    assert counts_of(reading) == (table.rounds, table.drafted, sum(table.accepted))
    assert reading.emitted == table.emitted
    assert reading.clock.decode_s == (
        None if seconds is None else pytest.approx(seconds, rel=1e-12)
    )


@pytest.mark.parametrize(
    "write", [llamacpp_request_line, llamacpp_statistics_line, llamacpp_timings]
)
def test_nothing_drafted_cannot_be_written(write):
    with pytest.raises(ValueError, match="got 3 rounds, 0 drafted"):
        write(AcceptanceTable(rounds=3, drafted=0, tested=(), accepted=()))


def test_what_the_wording_cannot_say_is_refused():
    with pytest.raises(ValueError, match="a draft in each of its 3 rounds; got 2 with one"):
        llamacpp_request_line(AcceptanceTable(rounds=3, drafted=2, tested=(2,), accepted=(1,)))
    with pytest.raises(ValueError, match="no discarded tokens; got 1"):
        llamacpp_timings(
            AcceptanceTable(rounds=2, drafted=2, tested=(2,), accepted=(2,), discarded=1)
        )
