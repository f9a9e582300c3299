"""The deployment behind a choice, built once per setting: calls into analysis, no formulas."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

import analysis as an
from analysis.deployment.deployment import Deployment
from analysis.deployment.round_parts import RoundParts
from app_pages.deployment import choice as choices
from app_pages.deployment.choice import Choice, Drafter
from app_pages.deployment.log import LastLog
from app_pages.state import MAX_GAMMA

GAMMAS = tuple(range(MAX_GAMMA + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What the pages compute from: a choice, and the log where the acceptance comes from it."""

    choice: Choice
    log: LastLog | None = None
    room: int | None = None
    """Requests that fit beside the draft at this context; None if there is no limit, or it is not known."""

    @property
    def batch(self) -> int:
        """The batch on the slider, as far as it fits the memory."""
        return self.choice.batch if self.room is None else min(self.choice.batch, self.room)

    @property
    def gamma(self) -> int:
        """The draft length on the slider, as far as the acceptance says something."""
        return min(self.choice.gamma, longest(self))


def key_of(setup: Setup) -> str:
    """What tells setups apart in a cache."""
    return f"{setup.choice!r} {setup.room} {setup.log.key if setup.log else ''}"


BY_SETUP: dict[str | type[Any], Callable[[Any], Any]] = {Setup: key_of}


def acceptance_of(setup: Setup) -> an.Fit:
    """How often drafts are accepted. Raises ValueError without a log that says so."""
    if setup.choice.accept != "log":
        return choices.assumed(setup.choice)
    if setup.log is None:
        raise ValueError(
            "There is no log yet: paste or drop one under Import, or choose one p at every depth."
        )
    if not setup.log.fits or setup.log.fitted is None:
        raise ValueError(f"The log gives no acceptance to plan with: {setup.log.why_not}")
    return setup.log.fitted


def longest(setup: Setup) -> int:
    """The longest draft that the acceptance says something about, of those that are tried."""
    if setup.choice.accept != "log" or setup.log is None or setup.log.fitted is None:
        return setup.choice.longest
    known = setup.log.fitted.longest
    return MAX_GAMMA if known is None else min(known, MAX_GAMMA)


@st.cache_resource(max_entries=128, show_spinner=False, hash_funcs=BY_SETUP)
def deployment(setup: Setup) -> Deployment:
    """The deployment that was chosen. Raises ValueError for what does not fit together."""
    return choices.built(setup.choice, acceptance_of(setup))


@st.cache_resource(max_entries=128, show_spinner=False, hash_funcs=BY_SETUP)
def other(setup: Setup, drafter: Drafter, p: float, name: str) -> Deployment:
    """Another draft for the same target on the same machine, with a p of its own."""
    changed = replace(setup.choice, accept="p", p=p)
    return replace(choices.built(changed, choices.assumed(changed), drafter=drafter), name=name)


def with_room(setup: Setup) -> Setup:
    """The setup with what fits its memory; as it is where not one request does, which parts then say."""
    try:
        most = deployment(setup).most_requests(setup.choice.context)
    except ValueError:
        return setup
    return setup if math.isinf(most) or most < 1.0 else replace(setup, room=int(most))


def parts_of(setup: Setup) -> RoundParts:
    """One round at the chosen length, batch and context. Raises ValueError where it does not fit."""
    choice = setup.choice
    return deployment(setup).parts(setup.gamma, setup.batch, choice.context)


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=BY_SETUP)
def best_here(setup: Setup) -> an.BestFit:
    """The best draft length at the chosen batch and context."""
    choice, found = setup.choice, deployment(setup)
    costs = found.round_costs(longest(setup), setup.batch, choice.context)
    return found.acceptance.best_gamma(costs, GAMMAS)


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=BY_SETUP)
def speedups_over_p(setup: Setup, gammas: tuple[int, ...], points: int = 101) -> np.ndarray:
    """Speedup at every p from 0 to 1 if one p held at every depth, shape [gammas, points]."""
    choice, found = setup.choice, deployment(setup)
    p = np.linspace(0.0, 1.0, points)
    rounds = found.round_s(gammas, setup.batch, choice.context)
    plain = float(found.target.seconds(setup.batch, 1, choice.context))
    tokens = np.stack([np.asarray(an.expected_tokens(p, gamma)) for gamma in gammas])
    return tokens * (plain / rounds)[:, None]


def break_even_p(setup: Setup, *, batch: float | None = None) -> float | None:
    """The p from which on the chosen length does not lose at a batch; None if none pays."""
    choice, found = setup.choice, deployment(setup)
    batch = setup.batch if batch is None else batch
    seconds = float(found.round_s([setup.gamma], batch, choice.context)[0])
    cost = seconds / float(found.target.seconds(batch, 1, choice.context))
    return an.break_even_p(setup.gamma, 0.0, verify_cost=cost)


def cost_ratio(setup: Setup) -> float:
    """c: the drafting of a round / its length, in plain steps at the chosen batch."""
    choice, found = setup.choice, deployment(setup)
    drafting = float(found.drafting.seconds(setup.gamma, setup.batch, choice.context))
    plain = float(found.target.seconds(setup.batch, 1, choice.context))
    return drafting / setup.gamma / plain
