"""The exact distribution of a round, for any strategy of the simulator.

Where `formulas` has a closed form for one p, this multiplies conditional acceptances depth by depth:
an independent path to the same numbers, and the only one when acceptance changes with depth. Trees
multiply the rates of their nodes, path by path (`trees.values`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from analysis.trees.values import DepthLaw, depth_law
from simulator import Chain, ContextMixture, ParallelCandidates, RankAcceptance, Strategy


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundLaw:
    """The exact law of one round.

    `conditional`, `survival`: per depth, shape [gamma]. `pmf`: P(n accepted), shape [gamma + 1].
    `drafted`: tokens drafted per round, nodes of a tree, on average where a round may find none.
    `tested`: P(a round tests a token at a depth), shape [gamma]; in a tree a round that keeps a leaf
    tests nothing behind it. A conditional acceptance is 0 where nothing is ever tested.
    """

    conditional: tuple[float, ...]
    survival: tuple[float, ...]
    pmf: tuple[float, ...]
    drafted: float
    tested: tuple[float, ...]

    @property
    def tokens_per_round(self) -> float:
        """1 + the sum of the survival: expected tokens emitted per round."""
        return 1.0 + math.fsum(self.survival)

    @property
    def variance(self) -> float:
        """Variance of the tokens per round [tokens²]."""
        mean = math.fsum(self.survival)
        return math.fsum(weight * (n - mean) ** 2 for n, weight in enumerate(self.pmf))

    @property
    def fraction_variance(self) -> float:
        """Variance of accepted - accepted_fraction · drafted in a round [tokens²].

        A round that drafts nothing has 0 of both, so that only those count that draft: their share
        times the variance of what they accept.
        """
        share = self.tested[0] if self.tested else 1.0
        if share == 0.0:
            return 0.0
        mean = math.fsum(self.survival) / share
        drafting = (max(self.pmf[0] - (1.0 - share), 0.0), *self.pmf[1:])
        return math.fsum(weight * (n - mean) ** 2 for n, weight in enumerate(drafting))

    @property
    def accepted_fraction(self) -> float:
        """Expected accepted / drafted; NaN for an empty draft."""
        return math.fsum(self.survival) / self.drafted if self.drafted else math.nan


def round_law(strategy: Strategy) -> RoundLaw:
    """The exact law of a round of `strategy`.

    S_i = a_1 · … · a_i with a the conditional acceptance by depth; P(n accepted) = S_n (1 - a_{n+1}),
    and S_gamma at the end of the draft. In a tree S_i is the sum of the path products of its nodes at
    depth i (Sequoia, proposition 3.4), averaged over contexts where the law has them; of G independent
    candidates the longest counts, S_i = hit (1 - (1 - a_1 · … · a_i)^G). Raises ValueError for drafts that
    may end early and for laws that belong to whole requests.

    >>> from simulator import draft_model
    >>> law = round_law(draft_model(by_depth=(0.8, 0.5)))
    >>> law.survival, round(law.tokens_per_round, 12)
    ((0.8, 0.4), 2.2)
    >>> from simulator import medusa
    >>> law = round_law(medusa(accuracies=((0.6, 0.2), (0.5, 0.1)), nodes=3))
    >>> [round(alive, 3) for alive in law.survival], [round(chance, 3) for chance in law.tested]
    ([0.8, 0.3], [1.0, 0.6])
    """
    draft, acceptance = strategy.draft, strategy.acceptance
    if not isinstance(draft, Chain) and isinstance(
        acceptance, RankAcceptance | ContextMixture | ParallelCandidates
    ):
        return _of_tree(depth_law(draft, acceptance))
    if not strategy.draft.is_fixed:
        raise ValueError(
            f"strategy must draft a fixed length; got {strategy.draft}: "
            "stopped_law gives the exact law under a stopping rule."
        )
    conditional = strategy.conditional_acceptance
    survival: list[float] = []
    pmf: list[float] = []
    alive = 1.0
    for kept in conditional:
        pmf.append(alive * (1.0 - kept))
        alive *= kept
        survival.append(alive)
    pmf.append(alive)
    return RoundLaw(
        conditional=conditional,
        survival=tuple(survival),
        pmf=tuple(pmf),
        drafted=strategy.draft.nodes,
        tested=(1.0, *survival)[: len(survival)],
    )


def _of_tree(law: DepthLaw) -> RoundLaw:
    return RoundLaw(
        conditional=tuple(
            min(kept / tested, 1.0) if tested > 0.0 else 0.0  # rates may pass 1 in sum by rounding
            for kept, tested in zip(law.survival, law.tested, strict=True)
        ),
        survival=law.survival,
        pmf=law.pmf,
        drafted=law.drafted,
        tested=law.tested,
    )
