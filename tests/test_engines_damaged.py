"""Every format, damaged at random: nothing but the importers' error, and no impossible result."""

import io
import json
import math
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from real_runs.engines import MetricsFormatError, read_text
from real_runs.engines.registry import FORMATS
from real_runs.engines.routing import Found, take_all
from real_runs.engines.text.opening import Opening
from simulator import AcceptanceTable

V1 = (
    "(APIServer pid=1) INFO [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 3.28, "
    "Accepted throughput: 47.40 tokens/s, Drafted throughput: 62.39 tokens/s, Accepted: 474 tokens, "
    "Drafted: 624 tokens, Per-position acceptance rate: 0.938, 0.769, 0.572, Avg Draft acceptance rate: "
    "76.0%"
)
V0 = (
    "Speculative metrics: Draft acceptance rate: 0.642, System efficiency: 0.598, Number of speculative "
    "tokens: 3, Number of accepted tokens: 8547, Number of draft tokens: 13311, Number of emitted tokens: "
    "10616."
)
LLAMACPP = (
    "slot print_timing: id  1 | task 0 | draft acceptance = 0.64479 (  167 accepted /   259 generated), "
    "mean acceptance length =  2.92, acceptance rate per position = (0.805, 0.632, 0.483)\n"
    "statistics     draft-eagle3: #calls(b,g,a) =    1     87     87, #gen drafts =     87, #acc drafts = "
    "   70, #gen tokens =    259, #acc tokens =   167, #mean acc len = 2.92, #acc rate/pos = (0.805, 0.632, "
    "0.483), dur(b,g,a) = 0.005, 325.555, 0.114 ms\n"
    "adaptive draft depth seq 0: 6 -> 7 (n_draft=6, n_accepted=6, n_cur=7, cur_accepted=8134, "
    "cur_generated=11083)\n"
    "  code_python        pred= 192 draft= 180 acc= 146 rate=0.811 tok/s=31.3"
)
EXAMPLE = (
    "decoded  261 tokens in    2.967 seconds, speed:   87.954 t/s\n"
    "n_draft   = 5\nn_predict = 261\nn_drafted = 260\nn_accept  = 208\naccept    = 80.000%"
)
BENCH = (
    "Acceptance rate (%):      75.96\nAcceptance length:      3.28\nDrafts:      208\n"
    "Draft tokens:      624\nAccepted tokens:      474\n  Position 0:      93.75"
)
OFFLINE = (
    "num_drafts: 4816\nnum_draft_tokens: 33712\nnum_accepted_tokens: 12208\n"
    "mean acceptance length: 3.53\nacceptance at token 0: 0.77"
)
SGLANG = (
    "Decode batch, #running-req: 1, #token: 108, accept len: 2.17, accept rate: 0.39, cuda graph: True, "
    "gen throughput (token/s): 178.86\n314: #questions: 80, Throughput: 234.54 token/s, Acceptance "
    "length: 2.88\nacc_length=2.42\nspeed=100.43 token/s"
)
TRT = "[AL] AVERAGE: 1.86\n[DAR] AVERAGE: 0.45\nTopK=0\n> Head 0 Accuracy=0.68"
MLX = (
    "vlm_mtp stats: request=R finish=stop rounds=1079 accepted=1414/2158 (65.5%) tokens_per_round=2.31 "
    "emitted=2493 block_size=3\nspec_decode_attempts_total=1304, accepts_total=1111"
)
CSV = (
    "subset,num_drafts,num_draft_tokens,num_accepted_tokens,acceptance_length,acceptance_at_pos_0,"
    "acceptance_at_pos_1\nqa,30,60,31,2.0333,0.6,0.43333333333\n"
)
COUNTERS = "".join(
    f'{prefix}spec_decode_num_{name}_total{{engine="0"}} {number}\n'
    for prefix in ("vllm:", "llamacpp:", "trtllm_")
    for name, number in (("drafts", 100), ("draft_tokens", 300), ("accepted_tokens", 150))
)  # fmt: skip
GAUGES = (
    'vllm:spec_decode_efficiency{model_name="m"} 0.5\nsglang:spec_accept_length 2.17\n'
    "sglang:spec_accept_rate 0.39\nsglang:spec_num_draft_tokens 4\n"
    "trtllm_spec_decode_acceptance_length 2.5\n"
)
OBJECTS = [
    {"spec_decode_acceptance_rate": 76.0, "spec_decode_acceptance_length": 3.28, "mean_tpot_ms": 12.3,
     "spec_decode_num_drafts": 208, "spec_decode_draft_tokens": 624, "spec_decode_accepted_tokens": 474,
     "spec_decode_per_position_acceptance_rates": [0.938, 0.769, 0.572]},
    {"speculative_decoding": {"acceptance_histogram": [39, 1, 0, 3], "num_spec_steps": 43,
                              "num_accepted_draft_tokens": 10, "num_draft_tokens": 129}},
    {"speculative_decoding": {"acceptance_histogram": [2, 1, 1], "num_spec_steps": 4,
                              "num_accepted_draft_tokens": 3, "num_draft_tokens": 7,
                              "per_step_accepted": [0, 1, 2, 0], "per_step_drafted": [2, 2, 2, 1]}},
    {"completion_tokens": 107, "spec_accept_length": 2.4651162790697674, "spec_verify_ct": 43,
     "spec_num_correct_drafts": 63, "spec_num_proposed_drafts": 215,
     "spec_correct_drafts_histogram": [11, 14, 11, 4, 0, 3]},
    {"internal_states": [{"avg_spec_accept_length": 2.5, "step_time_dict": {"1": [0.012]}}]},
    {"batch_size": 1, "steps": 3, "topk": 1, "num_draft_tokens": 4, "acc_length": 2.1, "step_time": 0.0123},
    {"iterLatencyMS": 12.0, "specDecodingStats": {"numDraftTokens": 30, "numAcceptedTokens": 15,
     "numRequestsWithDraftTokens": 10, "acceptanceLength": 2.5, "draftOverhead": 0.2}},
    {"speculative_decoding": {"acceptance_rate": 0.5, "total_accepted_draft_tokens": 50,
                              "total_draft_tokens": 100}, "avg_decoded_tokens_per_iter": 2.5},
    {"decoding_stats": {"acceptance_length_percentiles": {"minimum": 1.04, "average": 1.86, "p50": 1.78}}},
    {"timings": {"predicted_n": 256, "predicted_ms": 2296.7, "draft_n": 259, "draft_n_accepted": 167}},
    {"pooled_spec_decode_acceptance_histogram": {"0": 6400, "1": 3000, "2": 600},
     "spec_decode_acceptance_length": {"avg": 1.42}},
    {"spec_decode_acceptance": {"acceptance_histogram": {"0": 3, "2": 4}, "num_spec_steps": 7,
     "num_draft_tokens": 21, "num_accepted_draft_tokens": 8, "engine": "vllm"}},
    {"Request_AL": {"a": {"0": 1.9}}, "Average_AL": 1.9,
     "Acceptance_Length_Histogram": {"1": 40, "2": 30, "3": 30},
     "Joint_Acceptance_Rate": {"1": 1.0, "2": 0.6, "3": 0.3}},
    {"schema_version": "1.0", "num_speculative_tokens": 3, "mean_accept_length": 2.925,
     "conditional_accept_rates": [0.816, 0.777, 0.75], "marginal_accept_rates": [0.816, 0.634, 0.475]},
    {"question_id": 1, "choices": [{"new_tokens": [9], "wall_time": [1.0], "accept_lengths": [1, 3, 4, 1],
                                    "decoding_steps": [4]}]},
    {"question_id": 1, "choices": [{"idxs": [4], "new_tokens": [9], "wall_time": [1.0]}]},
    {"acc_eagle": {"acc_len": [1, 3, 2, 1, 4]}, "acc_ngram": {"acc_len": [1, 1, 2, 1, 1]}},
    {"m": {"thinking_on": {"1": 1.84, "2": 2.51, "8": 3.47}}},
    {"stats": {"predictedTokensCount": 233, "totalDraftTokensCount": 100, "acceptedDraftTokensCount": 80}},
    {"id": "chatcmpl-1", "usage": {"completion_tokens": 90, "completion_tokens_details": {
        "accepted_prediction_tokens": 40, "rejected_prediction_tokens": 20}}},
]  # fmt: skip
TOKENS = "\n".join(json.dumps({"from_draft": each}) for each in (False, True, True, False))
SAMPLES = (
    *(V1, V0, LLAMACPP, EXAMPLE, BENCH, OFFLINE, SGLANG, TRT, MLX, CSV, COUNTERS, GAUGES, TOKENS),
    "Acceptance probs: [0.2, 0.3, 0.5]\nMean Accepted: 1.3",
    "speculation: 2.00 tokens/forward (20 forwards per 40 tokens) | MTP acceptance 33% (20/60)",
    *(json.dumps(each) for each in OBJECTS),
    *(json.dumps(each, indent=1) for each in OBJECTS[:3]),
)
ODD = ("0", "-1", "nan", "inf", "1e999", "null", "[]", "{}", "true", "9" * 20, "9" * 400, "1,234", "12.5",
       "٣", "²", '"', "}", "]", ",", ":", "\n", "\r\n", "\x1b[31m", "|", "–", "%")  # fmt: skip
SHARES = {"accepted_fraction", "survival", "conditional_acceptance", "head_accuracy", "efficiency"}


def read_by(each, text):
    """What one format alone reads of a text."""
    found = Found([each], "x")
    lines = take_all(Opening(io.StringIO(text), source="x"), found, "x")
    return found.readings(lines)


def problems_of(reading):
    """What cannot be of anything that a reading says."""
    counts = reading.counts
    if counts is not None:
        accepted = sum(counts.accepted) if isinstance(counts, AcceptanceTable) else counts.accepted
        if not 0 <= accepted <= counts.drafted or counts.drafted < 1:
            yield f"{accepted} accepted of {counts.drafted}"
    for ratio in reading.printed:
        if not math.isfinite(ratio.value) or (
            ratio.quantity in SHARES and not 0.0 <= ratio.value <= 1.0 + 1e-9
        ):
            yield f"{ratio.quantity} of {ratio.value}"
        if ratio.quantity == "tokens_per_round" and ratio.value + ratio.half_width < 1.0:
            yield f"{ratio.value} tokens per round"
    if reading.gamma is not None and not 1 <= reading.gamma <= 256:
        yield f"gamma {reading.gamma}"
    for name in ("emitted", "undrafted_rounds"):
        if (getattr(reading, name) or 0) < 0:
            yield f"{name} {getattr(reading, name)}"
    for field in fields(reading.clock):
        value = getattr(reading.clock, field.name)
        if value is not None and not 0.0 <= value < math.inf:
            yield f"{field.name} {value}"
    if not (reading.notes or reading.definition) or reading.used < 1:
        yield "nothing said"


@pytest.mark.parametrize("each", FORMATS, ids=lambda each: f"{each.engine}: {each.shapes[:24]}")
def test_every_format_reads_one_of_the_samples(each):
    readings = [reading for text in SAMPLES for reading in read_by(each, text)]

    assert readings
    assert {reading.engine for reading in readings} == {each.engine}
    assert [list(problems_of(reading)) for reading in readings] == [[]] * len(readings)


@st.composite
def damaged(draw):
    """A sample with a few cuts, repetitions, odd values, other numbers, or a piece of another one."""
    text = draw(st.sampled_from(SAMPLES))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, max(len(text) - 1, 0)))
        end = at + draw(st.integers(0, 30))
        kind = draw(st.sampled_from(("cut", "odd", "digit", "repeat", "graft", "add", "end")))
        other = draw(st.sampled_from(SAMPLES)) if kind in {"graft", "add"} else ""
        if kind == "digit":
            digit = draw(st.sampled_from("0123456789.-"))
            places = [index for index, letter in enumerate(text) if letter.isdecimal()] or [at]
            place = places[at % len(places)]
            text = text[:place] + digit + text[place + 1 :]
        text = {
            "cut": text[:at] + text[end:],
            "odd": text[:at] + draw(st.sampled_from(ODD)) + text[at:],
            "digit": text,
            "repeat": text[:end] + text[at:],
            "graft": text[:at] + other[: end - at + 40] + text[at:],
            "add": f"{text}\n{other}",
            "end": text[:at],
        }[kind]
    return text


@settings(max_examples=400)
@given(text=damaged())
def test_a_damaged_text_gives_counts_that_can_be_or_the_error_of_importers(text):
    readings, sentence = (), "x"
    try:
        readings = read_text(text, name="x")
    except MetricsFormatError as error:
        sentence = str(error)
    assert sentence.startswith("x")
    assert len(sentence) < 1500
    assert [list(problems_of(reading)) for reading in readings] == [[]] * len(readings)


def test_the_check_itself_sees_what_cannot_be():
    (reading,) = read_text(V1)
    wrong = replace(reading, gamma=0, emitted=-1, printed=(replace(reading.printed[0], value=1.5),))
    assert len(list(problems_of(wrong))) == 3
