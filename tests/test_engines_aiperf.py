"""AIPerf: the run's histogram, the requests' records, means by round and by request."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from real_runs.engines import MetricsFormatError, read_text
from simulator import AcceptanceTable, AcceptanceTotals


def request(histogram, *, drafted, gamma, name="r", **more):
    """A line of profile_export.jsonl, with the fields of AIPerf 0.13."""
    accepted = sum(int(kept) * rounds for kept, rounds in histogram.items())
    rounds = sum(histogram.values())
    return {
        "metadata": {"x_request_id": name, "benchmark_phase": "profiling", "session_num": 1},
        "metrics": {
            "request_latency": {"value": 900.0, "unit": "ms"},
            "time_to_first_token": {"value": 100.0, "unit": "ms"},
            "spec_decode_acceptance_length": {"value": 1 + accepted / rounds, "unit": "tokens"},
        },
        "spec_decode_acceptance": {
            "engine": "vllm",
            "mean_acceptance_length": 1 + accepted / rounds,
            "draft_acceptance_rate": accepted / drafted,
            "acceptance_histogram": histogram,
            "num_accepted_draft_tokens": accepted,
            "num_draft_tokens": drafted,
            "num_spec_steps": rounds,
            "num_spec_tokens": gamma,
            **more,
        },
    }


FIRST = request({"0": 1, "1": 1, "2": 2, "3": 3, "4": 1}, drafted=32, gamma=4, name="a")
SECOND = request({"0": 1, "1": 2}, drafted=12, gamma=4, name="b")


def test_requests_are_units_of_one_table():
    (reading,) = read_text("\n".join(json.dumps(each) for each in (FIRST, SECOND)))

    assert reading.engine == "aiperf"
    assert reading.counts == AcceptanceTable(
        rounds=11, drafted=44, tested=(11, 9, 6, 4), accepted=(9, 6, 4, 1)
    )
    assert [unit.name for unit in reading.units] == ["a", "b"]
    assert [unit.counts.rounds for unit in reading.units] == [8, 3]
    assert reading.units[0].label("benchmark_phase") == "profiling"
    assert reading.units[0].decode_s == pytest.approx(0.8)
    assert (reading.gamma, reading.unit) == (4, "request")


def test_rounds_in_order_are_kept():
    record = request(
        {"0": 1, "2": 1}, drafted=3, gamma=2, per_step_accepted=[2, 0], per_step_drafted=[2, 1]
    )
    (reading,) = read_text(json.dumps(record))

    assert reading.units[0].steps == ((2, 2), (1, 0))
    assert reading.counts == AcceptanceTable(
        rounds=2, drafted=3, tested=(2, 1), accepted=(1, 1), length_rule="unknown"
    )


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("num_spec_steps", 9, "num_spec_steps (9) contradicts the rounds"),
        ("num_accepted_draft_tokens", 17, "num_accepted_draft_tokens (17) contradicts"),
        ("mean_acceptance_length", 3.5, "tokens per round (3.5) contradict"),
        ("draft_acceptance_rate", 0.9, "contradicts the counts (18 accepted of 32 drafted)"),
        ("num_draft_tokens", 17, "accepted (18) is above drafted (17)"),
        ("num_spec_tokens", 3, "kept 4 tokens of a draft of at most 3"),
        ("acceptance_histogram", {"0": -1}, "is not a count"),
        ("acceptance_histogram", {"x": 1}, "is not a count"),
        ("acceptance_histogram", {"9999": 1}, "outside 0 to 256"),
        ("acceptance_histogram", True, "neither a list nor an object"),
    ],
)
def test_a_record_that_contradicts_itself_is_skipped(field, value, reason):
    wrong = json.loads(json.dumps(FIRST))
    wrong["spec_decode_acceptance"][field] = value
    (reading,) = read_text("\n".join(json.dumps(each) for each in (wrong, SECOND)))

    assert reading.counts.rounds == 3
    (skipped,) = reading.skipped
    assert reason in skipped.reason
    with pytest.raises(MetricsFormatError):
        read_text(json.dumps(wrong))


def test_a_run_pools_by_round_and_says_the_mean_by_request():
    summary = {
        "spec_decode_acceptance_length": {"unit": "tokens", "avg": 2.458333333, "count": 2},
        "spec_decode_token_weighted_acceptance_length": {"unit": "tokens", "avg": 1 + 20 / 11},
        "spec_decode_overall_draft_acceptance_rate": {"unit": "ratio", "avg": 20 / 44},
        "total_spec_decode_steps": {"unit": "steps", "avg": 11},
        "total_accepted_draft_tokens": {"unit": "tokens", "avg": 20},
        "total_draft_tokens": {"unit": "tokens", "avg": 44},
        "pooled_spec_decode_acceptance_histogram": {"0": 2, "1": 3, "2": 2, "3": 3, "4": 1},
        "inter_token_latency": {"unit": "ms", "avg": 12.5},
        "output_token_throughput": {"unit": "tokens/sec", "avg": 80.0},
    }
    (reading,) = read_text(json.dumps(summary, indent=1))

    assert reading.counts == AcceptanceTotals(
        drafted=44, accepted=20, rounds=11, accepted_by_depth=(9, 6, 4, 1)
    )
    assert any("mean by request, each counted alike, is 2.45833" in note for note in reading.notes)
    assert reading.clock.s_per_token == pytest.approx(0.0125)
    assert reading.clock.tokens_per_s == 80.0

    del summary["total_draft_tokens"]  # the rate in full digits leaves one number of drafted tokens
    (reading,) = read_text(json.dumps(summary))
    assert reading.counts.drafted == 44

    summary["total_spec_decode_steps"] = {"avg": 12}
    with pytest.raises(MetricsFormatError, match="total_spec_decode_steps"):
        read_text(json.dumps(summary))


def test_a_run_without_a_histogram_gives_its_ratios():
    summary = {
        "spec_decode_acceptance_length": {"unit": "tokens", "avg": 2.5},
        "spec_decode_draft_acceptance_rate": {"unit": "%", "avg": 37.5},
        "spec_decode_accepted_per_verified": {"unit": "ratio", "avg": 0.5},
    }
    (reading,) = read_text(json.dumps(summary))

    assert reading.counts is None
    assert {(each.quantity, each.value) for each in reading.printed} == {
        ("tokens_per_round", 2.5),
        ("accepted_fraction", 0.375),
        ("efficiency", 0.5),
    }
    assert {each.averaged_over for each in reading.printed} == {"requests, unweighted"}


@given(
    st.lists(
        st.lists(st.integers(0, 5), min_size=1, max_size=30).filter(any), min_size=1, max_size=6
    )
)
def test_what_is_written_is_read(requests):
    lines = []
    for kept in requests:
        histogram = {str(n): kept.count(n) for n in sorted(set(kept))}
        lines.append(json.dumps(request(histogram, drafted=5 * len(kept), gamma=5)))
    (reading,) = read_text("\n".join(lines))

    every = [kept for each in requests for kept in each]
    assert reading.counts.ended == tuple(every.count(n) for n in range(6))
    assert [unit.counts.rounds for unit in reading.units] == [len(each) for each in requests]


@pytest.mark.parametrize(
    ("name", "average", "finding"),
    [
        ("spec_decode_draft_acceptance_rate", 10.5, "unit_error"),
        ("spec_decode_acceptance_length", 0.5, "length_outside_range"),
    ],
)
def test_averages_that_cannot_be_are_refused(name, average, finding):
    summary = {"spec_decode_acceptance_length": {"avg": 2.5}, name: {"avg": average}}
    with pytest.raises(MetricsFormatError) as error:
        read_text(json.dumps(summary))
    assert error.value.finding == finding
