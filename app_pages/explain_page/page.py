"""The page that explains: where a round's time goes, what to attack, what would break even."""

from __future__ import annotations

import streamlit as st

from analysis.output import to_csv, to_json
from app_pages import downloads
from app_pages.deployment import controls as deploy_controls
from app_pages.deployment import log_offer
from app_pages.deployment import results as deploy_results
from app_pages.deployment import take_along as deploy_take
from app_pages.deployment import widgets as deploy_widgets
from app_pages.deployment.choice import SOURCES
from app_pages.deployment.log import LastLog, last_log
from app_pages.deployment.results import Setup
from app_pages.explain_page import command as explain_command
from app_pages.explain_page import results as explain_results
from app_pages.explain_page import view as explain_view
from app_pages.explain_page.limits import limits
from app_pages.plain_text import plain
from app_pages.questions.asking import ask
from app_pages.questions.deployment import EXPLAIN
from app_pages.your_engine.results import LOG_FILE

_SOURCE_HELP = (
    "What is explained: a prediction for this deployment, the log that you gave under *Import* with "
    "the speeds beside it, or a few numbers of a run."
)


def page() -> None:
    """Draw the page."""
    st.title("Explain")
    st.markdown(
        "A round gives several tokens, each worth a plain step. Drafting, the wider pass and overhead take "
        "of that; **what is left is the speedup**. Here is where it goes, which part to attack first, "
        "and what each would have to become to break even."
    )
    source = deploy_controls.begin().source
    with st.container(width=420):
        deploy_widgets.select(
            "source", "Explain", SOURCES, _SOURCE_HELP, take=log_offer.take_source
        )
    log_offer.offer(explaining=True)
    if source == "deployment":
        _predicted()
    else:
        _known(source)
    setup, log = deploy_controls.setup(quiet=source != "deployment"), last_log()
    _draw(setup, log)
    if source == "deployment":
        ask("explain", EXPLAIN, setup)
    limits()


def _predicted() -> None:
    """The inputs of a prediction."""
    deploy_controls.what_runs()
    deploy_controls.advanced()
    left, right = st.columns(2, gap="medium")
    with left:
        deploy_controls.acceptance()
        deploy_controls.draft_length()
    with right:
        deploy_controls.batch()
        deploy_controls.context()


def _draw(setup: Setup, log: LastLog | None) -> None:
    try:
        found = explain_results.explanation(setup, log)
    except ValueError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    explain_view.show(setup, log, found)
    if setup.choice.source == "log" and log is not None and log.fits and not found.parts:
        log_offer.instead()
    st.header("Take it along")
    report = explain_results.report_of(setup, log)
    with st.container(horizontal=True, gap="small"):
        downloads.button(
            "JSON",
            lambda: to_json(report).encode(),
            file_name="specdec_explain.json",
            words="What `specdec explain --format json` prints.",
        )
        if found.parts:
            downloads.button(
                "CSV",
                lambda: to_csv(report).encode(),
                file_name="specdec_explain.csv",
                words="The waterfall, a row per part.",
            )
            downloads.button(
                "PNG",
                lambda: explain_results.waterfall_png(setup, log),
                file_name="specdec_explain.png",
                words="The waterfall, for print.",
            )
        deploy_take.share(setup.choice)
    _command(setup, log)


def _command(setup: Setup, log: LastLog | None) -> None:
    if setup.choice.source == "numbers" and setup.choice.share is not None:
        st.caption(explain_command.SHARE)
    try:
        said = explain_command.arguments(setup, log)
    except ValueError as error:
        st.caption(plain(str(error)))
        return
    if said:
        logged = setup.choice.source == "deployment" and setup.choice.accept == "log"
        note = f"Your log is {LOG_FILE} there." if logged else ""
        deploy_take.command_line(said, before=explain_command.piped(setup), note=note)


def _known(source: str) -> None:
    """What is known of a run beside its log, or instead of one."""
    deploy_controls.keep_p()
    if source == "numbers":
        left, right = st.columns(2, gap="medium")
        with left:
            deploy_controls.draft_length()
        with right:
            deploy_controls.batch()
        _row("tau", "speed", "plain_speed")
        _row("share", "pass_cost", "step_cost")
    else:
        deploy_controls.keep_gamma()
        log = last_log()
        if log is not None:
            said = f"{log.title}. Speeds that are left unknown here are those that it prints."
            st.caption(plain(said))
        _row("speed", "plain_speed")
        _row("pass_cost", "step_cost")
    st.markdown("**Or take V and c from a prediction**, for this deployment:")
    deploy_controls.what_runs()
    setup = explain_results.setup_of_run(deploy_widgets.current(), last_log())
    context = setup.choice.context
    st.button(
        "Take V and c from this deployment",
        icon=":material/download:",
        on_click=_fill,
        args=(setup,),
        help="What bytes and operations predict; the context is that of *Plan* and *Where it breaks*.",
    )
    st.caption(f"At γ = {setup.gamma}, batch {setup.batch:,} and {context:,} tokens of context.")


def _row(*names: str) -> None:
    for column, name in zip(st.columns(len(names), gap="medium"), names, strict=True):
        with column:
            deploy_widgets.number(name)


def _fill(setup: Setup) -> None:
    """V and c as predicted, into the fields."""
    try:
        cost = deploy_results.deployment(setup).target
        ratio = deploy_results.cost_ratio(setup)
    except ValueError as error:
        deploy_widgets.tell(str(error))
        return
    verify = float(cost.verify_cost(setup.gamma + 1, setup.batch, setup.choice.context))
    deploy_widgets.change(pass_cost=round(verify, 4), step_cost=round(ratio, 4))
