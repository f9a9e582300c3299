"""The page of rates names every word of the table once, invents none, and says what `convert` says."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import analysis as an
from analysis.conversion.names import field_names
from analysis.conversion.quantities import ASSUMPTIONS, QUANTITIES
from real_runs.engines import read_log

FOLDER = Path(__file__).parents[1] / "docs" / "explanation"
PAGE = (FOLDER / "rates.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", PAGE, flags=re.DOTALL | re.MULTILINE))


def rows_of(section):
    """The meanings in a section's table: engine, versions, words, kind, unit."""
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == 7 and cells[0] != "engine or paper":
            engine, versions, words, kind, unit, _, _ = cells
            yield engine, versions, tuple(re.findall(r"`([^`]+)`", words)), kind, unit


def meanings(page):
    found = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", page, flags=re.DOTALL | re.MULTILINE))
    return {(name, *row) for name, section in found.items() for row in rows_of(section)}


def in_the_table():
    return {
        (name.quantity, name.engine, name.versions or "all", name.names, name.kind, name.unit)
        for name in field_names()
    }


def blocks():
    spec = importlib.util.spec_from_file_location("rates_blocks", FOLDER / "rates_blocks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_quantity_has_its_section():
    assert set(SECTIONS) == set(QUANTITIES)


def test_no_word_is_missing_and_none_is_invented():
    assert len(field_names()) > 60
    assert meanings(PAGE) == in_the_table()


@pytest.mark.parametrize(
    ("there", "instead"),
    [
        ("| vllm | from 0.9 | `Mean acceptance length`", "| vllm | from 0.8 | `Mean acceptance length`"),
        ("`accept len` `spec_accept_length`", "`spec_accept_length`"),
        ("| gpt-fast | all | `Mean Accepted` | prints |", "| gpt-fast | all | `Mean` | prints |"),
    ],
)  # fmt: skip
def test_a_changed_word_would_be_noticed(there, instead):
    assert there in PAGE
    assert meanings(PAGE.replace(there, instead)) != in_the_table()


def test_the_generated_parts_are_those_of_today():
    assert blocks().written(PAGE) == PAGE, "python docs/explanation/rates_blocks.py"


def test_the_counts_are_those_of_the_log():
    (reading,) = read_log(FOLDER.parent / "examples" / "prose.log")
    ours = blocks()
    assert reading.counts.ended == ours.ENDED
    assert reading.counts.accepted == ours.KEPT
    assert an.convert("p", ours.VALUES["p"], gamma=6).given.value == 489 / 736


def test_the_conditions_are_explained():
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|$", PAGE, flags=re.MULTILINE))
    assert set(rows) == set(ASSUMPTIONS)
    assert rows["chain"] == ASSUMPTIONS["chain"]


def test_acceptance_rate_has_six_meanings():
    meant = {name.quantity for name in field_names() if "acceptance rate" in name.names}
    assert len(meant) == 6
    assert 'One word, "acceptance rate", names six different numbers' in PAGE


def test_numbers_in_the_text():
    assert f"{1 + 32_594 / 13_429:.2f}, {34_244 / 13_429:.2f}" == "3.43, 2.55"
    assert f"{(1 - 0.3111**7) / (1 - 0.3111):.2f}" == "1.45"
    assert f"{2.17 / 4:.2f}, {1.17 / 3:.2f}" == "0.54, 0.39"
    for number in ("3.43", "2.55", "1.45", "0.54 and 0.39"):
        assert number in PAGE
