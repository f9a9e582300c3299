"""LM Studio: drafted and accepted tokens of requests, whose rounds nobody prints."""

from __future__ import annotations

import json

import pytest

from real_runs.engines import MetricsFormatError, read_text


def test_stats_of_a_library():
    # a fixture of the format: stats of LM Studio's libraries
    (reading,) = read_text(
        '"stats": { "stopReason": "eosFound", "promptTokensCount": 34, "predictedTokensCount": 233, '
        '"totalTokensCount": 267, "totalDraftTokensCount": 100, "acceptedDraftTokensCount": 80 }'
    )

    assert reading.title == "LM Studio, stats"
    assert (reading.counts.drafted, reading.counts.accepted) == (100, 80)
    assert reading.counts.rounds is None
    assert reading.emitted == 233
    assert any(
        note.startswith("Of 233 predicted tokens 153 were not drafted") for note in reading.notes
    )


def test_stats_of_a_server_with_usage_beside():
    response = {
        "usage": {"prompt_tokens": 66, "completion_tokens": 300},
        "stats": {
            "tokens_per_second": 17.9,
            "draft_model": "d",
            "total_draft_tokens_count": 492,
            "accepted_draft_tokens_count": 176,
            "rejected_draft_tokens_count": 316,
            "ignored_draft_tokens_count": 0,
        },
    }
    (reading,) = read_text("\n".join([json.dumps(response), json.dumps(response)]))

    assert (reading.counts.drafted, reading.counts.accepted, reading.emitted) == (984, 352, 600)
    assert len(reading.units) == 2
    (one,) = read_text(json.dumps(response))
    assert (one.clock.tokens_per_s, one.clock.running) == (17.9, 1.0)


def test_ignored_tokens_are_said():
    (reading,) = read_text(
        json.dumps(
            {
                "totalDraftTokensCount": 10,
                "acceptedDraftTokensCount": 4,
                "rejectedDraftTokensCount": 5,
                "ignoredDraftTokensCount": 1,
            }
        )
    )
    assert any("1 drafted tokens were ignored" in note for note in reading.notes)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"rejected_draft_tokens_count": 300}, "are not the 492 drafted"),
        ({"accepted_draft_tokens_count": 500}, "above drafted"),
        ({"predicted_tokens_count": 100}, "above the 100 predicted tokens"),
        ({"accepted_draft_tokens_count": 0, "total_draft_tokens_count": 0}, "nothing was drafted"),
        ({"accepted_draft_tokens_count": True}, "is not a count"),
    ],
)
def test_counts_that_cannot_be(change, reason):
    stats = {"total_draft_tokens_count": 492, "accepted_draft_tokens_count": 176, **change}
    with pytest.raises(MetricsFormatError, match=reason):
        read_text(json.dumps({"stats": stats}))
