"""Few rounds, few requests, all alike: what a fit may say then. Stated error rates, by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

import analysis as an
from analysis.fitting import rows as row_module
from analysis.fitting.choice import LAWS
from analysis.fitting.goodness import goodness
from analysis.fitting.maximise import maximise
from analysis.fitting.rows import rows_of_pool, rows_of_steps, rows_of_tables
from analysis.fitting.spread import Spread, deletions, influence
from simulator import AcceptanceTable, CountedUnit

FALSE_ALARM = 1e-8
NOTHING = AcceptanceTable(rounds=0, drafted=0, tested=(), accepted=())
LAW = {law.name: law for law in LAWS}


def unit(*steps):
    return CountedUnit(counts=NOTHING, steps=steps)


def lengths(generator, count, p, gamma):
    return np.minimum(generator.geometric(1.0 - p, size=count) - 1, gamma)


def mixed_requests(generator, count, rounds=20):
    """Tables of requests with a p of their own."""
    return [
        AcceptanceTable.from_lengths(lengths(generator, rounds, p, 3), gamma=3)
        for p in generator.beta(7.0, 3.0, size=count)
    ]


def test_one_round_has_no_interval():
    found = an.fit([unit((4, 1))])
    assert found.name == "constant p"  # nothing with two parameters out of one round
    assert found.parameters["p"].interval is None
    assert found.tokens_per_round(3).interval is None
    assert found.best_gamma(an.RoundCosts(cost_ratio=0.1)).more_units is None
    assert any("one round only" in note for note in found.notes)


def test_a_process_needs_five_rounds_for_each_parameter():
    few, enough = (
        AcceptanceTable(rounds=n, drafted=2 * n, tested=(n, n // 2), accepted=(n // 2, n // 4))
        for n in (9, 10)
    )
    reasons = {c.name: c.reason for c in an.fit(few).candidates}
    assert reasons["geometric decay"].endswith("needs 10 rounds with a draft; there are 9")
    assert "needs" not in {c.name: c.reason for c in an.fit(enough).candidates}["geometric decay"]


def test_copies_of_one_request_are_said_to_be():
    steps = [((4, 2), (4, 1), (4, 4)), ((4, 2), (4, 1), (4, 3))]
    alike, different = (an.fit([unit(*steps[0])] * 9 + [unit(*steps[last])]) for last in (0, 1))
    assert any("All 10 requests have the same counts" in note for note in alike.notes)
    assert not any("have the same counts" in note for note in different.notes)


def test_more_rounds_than_can_be_held_lose_their_order_only(monkeypatch):
    """One long request among many short ones would take requests × its rounds."""
    generator = np.random.default_rng(0)
    requests = [
        unit(*((3, int(n)) for n in lengths(generator, count, 0.7, 3)))
        for count in (400, *[5] * 30)
    ]
    whole = an.fit(requests, processes=("constant p", "easy/hard chain"))
    monkeypatch.setattr(row_module, "MAX_CELLS", 400 * 31 - 1)
    cut = an.fit(requests, processes=("constant p", "easy/hard chain"))
    assert cut.parameters["p"].value == whole.parameters["p"].value
    assert {c.name: c.reason for c in cut.candidates}["easy/hard chain"].endswith("in order")
    assert any("31 requests of up to 400 rounds" in note for note in cut.notes)
    assert not any("in order" in note for note in whole.notes)


def test_very_long_drafts_are_bounded():
    with pytest.raises(ValueError, match=r"draft at most 10,000 tokens; got 1,000,000,000"):
        an.fit([unit((10**9, 1))] * 2)
    deep = AcceptanceTable(rounds=20, drafted=20_000, tested=(20,) * 1000, accepted=(20,) * 1000)
    found = an.fit([CountedUnit(counts=deep)] * 60)
    reasons = {c.name: c.reason for c in found.candidates}
    assert reasons["by depth"].endswith("1000 parameters are too many for 60 requests")


@pytest.mark.parametrize(
    ("name", "count", "share"),
    [("constant p", 8, 0.5), ("by depth", 8, 0.5), ("mixture over requests", 25, 0.8)],
)
def test_deletions_are_what_a_fit_without_the_request_gives(name, count, share):
    """Nearer to it than the influence, by this share of its error at least."""
    rows = rows_of_tables(mixed_requests(np.random.default_rng(1), count, 60), unit="requests")
    peak = maximise(LAW[name], rows)
    assert not peak.pinned
    k = len(peak.theta)
    others = [rows.subset(np.delete(np.arange(count), i)) for i in range(count)]
    exact = np.asarray([peak.theta - maximise(LAW[name], each).theta for each in others])
    error, before = (
        np.abs(found[:, :k] - exact).sum()
        for found in (deletions(peak, rows), influence(peak, rows))
    )
    assert error < share * before


def test_deletions_of_the_chain_too():
    generator = np.random.default_rng(2)
    requests = []
    for _ in range(10):
        ps = np.where(np.cumsum(generator.random(40) < 0.15) % 2, 0.95, 0.2)
        requests.append([(3, int(lengths(generator, 1, p, 3)[0])) for p in ps])
    rows = rows_of_steps(requests)
    law = LAW["easy/hard chain"]
    peak = maximise(law, rows)
    assert not peak.pinned
    exact = np.asarray(
        [
            peak.theta
            - maximise(law, rows.subset(np.delete(np.arange(10), i)), start=peak.theta).theta
            for i in range(10)
        ]
    )
    error, before = (
        np.abs(found[:, :4] - exact).sum()
        for found in (deletions(peak, rows), influence(peak, rows))
    )
    assert error < before


def pooled_alarms(counts, replications=200):
    generator = np.random.default_rng(3)
    alarms = 0
    for _ in range(replications):
        table = AcceptanceTable.from_lengths(lengths(generator, counts, 0.7, 5), gamma=5)
        rows = rows_of_pool(table)
        p_value = goodness(maximise(LAW["constant p"], rows), rows).p_value
        alarms += p_value < 0.05
    return alarms


@pytest.mark.parametrize("rounds", [10, 20, 50, 400])
def test_goodness_of_few_pooled_rounds_alarms_as_often_as_stated(rounds):
    assert pooled_alarms(rounds) <= binom.isf(FALSE_ALARM, 200, 0.05)


def test_goodness_of_pooled_rounds_sees_a_wrong_law():
    """The control: 0.9, then 0.3."""
    table = AcceptanceTable(
        rounds=400, drafted=1200, tested=(400, 360, 108), accepted=(360, 108, 97)
    )
    rows = rows_of_pool(table)
    found = goodness(maximise(LAW["constant p"], rows), rows)
    assert found.degrees == 2
    assert found.p_value < FALSE_ALARM
    right = goodness(maximise(LAW["by depth"], rows), rows)
    assert (right.degrees, math.isnan(right.p_value)) == (0, True)


def told_apart(requests, replications=200):
    """How often the interval of the difference of γ = 4 and γ = 2 leaves out 0, one p by request."""
    generator = np.random.default_rng(4)
    apart = 0
    for _ in range(replications):
        units = [CountedUnit(counts=table) for table in mixed_requests(generator, requests)]
        found = an.fit(units, processes=("constant p",), intervals="sandwich")
        spread = found.curve([2, 4])
        gap = spread.estimate(np.asarray([-1 / 1.3, 1 / 1.6]), bounds=(-math.inf, math.inf))
        apart += gap.interval[0] > 0.0
    return apart


def test_as_many_more_requests_tell_two_lengths_apart():
    """With the number that `more_units` says of the true difference, in four cases out of five."""
    units = [CountedUnit(counts=table) for table in mixed_requests(np.random.default_rng(5), 5000)]
    found = an.fit(units, processes=("constant p",), intervals="sandwich")
    spread = found.curve([2, 4])
    gap = spread.estimate(np.asarray([-1 / 1.3, 1 / 1.6]), bounds=(-math.inf, math.inf))
    from analysis.fitting.best import _needed  # noqa: PLC0415

    needed = _needed(5000, gap.se / gap.value, 0.95, 0.8)
    assert 10 < needed < 500
    held = told_apart(needed)
    assert binom.ppf(FALSE_ALARM, 200, 0.8) <= held <= binom.isf(FALSE_ALARM, 200, 0.8)
    assert told_apart(needed // 4) < binom.ppf(FALSE_ALARM, 200, 0.8)  # the control


def test_ranges_that_were_seen_have_no_level():
    found = an.fit_mean(tokens_per_round=2.83, gamma=3, half_width=0.005, method="eagle")
    assert math.isnan(found.level)
    for told in (found.parameters["p"], found.tokens_per_round(3), found.tokens_per_round(8)):
        assert math.isnan(told.level)
        assert told.se is None
        assert told.interval is not None
    assert math.isnan(found.best_gamma(an.RoundCosts(cost_ratio=0.1)).speedup.level)


def test_ends_of_draws_leave_out_as_many_as_stated():
    """Of 99 equally likely parts of a law, 2.5 % lie below 2.5 draws: not below 3.45, as between ranks."""
    draws = np.arange(1.0, 100.0)[:, np.newaxis]
    spread = Spread(values=np.asarray([50.0]), draws=draws)
    told = spread.estimate(np.ones(1), bounds=(-math.inf, math.inf))
    assert told.interval == pytest.approx((2.5, 97.5), abs=1e-6)
