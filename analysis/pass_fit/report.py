"""What a pass costs as a report: V(n) by batch and width, its parts, the knee, and the fit behind it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from analysis.output import Cell, Report, Row, Section
from analysis.pass_cost import PassCost
from analysis.pass_fit.asked import Asked, asked_of
from analysis.pass_fit.readable import duration, most_three
from analysis.pass_fit.remarks import MEANING
from analysis.pass_fit.result import FittedCell, PassCostFit

_MS = 1e3
_ROUNDING = 1e-12  # of a pass
_MOST_SHOWN = 60  # settings on a terminal
_ROOFLINE = 1e3  # k
_SEEN = 5e-5  # of a time
_PARTS = (
    "weights_s", "output_s", "experts_s", "kv_s", "compute_s", "attention_s", "communication_s",
    "fixed_s", "token_s",
)  # fmt: skip


def pass_cost_report(
    shown: PassCost | PassCostFit,
    *,
    batches: Iterable[float] | None = None,
    widths: Iterable[float] | None = None,
    context: float | None = None,
    parameters: tuple[tuple[str, Cell], ...] = (),
    notes: Iterable[str] = (),
) -> Report:
    """What `specdec pass-cost` says, in milliseconds.

    Sections: `times` (V(n) = a pass over n tokens of each request / over one, at the same batch),
    `knee` (tokens per request from which computing takes longer than reading), `parts` of the narrowest
    and the widest pass (`overlap_ms` is what reading and computing at once saves), and of a fit its
    `estimates` with 95 % intervals (numbers in seconds for programs), `residuals` by setting (the middle
    context, and the largest error) and, for programs, all `cells`. Without batches, widths or a
    context, a fit's are those that were measured. Raises ValueError for a batch or width below 1 and a
    negative context.

    >>> report = pass_cost_report(PassCost(weights_s=0.004, compute_s=0.00002), batches=[1], widths=[1, 400])
    >>> [row[:4] for row in report.sections[0].rows]
    [(1, 1, 4.0, 1.0), (1, 400, 8.0, 2.0)]
    """
    asked = asked_of(shown, batches=batches, widths=widths, context=context)
    fitted = shown if isinstance(shown, PassCostFit) else None
    cost = shown.cost if isinstance(shown, PassCostFit) else shown
    sections = [_times(cost, fitted, asked), _knees(cost, asked), _parts(cost, asked)]
    said = list(notes)
    if fitted is not None:
        sections += [_parameters(fitted), _residuals(fitted), _cells(fitted)]
        said = [*fitted.notes, *said]
        if sections[-2].hidden:
            said.append(f"JSON has the errors of all {len(sections[-2].rows):,} settings.")
        if any(row[-1] == "extrapolated" for row in sections[0].rows):
            said.append(f"Measured: {fitted.ranges.text}; beyond, passes are extrapolated.")
    return Report(
        command="pass-cost",
        parameters=parameters or (("context", asked.context),),
        sections=tuple(sections),
        headline=_headline(cost, fitted, asked),
        notes=tuple(dict.fromkeys(said)),
    )


def _times(cost: PassCost, fitted: PassCostFit | None, asked: Asked) -> Section:
    rows: list[Row] = []
    for batch in asked.batches:
        for tokens in asked.widths:
            seconds = float(cost.seconds(batch, tokens, asked.context))
            ratio = float(cost.verify_cost(tokens, batch, asked.context))
            basis = "predicted"
            if fitted is not None:
                beyond = fitted.extrapolates(batch, tokens, asked.context)
                basis = "extrapolated" if beyond else "measured range"
            rows.append((_whole(batch), _whole(tokens), _MS * seconds, ratio, basis))
    return Section(
        name="times",
        columns=("batch", "tokens", "pass_ms", "verify_cost", "basis"),
        rows=tuple(rows),
        grouped=len(asked.batches) > 1,
    )


def _knees(cost: PassCost, asked: Asked) -> Section:
    rows = []
    for batch in asked.batches:
        knee = cost.knee(batch, asked.context)
        plain = float(cost.seconds(batch, 1, asked.context))
        bound = "computing" if knee < 1.0 else "reading"
        rows.append((_whole(batch), _MS * plain, knee, batch * knee, bound))
    return Section(
        name="knee",
        columns=(
            "batch",
            "plain_step_ms",
            "knee_tokens",
            "knee_tokens_of_pass",
            "plain_step_bound_by",
        ),
        rows=tuple(rows),
    )


def _parts(cost: PassCost, asked: Asked) -> Section:
    rows: list[Row] = []
    for batch in asked.batches:
        for tokens in dict.fromkeys((asked.widths[0], asked.widths[-1])):
            parts = cost.parts(batch, tokens, asked.context)
            split = tuple(_MS * float(getattr(parts, name)) for name in _PARTS)
            total = _MS * parts.total_s
            saved = total - math.fsum(split)
            saved = 0.0 if abs(saved) < _ROUNDING * total else saved
            rows.append((_whole(batch), _whole(tokens), *split, saved, total))
    names = (*(f"{name.removesuffix('_s')}_ms" for name in _PARTS), "overlap_ms")
    empty = tuple(
        name for place, name in enumerate(names, 2) if all(row[place] == 0.0 for row in rows)
    )
    return Section(
        name="parts",
        columns=("batch", "tokens", *names, "total_ms"),
        rows=tuple(rows),
        too_wide=empty,
    )


def _parameters(fitted: PassCostFit) -> Section:
    """Numbers for programs; for people the same as texts, each in the unit that suits its size."""
    rows: list[Row] = []
    for name, estimate in fitted.parameters.items():
        low, high = estimate.interval or (None, None)
        rows.append(_parameter(name, estimate.value, low, high, "fitted"))
    rows += [
        _parameter(name, value, None, None, "assumed") for name, value in fitted.assumed.items()
    ]
    return Section(
        name="estimates",
        columns=("parameter", "meaning", "value", "low", "high", "estimate", "interval", "basis"),
        rows=tuple(rows),
        too_wide=("value", "low", "high"),
    )


def _parameter(
    name: str, value: float, low: float | None, high: float | None, basis: str
) -> tuple[Cell, ...]:
    shown = duration if name.endswith("_s") else _number
    interval = "" if low is None or high is None else f"{shown(low)} to {shown(high)}"
    meaning = MEANING.get(name, "overlap of reading and computing, k")
    return (name, meaning, value, low, high, shown(value), interval, basis)


def _number(value: float) -> str:
    """A share or an exponent: from k = 1,000 on the roofline to less than a thousandth."""
    return "inf" if value >= _ROOFLINE else most_three(value)


def _residuals(fitted: PassCostFit) -> Section:
    """A row per setting, contexts together: medians, and the error that is the largest."""
    settings: dict[tuple[Cell, ...], list[FittedCell]] = {}
    for cell in fitted.cells:
        tokens = None if cell.what == "drafting" else _whole(cell.tokens)
        key: tuple[Cell, ...] = (cell.what, _whole(cell.batch), tokens, cell.draft_steps)
        settings.setdefault(key, []).append(cell)
    rows: list[Row] = []
    for setting, cells in settings.items():
        middle = sorted(cells, key=lambda cell: cell.context)[len(cells) // 2]
        worst = max(cells, key=lambda cell: abs(cell.error))
        rows.append(
            (
                *setting,
                len(cells),
                _whole(sum(cell.count for cell in cells)),
                _MS * middle.measured_s,
                _MS * middle.fitted_s,
                _error(middle.error),
                _error(worst.error),
            )
        )
    return Section(
        name="residuals",
        columns=(
            "time_of", "batch", "tokens", "draft_steps", "contexts", "times", "measured_ms",
            "fitted_ms", "error", "worst_error",
        ),
        rows=tuple(rows),
        hidden=len(rows) > _MOST_SHOWN,
    )  # fmt: skip


def _error(value: float) -> float:
    """Errors below what a table shows are none: 4e-14 is rounding and reads like a number."""
    return 0.0 if abs(value) < _SEEN else value


def _cells(fitted: PassCostFit) -> Section:
    rows = tuple(
        (
            cell.what,
            _whole(cell.batch),
            None if cell.what == "drafting" else _whole(cell.tokens),
            _whole(cell.context),
            cell.draft_steps,
            _whole(cell.count),
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


def _headline(cost: PassCost, fitted: PassCostFit | None, asked: Asked) -> str:
    batch, widest = asked.batches[0], asked.widths[-1]
    knee = cost.knee(batch, asked.context)
    ratio = float(cost.verify_cost(widest, batch, asked.context))
    beyond = fitted is not None and fitted.extrapolates(batch, widest, asked.context)
    where = f"computing takes as long as reading at {most_three(knee)} tokens per request"
    if math.isinf(knee):
        where = "computing never takes as long as reading"
        if fitted is not None:
            where = "no time of computing is seen"
    elif fitted is not None and not fitted.knee_seen:
        where += " (extrapolated)"
    said = (
        f"At batch {batch:g}, context {asked.context:g}: V({widest:g}) = {ratio:.2f}"
        f"{' (extrapolated)' if beyond else ''}, and {where}."
    )
    return said if fitted is None else f"{said} {fitted.sentence}"


def _whole(value: float) -> int | float:
    """Whole numbers as such: a batch is no 1.0000."""
    return int(value) if float(value).is_integer() else value
