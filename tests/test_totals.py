"""What engines print: pooling with unknowns, tables only where every depth is known."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator import AcceptanceTable, AcceptanceTotals, ReportedRatio

KNOWN = AcceptanceTotals(
    rounds=10, drafted=18, accepted=12, emitted=20, accepted_by_depth=(7, 5), longest_draft=2
)


@st.composite
def totals(draw):
    rounds = draw(st.integers(1, 30))
    by_depth, alive = [], rounds
    for _ in range(draw(st.integers(1, 4))):
        alive = draw(st.integers(0, alive))
        by_depth.append(alive)
    accepted = sum(by_depth)
    return AcceptanceTotals(
        rounds=draw(st.sampled_from([rounds, None])),
        drafted=draw(st.integers(accepted, rounds * len(by_depth))),
        accepted=accepted,
        emitted=draw(st.sampled_from([rounds + accepted, None])),
        accepted_by_depth=draw(st.sampled_from([tuple(by_depth), None])),
        longest_draft=draw(st.sampled_from([len(by_depth), None])),
        length_rule=draw(st.sampled_from(["fixed", "confidence", "unknown"])),
    )


@given(totals(), totals(), totals())
def test_pooling_is_associative_and_commutative(first, second, third):
    assert first + second == second + first
    assert (first + second) + third == first + (second + third)


@pytest.mark.parametrize("field", ["rounds", "emitted", "accepted_by_depth", "longest_draft"])
def test_what_one_does_not_know_the_sum_does_not_know(field):
    pooled = KNOWN + replace(KNOWN, **{field: None})
    assert getattr(pooled, field) is None
    assert (pooled.drafted, pooled.accepted) == (36, 24)


def test_known_counts_add():
    pooled = KNOWN + KNOWN
    assert (pooled.rounds, pooled.emitted, pooled.longest_draft) == (20, 40, 2)
    assert pooled.accepted_by_depth == (14, 10)


def test_bounds_of_depths_add_to_bounds():
    rounded = replace(KNOWN, accepted_by_depth=None, accepted_by_depth_bounds=((6, 8), (5, 5)))
    pooled = KNOWN + rounded
    assert pooled.accepted_by_depth is None
    assert pooled.accepted_by_depth_bounds == ((13, 15), (10, 10))
    assert (pooled + KNOWN).accepted_by_depth_bounds == ((20, 22), (15, 15))


@given(totals())
def test_a_table_only_where_every_draft_had_every_depth(record):
    table = record.to_table()
    complete = (
        record.rounds is not None
        and record.accepted_by_depth is not None
        and record.longest_draft is not None
        and record.drafted == record.rounds * record.longest_draft
    )
    assert (table is not None) == complete
    if table is not None:
        assert table.accepted == record.accepted_by_depth
        assert table.tested == (record.rounds, *record.accepted_by_depth[:-1])
        assert (table.rounds, table.drafted) == (record.rounds, record.drafted)


def test_tokens_thrown_away_reach_the_table():
    record = AcceptanceTotals(
        rounds=10, drafted=20, accepted=12, accepted_by_depth=(7, 5), longest_draft=2, emitted=21
    )
    assert record.to_table().discarded == 1
    assert record.to_table().emitted == 21


@given(totals())
def test_ratios_agree_with_the_table(record):
    table = record.to_table()
    if table is not None and table.drafted:
        assert record.accepted_fraction == table.accepted_fraction.value
        assert record.tokens_per_round == table.tokens_per_round


def test_unknown_ratios():
    assert math.isnan(AcceptanceTotals(drafted=0, accepted=0).accepted_fraction)
    assert math.isnan(replace(KNOWN, rounds=None).tokens_per_round.value)
    assert replace(KNOWN, accepted_by_depth=None).tokens_per_round.se is None
    assert KNOWN.tokens_per_round.value == 2.2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"accepted": 19}, r"accepted must be at most drafted \(18\); got 19"),
        ({"rounds": 0}, "rounds must be above 0 with 18 drafted tokens; got 0"),
        ({"drafted": 21}, r"at most rounds × longest_draft \(10 × 2\); got 21"),
        ({"longest_draft": 0}, "longest_draft must be above 0 with 18 drafted tokens; got 0"),
        ({"longest_draft": 3}, r"must have longest_draft \(3\) depths; got 2"),
        ({"accepted_by_depth": (7, 6)}, r"must sum to accepted \(12\); got 13"),
        ({"accepted_by_depth": (5, 7)}, r"accepted_by_depth\[1\] must be .*\[0, 5\]; got 7"),
        ({"accepted_by_depth": (11, 1)}, r"accepted_by_depth\[0\] must be .*\[0, 10\]; got 11"),
        ({"accepted_by_depth_bounds": ((7, 7), (5, 5))}, "exclude each other; got both"),
        ({"length_rule": "random"}, "length_rule must be one of fixed, .* got 'random'"),
        ({"emitted": -1}, r"emitted must be a whole number in \[0, 22\]; got -1"),
    ],
)
def test_impossible_totals_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(KNOWN, **change)


def test_reversed_bounds_are_refused():
    with pytest.raises(ValueError, match=r"bounds\[0\] must satisfy 0 <= low <= high; got 8, 6"):
        replace(KNOWN, accepted_by_depth=None, accepted_by_depth_bounds=((8, 6), (5, 5)))


def test_a_full_record_becomes_its_table():
    full = replace(KNOWN, drafted=20, emitted=22)
    assert full.to_table() == AcceptanceTable(
        rounds=10, drafted=20, tested=(10, 7), accepted=(7, 5)
    )


def test_reported_ratio_bounds():
    ratio = ReportedRatio(
        quantity="tokens_per_round", value=2.92, half_width=0.005, averaged_over="rounds"
    )
    assert ratio.bounds == pytest.approx((2.915, 2.925))
    assert replace(ratio, half_width=0.0).bounds == (2.92, 2.92)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": math.nan}, "value must be a finite number; got nan"),
        ({"half_width": -0.1}, "half_width must be a finite number of at least 0; got -0.1"),
        ({"half_width": math.inf}, "half_width must be a finite number of at least 0; got inf"),
    ],
)
def test_impossible_ratios_are_refused(change, message):
    ratio = ReportedRatio(quantity="p", value=0.5, half_width=0.01, averaged_over="unknown")
    with pytest.raises(ValueError, match=message):
        replace(ratio, **change)
