"""Which draft length: how acceptance arises, and what other lengths would give."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from analysis.fitting import BestFit, Fit
from analysis.fitting.report import PREDICTION, fit_rows, shown_parameter
from analysis.output import Report
from analysis.round_time import PassTime
from app_pages import chart, state
from app_pages.plain_text import plain
from app_pages.state import OVERHEAD, Settings
from app_pages.your_engine import results as engine_results
from app_pages.your_engine.sources import Facts, Given

_CLOSE = 0.1
_CLOCK = ":material/timer:"
_HOW = {
    "resampling": "Intervals: whole {unit} drawn again, the choice of process with them.",
    "sandwich": "Intervals: the variance of whole {unit}.",
    "range": "The band is a range of p that the counts allow, with its sampling error.",
    "method": "The band is what one p would have missed on published curves of this method.",
    "residuals": "Intervals: how far the curve is from the points.",
}
_COLUMNS = {
    "gamma": st.column_config.NumberColumn("γ", width=40),
    "tokens_per_round": st.column_config.NumberColumn("tokens per round", format="%.3f"),
    "low": st.column_config.NumberColumn(format="%.3f"),
    "high": st.column_config.NumberColumn(format="%.3f"),
    "speedup": st.column_config.NumberColumn(format="%.2f×"),
    "speedup_low": st.column_config.NumberColumn("its low", format="%.2f"),
    "speedup_high": st.column_config.NumberColumn("its high", format="%.2f"),
}


def show(
    given: Given, place: int, facts: Facts, times: PassTime | None, settings: Settings
) -> Report | None:
    """Draw the fit and its prediction; the report behind them, None where nothing was fitted."""
    try:
        fitted = engine_results.fitted(given, place, facts)
        report = engine_results.prediction(given, place, facts, settings)
    except ValueError as error:
        st.warning(plain(str(error)), icon=":material/block:")
        return None
    if fitted.refusal is not None:
        st.warning(f"Not fitted: {plain(fitted.refusal)}", icon=":material/block:")
        _candidates(fitted)
        return report
    best = fitted.best_gamma(engine_results.costs_of(settings), engine_results.GAMMAS)
    agrees = _by_the_clock(fitted, times, settings)
    draw, icon = _box(best, agrees=agrees)
    draw(f"**{plain(best.sentence)}**", icon=icon)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _charts(given, place, facts, settings, _table(fitted, settings))
    with right:
        _process(fitted)
    return report


def _box(best: BestFit, *, agrees: bool) -> tuple[Callable[..., object], str]:
    """Green where the gain is beyond doubt, at a measured length and at the costs of the clock."""
    if not agrees:
        return st.info, ":material/trending_flat:"
    if not best.pays:
        return st.error, ":material/trending_down:"
    least = best.speedup.value if best.speedup.interval is None else best.speedup.interval[0]
    if least > 1.0 and not best.extrapolated:
        return st.success, ":material/trending_up:"
    return st.info, ":material/trending_flat:" if least <= 1.0 else ":material/trending_up:"


def _charts(
    given: Given, place: int, facts: Facts, settings: Settings, table: pd.DataFrame
) -> None:
    tabs = st.tabs(["Speedup", "Tokens per round"])
    for tab, costs, key in zip(tabs, (settings, None), ("speedup", "tokens"), strict=True):
        with tab:
            spec = engine_results.prediction_spec(given, place, facts, costs)
            chart.show(
                spec,
                key=f"log_fit_{key}",
                table=table,
                columns=_COLUMNS,
                png=partial(engine_results.prediction_png, given, place, facts, costs),
            )
    st.caption(
        f"With c = {settings.cost_ratio:g}, V = {settings.verify_cost:g} and overhead "
        f"{settings.overhead:g} at every γ; hollow points lie beyond what was measured."
    )


def _process(fitted: Fit) -> None:
    st.markdown(f"**How acceptance arises: {plain(fitted.name)}**")
    rows = [
        {"parameter": shown_parameter(name), "value": value.value, "low": ends[0], "high": ends[1]}
        for name, value in fitted.parameters.items()
        for ends in (value.interval or (None, None),)
    ]
    numbers = {
        name: st.column_config.NumberColumn(format="%.3f") for name in ("value", "low", "high")
    }
    st.dataframe(
        pd.DataFrame(rows), hide_index=True, column_config=numbers, key="log_fit_parameters"
    )
    words = [_HOW.get(fitted.how, "").format(unit=fitted.unit)]
    if fitted.units:
        words.append(f"From {fitted.units:,} {fitted.unit}.")
    if fitted.goodness is not None:
        words.append(fitted.goodness.sentence)
    st.caption(plain(" ".join(word for word in words if word)))
    if fitted.notes:
        st.caption("\n".join(f"- {plain(note)}" for note in fitted.notes))
    _candidates(fitted)


def _candidates(fitted: Fit) -> None:
    if not fitted.candidates:
        return
    with st.expander("Why this process and no other", icon=":material/rule:"):
        lines = [
            f"- {'**' if each.chosen else ''}{plain(each.name)}{'**' if each.chosen else ''}: "
            f"{plain(each.reason)}"
            for each in fitted.candidates
        ]
        st.markdown("\n".join(lines))


def _table(fitted: Fit, settings: Settings) -> pd.DataFrame:
    shown = [g for g in engine_results.GAMMAS if fitted.longest is None or g <= fitted.longest]
    rows = fit_rows(fitted, shown, costs=engine_results.costs_of(settings))
    return pd.DataFrame(rows, columns=list(PREDICTION))


def _by_the_clock(fitted: Fit, times: PassTime | None, settings: Settings) -> bool:
    """Say whether the costs above are those of the clock, at the length that was measured.

    False only if they are not.
    """
    if times is None or times.round_cost is None or not fitted.measured:
        return True
    seen = times.round_cost.number
    assumed = engine_results.costs_of(settings).cost(fitted.measured)
    said = (
        f"The clock says that a round with γ = {fitted.measured} costs {seen:.2f} plain steps; c, V "
        f"and overhead above make {assumed:.2f}"
    )
    if abs(seen - assumed) <= _CLOSE * seen:
        st.caption(plain(f"{said}: they agree."))
        return True
    st.warning(plain(f"{said}: the speedups here are not those of this machine."), icon=_CLOCK)
    missing = round(seen - assumed + settings.overhead, 2)
    if OVERHEAD.problem(missing) is None:
        st.button(
            f"Take the rest as overhead ({missing:g})",
            icon=":material/tune:",
            on_click=state.put,
            kwargs={"overhead": missing},
            help="Then the speedup at the measured γ is that of the clock; what part of it grows "
            "with γ, one measurement cannot tell.",
        )
    return False
