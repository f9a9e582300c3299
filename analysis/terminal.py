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
_BETWEEN = 3  # blanks between columns
_LEAST_TEXT = 20  # to which a column of words can be folded
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
        _print_rows(console, section, section.rows, shown)
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
        _print_rows(console, section, rows, shown[1:])


def _print_rows(
    console: Console, section: Section, rows: tuple[Row, ...], shown: list[int]
) -> None:
    """The rows as one table, or, where a screen is too narrow for it, as several one below the other."""
    widths = [_least_width(section, rows, index) for index in shown]
    for number, part in enumerate(_parts(widths, console.width)):
        if number:
            console.print()
        console.print(_table(section, rows, [shown[place] for place in part]))


def _least_width(section: Section, rows: tuple[Row, ...], index: int) -> int:
    """Characters below which a column loses something: numbers stay whole, words can be folded."""
    heading = max(map(len, section.columns[index].split("_")))
    cells = [as_text(row[index]) for row in rows]
    longest = max(map(len, cells), default=0)
    if _is_numeric(rows, index):
        return max(heading, longest)
    word = max((len(word) for cell in cells for word in cell.split()), default=0)
    return max(heading, min(longest, _LEAST_TEXT), min(word, _WIDEST_CELL))


def _parts(widths: list[int], width: int) -> list[list[int]]:
    """Columns that fit beside each other; the first one stands at the left of every part.

    >>> _parts([5, 8, 8, 8], 80), _parts([5, 8, 8, 8], 33)
    ([[0, 1, 2, 3]], [[0, 1, 2], [0, 3]])
    """
    parts, used = [[0]], widths[0] + _BETWEEN  # rich counts the blanks behind the last column too
    for place, needed in enumerate(widths[1:], 1):
        if used + _BETWEEN + needed > width and len(parts[-1]) > 1:
            parts.append([0])
            used = widths[0] + _BETWEEN
        parts[-1].append(place)
        used += _BETWEEN + needed
    return parts


def _is_numeric(rows: tuple[Row, ...], index: int) -> bool:
    return all(isinstance(row[index], (int, float, type(None))) for row in rows)


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
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, _BETWEEN, 0, 0))
    for index in shown:
        numeric = _is_numeric(rows, index)
        table.add_column(
            section.columns[index].replace("_", " "),
            justify="right" if numeric else "left",
            min_width=_least_width(section, rows, index) if numeric else None,
            max_width=None if index == shown[-1] else _WIDEST_CELL,
        )
    for row in rows:
        table.add_row(*(escape(as_text(row[index])) for index in shown))
    return table
