"""The Monte Carlo panel: a fragment, so that rounds and seed redraw nothing else."""

from __future__ import annotations

import streamlit as st

from analysis.checking import z_limit
from app_pages import chart, downloads, sharing, snippets, state
from app_pages.controls import number, show_problem
from app_pages.results import MonteCarlo, closed_form, histogram_spec, histogram_table, monte_carlo
from app_pages.safety_net import net
from app_pages.state import ROUNDS, ROUNDS_FIELD, SEED, Settings
from simulator import Estimate


@st.fragment
@net()
def panel() -> None:
    """Rounds, seed, the histogram and how far the sample lies from the closed form."""
    settings = state.current()
    above = st.container()
    show_problem()
    _inputs()  # before their values are used: they may come from the address
    rounds, seed = int(state.value_of(ROUNDS_FIELD)), int(state.value_of(SEED))
    with above:
        chart.show(
            histogram_spec(settings.p, settings.gamma, rounds, seed),
            key="histogram_chart",
            table=lambda: histogram_table(settings.p, settings.gamma, rounds, seed),
        )
    sample = monte_carlo(settings, rounds, seed)
    _metrics(settings, sample)
    _take_along(settings, rounds, seed)
    state.remember()


def _inputs() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.select_slider(
            ROUNDS_FIELD.label,
            ROUNDS,
            int(ROUNDS_FIELD.default),
            format_func=lambda rounds: f"{rounds:,}",
            key=ROUNDS_FIELD.key,
            bind="query-params",
            help=ROUNDS_FIELD.help,
        )
        number(SEED, width=130)
        st.button(
            "New seed",
            icon=":material/casino:",
            on_click=_next_seed,
            help="Other coin flips, the same settings: how far two runs lie apart.",
        )


def _next_seed() -> None:
    state.put(seed=(int(state.value_of(SEED)) + 1) % int(SEED.high))


def _metrics(settings: Settings, sample: MonteCarlo) -> None:
    exact = closed_form(settings)
    mean, error = str(sample.table.tokens_per_round).split(" ± ")  # never from a single round
    digits = max(len(mean.partition(".")[2]), 4)
    between = _ends(sample.tokens)
    limit = z_limit()
    columns = st.columns(3)
    for column, label, value, below, words in zip(
        columns,
        ("Closed form", "Monte Carlo", "Difference"),
        (f"{exact.tokens:.{digits}f}", mean, f"{sample.z:+.2f}"),
        ("exact", f"± {error}", "standard errors"),
        (
            "Expected tokens per round.",
            f"Mean of the rounds ± one standard error; 95 % interval {between}.",
            f"One run in twenty is beyond ±2; beyond ±{limit:.2f} the engine would be called wrong.",
        ),
        strict=True,
    ):
        column.metric(
            label, value, below, delta_color="off", delta_arrow="off", help=words, border=True
        )
    how = "every token flipped" if sample.flipped else "counts drawn directly, same distribution"
    agrees = "agrees with" if sample.passed else "**contradicts**"
    st.caption(
        f"95 %: {between} tokens, speedup {_ends(sample.speedup)}. The whole "
        f"histogram {agrees} the exact law ({sample.table.rounds:,} rounds, {how})."
    )


def _ends(estimate: Estimate) -> str:
    """The ends of the interval, with the digits that the estimate itself shows."""
    return str(estimate).partition("[")[2].rstrip("]").replace(", ", " to ")


def _take_along(settings: Settings, rounds: int, seed: int) -> None:
    with st.container(horizontal=True, gap="small"):
        downloads.button(
            "PNG",
            lambda: downloads.histogram_png(settings, rounds, seed),
            file_name="tokens_per_round.png",
            words="The histogram, for print.",
        )
        downloads.button(
            "JSON",
            lambda: downloads.everything_json(settings, rounds, seed),
            file_name="specdec.json",
            words="Settings, closed form, counts and check.",
        )
        sharing.popover(sharing.link())
    with st.expander(
        "The same in Python and on the command line", expanded=True, icon=":material/terminal:"
    ):
        st.code(snippets.python(settings, rounds, seed), language="python", wrap_lines=True)
        st.code(snippets.command_line(settings, rounds, seed), language="bash", wrap_lines=True)
