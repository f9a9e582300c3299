"""llama.cpp's cumulative statistics: the last line counts, and the notes say what its rounds are."""

import pytest

from real_runs.engines import MetricsFormatError, read_text
from simulator import AcceptanceTotals

NGRAM = (  # this line and the next one are in logs/llamacpp_statistics.log
    "statistics ngram_mod: #calls = 810, #gen drafts = 15, #acc drafts = 15, #gen tokens = 960, "
    "#acc tokens = 730, dur(b,g,a) = 0.149, 0.347, 0.005 ms"
)
JUDGED = (
    "statistics draft-mtp: #calls(b,g,a) = 18 1308 1308, #gen drafts = 1308, #acc drafts = 1134, "
    "#gen tokens = 2602, #acc tokens = 2031, dur(b,g,a) = 0.016, 54825.426, 2.174 ms"
)
CALLS = "Only 15 of {} calls made a draft: tokens per round and speedup are those of rounds with a draft."


def test_of_cumulative_lines_the_last_counts():
    first = (
        "statistics draft-mtp: #calls(b,g,a) = 1 2 2, #gen drafts = 2, #acc drafts = 2, #gen tokens = 4, "
        "#acc tokens = 4, #mean acc len = 3.00, #acc rate/pos = (1.000, 1.000), dur(b,g,a) = 0.0, 1.0, 0.0 ms"
    )
    last = (
        "spec common_specu: statistics draft-mtp: #calls(b,g,a) = 2 206 206, #gen drafts = 206, "
        "#acc drafts = 173, #gen tokens = 411, #acc tokens = 311, #mean acc len = 2.51, "
        "#acc rate/pos = (0.840, 0.670), dur(b,g,a) = 0.004, 1.0, 0.5 ms"
    )
    (reading,) = read_text(f"{first}\n{last}")

    assert reading.counts.rounds == 206
    assert reading.counts.accepted_by_depth == (173, 138)
    assert reading.used == 1
    assert "Cumulative counters: line 2 counts, the last of 2." in reading.notes
    assert not any("fell" in note for note in reading.notes)

    (restarted,) = read_text(f"{last}\n{first}")
    assert restarted.counts.rounds == 2
    assert any(note.startswith("The counters fell once, in line 2 (") for note in restarted.notes)

    (twice,) = read_text(f"{last}\n{first}\n{last}\n{first}")
    assert any(
        note.startswith("The counters fell 2 times, last in line 4 (") for note in twice.notes
    )


def test_depths_behind_the_deepest_accepted_token_are_zeros():
    # 10 rounds of 3 tokens of which no third was ever kept: the list has two entries
    (reading,) = read_text(
        "statistics draft: #calls(b,g,a) = 1 10 10, #gen drafts = 10, #acc drafts = 6, #gen tokens = 30, "
        "#acc tokens = 9, #mean acc len = 1.90, #acc rate/pos = (0.600, 0.300)"
    )

    assert reading.counts.accepted_by_depth == (6, 3, 0)
    assert reading.counts.longest_draft is None  # one draft of 12 tokens is as possible
    assert reading.counts.to_table() is None


def test_drafts_that_were_never_judged_are_no_rounds():
    (reading,) = read_text(
        "statistics draft: #calls(b,g,a) = 1 12 10, #gen drafts = 12, #acc drafts = 6, #gen tokens = 36, "
        "#acc tokens = 9, #mean acc len = 1.90, #acc rate/pos = (0.600, 0.300)"
    )

    assert reading.counts == AcceptanceTotals(drafted=36, accepted=9, rounds=10)
    assert any(note.startswith("Drafts: 12 made, 10 judged;") for note in reading.notes)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (NGRAM, "Rounds are the drafts made, #gen drafts: how many were judged is not printed."),
        (JUDGED, "Rounds are the drafts judged, the last number of #calls(b,g,a)."),
    ],
)
def test_the_notes_say_where_rounds_come_from(text, note):
    (reading,) = read_text(text)

    assert note in reading.notes


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (NGRAM, CALLS.format(810)),
        (NGRAM.replace("#calls = 810", "#calls(b,g,a) = 3 700 15"), CALLS.format(700)),
        (NGRAM.replace("#calls = 810", "#calls(b,g,a) = 900 15 15"), None),
        (NGRAM.replace("#calls = 810", "#calls = 15"), None),
        (JUDGED, None),
    ],
)
def test_calls_without_a_draft_are_no_rounds_and_told(text, note):
    (reading,) = read_text(text)

    assert [each for each in reading.notes if each.startswith("Only")] == ([note] if note else [])


def test_the_printed_ratios_are_those_of_the_line_that_counts():
    text = "{}, #mean acc len = {}"
    (reading,) = read_text(f"{text.format(JUDGED, 2.55)}\n{text.format(JUDGED, 2.55)}")

    assert [(ratio.quantity, ratio.value) for ratio in reading.printed] == [
        ("tokens_per_round", 2.55)
    ]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (JUDGED.replace("1308 1308,", "1308,"), "the line has no '#calls' with its count or three"),
        (JUDGED.replace("1308 1308,", "1308 -2,"), "#calls is not a count (-2)"),
        (JUDGED.replace("2602", "-2602"), "#gen tokens is not a count (-2602)"),
        (JUDGED.replace("-mtp", "x" * 80), "the name before '#calls' has more than 64 characters"),
    ],
)
def test_counters_that_are_none_are_told(bad, reason):
    with pytest.raises(MetricsFormatError) as error:
        read_text(bad)

    assert reason in str(error.value)
