"""The figure of the first position draws the exact laws and the points that it is given."""

from __future__ import annotations

import math

import pytest

import analysis as an
import simulator as sim
from analysis.figures import png
from analysis.process_figures import first_acceptance_over_gamma

CHAIN = sim.EasyHardChain(p_easy=0.95, p_hard=0.4, stay_easy=0.9, stay_hard=0.8)
ONE_P = sim.ConstantAcceptance(p=0.7)
PROCESSES = {"one p": ONE_P, "easy/hard chain": CHAIN}


def test_lines_are_the_laws_and_points_what_was_given():
    gammas = (1, 4, 8)
    given = {"easy/hard chain": {4: 0.625, 8: 0.5}}
    figure = first_acceptance_over_gamma(PROCESSES, gammas, simulated=given)
    flat, no_points, falling, points = figure.axes[0].lines
    assert list(flat.get_ydata()) == pytest.approx([0.7] * 3)
    assert list(falling.get_ydata()) == pytest.approx(
        [an.process_law(CHAIN, gamma).conditional[0] for gamma in gammas]
    )
    assert list(falling.get_xdata()) == list(gammas)
    assert falling.get_ydata()[0] > falling.get_ydata()[2] + 0.05
    assert math.isnan(points.get_ydata()[0])
    assert list(points.get_ydata()[1:]) == [0.625, 0.5]
    assert all(math.isnan(y) for y in no_points.get_ydata())
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == list(PROCESSES)
    assert png(figure).startswith(b"\x89PNG")


def test_without_points_nothing_says_simulated():
    assert first_acceptance_over_gamma(PROCESSES, (2, 1)).axes[0].get_title() == ""


@pytest.mark.parametrize(
    ("processes", "gammas", "simulated", "problem"),
    [
        ({}, (1,), None, "at least"),
        (PROCESSES, (), None, "at least"),
        (PROCESSES, (0, 1), None, "gammas must be"),
        (PROCESSES, (1,), {"other": {1: 0.5}}, "named as processes are; got 'other'"),
        ({"trace": sim.TraceReplay(texts=(((1, 1), (1, 0)),))}, (1,), None, "'trace' is a Trace"),
    ],
)
def test_what_it_does_not_draw(processes, gammas, simulated, problem):
    with pytest.raises(ValueError, match=problem):
        first_acceptance_over_gamma(processes, gammas, simulated=simulated)
