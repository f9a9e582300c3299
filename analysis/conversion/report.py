"""What `specdec convert` says."""

from __future__ import annotations

from analysis.conversion.conversion import Conversion, Derived
from analysis.conversion.names import FieldName
from analysis.conversion.quantities import ASSUMPTIONS, QUANTITIES
from analysis.output import Cell, Report, Row, Section

_ROUNDED = (
    "low and high are the ends of everything that prints like the given number; --exact takes its digits "
    "as all there is."
)
_COLUMNS = ("follows", "quantity", "depth", "value", "low", "high", "assuming", "how")


def conversion_report(
    result: Conversion,
    parameters: tuple[tuple[str, Cell], ...],
    *,
    to: str | None,
) -> Report:
    """Quantities that follow exactly, under assumptions, or not; then the words of engines.

    Without an engine `to`, only what engines must be told is listed.
    """
    rows: list[Row] = []
    for follows, group in (
        ("given", (result.given,)),
        ("exactly", result.exact),
        ("assuming", result.assumed),
    ):
        for derived in group:
            rows.extend(_rows(follows, derived))
    rows.extend(
        ("not", entry.quantity, None, None, None, None, "", entry.reason)
        for entry in result.impossible
    )
    words = tuple(
        (
            entry.engine,
            entry.versions,
            entry.word,
            entry.kind,
            entry.text,
            ", ".join(entry.assumptions),
            entry.note,
        )
        for entry in result.words
        if (entry.kind == "setting" if to is None else entry.engine == to)
    )
    used = sorted({name for derived in result.assumed for name in derived.assumptions})
    return Report(
        command="convert",
        parameters=parameters,
        sections=(
            Section(name="quantities", columns=_COLUMNS, rows=tuple(rows)),
            Section(
                name="words",
                columns=("engine", "versions", "word", "kind", "value", "assuming", "note"),
                rows=words,
                too_wide=("versions",) if not any(row[1] for row in words) else (),
            ),
        ),
        headline=f"{result.quantity}: {result.meaning}.",
        notes=(
            *result.warnings,
            *((_ROUNDED,) if any(low < high for low, high in result.given.ranges) else ()),
            *(f"{name} means: {ASSUMPTIONS[name]}." for name in used),
        ),
    )


def names_report(names: tuple[FieldName, ...]) -> Report:
    """The table of names: what each word counts, by engine and version, with its source."""
    rows = tuple(
        (
            name.engine,
            name.names[0],
            name.versions,
            name.kind,
            name.quantity,
            name.unit,
            ", ".join(name.names[1:]),
            name.note,
            name.source,
        )
        for name in names
    )
    words = tuple(
        (quantity.name, "one per depth" if quantity.by_depth else "one", quantity.meaning)
        for quantity in QUANTITIES.values()
    )
    return Report(
        command="convert",
        parameters=(),
        sections=(
            Section(
                name="names",
                columns=(
                    *("engine", "name", "versions", "kind", "quantity", "unit"),
                    *("also", "note", "source"),
                ),
                rows=rows,
                too_wide=("also", "unit", "source"),
            ),
            Section(name="quantities", columns=("quantity", "numbers", "meaning"), rows=words),
            Section(
                name="assumptions",
                columns=("assumption", "meaning"),
                rows=tuple(ASSUMPTIONS.items()),
            ),
        ),
        headline=f"{len(names)} meanings of the field's words; case and punctuation do not matter.",
    )


def _rows(follows: str, derived: Derived) -> list[Row]:
    values = derived.value if isinstance(derived.value, tuple) else (derived.value,)
    whole = QUANTITIES[derived.quantity].whole
    rows: list[Row] = []
    for depth, (value, (low, high)) in enumerate(zip(values, derived.ranges, strict=True)):
        numbers = tuple(int(number) if whole else number for number in (value, low, high))
        place = depth + 1 if isinstance(derived.value, tuple) else None
        how = "" if depth else derived.how
        if derived.quantity == "histogram":  # counts from 0 on: its first entry is of no depth
            place, how = depth, f"rounds with {depth} accepted"
        rows.append(
            (
                follows,
                derived.quantity,
                place,
                *numbers,
                ", ".join(derived.assumptions),
                how,
            )
        )
    return rows
