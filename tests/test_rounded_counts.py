"""Counts per depth that a log rounds: used where rounding hides less than chance, else a range."""

from __future__ import annotations

import json

import pytest
from commands import specdec
from hypothesis import given
from hypothesis import strategies as st

import analysis as an
from analysis.rounded_counts import rounded_table
from simulator import AcceptanceTotals

INTERVAL = (
    "SpecDecoding metrics: Mean acceptance length: {length}, Accepted throughput: {per_s} tokens/s, "
    "Drafted throughput: {drafts_per_s} tokens/s, Accepted: {accepted} tokens, Drafted: {drafted} tokens, "
    "Per-position acceptance rate: {rates}, Avg Draft acceptance rate: {percent}%\n"
)
LONG = "".join(
    INTERVAL.format(length=length, per_s=accepted / 10, drafts_per_s=drafted / 10, accepted=accepted,
                    drafted=drafted, rates=rates, percent=percent)
    for length, accepted, drafted, rates, percent in (
        ("2.31", 4605, 10545, "0.682, 0.411, 0.217", "43.7"),
        ("2.28", 4480, 10500, "0.671, 0.399, 0.210", "42.7"),
    )
)  # fmt: skip


def test_long_intervals_are_fitted_by_depth_and_give_back_what_was_counted():
    result = specdec("fit", "-", "--predict-gamma", "1:3", "--format", "json", stdin=LONG.encode())
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    predicted = {row["gamma"]: row for row in found["prediction"]}

    assert predicted[3]["low"] < 1 + 9085 / 7015 < predicted[3]["high"]
    assert "Geometric decay" in found["headline"]
    assert any("middle of what the printed ratios allow" in note for note in found["notes"])


def test_long_intervals_can_be_compared_over_time():
    result = specdec("import", "-", "--by", "time", "--format", "json", stdin=LONG.encode())
    assert result.returncode == 0, result.stderr

    groups = json.loads(result.stdout)["groups"]
    assert [row["tokens_per_round"] for row in groups] == [
        pytest.approx(1 + 4605 / 3515),
        pytest.approx(2.28),
    ]


def test_wide_bounds_stay_a_range():
    wide = AcceptanceTotals(
        rounds=100,
        drafted=200,
        accepted=120,
        longest_draft=2,
        accepted_by_depth_bounds=((65, 75), (45, 55)),
    )

    assert rounded_table(wide) is None
    assert an.fit(wide).how == "range"


@given(
    st.integers(1, 10**6), st.lists(st.floats(0, 1), min_size=1, max_size=6), st.sampled_from([10, 1000, 10**5])
)  # fmt: skip
def test_a_table_lies_within_the_bounds_and_has_the_sum(rounds, shares, scale):
    kept, alive = [], rounds
    for share in shares:
        alive = int(alive * share)
        kept.append(alive)
    half = rounds // scale
    bounds = tuple((max(n - half, 0), min(n + half, rounds)) for n in kept)
    table = rounded_table(
        AcceptanceTotals(
            rounds=rounds,
            drafted=rounds * len(kept),
            accepted=sum(kept),
            longest_draft=len(kept),
            accepted_by_depth_bounds=bounds,
        )
    )

    if table is not None:
        assert sum(table.accepted) == sum(kept)
        within = zip(bounds, table.accepted, strict=True)
        assert all(low <= count <= high for (low, high), count in within)


def test_parameters_by_depth_are_named_as_people_count():
    result = specdec("fit", "-", "--process", "by depth", "--format", "json", stdin=LONG.encode())
    assert result.returncode == 0, result.stderr

    names = [row["parameter"] for row in json.loads(result.stdout)["parameters"]]
    assert names == ["p at depth 1", "p at depth 2", "p at depth 3"]


def test_a_report_of_percentiles_is_known_by_its_mean():
    text = b"[DAR] AVERAGE: 0.55\n[DAR] P50: 0.56\n[AL] MINIMUM: 1.93\n[AL] MAXIMUM: 3.60\n[AL] AVERAGE: 2.64\n"
    result = specdec("import", "-", "--format", "json", stdin=text)
    assert result.returncode == 0, result.stderr
    assert "2.64 tokens per round" in json.loads(result.stdout)["headline"]

    silent = specdec("fit", "-", "--format", "json", stdin=text)
    assert "without the configured draft length" in json.loads(silent.stdout)["headline"]
    told = specdec(
        "fit", "-", "--gamma", "3", "--predict-gamma", "3", "--format", "json", stdin=text
    )
    assert json.loads(told.stdout)["prediction"][0]["tokens_per_round"] == pytest.approx(2.64)
