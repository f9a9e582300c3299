"""The blocks at the end of vLLM's benchmarks: bench serve and the offline example."""

import pytest

from analysis.uncertainty import p_bounds
from real_runs.engines import MetricsFormatError, read_text
from simulator import AcceptanceTable


def offline(output, drafts, drafted, accepted, length, survival, *more):
    return "\n".join(
        (
            "-" * 50,
            f"total_num_output_tokens: {output}",
            f"num_drafts: {drafts}",
            f"num_draft_tokens: {drafted}",
            f"num_accepted_tokens: {accepted}",
            f"mean acceptance length: {length}",
            *more,
            "-" * 50,
            *(f"acceptance at token {depth}: {ratio}" for depth, ratio in enumerate(survival)),
        )
    )


def bench(drafts, drafted, accepted, rate, length, survival, *, before=""):
    counts = ("Drafts:", drafts), ("Draft tokens:", drafted), ("Accepted tokens:", accepted)
    rows = [("Acceptance rate (%):", rate), ("Acceptance length:", length)]
    rows += [(name, value) for name, value in counts if value is not None]
    at = [(f"  Position {depth}:", ratio) for depth, ratio in enumerate(survival)]
    return "\n".join(
        (
            before + "---------------Speculative Decoding---------------",
            *(f"{name:<40} {value:<10}" for name, value in rows),
            "Per-position acceptance (%):",
            *(f"{name:<40} {value:<10}" for name, value in at),
            "=" * 50,
        )
    )


MTP_8 = (11043, 88344, 38611, "43.71", "4.50",  # vllm pull request 48892
         ("76.17", "61.58", "51.25", "42.43", "36.40", "30.94", "27.22", "23.65"))  # fmt: skip
EAGLE = (5376, 2189, 6567, 3187, "2.46", ("0.77", "0.45", "0.24"))  # vllm pull request 24344
NGRAM = (5376, 993, 4960, 3562, "4.59", ("0.81", "0.74", "0.70", "0.68", "0.66"))  # the same one


def test_the_public_block_of_bench_serve_gives_the_numbers_of_its_case():
    (reading,) = read_text(bench(*MTP_8))
    counts = reading.counts
    low, high = p_bounds(counts)

    assert reading.layout == "block of bench serve"
    assert (counts.rounds, counts.drafted, counts.accepted) == (11043, 88344, 38611)
    assert (counts.longest_draft, counts.length_rule, reading.gamma) == (8, "fixed", 8)
    assert counts.tokens_per_round.value == pytest.approx(4.496, rel=1e-3)
    assert counts.accepted_fraction == pytest.approx(0.4371, rel=1e-3)
    assert low == pytest.approx(0.8208, rel=1e-3)
    assert high == pytest.approx(0.8208, rel=1e-3)
    for (least, most), ratio in zip(counts.depth_bounds, MTP_8[-1], strict=True):
        assert most - least <= 1
        assert least / 11043 == pytest.approx(float(ratio) / 100, abs=1.5e-4)
    printed = {(r.quantity, r.depth): (r.value, r.half_width) for r in reading.printed}
    assert printed["accepted_fraction", None] == (pytest.approx(0.4371), pytest.approx(5e-5))
    assert printed["survival", 7] == (pytest.approx(0.2365), pytest.approx(5e-5))


def test_a_block_of_few_rounds_is_a_table_recovered_from_rounded_ratios():
    (reading,) = read_text(bench(208, 624, 474, "75.96", "3.28", ("93.75", "76.92", "57.21")))

    assert reading.counts == AcceptanceTable(
        rounds=208, drafted=624, tested=(208, 195, 160), accepted=(195, 160, 119)
    )
    assert "Counts per depth are recovered from rounded ratios." in reading.notes


def test_a_block_whose_positions_were_cut_off_keeps_what_it_counts():
    text = bench(*MTP_8[:-1], MTP_8[-1][:2])
    (reading,) = read_text(text)

    assert (reading.counts.rounds, reading.counts.longest_draft) == (11043, 8)
    assert reading.counts.depth_bounds is None
    assert [r.value for r in reading.printed if r.quantity == "survival"] == [
        pytest.approx(0.7617),
        pytest.approx(0.6158),
    ]
    assert any(note.startswith("Only the first 2 positions of") for note in reading.notes)


@pytest.mark.parametrize("dress", [
    lambda text: text.replace("11043", "11,043").replace("88344", "88,344"),
    lambda text: "\n".join(f"> {row}" for row in text.splitlines()),
    lambda text: "\n".join(
        "| **" + row.replace(":", "** | **").strip() + "** |" if ":" in row else row
        for row in text.splitlines()
    ),
])  # fmt: skip
def test_thousands_separators_quotes_and_bold_table_rows_are_read(dress):
    (reading,) = read_text(dress(bench(*MTP_8)))

    assert (reading.counts.rounds, reading.counts.drafted) == (11043, 88344)
    assert len(reading.counts.depth_bounds) == 8


def serving(throughput, tpot, concurrency):
    return (
        "============ Serving Benchmark Result ============\n"
        f"Maximum request concurrency:             {concurrency}\n"
        "Benchmark duration (s):                  266.90\n"
        f"Output token throughput (tok/s):         {throughput}\n"
        "Peak output token throughput (tok/s):    30.00\n"
        f"Mean TPOT (ms):                          {tpot}\n"
        "Mean ITL (ms):                           40.50\n"
    )


def test_the_times_of_the_same_block_are_its_clock():
    text = bench(6393, 19179, 14090, "73.47", "3.20", ("83.42", "72.91", "64.07"),
                 before=serving("66.20", "12.65", 1))  # fmt: skip
    (reading,) = read_text(text)

    assert reading.clock.tokens_per_s == pytest.approx(66.20)
    assert reading.clock.s_per_token == pytest.approx(0.01265)
    assert reading.clock.running == 1.0
    assert reading.clock.plain_s_per_token is None
    assert any("includes prefill" in note for note in reading.notes)


@pytest.mark.parametrize(("total", "more"), [(20480, 0), (21503, 1000)])
def test_output_beyond_the_rounds_counted_is_of_rounds_without_a_draft(total, more):
    # 20 requests, 6393 rounds that kept 14090 tokens: 20503 tokens are explained
    before = f"Successful requests:   20\nTotal generated tokens:  {total}\n"
    text = bench(6393, 19179, 14090, "73.47", "3.20", ("83.42", "72.91", "64.07"), before=before)
    (reading,) = read_text(text)

    assert reading.emitted == total
    note = f"{more} output tokens more than prefill and the rounds counted explain"
    assert any(each.startswith(note) for each in reading.notes) == (more > 0)
    (without,) = read_text(bench(*MTP_8))
    assert without.emitted is None
    assert "Rounds without a draft are not counted." in without.notes


@pytest.mark.parametrize("tpot", ["nan", "9" * 500])
def test_a_time_that_is_none_costs_no_counts(tpot):
    (reading,) = read_text(bench(*MTP_8, before=serving("66.20", tpot, 1)))
    (plain,) = read_text(serving("66.20", tpot, 1) + bench(*MTP_8, before=serving("66.20", "1", 1)))

    assert reading.counts.rounds == plain.counts.rounds == 11043
    assert reading.clock.s_per_token is None
    assert plain.clock.plain_tokens_per_s is None


def test_a_run_without_speculation_and_as_many_requests_is_the_plain_one():
    text = bench(*MTP_8, before=serving("1,066.20", "12.65", 8))
    (beside,) = read_text(serving("500.00", "25.30", 8) + text)
    (other,) = read_text(serving("500.00", "25.30", 1) + text)

    assert beside.clock.tokens_per_s == pytest.approx(1066.2)
    assert beside.clock.plain_tokens_per_s == pytest.approx(500.0)
    assert beside.clock.plain_s_per_token == pytest.approx(0.0253)
    assert other.clock.plain_tokens_per_s is None


def test_several_runs_are_summed_without_a_clock():
    text = bench(*MTP_8, before=serving("66.20", "12.65", 1))
    (reading,) = read_text(text + "\n" + text)

    assert reading.counts.rounds == 2 * 11043
    assert reading.clock.tokens_per_s is None
    assert "Several runs have no common clock: their times are left out." in reading.notes


def test_a_block_copied_without_its_counts_gives_ratios():
    (reading,) = read_text(bench(None, None, None, "68.81", "3.06", ("76.56", "68.76", "61.10")))

    assert reading.counts is None
    assert [(r.quantity, r.depth) for r in reading.printed] == [
        ("accepted_fraction", None),
        ("tokens_per_round", None),
        *(("survival", depth) for depth in range(3)),
    ]
    assert reading.printed[0].value == pytest.approx(0.6881)


def test_a_benchmark_without_speculation_is_no_reading():
    with pytest.raises(MetricsFormatError, match="no metrics of speculative decoding"):
        read_text(serving("500.00", "25.30", 8) + "Acceptance length:     2.42\n")


def test_the_public_block_of_the_example_gives_the_numbers_of_its_case():
    (reading,) = read_text(
        offline(*EAGLE, "num_tokens_generated_without_sd: 0", "seq normalized acceptance length: 2.46")
    )  # fmt: skip
    low, high = p_bounds(reading.counts)

    assert reading.layout == "block of the offline example"
    assert (reading.counts.rounds, reading.gamma, reading.undrafted_rounds) == (2189, 3, 0)
    assert reading.emitted == 5376
    assert reading.counts.tokens_per_round.value == pytest.approx(2.456, rel=1e-3)
    assert reading.counts.accepted_fraction == pytest.approx(0.4853, rel=1e-3)
    assert low == pytest.approx(0.6556, rel=1e-3)
    assert high == pytest.approx(0.6585, rel=1e-3)
    assert "No round was without a draft." in reading.notes


def test_rounds_without_a_draft_are_counted_beside_those_with_one():
    (reading,) = read_text(
        offline(*NGRAM, "num_tokens_generated_without_sd: 821", "seq normalized acceptance length: 2.96")
    )  # fmt: skip
    low, high = p_bounds(reading.counts)
    rounds = reading.counts.rounds + reading.undrafted_rounds

    assert (reading.counts.rounds, reading.undrafted_rounds, rounds) == (993, 821, 1814)
    assert (rounds + reading.counts.accepted) / rounds == pytest.approx(2.964, rel=1e-3)
    assert reading.emitted / rounds == pytest.approx(2.964, rel=1e-3)
    assert reading.counts.to_table() is None  # five drafted tokens short of 5 a round
    assert low == pytest.approx(0.9124, rel=1e-3)
    assert high == pytest.approx(0.9157, rel=1e-3)
    assert any("over all 1814 rounds, there are 2.964 tokens per round" in n for n in reading.notes)


@pytest.mark.parametrize("survival", [(), ("0.77",)])
def test_a_block_with_the_first_position_or_none_has_its_length_from_the_counts(survival):
    # vllm issue 26191
    (reading,) = read_text(offline(16990, 4816, 33712, 12208, "3.53", survival))

    assert reading.counts.rounds == 4816
    assert reading.counts.tokens_per_round.value == pytest.approx(3.535, rel=1e-3)
    assert reading.counts.accepted_fraction == pytest.approx(0.3621, rel=1e-3)
    assert reading.counts.drafted / reading.counts.rounds == reading.gamma == 7
    assert (reading.emitted, reading.undrafted_rounds) == (16990, None)
    assert any(note.startswith("Rounds without a draft are not counted") for note in reading.notes)


def test_the_sample_of_the_documentation_is_read():
    (reading,) = read_text(
        "num_drafts: 31214\nnum_draft_tokens: 93642\nnum_accepted_tokens: 37294\n"
        "mean acceptance length: 2.19\nacceptance at token 0:0.66\n"
    )

    assert (reading.counts.rounds, reading.gamma) == (31214, 3)
    assert reading.printed[-1].value == pytest.approx(0.66)


def test_blocks_of_several_runs_are_summed():
    (reading,) = read_text(
        offline(*EAGLE, "num_tokens_generated_without_sd: 0")
        + "\n"
        + offline(*NGRAM, "num_tokens_generated_without_sd: 821")
    )

    assert reading.counts.rounds == 2189 + 993
    assert (reading.undrafted_rounds, reading.emitted, reading.gamma) == (821, 2 * 5376, None)
    assert (reading.used, reading.printed) == (2, ())


BAD_OFFLINE = offline(*EAGLE)
BAD_BENCH = bench(*MTP_8)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (BAD_OFFLINE.replace("num_drafts: 2189\n", ""), "the block has no 'num_drafts'"),
        (BAD_OFFLINE.replace("2.46", "2.56"), "the printed ratios contradict the counts"),
        (BAD_OFFLINE.replace("0.45", "0.55"), "the printed ratios contradict the counts"),
        (BAD_OFFLINE.replace("token 1:", "token 5:"), "the positions listed are not 0 to 2"),
        (BAD_OFFLINE.replace("3187", "7187"), "accepted (7187) is above drafted (6567)"),
        (BAD_OFFLINE.replace("2189", "0"), "6567 drafted tokens in no round"),
        (offline(*EAGLE, "num_tokens_generated_without_sd: 9", "seq normalized acceptance length: 2.26"),
         "the printed seq normalized acceptance length 2.26 contradicts 5376 tokens in 2198 rounds"),
        (BAD_BENCH.replace("Drafts:  ", "Draft_:  "), "the block has no 'Drafts'"),
        (BAD_BENCH.replace("43.71", "53.71"), "the printed acceptance rate 53.71 contradicts the counts"),
        (BAD_BENCH.replace("4.50", "4.60"), "the printed ratios contradict the counts"),
        (BAD_BENCH.replace("61.58", "71.58"), "the printed ratios contradict the counts"),
        (BAD_BENCH.replace("Position 3", "Position 9"), "the positions listed are not 0 to 7"),
        (BAD_BENCH.replace("38611", "98611"), "accepted (98611) is above drafted (88344)"),
        (bench(None, None, None, "68.81", "2.06", ("76.56", "68.76", "61.10")),
         "the printed ratios contradict each other"),
    ],
)  # fmt: skip
def test_a_block_that_contradicts_itself_says_why(bad, reason):
    with pytest.raises(MetricsFormatError) as error:
        read_text(bad, name="run.log", engine="vllm")

    assert str(error.value).startswith("run.log, line ")
    assert reason in str(error.value)
    assert str(error.value).count("\n") == 0
    good = bench(208, 624, 474, "75.96", "3.28", ("93.75", "76.92", "57.21"))
    (reading,) = read_text(f"{bad}\n{good}")
    assert reading.counts.rounds == 208


def test_what_looks_alike_is_not_taken():
    # a name of JSON, a lone number of tokens with a mean
    text = '"num_drafts": 7,\ntotal_num_output_tokens: 5376\nmean acceptance length: 2.46\n'
    (reading,) = read_text(text + BAD_BENCH)

    assert reading.counts.rounds == 11043
    assert reading.skipped == ()


def test_zeros_that_were_added_to_coarser_ratios_are_taken_off_and_said():
    survival = ("93.80", "76.90", "57.20")
    (whole,) = read_text(bench(208, 624, 474, "76.00", "3.28", survival))
    (first,) = read_text(bench(208, 624, 474, "76.00", "3.28", survival[:1]))

    assert whole.counts == AcceptanceTable(
        rounds=208, drafted=624, tested=(208, 195, 160), accepted=(195, 160, 119)
    )
    assert whole.printed[0].half_width == pytest.approx(0.005)
    assert (first.counts.rounds, first.counts.accepted, first.gamma) == (208, 474, 3)
    for reading in (whole, first):
        assert any("only without the zeros at their end" in note for note in reading.notes)
    (exact,) = read_text(bench(208, 624, 468, "75.00", "3.25", survival[:1]))
    assert not any("zeros" in note for note in exact.notes)


@pytest.mark.parametrize("survival", [("193.80",), ("60.00", "70.00"), ("99.00", "99.00", "99.00")])
def test_a_list_of_positions_that_was_cut_must_agree_with_the_counts_too(survival):
    with pytest.raises(MetricsFormatError, match="positions listed contradict"):
        read_text(bench(100, 500, 200, "40.00", "3.00", survival))


@pytest.mark.parametrize(
    ("rate", "length", "finding"),
    [("143.71", "4.50", "unit_error"), ("43.71", "0.50", "length_outside_range")],
)
def test_ratios_without_counts_that_cannot_be_are_refused(rate, length, finding):
    text = f"Acceptance rate (%): {rate}\nAcceptance length: {length}\n"
    with pytest.raises(MetricsFormatError) as error:
        read_text(text)
    assert error.value.finding == finding


def test_ratios_without_counts_say_nothing_of_emitted_tokens():
    (reading,) = read_text("Acceptance rate (%): 43.71\nAcceptance length: 4.50\n")
    assert (reading.counts, reading.emitted) == (None, None)
