"""The log that the visitor gave under *Import*, as far as the other pages need it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import streamlit as st

from analysis.fitting import Fit
from app_pages.your_engine import results as engine_results
from app_pages.your_engine.sources import Facts, Given, observation, readings
from simulator import Observation

_KEY = "last_log"


@dataclass(frozen=True, slots=True, kw_only=True)
class LastLog:
    """What was read last: equal ones have the same `key`. `fitted` is None where nothing follows.

    `facts` is what the reader knew beside it; `engine` and `layout` which reading it is, of several.
    """

    key: str
    title: str
    observation: Observation = field(repr=False, compare=False)
    fitted: Fit | None = field(default=None, repr=False, compare=False)
    why_not: str = ""
    facts: Facts = field(default_factory=Facts, repr=False, compare=False)
    engine: str = ""
    layout: str = ""

    @property
    def fits(self) -> bool:
        """True if it gives an acceptance to plan with."""
        return self.fitted is not None and self.fitted.refusal is None


def remember(given: Given, place: int, facts: Facts, title: str) -> None:
    """Keep a reading that the page shows: its counts and its fit, not the log itself.

    Raises ValueError for facts that contradict it, which the page does not show.
    """
    reading = engine_results.reading_at(given, place)
    # Speeds are of the deployment, where other pages can change them: not kept a second time.
    bare = replace(facts, tokens_per_s=None, plain_tokens_per_s=None)
    seen, several = observation(reading, bare), len(readings(given)) > 1
    found, why = None, ""
    try:
        found = engine_results.fitted(given, place, facts)
        why = found.refusal or ""
    except ValueError as error:
        why = str(error)
    st.session_state[_KEY] = LastLog(
        key=f"{given.key} {place} {bare}",
        title=title,
        observation=seen,
        fitted=found,
        why_not=why,
        facts=bare,
        engine=reading.engine if several else "",
        layout=reading.layout if several else "",
    )


def last_log() -> LastLog | None:
    """The log of this session, if there is one."""
    found: LastLog | None = st.session_state.get(_KEY)
    return found


def forget() -> None:
    """The fields under *Import* are empty again."""
    st.session_state.pop(_KEY, None)
