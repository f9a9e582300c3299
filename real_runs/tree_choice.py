"""The tree of "best:N": chosen once, before the first request, and kept for as long as the run lives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from real_runs.runs.header import Header, HeadsFacts, Settings, TreeCosts
from real_runs.runs.reading import HEADER, read_header
from real_runs.tree_costs import timed_widths
from real_runs.tree_settings import shape_of, tree_asked, tree_of
from simulator.tree_acceptance import RankAcceptance
from simulator.trees import Tree

ChooseBest: TypeAlias = Callable[[tuple[tuple[float, ...], ...], int, TreeCosts], Tree]
"""From heads' accuracies by depth and rank, the most nodes, and their costs, to a tree of one node at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BestTree:
    """A tree that is to be chosen, or that a folder says was chosen; `stand_in` can be checked before.

    The stand-in has the run's own tree where its folder has one (`known`), and of a new run a chain of
    one node. `rates` are the accuracies as deep as the tree may be, `asked` the depths that were asked
    for, and `choose` finds the tree of a new run.
    """

    stand_in: Settings
    rates: tuple[tuple[float, ...], ...]
    nodes: int
    asked: tuple[int, ...]
    known: Header | None
    choose: ChooseBest | None

    @classmethod
    def begin(
        cls, settings: Settings, heads: HeadsFacts, folder: Path, choose: ChooseBest | None
    ) -> BestTree:
        """What the settings and the folder say before anything is loaded.

        Raises ValueError for heads without accuracies, for depths that those do not reach, and for a new
        run without `choose`; RunFolderError for a damaged run.json.
        """
        nodes, known = tree_asked(settings.tree).nodes, len(heads.accuracies)
        if not known:
            raise ValueError(
                f"heads must have known accuracies for tree {settings.tree}; {Path(heads.name).name} "
                "have none."
            )
        deepest = max(settings.gammas, default=known)
        if deepest > known:
            raise ValueError(
                f"gamma must be at most the depth to which accuracies of {Path(heads.name).name} are "
                f"known, {known}; got {deepest}."
            )
        settings = replace(settings, tree=f"best:{nodes}")
        there = read_header(folder) if (folder / HEADER).exists() else None
        if there is None and choose is None:
            raise ValueError(f"shape must be given with tree {settings.tree}: it says which nodes.")
        tree = Tree.chain(1)
        if there is not None and there.settings.tree == settings.tree:
            tree = tree_of(there.settings) or tree
        return cls(
            stand_in=_with_tree(settings, tree, settings.gammas),
            rates=heads.accuracies[: max(deepest, 0)],
            nodes=nodes,
            asked=settings.gammas,
            known=there,
            choose=choose,
        )

    def settled(self, settings: Settings, costs: TreeCosts) -> Settings:
        """The settings with the tree that is best by these costs; ValueError without `choose`."""
        if self.choose is None:
            raise ValueError(f"shape must be given with tree {settings.tree}: it says which nodes.")
        return _with_tree(settings, self.choose(self.rates, self.nodes, costs), self.asked)


def _with_tree(settings: Settings, tree: Tree, asked: tuple[int, ...]) -> Settings:
    """The settings with a tree, measured at its depth and at those asked for that are less; or at half.

    A depth that makes no sense is left in: `check_settings` refuses it.
    """
    below = asked or (max(1, tree.gamma // 2),)
    kept = [gamma for gamma in below if gamma < tree.gamma]
    wrong = [gamma for gamma in asked if gamma < 1]
    return replace(
        settings,
        shape=shape_of(tree),
        gammas=tuple(wrong) or (*sorted(set(kept)), tree.gamma),
    )


def cost_of(costs: TreeCosts, nodes: int, depth: int) -> float:
    """A round over a tree in plain passes: V(nodes + 1), and its steps; ValueError for an untimed width.

    >>> costs = TreeCosts(widths=(1, 2, 3), verify_costs=(1.0, 1.5, 1.25), steps="sequential",
    ...                   step_cost=0.1, plain_s=0.01, context=8)
    >>> round(cost_of(costs, 2, 2), 12)
    1.45
    """
    steps = min(depth, 1) if costs.steps == "one" else depth
    return costs.verify_costs[costs.widths.index(nodes + 1)] + steps * costs.step_cost


def choice_of(header: Header) -> str:
    """One sentence on what decided the tree of "best:N"; nothing for other runs, and for damaged ones."""
    costs, heads, tree = header.tree_costs, header.heads, tree_of(header.settings)
    if costs is None or heads is None or tree is None or costs_problem(header):
        return ""
    try:
        rates = RankAcceptance(by_depth=heads.accuracies).rates(tree)
    except ValueError:
        return ""
    reached: list[float] = []
    for rate, parent in zip(rates, tree.parents, strict=True):
        reached.append(rate * (reached[parent] if parent >= 0 else 1.0))
    tokens = 1.0 + sum(reached)
    speedup = tokens / cost_of(costs, tree.nodes, tree.gamma)
    passes = dict(zip(costs.widths[1:], costs.verify_costs[1:], strict=True))
    cheap, dear = min(passes, key=passes.__getitem__), max(passes, key=passes.__getitem__)
    timed = f"V({tree.nodes + 1}) {passes[tree.nodes + 1]:.3g}"
    if len(passes) > 1:
        timed += (
            f" (of {len(passes)} widths timed the cheapest is V({cheap}) {passes[cheap]:.3g}, the "
            f"dearest V({dear}) {passes[dear]:.3g})"
        )
    step = "a draft step per depth" if costs.steps == "sequential" else "one draft step"
    most = tree_asked(header.settings.tree).nodes
    found = "the largest speedup that is foretold" if speedup > 1.0 else "the least loss foretold"
    return (
        f"of trees of at most {most} nodes the one of {tree.nodes} and depth {tree.gamma} has {found}, "
        f"{speedup:.3g} with {tokens:.3g} tokens per round, by the heads' accuracies and times taken "
        f"before the run behind {costs.context} tokens: {timed}, {step} of {costs.step_cost:.2g} plain "
        "passes; time outside the models is not counted"
    )


def costs_problem(header: Header) -> str:
    """What cannot be in the costs that a tree was chosen by, in one sentence; nothing where all can."""
    costs, asked = header.tree_costs, tree_asked(header.settings.tree)
    if (costs is None) != (asked.kind != "best"):
        return "tree best:N and the costs that it was chosen by must go together."
    if costs is None:
        return ""
    wanted = timed_widths(asked.nodes)
    if costs.widths != wanted:
        return (
            f"the widths of its tree's costs must be {list(wanted)}; they are {list(costs.widths)}."
        )
    if len(costs.verify_costs) != len(wanted) or costs.verify_costs[:1] != (1.0,):
        return "the costs of its tree must have one V per width, the first 1."
    tree = tree_of(header.settings)
    if tree is not None and tree.nodes + 1 not in wanted:
        return f"the width of its tree must be one of those timed; it is {tree.nodes + 1}."
    least = min(*costs.verify_costs, costs.step_cost, costs.plain_s, costs.context)
    if not least > 0.0:
        return f"the costs of its tree must be above 0; one is {least:g}."
    if (costs.steps == "one") != (header.settings.drafter == "medusa"):
        return f"the steps of its tree's costs must be those of {header.settings.drafter}."
    return ""
