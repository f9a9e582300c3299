"""Tables and remarks as a terminal shows them."""

from __future__ import annotations

import io
import os
import re
import sys

from analysis.output import Report, Section
from analysis.terminal import tables, wrapped

LONG = "p is 0.7.\n  short drafts: 3.07 tokens drafted per round, at most 16 allowed."


class Terminal(io.StringIO):
    def isatty(self):
        return True


def narrow(monkeypatch):
    """A terminal of 44 columns; not a fixture, for pytest changes stderr between the two."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_: os.terminal_size((44, 20)))


def report(*sections):
    return Report(command="compare", parameters=(), sections=sections)


def test_rows_without_a_value_and_tables_without_a_row_are_left_out():
    shown = tables(
        report(
            Section(name="decision", columns=("what", "value"), rows=(("verdict", None), ("n", 3))),
            Section(name="depths", columns=("depth", "before"), rows=()),
            Section(name="rest", columns=("what", "value"), rows=(("more", float("nan")),)),
        )
    )

    assert "verdict" not in shown
    assert "n" in shown
    assert "depth" not in shown
    assert "more" not in shown
    assert not shown.startswith("\n")


def test_a_table_of_one_column_keeps_its_rows():
    assert "alone" in tables(report(Section(name="a", columns=("x",), rows=(("alone",),))))


def test_remarks_fold_at_words_with_further_lines_set_in(monkeypatch):
    narrow(monkeypatch)

    lines = wrapped(LONG).split("\n")

    assert lines == [
        "p is 0.7.",
        "  short drafts: 3.07 tokens drafted per",
        "    round, at most 16 allowed.",
    ]


def test_remarks_stay_whole_where_no_terminal_shows_them(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())

    assert wrapped(LONG) == LONG


def test_a_path_longer_than_the_line_is_not_broken(monkeypatch):
    narrow(monkeypatch)
    path = "/a/very-long/path" * 6

    assert path in wrapped(f"note: {path} holds several readings.")


def test_groups_by_a_number_say_of_what_it_is():
    rows = ((1, "a", 2.0), (1024, "b", 3.0))
    shown = tables(
        report(Section(name="x", columns=("batch", "what", "value"), rows=rows, grouped=True))
    )
    assert [line for line in shown.splitlines() if "batch" in line] == ["batch 1", "batch 1,024"]
    rows = (("before", "a", 2.0), ("after", "b", 3.0))
    shown = tables(
        report(Section(name="x", columns=("side", "what", "value"), rows=rows, grouped=True))
    )
    assert "before" in shown.splitlines()
    assert "side" not in shown


def test_a_narrow_screen_cuts_no_number(monkeypatch):
    numbers = tuple(1000.5 + column for column in range(9))
    section = Section(
        name="wide",
        columns=("gamma", *(f"quantity_{column}" for column in range(9)), "basis"),
        rows=((4, *numbers, "measured depth"),),
    )
    report = Report(command="fit", parameters=(), sections=(section,))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")

    shown = tables(report)

    assert "…" not in shown
    assert all(f"{number:,.1f}" in shown for number in numbers)
    assert "measured depth" in shown
    assert shown.count("gamma") > 1  # the first column begins every part
    bare = re.sub("\x1b\\[[0-9;]*m", "", shown)
    assert max(map(len, bare.splitlines())) <= 60
