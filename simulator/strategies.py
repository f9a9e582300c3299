"""The one value that the engine runs, a draft and the law by which it is accepted; and the draft model's.

The builders of the other systems are in `simulator.systems`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from simulator._checks import as_count
from simulator._rates import as_row
from simulator.drafts import MAX_GAMMA, Chain
from simulator.dynamic_tree import DynamicTree
from simulator.mixtures import TEXT_PROCESSES, Process
from simulator.parallel_candidates import ParallelCandidates
from simulator.processes import AcceptanceByDepth, ConfidentAcceptance, ConstantAcceptance
from simulator.stopping import ConfidenceThreshold, FixedLength, Stop
from simulator.trace import TraceReplay
from simulator.tree_acceptance import (
    TREE_PROCESSES,
    ContextMixture,
    RankAcceptance,
    RoundKind,
    TreeAcceptance,
)
from simulator.trees import Tree

_PROCESSES = (ConstantAcceptance, AcceptanceByDepth, ConfidentAcceptance, *TEXT_PROCESSES)
Steps: TypeAlias = Literal["sequential", "one", "none"]
"""How a draft comes about: a step of the drafter per depth, one step for all tokens, or a look-up."""
STEPS: tuple[Steps, ...] = ("sequential", "one", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A way of drafting, as data: its name, the shape of its draft, how its tokens are accepted.

    `steps` says what a draft costs, `extra_nodes` how many tokens ride along in the target's pass that
    nobody judges, such as Lookahead's window. Raises ValueError for a draft that stops by a confidence
    of which the acceptance knows nothing, for one that may end early under a law that differs between
    requests or along the text, for a law of trees with a chain or the reverse, and for a tree with
    nodes of which the law says nothing.

    >>> strategy = draft_model(p=0.7, gamma=4)
    >>> strategy.nodes, strategy.verified_tokens, strategy.draft_steps
    (4, 5, 4)
    """

    name: str
    draft: Chain | Tree | DynamicTree
    acceptance: Process | TreeAcceptance
    steps: Steps = "sequential"
    extra_nodes: int = 0

    def __post_init__(self) -> None:
        if self.steps not in STEPS:
            raise ValueError(f"steps must be one of {', '.join(STEPS)}; got {self.steps!r}.")
        as_count("extra_nodes", self.extra_nodes)
        if isinstance(self.draft, Tree | DynamicTree):
            self._check_tree(self.draft)
            return
        if isinstance(self.acceptance, TREE_PROCESSES):
            raise ValueError(
                f"{type(self.acceptance).__name__} needs a tree as its draft; got {self.draft!r}."
            )
        stops_by_it = isinstance(self.draft.stop, ConfidenceThreshold)
        if stops_by_it and not isinstance(self.acceptance, ConfidentAcceptance):
            raise ValueError(
                "a ConfidenceThreshold needs an acceptance that says what confidence is worth, "
                f"ConfidentAcceptance; got {self.acceptance!r}."
            )

        if isinstance(self.acceptance, TEXT_PROCESSES) and not self.draft.is_fixed:
            raise ValueError(
                f"{type(self.acceptance).__name__} needs drafts of fixed length; got {self.draft!r}."
            )

    def _check_tree(self, draft: Tree | DynamicTree) -> None:
        law = self.acceptance
        if isinstance(law, RankAcceptance | ContextMixture):
            law.kinds(draft)  # refuses nodes of which it says nothing
        elif not isinstance(law, ParallelCandidates):
            names = ", ".join(kind.__name__ for kind in TREE_PROCESSES)
            raise ValueError(f"a tree needs one of {names} as its acceptance; got {law!r}.")
        elif isinstance(draft, DynamicTree) or draft != _side_by_side(law.candidates, draft):
            raise ValueError(
                "ParallelCandidates needs a tree of as many chains side by side, "
                f"Tree.sequences({law.candidates}, length); got {described(self)}."
            )
        else:
            law.conditional(draft.gamma)  # refuses a length beyond the known depths

    @property
    def is_tree(self) -> bool:
        """Whether several drafted tokens may follow the same one."""
        return isinstance(self.draft, Tree | DynamicTree)

    @property
    def nodes(self) -> int:
        """Drafted tokens per round, at most."""
        return self.draft.nodes

    @property
    def verified_tokens(self) -> int:
        """Tokens in the target's pass, n of V(n): the text's last, the draft, and what rides along."""
        return 1 + self.draft.nodes + self.extra_nodes

    @property
    def draft_steps(self) -> int:
        """Steps of the drafter, one after the other, that a full draft takes."""
        if self.steps == "none" or not self.draft.nodes:
            return 0
        return 1 if self.steps == "one" else self.draft.gamma

    @property
    def kinds(self) -> tuple[RoundKind, ...]:
        """The kinds of rounds of a tree and their rates by node; ValueError for other drafts and laws."""
        if isinstance(self.draft, Chain) or not isinstance(
            self.acceptance, RankAcceptance | ContextMixture
        ):
            raise ValueError(
                "kinds of rounds are known of trees under RankAcceptance or ContextMixture; got "
                f"{described(self)} under {type(self.acceptance).__name__}."
            )
        return self.acceptance.kinds(self.draft)

    @property
    def conditional_acceptance(self) -> tuple[float, ...]:
        """P(accepted | tested) per depth of a draft of gamma tokens, shape [gamma].

        Raises ValueError for a law that differs between requests or along the text, and for a tree.
        """
        _, process = chain_of(self, "conditional_acceptance")
        if isinstance(process, TEXT_PROCESSES):
            raise ValueError(
                f"acceptance must be the same in every round; got {type(process).__name__}, "
                "which belongs to whole requests: simulate, simulate_requests and "
                "analysis.process_laws take it."
            )
        return process.conditional(self.draft.gamma)


def chain_of(strategy: Strategy, function: str) -> tuple[Chain, Process]:
    """Draft and law of a strategy for `function`, which takes chains and refuses trees."""
    draft, law = strategy.draft, strategy.acceptance
    if isinstance(draft, Tree | DynamicTree) or isinstance(law, TREE_PROCESSES):
        raise ValueError(
            f"{function} takes chains; got {described(strategy)} ({strategy.name}): simulate, "
            "simulate_lengths and simulate_counts take trees."
        )
    return draft, law


def described(strategy: Strategy) -> str:
    """A draft in a few words: a tree of thousands of nodes would fill the screen."""
    draft = strategy.draft
    if isinstance(draft, Tree):
        return f"a tree of {draft.nodes} nodes, {draft.gamma} deep"
    return repr(draft)


def _side_by_side(candidates: int, draft: Tree) -> Tree | None:
    """Chains side by side with as many nodes as `draft`, if there are such."""
    if not draft.nodes:
        return draft
    length, rest = divmod(draft.nodes, candidates)
    return None if rest or not length else Tree.sequences(candidates, length)


def draft_model(
    *,
    gamma: int | None = None,
    p: float | None = None,
    by_depth: Sequence[float] | None = None,
    acceptance: Process | None = None,
    stop: Stop | None = None,
) -> Strategy:
    """A small model drafts a chain of `gamma` tokens, the target checks them in one pass.

    Give `p`, one acceptance probability for every depth, or `by_depth`, one per depth, or any
    process as `acceptance`; with `by_depth` gamma is its length unless a shorter one is given.
    Acceptance is P(accepted | tested), never accepted / drafted. `stop` may end drafts before gamma;
    without it every draft has gamma tokens. Raises ValueError for values out of range or more or
    less than one law given.

    >>> draft_model(p=0.7, gamma=4).conditional_acceptance
    (0.7, 0.7, 0.7, 0.7)
    >>> draft_model(by_depth=(0.8, 0.7, 0.6)).draft
    Chain(gamma=3)
    >>> from simulator import Oracle
    >>> draft_model(p=0.7, gamma=8, stop=Oracle()).draft
    Chain(gamma=8, stop=Oracle())
    """
    return chain_strategy(
        "draft_model", gamma=gamma, p=p, by_depth=by_depth, acceptance=acceptance, stop=stop
    )


def chain_strategy(
    name: str,
    *,
    steps: Steps = "sequential",
    gamma: int | None = None,
    p: float | None = None,
    by_depth: Sequence[float] | None = None,
    acceptance: Process | None = None,
    stop: Stop | None = None,
) -> Strategy:
    """A chain under the laws that `draft_model` takes, for the builder of this name."""
    given = [law for law in (p, by_depth, acceptance) if law is not None]
    if len(given) != 1:
        got = "neither" if not given else "both" if len(given) == 2 else "all three"
        raise ValueError(
            f"{name} needs p or by_depth (or a process as acceptance), one of them; got {got}."
        )
    if by_depth is not None:
        acceptance = AcceptanceByDepth(by_depth=as_row("by_depth", by_depth))
        gamma = len(acceptance.by_depth) if gamma is None else gamma
    elif p is not None:
        acceptance = ConstantAcceptance(p=p)
    if gamma is None:
        raise ValueError(
            "gamma must be given with p or acceptance: the number of tokens drafted per round."
        )
    gamma = as_count("gamma", gamma, most=MAX_GAMMA)
    if not isinstance(acceptance, _PROCESSES):
        names = ", ".join(kind.__name__ for kind in _PROCESSES)
        raise ValueError(f"acceptance must be one of {names}; got {acceptance!r}.")
    if isinstance(acceptance, AcceptanceByDepth):
        acceptance.conditional(gamma)  # refuses a gamma beyond the known depths
    if isinstance(acceptance, TraceReplay) and acceptance.every_position:
        as_count("gamma", gamma, most=acceptance.gamma)
    draft = Chain(gamma=gamma, stop=FixedLength() if stop is None else stop)
    return Strategy(name=name, draft=draft, acceptance=acceptance, steps=steps)
