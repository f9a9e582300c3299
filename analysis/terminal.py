"""Reports as tables for people: drawn with rich, which the other forms do without."""

from __future__ import annotations

import sys
from itertools import groupby
from operator import itemgetter

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from analysis.output import Report, Row, Section, as_text

_WIDEST_CELL = 36
_PIPED_WIDTH = 160  # a table must not lose cells because nobody watches


def tables(report: Report) -> str:
    """All sections of a report as text, as wide as the terminal."""
    console = Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH, highlight=False)
    with console.capture() as capture:  # printed by rich itself, a closed pipe would exit with 1
        shown = [section for section in report.sections if not section.hidden]
        for number, section in enumerate(shown):
            if number:
                console.print()
            _print(console, section)
    return capture.get()


def _print(console: Console, section: Section) -> None:
    shown = [i for i, column in enumerate(section.columns) if column not in section.too_wide]
    if not section.grouped:
        console.print(_table(section, section.rows, shown))
        return
    groups = [(str(key), tuple(rows)) for key, rows in groupby(section.rows, key=itemgetter(0))]
    for number, (heading, rows) in enumerate(groups):
        if number:
            console.print()
        if len(groups) > 1:
            console.print(f"[bold]{escape(heading)}[/bold]")
        console.print(_table(section, rows, shown[1:]))


def _table(section: Section, rows: tuple[Row, ...], shown: list[int]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 3, 0, 0))
    for index in shown:
        numeric = all(isinstance(row[index], (int, float, type(None))) for row in rows)
        table.add_column(
            section.columns[index].replace("_", " "),
            justify="right" if numeric else "left",
            max_width=None if index == shown[-1] else _WIDEST_CELL,
        )
    for row in rows:
        table.add_row(*(escape(as_text(row[index])) for index in shown))
    return table
