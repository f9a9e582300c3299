"""How far a fit is off by setting: fractions for programs, percent for people, the worst of many."""

from __future__ import annotations

from analysis.output import Cell, Row, Section
from analysis.pass_fit.readable import whole_number
from analysis.pass_fit.result import FittedCell, PassCostFit

MOST_SHOWN = 20
"""Settings on a terminal."""
_MS = 1e3
_SEEN = 5e-5  # of a time
_COLUMNS = (
    "time_of", "batch", "tokens", "draft_steps", "contexts", "times", "measured_ms", "fitted_ms",
    "error", "worst_error", "off_by", "off_at_worst",
)  # fmt: skip
_NUMBERS = ("error", "worst_error")
_SILENT: dict[str, Cell] = {"draft_steps": 0, "contexts": 1, "times": 1, "time_of": "pass"}
"""Columns that say nothing where every row has this."""


def residual_sections(fitted: PassCostFit) -> tuple[Section, ...]:
    """`residuals` by setting and all `cells`; of many settings the worst are a section of their own."""
    rows = _settings(fitted)
    silent = tuple(
        name
        for name, value in _SILENT.items()
        if all(row[_COLUMNS.index(name)] == value for row in rows)
    )
    if "contexts" in silent:
        silent = (*silent, "off_at_worst")
    many = len(rows) > MOST_SHOWN
    every = Section(
        name="residuals", columns=_COLUMNS, rows=rows, too_wide=(*_NUMBERS, *silent), hidden=many
    )
    sections = [_cells(fitted), every]
    if many:
        worst = _COLUMNS.index("worst_error")
        shown = sorted(rows, key=lambda row: -abs(float(row[worst] or 0.0)))[:MOST_SHOWN]
        sections.append(
            Section(
                name="worst_residuals",
                columns=_COLUMNS,
                rows=tuple(shown),
                too_wide=every.too_wide,
            )
        )
    return tuple(sections)


def residual_notes(sections: tuple[Section, ...]) -> list[str]:
    """What a reader of the table does not see."""
    rows = next(each.rows for each in sections if each.name == "residuals")
    if len(rows) <= MOST_SHOWN:
        return []
    shown = f"the {MOST_SHOWN} that the fit misses most are shown"
    return [f"Of {len(rows):,} measured settings {shown}; JSON has all."]


def _settings(fitted: PassCostFit) -> tuple[Row, ...]:
    """A row per setting, contexts together: medians, and the error that is the largest."""
    settings: dict[tuple[Cell, ...], list[FittedCell]] = {}
    for cell in fitted.cells:
        tokens = None if cell.what == "drafting" else whole_number(cell.tokens)
        key: tuple[Cell, ...] = (cell.what, whole_number(cell.batch), tokens, cell.draft_steps)
        settings.setdefault(key, []).append(cell)
    rows: list[Row] = []
    for setting, cells in settings.items():
        middle = sorted(cells, key=lambda cell: cell.context)[len(cells) // 2]
        worst = max(cells, key=lambda cell: abs(cell.error))
        rows.append(
            (
                *setting,
                len(cells),
                whole_number(sum(cell.count for cell in cells)),
                _MS * middle.measured_s,
                _MS * middle.fitted_s,
                _error(middle.error),
                _error(worst.error),
                f"{_error(middle.error):+.1%}",
                f"{_error(worst.error):+.1%}",
            )
        )
    return tuple(rows)


def _error(value: float) -> float:
    """Errors below what a table shows are none: 4e-14 is rounding and reads like a number."""
    return 0.0 if abs(value) < _SEEN else value


def _cells(fitted: PassCostFit) -> Section:
    rows = tuple(
        (
            cell.what,
            whole_number(cell.batch),
            None if cell.what == "drafting" else whole_number(cell.tokens),
            whole_number(cell.context),
            cell.draft_steps,
            whole_number(cell.count),
            _MS * cell.measured_s,
            _MS * cell.fitted_s,
            cell.error,
        )
        for cell in fitted.cells
    )
    return Section(
        name="cells",
        columns=(
            "time_of", "batch", "tokens", "context", "draft_steps", "times", "measured_ms",
            "fitted_ms", "error",
        ),
        rows=rows,
        hidden=True,
    )  # fmt: skip
