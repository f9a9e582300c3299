"""Whatever the counts, a fit answers within its range, refuses in a sentence, or says why not."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

import analysis as an
from simulator import AcceptanceTable, AcceptanceTotals, CountedUnit

COSTS = an.RoundCosts(cost_ratio=0.1)
NOTHING = AcceptanceTable(rounds=0, drafted=0, tested=(), accepted=())


@st.composite
def tables(draw, most=40):
    rounds = alive = draw(st.integers(0, most))
    tested, accepted = [], []
    for _ in range(draw(st.integers(0, 4))):
        tested.append(draw(st.integers(0, alive)))
        accepted.append(draw(st.integers(0, tested[-1])))
        alive = accepted[-1]
    drafted = sum(tested) + draw(st.integers(0, 5))
    rule = draw(st.sampled_from(["fixed", "scheduled", "unknown", "confidence"]))
    return AcceptanceTable(
        rounds=rounds,
        drafted=drafted,
        tested=tuple(tested),
        accepted=tuple(accepted),
        length_rule=rule,
    )


@st.composite
def requests_in_order(draw):
    step = st.integers(0, 3).flatmap(lambda d: st.tuples(st.just(d), st.integers(0, d)))
    steps = draw(st.lists(st.lists(step, min_size=1, max_size=8), min_size=1, max_size=7))
    every = draw(st.booleans())
    return [CountedUnit(counts=NOTHING, steps=tuple(s), every_position=every) for s in steps]


@st.composite
def totals(draw):
    drafted = draw(st.integers(0, 60))
    longest = draw(st.none() | st.integers(1, 6)) if drafted else None
    return AcceptanceTotals(
        drafted=drafted, accepted=draw(st.integers(0, drafted)), longest_draft=longest
    )


def check(found):
    if found.refusal is not None:
        assert found.refusal.endswith((".", ")."))
        assert found.process is None
        return
    assert all(candidate.reason for candidate in found.candidates)
    for gamma in (0, 1, min(found.longest or 6, 6)):
        told = found.tokens_per_round(gamma)
        assert 1.0 <= told.value <= gamma + 1.0 + 1e-9
        low, high = told.interval
        assert low <= told.value <= high
        assert low >= 1.0 - 1e-9
        assert high <= gamma + 1.0 + 1e-9
    best = found.best_gamma(COSTS, range(7))
    assert best.gamma in best.flat
    assert best.speedup.value >= 1.0
    for value in found.parameters.values():
        assert math.isfinite(value.value)
        assert value.interval is None or value.interval[0] <= value.value <= value.interval[1]


@settings(max_examples=40, deadline=None)
@given(tables())
def test_one_table(table):
    check(an.fit(table, resamples=100))


@settings(max_examples=25, deadline=None)
@given(st.lists(tables(), max_size=8), st.sampled_from(["resampling", "sandwich"]))
def test_tables_of_requests(found, intervals):
    units = [CountedUnit(counts=table) for table in found]
    check(an.fit(units, resamples=100, intervals=intervals))


@settings(max_examples=25, deadline=None)
@given(requests_in_order(), st.sampled_from(["resampling", "sandwich"]))
def test_rounds_in_order(units, intervals):
    check(an.fit(units, resamples=100, intervals=intervals))


@settings(max_examples=25, deadline=None)
@given(totals())
def test_totals(found):
    check(an.fit(found))
