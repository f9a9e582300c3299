"""What can be taken along from the page of one token: table, file, link, script."""

from __future__ import annotations

import streamlit as st

from app_pages import downloads, sharing
from app_pages.one_token import results as token_results
from app_pages.one_token import snippet as token_snippet
from app_pages.one_token.choice import DECISION, Choice, query
from app_pages.state import SEED

_COLUMNS = {
    "times": st.column_config.NumberColumn(format="localized"),
    **{
        name: st.column_config.NumberColumn(format="%.4f")
        for name in (
            "target P",
            "draft Q",
            "min(P, Q)",
            "kept if drafted",
            "replacement",
            "comes out, exact",
            "came out, sampled",
        )
    },
}


def take_along(choice: Choice, *, seed: int, decision: int) -> None:
    """The table, its file, the link and the script."""
    with st.expander("All numbers, word by word", icon=":material/table_chart:"):
        st.dataframe(
            token_results.table(choice, seed),
            hide_index=True,
            column_config=_COLUMNS,
            key="token_table",
        )
    with st.container(horizontal=True, gap="small"):
        downloads.button(
            "CSV",
            lambda: token_results.table(choice, seed).to_csv(index=False).encode(),
            file_name="one_token.csv",
            words="Both distributions, what the rule makes of each word, and what came out.",
        )
        sharing.popover(share_link(choice, seed=seed, decision=decision))
    with st.expander("The same in Python", icon=":material/terminal:"):
        st.code(token_snippet.python(choice, seed), language="python", wrap_lines=True)


def share_link(choice: Choice, *, seed: int, decision: int) -> str:
    """The address that brings another browser here."""
    said = query(choice)
    if seed != SEED.default:
        said[SEED.key] = str(seed)
    if decision != DECISION.default:
        said[DECISION.key] = str(decision)
    return sharing.link(said, shared=False)
