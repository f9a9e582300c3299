"""What llama.cpp says about time and single requests: eval lines, durations, timings, scripts."""

import json

import pytest

from real_runs.engines import MetricsFormatError, read_text
from simulator import AcceptanceTotals

EVAL = (  # these three lines: llama.cpp pull request 24536
    "0.06.895.998 I slot print_timing: id  1 | task 0 |        eval time =    2296.72 ms /   256 tokens (    "
    "8.97 ms per token,   111.46 tokens per second)"
)
PROMPT = "0.06.895.990 I slot print_timing: id  1 | task 0 | prompt eval time =      38.36 ms /    20 tokens"
JUNE = (
    "0.06.896.015 I slot print_timing: id  1 | task 0 | draft acceptance = 0.64479 (  167 accepted /   259 "
    "generated), mean acceptance length =  2.92, acceptance rate per position = (0.805, 0.632, 0.483)"
)
STATISTICS = (
    "0.06.896.057 I statistics     draft-eagle3: #calls(b,g,a) =    1     87     87, #gen drafts =     87, "
    "#acc drafts =    70, #gen tokens =    259, #acc tokens =   167, #mean acc len = 2.92, "
    "#acc rate/pos = (0.805, 0.632, 0.483), dur(b,g,a) = 0.005, 325.555, 0.114 ms"
)
BLOCK = (  # llama.cpp issue 3649
    "encoded   58 tokens in    0.111 seconds, speed:  521.414 t/s\n"
    "decoded  261 tokens in    2.967 seconds, speed:   87.954 t/s\n\n"
    "n_draft   = 5\nn_predict = 261\nn_drafted = 260\nn_accept  = 208\naccept    = 80.000%"
)
SCRIPT = (
    "  code_python        pred= 192 draft= 180 acc= 146 rate=0.811 tok/s=31.3\n"
    "  code_cpp           pred= 192 draft=   0 acc=   0 rate=n/a tok/s=27.6"
)


def test_the_eval_line_times_the_request_of_its_task():
    (reading,) = read_text(f"{EVAL}\n{PROMPT}\n{JUNE}")

    assert reading.clock.decode_s == 2.29672
    assert reading.emitted == 255  # the first token of the request came from its prefill
    assert [(unit.name, unit.decode_s) for unit in reading.units] == [("slot 1, task 0", 2.29672)]
    assert reading.counts.rounds == 87
    assert reading.clock.decode_s / reading.counts.rounds == pytest.approx(0.0264, abs=5e-5)
    assert any(
        note.startswith("1 round more had no draft") for note in reading.notes
    )  # 255 - 167 - 87


def test_requests_of_several_slots_keep_their_times():
    other_eval = EVAL.replace("id  1 | task 0", "id  0 | task 7").replace("2296.72", "1000.00")
    other = JUNE.replace("id  1 | task 0", "id  0 | task 7")
    (reading,) = read_text(f"{EVAL}\n{other_eval}\n{other}\n{JUNE}")

    assert [unit.decode_s for unit in reading.units] == [1.0, 2.29672]
    assert reading.clock.decode_s == pytest.approx(3.29672, rel=1e-12)


def test_a_request_without_its_time_leaves_the_clock_open():
    (reading,) = read_text("\n".join([EVAL, JUNE, JUNE.replace("task 0", "task 9")]))

    assert reading.clock.decode_s is None
    assert reading.emitted is None
    assert [unit.decode_s for unit in reading.units] == [2.29672, None]


def test_a_time_is_used_once():
    (reading,) = read_text(f"{EVAL}\n{JUNE}\n{JUNE}")

    assert [unit.decode_s for unit in reading.units] == [2.29672, None]


def test_an_old_line_gets_its_rounds_from_the_tokens():
    old = "slot timing: id 0 | task 3 | draft acceptance rate = 0.57576 (   57 accepted /    99 generated)"
    timed = "slot print_timing: id 0 | task 3 |       eval time =     100.00 ms /   101 tokens"
    (reading,) = read_text(f"{timed}\n{old}")

    assert reading.counts == AcceptanceTotals(drafted=99, accepted=57, rounds=43, emitted=100)
    assert any("target passes without a draft among them" in note for note in reading.notes)


def test_impossible_tokens_are_a_finding():
    old = "id 0 | task 3 | draft acceptance rate = 0.57576 (   57 accepted /    99 generated)"
    timed = "id 0 | task 3 |       eval time =     100.00 ms /   40 tokens"
    with pytest.raises(MetricsFormatError, match="57 accepted tokens in 40 predicted tokens"):
        read_text(f"{timed}\n{old}", engine="llama.cpp")


@pytest.mark.parametrize(
    ("duration", "seconds"),
    [
        ("dur(b,g,a) = 0.005, 325.555, 0.114 ms", 0.325674),
        ("dur = 0.474 ms", 0.000474),
        ("dur(b,g,a) = none", None),
    ],
)
def test_durations_are_the_time_of_drafting(duration, seconds):
    text = STATISTICS[: STATISTICS.index("dur(")] + duration
    (reading,) = read_text(text)

    assert reading.clock.draft_s == (None if seconds is None else pytest.approx(seconds, rel=1e-12))
    assert reading.method == "eagle"


def test_statistics_of_the_same_tokens_share_the_clock():
    requests, statistics = read_text(f"{EVAL}\n{JUNE}\n{STATISTICS}")

    for reading in (requests, statistics):
        assert reading.clock.decode_s == 2.29672
        assert reading.clock.draft_s == pytest.approx(0.325674, rel=1e-12)
    assert requests.clock.draft_s / requests.clock.decode_s == pytest.approx(0.142, abs=5e-4)

    twice = (
        STATISTICS.replace("259", "518")
        .replace("167", "334")
        .replace("87", "174")
        .replace("70,", "140,")
    )
    requests, statistics = read_text(f"{EVAL}\n{JUNE}\n{twice}")
    assert requests.clock.draft_s is None
    assert statistics.clock.decode_s is None


@pytest.mark.parametrize(
    ("name", "method"),
    [("draft-mtp", "mtp"), ("ngram_mod", "ngram"), ("draft", "draft_model"), ("draft-new", None)],
)
def test_the_name_of_an_implementation_is_its_method(name, method):
    (reading,) = read_text(STATISTICS.replace("draft-eagle3", name))

    assert reading.method == method


def test_a_block_has_the_time_of_its_run():
    (reading,) = read_text(BLOCK)

    assert reading.clock.decode_s == 2.967
    assert (reading.gamma, reading.emitted) == (5, 260)
    assert reading.clock.decode_s / reading.counts.rounds == pytest.approx(0.05706, abs=5e-6)


@pytest.mark.parametrize("first", [True, False])
def test_the_decoded_line_stands_before_or_behind_its_block(first):
    texts = []
    for tokens, seconds in [(261, "2.967"), (361, "3.500")]:
        decoded = f"decoded  {tokens} tokens in    {seconds} seconds, speed:   87.954 t/s"
        block = f"n_draft   = 5\nn_predict = {tokens}\nn_drafted = 260\nn_accept  = 208"
        texts += [decoded, block] if first else [block, decoded]
    (reading,) = read_text("\n".join(texts))

    assert [unit.decode_s for unit in reading.units] == [2.967, 3.5]
    assert reading.clock.decode_s == pytest.approx(6.467, rel=1e-12)


def test_the_time_of_another_run_is_not_taken():
    (reading,) = read_text(BLOCK.replace("decoded  261", "decoded  999"))

    assert reading.clock.decode_s is None
    assert reading.counts.rounds == 52


def test_a_moving_draft_length_is_no_gamma():
    # llama.cpp pull request 3006
    (reading,) = read_text(
        "n_draft   = 53\nn_predict = 266\nn_drafted = 245\nn_accept  = 231\naccept    = 94.286%\n\n"
        "decoded  266 tokens in   11.990 seconds, speed:   22.185 t/s"
    )

    assert reading.gamma is None
    assert reading.clock.decode_s == 11.99
    assert any("rounds drafted 7.21 tokens on average" in note for note in reading.notes)


def test_timings_of_responses_are_summed():
    timings = (
        '{"cache_n":0,"prompt_n":20,"prompt_ms":300.1,"predicted_n":256,"predicted_ms":2296.7,'
        '"predicted_per_token_ms":8.97,"predicted_per_second":111.5,"draft_n":259,"draft_n_accepted":167}'
    )
    (reading,) = read_text(
        f'{{"content": "x", "timings": {timings}}}\nlog "timings": {timings} end\n'
    )

    assert (reading.counts.rounds, reading.counts.drafted, reading.counts.accepted) == (
        176,
        518,
        334,
    )
    assert reading.counts.emitted == reading.emitted == 510
    assert [unit.decode_s for unit in reading.units] == [2.2967, 2.2967]
    assert any("rounds without a draft are among them" in note for note in reading.notes)


def test_timings_that_cannot_be_of_one_request_are_a_finding():
    undrafted = '"timings": {"predicted_n": 256, "predicted_ms": 41025.6, "draft_n": 0, "draft_n_accepted": 0}'
    absent = '"timings": {"predicted_n": 256, "predicted_ms": 41025.6}'
    impossible = '"timings": {"predicted_n": 42, "draft_n": 514, "draft_n_accepted": 365}'
    good = '"timings": {"predicted_n": 42, "draft_n": 40, "draft_n_accepted": 20}'
    (reading,) = read_text(f"{undrafted}\n{absent}\n{impossible}\n{good}")

    assert reading.counts.rounds == 21
    assert [(skip.line, skip.finding) for skip in reading.skipped] == [
        (1, None),
        (2, None),
        (3, "length_outside_range"),
    ]
    assert reading.skipped[2].reason == "365 accepted tokens in 42 predicted tokens"


@pytest.mark.parametrize(
    ("predicted", "drafted", "accepted", "reason"),
    [
        (10, 5, 6, r"accepted \(6\) is above drafted \(5\)"),
        (10, 20, 9, "10 predicted tokens leave no round for 9 accepted tokens"),
        (-1, 20, 9, "predicted_n is not a count"),
    ],
)
def test_impossible_timings(predicted, drafted, accepted, reason):
    timings = {"predicted_n": predicted, "draft_n": drafted, "draft_n_accepted": accepted}
    with pytest.raises(MetricsFormatError, match=reason):
        read_text(json.dumps(timings), engine="llama.cpp")


def test_lines_of_a_bench_script_are_requests():
    (reading,) = read_text(SCRIPT)

    assert reading.counts == AcceptanceTotals(drafted=180, accepted=146, rounds=45, emitted=191)
    (unit,) = reading.units
    assert (unit.name, unit.label("task")) == ("code_python", "code_python")
    assert unit.decode_s == pytest.approx(192 / 31.3, rel=1e-12)
    assert reading.printed[0].value == 0.811
    assert [skip.line for skip in reading.skipped] == [2]


def test_the_aggregate_of_a_script_stands_apart():
    total = {
        "n_requests": 9,
        "total_predicted": 1728,
        "total_draft": 900,
        "total_draft_accepted": 700,
    }
    lines, aggregate = read_text(f"{SCRIPT}\nAggregate: {json.dumps(total)}")

    assert lines.layout == "bench script"
    assert (aggregate.counts.rounds, aggregate.counts.emitted) == (1728 - 700 - 9, 1719)
    assert any("never add the two" in note for note in aggregate.notes)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            SCRIPT.splitlines()[0].replace("0.811", "0.5"),
            "the printed acceptance rate 0.5 contradicts",
        ),
        (
            SCRIPT.splitlines()[0].replace("acc=", "kept="),
            "no 'pred=', 'draft=' and 'acc=' in a row",
        ),
        (
            SCRIPT.splitlines()[0].replace("146", "200"),
            "200 accepted tokens in 192 predicted tokens",
        ),
    ],
)
def test_script_lines_that_cannot_be_are_told(line, reason):
    with pytest.raises(MetricsFormatError, match=reason):
        read_text(line, engine="llama.cpp")
