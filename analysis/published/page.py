"""The reproduction as a page of the documentation, written by `specdec published --write`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from analysis.published.families import counts_of_roles, published_families
from analysis.published.prediction import Family, Prediction
from analysis.published.report import left_section
from analysis.published.statistics import family_errors

FIGURE = "published.png"
_WRITTEN = (
    "This page is what `specdec published --write docs/results/published.md` writes; "
    "`specdec published --rows --format csv` has every row with its inputs and its source."
)
_READING = (
    "Errors are predicted / printed − 1. *bias* is their median, *rms* the root of their mean square with a "
    "95 % interval that draws whole groups again (rows that share a fitted number or a run; none below "
    "five groups). *guess* is the rms error of what one would say without the row's own inputs."
)
_MARKS = (
    "Dots are speedups, diamonds tokens per round, hollow ones helped to fit; the band is 10 %."
)


def published_page() -> str:
    """Markdown: the families with their errors, each with its sources, and what is not predicted.

    >>> published_page().splitlines()[0]
    '# Published tables, predicted'
    """
    families = published_families()
    predicted = [family for family in families if family.kind == "prediction"]
    checks = [family for family in families if family.kind == "check"]
    return "\n".join(
        (
            *_opening(),
            "## Predictions",
            "",
            *_summary(predicted),
            "",
            f"![Predicted against printed, one panel per family, logarithmic axes]({FIGURE})",
            "",
            _MARKS,
            "",
            *(line for family in predicted for line in _family(family)),
            "## Checks",
            "",
            "No model: the source's own arithmetic again. It must agree within the rounding of print.",
            "",
            *_summary(checks),
            "",
            *(line for family in checks for line in _family(family)),
            *_left(),
        )
    )


def _opening() -> tuple[str, ...]:
    counts = counts_of_roles()
    given = counts.get("fitted", 0) + counts.get("input", 0)
    rows = (
        f"{sum(counts.values())} rows of published and publicly measured results, and what the models here say "
        f"of them: **{counts.get('predicted', 0)} are predicted**, {counts.get('checked', 0)} only checked "
        f"against their own table, {given} gave a number to a fit or a prediction of others, "
        f"{counts.get('not predicted', 0)} cannot be predicted. No row is predicted from its own value, and no "
        "row that helped to fit is in an error of the family that it was fitted in."
    )
    return ("# Published tables, predicted", "", rows, "", _WRITTEN, "", _READING, "")


def _summary(families: Iterable[Family]) -> Iterable[str]:
    yield "| family | n | bias | rms | median size | worst | within 10 % | guess |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for family in families:
        errors = family_errors(family)
        interval = errors.rms.interval
        spread = "" if interval is None else f" [{interval[0]:.1%}, {interval[1]:.1%}]"
        guess = "" if errors.guess_rms is None else f"{errors.guess_rms:.0%}"
        yield (
            f"| {family.name} | {errors.n} | {_signed(errors.median)} | {errors.rms.value:.1%}{spread} "
            f"| {errors.median_absolute:.1%} | {_signed(errors.worst)} | {errors.within:.0%} | {guess} |"
        )


def _family(family: Family) -> Iterable[str]:
    yield f"### {family.name[0].upper()}{family.name[1:]}"
    yield ""
    yield f"{family.asks[0].upper()}{family.asks[1:]} {_found(family)} An error means: {family.misses}."
    yield ""
    yield "| source | table | n | bias | worst | from |"
    yield "|---|---|--:|--:|--:|---|"
    tables: dict[tuple[str, str], list[Prediction]] = {}
    for each in family.tested:
        tables.setdefault((each.row.source, each.row.table), []).append(each)
    for (source, table), some in tables.items():
        errors = [each.error for each in some]
        inputs = "; ".join(dict.fromkeys(each.inputs for each in some))
        link = f"[{source}]({some[0].row.url})" if some[0].row.url else source
        bias, worst = _signed(float(np.median(errors))), _signed(max(errors, key=abs))
        yield f"| {link} | {table} | {len(some)} | {bias} | {worst} | {inputs} |"
    yield ""


def _found(family: Family) -> str:
    errors = family_errors(family)
    found = f"{errors.within:.0%} of {errors.n} are within 10 %, the worst is {_signed(errors.worst)} off."
    repeated = repeated_rows(family)
    if repeated:
        found += f" {repeated} of the rows are numbers that another table prints, too, in the same group."
    return found


def repeated_rows(family: Family) -> int:
    """Tested rows whose numbers an earlier table of the family has for the same method, target and task."""
    seen: dict[tuple[object, ...], tuple[str, str]] = {}
    repeated = 0
    for each in family.tested:
        row = each.row
        key = (
            each.quantity, each.group, row.method, row.target, row.task, row.temperature, row.width, row.batch,
            row.tokens_per_round, row.speedup_measured,
        )  # fmt: skip
        table = (row.source, row.table)
        repeated += seen.setdefault(key, table) != table
    return repeated


def _left() -> Iterable[str]:
    yield "## Not predicted"
    yield ""
    yield "| source | rows | why |"
    yield "|---|--:|---|"
    for source, count, why in left_section().rows:
        yield f"| {source} | {count} | {why} |"
    yield ""


def _signed(error: float) -> str:
    text = f"{error:+.1%}"
    return "0.0%" if text in {"+0.0%", "-0.0%"} else text
