"""What a pass costs as a report: V(n) by batch and width, its parts, the knee, and the fit behind it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from analysis.output import Cell, Report, Row, Section
from analysis.pass_cost import PassCost
from analysis.pass_fit.asked import Asked, asked_of
from analysis.pass_fit.knees import headline, knee_section
from analysis.pass_fit.readable import duration, most_three, whole_number
from analysis.pass_fit.remarks import MEANING
from analysis.pass_fit.residuals import residual_notes, residual_sections
from analysis.pass_fit.result import PassCostFit

_MS = 1e3
_ROUNDING = 1e-12  # of a pass
_ROOFLINE = 1e3  # k
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
    `knee` (the most whole tokens per request that are nearly free, V ≤ 1.1; those from which computing
    takes longer than reading, and V there), `parts` of the narrowest and the widest pass (`overlap_ms` is
    what reading and computing at once saves), and of a fit its `estimates` with 95 % intervals (numbers
    in seconds for programs) and `residuals` by setting: the middle context, and the largest error, as
    fractions for programs and as percent for people. More than 20 settings are for programs, as are all
    `cells`; people see `worst_residuals`. Without batches, widths or a context, a fit's are those that
    were measured. Raises ValueError for a batch or width below 1 and a negative context.

    >>> report = pass_cost_report(PassCost(weights_s=0.004, compute_s=0.00002), batches=[1], widths=[1, 400])
    >>> [row[:4] for row in report.sections[0].rows]
    [(1, 1, 4.0, 1.0), (1, 400, 8.0, 2.0)]
    """
    asked = asked_of(shown, batches=batches, widths=widths, context=context)
    fitted = shown if isinstance(shown, PassCostFit) else None
    cost = shown.cost if isinstance(shown, PassCostFit) else shown
    sections = [_times(cost, fitted, asked), knee_section(cost, asked), _parts(cost, asked)]
    said = list(notes)
    if fitted is not None:
        residuals = residual_sections(fitted)
        sections += [_parameters(fitted), *residuals]
        said = [*fitted.notes, *said, *residual_notes(residuals)]
        if any(row[-1] == "extrapolated" for row in sections[0].rows):
            said.append(f"Measured: {fitted.ranges.text}; beyond, passes are extrapolated.")
    return Report(
        command="pass-cost",
        parameters=parameters or (("context", asked.context),),
        sections=tuple(sections),
        headline=headline(cost, fitted, asked),
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
            rows.append((whole_number(batch), whole_number(tokens), _MS * seconds, ratio, basis))
    return Section(
        name="times",
        columns=("batch", "tokens", "pass_ms", "verify_cost", "basis"),
        rows=tuple(rows),
        too_wide=("basis",) if len({row[-1] for row in rows}) == 1 else (),
        grouped=len(asked.batches) > 1,
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
            rows.append((whole_number(batch), whole_number(tokens), *split, saved, total))
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
