"""What can be taken along from the three pages: a link, the command that says the same, files."""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Sequence

import streamlit as st

from app_pages import sharing
from app_pages.deployment import address, command
from app_pages.deployment.choice import Choice
from app_pages.deployment.results import Setup
from app_pages.plain_text import plain

_LOG_STAYS = "Your log does not travel with it: its reader must give one too, under *Import*."


def share(choice: Choice, link: str | None = None) -> None:
    """The link that brings another browser here; `link` where it says more than the choice."""
    logged = choice.accept == "log" or choice.source == "log"
    sharing.popover(link or share_link(choice), stays=_LOG_STAYS if logged else "")


def the_command(
    setup: Setup, verb: Sequence[str], *, more: Sequence[str] = (), note: str = ""
) -> None:
    """The command that prints the same of this deployment."""
    try:
        described = command.options(setup.choice, setup.log)
    except ValueError as error:
        st.caption(plain(str(error)))
        return
    if setup.choice.accept == "log":
        note = f"{note} Your log is engine.log there.".strip()
    command_line([*verb, *described, *more], note=note)


def command_line(arguments: Sequence[str], *, before: str = "", note: str = "") -> None:
    """A command of specdec, to copy; `before` is what pipes into it."""
    with st.expander("The same on the command line", icon=":material/terminal:"):
        st.code(before + shlex.join(["specdec", *arguments]), language="bash", wrap_lines=True)
        if note:
            st.caption(note)


def share_link(choice: Choice) -> str:
    """The address of this page with the whole choice, the numbers of all pages with it."""
    return sharing.link(address.query(choice))


def settings_json(setup: Setup, **parts: object) -> bytes:
    """The choice as strict JSON, and each part that a page adds under its name."""
    record = {"schema_version": 1, **dataclasses.asdict(setup.choice), "gamma": setup.gamma}
    return json.dumps(record | parts, indent=2, allow_nan=False).encode()
