"""The acceptance.csv of speculators."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from real_runs.engines import MetricsFormatError, read_text
from simulator import AcceptanceTable

HEADER = (
    "subset,num_drafts,num_draft_tokens,num_accepted_tokens,acceptance_length,"
    "acceptance_at_pos_0,acceptance_at_pos_1"
)


def row(subset, table):
    """A row as it is written: counters as floats, ratios in full digits."""
    ratios = [1 + sum(table.accepted) / table.rounds, *(n / table.rounds for n in table.accepted)]
    counts = [float(n) for n in (table.rounds, table.drafted, sum(table.accepted))]
    return ",".join([subset, *map(str, counts), *map(str, ratios)])


A = AcceptanceTable(rounds=10, drafted=20, tested=(10, 7), accepted=(7, 5))
B = AcceptanceTable(rounds=30, drafted=60, tested=(30, 18), accepted=(18, 12))


def test_subsets_are_units():
    (reading,) = read_text("\n".join([HEADER, row("math", A), row("qa", B)]))

    assert reading.counts == A + B
    assert [unit.counts for unit in reading.units] == [A, B]
    assert [unit.label("subset") for unit in reading.units] == ["math", "qa"]


@given(st.lists(st.integers(0, 2), min_size=1, max_size=300))
def test_a_row_comes_back(lengths):
    table = AcceptanceTable.from_lengths(lengths, gamma=2)
    (reading,) = read_text("\n".join([HEADER, row("s", table)]))

    assert reading.counts == table


def test_rates_that_were_cut_to_11_digits_are_those_of_counts_still():
    (reading,) = read_text(f"{HEADER}\nqa,30,60,31,2.0333,0.6,0.43333333333")

    assert reading.counts == AcceptanceTable(
        rounds=30, drafted=60, tested=(30, 18), accepted=(18, 13)
    )


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ("s,10,20,25,3.5,0.9,0.8", "accepted \\(25\\) is above drafted \\(20\\)"),
        ("s,10,20,12,2.9,0.7,0.5", "contradict the counts"),
        ("s,10,20,12,2.2,70,50", "above 1"),
        ("s,10,20,12,2.2,0.90,0.80", "contradict the counts"),
        ("s,0,20,12,,0.7,0.5", "in no round"),
        ("s,,20,12,,0.7,0.5", "is missing"),
    ],
)
def test_rows_that_contradict_themselves(cells, reason):
    with pytest.raises(MetricsFormatError, match=reason):
        read_text(f"{HEADER}\n{cells}")
