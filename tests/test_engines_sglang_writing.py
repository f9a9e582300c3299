"""What is written as SGLang prints it comes back: ratios within their rounding, counts exactly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from real_runs.engines import read_text
from real_runs.engines.counts.lengths import from_steps
from real_runs.engines.sglang.writing import sglang_decode_line, sglang_meta_info
from simulator import AcceptanceTable, AcceptanceTotals, CountedUnit

VERSIONS = {"0.5.3": None, "0.5.10": "fraction_with_bonus", "0.5.11": "accepted_fraction"}


@st.composite
def chains(draw, *, most=60):
    """A table of rounds that drafted the same number of tokens."""
    gamma = draw(st.integers(1, 8))
    kept = draw(st.lists(st.integers(0, gamma), min_size=1, max_size=most))
    return from_steps(tuple((gamma, each) for each in kept))


@st.composite
def any_drafts(draw):
    """A table of rounds with drafts of any length from 1 on."""
    drafted = draw(st.lists(st.integers(1, 6), min_size=1, max_size=40))
    return from_steps(tuple((each, draw(st.integers(0, each))) for each in drafted))


@given(table=chains(), version=st.sampled_from(sorted(VERSIONS)), running=st.integers(1, 64))
def test_a_decode_line_comes_back_within_its_rounding(table, version, running):
    line = sglang_decode_line(table, version=version, running=running, tokens_per_s=123.45)
    setting = f"--speculative-num-steps {table.depths} --speculative-eagle-topk 1 "
    setting += f"--speculative-num-draft-tokens {table.depths + 1}"
    (reading,) = read_text(f"sglang=={version}\n{setting}\n{line}")

    accepted, rounds = sum(table.accepted), table.rounds
    true = {
        "tokens_per_round": 1 + accepted / rounds,
        "fraction_with_bonus": (accepted + rounds) / (rounds * (table.depths + 1)),
        "accepted_fraction": accepted / (rounds * table.depths),
    }
    printed = {ratio.quantity: ratio for ratio in reading.printed}
    assert set(printed) == {"tokens_per_round", VERSIONS[version]} - {None}
    for quantity, ratio in printed.items():
        assert abs(ratio.value - true[quantity]) <= ratio.half_width + 1e-12
    assert reading.gamma == table.depths
    assert reading.clock.running == running


@given(table=chains(), name=st.text("abc-0", max_size=8))
def test_a_request_comes_back_exactly(table, name):
    (reading,) = read_text(sglang_meta_info(CountedUnit(counts=table, name=name)))

    assert reading.counts == table
    assert [unit.name for unit in reading.units] == [name]
    assert reading.units[0].counts == table


@given(table=any_drafts())
def test_drafts_of_any_length_come_back_as_totals(table):
    (reading,) = read_text(sglang_meta_info(CountedUnit(counts=table)))

    counts = reading.counts
    assert (counts.rounds, counts.drafted) == (table.rounds, table.drafted)
    accepted = counts.accepted if isinstance(counts, AcceptanceTotals) else sum(counts.accepted)
    assert accepted == sum(table.accepted)


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        (AcceptanceTable(rounds=0, drafted=0, tested=(), accepted=()), "got 0 rounds, 0 drafted"),
        (
            AcceptanceTable(rounds=2, drafted=2, tested=(2,), accepted=(2,), discarded=1),
            "no discarded tokens; got 1",
        ),
        (AcceptanceTotals(rounds=2, drafted=2, accepted=1), "counts by depth; got totals"),
    ],
)
def test_what_cannot_be_written_is_refused(counts, reason):
    with pytest.raises(ValueError, match=reason):
        sglang_meta_info(CountedUnit(counts=counts))
