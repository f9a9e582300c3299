"""vLLM's JSON: the metrics of single requests, and the results of bench serve."""

import json

import pytest

from real_runs.engines import MetricsFormatError, read_text
from simulator import AcceptanceTable

SUMMARY = {  # llama-swap issue 1032
    "mean_acceptance_length": 1.2325581395348837,
    "draft_acceptance_rate": 0.07751937984496124,
    "acceptance_histogram": [39, 1, 0, 3],
    "num_spec_steps": 43,
    "num_accepted_draft_tokens": 10,
    "num_draft_tokens": 129,
    "num_spec_tokens": 3,
}
DETAILED = {
    "mean_acceptance_length": 2.0,
    "draft_acceptance_rate": 0.6666666666666666,
    "acceptance_histogram": [1, 2, 1, 0],
    "num_spec_steps": 4,
    "num_accepted_draft_tokens": 4,
    "num_draft_tokens": 6,
    "num_spec_tokens": 3,
    "per_step_accepted": [1, 0, 2, 1],
    "per_step_drafted": [1, 1, 3, 1],
}


def response(metrics, *, name="cmpl-1", model="m", tokens=54):
    return {
        "id": name,
        "model": model,
        "choices": [{"index": 0, "text": "x"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": tokens},
        "metrics": {"speculative_decoding": metrics},
    }


@pytest.mark.parametrize(
    "text",
    [
        '"speculative_decoding": ' + json.dumps(SUMMARY),
        'INFO 08-21 done "speculative_decoding": ' + json.dumps(SUMMARY) + " end",
        json.dumps(SUMMARY),
        json.dumps(response(SUMMARY)),
        json.dumps(response(SUMMARY), indent=2),
        "data: " + json.dumps(response(SUMMARY)) + "\n\ndata: [DONE]\n",
    ],
)
def test_the_public_summary_gives_the_numbers_of_its_case(text):
    (reading,) = read_text(text)
    table = reading.counts

    assert table == AcceptanceTable(
        rounds=43, drafted=129, tested=(43, 4, 3), accepted=(4, 3, 3), length_rule="fixed"
    )
    assert reading.layout == "metrics of requests"
    assert (reading.unit, reading.gamma, reading.version) == ("request", 3, "V1")
    assert table.tokens_per_round.value == pytest.approx(1.233, rel=1e-3)
    assert table.accepted_fraction.value == pytest.approx(0.07752, rel=1e-3)
    assert table.conditional_acceptance[0].value == pytest.approx(0.09302, rel=1e-3)
    assert sum(table.accepted) / sum(table.tested) == pytest.approx(0.2, rel=1e-3)
    (unit,) = reading.units
    assert (unit.counts, unit.steps) == (table, ())
    assert not any("recovered" in note for note in reading.notes)


def test_rounded_ratios_beside_the_counts_are_compared_within_their_digits():
    rounded = SUMMARY | {"mean_acceptance_length": 1.2326, "draft_acceptance_rate": 0.0775}
    (reading,) = read_text(json.dumps({"metrics": {"speculative_decoding": rounded}}))

    assert reading.counts.rounds == 43
    assert [r.value for r in reading.printed] == [0.0775, 1.2326]


def test_detailed_metrics_give_the_rounds_in_order_and_an_exact_table():
    (reading,) = read_text(json.dumps(response(DETAILED, tokens=9)))
    (unit,) = reading.units

    assert unit.steps == ((1, 1), (1, 0), (3, 2), (1, 1))
    assert (
        reading.counts
        == unit.counts
        == AcceptanceTable(
            rounds=4, drafted=6, tested=(4, 1, 1), accepted=(3, 1, 0), length_rule="unknown"
        )
    )
    assert reading.gamma == 3
    assert "The rounds of 1 request are in order: drafted and accepted." in reading.notes


def test_a_summary_of_drafts_of_several_lengths_is_no_table():
    summary = {name: value for name, value in DETAILED.items() if not name.startswith("per_step")}
    (reading,) = read_text(json.dumps(response(summary, tokens=9)))

    assert reading.counts.accepted_by_depth == (3, 1, 0)
    assert reading.counts.to_table() is None
    assert reading.counts.length_rule == "unknown"


def test_requests_are_units_with_the_name_and_model_of_their_response():
    lines = [response(SUMMARY, name="a", model="x"), response(DETAILED, name="b", tokens=12)]
    (reading,) = read_text("\n".join(map(json.dumps, lines)))

    assert [unit.name for unit in reading.units] == ["a", "b"]
    assert [unit.label("model") for unit in reading.units] == ["x", "m"]
    assert reading.counts.rounds == 47
    assert reading.emitted == 54 + 12
    assert "2 requests are summed." in reading.notes
    # b: 12 completion tokens, 1 + 4 + 4 of them explained
    assert (
        "3 completion tokens more than prefill and the rounds counted explain: at least as many rounds "
        "had no draft."
    ) in reading.notes


def test_without_usage_it_is_said_that_undrafted_rounds_are_not_counted():
    (reading,) = read_text(json.dumps(SUMMARY))

    assert reading.emitted is None
    assert any(note.startswith("Rounds without a draft are not counted") for note in reading.notes)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"num_spec_steps": 44}, "the histogram has 43 steps and 10 accepted tokens, the counts say 44"),
        ({"num_accepted_draft_tokens": 11}, "accepted tokens, the counts say 43 and 11"),
        ({"num_draft_tokens": 9}, "accepted (10) is above drafted (9)"),
        ({"num_draft_tokens": 130}, "drafted (130) is above 43 steps of 3 tokens"),
        ({"num_draft_tokens": None}, "the object has no count of steps, drafted and accepted tokens"),
        ({"num_draft_tokens": -1}, "num_draft_tokens is not a count (-1)"),
        ({"mean_acceptance_length": 1.3}, "mean_acceptance_length 1.3 contradicts the counts"),
        ({"draft_acceptance_rate": 0.3}, "the printed acceptance rate 0.3 contradicts the counts"),
        ({"num_spec_tokens": 300}, "num_spec_tokens is not 1 to 256 (300)"),
        ({"num_spec_tokens": 2}, "drafted (129) is above 43 steps of 2 tokens"),
        ({"num_spec_tokens": 2, "num_draft_tokens": 86, "draft_acceptance_rate": None},
         "a round kept 3 tokens of a draft of at most 2"),
        ({"per_step_accepted": [1], "per_step_drafted": []}, "per_step_accepted has 1 step, per"),
        ({"per_step_accepted": [0] * 43, "per_step_drafted": [3] * 43}, "contradict the histogram"),
        ({"acceptance_histogram": [0, 0, 0, 0], "num_spec_steps": 0, "num_accepted_draft_tokens": 0,
          "num_draft_tokens": 0}, "no draft in this request"),
    ],
)  # fmt: skip
def test_a_request_that_contradicts_itself_says_why(change, reason):
    text = json.dumps(response(SUMMARY | change))
    (reading,) = read_text(text + "\n" + json.dumps(response(SUMMARY)))
    (skipped,) = reading.skipped

    assert reading.counts.rounds == 43
    assert reason in skipped.reason
    with pytest.raises(MetricsFormatError):
        read_text(text)


BENCH = {
    "date": "20260803-120000",
    "max_concurrency": 8,
    "output_throughput": 411.25,
    "mean_tpot_ms": 12.5,
    "mean_itl_ms": 40.5,
    "ttfts": [0.1, 0.2],
    "spec_decode_acceptance_rate": 474 / 624 * 100,
    "spec_decode_acceptance_length": 1 + 474 / 208,
    "spec_decode_num_drafts": 208,
    "spec_decode_draft_tokens": 624,
    "spec_decode_accepted_tokens": 474,
    "spec_decode_per_position_acceptance_rates": [195 / 208, 160 / 208, 119 / 208],
}


def test_a_result_of_bench_serve_is_a_table_with_its_clock():
    (reading,) = read_text(json.dumps(BENCH))

    assert reading.layout == "result of bench serve"
    assert reading.counts == AcceptanceTable(
        rounds=208, drafted=624, tested=(208, 195, 160), accepted=(195, 160, 119)
    )
    assert (reading.gamma, reading.version) == (3, "V1")
    assert reading.clock.tokens_per_s == 411.25
    assert reading.clock.s_per_token == pytest.approx(0.0125)
    assert reading.clock.running == 8
    assert reading.printed[0].value == pytest.approx(474 / 624)  # printed in percent
    (longer,) = read_text(json.dumps(BENCH | {"total_output_tokens": 792, "completed": 10}))
    assert longer.emitted == 792
    assert any(note.startswith("100 output tokens more than prefill") for note in longer.notes)
    assert not any("recovered" in note for note in reading.notes)


def test_short_ratios_that_are_exact_are_exact_and_rounded_ones_are_bounds():
    exact = BENCH | {
        "spec_decode_acceptance_rate": 62.5,
        "spec_decode_acceptance_length": 2.25,
        "spec_decode_num_drafts": 4000,
        "spec_decode_draft_tokens": 8000,
        "spec_decode_accepted_tokens": 5000,
        "spec_decode_per_position_acceptance_rates": [0.75, 0.5],
    }
    (table,) = read_text(json.dumps(exact))
    rounded = exact | {
        "spec_decode_acceptance_rate": 62.51,
        "spec_decode_acceptance_length": 2.25,
        "spec_decode_accepted_tokens": 5001,
    }
    (bounds,) = read_text(json.dumps(rounded))

    assert table.counts.accepted == (3000, 2000)
    assert bounds.counts.accepted_by_depth is None
    assert bounds.counts.depth_bounds == ((2981, 3020), (1981, 2020))


def test_results_of_several_runs_are_summed_without_a_clock():
    (reading,) = read_text("\n".join([json.dumps(BENCH)] * 3))

    assert reading.counts.rounds == 3 * 208
    assert reading.clock.tokens_per_s is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"spec_decode_num_drafts": None}, "the object has no 'spec_decode_num_drafts'"),
        ({"spec_decode_accepted_tokens": 700}, "accepted (700) is above drafted (624)"),
        ({"spec_decode_acceptance_rate": 50.0}, "the printed acceptance rate 50 contradicts the counts"),
        ({"spec_decode_acceptance_length": 3.5}, "the printed ratios contradict the counts"),
        ({"spec_decode_per_position_acceptance_rates": [0.9, 0.7, 0.1]}, "the printed ratios contradict"),
        ({"spec_decode_per_position_acceptance_rates": [0.1] * 300}, "no list of at most 256 ratios"),
        ({"mean_tpot_ms": "x"}, "mean_tpot_ms is not a number"),
    ],
)  # fmt: skip
def test_a_result_that_contradicts_itself_says_why(change, reason):
    (reading,) = read_text(json.dumps(BENCH | change) + "\n" + json.dumps(BENCH))

    assert reading.counts.rounds == 208
    assert reason in reading.skipped[0].reason


def test_a_result_without_speculation_is_no_reading():
    plain = {name: value for name, value in BENCH.items() if not name.startswith("spec")}

    with pytest.raises(MetricsFormatError):
        read_text(json.dumps(plain))
