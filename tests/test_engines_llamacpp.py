"""llama.cpp's server and example output: real lines with their source, and what they must count."""

from pathlib import Path

import pytest

from analysis.uncertainty import p_bounds
from real_runs.engines import MetricsFormatError, read_log, read_text
from simulator import AcceptanceTable, AcceptanceTotals

LOGS = Path(__file__).parent / "logs"

JUNE = (  # llama.cpp pull request 24536
    "draft acceptance = 0.64479 (  167 accepted /   259 generated), mean acceptance length =  2.92, "
    "acceptance rate per position = (0.805, 0.632, 0.483)"
)
OCTOBER = (
    "0.1 I slot print_timing: id  1 | task 0 | draft acceptance = 0.64479 (  167 accepted /   259 "
    "generated), mean len =  2.92"
)
POSITIONS = "0.2 I slot print_timing: id  1 | task 0 |      acc per pos = (0.805, 0.632, 0.483)"
STATISTICS = (
    "statistics     draft-eagle3: #calls(b,g,a) =    1     87     87, #gen drafts =     87, #acc drafts "
    "=    70, #gen tokens =    259, #acc tokens =   167, #mean acc len = 2.92, #acc rate/pos = (0.805, "
    "0.632, 0.483), dur(b,g,a) = 0.005, 325.555, 0.114 ms"
)
EAGLE = AcceptanceTotals(
    drafted=259, accepted=167, rounds=87, accepted_by_depth=(70, 55, 42), longest_draft=3
)


def test_the_line_of_june_gives_everything():
    (reading,) = read_text(JUNE)

    assert reading.counts == EAGLE
    assert reading.counts.to_table() is None  # two tokens short of 3 x 87
    assert [round(bound, 4) for bound in p_bounds(reading.counts)] == [0.7877, 0.7952]
    assert reading.counts.tokens_per_round.value == pytest.approx(2.92, abs=0.005)
    assert reading.counts.accepted_fraction == pytest.approx(0.6448, abs=5e-5)
    assert [(r.quantity, r.value, r.depth) for r in reading.printed] == [
        ("accepted_fraction", 0.64479, None),
        ("tokens_per_round", 2.92, None),
        ("survival", 0.805, 0),
        ("survival", 0.632, 1),
        ("survival", 0.483, 2),
    ]
    assert reading.printed[0].half_width == pytest.approx(5e-6)


@pytest.mark.parametrize(
    "text", [f"{OCTOBER}\n{POSITIONS}", f"{OCTOBER}\nsrv  update: other\n{POSITIONS}\nmore"]
)
def test_positions_on_a_line_of_their_own_are_joined(text):
    (reading,) = read_text(text)

    assert reading.counts == EAGLE
    assert reading.used == 1


def test_the_line_of_october_alone_gives_rounds():
    (reading,) = read_text(OCTOBER)

    assert reading.counts == AcceptanceTotals(drafted=259, accepted=167, rounds=87)


def test_the_old_line_gives_two_counts():
    (reading,) = read_text("draft acceptance rate = 0.56556 ( 1376 accepted / 2433 generated)")

    assert reading.counts == AcceptanceTotals(drafted=2433, accepted=1376)
    assert any(note.startswith("Rounds stay unknown") for note in reading.notes)


@pytest.mark.parametrize(
    ("text", "table"),
    [
        (
            (
                "draft acceptance = 0.66237 (  257 accepted /   388 generated), mean acceptance length = "
                " 3.65, acceptance rate per position = (0.804, 0.701, 0.629, 0.515)"
            ),
            (97, 388, (78, 68, 61, 50)),
        ),
        (
            (
                "draft acceptance = 0.45343 (185 accepted / 408 generated), mean len = 3.72\n"
                "acc per pos = (0.897, 0.662, 0.456, 0.279, 0.250, 0.176)"
            ),
            (68, 408, (61, 45, 31, 19, 17, 12)),
        ),
        (
            (
                "draft acceptance = 0.83432 (  282 accepted /   338 generated), mean acceptance length = "
                " 2.67, acceptance rate per position = (0.893, 0.775)"
            ),
            (169, 338, (151, 131)),
        ),
    ],
)
def test_full_drafts_give_a_table(text, table):
    rounds, drafted, accepted = table
    (reading,) = read_text(text)

    assert reading.counts == AcceptanceTable(
        rounds=rounds, drafted=drafted, tested=(rounds, *accepted)[:-1], accepted=accepted
    )


def test_rounds_of_a_long_request_stay_unknown():
    # 307 / 407 tokens in 204 rounds; 205 print the same length
    (reading,) = read_text(
        "draft acceptance = 0.75430 (  307 accepted /   407 generated), mean len =  2.50"
    )

    assert reading.counts.rounds is None
    assert "Rounds stay unknown: what is printed allows 204 to 205." in reading.notes


def test_requests_are_summed():
    (reading,) = read_text(f"{JUNE}\n{OCTOBER}\n{POSITIONS}")

    assert reading.counts == EAGLE + EAGLE
    assert reading.used == 2
    assert "2 requests are summed." in reading.notes


def test_requests_and_statistics_are_never_added():
    requests, statistics = read_log(LOGS / "llamacpp_server.log")

    assert requests.counts == EAGLE
    assert statistics.layout == "statistics of draft-eagle3"
    assert statistics.counts == EAGLE
    for reading in (requests, statistics):
        assert any("never add the two" in note for note in reading.notes)
        assert reading.lines == 4


ASKED = (
    "draft acceptance = 0.30000 ( 9 accepted / 30 generated), mean acceptance length = 1.90, "
    "acceptance rate per position = ({})\n"
)
STATED = (
    "statistics draft: #calls(b,g,a) = 1 {0} {0}, #gen drafts = {0}, #acc drafts = 6, #gen tokens = 30, "
    "#acc tokens = 9, #mean acc len = 1.90, #acc rate/pos = (0.600, 0.300), dur(b,g,a) = 0.0, 1.0, 0.1 ms\n"
)


def test_statistics_of_the_same_rounds_take_their_longest_draft():
    """The list of statistics ends at the deepest accepted token, that of a request at the longest draft."""
    requests, statistics = read_text(ASKED.format("0.600, 0.300, 0.000") + STATED.format(10))
    assert statistics.counts == requests.counts
    assert statistics.counts.tested == (10, 6, 3)
    (alone,) = read_text(STATED.format(10))
    assert alone.counts.longest_draft is None
    assert any("would settle p" in note for note in alone.notes)
    assert any("Drafts have 3 tokens at most" in note for note in statistics.notes)
    assert not any("would settle p" in note for note in statistics.notes)


def test_other_tokens_or_requests_without_positions_lend_nothing():
    request = ASKED.format("0.600, 0.300, 0.000")
    for before in (request * 2, "draft acceptance = 0.30000 ( 9 accepted / 30 generated)\n"):
        *_, statistics = read_text(before + STATED.format(10))
        assert statistics.counts.longest_draft is None
        assert any("would settle p" in note for note in statistics.notes)


def test_every_implementation_is_a_reading_of_its_own():
    requests, *statistics = read_log(LOGS / "llamacpp_statistics.log")

    assert requests.counts == AcceptanceTotals(drafted=297, accepted=171)
    assert [
        (s.layout, s.counts.rounds, s.counts.drafted, s.counts.accepted) for s in statistics
    ] == [
        ("statistics of ngram_simple", 5, 187, 73),
        ("statistics of draft", 10, 110, 98),
        ("statistics of ngram_mod", 15, 960, 730),
        ("statistics of draft-mtp", 1308, 2602, 2031),
    ]
    assert [(skip.line, skip.reason) for skip in requests.skipped] == [(5, "no draft so far")]


@pytest.mark.parametrize(
    ("block", "rounds", "gamma"),
    [
        # llama.cpp issue 3649
        ("n_draft   = 5\nn_predict = 261\nn_drafted = 260\nn_accept  = 208\naccept    = 80.000%", 52, 5),
        # llama.cpp pull request 10455
        ("n_draft   = 16\nn_predict = 371\nn_drafted = 912\nn_accept  = 313\naccept    = 34.320%", 57, 16),
        # llama.cpp pull request 3006: n_draft adapts, and 53 is only its last value
        (("n_draft   = 53\nn_predict = 266\nn_drafted = 245\nn_accept  = 231\naccept    = 94.286%\n\n"
         "decoded  266 tokens in   11.990 seconds, speed:   22.185 t/s"), 34, None),
    ],
)  # fmt: skip
def test_the_block_of_an_example(block, rounds, gamma):
    (reading,) = read_text(block)

    assert reading.counts.rounds == rounds
    assert reading.counts.longest_draft == gamma
    assert reading.counts.length_rule == ("fixed" if gamma else "unknown")
    assert reading.printed[0].quantity == "accepted_fraction"
    assert reading.printed[0].value == pytest.approx(reading.counts.accepted_fraction, abs=5e-6)


def test_blocks_are_summed():
    block = (LOGS / "llamacpp_example.log").read_text()
    (reading,) = read_text(block + block)

    assert (reading.counts.rounds, reading.counts.drafted, reading.counts.accepted) == (
        104,
        520,
        416,
    )
    assert reading.counts.tokens_per_round.value == 5.0
    assert reading.used == 2


def test_a_lone_setting_is_no_block():
    with pytest.raises(MetricsFormatError, match="no metrics of speculative decoding"):
        read_text("generate: n_ctx = 4096, n_predict = 128, n_keep = 1\nn_predict = 128\n")


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (JUNE[: JUNE.index(" gen")], "the line has no 'generated'"),
        (JUNE[: JUNE.index("epted")], "the line has no 'accepted'"),
        (JUNE[: JUNE.index("92, acc")], "the line has no 'mean length'"),
        (JUNE[:-4], "the list of positions is cut short"),
        (
            JUNE.replace("0.64479", "0.74479"),
            "the printed acceptance rate 0.74479 contradicts the counts",
        ),
        (JUNE.replace("2.92", "2.12"), "the printed ratios contradict the counts"),
        (JUNE.replace("0.805", "0.705"), "the printed ratios contradict the counts"),
        (
            (
                "draft acceptance = 0.90000 (   90 accepted /   100 generated), mean acceptance length =  4.50,"
                " acceptance rate per position = (1.000, 0.900)"
            ),
            "the printed ratios contradict the counts",
        ),
        (JUNE.replace("259", "2" * 30), "generated has more than 18 digits"),
        (JUNE.replace("0.64479", "nan"), "draft acceptance is not a number (nan)"),
        (JUNE.replace("0.64479", "-0.64479"), "draft acceptance is not a number (-0.64479)"),
        (JUNE.replace("0.64479", ""), "the line has no 'draft acceptance'"),
        (JUNE.replace("167", "-167"), "accepted is not a count (-167)"),
        (JUNE.replace("259", "-259"), "generated is not a count (-259)"),
        (JUNE.replace("0.805", "-0.805"), "list of positions is not a number (-0.805)"),
        ("n_predict = -1\nn_drafted = 260\nn_accept = 208", "n_predict is not a count (-1)"),
        (
            "draft acceptance = 1.00000 ( 9 accepted / 8 generated)",
            "accepted (9) is above drafted (8)",
        ),
        (POSITIONS, "no acceptance line before this list of positions"),
        (STATISTICS.replace("#gen tokens =    259, ", ""), "the line has no '#gen tokens'"),
        (STATISTICS.replace("=    70", "=    60"), "the printed ratios contradict the counts"),
        (STATISTICS.replace("=    70", "=    90"), "the printed ratios contradict the counts"),
        (STATISTICS[: STATISTICS.index("483)")], "the list of positions is cut short"),
        (
            (
                "statistics draft: #calls(b,g,a) = 1 1 0, #gen drafts = 1, #acc drafts = 0, #gen tokens = 3, "
                "#acc tokens = 0"
            ),
            "drafts were made, and none of them was judged",
        ),
        ("n_drafted = 260\nn_accept  = 208\naccept    = 80.000%", "the block has no 'n_predict'"),
        ("W = 15\nN = 5\nG = 15\nn_predict = 130\nn_accept  = 40", "the block has no 'n_drafted'"),
        (
            "n_predict = 100\nn_drafted = 260\nn_accept  = 208",
            "n_predict = 100 leaves no round for 208 accepted tokens",
        ),
        (
            "n_predict = 300\nn_drafted = 260\nn_accept  = 208\naccept    = 70.000%",
            "the printed acceptance rate 70 contradicts the counts",
        ),
    ],
)
def test_a_line_that_gives_no_counts_says_why(bad, reason):
    first, *_ = readings = read_text(f"{bad}\n{JUNE}")

    assert sum(reading.used for reading in readings) == 1
    assert reason in first.skipped[0].reason
    with pytest.raises(MetricsFormatError) as error:
        read_text(bad, name="server.log")
    assert str(error.value).startswith("server.log, line ")
    assert reason in str(error.value)
    assert "; expected " in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "draft acceptance = 1.00000 ( 9 accepted / 8 generated)",
        "n_predict = 20\nn_drafted = 8\nn_accept = 9",
        "statistics x: #calls = 1, #gen drafts = 1, #acc drafts = 1, #gen tokens = 8, #acc tokens = 9",
    ],
)
def test_accepted_above_drafted_alone_is_an_error_of_the_file(text):
    with pytest.raises(MetricsFormatError) as error:
        read_text(text, name="server.log")

    assert str(error.value) == (
        "server.log, line 1: accepted (9) is above drafted (8); "
        "expected at most as many accepted as drafted tokens."
    )


@pytest.mark.parametrize(
    "text",
    [
        "draft acceptance = nan ( 0 accepted / 0 generated)",
        "statistics x: #calls = 9, #gen drafts = 0, #acc drafts = 0, #gen tokens = 0, #acc tokens = 0",
        "n_predict = 20\nn_drafted = 0\nn_accept = 0\naccept = nan%",
    ],
)
def test_nothing_drafted_at_all_is_an_error(text):
    with pytest.raises(MetricsFormatError, match="line 1: nothing was drafted in any line"):
        read_text(text)


def test_thousands_separators_and_colours():
    (reading,) = read_text(
        "\x1b[32mdraft acceptance = 0.50000 ( 1,234 accepted / 2,468 generated)\x1b[0m"
    )

    assert reading.counts == AcceptanceTotals(drafted=2468, accepted=1234)
