"""The named signals behind every live chart: the inputs, and all that is computed from them.

A page reads them from the Vega view (`view.signal("verdict")`), so that no formula is written twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import altair as alt

from analysis.live.expressions import (
    CLOSE,
    by_gamma,
    cost_ratio_at,
    longer_pays,
    round_cost,
    step_gains,
    steps_above,
    tokens,
)
from analysis.live.setting import INPUTS, MAX_GAMMA, LiveInput, LiveSetting
from analysis.live.words import SPEEDUP_TEXT, TOKENS_TEXT, TRAP_TEXT, VERDICT

_LENGTHS = range(1, MAX_GAMMA + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """A signal that is computed from the inputs and from signals above it."""

    name: str
    expression: str


DERIVED = (
    Derived(name="tokens", expression=by_gamma("1", (tokens("p", n) for n in _LENGTHS))),
    Derived(name="round_costs", expression=by_gamma("1", map(round_cost, _LENGTHS))),
    Derived(
        name="speedups",
        expression=by_gamma("1", (f"tokens[{n}] / round_costs[{n}]" for n in _LENGTHS)),
    ),
    # p E(n - 1) = p + … + p^n are the accepted ones: E(n) - 1 would cancel at small p.
    Derived(
        name="accepted_fractions",
        expression=by_gamma("null", (f"p * tokens[{n - 1}] / {n}" for n in _LENGTHS)),
    ),
    Derived(name="survival", expression=by_gamma("1", (f"pow(p, {n})" for n in _LENGTHS))),
    Derived(
        name="best_drafted", expression=" + ".join(("1", *map(step_gains, range(1, MAX_GAMMA))))
    ),
    Derived(
        name="draft_pays",
        expression=f"tokens[best_drafted] > round_costs[best_drafted] * (1 + {CLOSE})",
    ),
    Derived(name="best_gamma", expression="draft_pays ? best_drafted : 0"),
    Derived(
        name="at_limit",
        expression=f"best_drafted == {MAX_GAMMA} && {step_gains(MAX_GAMMA)} "
        f"&& (draft_pays || {longer_pays()})",
    ),
    Derived(name="break_even_cost_ratio", expression=cost_ratio_at("1", "tokens[gamma]")),
    Derived(name="mistaken_tokens", expression=tokens("accepted_fractions[gamma]", "gamma")),
    Derived(name="verdict", expression=VERDICT),
    Derived(name="tokens_text", expression=TOKENS_TEXT),
    Derived(name="speedup_text", expression=SPEEDUP_TEXT),
    Derived(name="trap_text", expression=TRAP_TEXT),
    Derived(
        name="speedup_end", expression=steps_above("extent(speedups)[1]", 2, 3, 4, 6, 8, 12, 17)
    ),
    Derived(
        name="tokens_end",
        expression=steps_above(
            f"max(tokens[{MAX_GAMMA}], round_costs[{MAX_GAMMA}])", 4, 8, 12, 18, 24, 40
        ),
    ),
)


def parameters(start: LiveSetting, *, sliders: tuple[str, ...] = ()) -> list[alt.Parameter]:
    """The inputs at their start, those named in `sliders` bound to a slider, and the derived signals."""
    inputs = [
        alt.param(
            name=item.name,
            value=getattr(start, item.name),
            bind=_slider(item, start) if item.name in sliders else alt.Undefined,
        )
        for item in INPUTS
    ]
    return [*inputs, *(alt.param(name=item.name, expr=item.expression) for item in DERIVED)]


def _slider(item: LiveInput, start: LiveSetting) -> alt.BindRange:
    """A slider; it reaches further where the start lies beyond its usual ends."""
    value = getattr(start, item.name)
    return alt.binding_range(
        min=min(item.low, value),
        max=max(item.high, value),
        step=item.step,
        name=f"{item.short} ",
    )
