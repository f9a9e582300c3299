"""What the page of one token shows, computed once per setting: calls into simulator and analysis."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

import simulator as sim
from analysis.tokens.acceptance import acceptance_probability, total_variation
from analysis.tokens.emitted_law import emitted_law, target_law
from analysis.tokens.one_decision import one_decision
from analysis.tokens.temperature import acceptance_by_temperature
from app_pages.one_token import charts as token_charts
from app_pages.one_token.choice import DECISIONS, TEMPERATURE, Choice
from app_pages.one_token.laws import Curve, Curves, Laws, Sample
from app_pages.one_token.pairs import WORDS
from simulator.rules import RULES, Picked, RuleName

_RULES = {rule.name: rule for rule in RULES}
_ALIKE: dict[RuleName, RuleName] = {
    "block_verification": "speculative_sampling",
    "one_hot": "sample_and_match",
}
"""At a single token these keep exactly as the other does: one line for both."""
_LINES: dict[RuleName, str] = {
    "speculative_sampling": "speculative, block",
    "greedy": "greedy",
    "sample_and_match": "match, one-hot",
    "typical_acceptance": "typical",
    "lenience": "lenience",
}


@st.cache_data(max_entries=256, show_spinner=False)
def probabilities(choice: Choice) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Target and draft after temperature and filters."""
    target, draft = (choice.sampling.probabilities(logits) for logits in choice.logits)
    return tuple(target.tolist()), tuple(draft.tolist())


@st.cache_data(max_entries=256, show_spinner=False)
def laws(choice: Choice) -> Laws:
    """Everything exact about one decision under a choice."""
    target, draft = probabilities(choice)
    how = {"rule": choice.verification, "picked": choice.picked}
    law = emitted_law(lambda _: target, lambda _: draft, gamma=1, length=1, **how)
    return Laws(
        words=WORDS,
        target=target,
        draft=draft,
        decision=one_decision(target, draft, **how),
        acceptance=float(acceptance_probability(target, draft, **how)),
        overlap=1.0 - float(total_variation(target, draft)),
        emitted=tuple(float(law.weights.get((token,), 0.0)) for token in range(len(WORDS))),
        distance=float(law.distance(target_law(lambda _: target, length=1))),
    )


@st.cache_data(max_entries=64, show_spinner=False)
def sample(choice: Choice, seed: int) -> Sample:
    """The engine's decisions: drafts drawn or chosen, then judged by `simulator.verify`."""
    target, draft = (np.asarray(row)[None] for row in probabilities(choice))
    rng = np.random.default_rng(seed)
    here = np.zeros((DECISIONS, 1), dtype=np.int64)
    drafted = (
        sim.draw(np.repeat(draft, DECISIONS, axis=0), rng=rng)
        if choice.picked == "drawn"
        else np.full(DECISIONS, draft.argmax())
    )
    verdict = sim.verify(
        target,
        draft if choice.verification.needs_draft_probs else None,
        drafted[:, None],
        rule=choice.verification,
        rng=rng,
        contexts=(np.repeat(here, 2, axis=1), here),
    )
    kept = verdict.lengths > 0
    return Sample(
        drafted=drafted,
        emitted=np.where(kept, drafted, verdict.next_token),
        kept=kept,
        vocabulary=len(WORDS),
    )


@st.cache_data(max_entries=128, show_spinner=False)
def curves(choice: Choice) -> Curves:
    """p by temperature for every rule, and for the reader's own with drafts picked the other way."""
    steps = round((TEMPERATURE.high - TEMPERATURE.low) / TEMPERATURE.step)
    temperatures = [TEMPERATURE.step * step for step in range(steps + 1)]
    mine = _ALIKE.get(choice.rule, choice.rule)
    rules = [choice.verification if name == choice.rule else _RULES[name] for name in _LINES]
    ways: tuple[Picked, ...] = (
        choice.picked,
        "chosen" if choice.picked == "drawn" else "drawn",
    )
    lines = [
        Curve(
            name=_LINES[curve.rule.name] if picked == choice.picked else f"yours, if {picked}",
            yours=curve.rule.name == mine,
            p=curve.p,
        )
        for picked in ways
        for curve in acceptance_by_temperature(
            *(logits[None] for logits in choice.logits),
            temperatures,
            rules=rules,
            picked=picked,
            sampling=choice.sampling,
        )
        if picked == choice.picked or curve.rule.name == mine
    ]
    return Curves(temperatures=tuple(temperatures), lines=tuple(lines))


@st.cache_data(max_entries=256, show_spinner=False)
def overlap_spec(choice: Choice) -> dict[str, object]:
    """The two distributions as a Vega-Lite specification."""
    return token_charts.overlap_bars(laws(choice)).to_dict(validate=False)


@st.cache_data(max_entries=256, show_spinner=False)
def replacement_spec(choice: Choice) -> dict[str, object]:
    """The replacements as a Vega-Lite specification."""
    return token_charts.replacement_bars(laws(choice)).to_dict(validate=False)


@st.cache_data(max_entries=128, show_spinner=False)
def emitted_spec(choice: Choice, seed: int) -> dict[str, object]:
    """What came out as a Vega-Lite specification."""
    return token_charts.emitted_bars(laws(choice), sample(choice, seed)).to_dict(validate=False)


@st.cache_data(max_entries=128, show_spinner=False)
def curves_spec(choice: Choice) -> dict[str, object]:
    """p over temperature as a Vega-Lite specification."""
    return token_charts.acceptance_lines(
        curves(replace(choice, temperature=1.0)),
        temperature=choice.temperature,
        here=laws(choice).acceptance,
    ).to_dict(validate=False)


@st.cache_data(max_entries=128, show_spinner=False)
def table(choice: Choice, seed: int) -> pd.DataFrame:
    """The numbers behind the charts, one row per word."""
    law, drawn = laws(choice), sample(choice, seed)
    return pd.DataFrame(
        {
            "word": law.words,
            "target P": law.target,
            "draft Q": law.draft,
            "min(P, Q)": np.minimum(law.target, law.draft),
            "kept if drafted": [
                keep if q > 0.0 else None
                for keep, q in zip(law.decision.keep, law.draft, strict=True)
            ],
            "replacement": law.decision.replacement,
            "comes out, exact": law.emitted,
            "came out, sampled": drawn.shares,
            "times": drawn.counts,
        }
    )


def overlap_table(choice: Choice) -> pd.DataFrame:
    """Both distributions and what they agree on, one row per word."""
    law = laws(choice)
    return pd.DataFrame(
        {
            "word": law.words,
            "target P": law.target,
            "draft Q": law.draft,
            "min(P, Q)": np.minimum(law.target, law.draft),
        }
    )


def emitted_table(choice: Choice, seed: int) -> pd.DataFrame:
    """What came out beside what should, one row per word."""
    names = ["word", "came out, sampled", "times", "target P", "comes out, exact"]
    return table(choice, seed)[names]


def deviation(choice: Choice, seed: int) -> float:
    """Sampled less exact acceptance, in standard errors of the exact one."""
    exact, drawn = laws(choice).acceptance, sample(choice, seed)
    spread = math.sqrt(max(exact * (1.0 - exact), 0.0) / drawn.rounds)
    difference = drawn.acceptance.value - exact
    if spread > 1e-9:
        return difference / spread
    return 0.0 if abs(difference) < 1e-9 else math.copysign(math.inf, difference)
