"""Pages that a program writes are what it writes now."""

from __future__ import annotations

import make_results
from console_sessions import ROOT

RESULTS = ROOT / "docs" / "results"
KEPT = (RESULTS / "real-runs.md").read_text(encoding="utf-8")


def test_the_page_of_measured_runs_is_what_the_command_says():
    assert make_results.page() == KEPT


def test_every_kept_run_is_on_it():
    folders = {path.parent for path in make_results.DATA.rglob("run.json")}

    assert len(folders) >= 13
    for folder in folders:
        assert f"`specdec report {folder.relative_to(ROOT)}`" in KEPT


def test_benchmarks_are_those_of_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    _, _, table = (RESULTS / "benchmarks.md").read_text(encoding="utf-8").partition("\n\n")

    assert table.count("\n| ") >= 40
    assert table in readme
