"""Answer files: Spec-Bench's rounds in order, the totals of EAGLE and Medusa."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from real_runs.engines import MetricsFormatError, read_text
from simulator import AcceptanceTable


def answer(number, turns, *, category="writing"):
    """A line of Spec-Bench: lengths of all turns in one list, the rest by turn."""
    return json.dumps(
        {
            "question_id": number,
            "category": category,
            "model_id": "m",
            "choices": [
                {
                    "index": 0,
                    "turns": ["text"] * len(turns),
                    "decoding_steps": [len(turn) for turn in turns],
                    "new_tokens": [sum(turn) for turn in turns],
                    "wall_time": [0.5 * len(turn) for turn in turns],
                    "accept_lengths": [length for turn in turns for length in turn],
                }
            ],
        }
    )


def test_lengths_are_rounds_in_order_with_the_bonus():
    text = "\n".join([answer(81, [[3, 1], [2]]), answer(82, [[1, 1, 4]], category="qa")])
    (reading,) = read_text(text)

    assert reading.engine == "spec-bench"
    assert reading.counts == AcceptanceTable(
        rounds=6, drafted=18, tested=(6, 3, 2), accepted=(3, 2, 1), length_rule="unknown"
    )
    assert [unit.name for unit in reading.units] == ["81, turn 1", "81, turn 2", "82"]
    assert reading.units[0].steps == ((3, 2), (3, 0))
    assert reading.units[2].label("category") == "qa"
    assert [unit.decode_s for unit in reading.units] == [1.0, 0.5, 1.5]
    assert reading.emitted == 12
    assert reading.clock.tokens_per_s == pytest.approx(12 / 3.0)
    assert any("longest accepted draft has 3 tokens" in note for note in reading.notes)
    assert reading.gamma is None


def test_turns_that_do_not_add_up_stay_one_unit():
    line = json.loads(answer(1, [[3, 1], [2]]))
    line["choices"][0]["decoding_steps"] = [1, 1]  # as indices of the last round
    (reading,) = read_text(json.dumps(line))

    (unit,) = reading.units
    assert unit.counts.rounds == 3
    assert unit.decode_s == 1.5


def test_one_number_instead_of_a_list():
    line = {"new_tokens": 4, "wall_time": 2.0, "accept_lengths": [3, 1], "decoding_steps": 2}
    (reading,) = read_text(json.dumps(line))

    assert (reading.counts.rounds, reading.units[0].decode_s) == (2, 2.0)


@pytest.mark.parametrize(
    ("lengths", "reason"),
    [
        ([0, 1], "a round of 0 tokens"),
        ([2, -1], "is not a count"),
        ([2, 1.5], "is not a count"),
        ([2, 900], "outside 1 to"),
        ([1, 1, 1], "every round emitted one token"),
    ],
)
def test_lengths_that_are_none(lengths, reason):
    with pytest.raises(MetricsFormatError, match=reason):
        read_text(json.dumps({"choices": [{"accept_lengths": lengths, "new_tokens": [3]}]}))


@given(
    st.lists(st.lists(st.integers(1, 7), min_size=1, max_size=20), min_size=1, max_size=8).filter(
        lambda texts: max(map(max, texts)) > 1
    )
)
def test_what_is_written_is_read(texts):
    (reading,) = read_text("\n".join(answer(n, [turn]) for n, turn in enumerate(texts)))

    longest = max(map(max, texts)) - 1
    assert [unit.steps for unit in reading.units] == [
        tuple((longest, length - 1) for length in turn) for turn in texts
    ]
    every = [length for turn in texts for length in turn]
    assert reading.counts.tokens_per_round.value == pytest.approx(sum(every) / len(every))


def test_eagle_has_totals_only():
    lines = [
        {"question_id": n, "choices": [{"idxs": idxs, "new_tokens": new, "wall_time": wall}]}
        for n, (idxs, new, wall) in enumerate(
            [([10, 20], [35, 70], [1.0, 2.0]), ([30], [95], [3.0])]
        )
    ]
    (reading,) = read_text("\n".join(map(json.dumps, lines)))

    (ratio,) = reading.printed
    assert reading.engine == "eagle"
    assert reading.counts is None
    assert (ratio.quantity, ratio.value) == ("tokens_per_round", pytest.approx(200 / 60))
    assert (reading.emitted, reading.used) == (200, 2)
    assert reading.clock.tokens_per_s == pytest.approx(200 / 6)


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        ({"idxs": [3, 4], "new_tokens": [9]}, "idxs has 2 turns and new_tokens 1"),
        ({"idxs": [0], "new_tokens": [9]}, "counts no pass"),
        ({"idxs": [10], "new_tokens": [9]}, "9 tokens in 10 passes"),
    ],
)
def test_passes_that_do_not_fit_their_tokens(choice, reason):
    with pytest.raises(MetricsFormatError, match=reason):
        read_text(json.dumps({"choices": [choice]}))
