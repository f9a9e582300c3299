"""The page one floor down: two distributions over the next word, and the rule that decides."""

from __future__ import annotations

import streamlit as st

from app_pages import chart, to_explore
from app_pages.one_token import results as token_results
from app_pages.one_token import words as token_words
from app_pages.one_token.choice import Choice
from app_pages.one_token.controls import controls
from app_pages.one_token.decisions import panel
from app_pages.one_token.pairs import SENTENCE
from app_pages.one_token.story import share
from app_pages.questions.asking import ask
from app_pages.questions.token import ONE_TOKEN


def page(explore: st.Page) -> None:
    """Draw the page; `explore` is where its p can be taken."""
    st.title("One token: keep it or replace it?")
    st.markdown(
        f"*“{SENTENCE}”* The **draft** has written the next word. Both models have an opinion on "
        "every word, the target's is **P**, the draft's **Q**. A rule decides whether the draft's "
        "word stands or another takes its place. This is where **p** comes from."
    )
    choice = controls()
    _verdict(choice)
    _opinions(choice, explore)
    panel(choice)
    _temperatures(choice)
    ask("one_token", ONE_TOKEN, choice)
    _limits()


def _verdict(choice: Choice) -> None:
    kind, sentence = token_words.losslessness(choice, token_results.laws(choice))
    show, icon = {
        "lossless": (st.success, ":material/verified:"),
        "lossy": (st.error, ":material/warning:"),
    }.get(kind, (st.info, ":material/info:"))
    show(sentence, icon=icon)


def _opinions(choice: Choice, explore: st.Page) -> None:
    laws = token_results.laws(choice)
    left, right = st.columns([3, 2], gap="large")
    with left:
        chart.show(
            token_results.overlap_spec(choice),
            key="overlap_chart",
            table=lambda: token_results.overlap_table(choice),
        )
    with right:
        _numbers(choice)
        st.markdown(token_words.acceptance(choice, laws))
        to_explore.button(laws.acceptance, None, explore, key="token_p")
        if laws.rejects:
            chart.show(token_results.replacement_spec(choice), key="replacement_chart")
            st.caption(token_words.replacement(choice))
        else:
            st.info("Nothing is ever rejected here, so nothing is replaced.")


def _numbers(choice: Choice) -> None:
    laws = token_results.laws(choice)
    first, second = st.columns(2)
    first.metric(
        "Overlap of P and Q",
        share(laws.overlap),
        "Σ min(P, Q)",
        delta_color="off",
        delta_arrow="off",
        border=True,
        help="1 less the total variation of the two: how much probability they agree on.",
    )
    second.metric(
        "p under this rule",
        share(laws.acceptance),
        "exact",
        delta_color="off",
        delta_arrow="off",
        border=True,
        help="The chance that a tested word is kept: the p of the other pages.",
    )


def _temperatures(choice: Choice) -> None:
    st.header("p against temperature")
    left, right = st.columns([3, 2], gap="large")
    with left:
        chart.show(token_results.curves_spec(choice), key="curves_chart")
    with right:
        st.markdown(
            f"Thick: **{token_words.rule_name(choice)}**, for words that are {choice.picked} and, "
            f"as a line of its own, for the other way of picking. Thin: the other rules for "
            f"{choice.picked} words. The dot is where the sliders stand.\n\n"
            "At temperature 0 both models know one word only, and every rule asks the same: is it "
            "the same word? Heat makes both flat: speculative sampling then lives on their overlap, "
            "while sample and match needs two dice to show one word, which grows rare. Typical "
            "acceptance jumps wherever a word crosses its threshold."
        )
        st.caption(f"Source of the rule: {choice.verification.source}.")


def _limits() -> None:
    with st.expander("Assumptions and limits", icon=":material/rule:"):
        st.markdown(
            "- **One word, ten candidates.** A real vocabulary has tens of thousands; every formula "
            "here is a sum over it and stays as it is.\n"
            "- **A draft of length 1.** Longer ones repeat this decision until the first rejection. "
            "Only block verification judges them as a whole, and only there does it keep more. The "
            "bonus token that follows a draft kept whole is not shown.\n"
            "- **Temperature, top-k and top-p act on both models**, as engines do for speculative "
            "sampling. A draft with a temperature of its own is another Q.\n"
            "- **Lossless is said of the distribution**: single words differ from what the target "
            "would have written with the same dice.\n"
            "- **Exact numbers are sums over every draft and verdict**, the sampled ones are counts "
            "of the engine's own decisions. Neither is computed from the other."
        )
