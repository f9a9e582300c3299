"""Names and values of any program, read only where no format of an engine was found."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from real_runs.engines import MetricsFormatError, read_text
from real_runs.engines.others.generic_names import SYNONYMS, pairs_in, quantity_of
from simulator import AcceptanceTable

COLIBRI = (
    "speculation: 2.00 tokens/forward (20 forwards per 40 tokens) | MTP acceptance 33% (20/60)"
)


def counts_of(text):
    (reading,) = read_text(text)
    assert reading.engine == "generic"
    counts = reading.counts
    return counts.rounds, counts.drafted, counts.accepted, reading


def test_tokens_forwards_and_counts_in_one_line():
    # github.com/JustVugg/colibri/issues/523
    rounds, drafted, accepted, reading = counts_of(COLIBRI)

    assert (rounds, drafted, accepted) == (20, 60, 20)
    assert reading.emitted == 40
    assert reading.observation.counts.tokens_per_round.value == 2.0
    assert {(each.quantity, each.value) for each in reading.printed} == {
        ("tokens_per_round", 2.0),
        ("accepted_fraction", 0.33),
    }


def test_an_example_of_onnx_runtime_genai():
    # its format string, with values that fit each other
    rounds, drafted, accepted, reading = counts_of(
        "accept rate: 55% (11/20)  |  tokens/forward: 1.55  |  31 tokens in 20 forwards, 12.5 t/s"
    )

    assert (rounds, drafted, accepted, reading.emitted) == (20, 20, 11, 31)
    assert reading.clock.tokens_per_s == 12.5


def test_counts_with_thousands_separators_in_a_table():
    # github.com/sudoingX/qwen38-mtp/pull/16
    rounds, drafted, accepted, reading = counts_of(
        "Acceptance | 0.87 aggregate (176,446/202,620), per-task median 0.884"
    )

    assert (rounds, drafted, accepted) == (None, 202620, 176446)
    assert [(each.quantity, each.value) for each in reading.printed] == [
        ("accepted_fraction", 0.87)
    ]


def test_a_list_of_rounds_and_what_they_kept():
    (reading,) = read_text("Method: mtp\nAcceptance rate:  [69988, 61143]")

    assert reading.counts == AcceptanceTable(
        rounds=69988, drafted=69988, tested=(69988,), accepted=(61143,), length_rule="unknown"
    )
    assert any(note.startswith("The list is read as 69988 rounds") for note in reading.notes)


def test_a_block_is_one_record():
    rounds, drafted, accepted, _ = counts_of(
        "events=3\nrounds_total=10\nemitted_total=25\ndraft_tokens_total=30\n"
        "accept_tokens_total=15\naccept_rate=0.5\naccepted_per_step=1.5\ntokens_per_round=2.5"
    )
    assert (rounds, drafted, accepted) == (10, 30, 15)


def test_lines_far_apart_are_records_of_their_own():
    line = "accepted_tokens: 15, draft_tokens: 30, rounds: 10"
    rounds, drafted, accepted, reading = counts_of("\n".join([line, *["x"] * 9, line]))

    assert (rounds, drafted, accepted) == (20, 60, 30)
    assert len(reading.units) == 2


@pytest.mark.parametrize(
    ("length", "taken"), [("2.50", 2.5), ("1.50", 2.5)], ids=["bonus in", "bonus out"]
)
def test_arithmetic_says_whether_the_bonus_is_in_the_length(length, taken):
    (reading,) = read_text(
        f"accepted_tokens=15 draft_tokens=30 rounds=10 mean_acceptance_length={length}"
    )
    (ratio,) = reading.printed
    assert (ratio.quantity, ratio.value) == ("tokens_per_round", taken)
    assert any("bonus token is not in" in note for note in reading.notes) == (length == "1.50")


@pytest.mark.parametrize("rate", ["0.645", "64.5", "64.5%"])
def test_arithmetic_says_whether_a_rate_is_in_percent(rate):
    (reading,) = read_text(f"accepted_tokens=167 draft_tokens=259 acceptance_rate={rate}")
    assert reading.printed[0].value == pytest.approx(0.645)


def test_rounds_are_recovered_from_a_length():
    rounds, *_, reading = counts_of(
        "spec: acceptance_length: 2.92, num_draft_tokens: 259, num_accepted_tokens: 167, gamma: 3"
    )
    assert (rounds, reading.gamma) == (87, 3)
    assert any("87 is the only number" in note for note in reading.notes)


@pytest.mark.parametrize(
    ("text", "value", "half_width"),
    [
        ("draft acceptance_rate 0.48-0.95, tokens/step: 2.4", 0.715, 0.24),
        ("draft acceptance_rate 69–78%, tokens/step: 2.4", 0.735, 0.05),
        ("draft acceptance_rate: 69, tokens/step: 2.4", 0.69, 0.005),
        ("draft acceptance_rate: ~69%, tokens/step: 2.4", 0.69, 0.005),
    ],
)
def test_ratios_alone(text, value, half_width):
    (reading,) = read_text(text)

    assert reading.counts is None
    fraction = next(each for each in reading.printed if each.quantity == "accepted_fraction")
    assert (fraction.value, fraction.half_width) == pytest.approx((value, half_width))


@pytest.mark.parametrize(
    "text",
    [
        "acceptance 0.48-0.95",  # one name, no counts: nothing to be sure of
        "69-78%",
        "job queue: accepted=5 rejected=3 rounds=2",
        "HTTP connections accepted 3/4 (75%)",
        "Acceptance criteria: 3/4 (75%) passed",
        "Accepted 80/233 tokens",  # of those predicted: LM Studio does not say how many were drafted
        "epoch 3/10 acceptance tests: 12, rounds: 4",
        "2026-08-31 12:22:20 accept 10.0.0.1:8080 200 OK 0.645 ms",
        "draft saved at 12:30, 3 rounds of review",
        "INFO: Accept: text/html, draft=2, length=512",
        "learning rate 0.1, steps 100, tokens per second 35",
    ],
)
def test_it_is_silent_about_other_things(text):
    with pytest.raises(MetricsFormatError, match="no metrics of speculative decoding"):
        read_text(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("accept rate: 120% (24/20)", "accepted \\(24\\) is above drafted \\(20\\)"),
        ("accept rate: 75% (11/20)", "0.75 contradicts the counts"),
        ("tokens/forward: 3.00, 10 tokens in 5 forwards, acceptance 50% (5/10)", "contradict"),
        ("Method: mtp\nAcceptance rate: [100, 120]", "rises"),
        ("accepted_tokens=0 draft_tokens=0 rounds=3", "nothing was drafted"),
    ],
)
def test_numbers_that_contradict_each_other(text, reason):
    with pytest.raises(MetricsFormatError, match=reason):
        read_text(text)


def test_a_known_format_goes_first():
    known = "draft acceptance = 0.57576 (  171 accepted /   297 generated)"
    readings = read_text(f"{COLIBRI}\n{known}")

    assert [each.engine for each in readings] == ["llama.cpp"]
    (named,) = read_text(f"{COLIBRI}\n{known}", engine="generic")
    assert named.counts.rounds == 20


def test_a_simulated_length_has_no_bonus():
    (reading,) = read_text("step 200: eval/loss=1.2, eval/simulated_acc_len=1.83")

    (ratio,) = reading.printed
    assert (ratio.quantity, ratio.value) == ("accepted_per_round", 1.83)


def test_what_a_known_format_refused_is_not_read_after_all():
    refused = "draft acceptance = 0.90000 (  171 accepted /   297 generated)"
    with pytest.raises(MetricsFormatError, match=r"line 2: .*0\.9 contradicts the counts"):
        read_text(f"{COLIBRI}\n{refused}")


@pytest.mark.parametrize("indent", [None, 2])
def test_an_object_that_no_format_knows(indent):
    record = {"speculation": {"rounds": 10, "draft_tokens": 30, "accepted_tokens": 15}}
    rounds, drafted, accepted, _ = counts_of(json.dumps(record, indent=indent))

    assert (rounds, drafted, accepted) == (10, 30, 15)


def test_names_are_known_in_any_style():
    for quantity, names in SYNONYMS.items():
        for name in names:
            assert quantity_of(name) == quantity
            assert quantity_of(f"mtp {name.replace('_', '-').upper()}") == quantity
    assert quantity_of("totalDraftTokensCount") == "drafted"
    assert quantity_of("#Mean accepted tokens") == "tokens_per_round"
    assert quantity_of("tok/s") == "tokens_per_s"
    assert quantity_of("validation loss") is None


@given(
    st.sampled_from([" = ", "=", ": ", '": ', " | "]),
    st.integers(1, 10**6),
    st.integers(1, 9),
    st.floats(0, 1),
)
def test_pairs_come_back(joint, rounds, gamma, share):
    drafted = rounds * gamma
    accepted = int(share * drafted)
    line = ", ".join(
        f"{name}{joint}{number:,}"
        for name, number in [
            ("num_rounds", rounds),
            ("draft_tokens", drafted),
            ("accepted_tokens", accepted),
        ]
    )
    (reading,) = read_text(line)
    assert reading.counts.rounds == rounds
    assert (reading.counts.drafted, reading.counts.accepted) == (drafted, accepted)


@given(st.text(max_size=200))
def test_no_text_breaks_it(text):
    pairs_in(text)
    with contextlib.suppress(MetricsFormatError):
        read_text(f"draft accepted=1 {text}", engine="generic")


def test_a_long_line_is_read_in_time_that_grows_with_it():
    line = "accepted " * 3000 + "1/2 " * 3000 + "9" * 20000 + "," * 5000
    assert pairs_in(line) is not None


def test_digits_of_other_scripts_are_no_numbers_and_no_crash():
    with pytest.raises(MetricsFormatError):
        read_text("draft accepted=٣ drafted=٥ rounds=٢")
    with pytest.raises(MetricsFormatError):
        read_text("there 365 accepted > ٣ predicted drafted: 12")


def test_a_table_of_several_runs_says_that_the_first_of_each_row_is_read():
    rows = "| drafted | {} |\n| accepted | {} |"
    (several,) = read_text(rows.format("88,344 | 96,000 | +8%", "38,611 | 43,296 | -7.91 pts"))
    (one,) = read_text(rows.format("**88,344**", "38,611"))

    assert (several.counts.drafted, several.counts.accepted) == (88344, 38611)
    assert any("Rows of the table have several values" in note for note in several.notes)
    assert not any("Rows of the table" in note for note in one.notes)
