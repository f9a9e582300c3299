"""What `specdec compare` says."""

from __future__ import annotations

from analysis.comparison.result import Part, RunComparison
from analysis.output import Cell, Report, Row, Section

_TITLES = {
    "pass_time": "pass time",
    "plain_step": "of it the machine's plain step",
    "round_cost": "of it the cost of a round",
    "kept": "tokens kept",
}


def _unit(result: RunComparison) -> str:
    if result.units == (1, 1):
        return "the sum of all rounds"
    return "not the same on both sides" if result.unit == "unit" else result.unit


def comparison_report(result: RunComparison, parameters: tuple[tuple[str, Cell], ...]) -> Report:
    """The whole, its factors, acceptance by depth, and what would decide."""
    parts = tuple(_row(part) for part in (result.whole, *result.parts, *result.rest))
    depths = tuple(
        (
            change.depth + 1,  # people count the first drafted token as one
            change.quantity,
            change.before,
            change.after,
            change.difference.value,
            *(change.difference.interval or (None, None)),
        )
        for change in result.depths
    )
    needed = result.needed
    verdict = (
        ("verdict", result.verdict),
        ("units before", result.units[0]),
        ("units after", result.units[1]),
        ("unit", _unit(result)),
        ("paired", result.paired),
        ("interval is a lower bound", result.lower_bound),
        ("smallest visible slowdown", result.smallest_visible),
        ("more before", None if needed is None else needed.more_before),
        ("more after", None if needed is None else needed.more_after),
    )
    return Report(
        command="compare",
        parameters=parameters,
        sections=(
            Section(
                name="parts",
                columns=(
                    *("part", "before", "after", "unit", "factor", "low", "high"),
                    *("log_factor", "share", "change"),
                ),
                rows=parts,
            ),
            Section(
                name="depths",
                columns=("depth", "quantity", "before", "after", "difference", "low", "high"),
                rows=depths,
            ),
            Section(name="decision", columns=("what", "value"), rows=verdict),
        ),
        headline=result.sentence,
        notes=(*result.caveats, *result.notes),
    )


def _row(part: Part) -> Row:
    return (
        _TITLES.get(part.name, part.name),
        part.before,
        part.after,
        part.unit,
        part.factor.value,
        *(part.factor.interval or (None, None)),
        part.log_factor,
        part.share,
        part.change,
    )
