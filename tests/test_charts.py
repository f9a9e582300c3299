"""The charts say what the numbers say: data, marks, descriptions of the specification."""

import math

import pytest

import analysis as an
import simulator as sim
from analysis import charts
from app_pages import lanes

STRATEGY = sim.draft_model(p=0.7, gamma=4)
TABLE = sim.simulate(STRATEGY, rounds=10_000, rng=0)


def rows(spec, layer):
    name = spec["layer"][layer].get("data", spec.get("data"))["name"]
    return spec["datasets"][name]


def marks(spec):
    return [layer["mark"]["type"] for layer in spec["layer"]]


def test_histogram_has_the_simulated_shares_as_bars_and_the_law_as_points():
    spec = charts.tokens_histogram(TABLE, STRATEGY).to_dict()
    assert marks(spec) == ["bar", "point"]
    data = rows(spec, 0)
    shares = [row["share"] for row in data if row["series"].startswith("simulated")]
    exact = [row["share"] for row in data if row["series"] == "exact"]
    assert shares == pytest.approx([count / 10_000 for count in TABLE.ended])
    assert exact == pytest.approx(an.round_law(STRATEGY).pmf)
    assert "10000 simulated rounds" in spec["description"]


@pytest.mark.parametrize("p", [0.0, 0.3, 0.7, 0.98, 1.0])
@pytest.mark.parametrize("gamma", [1, 16])
def test_nothing_is_drawn_above_the_axes(p, gamma):
    strategy = sim.draft_model(p=p, gamma=gamma)
    table = sim.simulate(strategy, rounds=100, rng=0)
    spec = charts.tokens_histogram(table, strategy).to_dict()
    top = spec["layer"][0]["encoding"]["y"]["scale"]["domain"][1]
    assert max(row["share"] for row in rows(spec, 0)) <= top
    for cost_ratio in (0.0, 1.0):
        spec = charts.speedup_over_gamma(p, gamma, cost_ratio).to_dict()
        line = marks(spec).index("line")
        top = spec["layer"][line]["encoding"]["y"]["scale"]["domain"][1]
        assert max(row["speedup"] for row in rows(spec, line)) <= top


def test_speedup_curve_starts_at_plain_decoding_and_marks_yours_and_the_best():
    spec = charts.speedup_over_gamma(0.82, 7, 0.11).to_dict()
    assert marks(spec) == ["rect", "rule", "line", "point", "point"]
    curve = {row["gamma"]: row["speedup"] for row in rows(spec, 2)}
    assert curve[0] == 1.0
    assert curve[5] == pytest.approx(an.speedup(0.82, 5, 0.11))
    assert len(curve) == 17
    best = an.best_gamma(0.82, 0.11, max_gamma=16)
    assert [row["gamma"] for row in rows(spec, 3)] == [7, best.gamma]
    assert rows(spec, 0) == [{"from": min(best.flat), "to": max(best.flat)}]
    assert "yours: γ = 7" in spec["description"]


def test_where_nothing_pays_the_best_is_no_draft():
    spec = charts.speedup_over_gamma(0.1, 5, 0.2, verify_cost=1.3, overhead=0.1).to_dict()
    assert "best: no draft, 1.00×" in spec["description"]
    assert "rect" not in marks(spec)


def test_colour_is_never_the_only_channel():
    for spec in (
        charts.tokens_histogram(TABLE, STRATEGY).to_dict(),
        charts.speedup_over_gamma(0.7, 4, 0.1).to_dict(),
    ):
        assert any("shape" in layer.get("encoding", {}) for layer in spec["layer"])


def test_acceptance_by_depth_draws_intervals_and_leaves_untested_depths_out():
    table = sim.AcceptanceTable(
        rounds=100, drafted=300, tested=(100, 70, 0), accepted=(70, 0, 0), length_rule="scheduled"
    )
    estimates = an.estimate_p_by_depth(table)
    assert math.isnan(estimates[2].value)
    spec = charts.acceptance_by_depth(estimates, pooled=0.5).to_dict()
    data = rows(spec, 0)
    assert [row["depth"] for row in data] == [1, 2]
    assert (data[0]["low"], data[0]["high"]) == pytest.approx(estimates[0].interval)
    assert marks(spec)[-1] == "rule"


def test_acceptance_ranges_have_no_point_in_the_middle():
    spec = charts.acceptance_ranges([(0.7, 0.8), (0.5, 0.5)]).to_dict()
    assert [row["p"] for row in rows(spec, 0)] == [None, None]
    assert "1: 0.700 to 0.800" in spec["description"]


def test_timeline_has_both_lanes_and_a_clock():
    blocks = [
        lanes.LaneBlock(lane=lanes.PLAIN_LANE, kind="plain pass", start=0.0, end=1.0, tokens=1),
        lanes.LaneBlock(lane=lanes.SPECULATIVE_LANE, kind="draft step", start=0.0, end=0.1),
        lanes.LaneBlock(
            lane=lanes.SPECULATIVE_LANE, kind="checking pass", start=0.1, end=1.1, tokens=2
        ),
    ]
    spec = lanes.round_timeline(blocks, end=6.0, now=1.1).to_dict()
    assert marks(spec) == ["bar", "text", "rule"]
    assert [row["label"] for row in rows(spec, 0)] == ["+1", "", "+2"]
    assert "student + professor: 2 tokens" in spec["description"]
    assert spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0.0, 6.0]
