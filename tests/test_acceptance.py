"""Tables of counts: what is refused, how they pool, what they say of a run."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator import AcceptanceTable, Estimate

NOTHING = AcceptanceTable(rounds=0, drafted=0, tested=(), accepted=())
TABLE = AcceptanceTable(rounds=10, drafted=20, tested=(10, 7), accepted=(7, 5))


@st.composite
def tables(draw):
    rounds = draw(st.integers(1, 50))
    tested, accepted = [], []
    alive = rounds
    for _ in range(draw(st.integers(0, 4))):
        tested.append(draw(st.integers(0, alive)))
        alive = draw(st.integers(0, tested[-1]))
        accepted.append(alive)
    return AcceptanceTable(
        rounds=rounds,
        drafted=sum(tested) + draw(st.integers(0, 50)),
        tested=tuple(tested),
        accepted=tuple(accepted),
        discarded=draw(st.integers(0, rounds + sum(accepted))),
        length_rule=draw(st.sampled_from(["fixed", "scheduled", "confidence", "unknown"])),
    )


kept_lengths = st.integers(0, 6).flatmap(
    lambda gamma: st.tuples(
        st.just(gamma), st.lists(st.integers(0, gamma), min_size=2, max_size=60)
    )
)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rounds": -1}, "rounds must be a whole number of at least 0; got -1"),
        ({"rounds": 10.5}, "rounds must be a whole number of at least 0; got 10.5"),
        ({"rounds": True}, "rounds must be .* got True"),
        ({"drafted": -1}, "drafted must be .* got -1"),
        ({"drafted": 16}, "tested tokens must be drafted tokens; got 17 tested and 16 drafted"),
        ({"discarded": 23}, r"discarded must be a whole number in \[0, 22\]; got 23"),
        ({"tested": (10,)}, "one count per depth each; got 1 and 2 depths"),
        ({"tested": (11, 7)}, "at depth 0; got 7 <= 11 <= 10"),
        ({"tested": (10, 8)}, "at depth 1; got 5 <= 8 <= 7"),
        ({"accepted": (7, 8)}, "at depth 1; got 8 <= 7 <= 7"),
        ({"tested": (10, 7.0)}, r"tested\[1\] must be a whole number .* got 7.0"),
        ({"accepted": (7, -1)}, r"accepted\[1\] must be a whole number .* got -1"),
        ({"length_rule": "random"}, "length_rule must be one of fixed, .* got 'random'"),
    ],
)
def test_impossible_tables_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(TABLE, **change)


def test_tables_are_frozen_and_hashable():
    with pytest.raises(FrozenInstanceError):
        TABLE.rounds = 11
    assert len({TABLE, replace(TABLE)}) == 1


@given(tables(), tables(), tables())
def test_pooling_is_associative_and_commutative(first, second, third):
    assert first + second == second + first
    assert (first + second) + third == first + (second + third)


@given(tables())
def test_an_empty_table_adds_nothing(table):
    assert table + NOTHING == table
    assert NOTHING + table == table


@given(tables(), tables())
def test_pooling_adds_counts(first, second):
    pooled = first + second
    assert pooled.emitted == first.emitted + second.emitted
    assert sum(pooled.tested) == sum(first.tested) + sum(second.tested)
    assert pooled.depths == max(first.depths, second.depths)


@pytest.mark.parametrize(
    ("first", "second", "pooled"),
    [
        ("fixed", "fixed", "fixed"),
        ("fixed", "scheduled", "scheduled"),
        ("scheduled", "confidence", "confidence"),
        ("confidence", "unknown", "unknown"),
        ("unknown", "fixed", "unknown"),
    ],
)
def test_the_rule_that_says_less_stays(first, second, pooled):
    tables = replace(TABLE, length_rule=first), replace(TABLE, length_rule=second)
    assert (tables[0] + tables[1]).length_rule == pooled


def test_fixed_drafts_of_two_lengths_make_a_schedule():
    longer = AcceptanceTable(rounds=1, drafted=3, tested=(1, 1, 1), accepted=(1, 1, 1))
    assert (TABLE + longer).length_rule == "scheduled"


@given(kept_lengths)
def test_table_of_lengths(case):
    gamma, lengths = case
    table = AcceptanceTable.from_lengths(np.array(lengths), gamma=gamma)
    assert table.rounds == len(lengths)
    assert table.drafted == gamma * len(lengths)
    assert table.ended == tuple(lengths.count(n) for n in range(gamma + 1))
    assert table.tested == tuple(sum(n >= depth for n in lengths) for depth in range(gamma))
    assert table.accepted == tuple(sum(n > depth for n in lengths) for depth in range(gamma))
    assert table.emitted == sum(n + 1 for n in lengths)
    assert all(type(count) is int for count in (*table.tested, *table.accepted))


@given(kept_lengths)
def test_tokens_per_round_is_the_sample_mean_with_its_error(case):
    gamma, lengths = case
    estimate = AcceptanceTable.from_lengths(np.array(lengths), gamma=gamma).tokens_per_round
    error = np.std(lengths, ddof=1) / math.sqrt(len(lengths))
    assert estimate.value == pytest.approx(1.0 + np.mean(lengths), rel=1e-14)
    assert estimate.se == pytest.approx(error, rel=1e-12, abs=1e-15)


def test_standard_error_of_nearly_equal_long_rounds_keeps_its_digits():
    rounds, gamma = 10**6, 10_000  # one round kept one token less than all others
    accepted = (rounds,) * (gamma - 1) + (rounds - 1,)
    table = AcceptanceTable(
        rounds=rounds, drafted=rounds * gamma, tested=(rounds,) * gamma, accepted=accepted
    )
    assert table.tokens_per_round.se == pytest.approx(1.0 / rounds, rel=1e-12)


def test_numpy_integers_do_not_overflow():
    many = 10**12
    table = AcceptanceTable(
        rounds=np.int64(many), drafted=many, tested=(np.int64(many),), accepted=(many // 2,)
    )
    assert table.tokens_per_round.se == pytest.approx(0.5e-6, rel=1e-9)


@pytest.mark.parametrize("lengths", [[-1, 0], [0, 4]])
def test_lengths_outside_the_draft_are_refused(lengths):
    with pytest.raises(ValueError, match=rf"\[0, 3\]; got {lengths[0]} to {lengths[1]}"):
        AcceptanceTable.from_lengths(np.array(lengths), gamma=3)


def test_ratios_of_a_table():
    table = replace(TABLE, discarded=2)
    assert table.emitted == 20
    assert table.emitted_per_round == 2.0
    assert table.tokens_per_round.value == 2.2
    assert [estimate.value for estimate in table.conditional_acceptance] == [0.7, 5 / 7]
    assert [estimate.value for estimate in table.survival] == [0.7, 0.5]
    assert table.accepted_fraction.value == 12 / 20
    assert table.accepted_fraction.se == pytest.approx(table.tokens_per_round.se / 2)
    assert table.survival[1].se == pytest.approx(math.sqrt(0.25 / 10))


def test_ratios_without_observations_are_unknown():
    assert str(NOTHING.tokens_per_round) == "unknown"
    assert str(NOTHING.accepted_fraction) == "unknown"
    assert math.isnan(NOTHING.emitted_per_round)
    untested = AcceptanceTable(rounds=3, drafted=3, tested=(3, 0), accepted=(0, 0))
    assert str(untested.conditional_acceptance[1]) == "unknown"
    assert untested.survival[1] == Estimate(value=0.0, se=0.0)
    single = AcceptanceTable(rounds=1, drafted=1, tested=(1,), accepted=(1,))
    assert single.tokens_per_round == Estimate(value=2.0)  # one round has no spread


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(value=2.7731, se=0.0035), "2.7731 ± 0.0035"),
        (Estimate(value=2.7731, se=0.35), "2.77 ± 0.35"),
        (Estimate(value=1234.5, se=35.0), "1234 ± 35"),
        (Estimate(value=2.0, se=0.0), "2.0000 ± 0.0000"),
        (Estimate(value=0.5), "0.5000"),
        (Estimate(value=math.nan), "unknown"),
        (Estimate(value=0.79, se=0.02, interval=(0.73, 0.84)), "0.790 [0.730, 0.840]"),
    ],
)
def test_estimates_print_two_digits_of_their_error(estimate, text):
    assert str(estimate) == repr(estimate) == text


def test_scaling_an_estimate_scales_all_of_it():
    scaled = Estimate(value=2.0, se=0.5, interval=(1.0, 3.0), level=0.9).scaled(3.0)
    assert (scaled.value, scaled.se, scaled.interval, scaled.level) == (6.0, 1.5, (3.0, 9.0), 0.9)
    assert float(scaled) == 6.0
