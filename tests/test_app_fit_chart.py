"""The chart of a fit says what the fit says: points, band, best length, and where it ends."""

import pytest

import simulator as sim
from analysis.fitting import RoundCosts, charts, fit

TABLE = sim.simulate(sim.draft_model(p=0.7, gamma=3), rounds=2_000, rng=1)
FITTED = fit(TABLE, processes=("constant p",))
GAMMAS = range(1, 17)
COSTS = RoundCosts(cost_ratio=0.05)


def marks(spec):
    return [
        layer["mark"] if isinstance(layer["mark"], str) else layer["mark"]["type"]
        for layer in spec["layer"]
    ]


def rows(spec, field):
    return next(data for data in spec["datasets"].values() if field in data[0])


def test_tokens_are_a_line_in_its_band_with_hollow_points_beyond_the_measured_depth():
    spec = charts.prediction_over_gamma(FITTED, GAMMAS).to_dict()
    assert marks(spec) == ["area", "line", "point"]
    for row in rows(spec, "basis"):
        estimate = FITTED.tokens_per_round(row["gamma"])
        assert (row["value"], row["low"], row["high"]) == (estimate.value, *estimate.interval)
        assert (row["basis"] == "extrapolated") == (row["gamma"] > 3)


def test_the_speedup_has_plain_decoding_the_best_length_and_what_is_about_as_good():
    spec = charts.prediction_over_gamma(FITTED, GAMMAS, costs=COSTS).to_dict()
    assert marks(spec) == ["rect", "rule", "area", "line", "point", "point"]
    best = FITTED.best_gamma(COSTS, GAMMAS)
    assert rows(spec, "series")[0]["gamma"] == best.gamma
    assert rows(spec, "from") == [{"from": min(best.flat), "to": max(best.flat)}]
    assert best.sentence in spec["description"]


def test_where_nothing_pays_no_length_is_marked():
    spec = charts.prediction_over_gamma(FITTED, GAMMAS, costs=RoundCosts(cost_ratio=3.0)).to_dict()
    assert marks(spec) == ["rule", "area", "line", "point"]


def test_a_process_without_extrapolation_ends_where_it_was_measured():
    found = fit(TABLE, processes=("by depth",))
    spec = charts.prediction_over_gamma(found, GAMMAS, costs=COSTS).to_dict()
    assert [row["gamma"] for row in rows(spec, "basis")] == [1, 2, 3]
    with pytest.raises(ValueError, match="gammas must hold one of at most 3; got"):
        charts.prediction_over_gamma(found, (7, 9))


def test_nothing_is_drawn_above_the_axis():
    for costs in (None, COSTS, RoundCosts(cost_ratio=0.0)):
        spec = charts.prediction_over_gamma(FITTED, GAMMAS, costs=costs).to_dict()
        line = marks(spec).index("line")
        top = spec["layer"][line]["encoding"]["y"]["scale"]["domain"][1]
        assert max(row["high"] for row in rows(spec, "basis")) <= top
