"""A system with more and fewer nodes at the same costs, once per setting: where more stop paying."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import streamlit as st

from analysis.systems.comparing import SystemRow, over_sizes
from analysis.systems.system import System
from analysis.trees.paying import paying_size
from analysis.trees.search import tree_values
from app_pages.systems import building
from app_pages.systems.choice import Choice
from app_pages.systems.results import built
from simulator import Chain, ParallelCandidates, RankAcceptance, Strategy

MOST_SIZES = 128
_DYNAMIC = (*range(1, 17), *range(20, 65, 4), 80, 96, 112, 128)
_CHAINS = range(1, 33)
DRAWN = ("sequoia",)
"""Systems whose children are drawn: the k-th exists only beside the ones before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A draft of so many nodes: tokens per round, cost of a round [plain steps], speedup."""

    nodes: int
    tokens_per_round: float
    round_cost: float
    speedup: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """A system with larger and smaller drafts.

    `best` is the fastest size, 0 nodes where plain decoding is. `loses_from`: the first size that the
    next one makes slower; `behind_from`: the first from which on plain decoding is faster; None if there
    is none among `points`. `chosen_best`: trees are the best ones of their size.
    """

    points: tuple[Size, ...]
    best: Size
    loses_from: int | None
    behind_from: int | None
    chosen_best: bool


@st.cache_resource(max_entries=64, show_spinner=False)
def sizes_of(choice: Choice, name: str) -> Sizes:
    """A system with drafts of other sizes at the same costs; of a `costly` choice.

    Trees are the best ones of each size and depth, chains longer or shorter, dynamic trees keep more or
    fewer nodes, n-grams side by side become more or fewer.
    """
    system = next(each for each in built(choice.costless).systems if each.name == name)
    law = system.strategy.acceptance
    if isinstance(law, RankAcceptance) and system.strategy.is_tree:
        return _of_trees(choice, system, law)
    costs = building.costs_of(choice, building.pass_cost(choice))[name]
    plain = Size(nodes=0, tokens_per_round=1.0, round_cost=1.0, speedup=1.0)
    priced = (
        (row, costs.of_round(row.system.strategy))
        for row in _rows(_any_size(choice.costless), name)
    )
    points = (
        plain,
        *(
            Size(
                nodes=row.nodes,
                tokens_per_round=row.tokens_per_round,
                round_cost=cost,
                speedup=row.tokens_per_round / cost,
            )
            for row, cost in priced
        ),
    )
    behind = [place for place, point in enumerate(points) if point.speedup >= 1.0][-1] + 1
    losing = (
        before.nodes for before, after in pairwise(points[1:]) if after.speedup < before.speedup
    )
    return Sizes(
        points=points,
        best=max(points, key=lambda point: point.speedup),
        loses_from=next(losing, None),
        behind_from=points[behind].nodes if behind < len(points) else None,
        chosen_best=False,
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def _rows(choice: Choice, name: str) -> tuple[SystemRow, ...]:
    """The drafts of other sizes, which no cost changes; of a `costless` choice."""
    system = next(each for each in built(choice).systems if each.name == name)
    return over_sizes([system], _grid(system.strategy))


def _any_size(choice: Choice) -> Choice:
    """The choice with the smallest dynamic tree: the larger ones do not depend on which is chosen."""
    return choice.with_value("e2nodes", 1)


def line_of(choice: Choice, name: str) -> tuple[tuple[int, float], ...]:
    """Tokens in the pass and tokens per round of a system at every size, whatever it costs."""
    strategy = next(each for each in built(choice.costless).systems if each.name == name).strategy
    rides = strategy.verified_tokens - strategy.nodes
    law = strategy.acceptance
    if isinstance(law, RankAcceptance) and strategy.is_tree:
        room = len(sizes_of(choice.costless, name).points) - 1
        values = tree_values(law, room, gaps=name not in DRAWN)
        return tuple((n + rides, float(values[n])) for n in range(1, room + 1))
    points = sizes_of(choice.costless, name).points[1:]
    return tuple((point.nodes + rides, point.tokens_per_round) for point in points)


def _grid(strategy: Strategy) -> range | tuple[int, ...]:
    if isinstance(strategy.acceptance, ParallelCandidates):
        step = max(strategy.draft.gamma, 1)
        return range(step, max(MOST_SIZES, strategy.nodes) + 1, step)
    return _CHAINS if isinstance(strategy.draft, Chain) else _DYNAMIC


def _of_trees(choice: Choice, system: System, law: RankAcceptance) -> Sizes:
    costs = building.costs_of(choice, building.pass_cost(choice))[system.name]
    found = paying_size(
        law,
        cost_ratio=costs.cost_ratio,
        verify_cost=costs.verify_cost,
        max_nodes=MOST_SIZES,
        steps=system.strategy.steps,
        overhead=costs.overhead,
        gaps=system.name not in DRAWN,
    )
    points = tuple(
        Size(
            nodes=point.nodes,
            tokens_per_round=point.tokens_per_round,
            round_cost=point.round_cost,
            speedup=point.speedup,
        )
        for point in found.points
    )
    return Sizes(
        points=points,
        best=next(point for point in points if point.nodes == found.best.nodes),
        loses_from=found.loses_from,
        behind_from=found.behind_plain_from,
        chosen_best=True,
    )
