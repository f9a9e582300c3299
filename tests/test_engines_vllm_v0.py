"""vLLM V0: cumulative counters whose "accepted" includes tokens behind a rejection."""

import pytest

from real_runs.engines import MetricsFormatError, read_text
from simulator import AcceptanceTable, AcceptanceTotals


def line(rate, efficiency, gamma, accepted, drafted, emitted, *, head="INFO ", twice=""):
    return (
        f"{head}Speculative metrics: Draft acceptance rate: {rate}, System efficiency: {efficiency}, "
        f"Number of speculative tokens: {gamma}, Number of accepted tokens: {accepted}, Number of draft "
        f"tokens{twice}: {drafted}, Number of emitted tokens{twice}: {emitted}."
    )


SAMPLES = [  # the line -> rounds, tokens per round
    (("0.607", "0.510", 4, 32594, 53716, 34244), 13429, 2.55),  # the metrics of vLLM 0.7.3
    (("0.642", "0.598", 3, 8547, 13311, 10616), 4437, 2.393),
    (("0.000", "0.059", 16, 0, 42272, 2642), 2642, 1.0),  # vllm issue 6768
    (("0.200", "0.167", 5, 1, 5, 1), 1, 1.0),  # vllm issue 7301
    (("0.067", "0.167", 5, 1, 15, 3), 3, 1.0),  # vllm issue 7301
]


@pytest.mark.parametrize(("printed", "rounds", "tokens"), SAMPLES)
def test_a_public_line_gives_tokens_per_round_from_the_emitted_ones(printed, rounds, tokens):
    (reading,) = read_text(line(*printed))
    _, efficiency, gamma, _, drafted, emitted = printed

    assert reading.layout == "cumulative line of V0"
    assert reading.version == "V0"
    assert (reading.gamma, reading.emitted) == (gamma, emitted)
    assert reading.counts.rounds == rounds
    assert reading.counts.drafted == drafted
    assert reading.observation.accepted == emitted - rounds
    assert reading.counts.tokens_per_round.value == pytest.approx(emitted / rounds, abs=1e-12)
    assert reading.counts.tokens_per_round.value == pytest.approx(tokens, abs=1e-3)
    (ratio,) = reading.printed  # accepted / drafted of another kind is not among them
    assert (ratio.quantity, ratio.value) == ("efficiency", float(efficiency))
    assert ratio.half_width == pytest.approx(0.0005)


def test_it_is_never_one_plus_the_engines_accepted_per_round():
    (reading,) = read_text(line(*SAMPLES[0][0]))

    assert reading.counts.tokens_per_round.value < 2.56 < 1 + 32594 / 13429
    assert reading.counts == AcceptanceTotals(
        rounds=13429,
        drafted=53716,
        accepted=20815,
        emitted=34244,
        longest_draft=4,
        length_rule="fixed",
    )
    assert reading.counts.to_table() is None
    assert (
        "Rounds are 53716 drafted / 4 = 13429, which emitted 34244 tokens: 20815 accepted in order. The "
        "32594 that vLLM V0 calls accepted include tokens behind a rejection."
    ) in reading.notes


def test_the_duplicated_word_of_some_versions_is_read_and_nothing_accepted_is_a_table():
    text = line(*SAMPLES[2][0], twice=" tokens").replace("emitted tokens tokens", "emitted tokens")
    (reading,) = read_text(text)
    (twice,) = read_text(line(*SAMPLES[2][0], twice=" tokens"))

    assert reading.counts == twice.counts
    assert twice.counts == AcceptanceTable(
        rounds=2642, drafted=42272, tested=(2642, *[0] * 15), accepted=(0,) * 16
    )


def test_of_one_server_the_last_line_counts_and_the_differences_are_intervals():
    first, last = (line(*printed) for printed, _, _ in SAMPLES[3:])
    (reading,) = read_text(
        f"INFO 02-06 03:05:53 metrics.py:475] {first}\nINFO 02-06 03:18:09 metrics.py:475] {last}"
    )

    assert reading.counts.rounds == 3
    assert reading.used == 1
    assert "Cumulative counters: line 2 counts, the last of 2." in reading.notes
    assert reading.unit == "interval"
    assert [unit.counts.rounds for unit in reading.units] == [1, 2]
    assert [unit.counts.emitted for unit in reading.units] == [1, 2]
    assert [unit.name for unit in reading.units] == ["02-06 03:05:53", "02-06 03:18:09"]
    assert sum((unit.counts for unit in reading.units[1:]), start=reading.units[0].counts) == (
        reading.counts
    )


def test_servers_told_apart_by_their_process_are_summed():
    one = line(*SAMPLES[3][0], head="(APIServer pid=1) INFO ")
    two = line(*SAMPLES[4][0], head="(APIServer pid=2) INFO ")
    (reading,) = read_text(f"{two}\n{one}\n{two}")

    assert (reading.counts.rounds, reading.emitted) == (4, 4)
    assert "2 servers are summed." in reading.notes
    assert reading.printed == ()


def test_counters_that_fall_begin_again():
    (reading,) = read_text("\n".join(line(*SAMPLES[index][0]) for index in (4, 3)))

    assert reading.counts.rounds == 1
    assert [unit.counts.rounds for unit in reading.units] == [1]
    assert any(note.startswith("The counters fell once, in line 2 (") for note in reading.notes)


def test_with_drafts_of_one_token_nothing_is_behind_a_rejection():
    (reading,) = read_text(line("0.600", "0.800", 1, 60, 100, 160))

    assert reading.counts.accepted == (60,)


def test_the_throughput_beside_it_gives_the_time():
    # vllm issue 6768
    (reading,) = read_text(
        "INFO 07-24 04:00:31 metrics.py:295] Avg prompt throughput: 558.7 tokens/s, Avg generation "
        "throughput: 127.4 tokens/s, Running: 2 reqs, Swapped: 0 reqs, Pending: 0 reqs, GPU KV cache "
        "usage: 0.8%, CPU KV cache usage: 0.0%.\n"
        + line(*SAMPLES[2][0], head="INFO 07-24 04:00:31 metrics.py:316] ", twice=" tokens")
        + '\nINFO:     ::1:50352 - "POST /v1/completions HTTP/1.1" 200 OK'
    )

    assert reading.clock.tokens_per_s == pytest.approx(127.4)
    assert reading.clock.running == 2.0
    assert (reading.lines, reading.used) == (3, 1)


GOOD = line(*SAMPLES[1][0])


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (GOOD[: GOOD.index("Number of emitted")], "the line has no 'Number of emitted tokens'"),
        (GOOD.replace("System efficiency", "Efficiency"), "the line has no 'System efficiency'"),
        (GOOD.replace("0.598", "0.698"), "the printed System efficiency 0.698 contradicts 10616 emitted"),
        (GOOD.replace("0.642", "0.542"), "the printed acceptance rate 0.542 contradicts the counts"),
        (GOOD.replace("10616", "4436"), "the emitted tokens (4436) contradict 4437 rounds of 3"),
        (GOOD.replace("10616", "17749"), "the emitted tokens (17749) contradict 4437 rounds of 3"),
        (GOOD.replace("13311", "13312").replace("0.642", "0.642"), "(13312) are no multiple of the"),
        (GOOD.replace("8547", "18547"), "accepted (18547) is above drafted (13311)"),
        (GOOD.replace("tokens: 3,", "tokens: 300,"), "more than 256 speculative tokens (300)"),
        (GOOD.replace("tokens: 3,", "tokens: 0,"), "are no multiple of the speculative tokens (0)"),
        (GOOD.replace("0.598", "nan"), "System efficiency is not a number (nan)"),
        (line("nan", "nan", 3, 0, 0, 0), "no draft so far"),
    ],
)  # fmt: skip
def test_a_line_that_contradicts_itself_says_why(bad, reason):
    (reading,) = read_text(f"{bad}\n{GOOD}")
    (skipped,) = reading.skipped

    assert reading.counts.rounds == 4437
    assert (skipped.line, reason in skipped.reason) == (1, True), skipped.reason
    with pytest.raises(MetricsFormatError, match=r"^server.log, line 1: "):
        read_text(bad, name="server.log")


def test_impossible_numbers_carry_their_finding():
    (reading,) = read_text(f"{GOOD.replace('10616', '17749')}\n{GOOD}")

    assert reading.skipped[0].finding == "length_outside_range"


def test_more_servers_than_can_be_one_log_are_skipped():
    lines = (line(*SAMPLES[3][0], head=f"(APIServer pid={pid}) ") for pid in range(300))
    (reading,) = read_text("\n".join(lines))

    assert reading.counts.rounds == 256
    assert reading.skipped[0].reason == "more than 256 servers in one log"
    assert len(reading.notes) < 12
