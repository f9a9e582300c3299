"""The page of findings has every code of the doctor, under its kind, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analysis.diagnosis.finding import CODES, KINDS

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "explanation" / "findings.md").read_text(encoding="utf-8")
HEADINGS = {
    "impossible": "Impossible numbers",
    "problem": "Problems",
    "change": "Changes between files",
    "meaning": "What a number means",
    "note": "Notes",
    "verdict": "Verdicts",
}


def listed(page):
    """Kind and code of every row."""
    kinds = {heading: kind for kind, heading in HEADINGS.items()}
    sections = re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", page, flags=re.DOTALL | re.MULTILINE)
    rows = [
        (kinds[head], row)
        for head, text in sections
        for row in re.findall(r"^\| (.+?) \|", text, re.MULTILINE)
    ]
    return [(name.replace(" ", "_"), kind) for kind, name in rows if name != "finding"]


def test_the_kinds_are_the_programs():
    assert set(HEADINGS) == set(KINDS.values())


def test_every_finding_is_there_once_and_under_its_kind():
    assert len(CODES) > 30
    assert sorted(listed(PAGE)) == sorted(KINDS.items())


@pytest.mark.parametrize("there", ["| memory spill |", "| small sample |", "## Problems\n"])
def test_a_missing_one_would_be_noticed(there):
    assert there in PAGE
    assert sorted(listed(PAGE.replace(there, "| x |" if "|" in there else ""))) != sorted(
        KINDS.items()
    )


def test_findings_named_elsewhere_exist():
    page = (DOCS / "how-to" / "why-is-it-slow.md").read_text(encoding="utf-8")
    table = page[page.index("## What it usually is") :]
    named = re.findall(
        r"\*([a-z ]+)\*", "".join(line for line in table.splitlines() if line.startswith("|"))
    )
    assert len(named) >= 6
    assert {name.replace(" ", "_") for name in named} <= set(CODES)
