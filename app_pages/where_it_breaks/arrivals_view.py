"""The section of the arrivals: the same requests with and without drafts, over the rate at which they come."""

from __future__ import annotations

import time
from collections.abc import Callable

import pandas as pd
import streamlit as st

from analysis.serving.charts import SEEN
from analysis.serving.turning import Turning
from app_pages import chart, downloads
from app_pages.controls import drawn_key, fresh_key
from app_pages.deployment.results import Setup
from app_pages.plain_text import plain
from app_pages.where_it_breaks import arrivals_command, arrivals_table, figures
from app_pages.where_it_breaks import arrivals_controls as controls
from app_pages.where_it_breaks import arrivals_results as results
from app_pages.where_it_breaks import arrivals_words as words
from app_pages.where_it_breaks.arrivals import Load
from app_pages.where_it_breaks.view import metric
from simulator import Estimate
from simulator.serving import Seen, ServingComparison

_PATIENCE_S = 0.3
_SEEN_HELP = (
    "What the left chart shows. The whole request is what a user waits for; the first token comes once "
    "the prompt is read; behind it comes the speed of writing."
)


def section(setup: Setup) -> None:
    """Draw it; what cannot be is said in its place. Nothing is simulated until it is asked for."""
    controls.recalled()
    controls.show_problems()
    controls.say_in_address()
    controls.switch()
    load = controls.current()
    if not load.on:
        return
    try:
        _simulated(setup, load)
    except ValueError as error:
        st.error(plain(str(error)), icon=":material/error:")


def _simulated(setup: Setup, load: Load) -> None:
    key, asked = results.served(setup, load.kind), results.asked(load)
    left, right = st.columns(2, gap="large")
    with left:
        controls.kind()
    told = _Told()
    plain_limit = results.limit(key, asked, drafting=False)
    with right:
        controls.rate(plain_limit.value)
    points = results.curve(key, asked, told)
    with st.expander(
        "What counts as a good answer, how prompts are read, and the seed",
        icon=":material/flag:",
    ):
        controls.numbers("ttft", "tpot", "e2e", "seed")
        controls.prompts()
    here, turn = results.here(key, load, points), results.turning(points)
    told.end()
    _verdict(here)
    if here.plain is not None or here.speculative is not None:
        _metrics(here, load)
    st.caption(plain(f"{turn.sentence} {words.sampled(here, points, load.seed)}"))
    _notes(points, here)
    _charts(points, here, turn)
    with st.expander("All numbers over the rate", icon=":material/table:"):
        st.dataframe(
            arrivals_table.table(points).round(6),
            hide_index=True,
            key="arrivals_table",
            height="content",
        )
    st.caption(plain(" ".join(results.servers(key, asked).notes)))
    _take_along(setup, load, here, points)


def _notes(points: tuple[ServingComparison, ...], here: ServingComparison) -> None:
    """At which rates a side is not stable, or not settled when its runs end."""
    said = words.unsettled(points, here)
    if said:
        st.caption(plain(said))


class _Told:
    """How far the simulation is, where it takes long enough to ask.

    Each telling lets a newer key press end the run; what was sampled until then is kept.
    """

    def __init__(self) -> None:
        self._place, self._began = st.empty(), time.monotonic()

    def __call__(self, share: float) -> None:
        if time.monotonic() - self._began > _PATIENCE_S:
            self._place.progress(share, text="Requests arrive …")

    def end(self) -> None:
        """Nothing is left to do."""
        self._place.empty()


def _verdict(point: ServingComparison) -> None:
    said, kind = words.verdict(point)
    draw, icon = {
        "gains": (st.success, "trending_up"),
        "even": (st.info, "trending_flat"),
        "loses": (st.error, "trending_down"),
        "unstable": (st.warning, "hourglass_disabled"),
    }[kind]
    draw(said, icon=f":material/{icon}:")


def _metrics(point: ServingComparison, load: Load) -> None:
    rows = (
        (
            "Whole request", point.gain_e2e, words.before_after(point, "e2e"),
            "End to end: mean time from arrival to the last token, without / with drafts.",
        ),
        (
            "First token", point.gain_ttft, words.before_after(point, "ttft"),
            "TTFT: mean time from arrival to the first token, waiting and reading included.",
        ),
        (
            "Token behind it", point.gain_tpot, words.before_after(point, "tpot"),
            "TPOT: mean time per token behind the first, without / with drafts.",
        ),
        (
            "Throughput", point.throughput_ratio, words.throughput(point),
            "Tokens per second of all requests, with / without drafts: below both limits those that arrive.",
        ),
    )  # fmt: skip
    with st.container(horizontal=True):
        for label, gain, below, meaning in rows[:3]:
            metric(label, _times(gain), f"{below}{_interval(gain)}", meaning)
    with st.container(horizontal=True):
        for label, gain, below, meaning in rows[3:]:
            metric(label, _times(gain), f"{below}{_interval(gain)}", meaning)
        metric(
            "Slowest in twenty",
            words.slowest(point.speculative),
            f"without a draft: {words.slowest(point.plain)}",
            "p95: 95 % of the requests are done within so many seconds of their arrival.",
        )
        metric(
            "Good answers",
            words.good(point.speculative),
            f"without a draft: {words.good(point.plain)}",
            f"Goodput: requests per second with {words.objective(load)}.",
        )


def _times(gain: Estimate | None) -> str:
    return "no ratio" if gain is None else f"{gain.value:.2f}×"


def _interval(gain: Estimate | None) -> str:
    if gain is None or gain.interval is None:
        return ""
    return f"; {gain.interval[0]:.2f}× to {gain.interval[1]:.2f}×"


def _charts(points: tuple[ServingComparison, ...], here: ServingComparison, turn: Turning) -> None:
    of = _seen()
    left, right = st.columns(2, gap="large")
    with left:
        _chart(
            lambda: results.times_spec(points, of, here),
            "arrivals_times",
            lambda: arrivals_table.times(points, of),
            lambda: figures.over_rate(points),
        )
    with right:
        _chart(
            lambda: results.gain_spec(points, turn, here),
            "arrivals_gain",
            lambda: arrivals_table.gains(points),
        )
    st.caption(
        "Rings are at your rate. Vertical rules on the left are the stable limits: from there on a queue "
        "grows for ever. A dotted rule on the right, where there is one, is where the gain of the whole "
        "request turns."
    )


def _chart(
    spec: Callable[[], dict[str, object]],
    key: str,
    table: Callable[[], pd.DataFrame],
    png: Callable[[], bytes] | None = None,
) -> None:
    try:
        made = spec()
    except ValueError as error:
        st.info(plain(str(error)))
        return
    chart.show(made, key=key, table=table, png=png)


def _seen() -> Seen:
    shown: Seen = st.session_state.get("arrivals_of", "e2e")
    key = fresh_key("arrivals_of_choice", shown)
    names = {name: said[:1].upper() + said[1:] for name, said in SEEN.items()}
    st.segmented_control(
        "Time of",
        list(names),
        default=shown,
        required=True,
        format_func=names.__getitem__,
        key=key,
        on_change=_take_seen,
        args=(key,),
        help=_SEEN_HELP,
        label_visibility="collapsed",
    )
    return shown


def _take_seen(key: str) -> None:
    if key == drawn_key("arrivals_of_choice"):
        st.session_state["arrivals_of"] = st.session_state[key]


def _take_along(
    setup: Setup, load: Load, here: ServingComparison, points: tuple[ServingComparison, ...]
) -> None:
    with st.container(horizontal=True, gap="small"):
        downloads.button(
            "Rates, CSV",
            lambda: arrivals_table.table_csv(points),
            file_name="specdec_arrivals.csv",
            words="The numbers over the rate.",
        )
    arrivals_command.show(setup, load, here)
