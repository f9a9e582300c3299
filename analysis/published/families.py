"""All families, and what became of every row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache

from analysis.published.arithmetic import arithmetic
from analysis.published.formula import formula_measured, formula_printed
from analysis.published.from_shapes import (
    shapes_alone,
    shapes_with_plain_step,
    shapes_with_tokens,
)
from analysis.published.loads import under_load
from analysis.published.one_cost import (
    cost_of_other_targets,
    cost_of_other_tasks,
    cost_on_other_machine,
    other_machine,
)
from analysis.published.other_length import other_length_curve, other_length_one_p
from analysis.published.prediction import Family, Role
from analysis.published.rows import published_rows
from analysis.published.trees import (
    candidates_as_independent,
    trees_from_other_text,
    trees_from_rates,
)

_BUILDERS: tuple[Callable[[], Family], ...] = (
    formula_measured,
    other_length_one_p,
    other_length_curve,
    cost_of_other_tasks,
    cost_of_other_targets,
    other_machine,
    cost_on_other_machine,
    shapes_with_tokens,
    shapes_with_plain_step,
    shapes_alone,
    trees_from_rates,
    trees_from_other_text,
    candidates_as_independent,
)
_CHECKS: tuple[Callable[[], Family], ...] = (formula_printed, arithmetic)


@cache
def published_families() -> tuple[Family, ...]:
    """Every family, predictions first, then checks of print.

    >>> [family.name for family in published_families() if family.kind == "check"]
    ['formula, as printed', 'arithmetic of the source']
    """
    return (
        *(build() for build in _BUILDERS),
        *under_load(),
        *(build() for build in _CHECKS),
    )


def family_named(name: str) -> Family:
    """The family of this name; ValueError that lists the names for any other."""
    for family in published_families():
        if family.name == name:
            return family
    names = "; ".join(family.name for family in published_families())
    raise ValueError(f"family must be one of: {names}; got {name!r}.")


def roles(families: tuple[Family, ...] | None = None) -> dict[int, Role]:
    """What became of each row, by its number: one role for each of all rows.

    "predicted" in a family that could have failed, otherwise "checked" against its own table, otherwise
    "fitted" or "input" to a prediction of others, otherwise "not predicted".
    """
    families = published_families() if families is None else families
    found: dict[int, Role] = {row.number: "not predicted" for row in published_rows()}
    given: list[tuple[Role, frozenset[int]]] = [
        ("input", frozenset().union(*(family.inputs for family in families))),
        ("fitted", _numbers(families, fitted=True)),
        ("checked", _numbers([f for f in families if f.kind == "check"], fitted=False)),
        ("predicted", _numbers([f for f in families if f.kind == "prediction"], fitted=False)),
    ]
    for role, numbers in given:  # the last one that fits is the strongest
        found.update(dict.fromkeys(numbers, role))
    return found


def counts_of_roles(families: tuple[Family, ...] | None = None) -> dict[str, int]:
    """Rows by role."""
    return dict(Counter(roles(families).values()))


def _numbers(families: tuple[Family, ...] | list[Family], *, fitted: bool) -> frozenset[int]:
    return frozenset(
        each.row.number
        for family in families
        for each in family.predictions
        if each.fitted is fitted
    )
