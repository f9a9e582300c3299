"""A system as one value: its way of drafting, what its steps cost, and what print says of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from analysis.exact import round_law
from analysis.process_laws import process_tokens_per_round
from analysis.trees.search import best_tree
from simulator import (
    AcceptanceByDepth,
    Chain,
    ContextMixture,
    DynamicTree,
    HitMiss,
    ParallelCandidates,
    RankAcceptance,
    Strategy,
    Tree,
)
from simulator._checks import as_count, as_nonnegative
from simulator.mixtures import TEXT_PROCESSES


@dataclass(frozen=True, slots=True, kw_only=True)
class PassPoints:
    """V(n) at measured widths, ((n, V), …) with n rising, and on the straight line between two of them.

    Raises ValueError for fewer than two points, widths that do not rise, negative costs and a V(1) that is
    not 1; asked outside its points likewise, for nothing is known there.

    >>> PassPoints(points=((1, 1.0), (5, 1.2), (65, 1.8)))(35)
    1.5
    """

    points: tuple[tuple[int, float], ...]

    def __post_init__(self) -> None:
        for width, cost in self.points:
            as_count("width of a pass", width, least=1)
            as_nonnegative("verify_cost", cost)
        rises = all(one[0] < other[0] for one, other in pairwise(self.points))
        if len(self.points) < 2 or not rises:
            raise ValueError(
                f"points must be two or more (n, V) with n rising; got {self.points!r}."
            )
        if self.points[0][0] == 1 and self.points[0][1] != 1.0:
            raise ValueError(
                f"V(1) must be 1, the plain step that costs are counted in; got {self.points[0][1]:g}."
            )

    def __call__(self, width: int) -> float:
        """V(width); ValueError for a width outside the points."""
        first, last = self.points[0][0], self.points[-1][0]
        if not first <= width <= last:
            raise ValueError(
                f"V(n) is given for passes over {first} to {last} tokens; n = {width} is needed, too."
            )
        widths = [point[0] for point in self.points]
        costs = [point[1] for point in self.points]
        return float(np.interp(width, widths, costs))


PassVerifyCost: TypeAlias = float | Callable[[int], float]
"""V(n) of a pass over n tokens: one number for every width, `PassPoints`, or any function of n."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemCosts:
    """What a round of a system pays for, in plain target steps.

    `cost_ratio` is one draft step / a plain target step, `verify_cost` V(n), `overhead` what a round takes
    beside both. Raises ValueError for negative costs.
    """

    cost_ratio: float
    verify_cost: PassVerifyCost = 1.0
    overhead: float = 0.0

    def __post_init__(self) -> None:
        as_nonnegative("cost_ratio", self.cost_ratio)
        as_nonnegative("overhead", self.overhead)
        if not callable(self.verify_cost):
            as_nonnegative("verify_cost", self.verify_cost)

    def of_pass(self, width: int) -> float:
        """V(width)."""
        if callable(self.verify_cost):
            return as_nonnegative(f"verify_cost({width})", self.verify_cost(width))
        return float(self.verify_cost)

    def of_round(self, strategy: Strategy) -> float:
        """draft steps · cost_ratio + V(tokens in the pass) + overhead [plain target steps], on average.

        A round whose look-up finds nothing has no draft: its pass holds the text's last token and what
        rides along.

        >>> from simulator import draft_model
        >>> SystemCosts(cost_ratio=0.1).of_round(draft_model(p=0.7, gamma=4))
        1.4
        """
        found = _found_share(strategy)
        drafted = strategy.draft_steps * self.cost_ratio + self.of_pass(strategy.verified_tokens)
        missed = 0.0 if found == 1.0 else self.of_pass(1 + strategy.extra_nodes)
        return found * drafted + (1.0 - found) * missed + self.overhead


def _found_share(strategy: Strategy) -> float:
    """Share of rounds that have a draft at all."""
    law = strategy.acceptance
    if isinstance(law, HitMiss):
        return float(law.coverage)
    return float(law.hit) if isinstance(law, ParallelCandidates) else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """What a source prints of a system; None and "" where it prints nothing.

    `target` names the model and the text: only systems of one target compare.
    """

    tokens_per_round: float | None = None
    speedup: float | None = None
    target: str = ""
    source: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A way of drafting by name.

    `origin` says where the draft comes from, `costs` are the system's own, used where a comparison is
    given none. `note` says what of the acceptance was printed and what was solved for or assumed; with
    `solved` the printed tokens per round are among what it was solved from, and agree by construction.
    """

    name: str
    strategy: Strategy
    origin: str = ""
    costs: SystemCosts | None = None
    printed: Printed = field(default_factory=Printed)
    solved: bool = False
    note: str = ""

    @property
    def tokens_per_round(self) -> float:
        """Exact, in the long run."""
        return exact_tokens(self.strategy)


def exact_tokens(strategy: Strategy) -> float:
    """Tokens per round of any strategy of fixed drafts: chain or tree, one law of rounds or one along the text.

    Raises ValueError for drafts that may end early.

    >>> from simulator import draft_model, prompt_lookup
    >>> round(exact_tokens(draft_model(p=0.7, gamma=4)), 4)
    2.7731
    >>> round(exact_tokens(prompt_lookup(gamma=2, coverage=0.5, p=0.8)), 12)
    1.72
    """
    law = strategy.acceptance
    if isinstance(law, TEXT_PROCESSES):
        return process_tokens_per_round(law, strategy.draft.gamma)
    return round_law(strategy).tokens_per_round


def resized(system: System, nodes: int) -> System | None:
    """The same system with `nodes` drafted tokens; None where its acceptance says nothing of such a draft.

    A chain becomes longer or shorter, a tree the best one of its rates, a dynamic tree keeps so many nodes,
    candidates side by side become as many as fit. Raises ValueError for nodes below 1.

    >>> from simulator import medusa
    >>> few = System(name="m", strategy=medusa(accuracies=((0.6, 0.2), (0.4, 0.1)), nodes=1))
    >>> resized(few, 3).strategy.draft.paths, resized(few, 7)
    (((0,), (1,), (0, 0)), None)
    """
    nodes = as_count("nodes", nodes, least=1)
    strategy = system.strategy
    draft = _draft_of(strategy, nodes)
    if draft is None:
        return None
    law = strategy.acceptance
    if isinstance(law, ParallelCandidates):
        law = replace(law, candidates=nodes // strategy.draft.gamma)
    # what is printed is of the draft that was printed
    return replace(
        system, strategy=replace(strategy, draft=draft, acceptance=law), printed=Printed()
    )


def _draft_of(strategy: Strategy, nodes: int) -> Chain | Tree | DynamicTree | None:
    draft, law = strategy.draft, strategy.acceptance
    if isinstance(draft, Chain):
        known = len(law.by_depth) if isinstance(law, AcceptanceByDepth) else None
        return None if known is not None and nodes > known else replace(draft, gamma=nodes)
    if isinstance(draft, DynamicTree):
        most = draft.expand + (draft.depth - 1) * draft.expand**2
        return None if nodes > most else replace(draft, nodes=nodes)
    if isinstance(law, ParallelCandidates):
        candidates = nodes // draft.gamma
        return Tree.sequences(candidates, draft.gamma) if candidates else None
    if isinstance(law, ContextMixture):
        return None  # a fixed tree for several contexts has no one vector to grow by
    rows = law.by_depth if isinstance(law, RankAcceptance) else ()
    return best_tree(rows, nodes, gaps=True).tree if nodes <= _room(rows) else None


def _room(rows: Sequence[Sequence[float]]) -> float:
    """Nodes of a tree that has every candidate."""
    layers = [math.prod(len(row) for row in rows[:depth]) for depth in range(1, len(rows) + 1)]
    return sum(layers)
