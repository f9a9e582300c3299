"""What can be taken along from the page of failure modes: files, a link with the arrivals, the command."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from app_pages import downloads
from app_pages.deployment import take_along as deploy_take
from app_pages.deployment.choice import Choice
from app_pages.deployment.results import Setup
from app_pages.where_it_breaks import arrivals, figures
from app_pages.where_it_breaks import results as break_results
from app_pages.where_it_breaks.arrivals import Load

_NAME = "specdec_where_it_breaks"


def show(setup: Setup, load: Load) -> None:
    """Draw downloads, the link and the command."""
    with st.container(horizontal=True, gap="small"):
        downloads.button(
            "CSV",
            lambda: break_results.table_csv(setup),
            file_name=f"{_NAME}.csv",
            words="The table over batches.",
        )
        for label, (draw, words) in figures.FIGURES.items():
            downloads.button(
                f"{label}, PNG",
                lambda draw=draw: draw(setup),  # type: ignore[misc]
                file_name=f"{_NAME}_{label.lower().replace(' ', '_')}.png",
                words=f"{words}, for print.",
            )
        downloads.button(
            "Settings, JSON",
            lambda: deploy_take.settings_json(setup, arrivals=arrivals.record(load)),
            file_name=f"{_NAME}_settings.json",
            words="Everything that was chosen of the deployment and of the arrivals, by name.",
        )
        deploy_take.share(setup.choice, share_link(setup.choice, load))
    deploy_take.the_command(setup, ("plan",))


def share_link(choice: Choice, load: Load) -> str:
    """The address of this page with the deployment and what arrives."""
    link, said = deploy_take.share_link(choice), urlencode(arrivals.query(load))
    if not said:
        return link
    return f"{link}{'&' if '?' in link else '?'}{said}"
