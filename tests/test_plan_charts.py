"""Figures and charts of a plan say what the plan says."""

from __future__ import annotations

import numpy as np
import pytest
from plans import SMALL, assumed, lookup, pair
from test_charts import marks, rows

import analysis as an
from analysis.figures import png
from analysis.palette import PLAIN
from analysis.planning import charts, figures
from analysis.planning.report import span_text
from simulator import AcceptanceByDepth

BATCHES = (1, 8, 32, 64, 128)
PLAN = an.plan((pair(), lookup()), BATCHES)
FULL = an.plan(pair(memory=SMALL), (1, 6, 7, 9), context=100.0, gammas=range(5))


def test_the_figure_marks_what_is_used():
    figure = figures.best_gamma_over_batch(PLAN)
    axes = figure.axes[0]
    drawn = {line.get_label(): list(zip(*line.get_data(), strict=True)) for line in axes.lines[1:]}
    for name in ("pair", "off"):
        assert drawn[name] == [(row.batch, row.gamma) for row in PLAN.rows if row.use == name]
    assert "lookup" not in drawn
    assert next(line for line in axes.lines if line.get_label() == "off").get_color() == PLAIN
    bars = [segment[:, 1] for segment in axes.collections[0].get_segments()]
    assert [tuple(map(int, bar)) for bar in bars] == [
        (min(*row.chosen.flat, row.gamma), max(*row.chosen.flat, row.gamma)) for row in PLAN.rows
    ]
    assert png(figure).startswith(b"\x89PNG")


@pytest.mark.parametrize("batches", [(1,), (5,), (3, 5, 7), tuple(range(1, 41)), (100, 100_000)])
def test_any_batches_are_drawn(batches):
    found = an.plan(pair(), batches)
    for figure in (figures.best_gamma_over_batch(found), figures.speedup_map(found)):
        assert png(figure).startswith(b"\x89PNG")
    for chart in (charts.best_gamma_over_batch(found), charts.speedup_map(found)):
        assert len(rows(chart.to_dict(), -1)) == len(batches)


def test_the_figure_of_speedups_leaves_out_what_does_not_fit():
    figure = figures.speedup_map(FULL)
    shown = figure.axes[0].images[0].get_array()
    assert shown.shape == (4, 5)
    for row, choice in enumerate(FULL.of("pair")):
        for gamma, speedup in enumerate(choice.speedups):
            assert np.ma.is_masked(shown[row, gamma]) is (speedup is None)
            if speedup is not None:
                assert shown[row, gamma] == speedup.value
    taken = figure.axes[0].lines[0]
    assert list(taken.get_xdata()) == [row.gamma for row in FULL.rows]
    assert figure.axes[0].images[0].norm.vcenter == 1.0


def test_the_chart_has_a_row_per_batch_a_bar_for_what_is_flat_and_words():
    spec = charts.best_gamma_over_batch(PLAN).to_dict()
    assert marks(spec) == ["rule", "line", "point"]
    data = rows(spec, 2)
    assert [(row["batch"], row["gamma"], row["use"]) for row in data] == [
        (row.batch, row.gamma, row.use) for row in PLAN.rows
    ]
    assert [row["flat"] for row in data] == [span_text(row.chosen.flat) for row in PLAN.rows]
    assert all(row["shortest"] <= row["gamma"] <= row["longest"] for row in data)
    used = spec["layer"][2]["encoding"]
    assert used["color"]["scale"]["domain"] == used["shape"]["scale"]["domain"] == ["pair", "off"]
    assert used["color"]["scale"]["range"][1] == PLAIN
    assert PLAN.sentence in spec["description"]
    assert "batch 1: γ = 4 with pair, 1.98×" in spec["description"]


@pytest.mark.parametrize("plan", [PLAN, FULL])
def test_the_map_has_a_cell_for_all_that_is_known_and_the_path_taken(plan):
    spec = charts.speedup_map(plan, "pair").to_dict()
    assert marks(spec) == ["rect", "line", "point"]
    cells = {(row["batch"], row["gamma"]): row["value"] for row in rows(spec, 0)}
    assert cells == {
        (point.batch, point.gamma): point.speedup.value
        for point in plan.table
        if point.strategy == "pair"
    }
    assert [(row["batch"], row["gamma"]) for row in rows(spec, 2)] == [
        (choice.batch, choice.gamma) for choice in plan.of("pair")
    ]
    colour = spec["layer"][0]["encoding"]["color"]["scale"]
    assert colour["domainMid"] == 1.0
    assert colour["domain"][1] >= max(cells.values())
    assert spec["layer"][0]["encoding"]["y"]["scale"]["domain"] == list(plan.batches)


def test_the_map_is_of_the_best_single_strategy_unless_named():
    assert charts.speedup_map(PLAN).to_dict()["title"].startswith(f"Speedup of {PLAN.best_single}")
    assert "lookup" in charts.speedup_map(PLAN, "lookup").to_dict()["title"]
    assert figures.speedup_map(PLAN, "lookup").axes[0].get_title() == "Speedup of lookup"
    with pytest.raises(ValueError, match="strategy must be one of pair, lookup; got 'other'"):
        charts.speedup_map(PLAN, "other")


def test_lengths_without_a_value_have_no_cell():
    known = an.Fit.of_process(AcceptanceByDepth(by_depth=(0.9, 0.8)))
    plan = an.plan(lookup(acceptance=known), (1, 2))
    assert {row["gamma"] for row in rows(charts.speedup_map(plan).to_dict(), 0)} == {0, 1, 2}
    assert figures.speedup_map(plan).axes[0].images[0].get_array().mask[:, 3:].all()


def test_a_name_is_no_formula():
    """A dollar sign in a name is a dollar sign, not the start of mathematics."""
    plan = an.plan(pair(name="a $x_1 draft", acceptance=assumed(0.7)), (1, 2))
    assert png(figures.speedup_map(plan)).startswith(b"\x89PNG")
    assert figures.speedup_map(plan).axes[0].get_title() == "Speedup of a $x_1 draft"
