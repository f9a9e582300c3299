"""The page that plans: a draft length for every batch, off included, and the engine's configuration."""

from __future__ import annotations

import streamlit as st

from analysis.output import to_csv, to_json
from app_pages import downloads
from app_pages.deployment import command, log_offer
from app_pages.deployment import controls as deploy_controls
from app_pages.deployment import take_along as deploy_take
from app_pages.deployment.results import Setup
from app_pages.plain_text import plain
from app_pages.plan_page import configurations as plan_configurations
from app_pages.plan_page import inputs as plan_inputs
from app_pages.plan_page import results as plan_results
from app_pages.plan_page import view as plan_view
from app_pages.plan_page.limits import limits
from app_pages.questions.asking import ask
from app_pages.questions.deployment import PLAN


def page() -> None:
    """Draw the page."""
    st.title("Plan")
    st.markdown(
        "One draft length does not suit every hour. Here is **which one to use at which batch**, off "
        "included, how much that gains and how sure it is; and the configuration that tells your engine."
    )
    deploy_controls.begin()
    log_offer.offer()
    deploy_controls.what_runs()
    deploy_controls.advanced()
    accept, held = st.columns(2, gap="medium")
    with accept:
        deploy_controls.acceptance()
    with held:
        deploy_controls.context()
    plan_inputs.inputs()
    deploy_controls.keep_gamma()
    setup = deploy_controls.setup(quiet=True)
    try:
        _draw(setup)
    except ValueError as error:
        st.error(plain(str(error)), icon=":material/error:")
    ask("plan", PLAN, setup)
    limits()


def _draw(setup: Setup) -> None:
    found = plan_results.plan_of(setup)
    strategy = _strategy(found.strategies, found.best_single)
    plan_view.show(setup, found, strategy)
    st.header("Your own schedule")
    plan_inputs.own_schedule()
    try:
        lost = plan_results.losses(setup, strategy)
        if lost is not None:
            plan_view.losses(lost)
        else:
            st.caption(f"The plan's own, for {plain(strategy)}: `{found.schedule(strategy).text}`")
    except ValueError as error:
        st.warning(plain(str(error)), icon=":material/error:")
    st.header("Tell your engine")
    plan_configurations.show(setup, strategy)
    st.header("Take it along")
    _take_along(setup, strategy)


def _strategy(names: tuple[str, ...], best: str) -> str:
    """Which strategy the map, the schedule and the configuration are of."""
    if len(names) == 1:
        return names[0]
    chosen = st.selectbox(
        "Map, schedule and configuration of",
        ["the best alone", *names],
        key="plan_strategy",
        format_func=lambda name: f"{name}: {best}" if name not in names else name,
        help="An engine keeps its strategy: the best alone is the one that loses least over all batches.",
        width=420,
    )
    return chosen if chosen in names else best


def _take_along(setup: Setup, strategy: str) -> None:
    report = plan_results.report_of(setup)
    with st.container(horizontal=True, gap="small"):
        downloads.button(
            "CSV",
            lambda: to_csv(report).encode(),
            file_name="specdec_plan.csv",
            words="The plan, a row per batch.",
        )
        downloads.button(
            "JSON",
            lambda: to_json(report).encode(),
            file_name="specdec_plan.json",
            words="The plan with every strategy and length: what `specdec plan --format json` prints.",
        )
        downloads.button(
            "Lengths, PNG",
            lambda: plan_results.lengths_png(setup),
            file_name="specdec_plan.png",
            words="The draft length over batch, for print.",
        )
        downloads.button(
            "Map, PNG",
            lambda: plan_results.map_png(setup, strategy),
            file_name="specdec_plan_map.png",
            words="The speedup over draft length and batch, for print.",
        )
        deploy_take.share(setup.choice)
    others = [
        word
        for drafter, p in setup.choice.against
        for word in ("--draft", command.other_draft(setup.choice, drafter, p))
    ]
    batches = ",".join(map(str, plan_results.batches(setup)))
    schedule = ["--schedule", setup.choice.schedule] if setup.choice.schedule else []
    price = ["--price", f"{setup.choice.price:.10g}"]
    prefer = [] if setup.choice.prefer == "gain" else ["--prefer", setup.choice.prefer]
    more = [*others, "--batch", batches, *prefer, *price, *schedule]
    deploy_take.the_command(setup, ("plan",), more=more)
