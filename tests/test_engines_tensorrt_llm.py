"""TensorRT-LLM: statistics of iterations and requests, reports, and accuracies of Medusa heads."""

import json

import pytest

from real_runs.engines import MetricsFormatError, read_text
from simulator import AcceptanceTotals

HEADS = (  # TensorRT-LLM issue 2506
    "TopK=0\n> Head 0 Accuracy=0.6837761270606081\n> Head 1 Accuracy=0.32617484167971394\n"
    "> Head 2 Accuracy=0.1807497640902462"
)
LENGTHS = "[AL] MINIMUM: 1.04\n[AL] MAXIMUM: 3.82\n[AL] AVERAGE: 1.86\n[AL] P50    : 1.78"


def iteration(requests, drafted, accepted, *, latency_ms=20.0, **more):
    stats = {
        "numDraftTokens": drafted,
        "numAcceptedTokens": accepted,
        "numRequestsWithDraftTokens": requests,
        "acceptanceLength": (accepted + requests) / requests if requests else 0.0,
        "iterLatencyMS": latency_ms,
        "draftOverhead": 0.25,
    }
    return {"iter": 7, "numActiveRequests": requests, "specDecodingStats": stats | more}


def printed(reading):
    return {(ratio.quantity, ratio.averaged_over): ratio.value for ratio in reading.printed}


def test_iterations_are_summed_with_their_times():
    both = [iteration(2, 6, 3), iteration(1, 3, 2, latency_ms=10.0)]
    (reading,) = read_text(json.dumps(both))

    assert reading.counts == AcceptanceTotals(
        drafted=9, accepted=5, rounds=3, longest_draft=3, length_rule="fixed"
    )
    assert reading.gamma == 3
    assert reading.unit == "interval"
    assert [unit.counts.accepted for unit in reading.units] == [3, 2]
    assert [unit.decode_s for unit in reading.units] == [
        None,
        0.01,
    ]  # two requests shared the first
    clock = reading.clock
    assert clock.s_per_round == pytest.approx(0.015, rel=1e-12)
    assert clock.running == pytest.approx(1.5, rel=1e-12)
    assert clock.tokens_per_s == pytest.approx(8 / 0.03, rel=1e-12)
    assert clock.draft_s / clock.decode_s == pytest.approx(0.25, rel=1e-12)


def test_the_share_of_drafting_is_weighted_by_latency():
    both = [
        iteration(1, 3, 2, draftOverhead=0.1),
        iteration(1, 3, 2, latency_ms=60.0, draftOverhead=0.5),
    ]
    (reading,) = read_text(json.dumps(both))

    assert reading.clock.draft_s == pytest.approx(0.002 + 0.03, rel=1e-12)
    assert any("Drafting takes 40.0%" in note for note in reading.notes)


def test_drafts_of_changing_length_have_no_gamma():
    (reading,) = read_text(json.dumps([iteration(1, 3, 2), iteration(1, 4, 2)]))
    assert reading.gamma is None
    assert reading.counts.longest_draft is None

    (mixed,) = read_text(json.dumps([iteration(2, 6, 3)]))
    assert mixed.gamma is None  # 3 and 3, or 2 and 4


def test_iterations_without_a_draft_are_skipped():
    none = {"iter": 8, "specDecodingStats": None}
    text = "\n".join(json.dumps(each) for each in [none, iteration(0, 0, 0), iteration(1, 3, 2)])
    (reading,) = read_text(text)

    assert reading.counts.rounds == 1
    assert [skip.line for skip in reading.skipped] == [1, 2]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (iteration(1, 3, 2, acceptanceLength=2.0), "acceptanceLength 2 contradicts the counts"),
        (iteration(1, 3, 4), r"accepted \(4\) is above drafted \(3\)"),
        (iteration(0, 3, 2), "3 tokens are drafted for no request"),
        (iteration(1, 3, 2, draftOverhead=25.0), "draftOverhead is 25, and a share is at most 1"),
        (iteration(1, 3, 2, numDraftTokens="many"), "numDraftTokens is not a count"),
        (iteration(1, 3, 2, numDraftTokens=None), "specDecodingStats has no 'numDraftTokens'"),
        ({"specDecodingStats": 7}, "specDecodingStats is no object"),
    ],
)
def test_iterations_that_cannot_be_are_told(value, reason):
    with pytest.raises(MetricsFormatError, match=reason):
        read_text(json.dumps(value), engine="tensorrt-llm")

    (reading,) = read_text(f"{json.dumps(value)}\n{json.dumps(iteration(1, 3, 2))}")
    assert reading.counts.rounds == 1
    assert reading.clock.s_per_round == pytest.approx(0.02, rel=1e-12)


def request(accepted, drafted, *, average=None):
    rate = accepted / drafted if drafted else 0.0
    inner = {
        "acceptance_rate": rate,
        "total_accepted_draft_tokens": accepted,
        "total_draft_tokens": drafted,
    }
    more = {} if average is None else {"avg_decoded_tokens_per_iter": average}
    return {"perf_metrics": more | {"speculative_decoding": inner}}


def test_requests_give_counts_and_a_mean_of_means():
    text = "\n".join(
        json.dumps(r) for r in [request(10, 40, average=1.8), request(30, 40, average=3.2)]
    )
    (reading,) = read_text(text)

    assert reading.engine == "tensorrt-llm"
    assert reading.counts == AcceptanceTotals(drafted=80, accepted=40)
    assert len(reading.units) == 2
    assert printed(reading) == {("tokens_per_round", "2 requests, unweighted"): 2.5}


def test_tokens_per_iteration_stand_alone():
    (reading,) = read_text('{"id": 3, "avg_decoded_tokens_per_iter": 1.83}')

    assert reading.counts is None
    assert printed(reading) == {("tokens_per_round", "1 request, unweighted"): 1.83}


def test_counts_of_zero_are_told_apart_from_no_draft():
    with pytest.raises(MetricsFormatError, match="nothing was drafted"):
        read_text(json.dumps(request(0, 0)), engine="tensorrt-llm")

    (reading,) = read_text(json.dumps([request(0, 0), request(10, 40)]))
    assert "a release whose PyTorch flow leaves the counts at 0" in reading.skipped[0].reason


def test_vllms_object_of_the_same_name_is_not_taken():
    vllm = '{"speculative_decoding": {"num_spec_steps": 43, "num_draft_tokens": 129}}'

    with pytest.raises(MetricsFormatError, match="no metrics of speculative decoding"):
        read_text(vllm, engine="tensorrt-llm")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (request(41, 40), r"accepted \(41\) is above drafted \(40\)"),
        ({"total_draft_tokens": 40}, "only one of its two counts"),
        ({"avg_decoded_tokens_per_iter": 0.4}, "avg_decoded_tokens_per_iter is 0.4"),
        (
            {
                "acceptance_rate": 0.9,
                "total_accepted_draft_tokens": 10,
                "total_draft_tokens": 40,
            },
            "acceptance_rate 0.9 contradicts the counts",
        ),
    ],
)
def test_requests_that_cannot_be_are_told(value, reason):
    with pytest.raises(MetricsFormatError, match=reason):
        read_text(json.dumps(value), engine="tensorrt-llm")


def test_a_report_gives_percentiles_over_requests():
    lengths = {"minimum": 1.04, "maximum": 3.82, "average": 1.86, "p50": 1.78, "p99": 3.6}
    stats = {
        "mode": "EAGLE3",
        "num_draft_tokens_percentiles": {"average": 400.0},
        "draft_acceptance_rate_percentiles": {"average": 0.29},
        "acceptance_length_percentiles": lengths,
    }
    (reading,) = read_text(
        json.dumps({"engine": {"version": "1.1"}, "decoding_stats": stats}, indent=2)
    )

    assert reading.counts is None
    first, *_ = reading.printed
    assert (first.quantity, first.value, first.averaged_over) == (
        "tokens_per_round",
        1.86,
        "requests, unweighted",
    )
    assert printed(reading) == {
        ("tokens_per_round", "requests, unweighted"): 1.86,
        ("tokens_per_round", "requests: minimum"): 1.04,
        ("tokens_per_round", "requests: p50"): 1.78,
        ("tokens_per_round", "requests: p99"): 3.6,
        ("tokens_per_round", "requests: maximum"): 3.82,
        ("accepted_fraction", "requests, unweighted"): 0.29,
    }
    assert any("an upper bound" in note for note in reading.notes)


def test_the_text_of_a_report():
    (reading,) = read_text(f"{LENGTHS}\n[DAR] AVERAGE: 28.7%\n[DT] AVERAGE: 12.0")

    assert printed(reading) == {
        ("tokens_per_round", "requests, unweighted"): 1.86,
        ("tokens_per_round", "requests: minimum"): 1.04,
        ("tokens_per_round", "requests: p50"): 1.78,
        ("tokens_per_round", "requests: maximum"): 3.82,
        ("accepted_fraction", "requests, unweighted"): pytest.approx(0.287, rel=1e-12),
    }
    assert reading.printed[0].half_width == 0.005


def test_a_statistic_that_comes_again_begins_the_next_report():
    readings = read_text(f"{LENGTHS}\n{LENGTHS.replace('1.86', '2.5')}")

    assert [reading.layout for reading in readings] == ["bench text", "bench text (2)"]
    assert [reading.printed[0].value for reading in readings] == [1.86, 2.5]


@pytest.mark.parametrize("order", [1, -1])
def test_a_serve_benchmark_gives_its_time_per_token(order):
    lines = ["Mean TPOT (ms):                8.20", "Mean Avg Decoded Tokens per Iter:    2.31"]
    (reading,) = read_text("\n".join(lines[::order]))

    assert printed(reading) == {("tokens_per_round", "requests, unweighted"): 2.31}
    assert reading.clock.s_per_token == pytest.approx(0.0082, rel=1e-12)


def test_heads_are_no_acceptance_within_the_engine():
    (reading,) = read_text(f"{HEADS}\nTopK=4\n> Head 0 Accuracy=0.8547")

    assert reading.counts is None
    assert [(r.quantity, r.depth) for r in reading.printed] == [
        ("head_accuracy", d) for d in range(3)
    ]
    assert [r.value for r in reading.printed] == pytest.approx(
        [0.683776, 0.326175, 0.18075], abs=1e-6
    )
    assert (reading.gamma, reading.method) == (3, "medusa")
    assert any("best 5 guesses are left out" in note for note in reading.notes)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[AL] AVERAGE: 0.5", "an acceptance length of 0.5"),
        ("[DAR] AVERAGE: 287", "a draft acceptance rate of 287 %"),
        ("Mean Avg Decoded Tokens per Iter: nan", "is not a number"),
        ("> Head 0 Accuracy=68.3", "an accuracy of 68.3, above 1"),
        ("> Head 999 Accuracy=0.5", "head 999 is beyond 256"),
    ],
)
def test_text_that_cannot_be_is_told(text, reason):
    with pytest.raises(MetricsFormatError, match=reason):
        read_text(text, engine="tensorrt-llm")
