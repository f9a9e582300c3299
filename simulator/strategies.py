"""Builders of the one value that the engine runs: a draft and the law by which it is accepted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator._checks import as_count
from simulator.drafts import MAX_GAMMA, Chain
from simulator.processes import AcceptanceByDepth, AcceptanceProcess, ConstantAcceptance


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A way of drafting, as data: its name, the shape of its draft, how its tokens are accepted."""

    name: str
    draft: Chain
    acceptance: AcceptanceProcess

    @property
    def conditional_acceptance(self) -> tuple[float, ...]:
        """P(accepted | tested) per depth, shape [gamma]."""
        return self.acceptance.conditional(self.draft.gamma)


def draft_model(
    *,
    gamma: int | None = None,
    p: float | None = None,
    by_depth: Sequence[float] | None = None,
) -> Strategy:
    """A small model drafts a chain of `gamma` tokens, the target checks them in one pass.

    Give `p`, one acceptance probability for every depth, or `by_depth`, one per depth; with
    `by_depth` gamma is its length unless a shorter one is given. Acceptance is P(accepted | tested),
    never accepted / drafted. Raises ValueError for values out of range or both or neither given.

    >>> draft_model(p=0.7, gamma=4).conditional_acceptance
    (0.7, 0.7, 0.7, 0.7)
    >>> draft_model(by_depth=(0.8, 0.7, 0.6)).draft
    Chain(gamma=3)
    """
    if (p is None) == (by_depth is None):
        got = "neither" if p is None else "both"
        raise ValueError(f"draft_model needs p or by_depth, one of the two; got {got}.")
    acceptance: AcceptanceProcess
    if by_depth is not None:
        acceptance = AcceptanceByDepth(by_depth=_by_depth(by_depth))
        gamma = len(acceptance.by_depth) if gamma is None else gamma
    elif p is not None:
        acceptance = ConstantAcceptance(p=p)
    if gamma is None:
        raise ValueError("gamma must be given with p: the number of tokens drafted per round.")
    gamma = as_count("gamma", gamma, most=MAX_GAMMA)
    acceptance.conditional(gamma)  # refuses a gamma beyond the known depths
    return Strategy(name="draft_model", draft=Chain(gamma=gamma), acceptance=acceptance)


def _by_depth(values: Sequence[float]) -> tuple[float, ...]:
    try:
        return tuple(values)
    except TypeError:
        raise ValueError(
            f"by_depth must be a sequence of numbers in [0, 1]; got {values!r}."
        ) from None
