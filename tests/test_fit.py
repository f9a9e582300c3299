"""What `fit` accepts, refuses and says; predictions and the best draft length."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

import analysis as an
from analysis.fitting.report import fit_report
from analysis.output import to_csv, to_json
from simulator import (
    AcceptanceTable,
    AcceptanceTotals,
    CountedUnit,
    HitMiss,
    Observation,
    draft_model,
    simulate,
)

COSTS = an.RoundCosts(cost_ratio=0.1)
TABLE = AcceptanceTable(
    rounds=10_000, drafted=30_000, tested=(10_000, 7000, 4900), accepted=(7000, 4900, 3430)
)
FALLING = AcceptanceTable(
    rounds=10_000, drafted=30_000, tested=(10_000, 8000, 4000), accepted=(8000, 4000, 3600)
)


def requests(count=30, *, rule="fixed", rng=0):
    """Requests of 50 rounds that differ in p."""
    generator = np.random.default_rng(rng)
    units = []
    for i, p in enumerate(generator.beta(7.0, 3.0, size=count)):
        first = generator.binomial(50, p)
        table = AcceptanceTable(
            rounds=50,
            drafted=100,
            tested=(50, int(first)),
            accepted=(int(first), int(generator.binomial(first, p))),
            length_rule=rule,
        )
        units.append(CountedUnit(counts=table, name=str(i)))
    return units


def test_pooled_counts_give_a_lower_bound_and_say_so():
    found = an.fit(TABLE)
    assert found.process.p == pytest.approx(0.7, abs=1e-12)
    assert found.unit == "rounds"
    assert any("lower bound" in note for note in found.notes)
    assert found.tokens_per_round(3).value == pytest.approx(an.expected_tokens(0.7, 3), abs=1e-12)
    reasons = {c.name: c.reason for c in found.candidates}
    assert "pooled" in reasons["mixture over requests"]
    assert "in order" in reasons["easy/hard chain"]


def test_the_error_of_pooled_rounds_is_the_tables_own():
    """Of one p in one table, the sandwich by round is the binomial error by tested token."""
    found = an.fit(TABLE, processes=("constant p",), intervals="sandwich")
    tested = sum(TABLE.tested)
    assert found.parameters["p"].se == pytest.approx(math.sqrt(0.7 * 0.3 / tested), rel=0.02)


def test_by_depth_refuses_beyond_its_depths():
    found = an.fit(FALLING)
    assert found.name == "by depth"
    assert found.tokens_per_round(3).value == pytest.approx(2.56, abs=1e-9)
    with pytest.raises(ValueError, match=r"at most 3 for 'by depth'.*got 4.*geometric decay"):
        found.tokens_per_round(4)
    best = found.best_gamma(COSTS)
    assert best.left_out == tuple(range(4, 17))
    assert best.at_limit == (best.gamma == 3)


def test_parametric_processes_extrapolate_and_say_so():
    found = an.fit(TABLE)
    assert [found.extrapolates(gamma) for gamma in (0, 3, 4)] == [False, False, True]
    assert found.best_gamma(COSTS).gamma == an.best_gamma(0.7, 0.1).gamma == 4
    best = found.best_gamma(COSTS)
    assert best.extrapolated
    assert "extrapolated beyond the measured depth" in best.sentence


def test_confidence_is_refused():
    table = AcceptanceTable(
        rounds=10, drafted=20, tested=(10, 7), accepted=(7, 5), length_rule="confidence"
    )
    for data in (table, [CountedUnit(counts=table)] * 5, Observation(counts=table)):
        found = an.fit(data)
        assert "confidence decided" in found.refusal
        assert found.process is None
        with pytest.raises(ValueError, match="confidence decided"):
            found.tokens_per_round(2)
        with pytest.raises(ValueError, match="confidence decided"):
            found.best_gamma(COSTS)


def test_an_unknown_rule_is_marked_unless_every_draft_was_full():
    cut = AcceptanceTable(
        rounds=100, drafted=150, tested=(100, 30), accepted=(70, 20), length_rule="unknown"
    )
    full = AcceptanceTable(
        rounds=100, drafted=200, tested=(100, 70), accepted=(70, 50), length_rule="unknown"
    )
    assert any("unknown" in note for note in an.fit(cut).notes)
    assert not any("unknown" in note for note in an.fit(full).notes)
    scheduled = AcceptanceTable(
        rounds=100, drafted=150, tested=(100, 30), accepted=(70, 20), length_rule="scheduled"
    )
    assert not any("unknown" in note for note in an.fit(scheduled).notes)


def test_totals_give_a_range():
    totals = AcceptanceTotals(
        rounds=87, drafted=259, accepted=167, accepted_by_depth=(70, 55, 42), longest_draft=3
    )
    found = an.fit(totals)
    assert found.how == "range"
    assert found.process is None
    low, high = an.p_bounds(totals)
    told = found.tokens_per_round(3)
    assert told.interval[0] < an.expected_tokens(low, 3) < told.value
    assert told.value < an.expected_tokens(high, 3) < told.interval[1]
    assert any("range" in note for note in found.notes)
    full = AcceptanceTotals(
        rounds=10, drafted=20, accepted=12, accepted_by_depth=(7, 5), longest_draft=2
    )
    assert an.fit(full).how != "range"  # every depth was tested: a table after all


def test_gamma_completes_totals_and_is_checked():
    totals = AcceptanceTotals(rounds=10, drafted=20, accepted=12, accepted_by_depth=(7, 5))
    assert an.fit(totals).how == "range"
    assert an.fit(totals, gamma=2).how == "resampling"
    with pytest.raises(ValueError, match="gamma must be at least the 3 depths"):
        an.fit(TABLE, gamma=2)


def test_an_observation_uses_its_requests():
    units = tuple(requests())
    pooled = units[0].counts
    for unit in units[1:]:
        pooled += unit.counts
    by_request = an.fit(Observation(counts=pooled, units=units))
    assert (by_request.unit, by_request.units) == ("requests", 30)
    assert by_request.name == "mixture over requests"
    by_interval = an.fit(Observation(counts=pooled, units=units, unit="interval"))
    assert by_interval.unit == "intervals"
    reasons = {c.name: c.reason for c in by_interval.candidates}
    assert "intervals of a log" in reasons["mixture over requests"]


def test_undrafted_rounds_count_in_predictions():
    found = an.fit(Observation(counts=TABLE, undrafted_rounds=10_000))
    assert found.coverage.value == pytest.approx(0.5)
    drafted = an.expected_tokens(0.7, 3)
    assert found.tokens_per_round(3).value == pytest.approx((1.0 + drafted) / 2.0, abs=1e-12)
    assert any("had no draft" in note for note in found.notes)


def test_what_a_lookup_found_wrong_keeps_nothing():
    """p_wrong = 0 lies at the end of its range: the process is chosen all the same."""
    process = HitMiss(coverage=1.0, right=0.75, p_right=0.98, p_wrong=0.0)
    survival = [0.75 * 0.98**i for i in range(1, 6)]
    accepted = tuple(round(20_000 * s) for s in survival)
    table = AcceptanceTable(
        rounds=20_000, drafted=100_000, tested=(20_000, *accepted[:-1]), accepted=accepted
    )
    found = an.fit(table)
    assert found.name == "hit or miss"
    assert found.process.right == pytest.approx(0.75, abs=1e-3)
    assert found.process.p_wrong < 1e-3
    assert any("p_wrong" in note for note in found.notes)
    exact = an.process_tokens_per_round(process, 12)
    assert found.tokens_per_round(12).value == pytest.approx(exact, rel=2e-3)


@pytest.mark.parametrize(("kept", "value"), [(50, 1.0), (0, 0.0)])
def test_all_or_none_kept_has_an_honest_interval(kept, value):
    table = AcceptanceTable(rounds=50, drafted=50, tested=(50,), accepted=(kept,))
    found = an.fit(table)
    assert found.parameters["p"].value == value
    wilson = an.estimate_p(table).interval
    assert found.parameters["p"].interval == pytest.approx(wilson, abs=1e-6)
    told = found.tokens_per_round(4)
    assert told.value == pytest.approx(1.0 + 4.0 * value, abs=1e-4)
    assert told.interval[1] - told.interval[0] > 0.05


def test_one_long_request_is_cut_into_stretches():
    steps = ((2, 2), (2, 0), (2, 1), (2, 2)) * 100
    counts = AcceptanceTable(rounds=0, drafted=0, tested=(), accepted=())
    found = an.fit([CountedUnit(counts=counts, steps=steps)])
    assert found.unit == "stretches"
    assert any("one request" in note for note in found.notes)


def test_best_gamma_declares_ties_and_what_would_separate_them():
    few, many = an.fit(requests(12)), an.fit(requests(400, rng=1))
    best = few.best_gamma(COSTS, range(17))
    assert best.gamma in best.flat
    assert best.gamma not in best.ties
    assert best.runner_up not in best.flat
    assert len(best.ties) > len(many.best_gamma(COSTS, range(17)).ties)
    assert best.more_units > 0
    assert f"{best.more_units:,} more requests" in best.sentence


def test_more_units_follow_the_normal_formula():
    found = an.fit(requests(40), processes=("constant p",), intervals="sandwich")
    best = found.best_gamma(COSTS, range(17), power=0.9)
    other = best.runner_up
    spread = found.curve([best.gamma, other])
    price = np.asarray([1.0 / COSTS.cost(best.gamma), -1.0 / COSTS.cost(other)])
    gap = float(price @ spread.values)
    se = math.sqrt(float(price @ spread.covariance @ price))
    z = norm.ppf(0.975)  # and z² / 2 more, for the t law is wider than the normal one
    needed = 40 * ((z + norm.ppf(0.9)) * se / gap) ** 2 + z**2 / 2
    assert best.more_units == max(math.ceil(needed) - 40, 0)


def test_off_is_a_draft_length():
    dear = an.RoundCosts(cost_ratio=0.9, verify_cost=1.2)
    best = an.fit(TABLE).best_gamma(dear)
    assert best.gamma == 0
    assert not best.pays
    assert best.speedup.value == 1.0
    assert best.sentence.startswith("Best is no speculation")


def test_speedup_is_tokens_over_cost():
    found = an.fit(TABLE)
    costs = an.RoundCosts(cost_ratio=0.1, verify_cost=(1.0, 1.1, 1.2, 1.4), overhead=0.05)
    tokens, gained = found.tokens_per_round(3), found.speedup(3, costs)
    assert gained.value == pytest.approx(tokens.value / (0.3 + 1.4 + 0.05))
    assert gained.interval[1] == pytest.approx(tokens.interval[1] / 1.75)
    with pytest.raises(ValueError, match="at most 3, the last with a cost"):
        found.speedup(4, costs)
    assert found.best_gamma(costs).left_out == tuple(range(4, 17))


def test_the_same_rng_gives_the_same_fit():
    first, second = (an.fit(requests(), rng=3) for _ in range(2))
    assert first.parameters == second.parameters
    assert first.tokens_per_round(2) == second.tokens_per_round(2)
    other = an.fit(requests(), rng=4)
    assert other.tokens_per_round(2).interval != first.tokens_per_round(2).interval


def test_a_simulated_table_is_fitted():
    table = simulate(draft_model(p=0.8, gamma=5), rounds=20_000, rng=0)
    told = an.fit(table).tokens_per_round(5)
    assert abs(told.value - an.expected_tokens(0.8, 5)) < 6.0 * told.se


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"data": 3}, "data must be an AcceptanceTable"),
        ({"data": TABLE, "level": 1.0}, "level must be a number between 0 and 1"),
        ({"data": TABLE, "choice": "best"}, "choice must be one of bic, aic, held-out"),
        ({"data": TABLE, "choice": "held-out"}, "choice must be bic or aic for pooled counts"),
        ({"data": TABLE, "intervals": "jackknife"}, "intervals must be auto, resampling"),
        ({"data": TABLE, "resamples": 10}, "resamples must be a whole number of at least 100"),
        ({"data": TABLE, "processes": ("p",)}, "processes must be among constant p"),
        ({"data": TABLE, "gamma": 0}, "gamma must be a whole number of at least 1"),
        ({"data": TABLE, "rng": None}, "rng must be a seed"),
    ],
)
def test_arguments_are_checked(arguments, message):
    with pytest.raises(ValueError, match=message):
        an.fit(**arguments)


@pytest.mark.parametrize("data", [[], AcceptanceTable(rounds=0, drafted=0, tested=(), accepted=())])
def test_nothing_to_fit_is_a_refusal(data):
    found = an.fit(data)
    assert "nothing can be fitted" in found.refusal
    assert "Not fitted" in fit_report(found).headline


def test_report_holds_candidates_parameters_and_predictions():
    report = fit_report(an.fit(FALLING), range(1, 6), costs=COSTS)
    prediction, parameters, candidates = report.sections
    assert [row[0] for row in prediction.rows] == [1, 2, 3]
    assert len(parameters.rows) == 3
    assert sum(row[1] for row in candidates.rows) == 1
    assert "Best is" in report.headline
    assert any("says nothing beyond the 3" in note for note in report.notes)
    assert '"candidates"' in to_json(report)
    assert to_csv(report).startswith("gamma,tokens_per_round,low,high,speedup")


def test_report_marks_what_is_extrapolated():
    report = fit_report(an.fit(TABLE), range(1, 6))
    assert [row[-1] for row in report.sections[0].rows] == ["measured depth"] * 3 + [
        "extrapolated"
    ] * 2
    assert report.sections[0].rows[0][4] is None  # no costs, no speedup


def test_costs_are_checked():
    assert an.RoundCosts(cost_ratio=0.1, verify_cost=2.0).cost(0) == 1.0
    refused = (
        {"cost_ratio": -1.0},
        {"cost_ratio": 0.1, "verify_cost": 0.0},
        {"cost_ratio": 0.1, "verify_cost": ()},
        {"cost_ratio": 0.1, "overhead": math.nan},
    )
    for arguments in refused:
        with pytest.raises(ValueError, match="must be"):
            an.RoundCosts(**arguments)
