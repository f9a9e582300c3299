"""Builders of the one value that the engine runs: a draft and the law by which it is accepted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator._checks import as_count
from simulator.drafts import MAX_GAMMA, Chain
from simulator.mixtures import TEXT_PROCESSES, Process
from simulator.processes import AcceptanceByDepth, ConfidentAcceptance, ConstantAcceptance
from simulator.stopping import ConfidenceThreshold, FixedLength, Stop
from simulator.trace import TraceReplay

_PROCESSES = (ConstantAcceptance, AcceptanceByDepth, ConfidentAcceptance, *TEXT_PROCESSES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A way of drafting, as data: its name, the shape of its draft, how its tokens are accepted.

    Raises ValueError for a draft that stops by a confidence of which the acceptance knows nothing,
    and for one that may end early under a law that differs between requests or along the text.
    """

    name: str
    draft: Chain
    acceptance: Process

    def __post_init__(self) -> None:
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

    @property
    def conditional_acceptance(self) -> tuple[float, ...]:
        """P(accepted | tested) per depth of a draft of gamma tokens, shape [gamma].

        Raises ValueError for a law that differs between requests or along the text.
        """
        if isinstance(self.acceptance, TEXT_PROCESSES):
            raise ValueError(
                f"acceptance must be the same in every round; got {type(self.acceptance).__name__}, "
                "which belongs to whole requests: simulate, simulate_requests and "
                "analysis.process_laws take it."
            )
        return self.acceptance.conditional(self.draft.gamma)


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
    given = [law for law in (p, by_depth, acceptance) if law is not None]
    if len(given) != 1:
        got = "neither" if not given else "both" if len(given) == 2 else "all three"
        raise ValueError(
            f"draft_model needs p or by_depth (or a process as acceptance), one of them; got {got}."
        )
    if by_depth is not None:
        acceptance = AcceptanceByDepth(by_depth=_by_depth(by_depth))
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
    return Strategy(name="draft_model", draft=draft, acceptance=acceptance)


def _by_depth(values: Sequence[float]) -> tuple[float, ...]:
    try:
        return tuple(values)
    except TypeError:
        raise ValueError(
            f"by_depth must be a sequence of numbers in [0, 1]; got {values!r}."
        ) from None
