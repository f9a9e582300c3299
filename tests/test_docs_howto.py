"""The examples that the pages include: a drafter, an importer, simulated logs."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from drafter_conformance import check_drafter
from typer.testing import CliRunner

from analysis.cli import app
from real_runs.engines import MetricsFormatError, read, read_log, read_text
from real_runs.engines.registry import ENGINES, FORMATS
from simulator import MarkovChain

DOCS = Path(__file__).parents[1] / "docs"
EXAMPLES = DOCS / "examples"
TARGET = MarkovChain([[0.1, 0.6, 0.3], [0.2, 0.1, 0.7], [0.7, 0.2, 0.1]], context=40)
PROMPTS = [[1, 2, 0, 1], [2]]


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def included(page):
    """Files that a page includes, relative to the page."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(r"```\{literalinclude\} (\S+)", text)


@pytest.fixture(scope="module")
def drafters():
    return example("follower_drafter")


@pytest.fixture
def acme(monkeypatch):
    """The example's format, registered as the page says."""
    module = example("acme_importer")
    monkeypatch.setattr(read, "FORMATS", (module.FORMAT, *FORMATS))
    monkeypatch.setattr(read, "ENGINES", ("acme", *ENGINES))
    return module


def test_pages_include_what_is_there():
    pages = [path.relative_to(DOCS) for path in DOCS.glob("how-to/*.md")]
    files = {(page, name) for page in pages for name in included(page)}
    assert len(files) >= 5
    assert all((DOCS / page.parent / name).is_file() for page, name in files)


def test_the_drafter_keeps_to_the_rules(drafters):
    check_drafter(drafters.Follower, TARGET, PROMPTS, depth=3)


def test_a_drafter_that_proposes_too_much_is_seen(drafters):
    class Longer(drafters.Follower):
        def propose(self, length, keep_going, rng):
            return super().propose(length + 1, keep_going, rng)

    with pytest.raises((AssertionError, ValueError)):
        check_drafter(Longer, TARGET, PROMPTS, depth=3)


def test_a_drafter_that_keeps_the_old_text_is_seen(drafters):
    class Clinging(drafters.Follower):
        def start(self, prompt, sampling):
            kept = getattr(self, "followers", None)
            super().start(prompt, sampling)
            if kept is not None:
                for token, seen in kept.items():
                    self.followers[token].update(seen)

    with pytest.raises(AssertionError, match="forgets"):
        check_drafter(Clinging, TARGET, PROMPTS, depth=3)


def test_the_drafter_stops_where_it_is_told(drafters):
    drafter = drafters.Follower()
    drafter.start(np.array([0, 1, 0, 2, 0, 1]), None)
    rng = np.random.default_rng(0)
    assert drafter.propose(4, lambda _: True, rng).tokens.tolist() == [0, 1, 0, 1]
    asked = []
    drafter.propose(4, lambda confidence: asked.append(confidence) or len(asked) < 2, rng)
    assert asked == [1.0, 2 / 3]
    drafter.settle(np.array([2, 3]))
    assert drafter.propose(4, lambda _: True, rng).tokens.size == 0


def test_the_drafter_on_the_bundled_pair_prints_what_the_page_shows(drafters, capsys):
    drafters.main()

    printed = capsys.readouterr().out
    assert printed == (EXAMPLES / "follower_drafter.out").read_text(encoding="utf-8")
    assert "same text:         True" in printed
    page = (DOCS / "how-to" / "add-a-drafter.md").read_text(encoding="utf-8")
    assert "One of the 28 rounds had no draft (27 were tested" in page


def test_recorded_generation_prints_what_the_page_shows(capsys):
    example("assisted").main()

    printed = capsys.readouterr().out
    assert printed == (EXAMPLES / "assisted.out").read_text(encoding="utf-8")
    assert "18 67 46" in printed


@pytest.mark.usefixtures("acme")
def test_the_importer_reads_its_log_once_registered():
    (reading,) = read_log(EXAMPLES / "acme.log")
    assert reading.engine == "acme"
    assert (reading.counts.rounds, reading.counts.drafted, reading.counts.accepted) == (
        53,
        210,
        119,
    )
    assert reading.counts.length_rule == "unknown"
    assert reading.gamma == 4
    assert [unit.name for unit in reading.units] == ["a1", "b7"]
    assert [(skip.line, skip.reason) for skip in reading.skipped] == [
        (4, "the line is cut short or has other fields")
    ]


@pytest.mark.usefixtures("acme")
def test_the_importer_is_found_by_the_command_line():
    result = CliRunner().invoke(app, ["import", str(EXAMPLES / "acme.log"), "--format", "json"])
    assert result.exit_code == 0, result.output
    assert "acme" in result.stdout


def test_without_being_registered_the_log_is_unknown():
    with pytest.raises(MetricsFormatError):
        read_log(EXAMPLES / "acme.log")


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("k=4 rounds=10 proposed=41 kept=1", r"proposed \(41\) is above rounds × k \(10 × 4\)"),
        ("k=4 rounds=10 proposed=40 kept=41", r"accepted \(41\) is above drafted \(40\)"),
        ("k=4 rounds=10 proposed=-4 kept=1", r"proposed is not a count"),
        (f"k=4 rounds=1{'0' * 40} proposed=4 kept=1", r"rounds has more than 18 digits"),
    ],
)
def test_what_contradicts_itself_is_refused(line, reason):
    with pytest.raises(MetricsFormatError, match=reason):
        read_text(f"x acme.spec req=a {line}\n")


@pytest.mark.usefixtures("acme")
def test_full_drafts_are_fixed():
    (reading,) = read_text("acme.spec req=a k=4 rounds=31 proposed=124 kept=68\n")
    assert reading.counts.length_rule == "fixed"


def test_the_importer_alone_prints_what_the_page_shows(acme, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["acme_importer.py", str(EXAMPLES / "acme.log")])
    acme.main()
    assert "line 4: the line is cut short" in capsys.readouterr().out


def test_the_written_logs_are_those_of_today(tmp_path):
    example("write_logs").main(tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == 5
    for name in names:
        assert (tmp_path / name).read_bytes() == (EXAMPLES / name).read_bytes(), name
