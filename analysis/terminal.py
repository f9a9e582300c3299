"""Reports as tables for people: drawn with rich, which the other forms do without."""

from __future__ import annotations

import shutil
import sys
import textwrap
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from analysis.output import Cell, Report, Row, Section, as_text

_WIDEST_CELL = 36
_NARROWEST = 40
_PIPED_WIDTH = 160  # a table must not lose cells because nobody watches


def tables(report: Report) -> str:
    """All sections of a report as text, as wide as the terminal."""
    console = Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH, highlight=False)
    with console.capture() as capture:  # printed by rich itself, a closed pipe would exit with 1
        shown = [each for each in map(_known, report.sections) if each.rows and not each.hidden]
        for number, section in enumerate(shown):
            if number:
                console.print()
            _print(console, section)
    return capture.get()


def _known(section: Section) -> Section:
    """Without rows that say nothing: a name with no value beside it."""
    rows = tuple(row for row in section.rows if any(as_text(cell) for cell in row[1:]))
    return section if len(section.columns) < 2 else replace(section, rows=rows)


def wrapped(text: str) -> str:
    """Remarks as wide as the terminal that shows them; further lines of each are set in.

    Where no terminal shows them, lines stay whole: programs read them one by one.
    """
    if not sys.stderr.isatty():
        return text
    width = max(shutil.get_terminal_size().columns, _NARROWEST)
    return "\n".join(_folded(line, width) for line in text.split("\n"))


def _folded(line: str, width: int) -> str:
    """One line in pieces of at most `width` characters, words kept whole.

    >>> print(_folded("  short drafts: 3.07 tokens drafted per round", 30))
      short drafts: 3.07 tokens
        drafted per round
    """
    start = line[: len(line) - len(line.lstrip())]
    inner = f"{start}  "
    return textwrap.fill(
        line, width, subsequent_indent=inner, break_long_words=False, break_on_hyphens=False
    )


def _print(console: Console, section: Section) -> None:
    shown = [i for i in range(len(section.columns)) if _is_shown(section, i)]
    if not section.grouped:
        console.print(_table(section, section.rows, shown))
        return
    groups = [
        (_heading(section.columns[0], key), tuple(rows))
        for key, rows in groupby(section.rows, key=itemgetter(0))
    ]
    for number, (heading, rows) in enumerate(groups):
        if number:
            console.print()
        if len(groups) > 1:
            console.print(f"[bold]{escape(heading)}[/bold]")
        console.print(_table(section, rows, shown[1:]))


def _heading(column: str, value: Cell) -> str:
    """What the rows of a group share; a number says of what it is.

    >>> _heading("batch", 1024), _heading("side", "before")
    ('batch 1,024', 'before')
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{column.replace('_', ' ')} {as_text(value)}" if number else str(value)


def _is_shown(section: Section, index: int) -> bool:
    """Whether a column fits on a screen and says anything."""
    if section.columns[index] in section.too_wide:
        return False
    return not index or any(as_text(row[index]) for row in section.rows)


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
