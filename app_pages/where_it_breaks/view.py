"""The three demonstrations: numbers, chart, and the article's claim."""

from __future__ import annotations

import math

import streamlit as st

from app_pages import chart
from app_pages.deployment import results as deploy_results
from app_pages.deployment.results import Setup
from app_pages.plain_text import plain
from app_pages.where_it_breaks import claims, figures
from app_pages.where_it_breaks import results as break_results

_COLUMNS = {
    "batch": st.column_config.NumberColumn(width=60),
    "V": st.column_config.NumberColumn("V(γ + 1)", format="%.3f", help="The pass, in plain steps."),
    "speedup": st.column_config.NumberColumn("your γ", format="%.3f×"),
    "best γ": st.column_config.NumberColumn(width=60),
    "its speedup": st.column_config.NumberColumn(format="%.3f×"),
}


def metric(label: str, value: str, below: str, words: str) -> None:
    """A number in a box, with a line below and help."""
    st.metric(label, value, below, delta_color="off", delta_arrow="off", help=words, border=True)


def bad_draft(setup: Setup) -> None:
    """Where the gain ends as p falls."""
    gamma = setup.gamma
    parts, best = deploy_results.parts_of(setup), deploy_results.best_here(setup)
    needed = deploy_results.break_even_p(setup)
    gain, p = parts.speedup.value, break_results.equal_p(setup)
    if abs(gain - 1.0) < 5e-4:
        draw, word, icon = st.info, "breaks even", "flat"
    elif gain > 1.0:
        draw, word, icon = st.success, "gains", "up"
    else:
        draw, word, icon = st.error, "loses", "down"
    draw(
        f"**γ = {gamma} {word}: {gain:.3f}× at batch {setup.batch:,}.** {_margin(setup, p, needed)}",
        icon=f":material/trending_{icon}:",
    )
    left, right = st.columns([3, 2], gap="large")
    with left:
        chart.show(break_results.p_spec(setup), key="p_chart")
    with right:
        with st.container(horizontal=True):
            metric(
                "Break-even p",
                "none" if needed is None else f"{needed:.3f}",
                f"γ = {gamma}, batch {setup.batch:,}",
                "The p at which a round gives just as many tokens as plain decoding in the same time.",
            )
            metric(
                "A drafted token costs",
                f"{deploy_results.cost_ratio(setup):.3f}",
                "plain steps: c",
                "All drafting of a round / γ, in plain target steps at this batch.",
            )
            metric(
                "Best γ here",
                f"{best.gamma}" if best.pays else "off",
                f"{best.speedup.value:.3f}×",
                best.sentence,
            )
            metric(
                "A useless draft",
                f"{parts.plain_s / parts.round_s:.3f}×",
                "at p = 0",
                "One token per round, and all of its cost: the article's worst case.",
            )
        claims.claim(
            "bad draft = no gain",
            "A draft that the target disagrees with is paid for and brings nothing.",
        )


def _margin(setup: Setup, p: float, needed: float | None) -> str:
    if needed is None:
        return "Not even p = 1 would pay."
    whose = "this draft has" if setup.choice.accept == "p" else "this draft is worth one p of"
    return f"It takes p above {needed:.3f}; {whose} {p:.3f}."


def latency(setup: Setup) -> None:
    """What a request sees and what the server gives."""
    choice = setup.choice
    point = break_results.load_here(setup)
    whole = break_results.whole_here(setup)
    plain_way, fast = point.plain, point.speculative
    with st.container(horizontal=True):
        metric(
            "A running request sees",
            f"{point.latency_speedup.value:.3f}×",
            f"{plain_way.request_tokens_per_s.value:,.1f} → "
            f"{fast.request_tokens_per_s.value:,.1f} tokens/s",
            "Latency: its decoding speed, with / without a draft, each at the batch that it runs.",
        )
        metric(
            "The server gives",
            f"{point.throughput_ratio.value:.3f}×",
            f"{plain_way.tokens_per_s.value:,.0f} → {fast.tokens_per_s.value:,.0f} tokens/s",
            "Throughput: tokens of all requests per second. Differs from the left one where the draft "
            "lets fewer requests run.",
        )
        lost, prices = point.batch_lost, (plain_way.price_per_million, fast.price_per_million)
        metric(
            "Memory lost to the draft",
            f"{lost:,.0f} requests" if lost != 1 else "1 request",
            _fit_words(setup),
            "How many fewer fit beside the draft's weights and cache.",
        )
        metric(
            "A million tokens cost",
            "unknown" if prices[1] is None else f"{prices[1].value:,.3f}",
            "unknown" if prices[0] is None else f"without a draft: {prices[0].value:,.3f}",
            "The price of the machine per hour / its tokens per hour, while it decodes.",
        )
    left, right = st.columns([3, 2], gap="large")
    with left:
        chart.show(break_results.load_spec(setup), key="load_chart")
        claims.claim(
            "the target still does the same work",
            "Throughput stays because the target has as much to compute as before.",
        )
    with right:
        st.markdown(plain(point.sentence))
        if plain_way.waiting or fast.waiting:
            st.markdown(
                f"**{fast.waiting:,.0f} requests wait** for room, {plain_way.waiting:,.0f} without the "
                "draft: from here on more load changes nothing."
            )
        if whole.request_speedup is not None and whole.speculative.service_s is not None:
            st.markdown(
                f"**A whole request** of {choice.prompt:,} + {choice.output:,} tokens: "
                f"**{whole.request_speedup.value:.3f}×**, and the server gives "
                f"{whole.throughput_ratio.value:.3f}×. Reading the prompt is not made faster, and the "
                "draft reads it too."
            )
        claims.claim(
            "latency, not throughput",
            "It helps the one who waits; the server gives no more than before, or a little less.",
        )


def _fit_words(setup: Setup) -> str:
    found, context = deploy_results.deployment(setup), setup.choice.context
    plain_fit, fit = (found.most_requests(context, drafting=on) for on in (False, True))
    if math.isinf(plain_fit):
        return "no cache to hold"
    return f"{fit:,.0f} fit instead of {plain_fit:,.0f}"


def busy(setup: Setup) -> None:
    """The pass against the knee, and the gain over batch and over context."""
    choice, gamma = setup.choice, setup.gamma
    cost = deploy_results.deployment(setup).target
    knee = cost.knee(setup.batch, choice.context)
    turn, best = break_results.break_even(setup), deploy_results.best_here(setup)
    parts = deploy_results.parts_of(setup)
    width = gamma + 1
    with st.container(horizontal=True):
        metric(
            "Nearly free",
            _tokens(break_results.nearly_free(setup), digits=0),
            f"per request; a round checks {width}",
            f"The widest pass with V at most {break_results.NEARLY_FREE:g}, at this batch and context: it "
            "takes no more than a tenth longer than one over a single token of each request.",
        )
        metric(
            "The knee",
            _tokens(knee, digits=1),
            _at_knee(setup, knee),
            "Width of a pass at which computing takes as long as reading, at this batch and context. "
            "Below 1: plain decoding computes already. V there is how much longer such a pass takes than "
            "one token's: the overlap exponent k under *Advanced* decides.",
        )
        metric(
            f"V({width})",
            f"{cost.verify_cost(width, setup.batch, choice.context):.3f}",
            "the article takes 1",
            f"A pass over {width} tokens of each request, in passes over one.",
        )
        metric(
            f"Speedup at γ = {gamma}",
            f"{parts.speedup.value:.3f}×",
            f"best γ = {best.gamma}: {best.speedup.value:.3f}×",
            best.sentence,
        )
        metric(
            "Break-even batch",
            f"above {turn.tried:,}" if turn.batch is None else f"{turn.batch:,}",
            f"at γ = {gamma}" if turn.again is None else f"gains again from {turn.again:,}",
            turn.sentence,
        )
    st.caption(plain(turn.sentence))
    left, right = st.columns(2, gap="large")
    with left:
        chart.show(
            break_results.width_spec(setup),
            key="width_chart",
            png=lambda: figures.over_width(setup),
        )
        chart.show(
            break_results.context_spec(setup),
            key="context_chart",
            png=lambda: figures.over_context(setup),
        )
    with right:
        chart.show(break_results.batch_spec(setup), key="batch_chart")
        claims.claim(
            "busy servers",
            "A server that is busy already has no idle compute to spend on guesses.",
        )
    with st.expander("The numbers: best γ for every batch", icon=":material/table:"):
        st.dataframe(
            break_results.busy_table(setup),
            hide_index=True,
            column_config=_COLUMNS,
            key="busy_table",
            height="content",
        )


def _tokens(count: float, *, digits: int) -> str:
    """A width of a pass in words."""
    if math.isinf(count):
        return "all" if digits == 0 else "never"
    said = f"{count:,.{digits}f}"
    return f"{said} token" if said == "1" else f"{said} tokens"


def _at_knee(setup: Setup, knee: float) -> str:
    """How long a pass at the knee takes, where there is one that a round could reach."""
    if math.isinf(knee):
        return "reading decides at any width"
    if knee < 1.0:
        return "computing decides already"
    return f"V = {break_results.verify_at(setup, knee):.2f} there"
