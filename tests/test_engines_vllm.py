"""vLLM's interval line: real lines with their source, and what they must count."""

from pathlib import Path

import pytest

from analysis.uncertainty import p_bounds
from real_runs.engines import MetricsFormatError, read_log, read_text
from simulator import AcceptanceTable, AcceptanceTotals

LOGS = Path(__file__).parent / "logs"


def line(accepted, drafted, length, survival, rate, head="INFO [metrics.py:101] "):
    return (
        f"{head}SpecDecoding metrics: Mean acceptance length: {length}, Accepted throughput: 1.00 "
        f"tokens/s, Drafted throughput: 2.00 tokens/s, Accepted: {accepted} tokens, Drafted: "
        f"{drafted} tokens, Per-position acceptance rate: {survival}, Avg Draft acceptance rate: {rate}%"
    )


SAMPLES = [  # accepted, drafted, length, survival, rate -> rounds, counts per depth
    # vllm-ascend issue 9803
    ((474, 624, "3.28", "0.938, 0.769, 0.572", "76.0"), 208, (195, 160, 119)),
    # vllm issue 39680
    ((630, 652, "1.97", "0.966", "96.6"), 652, (630,)),
    # vllm issue 41789: the printed ratios alone allow 913 to 943 rounds
    ((25, 3652, "1.03", "0.027, 0.000, 0.000, 0.000", "0.7"), 913, (25, 0, 0, 0)),
    ((15, 1724, "1.03", "0.035, 0.000, 0.000, 0.000", "0.9"), 431, (15, 0, 0, 0)),
    # vllm-ascend issue 13640
    (
        (44, 161, "2.91", "0.739, 0.478, 0.261, 0.174, 0.130, 0.087, 0.043", "27.3"),
        23,
        (17, 11, 6, 4, 3, 2, 1),
    ),
    (
        (106, 385, "2.93", "0.691, 0.418, 0.382, 0.182, 0.127, 0.073, 0.055", "27.5"),
        55,
        (38, 23, 21, 10, 7, 4, 3),
    ),
    # club-3090 issue 105
    (
        (489, 1572, "2.87", "0.740, 0.473, 0.309, 0.187, 0.099, 0.057", "31.1"),
        262,
        (194, 124, 81, 49, 26, 15),
    ),
    (
        (983, 1566, "4.77", "0.912, 0.782, 0.667, 0.556, 0.471, 0.379", "62.8"),
        261,
        (238, 204, 174, 145, 123, 99),
    ),
]


@pytest.mark.parametrize(("printed", "rounds", "accepted"), SAMPLES)
def test_a_public_line_gives_its_full_table(printed, rounds, accepted):
    (reading,) = read_text(line(*printed))

    assert reading.counts == AcceptanceTable(
        rounds=rounds,
        drafted=printed[1],
        tested=(rounds, *accepted)[:-1],
        accepted=accepted,
    )
    assert reading.used == 1
    assert reading.skipped == ()


@pytest.mark.parametrize("printed", [printed for printed, _, _ in SAMPLES])
def test_length_is_one_plus_the_sum_of_survival(printed):  # G9
    (reading,) = read_text(line(*printed))
    length = 1 + sum(estimate.value for estimate in reading.counts.survival)

    assert length == pytest.approx(reading.counts.tokens_per_round.value, abs=1e-12)
    assert length == pytest.approx(float(printed[2]), abs=0.005 + 1e-12)


@pytest.mark.parametrize(
    ("index", "fraction", "p_first", "p"),
    [(1, 0.9663, 0.9663, 0.9663), (2, 0.006846, 0.02738, 0.02665), (4, 0.2733, 0.7391, 0.6667),
     (6, 0.3111, 0.7405, 0.6644)],
)  # fmt: skip
def test_a_public_line_gives_the_numbers_of_its_case(index, fraction, p_first, p):
    (reading,) = read_text(line(*SAMPLES[index][0]))
    table = reading.counts

    assert table.accepted_fraction.value == pytest.approx(fraction, rel=1e-3)
    assert table.conditional_acceptance[0].value == pytest.approx(p_first, rel=1e-3)
    assert sum(table.accepted) / sum(table.tested) == pytest.approx(p, rel=1e-3)


def test_all_three_orders_are_read_and_summed():
    (reading,) = read_log(LOGS / "vllm_v1.log")

    assert reading.counts.drafted == 387 + 295 + 1320
    assert sum(reading.counts.accepted) == 150 + 262 + 231
    assert reading.counts.rounds == 129 + 59 + 220
    assert (reading.counts.depths, reading.counts.length_rule) == (6, "scheduled")
    assert (reading.lines, reading.used) == (5, 3)
    assert [(skip.line, skip.reason) for skip in reading.skipped] == [
        (5, "no draft in this interval")
    ]
    assert reading.layout == "interval line"


def test_two_lines_of_one_length_sum_to_a_table():
    first, second = SAMPLES[2], SAMPLES[3]
    (reading,) = read_text(line(*first[0]) + "\n" + line(*second[0]))

    assert reading.counts == AcceptanceTable(
        rounds=1344, drafted=5376, tested=(1344, 40, 0, 0), accepted=(40, 0, 0, 0)
    )
    assert reading.notes == (
        "2 intervals are summed.",
        (
            "Rounds are not printed: in each of the 2 intervals they are drafted / positions, which "
            "agrees with everything printed and rests on every draft having that many tokens (in line 1 "
            "the printed ratios alone allow 913 to 943)."
        ),
        "Counts per depth are recovered from rounded ratios.",
        (
            "Drafted tokens over their throughput give the length of the intervals: 2688 s in all, "
            "0.5 rounds per second of all requests together."
        ),
    )


def test_the_note_of_one_line_says_what_its_rounds_rest_on():
    (reading,) = read_text(line(*SAMPLES[2][0]))

    assert reading.notes[0] == (
        "Rounds are not printed: 3652 drafted / 4 = 913 agrees with everything printed and rests on "
        "every draft having 4 tokens; the printed ratios alone allow 913 to 943."
    )


def test_the_note_says_when_the_ratios_alone_give_the_rounds():
    (reading,) = read_text(line(*SAMPLES[0][0]))

    assert reading.notes[:2] == (
        "Rounds are not printed: 208 is the only number that agrees with everything printed.",
        "Counts per depth are recovered from rounded ratios.",
    )


def test_rounds_are_found_where_drafts_were_cut_short():
    # 20 rounds, one of them with 2 tokens instead of 3
    (reading,) = read_text(line(30, 59, "2.50", "0.700, 0.500, 0.300", "50.8"))

    assert reading.counts.rounds == 20
    assert reading.counts.accepted_by_depth == (14, 10, 6)
    assert reading.counts.to_table() is None
    low, high = p_bounds(reading.counts)
    assert low < high


def test_rounds_stay_unknown_where_several_agree():
    # 2000 rounds of 2 tokens less one token: many numbers of rounds print like this
    (reading,) = read_text(line(1000, 3999, "1.50", "0.300, 0.200", "25.0"))

    assert reading.counts.rounds is None
    assert reading.counts.length_rule == "unknown"
    assert "Rounds stay unknown: what is printed allows 2000 to 2003." in reading.notes
    for (low, high), true in zip(reading.counts.depth_bounds, (600, 400), strict=True):
        assert low <= true <= high


def test_counts_per_depth_are_bounds_where_rounding_hides_them():
    rounds = 100_000
    counts = (71234, 50321, 30123)
    survival = ", ".join(f"{count / rounds:.3f}" for count in counts)
    accepted = sum(counts)
    (reading,) = read_text(
        line(accepted, 3 * rounds, f"{1 + accepted / rounds:.2f}", survival,
             f"{100 * accepted / (3 * rounds):.1f}")
    )  # fmt: skip

    assert reading.counts.rounds == rounds
    assert reading.counts.accepted_by_depth is None
    for (low, high), true in zip(reading.counts.accepted_by_depth_bounds, counts, strict=True):
        assert low <= true <= high
        assert high - low <= 100


def test_the_ratios_of_a_single_line_are_printed_under_our_names():
    (reading,) = read_text(line(*SAMPLES[1][0]))

    assert [(r.quantity, r.value, r.half_width, r.depth) for r in reading.printed] == [
        ("accepted_fraction", 0.966, pytest.approx(0.0005), None),
        ("tokens_per_round", 1.97, pytest.approx(0.005), None),
        ("survival", 0.966, pytest.approx(0.0005), 0),
    ]
    assert {r.averaged_over for r in reading.printed} == {"one interval (10 s unless configured)"}
    assert "rounds without a draft" in reading.definition


@pytest.mark.parametrize("rate", ["76.0%", "76.0", "0.760"])
def test_percent_or_fraction_is_told_by_the_counts(rate):
    text = line(*SAMPLES[0][0]).replace("76.0%", rate)
    (reading,) = read_text(text)

    assert reading.printed[0].value == pytest.approx(0.76)


@pytest.mark.parametrize(
    "head",
    [
        "",
        "> ",
        "2025-11-01T10:02:11Z | web-1 | ",
        "\x1b[0;36m(APIServer pid=7)\x1b[0;0m INFO ",
        "日本 ",
    ],
)
def test_any_prefix_is_accepted(head):
    (reading,) = read_text(line(*SAMPLES[0][0], head=head))

    assert reading.counts.rounds == 208


def test_thousands_separators_and_windows_line_ends():
    text = line("1,234", "2,468", "1.50", "0.500", "50.0") + "\r\n"
    (reading,) = read_text(text)

    assert (reading.counts.accepted, reading.counts.drafted) == ((1234,), 2468)


def test_a_line_wrapped_at_its_commas_is_joined():
    (reading,) = read_text(line(*SAMPLES[0][0]).replace("tokens, ", "tokens,\n  ") + "\nother\n")

    assert reading.counts.rounds == 208
    assert reading.lines == 4


def test_a_cut_line_does_not_swallow_the_next_one():
    whole = line(*SAMPLES[0][0])
    cut = whole[: whole.index(" Drafted: ")]
    (reading,) = read_text(f"{cut}\n{whole}")

    assert reading.counts.rounds == 208
    assert [skip.line for skip in reading.skipped] == [1]


def test_two_lines_run_together_both_count():
    (reading,) = read_text(line(*SAMPLES[0][0]) + line(*SAMPLES[0][0]))

    assert reading.counts.rounds == 416
    assert (reading.lines, reading.used) == (1, 1)
    assert "2 intervals are summed." in reading.notes


def test_the_line_of_0_8_gives_counts_without_rounds():
    (reading,) = read_text(
        "SpecDecoding metrics: Draft acceptance rate: 64.5%, Accepted: 167 tokens, Drafted: 259 tokens"
    )

    assert reading.counts == AcceptanceTotals(drafted=259, accepted=167)


GOOD = line(*SAMPLES[0][0])


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (GOOD[: GOOD.index(", Avg")], "the line has no 'Draft acceptance rate'"),
        (GOOD[: GOOD.index("Drafted: ")], "the line has no 'Drafted'"),
        (GOOD[: GOOD.index(" tokens, Per")], "the line has no 'Drafted'"),
        (GOOD.replace("Mean acceptance length: 3.28, ", ""), "the line has no 'Mean acceptance length'"),
        (
            ("SpecDecoding metrics: Mean acceptance length: 1.37,\nPer-position acceptance rate: 0.166,\n"
            "Avg Draft acceptance rate: 9.3%"),
            "the printed ratios contradict each other",
        ),
        (GOOD.replace("76.0", "46.0"), "the printed acceptance rate 46 contradicts the counts"),
        (GOOD.replace("3.28", "2.28"), "the printed ratios contradict the counts"),
        (GOOD.replace("0.769", "0.669"), "the printed ratios contradict the counts"),
        (GOOD.replace("0.572", "0.800"), "the printed ratios contradict the counts"),
        (GOOD.replace("0.572", "0.57"), "Per-position acceptance rate ends within a number"),
        (GOOD.replace("3.28", "nan"), "Mean acceptance length is not a number (nan)"),
        (GOOD.replace("474", "9" * 19), "Accepted has more than 18 digits"),
        (GOOD.replace("474", "4,74"), "Accepted is not a count (4,74)"),
        (GOOD.replace("474", "-474"), "Accepted is not a count (-474)"),
        (GOOD.replace("624", "-624"), "Drafted is not a count (-624)"),
        (GOOD.replace("0.938", "-0.938"), "Per-position acceptance rate is not a number (-0.938)"),
        (GOOD.replace("624", "424"), "accepted (474) is above drafted (424)"),
        (GOOD.replace("0.938", "0." + "9" * 5000), "Per-position acceptance rate has more than 18 digits"),
        (GOOD.replace("0.938", ", ".join(["0.938"] * 300)), "lists more than 256 positions"),
        ("DiffusionDecoding " + GOOD[GOOD.index("metrics:") :], "gives these counters other meanings"),
    ],
)  # fmt: skip
def test_a_line_that_gives_no_counts_says_why(bad, reason):
    (reading,) = read_text(f"{bad}\n{GOOD}")
    (skipped,) = reading.skipped

    assert reading.counts.rounds == 208  # the good line alone
    assert reading.used == 1
    assert skipped.line == 1
    assert reason in skipped.reason

    with pytest.raises(MetricsFormatError) as error:
        read_text(f"first\n{bad}", name="server.log")
    assert str(error.value).startswith("server.log, line 2: ")
    assert reason in str(error.value)
    assert "; expected " in str(error.value)
    assert str(error.value).count("\n") == 0


def test_accepted_above_drafted_alone_is_an_error_of_the_file():
    with pytest.raises(MetricsFormatError) as error:
        read_text(f"other\n{GOOD.replace('624', '424')}", name="server.log")

    assert str(error.value) == (
        "server.log, line 2: accepted (474) is above drafted (424); "
        "expected at most as many accepted as drafted tokens."
    )


def test_nothing_drafted_at_all_is_an_error():
    nan = line(0, 0, "nan", "nan, nan", "nan")
    with pytest.raises(MetricsFormatError) as error:
        read_text(f"{nan}\n{nan}", name="server.log")

    assert str(error.value) == (
        "server.log, line 1: nothing was drafted in any line with metrics (2 from here on); "
        "expected at least one with drafted tokens."
    )


def test_nothing_accepted_is_a_table_of_zeros():
    (reading,) = read_text(line(0, 30, "1.00", "0.000, 0.000, 0.000", "0.0"))

    assert reading.counts == AcceptanceTable(
        rounds=10, drafted=30, tested=(10, 0, 0), accepted=(0, 0, 0)
    )


def test_everything_accepted_is_a_table_of_full_rounds():
    (reading,) = read_text(line(70, 70, "8.00", ", ".join(["1.000"] * 7), "100.0"))

    assert reading.counts.accepted == (10,) * 7


def test_the_wording_of_the_first_version_and_prose_about_the_longest_are_read():
    # "probabilities" in vllm pull request 17010; a loop that keeps everything
    (first,) = read_text(
        line(*SAMPLES[0][0]).replace("acceptance rate: 0.938", "acceptance probabilities: 0.938")
    )
    (loop,) = read_text(
        "SpecDecoding metrics: Mean acceptance length: 3.00 (max), per-position 1.000, 1.000, "
        "Avg Draft acceptance rate: 100.0%"
    )

    assert first.counts.accepted == (195, 160, 119)
    assert loop.counts is None
    assert [(r.quantity, r.value) for r in loop.printed] == [
        ("accepted_fraction", 1.0),
        ("tokens_per_round", 3.0),
        ("survival", 1.0),
        ("survival", 1.0),
    ]


def test_a_draft_that_is_dead_behind_its_first_token_is_read():
    # 0.139 and seven zeros: the form of a draft broken after its first position
    (reading,) = read_text(
        line(139, 8000, "1.14", "0.139" + ", 0.000" * 7, "1.7", head="Engine 000: ")
    )

    assert reading.counts.accepted == (139, *([0] * 7))
    assert reading.gamma == 8


def test_the_reading_says_which_version_and_draft_length_it_is_of():
    (one,) = read_text(line(*SAMPLES[0][0]))
    (two,) = read_text(line(*SAMPLES[0][0]) + "\n" + line(*SAMPLES[1][0]))

    assert (one.version, one.gamma) == ("V1", 3)
    assert (two.version, two.gamma) == ("V1", None)
    assert two.observation.units == two.units
    assert [unit.counts.rounds for unit in two.units] == [208, 652]
    assert two.unit == "interval"
