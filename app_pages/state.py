"""The settings that all pages share: their names in the address, their ranges, their words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

MAX_GAMMA = 16
ROUNDS = (
    *(10**k * m for k in (3, 4, 5) for m in (1, 2, 5)),
    10**6,
    10**9,
)
MOST_FLIPPED = 10**6
"""Above it the counts are drawn directly, which takes no time at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One number of the settings; `key` is its name in the address and never changes."""

    key: str
    name: str
    label: str
    low: float
    high: float
    default: float
    step: float
    decimals: int
    help: str
    choices: tuple[int, ...] = ()

    @property
    def whole(self) -> bool:
        """True for counts, which have no decimals."""
        return self.decimals == 0

    def problem(self, value: object) -> str | None:
        """The sentence for a value that cannot be used; None if it can."""
        said = f"got {value!s:.60}." if str(value).strip() else "got nothing."
        try:
            number = float(str(value).replace(",", ""))
        except ValueError:
            number = math.nan
        if self.choices and number not in self.choices:
            steps = ", ".join(f"{choice:,}" for choice in self.choices)
            return f"{self.name} must be one of {steps}; {said}"
        if self.low <= number <= self.high and not (self.whole and number != int(number)):
            return None
        kind = "a whole number" if self.whole else "a number"
        return f"{self.name} must be {kind} in [{self.low:g}, {self.high:.12g}]; {said}"


P = Field(
    key="p",
    name="p",
    label="Acceptance p",
    low=0.0,
    high=1.0,
    default=0.7,
    step=0.01,
    decimals=2,
    help=(
        "The chance that the target keeps a drafted token **that it really tests**.\n\n"
        'Not the "acceptance rate" an engine prints: that is accepted / drafted. It also counts '
        "tokens behind a rejection, which nobody tested, and is lower. Paste your log under "
        "*Import*, or run `specdec import`, to get p from the counts."
    ),
)
GAMMA = Field(
    key="gamma",
    name="γ",
    label="Draft length γ",
    low=1,
    high=MAX_GAMMA,
    default=4,
    step=1,
    decimals=0,
    help=(
        "Tokens drafted per round.\n\nvLLM: `num_speculative_tokens`; llama.cpp: "
        "`--spec-draft-n-max` (older: `--draft-max`); SGLang: `--speculative-num-steps`; "
        "Transformers: `num_assistant_tokens`."
    ),
)
COST = Field(
    key="c",
    name="the cost ratio",
    label="Cost of a draft step c",
    low=0.0,
    high=1.0,
    default=0.1,
    step=0.01,
    decimals=2,
    help=(
        "Time of one draft step / time of one plain target step.\n\nTime both models alone at the "
        "same batch size and divide the milliseconds per token. The ratio of the parameter counts "
        "is only a first guess: a small model spends much of its step on fixed costs."
    ),
)
ROUNDS_FIELD = Field(
    key="rounds",
    name="rounds",
    label="Rounds",
    low=ROUNDS[0],
    high=ROUNDS[-1],
    default=200_000,
    step=1,
    decimals=0,
    help="Rounds to simulate. Four times as many halve the error.",
    choices=ROUNDS,
)
SEED = Field(
    key="seed",
    name="seed",
    label="Seed",
    low=0,
    high=2**31 - 1,
    default=0,
    step=1,
    decimals=0,
    help="The same seed gives the same coin flips, here and in Python.",
)
VERIFY = Field(
    key="v",
    name="V",
    label="Cost of the checking pass V",
    low=0.1,
    high=20.0,
    default=1.0,
    step=0.05,
    decimals=2,
    help=(
        "Time of a target pass over γ + 1 tokens / over 1. It is 1 while the machine waits for "
        "memory, and grows once the batch or a slow processor makes it compute. Time a prompt of "
        "γ + 1 tokens against a single one. Taken as the same for every γ here."
    ),
)
OVERHEAD = Field(
    key="overhead",
    name="overhead",
    label="Fixed overhead per round",
    low=0.0,
    high=10.0,
    default=0.0,
    step=0.05,
    decimals=2,
    help=(
        "What else a round costs, in plain target steps: sampling, bookkeeping, launching the "
        "draft. A profile of your engine shows it; 0 to 0.3 is common."
    ),
)
FIELDS = (P, GAMMA, COST, ROUNDS_FIELD, SEED, VERIFY, OVERHEAD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The numbers on the sliders."""

    p: float
    gamma: int
    cost_ratio: float
    verify_cost: float
    overhead: float

    @property
    def at_article(self) -> bool:
        """True if the round costs only what the article counts."""
        return self.verify_cost == VERIFY.default and self.overhead == OVERHEAD.default


def value_of(field: Field) -> float:
    """The value of a field now, its default before its widget was drawn for the first time."""
    value = st.session_state.get(field.key, field.default)
    if field.problem(value) is not None:  # from a link, until the shell has mended it
        value = field.default
    return int(value) if field.whole else float(value)


def current() -> Settings:
    """The settings of this session."""
    return Settings(
        p=value_of(P),
        gamma=int(value_of(GAMMA)),
        cost_ratio=value_of(COST),
        verify_cost=value_of(VERIFY),
        overhead=value_of(OVERHEAD),
    )


def put(**values: float) -> None:
    """Set fields by key; widgets and address follow."""
    for key, value in values.items():
        st.session_state[key] = value


def remember() -> None:
    """Keep the fields for the next page: Streamlit forgets a widget value that came from the address."""
    st.session_state["remembered"] = {field.key: value_of(field) for field in FIELDS}


def recall(page: str) -> None:
    """On a change of page, set what was remembered, unless the address says otherwise.

    The browser's Back can lead to an address without numbers. Streamlit insists on the defaults in
    such a run, whatever was set: hence one more run before anything is drawn.
    """
    remembered = st.session_state.get("remembered", {})
    changed = st.session_state.get("page", page) != page
    st.session_state["page"] = page
    if went_back() and remembered and not any(key in st.query_params for key in remembered):
        st.session_state["recall"] = remembered
        st.rerun()
    again = st.session_state.pop("recall", None)
    if changed or again:
        values = again or remembered
        put(**{key: value for key, value in values.items() if key not in st.query_params})


def mended() -> bool:
    """Whether this run repeats the one before, which mended the address: what that said is gone."""
    return bool(st.session_state.get("mended"))


def went_back() -> bool:
    """Whether the browser's Back or Forward led here."""
    return bool(getattr(get_script_run_ctx(), "is_history_navigation", False))


def reset() -> None:
    """Everything back to the article's example."""
    put(**{field.key: field.default for field in FIELDS})


def link_problems(query: Mapping[str, str]) -> tuple[tuple[Field, str], ...]:
    """The fields whose value in the address cannot be used, with the sentence that says why.

    Streamlit would fall back without a word; what it falls back to is known once it drew the page.
    """
    problems = ((field, field.problem(query[field.key])) for field in FIELDS if field.key in query)
    return tuple((field, problem) for field, problem in problems if problem is not None)


def share_query() -> str:
    """The query string that brings another browser to these settings; empty at the defaults."""
    changed = {field.key: value_of(field) for field in FIELDS if value_of(field) != field.default}
    texts = {
        key: f"{value:,}" if key == ROUNDS_FIELD.key else str(value)
        for key, value in changed.items()
    }
    return f"?{urlencode(texts)}" if texts else ""
