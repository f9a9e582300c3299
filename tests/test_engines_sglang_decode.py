"""SGLang's decode lines: real lines, both meanings of the accept rate, and what the clock leaves out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from real_runs.engines import MetricsFormatError, read_text
from real_runs.engines.counts.printed import Printed
from real_runs.engines.sglang.decode_line import read_decode_line
from real_runs.engines.sglang.rate import RateWindows, of_version

OCTOBER_2025 = (
    "[2025-10-22 10:27:57 TP0] Decode batch. #running-req: 1, #token: 186, token usage: 0.00, accept len: "
    "1.95, accept rate: 0.49, cuda graph: True, gen throughput (token/s): 178.86, #queue-req: 0, "
)
RANK = (
    "2025-10-20 03:02:22 INFO 4242 [DP3 TP3 EP3 scheduler_metrics_mixin.py:222] Decode batch. #running-req: "
    "32, #token: 157952, token usage: 0.21, accept len: 1.93, pre-allocated usage: 0.00, #retracted-req: 0, "
    "cuda graph: True, gen throughput (token/s): 693.45, #queue-req: 0"
)
MAMBA = (
    "[2026-07-30 13:35:12 TP0] Decode batch, #running-req: 1, #full token: 143, full token usage: 0.00, mamba "
    "num: 3, mamba usage: 0.03, accept len: 3.35, accept rate: 0.78, cuda graph: True, gen throughput "
    "(token/s): 3.37, #queue-req: 0"
)
PHASE = (
    "[2026-08-31 12:22:20 PP0] Decode batch phase=tp, #running-req: 1, #full token: 16342, accept len: 2.80, "
    "accept rate: 0.90, cuda graph: True, gen throughput (token/s): 41.2"
)


def line(length, rate=None, *, running=1, throughput=None, rank=""):
    parts = [f"{rank} Decode batch, #running-req: {running}", f"accept len: {length}"]
    parts += [] if rate is None else [f"accept rate: {rate}"]
    parts += [] if throughput is None else [f"gen throughput (token/s): {throughput}"]
    return ", ".join(parts)


def ratios(reading):
    return {ratio.quantity: ratio.value for ratio in reading.printed}


@pytest.mark.parametrize(
    ("text", "length", "rate", "gamma", "running", "throughput"),
    [
        (OCTOBER_2025, 1.95, ("fraction_with_bonus", 0.49), 3, 1, 178.86),
        (RANK, 1.93, None, None, 32, 693.45),
        (line("2.47", "0.82", running=14, throughput="167.86"), 2.47,
         ("fraction_with_bonus", 0.82), 2, 14, 167.86),
        (MAMBA, 3.35, ("accepted_fraction", 0.78), 3, 1, 3.37),
        (line("2.36", "0.19", running=4, throughput="40.29"), 2.36,
         ("accepted_fraction", 0.19), 7, 4, 40.29),
        (PHASE, 2.8, ("accepted_fraction", 0.9), 2, 1, 41.2),
        # The same run, printed before and after release 0.5.11
        (line("2.17", "0.54"), 2.17, ("fraction_with_bonus", 0.54), 3, None, None),
        (line("2.17", "0.39"), 2.17, ("accepted_fraction", 0.39), 3, None, None),
        ("Decode batch, #running-req: 8, gen throughput: 701.2 tok/s, accept len: 2.84, cuda graph: True",
         2.84, None, None, 8, 701.2),
        ("[2026-09-10 10:00:00] Decode batch. #running-req: 3, token usage: 0.12, accept len: 2.41", 2.41,
         None, None, None, None),
        ("Decode batch [37], #running-req: 2, #token: 10, accept len: 2.00", 2.0, None, None, None, None),
    ],
)  # fmt: skip
def test_a_line_gives_its_ratios_and_its_pace(text, length, rate, gamma, running, throughput):
    (reading,) = read_text(text)

    assert reading.engine == "sglang"
    assert reading.counts is None
    assert ratios(reading) == {"tokens_per_round": length} | dict([rate] if rate else [])
    assert all(ratio.half_width == 0.005 for ratio in reading.printed)
    assert reading.gamma == gamma
    assert reading.clock.running == running
    if throughput is not None:
        assert reading.clock.tokens_per_s == pytest.approx(throughput, rel=1e-12)
        assert reading.clock.s_per_round == pytest.approx(running * length / throughput, rel=1e-12)


def test_extra_lengths_are_not_mistaken_for_the_accept_length():
    text = "Decode batch, #running-req: 1, cap len: 3.50, block accept len: 4.25, accept len: 2.17"
    (reading,) = read_text(text)

    assert ratios(reading) == {"tokens_per_round": 2.17}
    assert any("cap len 3.5 and block accept len 4.25" in note for note in reading.notes)


def test_lines_are_weighted_by_their_running_requests():
    text = "\n".join([line("2.00", running=1), line("3.00", running=3)])
    (reading,) = read_text(text)

    assert ratios(reading) == {"tokens_per_round": 2.75}
    assert reading.printed[0].averaged_over.endswith("(an estimate)")
    assert reading.used == 2
    assert any("accept len 2 to 3" in note for note in reading.notes)


def test_the_clock_leaves_out_first_lines_and_idle_times():
    busy = [line("2.50", running=2, throughput="500.0")] * 5  # 10 ms per pass
    idle = line("2.50", running=2, throughput="0.39")
    (reading,) = read_text("\n".join([idle, *busy, idle, *busy]))

    assert reading.clock.s_per_round == pytest.approx(0.01, rel=1e-12)
    assert reading.clock.running == 2
    assert any(
        "over 10 lines: without the first line and 1 line of more" in n for n in reading.notes
    )
    assert ratios(reading) == {"tokens_per_round": 2.5}  # their accept length is as good as any

    (slower,) = read_text("\n".join([*busy, line("2.50", running=2, throughput="200.0"), *busy]))
    assert slower.clock.s_per_round == pytest.approx((9 * 0.01 + 0.025) / 10, rel=1e-12)
    product = slower.clock.running * 2.5 / slower.clock.tokens_per_s
    assert product == pytest.approx(slower.clock.s_per_round, rel=1e-12)


def test_every_rank_has_a_first_line():
    ranks = [line("2.00", running=1, throughput="1.0", rank=f"[DP{rank} TP0]") for rank in range(3)]
    later = [
        line("2.00", running=1, throughput="100.0", rank=f"[DP{rank} TP0]") for rank in range(3)
    ]
    (reading,) = read_text("\n".join([*ranks, *later]))

    assert reading.clock.s_per_round == pytest.approx(0.02, rel=1e-12)
    assert any("the first lines of 3 ranks" in note for note in reading.notes)
    assert any(note.startswith("3 data-parallel ranks") for note in reading.notes)


def test_one_more_line_can_settle_the_meaning():
    # 2.00 with 0.50 is 2 of a window of 4, or 1 of 2 drafted tokens: window 3
    both = line("2.00", "0.50")
    (open_,) = read_text(both)
    assert set(ratios(open_)) == {"tokens_per_round"}
    assert open_.gamma is None
    assert any(
        "it can be accept len / window" in note and "version" in note for note in open_.notes
    )

    for second, quantity, gamma in [
        (line("3.00", "0.75"), "fraction_with_bonus", 3),
        (line("3.00", "1.00"), "accepted_fraction", 2),
    ]:
        (settled,) = read_text(f"{both}\n{second}")
        assert quantity in ratios(settled)
        assert settled.gamma == gamma


@pytest.mark.parametrize(
    ("told", "quantity", "gamma"),
    [
        ("pip: sglang==0.5.10", "fraction_with_bonus", 3),
        ("docker run lmsysorg/sglang:v0.5.11-cu129", "accepted_fraction", 2),
        ("--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4",
         "fraction_with_bonus", 3),
        (("server_args=ServerArgs(speculative_algorithm='EAGLE3', speculative_num_steps=2, "
          "speculative_eagle_topk=1, speculative_num_draft_tokens=3)"), "accepted_fraction", 2),
    ],
)  # fmt: skip
def test_the_version_or_the_setting_settles_the_meaning(told, quantity, gamma):
    (reading,) = read_text(f"{told}\n{line('2.00', '0.50')}")

    assert quantity in ratios(reading)
    assert reading.gamma == gamma


def test_arithmetic_outweighs_the_version():
    (reading,) = read_text(f"sglang==0.5.10\n{line('2.17', '0.39')}")

    assert "accepted_fraction" in ratios(reading)
    assert any("0.5.10, should print the other one" in note for note in reading.notes)


def test_no_window_fits_a_changing_one():
    (reading,) = read_text("\n".join([line("2.17", "0.39"), line("2.36", "0.19")]))

    assert set(ratios(reading)) == {"tokens_per_round"}
    assert reading.gamma is None
    assert any("no one window explains it" in note for note in reading.notes)


def test_a_tree_has_a_depth_and_more_tokens():
    flags = "--speculative-algorithm EAGLE3 --speculative-num-steps 5 --speculative-eagle-topk 4 "
    (reading,) = read_text(f"{flags}--speculative-num-draft-tokens 8\n{line('2.17', '0.17')}")

    assert ratios(reading) == {"tokens_per_round": 2.17, "accepted_fraction": 0.17}
    assert reading.gamma == 5
    assert reading.method == "eagle"
    assert any(
        note.startswith("Drafts are trees") and "7 tokens in all" in note for note in reading.notes
    )


def test_settings_that_change_leave_gamma_open():
    first = "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4"
    (reading,) = read_text(f"{first}\n{line('2.17')}\n{first.replace('3', '5', 1)}\n{line('2.17')}")

    assert reading.gamma is None
    assert any("settings change" in note for note in reading.notes)


@pytest.mark.parametrize(
    "wrapped",
    [
        "Decode batch, #running-req: 2,\n  #token: 3, accept len: 2.17,\n  gen throughput (token/s): 40.0",
        "Decode batch, #running-req: 2, accept len: 2.17,\n  gen throughput (token/s): 40.0",
        (
            "Decode batch, #running-req: 2, accept len: 2.17, gen throughput (token/s): 40.0, #queue-req: 0, \n"
            'INFO:     127.0.0.1:5000 - "POST /generate HTTP/1.1" 200 OK'
        ),
    ],
)
def test_wrapped_lines_are_joined(wrapped):
    (reading,) = read_text(wrapped)

    assert ratios(reading) == {"tokens_per_round": 2.17}
    assert reading.clock.tokens_per_s == pytest.approx(40.0, rel=1e-12)
    assert reading.used == 1
    assert not reading.skipped


@pytest.mark.parametrize(
    "text",
    [
        "accept len: 0.00, accept rate: 0.00",
        "Decode batch, #running-req: 2, #token: 3, gen throughput (token/s): 40.0, #queue-req: 0, ",
    ],
)
def test_speculation_off_is_said(text):
    with pytest.raises(MetricsFormatError, match="nothing was drafted"):
        read_text(text, engine="sglang")

    (reading,) = read_text(f"{text}\n{line('2.17')}")
    assert reading.used == 1
    assert len(reading.skipped) == 1


@pytest.mark.parametrize(
    ("bad", "reason", "finding"),
    [
        (
            line("0.50"),
            "accept len is 0.5, and a round emits one token at least",
            "length_outside_range",
        ),
        (line("2.50", "54.0"), "accept rate is 54, above 1", "unit_error"),
        (line("nan"), "accept len is not a number (nan)", None),
        (line("2.5e3"), "accept len is not a number (2.5e3)", None),
        (line("2.5", running="-3"), "#running-req is not a count (-3)", None),
        (line("1" * 40), "accept len has more than 18 digits", None),
    ],
)
def test_impossible_lines_are_skipped_with_their_reason(bad, reason, finding):
    (reading,) = read_text(f"{bad}\n{line('2.17')}")

    (skip,) = reading.skipped
    assert (skip.line, skip.reason, skip.finding) == (1, reason, finding)
    assert reading.used == 1


def test_fields_come_in_any_order():
    one = read_decode_line(OCTOBER_2025)
    head, *fields = OCTOBER_2025.rstrip(", ").split(", ")
    other = read_decode_line(", ".join([head, *reversed(fields)]))

    assert one == other


@given(
    window=st.integers(2, 64),
    rounds=st.integers(1, 400),
    kept=st.lists(st.integers(0, 10**9), min_size=1, max_size=8),
    bonus=st.booleans(),
)
def test_the_true_meaning_always_fits(window, rounds, kept, bonus):
    quantity = "fraction_with_bonus" if bonus else "accepted_fraction"
    windows = RateWindows()
    for each in kept:
        accepted = each % (rounds * (window - 1) + 1)
        rate = (
            (accepted + rounds) / (rounds * window) if bonus else accepted / (rounds * (window - 1))
        )
        windows.add(_two_decimals(1 + accepted / rounds), _two_decimals(rate))

    assert window in windows.windows(quantity)
    assert (
        windows.meaning(window=window, version="0.5.10" if bonus else "0.5.11").quantity == quantity
    )


def _two_decimals(value):
    return Printed(units=int(f"{value:.2f}".replace(".", "")), scale=100)


def test_releases_between_the_two_meanings():
    assert of_version("0.4.6.post5") == of_version("0.5.10rc0") == "fraction_with_bonus"
    assert of_version("0.5.11") == of_version("0.6.0") == "accepted_fraction"


def test_two_decode_lines_in_one_row_are_one_line_used():
    line = "Decode batch, #running-req: 1, accept len: 2.17, gen throughput (token/s): 178.86 "
    (reading,) = read_text(line * 2)

    assert (reading.used, reading.lines) == (1, 1)
    assert any("no intervals that could be compared over time" in note for note in reading.notes)
