"""What the page of systems shows, computed once per setting: calls into simulator and analysis."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

import simulator as sim
from analysis.output import Report
from analysis.process_laws import process_law
from analysis.systems.comparing import SystemRow, compare_systems
from analysis.systems.presets import preset_names
from analysis.systems.report import systems_report
from analysis.trees.values import node_probabilities
from app_pages import state
from app_pages.deployment.command import hardware
from app_pages.systems import building
from app_pages.systems.building import Built
from app_pages.systems.choice import Choice
from simulator import (
    Chain,
    ContextMixture,
    DynamicTree,
    RankAcceptance,
    Strategy,
    Tree,
)
from simulator._checks import FloatArray
from simulator.trees import ROOT


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """One tree of a system: `kept` is P(a round keeps a node), `given` the same once its parent is, [nodes]."""

    name: str
    share: float
    tree: Tree
    kept: FloatArray
    given: FloatArray


@st.cache_resource(max_entries=128, show_spinner=False)
def built(choice: Choice) -> Built:
    """All systems of a choice, `costly`."""
    return building.all_systems(choice)


@st.cache_resource(max_entries=128, show_spinner=False)
def exact_rows(choice: Choice) -> tuple[SystemRow, ...]:
    """Every system with its exact values and costs; of a `costly` choice."""
    costs = building.costs_of(choice, building.pass_cost(choice))
    return compare_systems(built(choice.costless).systems, costs=costs)


def all_rows(choice: Choice) -> tuple[SystemRow, ...]:
    """The same, with sampled rounds beside them where some were asked for."""
    exact = exact_rows(choice.costly)
    if not choice.sampled:
        return exact
    seed = int(state.value_of(state.SEED))
    return tuple(
        dataclasses.replace(
            row, simulated=sampled_tokens(row.system.strategy, choice.sampled, seed, place)
        )
        for place, row in enumerate(exact)
    )


@st.cache_data(max_entries=512, show_spinner="Sampling rounds …", hash_funcs={Strategy: repr})
def sampled_tokens(strategy: Strategy, rounds: int, seed: int, place: int) -> sim.Estimate:
    """Tokens per round of sampled rounds, from the stream that `specdec strategies` gives that place."""
    stream = np.random.default_rng(seed).spawn(len(preset_names()))[place]
    return sim.simulate(strategy, rounds=rounds, rng=stream).tokens_per_round


def focused(choice: Choice) -> SystemRow:
    """The row of the system that is looked at closely, exact."""
    rows = exact_rows(choice.costly)
    return next(row for row in rows if row.system.name == choice.focus)


def report_of(choice: Choice) -> Report:
    """The table as `specdec strategies` prints it."""
    described = building.is_preset
    own = [name for name in preset_names() if not described(choice, name)]
    return systems_report(
        all_rows(choice),
        parameters=(
            ("cost_ratio", choice.cost_ratio),
            ("own", ",".join(f"{name}={ratio:.10g}" for name, ratio in choice.own) or None),
            ("overhead", choice.overhead),
            *(
                (("slope", choice.slope),)
                if choice.passes == "slope"
                else (
                    ("target", choice.runs.model), ("hardware", hardware(choice.runs)),
                    ("batch", choice.runs.batch), ("context", choice.runs.context),
                )
            ),
            ("changed", ",".join(own) or None),
            *((("rounds", choice.sampled), ("seed", int(state.value_of(state.SEED))))
              if choice.sampled else ()),
        ),
    )  # fmt: skip


@st.cache_resource(max_entries=64, show_spinner=False)
def pictures(choice: Choice, name: str) -> tuple[Picture, ...]:
    """The trees that a system drafts, one per kind of round; a chain is a tree of one path."""
    strategy = next(each.strategy for each in built(choice.costless).systems if each.name == name)
    draft, law = strategy.draft, strategy.acceptance
    if isinstance(draft, Chain):
        found = process_law(law, draft.gamma)
        kept = found.drafted_share * np.asarray(found.survival)
        return (_picture("", 1.0, Tree.chain(draft.gamma), kept),)
    if isinstance(law, ContextMixture):
        shown = []
        for number, context in enumerate(law.contexts):
            rows = context.by_depth
            tree = (
                draft.grow(context.confidences or rows) if isinstance(draft, DynamicTree) else draft
            )
            kind = "easy" if number == 0 else "hard"
            kept = node_probabilities(tree, RankAcceptance(by_depth=rows))
            shown.append(_picture(f"{kind} rounds", context.share, tree, kept))
        return tuple(shown)
    assert isinstance(draft, Tree)  # noqa: S101 — dynamic trees come with contexts here
    return (_picture("", 1.0, draft, node_probabilities(draft, law)),)


def _picture(name: str, share: float, tree: Tree, kept: FloatArray) -> Picture:
    above = np.array([1.0 if parent == ROOT else kept[parent] for parent in tree.parents])
    with np.errstate(invalid="ignore", divide="ignore"):
        given = np.where(above > 0.0, kept / above, np.nan)
    return Picture(name=name, share=share, tree=tree, kept=kept, given=given)


def node_table(picture: Picture) -> pd.DataFrame:
    """Every node: which guess it is on the way, its depth, how often it is kept."""
    tree = picture.tree
    return pd.DataFrame(
        {
            "node": np.arange(1, tree.nodes + 1),
            "guesses": [" › ".join(str(rank + 1) for rank in path) for path in tree.paths],
            "depth": tree.depths,
            "kept, once its parent is": picture.given,
            "kept": picture.kept,
        }
    )
