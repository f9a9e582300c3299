"""Readings that can count the same tokens say so; findings in skipped lines reach whoever reads."""

import json

import pytest

from real_runs.engines import MetricsFormatError, read_text

LLAMACPP = (
    "draft acceptance = 0.64479 (  167 accepted /   259 generated), mean acceptance length =  2.92, "
    "acceptance rate per position = (0.805, 0.632, 0.483)\n"
)
TIMINGS = json.dumps({"timings": {"predicted_n": 256, "draft_n": 259, "draft_n_accepted": 167}})
ADAPTIVE = (
    "adaptive draft depth seq 0: 6 -> 7 (n_draft=6, n_accepted=6, n_cur=7, cur_accepted=8134, "
    "cur_generated=11083)\n"
)
VLLM = (
    "SpecDecoding metrics: Mean acceptance length: 3.28, Accepted: 474 tokens, Drafted: 624 tokens, "
    "Per-position acceptance rate: 0.938, 0.769, 0.572, Avg Draft acceptance rate: 76.0%\n"
)
REQUEST = json.dumps(
    {"speculative_decoding": {"acceptance_histogram": [39, 1, 0, 3], "num_spec_steps": 43,
                              "num_accepted_draft_tokens": 10, "num_draft_tokens": 129}}
) + "\n"  # fmt: skip
BLOCK = (
    "num_drafts: 10\nnum_draft_tokens: 20\nnum_accepted_tokens: 12\nmean acceptance length: 2.20\n"
)
CLIENT = json.dumps({"spec_decode_acceptance_length": {"avg": 2.5}}) + "\n"
POOLED = json.dumps({"pooled_spec_decode_acceptance_histogram": {"0": 64, "1": 30}}) + "\n"


def overlaps(text):
    """By layout, the notes on what can count the same tokens."""
    return {
        reading.layout: [note for note in reading.notes if "can count the same tokens" in note]
        for reading in read_text(text)
    }


def test_lines_and_timings_of_the_same_requests_name_each_other():
    assert overlaps(LLAMACPP + TIMINGS) == {
        "acceptance per request": [
            "'timings of requests' of this text can count the same tokens: never add the two."
        ],
        "timings of requests": [
            "'acceptance per request' of this text can count the same tokens: never add the two."
        ],
    }


def test_three_readings_name_the_two_others():
    found = overlaps(VLLM + REQUEST + BLOCK)

    assert found["interval line"] == [
        (
            "'block of the offline example' and 'metrics of requests' of this text can count the same "
            "tokens: never add them."
        )
    ]
    assert all(len(notes) == 1 for notes in found.values())


def test_layouts_of_one_collector_name_each_other():
    found = overlaps(LLAMACPP + ADAPTIVE)

    assert ["'adaptive draft depth' and 'rounds that moved" in note
            for note in found["acceptance per request"]] == [True]  # fmt: skip
    assert len(found["adaptive draft depth"]) == 1


def test_other_engines_and_ratios_share_nothing_and_a_client_shares_with_its_server():
    assert set(map(len, overlaps(VLLM + LLAMACPP).values())) == {0}
    assert set(map(len, overlaps(VLLM + CLIENT).values())) == {0}  # ratios are no counts
    assert set(map(len, overlaps(VLLM + POOLED).values())) == {1}


def test_findings_of_skipped_lines_are_noted_with_their_number():
    wrong = "draft acceptance = 0.6 (  367 accepted /   259 generated)\n"
    (reading,) = read_text(LLAMACPP + wrong * 30)

    assert "Findings in skipped lines: accepted without drafted (30 lines)." in reading.notes
    assert {each.finding for each in reading.skipped} == {"accepted_without_drafted"}
    assert not any("Findings" in note for note in read_text(LLAMACPP)[0].notes)


def test_an_error_carries_the_finding():
    with pytest.raises(MetricsFormatError, match="above drafted") as error:
        read_text("draft acceptance = 0.6 (  367 accepted /   259 generated)")
    assert error.value.finding == "accepted_without_drafted"

    with pytest.raises(MetricsFormatError) as error:
        read_text("hello")
    assert error.value.finding is None
