"""How wide a pass may be: up to where it is nearly free, and where computing overtakes reading."""

from __future__ import annotations

import math

from analysis.output import Row, Section
from analysis.pass_cost import PassCost
from analysis.pass_fit.asked import Asked
from analysis.pass_fit.readable import most_four, whole_number
from analysis.pass_fit.result import PassCostFit

NEARLY_FREE = 1.1
"""V up to which a pass is called nearly free."""
_MS = 1e3


def knee_section(cost: PassCost, asked: Asked) -> Section:
    """A row per batch: numbers for programs, for people the knee with four digits.

    V at the knee is None where there is no knee, and where it lies below one token.
    """
    rows: list[Row] = []
    for batch in asked.batches:
        knee = cost.knee(batch, asked.context)
        at_knee = None
        if 1.0 <= knee < math.inf:
            at_knee = float(cost.verify_cost(knee, batch, asked.context))
        free = cost.widest(NEARLY_FREE, batch, asked.context)
        rows.append(
            (
                whole_number(batch),
                _MS * float(cost.seconds(batch, 1, asked.context)),
                free if math.isinf(free) else math.floor(free),
                knee,
                batch * knee,
                most_four(knee),
                most_four(batch * knee),
                at_knee,
                "computing" if knee < 1.0 else "reading",
            )
        )
    told = any(row[-1] != rows[0][-1] for row in rows)
    return Section(
        name="knee",
        columns=(
            "batch", "plain_step_ms", "nearly_free_tokens", "knee_tokens", "knee_tokens_of_pass",
            "knee", "knee_of_pass", "verify_cost_at_knee", "plain_step_bound_by",
        ),
        rows=tuple(rows),
        too_wide=("knee_tokens", "knee_tokens_of_pass", *(() if told else ("plain_step_bound_by",))),
    )  # fmt: skip


def headline(cost: PassCost, fitted: PassCostFit | None, asked: Asked) -> str:
    """One sentence on the least batch and, where there are several, one on the most as well."""
    first, last = asked.batches[0], asked.batches[-1]
    if first == last:
        said = (
            f"At batch {first:g}, context {asked.context:g}: {_clause(cost, fitted, asked, first)}."
        )
    else:
        ends = "; ".join(
            f"batch {batch:g} has {_clause(cost, fitted, asked, batch)}" for batch in (first, last)
        )
        said = f"At context {asked.context:g}: {ends}."
    return said if fitted is None else f"{said} {fitted.sentence}"


def _clause(cost: PassCost, fitted: PassCostFit | None, asked: Asked, batch: float) -> str:
    width, context = asked.widths[-1], asked.context

    def beyond(tokens: float) -> str:
        out = fitted is not None and fitted.extrapolates(batch, tokens, context)
        return " (extrapolated)" if out else ""

    said = f"V({width:g}) = {float(cost.verify_cost(width, batch, context)):.2f}{beyond(width)}"
    knee, free = cost.knee(batch, context), cost.widest(NEARLY_FREE, batch, context)
    seen = fitted is None or fitted.knee_seen
    if fitted is not None and not fitted.compute_seen and math.isinf(knee):
        return f"{said}, and no time of computing is seen"
    if free < 2.0:
        said += f", above {NEARLY_FREE:g} from 2 tokens on"
    elif not math.isinf(free):
        whole = float(math.floor(free))
        said += f", at most {NEARLY_FREE:g} up to {whole:,.0f} tokens per request"
        said += "" if seen else beyond(whole)
    if math.isinf(knee):
        return f"{said}, and computing never takes as long as reading"
    if knee < 1.0:
        return f"{said}, and computing takes longer than reading from the first token on"
    where = f"at {most_four(knee)} tokens per request{'' if seen else ' (extrapolated)'}"
    ratio = float(cost.verify_cost(knee, batch, context))
    return f"{said}, and computing takes as long as reading {where}, where V = {ratio:.2f}"
