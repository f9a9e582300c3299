"""What is said and drawn of a pass: V(n), knees, parts, parameters, residuals; the figure and the chart."""

import json
import math
from pathlib import Path

import pytest

from analysis.output import to_csv, to_json
from analysis.palette import LINES
from analysis.pass_cost import PassCost
from analysis.pass_fit import charts, figures, fit_pass_cost, pass_cost_report
from analysis.pass_fit.curves import curves_of
from real_runs.step_times import read_step_times
from simulator import StepSample

RUN = Path(__file__).parents[1] / "real_runs" / "data" / "runs" / "tiny"
COST = PassCost(weights_s=0.008, compute_s=4e-5, kv_s=1e-7, fixed_s=5e-4, overlap=2.0)


@pytest.fixture(scope="module")
def fitted():
    return fit_pass_cost(read_step_times(RUN).samples)


def table(report, name):
    (section,) = [each for each in report.sections if each.name == name]
    return [dict(zip(section.columns, row, strict=True)) for row in section.rows]


def test_a_given_cost_has_times_knees_and_parts():
    report = pass_cost_report(COST, batches=(64, 1), widths=(1, 5, 17), context=1024)

    assert [section.name for section in report.sections] == ["times", "knee", "parts"]
    times = table(report, "times")
    assert [(row["batch"], row["tokens"]) for row in times] == [
        (b, n) for b in (1, 64) for n in (1, 5, 17)
    ]
    for row in times:
        assert row["pass_ms"] == pytest.approx(
            1e3 * COST.seconds(row["batch"], row["tokens"], 1024)
        )
        assert row["verify_cost"] == pytest.approx(
            COST.verify_cost(row["tokens"], row["batch"], 1024)
        )
        assert row["basis"] == "predicted"
    one, many = table(report, "knee")
    assert one["knee_tokens"] == pytest.approx(COST.knee(1, 1024))
    assert many["knee_tokens_of_pass"] == pytest.approx(64 * COST.knee(64, 1024))
    assert {one["plain_step_bound_by"], many["plain_step_bound_by"]} == {"reading"}
    for batch, row in ((1, one), (64, many)):
        assert row["verify_cost_at_knee"] == COST.verify_cost(row["knee_tokens"], batch, 1024)
        assert row["nearly_free_tokens"] == math.floor(COST.widest(1.1, batch, 1024))
        assert row["knee"] == f"{row['knee_tokens']:.4g}"
    for row in table(report, "parts"):
        memory = row["weights_ms"] + row["output_ms"] + row["experts_ms"] + row["kv_ms"]
        total = math.hypot(memory, row["compute_ms"] + row["attention_ms"]) + row["fixed_ms"]
        assert row["total_ms"] == pytest.approx(total)
    said = []
    for batch in (1, 64):
        wide, knee = COST.verify_cost(17, batch, 1024), COST.knee(batch, 1024)
        free = math.floor(COST.widest(1.1, batch, 1024))
        said.append(
            f"batch {batch} has V(17) = {wide:.2f}, at most 1.1 up to {free} tokens per request, and "
            f"computing takes as long as reading at {knee:.4g} tokens per request, where V = "
            f"{COST.verify_cost(knee, batch, 1024):.2f}"
        )
    assert report.headline == f"At context 1024: {'; '.join(said)}."


@pytest.mark.parametrize(("k", "at_knee", "free"), [(math.inf, 1.0, 220), (1.0, 1.99, 21)])
def test_only_under_the_roofline_is_a_pass_nearly_free_up_to_the_knee(k, at_knee, free):
    cost = PassCost(weights_s=0.004, compute_s=0.00002, overlap=k)
    report = pass_cost_report(cost, batches=(1,), widths=(1, 5))
    (row,) = table(report, "knee")
    assert row["verify_cost_at_knee"] == pytest.approx(at_knee, abs=0.001)
    assert row["nearly_free_tokens"] == free
    assert f"at most 1.1 up to {free} tokens per request" in report.headline
    assert f"at 200 tokens per request, where V = {at_knee:.2f}." in report.headline


def test_a_batch_without_spare_arithmetic_is_said():
    report = pass_cost_report(COST, batches=(64, 512), widths=(1, 2), context=0)
    assert "batch 512 has V(2) = " in report.headline
    assert (
        ", above 1.1 from 2 tokens on, and computing takes longer than reading" in report.headline
    )
    (section,) = [each for each in report.sections if each.name == "knee"]
    assert "plain_step_bound_by" not in section.too_wide


def test_plain_decoding_may_be_bound_by_computing():
    report = pass_cost_report(COST, batches=(512,), widths=(1, 2), context=0)
    (knee,) = table(report, "knee")
    assert knee["knee_tokens"] < 1.0
    assert knee["plain_step_bound_by"] == "computing"
    assert knee["verify_cost_at_knee"] is None
    assert knee["nearly_free_tokens"] == 1


def test_a_knee_that_is_never_reached_is_empty_in_json():
    report = pass_cost_report(PassCost(weights_s=0.01, compute_s=0.0))
    assert "never" in report.headline
    document = json.loads(to_json(report))
    assert document["knee"][0]["knee_tokens"] is None
    assert to_csv(report).startswith("batch,tokens,pass_ms,verify_cost,basis")


def test_a_fit_is_reported_over_what_was_measured(fitted):
    report = fitted.report

    assert {row["tokens"] for row in table(report, "times")} == {1, 2, 3, 5, 7, 9}
    assert {row["basis"] for row in table(report, "times")} == {"measured range"}
    parameters = {row["parameter"]: row for row in table(report, "estimates")}
    assert parameters["weights_s"]["value"] == fitted.cost.weights_s
    assert parameters["several_s"]["low"] <= fitted.cost.several_s
    assert parameters["fixed_s"]["basis"] == "assumed"
    residuals = table(report, "residuals")
    assert sum(row["times"] for row in residuals) == fitted.samples
    for row in residuals:
        assert row["error"] == pytest.approx(row["fitted_ms"] / row["measured_ms"] - 1.0)
        assert abs(row["worst_error"]) >= abs(row["error"])
        assert row["off_at_worst"] == f"{row['worst_error']:+.1%}"
    assert len(table(report, "cells")) == len(fitted.cells)
    assert fitted.sentence in report.headline
    assert set(fitted.notes) <= set(report.notes)


def test_beyond_the_measured_ranges_the_report_says_so(fitted):
    report = pass_cost_report(
        fitted, batches=(1, 8), widths=(1, 9, 17), context=280, notes=fitted.notes
    )
    basis = {(row["batch"], row["tokens"]): row["basis"] for row in table(report, "times")}

    assert basis[1, 9] == "measured range"
    assert basis[1, 17] == basis[8, 1] == "extrapolated"
    assert "Measured: batch 1, tokens 1 to 9" in report.notes[-1]
    assert len(set(report.notes)) == len(report.notes)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"batches": ()}, "batches must be numbers of at least 1"),
        ({"batches": (0,)}, "batches must be numbers of at least 1"),
        ({"widths": (0.5, 2)}, "widths must be numbers of at least 1"),
        ({"widths": (math.inf,)}, "widths must be numbers of at least 1"),
        ({"widths": (math.nan,)}, "widths must be numbers of at least 1"),
        ({"context": -1}, "context must be a finite number of at least 0"),
    ],
)
def test_bad_ranges_are_refused(options, expected):
    for draw in (
        pass_cost_report,
        figures.verify_cost_over_tokens,
        charts.verify_cost_over_tokens,
    ):
        with pytest.raises(ValueError, match=expected):
            draw(COST, **options)


def test_the_figure_has_a_line_per_batch_its_knee_and_the_measured_points(fitted):
    (axes,) = figures.verify_cost_over_tokens(
        COST, batches=(1, 32, 64), widths=range(1, 18), context=1024
    ).axes
    lines = {line.get_label(): line for line in axes.lines if line.get_label()[0] != "_"}
    assert lines.pop("the article: V = 1").get_ydata() == [1.0, 1.0]
    assert len(lines) == 3
    for batch, label in zip((32, 64), list(lines)[1:], strict=True):
        knee = COST.knee(batch, 1024)
        at_knee = COST.verify_cost(knee, batch, 1024)
        assert label == f"batch {batch}, knee at {knee:.3g} (V = {at_knee:.2f})"
    knees = [line for line in axes.lines if line.get_markersize() == 12]
    assert [round(float(knee.get_xdata()[0]), 6) for knee in knees] == [
        round(COST.knee(batch, 1024), 6) for batch in (32, 64)
    ]
    for batch, line in zip((1, 32, 64), lines.values(), strict=True):
        assert line.get_ydata()[-1] == pytest.approx(COST.verify_cost(17, batch, 1024))

    (axes,) = figures.verify_cost_over_tokens(fitted, widths=range(1, 14)).axes
    labels = axes.get_legend_handles_labels()[1]
    assert labels == ["the article: V = 1", "batch 1", "measured"]
    (points,) = [
        line for line in axes.lines if line.get_marker() == "o" and len(line.get_xdata()) > 1
    ]
    assert list(points.get_xdata()) == [1, 2, 3, 5, 7, 9]
    solid, dashed = (
        [
            line
            for line in axes.lines
            if line.get_linestyle() == style and line.get_color() == LINES[0]
        ]
        for style in ("-", "--")
    )
    assert max(solid[0].get_xdata()) == 9.0
    assert max(dashed[0].get_xdata()) == 13.0


def test_the_chart_says_the_same(fitted):
    spec = charts.verify_cost_over_tokens(
        COST, batches=(1, 64), widths=(1, 17), context=1024
    ).to_dict()
    marks = [layer["mark"]["type"] for layer in spec["layer"]]
    assert marks == ["rule", "line", "line", "point"]
    rows = [spec["datasets"][layer["data"]["name"]] for layer in spec["layer"]]
    assert rows[2][-1]["value"] == pytest.approx(COST.verify_cost(17, 64, 1024))
    assert rows[3][0]["tokens"] == pytest.approx(COST.knee(64, 1024))
    assert "batch 64: V = " in spec["description"]
    assert (
        f" tokens (V = {COST.verify_cost(COST.knee(64, 1024), 64, 1024):.2f})"
        in spec["description"]
    )

    spec = charts.verify_cost_over_tokens(fitted, widths=(1, 13)).to_dict()
    dashes = [layer["mark"].get("strokeDash") for layer in spec["layer"][1:3]]
    assert dashes == [[1, 0], [6, 4]]
    top = spec["layer"][1]["encoding"]["y"]["scale"]["domain"][1]
    assert all(row["value"] <= top for rows in spec["datasets"].values() for row in rows)
    assert "in part extrapolated" in spec["description"]
    assert "9 tokens measured" in spec["description"]


def test_points_of_other_contexts_lie_where_they_would_at_the_one_that_is_drawn():
    """V falls with the context here; exact times of two contexts lie on the curve of either."""
    cost = PassCost(weights_s=0.004, compute_s=1e-4, kv_s=2e-6)
    samples = [
        StepSample(batch=b, tokens=n, context=s, seconds=float(cost.seconds(b, n, s)))
        for b in (1, 8, 64) for n in (1, 4, 8, 32) for s in (0, 5000)
    ]  # fmt: skip
    found = fit_pass_cost(samples)
    for context in (0, 5000):
        for curve in curves_of(found, batches=None, widths=None, context=context):
            assert len(curve.measured) == 4
            for tokens, value in curve.measured:
                exact = float(cost.verify_cost(tokens, curve.batch, context))
                assert value == pytest.approx(exact, rel=1e-6)
            assert curve.context == context


def test_a_batch_that_was_not_measured_is_dashed_throughout(fitted):
    spec = charts.verify_cost_over_tokens(fitted, batches=(16,)).to_dict()
    assert [layer["mark"].get("strokeDash") for layer in spec["layer"]] == [[2, 3], [6, 4]]
    (axes,) = figures.verify_cost_over_tokens(fitted, batches=(16,)).axes
    assert axes.get_legend_handles_labels()[1] == ["the article: V = 1", "batch 16, extrapolated"]


def test_of_many_measured_batches_five_are_drawn():
    samples = [
        StepSample(batch=b, tokens=n, context=0, seconds=float(COST.seconds(b, n)))
        for b in range(1, 30) for n in (1, 4)
    ]  # fmt: skip
    found = fit_pass_cost(samples)
    (axes,) = figures.verify_cost_over_tokens(found).axes
    markers = [line for line in axes.lines if line.get_markersize() == 5 and len(line.get_xdata())]
    assert len(markers) == 5
    assert len({row["batch"] for row in table(found.report, "times")}) == 12
    with pytest.raises(ValueError, match="at most 5 in one figure; got 6"):
        figures.verify_cost_over_tokens(found, batches=range(1, 7))
