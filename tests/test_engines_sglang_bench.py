"""SGLang's benchmarks as text and as lines of JSON, and its server's state: each run is a reading."""

import pytest

from real_runs.engines import MetricsFormatError, read_text
from real_runs.engines.sglang.settings import DraftSetting, read_setting, read_shorthand

QUESTIONS = (  # SGLang pull request 4716, two benchmarks and one prompt
    "#questions: 80, Throughput: 88.61 token/s, Acceptance length: 1.00\n"
    "#questions: 80, Throughput: 234.54 token/s, Acceptance length: 5.88\n"
    "acc_length=2.42\n"
    "speed=100.43 token/s"
)
SWEEP = (
    '{"batch_size":1,"steps":3,"topk":1,"num_draft_tokens":4,"acc_length":2.1,"step_time":0.0123,'
    '"speed":170.7,"completion_tokens":512}'
)
PLAIN = (
    '{"batch_size":1,"steps":0,"topk":0,"num_draft_tokens":0,"acc_length":1.0,"step_time":0.01,'
    '"speed":100.0,"completion_tokens":512}'
)
SERVING = """============ Serving Benchmark Result ============
Backend:                                 sglang
Max request concurrency:                 4
Output token throughput (tok/s):         500.1
Concurrency:                             3.99
Accept length:                           2.345
----------------End-to-End Latency----------------
Mean TPOT (ms):                          8.20
=================================================="""


def lengths(readings):
    return [reading.printed[0].value for reading in readings]


def test_a_benchmark_without_speculation_times_the_others():
    questions, prompt = read_text(QUESTIONS)

    assert (questions.layout, prompt.layout) == ("benchmark of 80 questions", "one prompt")
    assert lengths([questions, prompt]) == [5.88, 2.42]
    assert questions.clock.tokens_per_s == 234.54
    assert questions.clock.plain_tokens_per_s == 88.61
    assert questions.clock.running is None
    assert (prompt.clock.tokens_per_s, prompt.clock.running) == (100.43, 1.0)
    assert prompt.clock.plain_tokens_per_s is None  # of other text
    assert [skip.line for skip in questions.skipped] == [1]


def test_two_runs_without_speculation_are_no_baseline():
    plain, run, *_ = QUESTIONS.splitlines()
    (reading,) = read_text(f"{plain}\n{plain.replace('88.61', '90.00')}\n{run}")

    assert reading.clock.plain_tokens_per_s is None


def test_runs_of_one_kind_are_numbered():
    run = QUESTIONS.splitlines()[1]
    layouts = [reading.layout for reading in read_text(f"{run}\n{run}\n{run}")]

    assert layouts == [f"benchmark of 80 questions{number}" for number in ("", " (2)", " (3)")]


def test_the_serving_benchmark_gives_its_time_per_token():
    (reading,) = read_text(SERVING)

    assert lengths([reading]) == [2.345]
    assert reading.clock.s_per_token == pytest.approx(0.0082, rel=1e-12)
    assert (reading.clock.tokens_per_s, reading.clock.running) == (500.1, 3.99)


def test_blocks_do_not_lend_each_other_times():
    second = SERVING.replace("Mean TPOT (ms):                          8.20\n", "").replace(
        "2.345", "3.0"
    )
    first, other = read_text(f"{SERVING}\n{second}")

    assert first.clock.s_per_token is not None
    assert other.clock.s_per_token is None


@pytest.mark.parametrize("text", ["Accept length: 1.000", "acc_length=1.00\nspeed=50.0 token/s"])
def test_an_accept_length_of_one_is_speculation_off(text):
    with pytest.raises(MetricsFormatError, match="nothing was drafted"):
        read_text(text, engine="sglang")


@pytest.mark.parametrize(
    ("told", "gamma"),
    [
        ("Start i=0: configs[i]=(1, 3, 1, 4)\n", 3),
        ("314: ", 3),
        ("3,1,4 | ", 3),
        ("1,5,4,8: ", 5),
        ("2026-09-10 10:00:00 ", None),
        ("200 ", None),  # no draft has topk 0
    ],
)
def test_the_setting_before_a_result_gives_gamma(told, gamma):
    (reading,) = read_text(f"{told}{QUESTIONS.splitlines()[1]}")

    assert reading.gamma == gamma


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("314", (3, 1, 4)),
        ("548", (5, 4, 8)),
        ("3,1,4", (3, 1, 4)),
        ("1,3,1,4", (3, 1, 4)),
        ("(1, 3, 1, 4)"[1:-1], (3, 1, 4)),
        ("steps8 topk8 draft64", (8, 8, 64)),
        ("2,1,2", (2, 1, 2)),
        ("316", None),  # a chain of 3 steps fills a window of 4
        ("31", None),
        ("3,1,4,1,5", None),
        ("3,1,999", None),
    ],
)
def test_shorthands(text, setting):
    read = read_shorthand(text)

    assert (None if read is None else (read.steps, read.topk, read.window)) == setting


def test_a_window_holds_the_root():
    # SGLang pull request 3582: "draft 2 tokens" verifies one guess
    assert DraftSetting(steps=2, topk=1, window=2).gamma == 1
    assert DraftSetting(window=4).gamma == 3
    assert DraftSetting(topk=4, window=8).gamma is None


def test_flags_and_arguments():
    flags = "python -m sglang.launch_server --speculative-algo NEXTN --speculative-num-steps 3 "
    assert read_setting(flags) == DraftSetting(steps=3, method="mtp")
    assert (
        read_setting("ServerArgs(speculative_num_steps=None, speculative_algorithm=None)") is None
    )


def test_every_line_of_a_sweep_is_a_reading():
    wide = SWEEP.replace('"batch_size":1', '"batch_size":8').replace("0.0123", "0.02")
    one, eight = read_text(f"{SWEEP}\n{PLAIN}\n{wide}\n")

    assert one.layout == "bench_speculative batch 1, steps 3, topk 1, draft tokens 4"
    assert (one.gamma, one.emitted) == (3, 512)
    assert one.clock.s_per_round == 0.0123
    assert one.clock.plain_s_per_token == 0.01
    assert lengths([one, eight]) == [2.1, 2.1]
    assert (eight.clock.running, eight.clock.s_per_round) == (8, 0.02)
    assert eight.clock.tokens_per_s == pytest.approx(8 * 170.7, rel=1e-12)
    assert eight.clock.plain_s_per_token is None
    assert [skip.line for skip in one.skipped] == [2]


def test_a_dead_draft_is_a_result_of_a_sweep():
    (reading,) = read_text(SWEEP.replace("2.1", "1.0"))

    assert lengths([reading]) == [1.0]


def test_a_serving_line_of_json():
    (reading,) = read_text(
        '{"backend": "sglang", "output_throughput": 500.0, "concurrency": 3.9, "mean_tpot_ms": 8.0, '
        '"accept_length": 2.5}'
    )

    assert lengths([reading]) == [2.5]
    assert (reading.clock.running, reading.clock.s_per_token) == (3.9, 0.008)


def test_the_server_tells_its_step_times_by_batch_size():
    one, four = read_text(
        '{"version": "0.5.9", "speculative_num_steps": 3, "speculative_eagle_topk": 1, '
        '"speculative_num_draft_tokens": 4, "speculative_algorithm": "EAGLE3", "internal_states": '
        '[{"avg_spec_accept_length": 2.31, "step_time_dict": {"1": [0.03, 0.011, 0.01], "4": 0.02}}]}'
    )

    assert lengths([one, four]) == [2.31, 2.31]
    assert [(r.clock.running, r.clock.s_per_round) for r in (one, four)] == [(1, 0.011), (4, 0.02)]
    assert (one.gamma, one.method, one.version) == (3, "eagle", "0.5.9")


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ('{"avg_spec_accept_length": 0.5}', "avg_spec_accept_length is 0.5, and a round"),
        ('{"avg_spec_accept_length": "much"}', "avg_spec_accept_length is not a number"),
        (
            '{"avg_spec_accept_length": 2, "step_time_dict": {"x": 1}}',
            "a batch size in step_time_dict",
        ),
        ('{"avg_spec_accept_length": null}', "nothing was drafted"),
        ('{"acc_length": 0.5}', "acc_length is 0.5"),
        ("#questions: 80, Throughput: 1 token/s", "the line has no 'Throughput' or no"),
        ("acc_length=2.4.2", "acc_length is not a number"),
    ],
)
def test_states_that_cannot_be_are_told(state, reason):
    with pytest.raises(MetricsFormatError, match=reason):
        read_text(state, engine="sglang")
