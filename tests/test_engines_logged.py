"""Lines of a log that log collectors wrapped in JSON are read as the lines they are."""

import json

import pytest

from real_runs.engines import MetricsFormatError, read_text
from simulator import AcceptanceTable

LINE = (
    "(APIServer pid=1) INFO 05-30 15:21:33 [metrics.py:101] SpecDecoding metrics: Mean acceptance "
    "length: 3.28, Accepted throughput: 47.40 tokens/s, Drafted throughput: 62.39 tokens/s, Accepted: "
    "474 tokens, Drafted: 624 tokens, Per-position acceptance rate: 0.938, 0.769, 0.572, Avg Draft "
    "acceptance rate: 76.0%"
)
OTHER = "draft acceptance = 0.64479 (  167 accepted /   259 generated), mean len =  2.92"
TABLE = AcceptanceTable(rounds=208, drafted=624, tested=(208, 195, 160), accepted=(195, 160, 119))


@pytest.mark.parametrize(
    ("text", "times"),
    [
        (json.dumps({"log": f"{LINE}\n", "stream": "stderr"}), 1),
        (json.dumps([{"line": LINE}, {"line": LINE}]), 2),
        (json.dumps([{"line": LINE}, {"line": "GET /health"}], indent=2), 1),
        (json.dumps({"logs": f"{LINE}\nx\n{LINE}\n{LINE}"}), 3),
        (json.dumps({"data": {"result": [{"values": [["17", f"\x1b[32m{LINE}"]]}]}}), 1),
        ((json.dumps({"log": f"{LINE}\n"}) + "\n") * 2, 2),
    ],
)
def test_exports_of_log_collectors(text, times):
    (reading,) = read_text(text)

    assert reading.title == "vLLM, interval line"
    assert reading.counts == sum([TABLE] * (times - 1), start=TABLE)
    assert len(reading.units) == times


def test_engines_and_json_within_the_strings():
    request = {"speculative_decoding": {"acceptance_histogram": [39, 1, 0, 3], "num_spec_steps": 43,
                                        "num_accepted_draft_tokens": 10, "num_draft_tokens": 129}}  # fmt: skip
    readings = read_text(json.dumps([{"m": OTHER}, {"m": json.dumps(request)}]))

    assert [reading.layout for reading in readings] == [
        "acceptance per request",
        "metrics of requests",
    ]
    assert readings[1].counts.accepted == (4, 3, 3)


def test_a_known_object_is_read_itself_and_not_the_texts_in_it():
    answer = {"question_id": 1, "choices": [{"turns": [LINE], "accept_lengths": [1, 3, 4, 1]}]}
    (reading,) = read_text(json.dumps(answer))

    assert reading.engine == "spec-bench"


def test_strings_without_lines_of_a_log_are_left_alone():
    (reading,) = read_text(json.dumps({"note": "nothing", "accepted": 167, "drafted": 259}))
    assert (reading.engine, reading.counts.drafted) == ("generic", 259)

    with pytest.raises(MetricsFormatError, match="no metrics of speculative decoding"):
        read_text(json.dumps([{"line": "hello"}]))
