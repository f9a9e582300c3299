"""Figures of reproduced tables draw the rows, fitted and marked ones told apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.figures import png
from analysis.published_load.apertus import chosen_fit
from analysis.published_load.eagle_chain import HEADS, fit_chain
from analysis.published_load.errors import Compared, errors_of
from analysis.published_load.figures import (
    BAND,
    predicted_against_measured,
    speedup_over_gamma_by_load,
)

ROW = Compared(method="m", target="t", gamma=2, batch=8, measured=1.2, predicted=1.1)


def points(axes, marker):
    """(x, y, hollow) of the points that carry this marker."""
    return [
        (float(x), float(y), line.get_markerfacecolor() == "none")
        for line in axes.lines
        if line.get_marker() == marker
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    ]


@pytest.fixture(scope="module")
def apertus():
    return chosen_fit().rows()


def test_panels_by_load_show_every_row(apertus):
    figure = speedup_over_gamma_by_load(apertus)
    panels = {axes.get_title(): axes for axes in figure.axes}
    assert list(panels) == [
        "1 at once, fitted", "8 at once, fitted", "32 at once", "64 at once", "128 at once",
        "256 at once",
    ]  # fmt: skip
    for (title, axes), load in zip(panels.items(), (1, 8, 32, 64, 128, 256), strict=True):
        mine = [row for row in apertus if row.batch == load]
        assert sorted(points(axes, "D")) == sorted((r.gamma, r.measured, r.marked) for r in mine), (
            title
        )
        predicted = next(line for line in axes.lines if line.get_label() == "predicted")
        wanted = {row.gamma: row.predicted for row in mine}
        assert dict(zip(predicted.get_xdata(), predicted.get_ydata(), strict=True)) == wanted
    assert png(figure).startswith(b"\x89PNG")


def test_unused_panels_are_empty_and_order_does_not_matter():
    rows = [replace(ROW, batch=batch, gamma=gamma) for batch in (64, 4, 16, 2) for gamma in (3, 1)]
    figure = speedup_over_gamma_by_load(rows)
    assert [axes.get_title() for axes in figure.axes if axes.axison] == [
        "2 at once", "4 at once", "16 at once", "64 at once",
    ]  # fmt: skip
    assert len(figure.axes) == 6
    line = next(line for line in figure.axes[0].lines if line.get_label() == "predicted")
    assert list(line.get_xdata()) == [1, 3]


def test_the_diagonal_has_a_band_of_ten_percent_and_the_errors(apertus):
    chain = fit_chain()
    tables = {"Apertus": apertus, **{head: chain.rows_of(head) for head in HEADS}}
    axes = predicted_against_measured(tables).axes[0]
    for (name, rows), marker in zip(tables.items(), "os^", strict=True):
        shown = [row for row in rows if not row.marked]
        drawn = [(r.measured, r.predicted, r.fitted) for r in shown]
        assert sorted(points(axes, marker)) == sorted(drawn), name
        error = errors_of(row for row in shown if not row.fitted)
        said = f"{name}: {error.n} rows, rms error {error.rms:.1%}"
        assert said in [text.get_text() for text in axes.get_legend().get_texts()]
    band = axes.collections[0].get_paths()[0].vertices
    edges = {round(y / x, 9) for x, y in band if x}
    assert edges == {1.0 - BAND, 1.0 + BAND}
    assert axes.get_xlim() == axes.get_ylim()
    values = np.asarray([(x, y) for x, y, _ in points(axes, "o")])
    assert axes.get_xlim()[0] < values.min() <= values.max() < axes.get_xlim()[1]


def test_rows_that_cannot_be_drawn_are_refused():
    with pytest.raises(ValueError, match="at least one row"):
        speedup_over_gamma_by_load([])
    with pytest.raises(ValueError, match="two at load 8 and γ = 2"):
        speedup_over_gamma_by_load([ROW, ROW])
    with pytest.raises(ValueError, match="tables must be 1 to 5; got 0"):
        predicted_against_measured({})
    with pytest.raises(ValueError, match="at least one row that is not marked"):
        predicted_against_measured({"all fitted": [replace(ROW, fitted=True)]})
