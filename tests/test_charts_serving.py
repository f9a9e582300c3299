"""The charts of a server under arrivals: they draw the estimates they were given, and say them."""

import json
import math

import pytest

from analysis.palette import YOURS
from analysis.serving.charts import SEEN, gain_over_rate, times_over_rate
from simulator import Estimate
from simulator.serving import (
    FixedTokens,
    LatencyEstimate,
    PoissonArrivals,
    ServingComparison,
    ServingEstimates,
    Workload,
)


def about(value, half=0.0):
    return Estimate(value=value, interval=(value - half, value + half))


def seen(value, half=0.0):
    estimate = about(value, half)
    return LatencyEstimate(mean_s=estimate, p50_s=estimate, p95_s=estimate, p99_s=estimate)


def side(e2e, ttft=0.1, tpot=0.01, half=0.0):
    one = about(1.0)
    return ServingEstimates(
        replications=4, tokens_per_s=one, requests_per_s=one, goodput_per_s=one, met_share=one,
        mean_batch=one, busy_share=one, tokens_per_round=one, ttft=seen(ttft), tpot=seen(tpot),
        itl=seen(tpot), e2e=seen(e2e, half), waiting=seen(0.0),
    )  # fmt: skip


def point(rate, plain, fast, gain=None):
    fixed = FixedTokens(tokens=8)
    return ServingComparison(
        workload=Workload(arrivals=PoissonArrivals(rate_per_s=rate), prompt=fixed, output=fixed),
        plain=plain, speculative=fast, gain_e2e=gain, gain_tpot=gain,
        gain_ttft=None if gain is None else about(0.9, 0.05), throughput_ratio=gain,
        limit=about(9.0, 0.5), plain_limit=about(7.0, 0.25),
    )  # fmt: skip


POINTS = (
    point(2.0, side(3.0, half=0.5), side(1.5), about(2.0, 0.1)),
    point(6.0, side(8.0, half=9.0), side(4.0, half=1.0), about(0.8, 0.3)),
    point(8.0, None, side(6.5)),
)


def drawn(chart):
    """The layers of a chart as Vega-Lite, checked against its schema, each with its rows."""
    spec = chart.to_dict()
    return [
        (layer, spec["datasets"][layer.get("data", spec.get("data", {}))["name"]])
        for layer in spec["layer"]
    ], spec


def marks(chart, mark):
    return [(layer, rows) for layer, rows in drawn(chart)[0] if layer["mark"]["type"] == mark]


@pytest.mark.parametrize(
    ("of", "expected"), [("e2e", (3.0, 8.0)), ("ttft", (0.1, 0.1)), ("tpot", (0.01, 0.01))]
)
def test_lines_are_the_means_of_the_time_that_is_asked_for(of, expected):
    ((layer, rows),) = marks(times_over_rate(POINTS, of=of), "line")
    plain = [(row["rate"], row["mean"]) for row in rows if row["series"] == "without a draft"]
    assert plain == [(2.0, expected[0]), (6.0, expected[1])]
    assert [row["rate"] for row in rows if row["series"] == "with drafts"] == [2.0, 6.0, 8.0]
    assert SEEN[of] in layer["encoding"]["y"]["title"]


def test_rules_stand_at_the_stable_limits_and_say_them():
    rules = [
        (rows[0]["rate"], rows[0]["stable limit"])
        for _, rows in marks(times_over_rate(POINTS), "rule")
        if "stable limit" in rows[0]
    ]
    assert rules == [
        (7.0, "without a draft: 7.00 [6.75, 7.25] requests/s"),
        (9.0, "with drafts: 9.00 [8.50, 9.50] requests/s"),
    ]


def test_every_mean_is_on_the_axis_and_an_interval_below_0_is_said_but_not_drawn():
    (layer, rows), *_ = marks(times_over_rate(POINTS), "line")
    low, high = layer["encoding"]["y"]["scale"]["domain"]
    assert all(low <= row["mean"] <= high for row in rows)
    wide = next(row for row in rows if row["mean"] == 8.0)
    assert wide["low"] == -1.0
    assert 0.0 < wide["drawn"] < low
    assert layer["encoding"]["x"]["scale"]["domain"][1] > 9.0


def test_the_chosen_rate_is_ringed_on_the_sides_that_are_stable():
    both = marks(times_over_rate(POINTS, here=POINTS[0]), "point")
    assert [row["mean"] for row in both[-1][1]] == [3.0, 1.5]
    one = marks(times_over_rate(POINTS, here=POINTS[2]), "point")
    assert [row["mean"] for row in one[-1][1]] == [6.5]
    neither = point(20.0, None, None)
    assert len(marks(times_over_rate(POINTS, here=neither), "point")) == 1


def test_what_is_ringed_is_on_the_axis_as_well():
    slow = point(6.9, side(400.0), side(90.0), about(7.0))
    (layer, _), *_ = marks(times_over_rate(POINTS, here=slow), "line")
    low, high = layer["encoding"]["y"]["scale"]["domain"]
    assert low <= 1.5
    assert high > 400.0
    (layer, _), *_ = marks(gain_over_rate(POINTS, here=slow), "line")
    assert layer["encoding"]["y"]["scale"]["domain"] == [0, 8]


def test_the_gain_is_drawn_where_both_sides_are_stable_with_its_turn():
    chart = gain_over_rate(POINTS, turning_per_s=4.5, here=POINTS[1])
    ((_, rows),) = marks(chart, "line")
    whole = [row for row in rows if row["series"] == "whole request"]
    assert [(row["rate"], row["mean"]) for row in whole] == [(2.0, 2.0), (6.0, 0.8)]
    assert [row["high"] for row in whole] == pytest.approx([2.1, 1.1])
    first = [row["mean"] for row in rows if row["series"] == "first token"]
    assert first == [0.9, 0.9]
    turns = [rows[0] for _, rows in marks(chart, "rule") if "turns at" in rows[0]]
    assert turns == [{"rate": 4.5, "turns at": 4.5}]
    yours = [rows for layer, rows in marks(chart, "point") if layer["mark"].get("color") == YOURS]
    assert yours == [[{"rate": 6.0, "mean": 0.8}]]
    without = gain_over_rate(POINTS)
    assert not [rows for _, rows in marks(without, "rule") if "turns at" in rows[0]]


def test_below_1_is_shaded_as_a_loss():
    ((_, rows),) = marks(gain_over_rate(POINTS), "rect")
    assert rows == [{"from": 0.0, "to": 1.0}]


def test_descriptions_say_what_the_charts_show():
    times = times_over_rate(POINTS, here=POINTS[0]).to_dict()["description"]
    assert "without a draft: 3 at 2 to 8 at 6; with drafts: 1.5 at 2 to 6.5 at 8" in times
    assert "7 without a draft, 9 with drafts" in times
    assert "Ringed: yours, 2 requests/s." in times
    gain = gain_over_rate(POINTS, turning_per_s=4.5, here=POINTS[0]).to_dict()["description"]
    assert "2 at 2 to 0.8 at 6" in gain
    assert "turns at 4.5 requests/s" in gain


def test_what_nobody_keeps_up_with_is_refused():
    lost = (point(20.0, None, None),)
    with pytest.raises(ValueError, match="one rate at least that a server keeps up with"):
        times_over_rate(lost)
    with pytest.raises(ValueError, match="that both servers keep up with"):
        gain_over_rate((POINTS[2],))


def test_a_time_that_nobody_saw_is_left_out():
    one_token = point(2.0, side(3.0, tpot=math.nan), side(1.5, tpot=0.005), about(2.0))
    chart = times_over_rate((one_token,), of="tpot")
    ((_, rows),) = marks(chart, "line")
    assert [row["mean"] for row in rows] == [0.005]
    assert "without a draft: nowhere stable" not in chart.to_dict()["description"]
    json.dumps(chart.to_dict(), allow_nan=False)
