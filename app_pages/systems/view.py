"""What the page of systems draws: all systems on one pair of axes, then one of them closely."""

from __future__ import annotations

import streamlit as st

from analysis.checking import z_limit
from analysis.systems.comparing import SystemRow
from app_pages import chart, state
from app_pages.controls import number as shared_number
from app_pages.plain_text import plain
from app_pages.systems import inputs as system_inputs
from app_pages.systems import results as system_results
from app_pages.systems import sizes as system_sizes
from app_pages.systems import specs as system_specs
from app_pages.systems import widgets as system_widgets
from app_pages.systems import words as system_words
from app_pages.systems.building import is_preset
from app_pages.systems.choice import Choice
from app_pages.systems.fields import SAMPLED
from simulator import ParallelCandidates

_COLUMNS = {
    "compares_on": st.column_config.TextColumn(
        "target and text", help="Only systems of the same target and text compare."
    ),
    "tokens_per_round": st.column_config.NumberColumn("tokens per round", format="%.3f"),
    "simulated": st.column_config.NumberColumn(format="%.4f", help="Mean of the sampled rounds."),
    "se": st.column_config.NumberColumn("± se", format="%.4f", help="Standard error of that mean."),
    "z": st.column_config.NumberColumn(format="%+.2f", help="(sampled − exact) / standard error."),
    "nodes": st.column_config.NumberColumn(help="Drafted tokens."),
    "verified": st.column_config.NumberColumn(
        help="Tokens in the target's pass, n of V(n): nodes, the text's last token, what rides along."
    ),
    "draft_steps": st.column_config.NumberColumn("draft steps", help="One after the other."),
    "verify_cost": st.column_config.NumberColumn("V(n)", format="%.3f"),
    "round_cost": st.column_config.NumberColumn(
        "round cost", format="%.3f", help="In plain target steps."
    ),
    "speedup": st.column_config.NumberColumn(format="%.3f×"),
    "printed_tokens": st.column_config.NumberColumn("printed tokens", format="%.2f"),
    "printed_speedup": st.column_config.NumberColumn("printed speedup", format="%.2f×"),
    "printed_is": st.column_config.TextColumn(
        "print and page",
        help="Solved for: the printed tokens went into the preset. Predicted: they did not.",
    ),
}
_TABLE = "the table of all systems below"
_MANY = 4
"""Metrics in a row."""


def verdict(choice: Choice) -> None:
    """The fastest at these costs, in a sentence."""
    sentence = system_results.report_of(choice.costly).headline
    gains = not sentence.startswith("No ")
    show, icon = (
        (st.success, ":material/trending_up:") if gains else (st.error, ":material/trending_down:")
    )
    show(f"**{plain(sentence)}**", icon=icon)


def overview(choice: Choice) -> None:
    """The pair of axes and the speedups."""
    free, focus = choice.costless, choice.focus
    left, right = st.columns(2, gap="large")
    with left:
        chart.show(
            system_specs.axes_spec(free, "verified", focus), key="verified_chart", beside=_TABLE
        )
    with right:
        chart.show(
            system_specs.axes_spec(free, "draft_steps", focus), key="steps_chart", beside=_TABLE
        )
    chart.show(system_specs.bars_spec(choice.costly, focus), key="speedup_bars", beside=_TABLE)
    st.caption(
        f"Ringed: {choice.focus}, with its other sizes as a dashed line. Presets are of different targets "
        "and texts, as print has them: only systems of one target and text compare, bars "
        "of one colour and letter."
    )


def table(choice: Choice) -> None:
    """Every system in numbers; sampled rounds beside the exact values if asked for."""
    above = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        system_widgets.segments(
            "sampled",
            "Sampled rounds of each, beside the exact values",
            {count: f"{count:,}" if count else "none" for count in SAMPLED},
            choice.sampled,
            "The engine draws rounds of every system, walking the trees; nothing exact goes into it.",
            system_widgets.setter("sampled"),
        )
        if choice.sampled:
            shared_number(state.SEED, width=130)
    section = system_results.report_of(choice).sections[0]
    with above:
        st.dataframe(
            [dict(zip(section.columns, row, strict=True)) for row in section.rows],
            hide_index=True,
            column_config=_COLUMNS,
            column_order=[*section.columns[1:], section.columns[0]],
            height="content",
            placeholder="",
            key="systems_table",
        )
    if choice.sampled:
        _sampled(choice, system_results.all_rows(choice))


def _sampled(choice: Choice, rows: tuple[SystemRow, ...]) -> None:
    far = max(rows, key=lambda row: abs(row.z or 0.0))
    limit = z_limit()
    agrees = "agree with" if abs(far.z or 0.0) < limit else "**contradict**"
    st.caption(
        f"{choice.sampled:,} sampled rounds of each {agrees} the exact values: the farthest is "
        f"{plain(far.system.name)}, {far.z or 0.0:+.2f} standard errors; beyond ±{limit:.2f} the engine "
        "would be called wrong."
    )


def closer(choice: Choice) -> None:
    """One system: its inputs, its numbers, its tree, and the size at which it stops paying."""
    st.header("One of them, closely")
    system_inputs.closer(choice)
    row = system_results.focused(choice)
    st.caption(_source(choice, row))
    _metrics(row)
    found = system_sizes.sizes_of(choice.costly, choice.focus)
    left, right = st.columns(2, gap="large")
    with left:
        _tree(choice, row)
    with right:
        chart.show(system_specs.sizes_spec(choice.costly, choice.focus), key="sizes_chart")
        st.markdown(system_words.paying(row, found))


def _source(choice: Choice, row: SystemRow) -> str:
    printed, system = row.system.printed, row.system
    if not is_preset(choice, choice.focus):
        return f"Drafts: {plain(system.origin)}. Your own numbers; the rest as in the preset."
    symbol = system.note.startswith("p =")  # p is no P, also where a sentence begins
    said = system.note if symbol else system.note[:1].upper() + system.note[1:]
    where = f"[{plain(printed.source)}]({printed.url})" if printed.url else plain(printed.source)
    what = "Source" if printed.tokens_per_round is None else "Printed"
    target = f", {plain(printed.target)}" if printed.target else ""
    return f"Drafts: {plain(system.origin)}. {plain(said)} {what}: {where}{target}."


def _metrics(row: SystemRow) -> None:
    law = row.system.strategy.acceptance
    extra = row.system.strategy.extra_nodes
    rides = f"{row.nodes:,} nodes + 1" + (f" + window {extra:,}" if extra else "")
    printed = row.system.printed.tokens_per_round
    below = "exact" if printed is None else f"printed: {printed:.2f}"
    steps = {"sequential": "one per depth", "one": "all at once", "none": "no draft model"}
    hit = f", a find in {law.hit:.0%}" if isinstance(law, ParallelCandidates) else ""
    for column, (label, value, under, words) in zip(
        st.columns(_MANY),
        (
            (
                "Tokens per round",
                f"{row.tokens_per_round:.3f}",
                below,
                "Expected, from the law of its rounds; the target's own token included.",
            ),
            (
                "Tokens in the pass",
                f"{row.verified:,}",
                rides + hit,
                f"n of V(n); V({row.verified}) = {row.verify_cost:.3f}.",
            ),
            (
                "Draft steps",
                f"{row.draft_steps}",
                steps[row.system.strategy.steps],
                "One after the other, each at the cost c.",
            ),
            (
                "Speedup",
                f"{row.speedup:.3f}×",
                f"a round costs {row.round_cost:.3f}",
                "Tokens per round / cost of a round, in plain target steps; of one request while decoding.",
            ),
        ),
        strict=True,
    ):
        column.metric(
            label, value, under, delta_color="off", delta_arrow="off", border=True, help=words
        )


def _tree(choice: Choice, row: SystemRow) -> None:
    shown = system_results.pictures(choice.costless, choice.focus)
    kind = 0
    if len(shown) > 1:
        names = [each.name for each in shown]
        name = st.segmented_control(
            "The tree follows the draft's confidence",
            names,
            default=names[0],
            key="systems_kind",
            help="Each kind of round has its own rates, and grows its own tree from them.",
        )
        kind = names.index(name) if name in names else 0
    chart.show(
        system_specs.tree_spec(choice.costless, choice.focus, kind),
        key="tree_chart",
        table=lambda: system_results.node_table(shown[kind]),
        columns={
            "guesses": st.column_config.TextColumn(
                help="1 is the draft's best guess, 2 its second, from the root on."
            ),
            "kept": st.column_config.NumberColumn(format="%.5f"),
            "kept, once its parent is": st.column_config.NumberColumn(format="%.5f"),
        },
    )
    st.caption(system_words.tree_words(row))
