"""One measured run: the verdict, charts, tables, where it comes from, and what can be taken along."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from analysis import charts
from analysis.output import to_csv, to_json
from analysis.runs import charts as run_charts
from analysis.runs.prediction import RunSummary
from analysis.runs.report import NamedRun, run_report
from analysis.runs.rows import TABLES, RunTable
from analysis.runs.verdict import advice, findings, headline, outcome, times
from app_pages import chart, downloads, sharing
from app_pages.measured_runs.columns import COLUMNS
from app_pages.plain_text import plain

_TITLES = {
    "by_gamma": "By draft length",
    "predictions": "Predicted",
    "drafts": "Trees and steps",
    "from_heads": "Foretold",
    "costs": "Costs",
    "acceptance": "Acceptance",
}


def show(run: NamedRun, address: str, *, stays: str) -> None:
    """Draw a run; `address` is the link to it, `stays` what does not travel with it."""
    summary = run.summary
    st.caption(plain(about(dict(run.facts))))
    draw, icon = {
        "Pays": (st.success, ":material/trending_up:"),
        "Costs": (st.error, ":material/trending_down:"),
        "Undecided": (st.info, ":material/trending_flat:"),
    }[outcome(summary)]
    draw(f"**{plain(headline(summary))}** {plain(advice(summary))}", icon=icon)
    _metrics(summary)
    left, right = st.columns(2, gap="large")
    with left:
        _chart(run_charts.measured_against_predicted(summary).to_dict(), "run_speedup", "by_gamma")
        st.caption(
            "Bars are 95 % over prompts. Green crosses put the run's own counts and costs into the formula. "
            "The lines know the acceptance at the largest γ only; at that γ they foresee nothing."
        )
        _findings(summary)
    with right:
        height = 130 + 44 * len(summary.measured)  # with legend and axis, a label at every bar
        _chart(
            {**run_charts.time_of_a_round(summary).to_dict(), "height": height},
            "run_round",
            "by_gamma",
        )
        _acceptance(summary)
    _tables(summary)
    _take_along(run, address, stays)
    _facts(run)


def about(facts: dict[str, str]) -> str:
    """Which models on which machine, in one line."""
    draft = facts.get("draft", "").partition(", sha256")[0]
    heads = facts.get("heads", "").partition(", sha256")[0]
    by = f"drafts by {facts['drafter']}, " + (f"heads {heads}" if heads else "without a model")
    parts = (
        "Target: " + facts["target"].partition(", sha256")[0],
        f"draft: {draft}" if draft else by,
        *((f"tree: {facts['tree']}",) if "tree" in facts else ()),
        f"prompts: {facts['prompts']}",
        f"on: {facts.get('accelerator') or facts['processor']}",
        facts["rule"],
    )
    return " · ".join(parts) + "."


def _metrics(summary: RunSummary) -> None:
    best = summary.at(summary.best)
    closure = next(entry for entry in summary.closures if entry.gamma == summary.best)
    article = next((p.article for p in summary.predictions if p.gamma == summary.best), None)
    entries = (
        (
            f"Measured at γ = {best.gamma}",
            f"{best.speedup.value:.2f}×",
            times(best.speedup).partition(" ")[2] or "one prompt",
            "Plain decoding time per token / the same with the draft, over the same prompts.",
        ),
        (
            "Formula, own costs",
            f"{closure.speedup.value:.2f}×",
            f"{closure.error.value:+.1%} vs measured",
            "Closure: the formula with the run's own acceptance, V, c and overhead.",
        ),
        (
            "Article's formula",
            "unknown" if article is None else f"{article.speedup.value:.2f}×",
            "" if article is None else f"{article.error.value:+.1%} vs measured",
            "The run's p and c alone: a wider target pass is free (V = 1), nothing else costs.",
        ),
        (
            f"V({best.gamma + 1})",
            f"{best.verify_cost.value:.2f}",
            "plain steps",
            f"The target's pass over {best.gamma + 1} tokens / a plain step. The article takes it as 1.",
        ),
        (
            "Outside of the models",
            f"{best.rest_share.value:.1%}",
            "of decoding time",
            "Judging, sampling, bookkeeping: time in neither model.",
        ),
    )
    with st.container(horizontal=True):
        for label, value, below, words in entries:
            st.metric(
                label,
                value,
                below or None,
                delta_color="off",
                delta_arrow="off",
                help=words,
                border=True,
            )


def _acceptance(summary: RunSummary) -> None:
    gammas = [entry.gamma for entry in summary.measured]
    gamma = (
        st.select_slider(
            "Acceptance by depth at draft length γ",
            gammas,
            gammas[-1],
            key="run_gamma",
            help="One of the draft lengths that this run was measured with.",
        )
        if len(gammas) > 1
        else gammas[0]
    )
    here = summary.at(gamma if gamma in gammas else gammas[-1])
    if not any(here.table.tested):
        st.caption("Nothing was drafted at this length: no curve to draw.")
        return
    pooled = sum(here.table.accepted) / sum(here.table.tested)
    drawn = charts.acceptance_by_depth(here.acceptance, pooled=pooled).to_dict()
    _chart(drawn, "run_acceptance", "acceptance")
    st.caption(
        f"Dots: accepted / tested at each depth, bars 95 % over prompts. Dashed: all depths together, "
        f"p = {pooled:.3f}. The article takes p as one number."
    )


def _findings(summary: RunSummary) -> None:
    st.markdown("\n".join(f"- {plain(sentence)}" for sentence in findings(summary)))


def _tables(summary: RunSummary) -> None:
    shown = [table for table in TABLES if table.rows(summary)]
    for tab, table in zip(st.tabs([_TITLES[table.name] for table in shown]), shown, strict=True):
        with tab:
            st.dataframe(
                _frame(table, summary),
                hide_index=True,
                key=f"run_{table.name}",
                height="content" if table.name != "acceptance" else 420,
                column_config={
                    name: st.column_config.Column(help=words) for name, words in COLUMNS.items()
                },
            )


def _frame(table: RunTable, summary: RunSummary) -> pd.DataFrame:
    frame = pd.DataFrame(table.rows(summary), columns=list(table.columns))
    numbers = frame.select_dtypes("float").columns
    frame[numbers] = frame[numbers].round(4)
    return frame.rename(columns=lambda name: name.replace("_", " "))


def _take_along(run: NamedRun, address: str, stays: str) -> None:
    with st.container(horizontal=True, gap="small"):
        downloads.button(
            "CSV",
            lambda: csv_of(run),
            file_name="specdec_run.csv",
            words="A row per draft length with every speedup.",
        )
        downloads.button(
            "JSON",
            lambda: json_of(run),
            file_name="specdec_run.json",
            words="All tables, sentences and facts.",
        )
        downloads.button(
            "PNG", lambda: png_of(run), file_name="specdec_run.png", words="The figure, for print."
        )
        sharing.popover(address, stays=stays)


def csv_of(run: NamedRun) -> bytes:
    """What `specdec report --format csv` prints."""
    return to_csv(run_report((run,))).encode()


def json_of(run: NamedRun) -> bytes:
    """What `specdec report --format json` prints."""
    return to_json(run_report((run,))).encode()


def png_of(run: NamedRun) -> bytes:
    """The figure of `specdec report --figure`."""
    from analysis import figures  # noqa: PLC0415 — matplotlib costs a second at import
    from analysis.runs import figures as run_figures  # noqa: PLC0415 — matplotlib costs a second at import

    with downloads.DRAWING:
        return figures.png(run_figures.measured_against_predicted((run,)))


def _facts(run: NamedRun) -> None:
    with st.expander("Where these numbers come from", icon=":material/fact_check:"):
        st.markdown("\n".join(f"- **{plain(what)}**: {plain(value)}" for what, value in run.facts))
        st.caption("Another machine has other costs: measure there before you decide for it.")


def _chart(specification: dict[str, object], key: str, table: str) -> None:
    chart.show(specification, key=key, beside=f"the table “{_TITLES[table]}” below")
