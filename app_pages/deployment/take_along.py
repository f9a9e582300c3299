"""What can be taken along from the three pages: a link, the command that says the same, files."""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from app_pages import downloads, state
from app_pages.deployment import address, command
from app_pages.deployment.choice import Choice
from app_pages.deployment.results import Setup
from app_pages.plain_text import plain


def show(
    setup: Setup,
    name: str,
    csv: Callable[[Setup], bytes] | None = None,
    *,
    figures: Mapping[str, tuple[Callable[[Setup], bytes], str]] | None = None,
    verb: Sequence[str] = ("plan",),
    more: Sequence[str] = (),
    note: str = "",
) -> None:
    """Draw downloads, the link and the command; `figures` has by name what draws each and words for it."""
    with st.container(horizontal=True, gap="small"):
        if csv is not None:
            downloads.button(
                "CSV", lambda: csv(setup), file_name=f"specdec_{name}.csv", words="The table above."
            )
        for label, (draw, words) in (figures or {}).items():
            downloads.button(
                f"{label}, PNG",
                lambda draw=draw: draw(setup),  # type: ignore[misc]
                file_name=f"specdec_{name}_{label.lower().replace(' ', '_')}.png",
                words=f"{words}, for print.",
            )
        downloads.button(
            "Settings, JSON",
            lambda: settings_json(setup),
            file_name=f"specdec_{name}_settings.json",
            words="Everything that was chosen, by name.",
        )
        share(setup.choice)
    the_command(setup, verb, more=more, note=note)


def share(choice: Choice) -> None:
    """The link that brings another browser here."""
    with st.popover("Share", icon=":material/link:"):
        st.write("The address bar holds this deployment. To copy:")
        st.code(share_link(choice), language=None, wrap_lines=True)
        if choice.accept == "log":
            st.caption("Your log does not travel with it: its reader must give one too.")


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
    shared = dict(parse_qsl(state.share_query().lstrip("?")))
    said = {**shared, **address.query(choice)}
    here = (st.context.url or "").split("?")[0].rstrip("/")
    return f"{here}?{urlencode(said)}" if said else here


def settings_json(setup: Setup) -> bytes:
    """The choice as strict JSON."""
    record = {"schema_version": 1, **dataclasses.asdict(setup.choice), "gamma": setup.gamma}
    return json.dumps(record, indent=2, allow_nan=False).encode()
