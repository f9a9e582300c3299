"""SDB: what a draft would keep at every token, from which shorter drafts can be replayed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from real_runs.engines import MetricsFormatError, read_text
from simulator import AcceptanceTable


def test_every_token_is_a_step_and_rounds_begin_where_the_last_ended():
    # rounds at 0 (keeps 2), 3 (keeps 0), 4 (keeps 1): six tokens, the end cuts nothing
    line = {
        "id": "q",
        "acc_eagle": {"acc_len": [3, 1, 2, 1, 2, 4]},
        "acc_ngram": {"acc_len": [1] * 6},
    }
    (reading,) = read_text(json.dumps(line))

    assert (reading.engine, reading.method) == ("sdb", "eagle")
    (unit,) = reading.units
    assert unit.every_position
    assert unit.steps == ((3, 2), (3, 0), (3, 1), (3, 0), (3, 1), (3, 3))
    assert reading.counts == AcceptanceTable(
        rounds=3, drafted=9, tested=(3, 2, 1), accepted=(2, 1, 0), length_rule="unknown"
    )
    (skipped,) = reading.skipped
    assert "acc_ngram: no drafted token would be kept" in skipped.reason


def test_two_methods_are_two_readings():
    line = {"acc_eagle": {"acc_len": [2, 1]}, "acc_ngram": {"acc_len": [1, 3, 2, 1]}}
    eagle, ngram = read_text(json.dumps(line))

    assert (eagle.method, ngram.method) == ("eagle", "ngram")
    assert ngram.counts.rounds == 2
    assert ngram.counts.discarded == 0
    assert any("without a match" in note for note in ngram.notes)


def test_a_length_without_the_bonus_is_refused():
    with pytest.raises(MetricsFormatError, match="length of 0 tokens"):
        read_text(json.dumps({"acc_eagle": {"acc_len": [0, 2]}}))


@given(st.lists(st.integers(1, 6), min_size=1, max_size=60).filter(lambda each: max(each) > 1))
def test_a_walk_emits_every_token_once(lengths):
    (reading,) = read_text(json.dumps({"acc_eagle": {"acc_len": lengths}}))

    assert reading.counts.emitted == len(lengths)
    assert [kept + 1 for _, kept in reading.units[0].steps] == lengths
