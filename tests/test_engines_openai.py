"""The prediction tokens in the usage of OpenAI's API: drafted and accepted, no rounds."""

from __future__ import annotations

import json

import pytest

from real_runs.engines import MetricsFormatError, read_text


def answer(accepted, rejected, number=0):
    details = {"accepted_prediction_tokens": accepted, "rejected_prediction_tokens": rejected}
    details = {name: value for name, value in details.items() if value is not None}
    usage = {"completion_tokens": 90, "completion_tokens_details": details}
    return json.dumps({"id": f"chatcmpl-{number}", "model": "m", "usage": usage})


def test_requests_are_summed_and_those_without_a_prediction_say_nothing():
    (reading,) = read_text("\n".join([answer(40, 20), answer(0, 0, 1), answer(5, 55, 2)]))

    assert reading.title == "OpenAI, usage of requests"
    assert (reading.counts.drafted, reading.counts.accepted, reading.counts.rounds) == (
        120,
        45,
        None,
    )
    assert [unit.name for unit in reading.units] == ["chatcmpl-0", "chatcmpl-2"]
    assert any("do not follow" in note for note in reading.notes)


def test_an_accepted_count_alone_is_skipped_with_its_reason():
    (reading,) = read_text("\n".join([answer(40, 20), answer(7, None, 1)]))

    assert reading.counts.drafted == 60
    assert [skip.line for skip in reading.skipped] == [2]
    assert "without rejected_prediction_tokens" in reading.skipped[0].reason


@pytest.mark.parametrize("text", [answer(0, 0), answer(-3, 5)])
def test_nothing_predicted_and_impossible_counts_give_no_reading(text):
    with pytest.raises(MetricsFormatError):
        read_text(text)
