"""MLX: oMLX's line for each request, Rapid-MLX's counters, MLX-LM's tokens."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from real_runs.engines import MetricsFormatError, read_text
from simulator import AcceptanceTable

OMLX = (
    "omlx.scheduler - INFO - [-] - vlm_mtp stats: request=REQ finish=stop rounds=1079 "
    "accepted=1414/2158 (65.5%) tokens_per_round=2.31 emitted=2493 block_size=3"
)


def test_a_request_of_omlx():
    (reading,) = read_text(OMLX)

    counts = reading.counts
    assert (counts.rounds, counts.accepted, counts.drafted, counts.emitted) == (
        1079,
        1414,
        2158,
        2493,
    )
    assert (reading.gamma, reading.emitted) == (2, 2493)
    assert {(each.quantity, each.value) for each in reading.printed} == {
        ("accepted_fraction", 0.655),
        ("tokens_per_round", 2.31),
    }
    (unit,) = reading.units
    assert (unit.name, unit.label("finish")) == ("REQ", "stop")


@given(st.integers(1, 5), st.lists(st.integers(0, 5), min_size=1, max_size=40), st.booleans())
def test_what_omlx_would_print_is_read(gamma, lengths, cut):
    kept = [min(length, gamma) for length in lengths]
    rounds, accepted, drafted = len(kept), sum(kept), gamma * len(kept)
    line = (
        f"vlm_mtp stats: request=a finish=length rounds={rounds} accepted={accepted}/{drafted} "
        f"({100 * accepted / drafted:.1f}%) tokens_per_round={1 + accepted / rounds:.2f} "
        f"emitted={rounds + accepted - cut} block_size={gamma + 1}"
    )
    (reading,) = read_text(line)

    counts = reading.counts
    assert (counts.rounds, counts.drafted) == (rounds, drafted)
    assert reading.gamma == gamma
    kept_in_all = sum(counts.accepted) if isinstance(counts, AcceptanceTable) else counts.accepted
    assert kept_in_all == accepted
    assert counts.emitted == rounds + accepted - cut


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("1414/2158", "2200/2158", "accepted \\(2200\\) is above drafted"),
        ("65.5%", "75.5%", "75.5% contradicts the counts"),
        ("round=2.31", "round=3.31", "contradict the counts"),
        ("emitted=2493", "emitted=2494", "above rounds \\+ accepted"),
        ("rounds=1079", "rounds=0", "in no round"),
    ],
)
def test_numbers_that_contradict_each_other(old, new, reason):
    with pytest.raises(MetricsFormatError, match=reason):
        read_text(OMLX.replace(old, new))


def test_counters_of_rapid_mlx():
    lines = [
        "spec_decode_attempts_total=900, accepts_total=700",
        "Generation: 256 tokens, 31.783 tokens-per-sec",
        "spec_decode_attempts_total=1304, accepts_total=1111",
    ]
    (reading,) = read_text("\n".join(lines))

    assert (reading.counts.drafted, reading.counts.accepted) == (1304, 1111)
    assert reading.counts.rounds is None
    assert reading.clock.tokens_per_s == 31.783
    assert any("1 + 1111/1304 = 1.852" in note for note in reading.notes)
    assert not any("fell" in note for note in reading.notes)

    (restarted,) = read_text("\n".join(reversed(lines)))
    assert (restarted.counts.drafted, restarted.counts.accepted) == (900, 700)
    assert any("fell 2 times" in note for note in restarted.notes)

    (prometheus,) = read_text(
        'rapid_mlx_spec_decode_attempts_total{family="q",method="mtp"} 6\n'
        'rapid_mlx_spec_decode_accepts_total{family="q",method="mtp"} 4.0'
    )
    assert (prometheus.counts.drafted, prometheus.counts.accepted) == (6, 4)


def tokens(rounds, *, ended="stop"):
    """MLX-LM's responses of one request: the drafted tokens of a round, then the target's own."""
    flags = [flag for kept in rounds for flag in [True] * kept + [False]]
    return [
        json.dumps({"from_draft": flag, "finish_reason": ended if n == len(flags) else None})
        for n, flag in enumerate(flags, start=1)
    ]


def test_tokens_of_mlx_lm():
    (reading,) = read_text("\n".join([*tokens([2, 0, 1]), *tokens([0, 2])]))

    assert reading.counts == AcceptanceTable(
        rounds=5, drafted=10, tested=(5, 3), accepted=(3, 2), length_rule="unknown"
    )
    assert [unit.steps for unit in reading.units] == [((2, 2), (2, 0), (2, 1)), ((2, 0), (2, 2))]
    assert reading.emitted == 10


def test_a_last_round_that_ended_at_a_limit_is_left_out():
    lines = [*tokens([1, 1]), json.dumps({"from_draft": True, "finish_reason": "length"})]
    del lines[3]  # the second round without its own token, and the request without an end before it
    (reading,) = read_text("\n".join(lines))

    assert reading.counts.rounds == 1
    assert any("1 last round ended at a limit" in note for note in reading.notes)


def test_a_block_of_the_targets_token_alone_is_no_draft_length():
    line = "stats: rounds=10 accepted=6/10 tokens_per_round=1.60 block_size={}"
    assert [read_text(line.format(size))[0].gamma for size in (0, 1, 2, 3000)] == [
        None,
        None,
        1,
        None,
    ]
