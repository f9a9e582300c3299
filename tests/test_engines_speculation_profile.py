"""speculation_profile.json, schema 1.0: written from counts, read back count for count."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from real_runs.engines import MetricsFormatError, read_log, read_text
from real_runs.engines.speculation_profile.writing import (
    speculation_profile,
    write_speculation_profile,
)
from simulator import AcceptanceTable, AcceptanceTotals, CountedUnit, Observation

TABLE = AcceptanceTable(rounds=100, drafted=300, tested=(100, 60, 30), accepted=(60, 30, 0))


def read(profile):
    (reading, *others) = read_text(json.dumps(profile))
    assert not others
    return reading


def test_both_conventions_are_written():
    profile = speculation_profile(TABLE, method="eagle", draft_checkpoint="a/b")

    assert profile["schema_version"] == "1.0"
    assert profile["marginal_accept_rates"] == [0.6, 0.3, 0.0]
    assert profile["conditional_accept_rates"] == [0.6, 0.5, 0.0]
    assert profile["mean_accept_length"] == 1.9
    assert profile["acceptance_length_histogram"] == {"1": 40, "2": 30, "3": 30}
    assert profile["accept_length_model"] == "chain_analytic"
    assert speculation_profile(TABLE, method="block")["accept_length_model"] == "measured_per_k"
    assert all(check["passed"] for check in profile["validation"].values())


def test_means_by_round_and_by_request_and_categories():
    units = (
        CountedUnit(
            counts=AcceptanceTable.from_lengths([0, 0, 0, 0], gamma=2), labels=(("c", "x"),)
        ),
        CountedUnit(counts=AcceptanceTable.from_lengths([2, 2], gamma=2), labels=(("c", "y"),)),
    )
    counts = units[0].counts + units[1].counts
    run = Observation(counts=counts, units=units, method="mtp", target="t")
    profile = speculation_profile(run, category="c", accept_length_by_k={1: 1.5, 2: 5 / 3})

    assert profile["mean_accept_length"] == pytest.approx(10 / 6)
    assert profile["mean_accept_length_per_request"] == 2.0
    assert profile["per_category"]["y"] == {
        "mean_accept_length": 3.0,
        "num_requests": 1,
        "num_steps": 2,
    }
    assert (profile["method"], profile["target_model"]) == ("mtp", "t")
    assert profile["accept_length_by_k"] == {"1": 1.5, "2": 5 / 3}
    by_interval = Observation(counts=counts, units=units, unit="interval")
    assert speculation_profile(by_interval)["mean_accept_length_per_request"] is None


def test_vectors_are_withheld_where_they_would_mislead():
    short = AcceptanceTable(
        rounds=10, drafted=15, tested=(10, 3), accepted=(6, 2), length_rule="scheduled"
    )
    for profile in (
        speculation_profile(short),
        speculation_profile(TABLE, verification_method="block"),
    ):
        assert profile["marginal_accept_rates"] is None
        assert profile["conditional_accept_rates"] is None
        assert profile["vectors_unavailable_reason"]
        assert profile["acceptance_length_histogram"]
    assert read(speculation_profile(short)).counts == short


def test_the_sample_of_the_schema():
    reading = read(
        {
            "schema_version": "1.0",
            "measured": True,
            "method": "eagle3",
            "num_speculative_tokens": 3,
            "conditional_accept_rates": [0.816, 0.777, 0.750],
            "marginal_accept_rates": [0.816, 0.634, 0.475],
            "mean_accept_length": 2.925,
        }
    )

    assert reading.counts is None
    assert (reading.gamma, reading.method) == (3, "eagle")
    found = {(each.quantity, each.depth): each for each in reading.printed}
    assert found["tokens_per_round", None].value == 2.925
    assert [found["survival", depth].value for depth in range(3)] == [0.816, 0.634, 0.475]
    # JSON drops the last zero of 0.750: it is as finely rounded as the others
    assert found["conditional_acceptance", 2].half_width == 0.0005


def test_a_profile_of_others_with_a_histogram():
    # fixture of Model-Optimizer's tests, measured on MiniMax-M2.7 with DFlash
    reading = read(
        {
            "schema_version": "1.0",
            "measured": True,
            "method": "dflash",
            "num_speculative_tokens": 3,
            "acceptance_length_histogram": {"1": 8611, "2": 7814, "3": 5337, "4": 8891},
            "mean_accept_length": 2.4733,
            "mean_accept_length_per_request": 2.54671,
        }
    )

    assert reading.counts == AcceptanceTable(
        rounds=30653,
        drafted=3 * 30653,
        tested=(30653, 22042, 14228),
        accepted=(22042, 14228, 8891),
    )
    assert reading.method == "block"
    assert any("2.54671 tokens per round" in note for note in reading.notes)
    assert any("rests on full drafts" in note for note in reading.notes)


def test_draft_lengths_measured_one_by_one():
    profile = {
        **speculation_profile(TABLE, method="block"),
        "accept_length_by_k": {"1": 1.6, "3": 1.9, "7": 2.25},
    }
    first, *others = read_text(json.dumps(profile))

    assert first.counts == TABLE
    assert [(each.gamma, each.printed[0].value) for each in others] == [(1, 1.6), (7, 2.25)]
    # computed from one length, they are no measurements
    computed = {**profile, "accept_length_model": "chain_analytic"}
    assert len(read_text(json.dumps(computed))) == 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"schema_version": "2.0"}, "schema_version is 2.0"),
        ({"measured": False}, "nothing was drafted"),
        ({"marginal_accept_rates": [0.6, 0.7, 0.0]}, "rise with the position"),
        ({"marginal_accept_rates": [0.6, 0.1, 0.0]}, "not the product"),
        ({"marginal_accept_rates": [60.0, 30.0, 0.0]}, "above 1"),
        ({"mean_accept_length": 2.9}, "is not 1 + the sum"),
        ({"acceptance_length_histogram": {"1": 41, "2": 30, "3": 30}}, "contradicts"),
        ({"specdec_counts": {"length_rule": "fixed", "tested": [9]}}, "specdec_counts"),
        ({"specdec_counts": {"length_rule": "odd"}}, "length_rule is odd"),
    ],
)
def test_a_profile_that_contradicts_itself_is_refused(change, reason):
    with pytest.raises(MetricsFormatError, match=reason.replace("+", "\\+")):
        read_text(json.dumps({**speculation_profile(TABLE), **change}))


@pytest.mark.parametrize(
    ("data", "options", "reason"),
    [
        (Observation(), {}, "ratios alone"),
        (AcceptanceTable(rounds=0, drafted=0, tested=(), accepted=()), {}, "counted rounds; got 0"),
        (AcceptanceTotals(drafted=9, accepted=3), {}, "counted rounds; got None"),
        (TABLE, {"verification_method": "tree"}, "longest_prefix, block; got 'tree'"),
        (TABLE, {"accept_length_model": "guess"}, "got 'guess'"),
        (TABLE, {"num_speculative_tokens": 1}, "at least what a round kept"),
    ],
)
def test_refusals(data, options, reason):
    with pytest.raises(ValueError, match=reason):
        speculation_profile(data, **options)


@st.composite
def tables(draw):
    gamma = draw(st.integers(1, 6))
    rounds = draw(st.integers(1, 10**6))
    alive, tested, accepted = rounds, [], []
    for _ in range(gamma):
        tested.append(draw(st.integers(0, alive)))
        accepted.append(draw(st.integers(0, tested[-1])))
        alive = accepted[-1]
    return AcceptanceTable(
        rounds=rounds,
        drafted=sum(tested) + draw(st.integers(0, 5)),
        tested=tuple(tested),
        accepted=tuple(accepted),
        discarded=draw(st.integers(0, rounds)),
        length_rule=draw(st.sampled_from(["scheduled", "confidence", "unknown"])),
    )


@st.composite
def full_tables(draw):
    gamma = draw(st.integers(1, 6))
    lengths = draw(st.lists(st.integers(0, gamma), min_size=1, max_size=50))
    return AcceptanceTable.from_lengths(lengths, gamma=gamma)


@given(st.one_of(tables(), full_tables()))
def test_a_table_comes_back_as_it_was(table):
    if not sum(table.accepted) and not table.drafted:
        return
    assert read(speculation_profile(table)).counts == table


@given(full_tables())
def test_full_drafts_come_back_from_the_words_of_the_schema_alone(table):
    profile = speculation_profile(table)
    del profile["specdec_counts"]
    assert read(profile).counts == table


@given(full_tables(), st.booleans())
def test_totals_come_back_as_they_were(table, by_depth):
    totals = AcceptanceTotals(
        drafted=table.drafted,
        accepted=sum(table.accepted),
        rounds=table.rounds,
        accepted_by_depth=table.accepted if by_depth else None,
        longest_draft=table.depths,
    )
    assert read(speculation_profile(totals)).counts == totals


def test_a_written_file_is_read(tmp_path):
    path = write_speculation_profile(
        tmp_path / "speculation_profile.json", TABLE, measurement_conditions={"osl": 256}
    )

    assert json.loads(path.read_text(encoding="utf-8"))["measurement_conditions"] == {"osl": 256}
    (reading,) = read_log(path)
    assert reading.counts == TABLE
