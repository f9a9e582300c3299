"""`specdec published`: published rows beside what the models here say of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from analysis.options import OutputFormat
from analysis.output import Format, emit

FamilyName = Annotated[
    str | None,
    typer.Option("--family", help="One family of predictions, with its rows, by its name."),
]
Rows = Annotated[bool, typer.Option("--rows", help="All rows, each with what became of it.")]
Criteria = Annotated[
    bool,
    typer.Option(
        "--criteria", help="The stated criteria, and the tables under load under other assumptions."
    ),
]
Page = Annotated[
    Path | None,
    typer.Option("--write", metavar="FILE", help="Write the summary to a file as Markdown, too."),
]


def published_command(
    family: FamilyName = None,
    rows: Rows = False,  # noqa: FBT002 — a switch of the command line
    criteria: Criteria = False,  # noqa: FBT002 — likewise
    write: Page = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Published tables reproduced: predicted beside printed, errors by family, and what cannot be predicted.

    Rows that miss are among them, and fitted rows are in no error.
    """
    if criteria and (rows or family is not None or write is not None):
        raise ValueError("--criteria stands alone: it has a report of its own.")
    if criteria:
        from analysis.published_load.report import published_load_report  # noqa: PLC0415

        emit(published_load_report(), output)
        return
    from analysis.published.report import published_report  # noqa: PLC0415

    report = published_report(family, rows=rows)
    if write is not None:
        from analysis.published.page import published_page  # noqa: PLC0415

        write.write_text(published_page(), encoding="utf-8")
    emit(report, output)
