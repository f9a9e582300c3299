"""The reproduction of all published rows as a report: families with their errors, and what is left."""

from __future__ import annotations

from analysis.output import Report, Row, Section
from analysis.published.families import (
    counts_of_roles,
    family_named,
    published_families,
    roles,
)
from analysis.published.prediction import Family
from analysis.published.rows import published_rows
from analysis.published.statistics import FamilyErrors, family_errors
from analysis.published.unpredicted import why_not
from analysis.published_load.apertus import chosen_fit
from analysis.published_load.eagle_chain import fit_chain
from analysis.published_load.magicdec import magicdec_rows
from analysis.published_load.verdicts import RMS_LIMIT, verdicts


def published_report(family: str | None = None, *, rows: bool = False) -> Report:
    """Families of predictions with their errors, the rows that no model here can predict, or all rows.

    `family` names one family, which is shown with its rows. `rows` puts all rows first, each with its role.
    Raises ValueError for a family that is none.

    >>> dict(published_report().parameters)["rows"]
    865
    """
    families = published_families() if family is None else (family_named(family),)
    shown = rows or family is not None
    summary, notes = summary_section(families), tuple(_note(each) for each in families)
    others = () if family is not None else (left_section(),)
    listed = (rows_section(families, everything=family is None),) if shown else ()
    counts = counts_of_roles()
    return Report(
        command="published",
        parameters=(
            ("rows", len(published_rows())),
            *((role.replace(" ", "_"), counts.get(role, 0)) for role in
              ("predicted", "checked", "fitted", "input", "not predicted")),
        ),
        sections=(*listed, summary, *others) if rows else (summary, *listed, *others),
        headline=_headline(counts),
        notes=(_READING, *notes),
    )  # fmt: skip


_READING = (
    "error is predicted / printed − 1; the interval of the rms (95 %) draws whole groups again, those that "
    "share a fitted number or a run, and is left out below five of them. guess_rms is the error of what one "
    "would say without the row's own inputs. A check repeats its source's arithmetic: it is no prediction."
)


def summary_section(families: tuple[Family, ...]) -> Section:
    """One line per family."""
    return Section(
        name="families",
        columns=("family", "kind", "n", "groups", "median_error", "rms", "rms_low", "rms_high",
                 "median_absolute", "worst", "within_10_percent", "guess_rms", "fitted"),
        rows=tuple(_line(family, family_errors(family)) for family in families),
        too_wide=("kind", "groups", "median_absolute", "fitted"),
    )  # fmt: skip


def left_section() -> Section:
    """Rows that are not predicted: by source and reason, with how many."""
    found: dict[tuple[str, str], int] = {}
    by_number = roles()
    for row in published_rows():
        if by_number[row.number] == "not predicted":
            key = (row.source, why_not(row))
            found[key] = found.get(key, 0) + 1
    return Section(
        name="not_predicted",
        columns=("source", "rows", "why_not"),
        rows=tuple((source, count, why) for (source, why), count in found.items()),
    )


def rows_section(families: tuple[Family, ...], *, everything: bool) -> Section:
    """Every prediction, and with `everything` a line for each row that has none."""
    by_number = roles()
    lines: list[tuple[int, Row]] = []
    for family in families:
        for each in family.predictions:
            role = "fitted" if each.fitted else "checked" if family.kind == "check" else "predicted"
            row = each.row
            lines.append((row.number, (
                row.number, row.source, row.table, row.method, row.target, row.task, row.temperature,
                row.gamma, row.batch, family.name, each.quantity, each.printed, each.predicted,
                each.error, role, each.inputs, row.confidence, row.url,
            )))  # fmt: skip
    if everything:
        for row in published_rows():
            if by_number[row.number] in {"input", "not predicted"}:
                why = why_not(row) if by_number[row.number] == "not predicted" else ""
                lines.append((row.number, (
                    row.number, row.source, row.table, row.method, row.target, row.task, row.temperature,
                    row.gamma, row.batch, "", "", None, None, None, by_number[row.number], why,
                    row.confidence, row.url,
                )))  # fmt: skip
    return Section(
        name="rows",
        columns=("row", "source", "table", "method", "target", "task", "temperature", "gamma", "batch",
                 "family", "quantity", "printed", "predicted", "error", "role", "from_what", "confidence",
                 "url"),
        rows=tuple(line for _, line in sorted(lines, key=lambda pair: pair[0])),
        too_wide=("row", "source", "temperature", "batch", "family", "quantity", "from_what", "confidence",
                  "url"),
    )  # fmt: skip


def _line(family: Family, errors: FamilyErrors) -> Row:
    low, high = errors.rms.interval or (None, None)
    return (
        family.name, family.kind, errors.n, errors.groups, errors.median, errors.rms.value, low, high,
        errors.median_absolute, errors.worst, errors.within, errors.guess_rms,
        sum(each.fitted for each in family.predictions),
    )  # fmt: skip


def _note(family: Family) -> str:
    return f"{family.name}: {family.asks} An error means: {family.misses}."


def _headline(counts: dict[str, int]) -> str:
    found = verdicts(chosen_fit(), magicdec_rows(), fit_chain())
    held = [verdict for verdict in found if verdict.holds is not None]
    kept, first = sum(bool(verdict.holds) for verdict in held), found[0]
    given = counts.get("fitted", 0) + counts.get("input", 0)
    return (
        f"{kept} of {len(held)} stated criteria hold. Apertus: two parameters fitted on concurrency 1 and 8 "
        f"predict 32 to 256 with an rms error of {first.errors.rms if first.errors else 0.0:.1%} "
        f"(limit {RMS_LIMIT:.0%}). Of {sum(counts.values())} published rows {counts.get('predicted', 0)} are "
        f"predicted, {counts.get('checked', 0)} checked against their table, {given} gave numbers to fits, "
        f"{counts.get('not predicted', 0)} cannot be predicted."
    )
