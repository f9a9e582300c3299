"""Counters in Prometheus' text format: snapshots, resets, engines and models; gauges as ratios."""

import io

import pytest

from real_runs.engines import MetricsFormatError, read_difference, read_log, read_text
from simulator import AcceptanceTable, AcceptanceTotals

NAMES = ("num_drafts", "num_draft_tokens", "num_accepted_tokens")


def snapshot(
    *counts, positions=(), engine="0", model="m", created=None, prefix="vllm", total="_total"
):
    """An exposition: rounds, drafted and accepted tokens, accepted ones per position."""
    labels = f'engine="{engine}",model_name="{model}"'
    rows = []
    for name, count in zip(NAMES, counts, strict=True):
        rows += [
            f"# HELP {prefix}:spec_decode_{name}_total Number of them.",
            f"# TYPE {prefix}:spec_decode_{name}_total counter",
            f"{prefix}:spec_decode_{name}{total}{{{labels}}} {float(count)}",
        ]
        if created is not None:
            rows.append(f"{prefix}:spec_decode_{name}_created{{{labels}}} {created}")
    rows += [
        f'{prefix}:spec_decode_num_accepted_tokens_per_pos{total}{{{labels},position="{depth}"}} {float(count)}'
        for depth, count in enumerate(positions)
    ]
    return "\n".join(rows) + "\n"


FIRST = snapshot(1000, 2000, 1240, positions=(710, 530), created=1.7567367986991e09)
SECOND = snapshot(1500, 3000, 1840, positions=(1060, 780), created=1.7567367986991e09)
TABLE = AcceptanceTable(rounds=1000, drafted=2000, tested=(1000, 710), accepted=(710, 530))
DIFFERENCE = AcceptanceTable(rounds=500, drafted=1000, tested=(500, 350), accepted=(350, 250))


def test_one_snapshot_counts_since_the_start():
    (reading,) = read_text(FIRST)

    assert reading.title == "vLLM, Prometheus counters"
    assert reading.counts == TABLE
    assert reading.gamma == 2
    assert reading.printed == ()
    assert any(note.startswith("One snapshot:") for note in reading.notes)
    assert "rounds without a draft are not counted" in reading.definition


def test_the_difference_of_two_files():
    (reading,) = read_difference(io.StringIO(FIRST), io.StringIO(SECOND))

    assert reading.counts == DIFFERENCE
    assert "The difference of the snapshot before and this one is counted." in reading.notes
    assert read_log(io.StringIO(SECOND), before=io.StringIO(FIRST)) == (reading,)


def test_paths_are_sources_of_a_difference(tmp_path):
    for name, text in (("a", FIRST), ("b", SECOND)):
        (tmp_path / name).write_text(text)
    (reading,) = read_difference(tmp_path / "a", tmp_path / "b")

    assert reading.counts == DIFFERENCE
    assert reading.source == str(tmp_path / "b")


@pytest.mark.parametrize("between", ["", FIRST, SECOND])
def test_snapshots_in_one_file(between):
    text = FIRST + "a log line\n" + between + SECOND
    (reading,) = read_text(text)

    assert reading.counts == DIFFERENCE
    last = text.count("\n") - SECOND.count("\n") + 3
    snapshots = 2 if not between else 3
    assert reading.notes[0] == (
        f"{snapshots} snapshots: the difference of the last (line {last}) and the first (line 3) is counted."
    )


def test_a_snapshot_before_counts_from_its_last_state():
    third = snapshot(1600, 3200, 1940, positions=(1130, 810))
    (reading,) = read_difference(io.StringIO(FIRST + SECOND), io.StringIO(third))

    assert reading.counts.rounds == 100
    (reading,) = read_difference(io.StringIO(FIRST), io.StringIO(SECOND + third))
    assert reading.counts.rounds == 600


def test_engines_are_summed_and_models_are_not():
    text = "".join(
        snapshot(*counts, positions=counts[3:] or (), engine=engine, model=model)
        if len(counts) == 3
        else snapshot(*counts[:3], positions=counts[3:], engine=engine, model=model)
        for engine, model, counts in (
            ("0", "a", (10, 20, 13, 8, 5)),
            ("1", "a", (30, 60, 40, 24, 16)),
            ("0", "b", (7, 21, 9)),
        )
    )
    one, two = read_text(text)

    assert one.layout == "Prometheus counters of a"
    assert one.counts == AcceptanceTable(rounds=40, drafted=80, tested=(40, 32), accepted=(32, 21))
    assert "Summed over 2 engines." in one.notes
    assert two.layout == "Prometheus counters of b"
    assert two.counts == AcceptanceTotals(rounds=7, drafted=21, accepted=9)


def test_created_times_are_never_summed():
    with_them, without = (
        read_text(text)[0] for text in (FIRST, snapshot(1000, 2000, 1240, positions=(710, 530)))
    )

    assert with_them.counts == without.counts


@pytest.mark.parametrize("fell", [True, False])
def test_a_reset_counts_from_zero_and_is_told(fell):
    counts = (300, 600, 400) if fell else (1300, 2600, 1700)
    positions = (250, 150) if fell else (1000, 700)
    restarted = snapshot(*counts, positions=positions, created=1.8e9)
    (reading,) = read_difference(io.StringIO(FIRST), io.StringIO(restarted))

    # A created time that changed is a reset even where the counters went beyond their old values.
    assert (reading.counts.rounds, reading.counts.drafted) == counts[:2]
    assert reading.counts.accepted == positions
    assert any("were reset between snapshots" in note for note in reading.notes)


def test_without_created_times_a_fall_is_a_reset_of_all_counters_of_the_engine():
    before = snapshot(100, 200, 50, positions=(40, 10))
    after = snapshot(90, 180, 120, positions=(80, 40))  # accepted tokens did not fall
    (reading,) = read_difference(io.StringIO(before), io.StringIO(after))

    assert reading.counts == AcceptanceTable(
        rounds=90, drafted=180, tested=(90, 80), accepted=(80, 40)
    )


def test_an_engine_that_comes_up_later_counts_from_zero():
    late = SECOND + snapshot(50, 100, 60, positions=(40, 20), engine="1")
    (reading,) = read_difference(io.StringIO(FIRST), io.StringIO(late))

    assert reading.counts.rounds == 550
    assert "Series that are not in the first snapshot are counted from 0." in reading.notes


def test_counters_that_stood_still_say_so():
    with pytest.raises(MetricsFormatError, match="nothing was drafted"):
        read_difference(io.StringIO(FIRST), io.StringIO(FIRST))


def test_a_series_twice_in_one_snapshot_is_told_and_no_second_snapshot():
    twice = "".join(f"{row}\n{row}\n" for row in FIRST.splitlines())
    named = r"^text, line \d+: 'vllm:spec_decode_num_drafts_total' occurs twice with the same labels in one"
    with pytest.raises(MetricsFormatError, match=named):
        read_text(twice)
    with pytest.raises(MetricsFormatError, match="occurs twice with the same labels in one"):
        read_difference(io.StringIO(FIRST), io.StringIO(SECOND + SECOND.splitlines()[-1]))


def test_a_snapshot_twice_in_one_text_says_that_nothing_lies_between():
    with pytest.raises(MetricsFormatError) as error:
        read_text(FIRST + FIRST)

    assert str(error.value).startswith(
        "text, line 17: the counters of the last snapshot (line 17, where a series comes again) are those of "
        "the first (line 3): nothing was drafted in between, or one snapshot has every series twice"
    )


def test_a_text_that_begins_within_a_snapshot_is_no_doubled_one():
    third = snapshot(1600, 3200, 1940, positions=(1130, 810))
    (reading,) = read_text(FIRST.splitlines()[-1] + "\n" + SECOND + third)

    assert reading.counts.rounds == 100

    backwards = "\n".join(reversed(SECOND.splitlines()))  # it begins with what FIRST ends with
    (reading,) = read_difference(io.StringIO(FIRST), io.StringIO(backwards))
    assert reading.counts == DIFFERENCE


def test_all_lines_that_hold_counters_are_used():
    rows = snapshot(1000, 2000, 1240, positions=(710, 530)).splitlines()
    comments = sum(row.startswith("#") for row in rows)
    (reading,) = read_text("\n".join([*rows, "vllm:num_requests_running 3.0"]))
    assert (reading.used, reading.lines) == (5, 5 + comments + 1)

    (reading,) = read_difference(io.StringIO(FIRST), io.StringIO(SECOND))
    assert (reading.used, reading.lines) == (8, SECOND.count("\n"))  # times of creation, too

    one, two = read_text(snapshot(10, 20, 12, model="a") + snapshot(7, 21, 9, model="b"))
    assert (one.used, two.used) == (3, 3)

    (reading,) = read_text(" ".join(row for row in rows if not row.startswith("#")))
    assert (reading.used, reading.lines) == (1, 1)


def test_all_lines_of_the_last_gauges_are_used():
    (reading,) = read_text(SGLANG.format(2.17, 0.54) + "other\n" + SGLANG.format(2.5, 0.5))

    assert (reading.used, reading.lines) == (4, 9)


def test_a_snapshot_before_without_counters_is_refused():
    with pytest.raises(MetricsFormatError, match=r"^stream: no counters of speculative decoding"):
        read_difference(io.StringIO("hello\n"), io.StringIO(SECOND))


def test_positions_that_do_not_add_up_are_left_out():
    (reading,) = read_text(snapshot(1000, 2000, 1240, positions=(710, 531)))

    assert reading.counts == AcceptanceTotals(rounds=1000, drafted=2000, accepted=1240)
    assert any("they add up to 1241, and 1240 were accepted" in note for note in reading.notes)
    (reading,) = read_text(snapshot(1000, 2000, 1240, positions=(530, 710)))
    assert any("they rise with the position" in note for note in reading.notes)


def test_short_drafts_are_no_table():
    (reading,) = read_text(snapshot(184, 551, 243, positions=(120, 80, 43)))

    assert reading.counts == AcceptanceTotals(
        rounds=184, drafted=551, accepted=243, accepted_by_depth=(120, 80, 43), longest_draft=3
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (snapshot(10, 20, 21), r"accepted \(21\) is above drafted \(20\)"),
        (snapshot(30, 20, 15), r"num_drafts \(30\) does not fit the drafted tokens \(20\)"),
        (snapshot(10, 20.5, 15), r"num_draft_tokens is not a count \(20.5\)"),
        (FIRST.replace("2000.0", "2e300"), "is not a count"),
        (
            "vllm:spec_decode_num_drafts_total 3\nvllm:spec_decode_num_draft_tokens_total 9\n",
            "has no",
        ),
        (FIRST.replace('position="1"', 'position="10000000000"'), "position is not one of 256"),
        (FIRST.replace("1240.0", "NaN"), "has no 'vllm:spec_decode_num_accepted_tokens'"),
    ],
)
def test_impossible_counters_are_refused(text, problem):
    with pytest.raises(MetricsFormatError, match=problem):
        read_text(text)


def test_impossible_counters_carry_the_doctors_code():
    text = snapshot(10, 20, 21, model="bad") + snapshot(10, 20, 12, model="good")
    (reading,) = read_text(text)

    assert [skip.finding for skip in reading.skipped] == ["accepted_without_drafted"]


def test_the_names_without_total_and_a_pasted_table():
    (reading,) = read_text(snapshot(10, 20, 12, total=""))
    assert reading.counts.rounds == 10
    (reading,) = read_text(snapshot(10, 20, 12).replace("} ", "} | "))
    assert reading.counts.rounds == 10


def test_steps_give_the_time_of_a_round_and_the_rounds_without_a_draft():
    times = (
        'vllm:inter_token_latency_seconds_bucket{{engine="0",model_name="m",le="0.1"}} 9\n'
        'vllm:inter_token_latency_seconds_sum{{engine="0",model_name="m"}} {}\n'
        'vllm:inter_token_latency_seconds_count{{engine="0",model_name="m"}} {}\n'
    )
    before, after = FIRST + times.format(10.0, 1200.0), SECOND + times.format(22.0, 1800.0)
    (reading,) = read_difference(io.StringIO(before), io.StringIO(after))

    assert reading.clock.s_per_round == pytest.approx(12.0 / 600)
    assert reading.undrafted_rounds == 100
    assert reading.counts == DIFFERENCE


LLAMACPP = """\
llamacpp:spec_decode_num_draft_tokens_total 300
llamacpp:spec_decode_num_accepted_tokens_total 150
llamacpp:spec_decode_num_drafts_total 100
llamacpp:spec_decode_num_accepted_tokens_per_pos_total{position="0"} 80
"""


def test_llamacpp_has_the_same_schema_without_labels():
    (reading,) = read_text(LLAMACPP)

    assert reading.title == "llama.cpp, Prometheus counters"
    assert reading.counts == AcceptanceTotals(rounds=100, drafted=300, accepted=150)
    more = "".join(
        f'llamacpp:spec_decode_num_accepted_tokens_per_pos_total{{position="{depth}"}} {count}\n'
        for depth, count in ((1, 45), (2, 25))
    )
    (reading,) = read_text(LLAMACPP + more)
    assert reading.counts == AcceptanceTable(
        rounds=100, drafted=300, tested=(100, 80, 45), accepted=(80, 45, 25)
    )


def test_tensorrt_counts_no_rounds():
    text = (
        "trtllm_spec_decode_num_draft_tokens_total 300\ntrtllm_spec_decode_num_accepted_tokens_total 150\n"
        "trtllm_spec_decode_acceptance_length 2.5\n"
    )
    counters, gauges = read_text(text)

    assert counters.counts == AcceptanceTotals(drafted=300, accepted=150)
    (ratio,) = gauges.printed
    assert (ratio.quantity, ratio.value) == ("tokens_per_round", 2.5)


SGLANG = """\
sglang:spec_accept_length{{engine_type="unified",model_name="m",tp_rank="0"}} {}
sglang:spec_accept_rate{{engine_type="unified",model_name="m",tp_rank="0"}} {}
sglang:spec_num_steps{{model_name="m"}} 3.0
sglang:spec_num_draft_tokens{{model_name="m"}} 4.0
"""


@pytest.mark.parametrize(
    ("rate", "quantity"), [(0.54, "fraction_with_bonus"), (0.39, "accepted_fraction")]
)
def test_sglangs_rate_is_told_apart_by_its_window(rate, quantity):
    (reading,) = read_text(SGLANG.format(2.17, rate))

    assert reading.counts is None
    assert reading.gamma == 3
    named = {ratio.quantity: ratio.value for ratio in reading.printed}
    assert named == {"tokens_per_round": 2.17, quantity: rate}


def test_sglang_without_drafts_and_with_an_impossible_length():
    with pytest.raises(MetricsFormatError, match="nothing was drafted"):
        read_text(SGLANG.format(0.0, 0.0))
    with pytest.raises(MetricsFormatError, match=r"tokens per round must lie in \[1, 4\]"):
        read_text(SGLANG.format(4.5, 0.9))


def test_vllm_v0_has_other_counts_under_the_same_names():
    text = (
        snapshot(1, 13311, 8547).split("\n", 3)[3]
        + 'vllm:spec_decode_num_emitted_tokens_total{engine="0",model_name="m"} 10616\n'
        'vllm:spec_decode_efficiency{model_name="m"} 0.598\n'
    )
    (reading,) = read_text(text)

    assert (reading.version, reading.counts) == ("V0", None)
    assert [(each.quantity, each.value) for each in reading.printed] == [("efficiency", 0.598)]
    assert [skip.finding for skip in reading.skipped] == ["vllm_v0_counts"]


def test_hostile_expositions_are_bounded():
    many = "".join(
        f'vllm:spec_decode_num_drafts_total{{model_name="{number}"}} 1\n'
        for number in range(25_000)
    )
    with pytest.raises(MetricsFormatError) as error:
        read_text(many)
    assert len(str(error.value)) < 600
    with pytest.raises(MetricsFormatError):
        read_text('vllm:spec_decode_num_drafts_total{a="' + '\\"' * 20_000 + "\n")
    with pytest.raises(MetricsFormatError):
        read_text("vllm:spec_decode_num_drafts_total" + "{" * 60_000 + "\n")


def without_drafted(*counts, positions=()):
    rows = snapshot(counts[0], 0, counts[1], positions=positions).splitlines()
    return "\n".join(row for row in rows if "num_draft_tokens" not in row)


def test_rounds_and_accepted_tokens_alone_give_ratios():
    (reading,) = read_text(without_drafted(1000, 1240, positions=(710, 530)))
    found = {(ratio.quantity, ratio.depth): ratio.value for ratio in reading.printed}

    assert reading.counts is None
    assert found == {("tokens_per_round", None): 2.24, ("survival", 0): 0.71, ("survival", 1): 0.53}
    assert any("num_draft_tokens is not in the text" in note for note in reading.notes)

    (reading,) = read_text(without_drafted(1000, 1660, positions=(710, 530)))
    assert [(ratio.quantity, ratio.value) for ratio in reading.printed] == [
        ("tokens_per_round", 2.66)
    ]
    assert any("they add up to 1240, and 1660 were accepted" in note for note in reading.notes)

    with pytest.raises(MetricsFormatError, match="12 accepted tokens in no round"):
        read_text(without_drafted(0, 12))
    with pytest.raises(MetricsFormatError, match="nothing was drafted"):
        read_text(without_drafted(0, 0))


def test_two_snapshots_without_drafted_tokens_give_the_ratio_between_them():
    (reading,) = read_difference(
        io.StringIO(without_drafted(1000, 1240)), io.StringIO(without_drafted(1100, 1440))
    )
    assert [ratio.value for ratio in reading.printed] == [3.0]
    assert reading.printed[0].averaged_over == "between two snapshots"


def test_an_efficiency_above_1_is_refused():
    with pytest.raises(MetricsFormatError, match="an efficiency of 5, above 1"):
        read_text("vllm:spec_decode_efficiency 5.0")
