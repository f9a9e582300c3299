"""`specdec published`: all rows accounted for, the page of the documentation, the figure."""

from __future__ import annotations

from collections import Counter
from csv import DictReader
from json import loads
from pathlib import Path

import pytest
from commands import specdec

from analysis.output import Report
from analysis.published.families import published_families
from analysis.published.figures import QUANTITIES, predicted_against_printed
from analysis.published.page import FIGURE, published_page, repeated_rows
from analysis.published.report import published_report
from analysis.published.rows import PublishedRow, published_rows
from analysis.published.unpredicted import why_not

RESULTS = Path(__file__).parents[1] / "docs" / "results"


def test_all_865_rows_are_accounted_for():
    counts = dict(published_report().parameters)
    assert counts == {
        "rows": 865, "predicted": 547, "checked": 57, "fitted": 19, "input": 88, "not_predicted": 154,
    }  # fmt: skip
    assert counts["rows"] == sum(counts.values()) - counts["rows"]
    sections = {section.name: section for section in published_report().sections}
    assert sum(row[1] for row in sections["not_predicted"].rows) == counts["not_predicted"]
    assert all(row[2] for row in sections["not_predicted"].rows)


def test_rows_as_csv_hold_every_row():
    result = specdec("published", "--rows", "--format", "csv")
    assert result.returncode == 0, result.stderr
    lines = list(DictReader(result.stdout.splitlines()))
    assert {int(line["row"]) for line in lines} == set(range(1, 866))
    roles = Counter(line["role"] for line in lines)
    assert roles["not predicted"] == 154
    for line in lines:
        assert line["from_what"] or line["role"] == "input"
        if line["role"] == "predicted":
            error = float(line["predicted"]) / float(line["printed"]) - 1
            assert float(line["error"]) == pytest.approx(error, abs=1e-12)


def test_the_summary_and_its_last_sentence():
    result = specdec("published")
    assert result.returncode == 0, result.stderr
    for family in published_families():
        assert family.name in result.stdout
        assert f"note: {family.name}:" in result.stderr
    assert "6 of 6 stated criteria hold." in result.stderr
    assert "Of 865 published rows 547 are predicted" in result.stderr


def test_one_family_with_its_rows():
    result = specdec("published", "--family", "load: MagicDec", "--format", "json")
    assert result.returncode == 0, result.stderr
    document = loads(result.stdout)
    assert [line["family"] for line in document["families"]] == ["load: MagicDec"]
    assert len(document["rows"]) == 8
    assert "not_predicted" not in document


def test_wrong_words_get_a_sentence():
    result = specdec("published", "--family", "nothing")
    assert result.returncode == 2
    assert "family must be one of: formula, measured; " in result.stderr
    result = specdec("published", "--criteria", "--rows")
    assert result.returncode == 2
    assert "stands alone" in result.stderr


def test_the_criteria_have_their_own_report(monkeypatch):
    said = Report(command="published", parameters=(), sections=(), headline="the criteria")
    monkeypatch.setattr("analysis.published_load.report.published_load_report", lambda: said)
    result = specdec("published", "--criteria")  # what it says: tests/test_published_load.py
    assert result.returncode == 0, result.stderr
    assert "the criteria" in result.stderr


def test_the_page_is_what_the_code_gives_now(tmp_path):
    page = (RESULTS / "published.md").read_text(encoding="utf-8")
    assert page == published_page(), "run docs/make_published.py"
    assert (RESULTS / FIGURE).stat().st_size < 200_000
    for family in published_families():
        assert f"### {family.name[0].upper()}{family.name[1:]}\n" in page
    file = tmp_path / "page.md"
    assert specdec("published", "--write", str(file)).returncode == 0
    assert file.read_text(encoding="utf-8") == page


def test_a_page_that_cannot_be_written_is_one_sentence(tmp_path):
    result = specdec("published", "--write", str(tmp_path / "missing" / "page.md"))
    assert result.returncode != 0
    assert "Traceback" not in result.stderr


def test_rows_of_two_tables_are_counted():
    families = {family.name: family for family in published_families()}
    tasks = families["cost of the other tasks"]
    seen = [
        (row.method, row.task, row.temperature, row.tokens_per_round, row.speedup_measured)
        for source in ("EAGLE-2 2024", "EAGLE-3 2025")
        for row in published_rows(source, "Table 1")
        if row.target == "Vicuna 13B" and not row.task.startswith("MEAN")
    ]
    between_these = len(seen) - len(set(seen))
    assert 0 < between_these <= repeated_rows(tasks) <= between_these + 18
    # SpecInfer's Table 3 repeats the three rows of five children of its Table 2.
    assert repeated_rows(families["width from other text"]) == 3
    assert repeated_rows(families["other machine"]) == 0


def test_the_figure_has_a_panel_per_family_and_every_value():
    families = [family for family in published_families() if family.kind == "prediction"]
    figure = predicted_against_printed(families)
    drawn = {
        family.name: [each for each in family.predictions if each.quantity in QUANTITIES]
        for family in families
    }
    drawn = {name: values for name, values in drawn.items() if values}
    panels = {axes.get_title(): axes for axes in figure.axes if axes.get_title()}
    assert set(panels) == set(drawn)
    for name, values in drawn.items():
        points = [
            (x, y)
            for line in panels[name].get_lines()[1:]
            for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
        ]
        assert sorted(points) == sorted((each.printed, each.predicted) for each in values)
        assert (panels[name].get_xscale(), panels[name].get_yscale()) == ("log", "log")
    with pytest.raises(ValueError, match="got none"):
        predicted_against_printed([])


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ({"p": 0.5}, "only an acceptance"),
        ({"tokens_per_round": 2.0}, "only tokens per round"),
        ({}, "no number of a round"),
        ({"speedup_measured": 2.0, "cost_ratio": 0.1}, "a cost ratio: no acceptance"),
        ({"p": 0.5, "speedup_measured": 2.0}, "not printed together"),
    ],
)
def test_reasons_follow_from_what_is_printed(printed, reason):
    assert reason in why_not(PublishedRow(source="", url="", table="", **printed))
