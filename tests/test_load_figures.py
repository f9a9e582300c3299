"""Figures and charts of a deployment under load draw what the functions say."""

from __future__ import annotations

import numpy as np
import pytest
from deployments import pair, short_cache, simple

from analysis.deployment import charts, figures, lines
from analysis.deployment.break_even import break_even_batch
from analysis.deployment.load import under_load

CONTEXTS = (512, 2048, 8192, 32_768)


def rows(spec, layer):
    name = spec["layer"][layer].get("data", spec.get("data"))["name"]
    return spec["datasets"][name]


def test_lines_over_batch_end_where_memory_does_and_mark_the_break_even():
    found = lines.over_batch(pair(), [1, 4], context=500)
    assert [line.name for line in found] == ["γ = 1", "γ = 4"]
    assert (found[1].x[0], found[1].x[-1]) == (1, pair().most_requests(500))
    for batch, gain in zip(found[1].x, found[1].y, strict=True):
        assert gain == pytest.approx(pair().parts(4, batch, 500).speedup.value, rel=1e-12)
    end = break_even_batch(pair(), 4, context=500).batch
    assert found[1].mark == (end, pytest.approx(1.0, abs=0.02))
    assert lines.over_batch(pair(), [4], context=500, most=20)[0].mark is None


def test_lines_over_context_leave_out_what_does_not_fit():
    one, eight = lines.over_context(short_cache(), 4, batches=[1, 32], contexts=CONTEXTS)
    assert one.x == CONTEXTS
    assert eight.x == CONTEXTS[:3]
    assert eight.y[2] == pytest.approx(short_cache().parts(4, 32, 8192).speedup.value, rel=1e-12)
    with pytest.raises(ValueError, match="batch must be at most"):
        lines.over_context(short_cache(), 4, batches=[100], contexts=[32_000])


def test_the_frontier_begins_at_one_request_and_ends_at_a_full_server():
    plain, drafted = lines.frontier(pair(), [4], context=1000)
    full = under_load(pair(), 4, concurrency=1024, context=1000)
    for line, served in ((plain, full.plain), (drafted, full.speculative)):
        assert line.x[-1] == pytest.approx(served.request_tokens_per_s.value)
        assert line.y[-1] == pytest.approx(served.tokens_per_s.value)
        assert line.labels[-1] == f"{served.running:g}"
        assert len(set(line.labels)) == len(line.labels)
        assert line.x[0] == pytest.approx(line.y[0])  # alone, a request gets all there is
    assert plain.name == "plain decoding"
    few = lines.frontier(pair(), [4], context=1000, concurrencies=[2, 5])
    assert few[0].labels == few[1].labels == ("2", "5")


def test_layers_of_a_round_add_up():
    deployment = pair(overhead_s=1e-3, draft_overlap=0.5)
    found = lines.round_layers(deployment, 4, context=500, most=64)
    for at, batch in enumerate(found.batches):
        parts = deployment.parts(4, batch, 500)
        assert sum(layer[at] for layer in found.layers) == pytest.approx(parts.round_cost)
    assert found.tokens_per_round == pytest.approx((1 - 0.7**5) / 0.3)


def test_the_knee_is_where_computing_takes_as_long_as_reading():
    cost = simple(compute_s=0.001).target  # 10 ms of reading
    one, two, many = lines.over_width(cost, batches=[1, 2, 50], context=0, most=40)
    assert one.mark == (pytest.approx(10.0), pytest.approx(1.0))
    assert two.mark == (pytest.approx(5.0), pytest.approx(1.0))
    assert many.mark is None  # already one token of each is beyond it
    assert one.y[39] == pytest.approx(4.0)


def drawn():
    """Each figure and chart once, by name."""
    for module in (figures, charts):
        yield module.speedup_over_batch(pair(), [1, 4], context=500)
        yield module.speedup_over_context(short_cache(), 4, batches=[1, 32], contexts=CONTEXTS)
        yield module.throughput_frontier(pair(), [2, 4], context=1000)
        yield module.round_over_batch(pair(overhead_s=1e-3), 4, context=500)
        yield module.verify_cost_over_width(pair().target, batches=[1, 8], context=1000)


def test_figures_and_charts_are_drawn():
    everything = list(drawn())
    for figure in everything[:5]:
        figure.draw_without_rendering()
        (axes,) = figure.axes
        assert axes.get_xlabel()
        assert axes.get_ylabel()
        assert axes.get_legend() is not None
    for chart in everything[5:]:
        spec = chart.to_dict()
        assert spec["title"]
        assert len(spec["description"]) > 80


def test_the_figure_has_a_cross_at_the_break_even():
    axes = figures.speedup_over_batch(pair(), [4], context=500).axes[0]
    end = break_even_batch(pair(), 4, context=500).batch
    crosses = [line for line in axes.lines if line.get_marker() == "x"]
    assert [tuple(line.get_xdata()) for line in crosses] == [(end,)]
    assert any(list(line.get_ydata()) == [1.0, 1.0] for line in axes.lines)


def test_plain_decoding_and_the_ends_of_the_frontier_are_named_where_no_line_crosses():
    for figure in (
        figures.speedup_over_batch(pair(), [4], context=500),
        figures.speedup_over_context(short_cache(), 4, batches=[1], contexts=CONTEXTS),
        figures.throughput_frontier(pair(), [2, 4], context=1000),
    ):
        (axes,) = figure.axes
        assert not axes.texts
        assert axes.get_legend_handles_labels()[1][0].startswith("plain decoding")
    shown = axes.get_legend_handles_labels()[1]
    for label, line in zip(shown, lines.frontier(pair(), [2, 4], context=1000), strict=True):
        assert label == f"{line.name}, {line.labels[0]} to {line.labels[-1]} running"
    single = figures.throughput_frontier(pair(), [4], context=1000, concurrencies=[3]).axes[0]
    assert single.get_legend_handles_labels()[1] == [
        "plain decoding, 3 running",
        "γ = 4, 3 running",
    ]


def test_the_chart_of_widths_says_v_at_the_knee():
    said = charts.verify_cost_over_width(
        simple(compute_s=0.001).target, batches=[1], context=0, most=40
    ).to_dict()["description"]
    assert "knee at 10.0 tokens (V = 1.00)" in said


def test_the_chart_holds_the_lines_the_plain_rule_and_the_cross():
    spec = charts.speedup_over_batch(pair(), [1, 4], context=500).to_dict()
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["rule", "line", "point"]
    assert rows(spec, 0) == [{"y": 1.0}]
    found = lines.over_batch(pair(), [1, 4], context=500)
    values = [row["y"] for row in rows(spec, 1)]
    assert values == pytest.approx([y for line in found for y in line.y])
    end = break_even_batch(pair(), 4, context=500).batch
    marked = {row["series"]: row["x"] for row in rows(spec, 2)}
    assert marked["γ = 4"] == end
    assert f"stops paying at batch {end}" in spec["description"]
    top = spec["layer"][1]["encoding"]["y"]["scale"]["domain"][1]
    assert max(values) <= top


def test_a_chart_without_a_break_even_has_no_cross():
    spec = charts.speedup_over_batch(simple(), [4], context=0, most=8).to_dict()
    assert rows(spec, 2) == []


def test_the_chart_of_a_round_stacks_the_layers():
    spec = charts.round_over_batch(pair(), 4, context=500, most=32).to_dict()
    total = {}
    for row in rows(spec, 0):
        total[row["batch"]] = total.get(row["batch"], 0.0) + row["steps"]
    assert total[32] == pytest.approx(pair().parts(4, 32, 500).round_cost)
    assert rows(spec, 1) == [{"tokens per round": pytest.approx((1 - 0.7**5) / 0.3)}]


def test_the_frontiers_chart_follows_the_load_not_the_value():
    spec = charts.throughput_frontier(pair(), [4], context=1000).to_dict()
    assert spec["layer"][0]["encoding"]["order"]["field"] == "order"
    speeds = [row["x"] for row in rows(spec, 0) if row["series"] == "γ = 4"]
    assert (np.diff(speeds) < 0.0).all()


def test_nothing_is_drawn_above_the_axes():
    spec = charts.verify_cost_over_width(
        simple(compute_s=0.001).target, batches=[1, 50], context=0, most=900
    ).to_dict()
    top = spec["layer"][1]["encoding"]["y"]["scale"]["domain"][1]
    assert 800 < max(row["y"] for row in rows(spec, 1)) <= top
