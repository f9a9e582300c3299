"""The report, the figure and the chart of an explanation say what it says."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise

import pytest
from measured_runs import measured_run
from sick_runs import run

import analysis as an
from analysis.deployment.round_parts import RoundParts
from analysis.explaining.bars import COLOURS, bars, described
from analysis.explaining.charts import waterfall_chart
from analysis.explaining.figures import waterfall_figure
from analysis.explaining.report import WATERFALL, attack_rows, explain_report, waterfall_rows
from analysis.figures import png
from analysis.output import to_json
from simulator import Estimate, Observation

PREDICTED = an.explain(
    RoundParts(
        gamma=4, batch=8, plain_s=0.02, drafting_s=0.012, wider_s=0.01, overhead_s=0.03, hidden_s=0.006,
        tokens_per_round=Estimate(value=2.7731, interval=(2.6, 2.9)),
    )
)  # fmt: skip
LUMPED = an.explain_measured(run(gamma=4, price=0.1))
SPLIT = an.explain_measured(replace(run(gamma=4, price=0.1), name="split"), verify_cost=1.1)
MEASURED = an.explain_run(an.summarize_run(measured_run(spread=0.05), resamples=100), 4)
EXPLANATIONS = {"predicted": PREDICTED, "lumped": LUMPED, "split": SPLIT, "measured": MEASURED}
each = pytest.mark.parametrize("explanation", EXPLANATIONS.values(), ids=EXPLANATIONS)


@each
def test_the_waterfall_table_goes_from_the_tokens_to_the_net(explanation):
    rows = waterfall_rows(explanation)
    column = WATERFALL.index
    assert rows[0][:2] == ("tokens per round", explanation.tokens.number)
    assert rows[-1][0] == "net"
    assert rows[-1][column("speedup")] == explanation.speedup.value
    assert rows[-1][column("steps_left")] == explanation.saved
    taken = [row[1] for row in rows[1:-1] if row[1] is not None]
    assert math.fsum(taken) == pytest.approx(explanation.cost.number, rel=1e-12)
    assert all(len(row) == len(WATERFALL) for row in rows)


@each
def test_one_lever_is_marked_as_the_first(explanation):
    rows = attack_rows(explanation)
    assert [row[-1] for row in rows].count(True) == 1
    gains = [row[1] for row in rows if row[1] is not None]
    assert gains == sorted(gains, reverse=True)


@each
def test_the_report_has_its_sections_and_strict_json(explanation):
    report = explain_report(explanation, (("gamma", 4),))
    names = [section.name for section in report.sections]
    assert names[:3] == ["waterfall", "attack", "break_even"]
    assert ("findings" in names) == bool(explanation.findings)
    data = json.loads(to_json(report), parse_constant=pytest.fail)
    assert data["command"] == "explain"
    assert data["parameters"] == {"gamma": 4}
    assert f"{explanation.speedup.value:.2f}×" in report.headline
    assert ("First find out whether " if explanation.attack.kind == "together" else "Attack ") in (
        report.headline
    )


def test_the_headline_says_what_eats_the_gain_and_what_to_do():
    assert explain_report(PREDICTED).headline == (
        "0.84× [0.79, 0.88]: a round gives 2.77 tokens and takes 3.30 plain steps. It could save 1.77 "
        "steps, but fixed overhead takes 1.50, drafting 0.60 and wider verification 0.50; 0.30 of it is "
        "hidden by overlap. Attack fixed overhead first. Without it the speedup would be 1.54×, not 0.84×. "
        "Without wider verification alone it would be 0.99×. Profile one round: launches without graphs, "
        "waiting, the host."
    )


def test_members_of_a_lump_stand_below_it_with_their_bounds():
    rows = waterfall_rows(LUMPED)
    names = [row[0] for row in rows]
    at = names.index("drafting + verification + overhead")
    assert names[at + 1 : at + 4] == [
        "of which drafting",
        "of which wider verification",
        "of which fixed overhead",
    ]
    assert [row[1] for row in rows[at + 1 : at + 4]] == [None] * 3
    assert rows[at + 1][2:4] == pytest.approx((0.0, 0.4))


@each
def test_bars_hang_together_and_end_at_what_is_saved(explanation):
    drawn = bars(explanation)
    assert (drawn[0].start, drawn[0].end) == (0.0, explanation.tokens.number)
    for before, after in pairwise(drawn[:-1]):
        assert after.start == before.end
    assert drawn[-1].end == drawn[-2].end == explanation.saved
    assert drawn[-1].kind == ("saved" if explanation.saved >= 0.0 else "lost")
    for bar in drawn:
        assert bar.low <= bar.end + 1e-12
        assert bar.end <= bar.high + 1e-12
        assert " ".join(bar.shown) == bar.name
        assert all(len(line) <= 26 for line in bar.shown)
        assert len(bar.shown) <= 2


@each
def test_the_chart_draws_the_bars(explanation):
    spec = waterfall_chart(explanation).to_dict()
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["rule", "bar", "rule"]
    data = spec["datasets"][spec["layer"][1]["data"]["name"]]
    drawn = bars(explanation)
    assert [(row["start"], row["end"], row["part"], row["text"]) for row in data] == [
        (bar.start, bar.end, bar.name, bar.text) for bar in drawn
    ]
    axes = [layer["encoding"]["y"]["axis"] for layer in spec["layer"][1:]]
    assert [axis["orient"] for axis in axes] == ["left", "right"]
    assert not any(axis["labelOverlap"] for axis in axes)  # every bar keeps its name and its number
    assert not any("labelColor" in axis for axis in axes)  # themes choose one that can be read
    assert spec["description"] == described(explanation)
    assert f"{explanation.net.number:.2f}×" in spec["description"]


@each
def test_every_kind_of_bar_has_a_colour_of_its_own(explanation):
    kinds = [bar.kind for bar in bars(explanation)[:-1]]
    assert len({COLOURS[kind] for kind in kinds}) == len(kinds)


@each
def test_colours_stand_out_from_light_and_dark(explanation):
    """A ratio of 2 to 1 against white and against a dark page; names are labels of their own."""
    for bar in bars(explanation):
        light, dark = luminance("#FFFFFF"), luminance("#0E1117")
        own = luminance(COLOURS[bar.kind])
        assert (light + 0.05) / (own + 0.05) >= 2.0
        assert (own + 0.05) / (dark + 0.05) >= 2.0
    assert luminance("#FFFFFF") == pytest.approx(1.0)


def luminance(colour):
    """Relative luminance as WCAG 2 defines it."""
    channels = [int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@each
def test_the_figure_draws_the_bars(explanation):
    figure = waterfall_figure(explanation)
    axes = figure.axes[0]
    drawn = bars(explanation)
    for patch, bar in zip(axes.patches, drawn, strict=True):
        ends = sorted((patch.get_x(), patch.get_x() + patch.get_width()))
        assert ends == pytest.approx(sorted((bar.start, bar.end)))
    assert [text.get_text() for text in axes.texts] == [bar.text for bar in drawn]
    labels = [label.get_text().replace("\n", " ") for label in axes.get_yticklabels()]
    assert labels == [bar.name for bar in drawn]
    assert png(figure).startswith(b"\x89PNG")


@pytest.mark.parametrize("draw", [waterfall_figure, waterfall_chart])
def test_a_refused_explanation_cannot_be_drawn(draw):
    with pytest.raises(ValueError, match="explanation must have parts to draw; got none"):
        draw(an.explain_measured(Observation()))


def test_a_contradiction_is_drawn_and_said():
    explanation = an.explain_measured(run(gamma=4, price=0.1), verify_cost=2.0, cost_ratio=0.1)
    assert explanation.contradiction in explain_report(explanation).headline
    assert [section.name for section in explain_report(explanation).sections][:1] == ["waterfall"]
    assert "fixed overhead +1.00" in described(explanation)
