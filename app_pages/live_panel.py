"""Charts that follow while a slider is dragged: they compute in the browser, without the server."""

from __future__ import annotations

from importlib.util import find_spec

import pandas as pd
import streamlit as st

import analysis as an
import simulator as sim
from analysis.live.pictures import Picture, with_sliders
from analysis.live.setting import LiveSetting
from app_pages import chart, downloads
from app_pages.safety_net import net
from app_pages.state import MAX_GAMMA, Settings

_NAMES = {
    Picture.SPEEDUP: "Speedup over γ",
    Picture.TOKENS: "Tokens and their price",
    Picture.MAP: "Where it pays",
    Picture.TRAP: "What an engine prints",
}
_TABLE = "the table over γ, for the page's numbers"
_WORDS = {
    Picture.SPEEDUP: "Circle: your γ. Diamond: the best. Dashed: plain decoding. The table over γ above has "
    "the numbers behind the curve at the page's setting.",
    Picture.TOKENS: "Solid: the tokens that a round gives. Dashed: the plain steps it costs. Their ratio is "
    "the speedup: it pays where the solid line is above.",
    Picture.MAP: "Grey loses, blue gains, at the γ of the slider. The dashed line is the break-even, the dot "
    "is you.",
    Picture.TRAP: "p stays. What an engine prints as acceptance rate is accepted / drafted and falls with γ: "
    "behind a rejected token, drafted ones are never tested.",
}


def panel(settings: Settings) -> None:
    """The section: which picture, the picture with its own sliders, the page to take along."""
    st.header("Drag and see", divider="gray")
    st.markdown(
        "These sliders start at the numbers above and redraw **while** you drag. They move this picture "
        "only: to keep a setting, enter its numbers above."
    )
    _pictures(settings)
    _take_along(settings)


@st.fragment
@net()
def _pictures(settings: Settings) -> None:
    picture = st.segmented_control(
        "Picture",
        list(_NAMES),
        default=Picture.SPEEDUP,
        format_func=_NAMES.__getitem__,
        key="live_picture",
        label_visibility="collapsed",
        required=True,
        help="Four pictures of the same formula. Each has its own sliders.",
    )
    _draw(Picture(picture), _start(settings))


def trap(p: float, gamma: int) -> None:
    """p against accepted / drafted and survival, with sliders of its own that start at p and gamma."""
    start = LiveSetting(p=p, gamma=gamma, cost_ratio=0.1)
    chart.show(_spec(Picture.TRAP, start), key="live_trap", table=lambda: trap_table(p))
    st.caption(_WORDS[Picture.TRAP])


def trap_table(p: float) -> pd.DataFrame:
    """The numbers of `trap` at one p, a row per γ."""
    rows = [
        {
            "γ": gamma,
            "p": p,
            "accepted / drafted": an.round_law(sim.draft_model(p=p, gamma=gamma)).accepted_fraction,
            "all kept so far": p**gamma,
        }
        for gamma in range(1, MAX_GAMMA + 1)
    ]
    return pd.DataFrame(rows)


def _draw(picture: Picture, start: LiveSetting) -> None:
    chart.show(_spec(picture, start), key=f"live_{picture}", beside=_TABLE)
    st.caption(_WORDS[picture])


@st.cache_data(max_entries=256, show_spinner=False)
def _spec(picture: Picture, start: LiveSetting) -> dict[str, object]:
    return with_sliders(picture, start)


def _start(settings: Settings) -> LiveSetting:
    return LiveSetting(
        p=settings.p,
        gamma=settings.gamma,
        cost_ratio=settings.cost_ratio,
        verify_cost=settings.verify_cost,
        overhead=settings.overhead,
    )


def _take_along(settings: Settings) -> None:
    if find_spec("vl_convert") is None:
        st.caption(
            'All of it as one HTML file for an article: `specdec embed`, after `pip install -e ".[embed]"`.'
        )
        return
    downloads.button(
        "HTML for an article",
        lambda: page_html(settings),
        file_name="specdec_explorer.html",
        words="The explorer at these numbers as one file that needs no network: `specdec embed`.",
    )


def page_html(settings: Settings) -> bytes:
    """What `specdec embed` writes for these numbers."""
    from analysis.embed.document import embedded_page  # noqa: PLC0415 — of the extra `embed`

    return embedded_page(_start(settings)).encode()
