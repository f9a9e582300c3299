"""Round trips: counts as vLLM prints them, read again."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from real_runs.engines import read_text
from real_runs.engines.counts.lengths import from_steps
from real_runs.engines.vllm.writing import (
    vllm_bench_block,
    vllm_interval_line,
    vllm_offline_block,
    vllm_request_json,
)
from simulator import AcceptanceTable, AcceptanceTotals, CountedUnit

RECOVERED = "Counts per depth are recovered from rounded ratios."


@st.composite
def tables(draw, *, most_rounds):
    """Tables of drafts that all have γ tokens, with any counts that such drafts can have."""
    gamma = draw(st.integers(1, 8))
    rounds = draw(st.integers(1, most_rounds))
    accepted, alive = [], rounds
    for _ in range(gamma):
        alive = draw(st.integers(0, alive))
        accepted.append(alive)
    return AcceptanceTable(
        rounds=rounds,
        drafted=rounds * gamma,
        tested=(rounds, *accepted[:-1]),
        accepted=tuple(accepted),
    )


@st.composite
def rounds_in_order(draw):
    """Rounds as (drafted, accepted) with drafts of any length up to 6, at least one not empty."""
    drafted = st.integers(0, 6).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))
    steps = draw(st.lists(drafted, min_size=1, max_size=30))
    first = draw(st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
    return (first, *steps)


WRITERS = (vllm_interval_line, vllm_offline_block, vllm_bench_block)
DIGITS = {vllm_interval_line: 1000, vllm_offline_block: 100, vllm_bench_block: 10_000}


@pytest.mark.parametrize("write", WRITERS)
@given(table=tables(most_rounds=1_000_000))
def test_counts_come_back_exactly_and_depths_within_the_printed_rounding(write, table):
    (reading,) = read_text(write(table))
    counts = reading.counts

    assert (counts.rounds, counts.drafted) == (table.rounds, table.drafted)
    assert reading.observation.accepted == sum(table.accepted)
    assert (reading.gamma, counts.length_rule) == (table.depths, "fixed")
    assert reading.skipped == ()
    if isinstance(counts, AcceptanceTable):
        assert counts == table
        assert RECOVERED in reading.notes
        return
    assert RECOVERED not in reading.notes
    for (low, high), true in zip(counts.depth_bounds, table.accepted, strict=True):
        assert low <= true <= high
        assert high - low <= table.rounds / DIGITS[write] + 1


@pytest.mark.parametrize("write", WRITERS)
@given(data=st.data())
def test_where_no_two_counts_print_alike_the_table_comes_back(write, data):
    table = data.draw(tables(most_rounds=DIGITS[write] - 1))
    (reading,) = read_text(write(table))

    assert reading.counts == table
    assert RECOVERED in reading.notes


@pytest.mark.parametrize("write", WRITERS)
@given(steps=rounds_in_order())
def test_drafts_of_several_lengths_keep_their_counts_and_become_no_table(write, steps):
    table = from_steps(steps)
    with_draft = sum(drafted > 0 for drafted, _ in steps)
    (reading,) = read_text(write(table))
    observed = reading.observation

    assert (observed.drafted, observed.accepted) == (table.drafted, sum(table.accepted))
    if isinstance(reading.counts, AcceptanceTotals):
        bounds = reading.counts.depth_bounds
        assert reading.counts.rounds in {None, with_draft}
        assert bounds is None or all(
            low <= true <= high for (low, high), true in zip(bounds, table.accepted, strict=True)
        )
    elif reading.counts.rounds != with_draft:
        # The line does not print its rounds: they are drafted / positions where that agrees.
        assert write is vllm_interval_line
        assert any("rests on every draft having" in note for note in reading.notes)
    else:
        assert table.drafted == with_draft * table.depths
        assert reading.counts.accepted == table.accepted


@given(table=tables(most_rounds=500), empty=st.integers(1, 50))
def test_rounds_without_a_draft_have_a_line_of_their_own_in_the_offline_block(table, empty):
    more = AcceptanceTable(
        rounds=table.rounds + empty,
        drafted=table.drafted,
        tested=table.tested,
        accepted=table.accepted,
    )
    (reading,) = read_text(vllm_offline_block(more))

    assert reading.counts.rounds == table.rounds
    assert reading.undrafted_rounds == empty
    assert reading.emitted == more.emitted


@given(table=tables(most_rounds=1_000_000), name=st.text(max_size=20), model=st.text(max_size=20))
def test_a_request_comes_back_exactly(table, name, model):
    unit = CountedUnit(counts=table, name=name, labels=(("model", model),))
    (reading,) = read_text(vllm_request_json(unit))
    (back,) = reading.units

    assert back.counts == reading.counts == table
    assert (back.name, back.label("model") or "") == (name, model)
    assert reading.emitted == table.emitted + 1
    assert RECOVERED not in reading.notes


@given(steps=rounds_in_order())
def test_rounds_in_order_come_back_exactly(steps):
    table = from_steps(steps)
    (reading,) = read_text(vllm_request_json(CountedUnit(counts=table, steps=steps)))
    (back,) = reading.units
    drafted = tuple(step for step in steps if step[0])

    assert back.steps == drafted
    assert back.counts == reading.counts == from_steps(drafted)
    empty = len(steps) - len(drafted)
    assert any(f"{empty} completion token" in note for note in reading.notes) == (empty > 0)


def test_many_requests_are_lines_of_json():
    table = AcceptanceTable(rounds=3, drafted=6, tested=(3, 2), accepted=(2, 1))
    text = "\n".join(vllm_request_json(CountedUnit(counts=table, name=f"{n}")) for n in range(40))
    (reading,) = read_text(text)

    assert reading.counts.rounds == 120
    assert len(reading.units) == 40


TREE = AcceptanceTable(rounds=3, drafted=30, tested=(3, 2), accepted=(2, 1))
NONE = AcceptanceTable(rounds=3, drafted=0, tested=(), accepted=())


@pytest.mark.parametrize("write", [*WRITERS, lambda t: vllm_request_json(CountedUnit(counts=t))])
@pytest.mark.parametrize(("table", "reason"), [(NONE, "with a draft"), (TREE, "one of chains")])
def test_what_vllm_would_not_print_is_refused(write, table, reason):
    with pytest.raises(ValueError, match=reason):
        write(table)


def test_a_request_needs_rounds():
    totals = AcceptanceTotals(drafted=6, accepted=3, rounds=3)
    with pytest.raises(ValueError, match="must have a table"):
        vllm_request_json(CountedUnit(counts=totals))
    with pytest.raises(ValueError, match="every position"):
        vllm_request_json(CountedUnit(counts=TREE, every_position=True))
    with pytest.raises(ValueError, match="seconds must be"):
        vllm_interval_line(from_steps(((2, 1),)), seconds=0.0)


def test_what_is_written_is_what_the_engine_prints():
    # vllm-ascend issue 9803, and the keys of the public per-request metrics
    table = AcceptanceTable(
        rounds=208, drafted=624, tested=(208, 195, 160), accepted=(195, 160, 119)
    )
    fields = vllm_interval_line(table).split(", ")

    assert fields[0] == "SpecDecoding metrics: Mean acceptance length: 3.28"
    assert fields[1:3] == [
        "Accepted throughput: 47.40 tokens/s",
        "Drafted throughput: 62.40 tokens/s",
    ]
    assert ", ".join(fields[3:]) == (
        "Accepted: 474 tokens, Drafted: 624 tokens, Per-position acceptance rate: 0.938, 0.769, 0.572, "
        "Avg Draft acceptance rate: 76.0%"
    )
    metrics = json.loads(vllm_request_json(CountedUnit(counts=table)))["metrics"]
    assert metrics["speculative_decoding"]["acceptance_histogram"] == [13, 35, 41, 119]
