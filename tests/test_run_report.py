"""Reports, verdicts and figures of measured runs, and `specdec report` as a user calls it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from commands import specdec
from measured_runs import measured_run
from run_files import write_run

from analysis.output import to_csv, to_json
from analysis.runs.charts import measured_against_predicted as chart
from analysis.runs.charts import time_of_a_round
from analysis.runs.figures import measured_against_predicted, save
from analysis.runs.prediction import summarize_run
from analysis.runs.report import NamedRun, run_report
from analysis.runs.verdict import advice, findings, headline, outcome


def summary_of(**options):
    return summarize_run(measured_run(**options), resamples=200)


def named(name="a run", **options):
    return NamedRun(name=name, summary=summary_of(**options), facts=(("target", "tiny"),))


SURE = {"acceptance": (1.0,), "length": 90, "gammas": (2, 4, 8)}
"""Every draft is kept whole: 90 tokens are 30, 18 and 10 rounds, and no prompt differs."""


def test_the_headline_of_a_run_that_pays():
    """γ = 8: 9 tokens for 8/8 + 1.5 + 1/16 steps; the article has 9 for 2."""
    summary = summary_of(**SURE)
    assert outcome(summary) == "Pays"
    assert headline(summary) == (
        "Pays: best measured γ = 8, 3.51× [3.51, 3.51] while decoding; the formula with this run's "
        "own costs says 3.51×, the article's simple one 4.50×: the target pass over 9 tokens costs "
        "1.50 plain steps and a round spends 0.06 plain steps outside of the models."
    )
    assert advice(summary) == "Use γ = 8: no other draft length that was measured comes as far."


def test_the_headline_of_a_run_that_costs():
    summary = summary_of(acceptance=(0.0,), length=20, gammas=(1, 2))
    assert outcome(summary) == "Costs"
    assert headline(summary).startswith("Costs: best measured γ = 1, 0.80× [0.80, 0.80] while")
    assert "decode plainly" in advice(summary)


def test_a_run_that_prompts_cannot_decide():
    summary = summary_of(acceptance=(0.3,), spread=0.1, gammas=(1,), prompts=6, length=10)
    low, high = summary.at(1).speedup.interval
    assert low < 1.0 < high
    assert outcome(summary) == "Undecided"
    assert "measure more prompts" in advice(summary)


FREE = {"overhead": lambda _: 0.0, "verify_cost": lambda _: 1.0}
"""What the article takes a round to cost."""


def test_an_article_that_is_right_needs_no_excuse():
    assert headline(summary_of(**SURE, **FREE)) == (
        "Pays: best measured γ = 8, 4.50× [4.50, 4.50] while decoding; the formula with this run's "
        "own costs says 4.50×, the article's simple one 4.50×."
    )


def test_an_article_that_errs_by_its_one_p_is_not_excused_by_costs():
    """Acceptance falls with depth: one p, taken at γ = 8, is too low for short drafts."""
    for costs in (FREE, {}):
        summary = summary_of(
            acceptance=(0.95, 0.9, 0.3, 0.2, 0.2), prompts=40, gammas=(2, 8), **costs
        )
        assert summary.best == 2
        assert summary.predictions[0].article.error.value < -0.05
        assert headline(summary).endswith(
            "acceptance is not one p at every depth, or short texts waste their last round."
        )


def test_findings_name_both_numbers_and_how_sure_they_are():
    found = findings(summary_of(**SURE))
    assert any(line.startswith("Closure: ") and "within 0.0%" in line for line in found)
    assert any(line.startswith("Prediction: acceptance at γ = 8 alone") for line in found)
    assert "Intervals are 95 %, from drawing the 12 prompts again as wholes" in found[-1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"prompts": 1}, "One prompt: there are no intervals"),
        ({"prompts": 4}, "of so few prompts they say little"),
        ({"length_rule": "confidence"}, "drafts were ended by the draft's confidence"),
        ({"gammas": (3,)}, "γ = 3 is the only one that was measured"),
        ({"overhead": lambda gamma: 0.3 * gamma}, "some cost of a round is not what the formula"),
    ],
)
def test_what_a_reader_must_know_is_said(options, words):
    assert any(words in line for line in findings(summary_of(**options)))


def test_without_predictions_the_headline_does_without_the_article():
    assert "article" not in headline(summary_of(length_rule="unknown"))


def test_requests_without_partners_are_mentioned():
    summary = summarize_run(measured_run()[:-1], resamples=200)
    assert findings(summary)[-1].startswith("4 requests were left out")


def test_the_csv_has_every_speedup_by_run_and_gamma():
    report = run_report((named("first"), named("second", length_rule="unknown")))
    rows = list(csv.DictReader(io.StringIO(to_csv(report))))
    assert [(row["run"], row["gamma"]) for row in rows] == [
        (name, gamma) for name in ("first", "second") for gamma in ("1", "2", "4", "8")
    ]
    for row in rows:
        assert float(row["low"]) <= float(row["speedup"]) <= float(row["high"])
        assert float(row["closure"]) / float(row["speedup"]) - 1.0 == pytest.approx(
            float(row["closure_error"]), abs=1e-9
        )
        parts = float(row["draft"]) + float(row["pass"]) + float(row["outside"])
        assert parts == pytest.approx(1.0)
        known = row["run"] == "first"
        assert all(bool(row[name]) == known for name in ("by_depth", "one_p", "article"))


def test_the_json_is_strict_and_whole():
    document = json.loads(to_json(run_report((named(),))), parse_constant=pytest.fail)
    assert {"by_gamma", "predictions", "costs", "acceptance", "facts"} <= set(document)
    assert document["predictions"][-1]["role"] == "the source"
    assert document["acceptance"][0]["tested"] >= document["acceptance"][0]["accepted"]
    assert document["headline"].startswith("Pays: best measured")


def test_several_runs_are_told_apart():
    report = run_report((named("first"), named("second")))
    assert [line.partition(":")[0] for line in report.headline.split("\n")] == ["first", "second"]
    assert sum(note.startswith("second: Closure") for note in report.notes) == 1


def test_no_run_is_refused():
    for make in (run_report, measured_against_predicted):
        with pytest.raises(ValueError, match="runs must hold one run at least; got none"):
            make(())


@pytest.mark.parametrize(
    ("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".PDF", b"%PDF")]
)
def test_figures_of_every_format(tmp_path, suffix, start):
    path = tmp_path / f"figure{suffix}"
    save(measured_against_predicted((named("$a_b$"), named(length_rule="unknown"))), path)
    assert path.read_bytes().startswith(start)


def test_the_figure_draws_what_was_measured():
    run = named()
    axes = measured_against_predicted((run,)).axes[0]
    (bars,) = axes.containers
    assert list(bars.lines[0].get_ydata()) == [e.speedup.value for e in run.summary.measured]
    lines = {line.get_label(): line for line in axes.lines}
    by_depth = [entry.by_depth.speedup.value for entry in run.summary.predictions]
    assert list(lines["by depth"].get_ydata()) == by_depth


def test_charts_hold_the_numbers():
    summary = summary_of(**SURE)
    specification = chart(summary).to_dict()
    rows = [row for data in specification["datasets"].values() for row in data if "series" in row]
    for entry in summary.measured:
        (found,) = [r for r in rows if r["series"] == "measured" and r["gamma"] == entry.gamma]
        assert found["speedup"] == entry.speedup.value
    assert {row["series"] for row in rows} == {
        "measured",
        "own costs",
        "by depth",
        "one p",
        "article",
    }
    bars = time_of_a_round(summary).to_dict()
    (data,) = bars["datasets"].values()
    for entry in summary.measured:
        parts = [row["plain steps"] for row in data if row["gamma"] == entry.gamma]
        assert sum(parts) == pytest.approx(entry.round_cost.value)
    assert "γ = 8: 2.56 plain steps" in bars["description"]


def test_a_chart_without_predictions_names_none():
    specification = chart(summary_of(length_rule="unknown")).to_dict()
    rows = [row for data in specification["datasets"].values() for row in data if "series" in row]
    assert {row["series"] for row in rows} == {"measured", "own costs"}


# The command line


@pytest.fixture
def folder(tmp_path):
    return write_run(tmp_path / "tiny-run", measured_run(**SURE))


def test_report_on_a_terminal(folder):
    done = specdec("report", str(folder))
    assert done.returncode == 0, done.stderr
    assert "Pays: best measured γ = 8, 3.51×" in done.stderr
    assert "closure" in done.stdout
    assert "1,234,567 parameters" in done.stdout


def test_report_of_two_runs_as_csv_with_a_figure(folder, tmp_path):
    other = write_run(tmp_path / "other", measured_run(gammas=(1, 3)))
    figure = tmp_path / "figure.svg"
    done = specdec("report", str(folder), str(other), "--format", "csv", "--figure", str(figure))
    assert done.returncode == 0, done.stderr
    assert [row["run"] for row in csv.DictReader(io.StringIO(done.stdout))] == [
        *["tiny-run"] * 3,
        *["other"] * 2,
    ]
    assert figure.read_text(encoding="utf-8").count("Decoding speedup over plain") >= 1


def test_the_seed_decides_the_intervals(tmp_path):
    folder = str(write_run(tmp_path / "run", measured_run(spread=0.1)))
    first, again, other = (
        json.loads(specdec("report", folder, "--format", "json", "--seed", seed).stdout)
        for seed in ("1", "1", "2")
    )
    assert first == again
    lows = [[row["low"] for row in document["by_gamma"]] for document in (first, other)]
    assert lows[0] != lows[1]
    assert [r["speedup"] for r in first["by_gamma"]] == [r["speedup"] for r in other["by_gamma"]]


def test_two_runs_of_one_name_are_told_apart(tmp_path):
    folders = [str(write_run(tmp_path / part / "run", measured_run())) for part in "ab"]
    done = specdec("report", *folders, "--format", "csv")
    assert {row["run"] for row in csv.DictReader(io.StringIO(done.stdout))} == {"run", "run (2)"}


def test_a_figure_of_another_kind_is_refused_before_the_work(folder, tmp_path):
    figure = tmp_path / "figure.xyz"
    done = specdec("report", str(folder), "--figure", str(figure))
    assert done.returncode == 2
    assert "must end in one of .png, .svg, .pdf" in done.stderr
    assert done.stdout == ""


def test_a_figure_that_cannot_be_written_gets_a_sentence(folder, tmp_path):
    done = specdec("report", str(folder), "--figure", str(tmp_path / "none" / "figure.png"))
    assert done.returncode == 2
    assert "No such file or directory" in done.stderr


@pytest.mark.parametrize(
    ("name", "content", "code", "words"),
    [
        ("run.json", b"{}", 3, "run.json"),
        ("run.json", None, 3, "no run folder"),
        ("requests.jsonl", b"nonsense\n", 3, "requests.jsonl, line 1"),
        ("requests.jsonl", b"", 2, "requests must include plain decoding"),
    ],
)
def test_a_damaged_run_gets_a_sentence(folder, name, content, code, words):
    path = Path(folder) / name
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    done = specdec("report", str(folder))
    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
