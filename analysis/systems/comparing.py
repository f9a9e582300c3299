"""All systems by the same measures: tokens per round, nodes, draft steps, speedup once costs are given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from analysis.systems.system import System, SystemCosts, _found_share, resized
from simulator import Estimate, simulate
from simulator._checks import Rng, as_generator

GivenCosts = SystemCosts | Mapping[str, SystemCosts]
"""The same for all systems, or by their names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRow:
    """One system in a comparison.

    `tokens_per_round` is exact, `simulated` from sampled rounds where some were asked for. `nodes` are
    drafted tokens, `verified` all tokens in the target's pass, `draft_steps` those one after the other.
    `round_cost` [plain target steps] and `speedup` = tokens per round / round cost are None without costs.
    """

    system: System
    tokens_per_round: float
    simulated: Estimate | None = None
    nodes: int
    verified: int
    draft_steps: int
    verify_cost: float | None = None
    round_cost: float | None = None

    @property
    def speedup(self) -> float | None:
        """Over plain decoding, without prefill."""
        return None if self.round_cost is None else self.tokens_per_round / self.round_cost

    @property
    def found(self) -> float:
        """Share of rounds that have a draft at all: below 1 where look-ups can find nothing."""
        return _found_share(self.system.strategy)

    @property
    def without_draft(self) -> int:
        """Tokens in the pass of a round without a draft."""
        return 1 + self.system.strategy.extra_nodes

    @property
    def z(self) -> float | None:
        """(simulated − exact) / standard error; None where nothing was sampled or nothing varied."""
        if self.simulated is None or not self.simulated.se:
            return None
        return (self.simulated.value - self.tokens_per_round) / self.simulated.se

    @property
    def printed_error(self) -> float | None:
        """tokens_per_round / printed − 1; None where nothing is printed."""
        printed = self.system.printed.tokens_per_round
        return None if printed is None else self.tokens_per_round / printed - 1.0


def compare_systems(
    systems: Iterable[System],
    *,
    costs: GivenCosts | None = None,
    rounds: int | None = None,
    rng: Rng = 0,
    progress: Callable[[float], None] | None = None,
) -> tuple[SystemRow, ...]:
    """Every system as a row, in the order given.

    `costs` replace the systems' own; a mapping those of the systems that it names. With `rounds` as
    many rounds of each are simulated beside the exact value, each system from its own stream of `rng`.
    Raises ValueError for no system, two of one name, and costs of a name that is none.

    >>> from simulator import draft_model, medusa
    >>> chain = System(name="chain", strategy=draft_model(p=0.7, gamma=4))
    >>> heads = System(name="heads", strategy=medusa(accuracies=((0.6, 0.2), (0.4, 0.1)), nodes=3))
    >>> for row in compare_systems([chain, heads], costs=SystemCosts(cost_ratio=0.1)):
    ...     print(row.system.name, round(row.tokens_per_round, 3), row.draft_steps, round(row.speedup, 2))
    chain 2.773 4 1.98
    heads 2.04 1 1.85
    """
    asked = tuple(systems)
    names = [system.name for system in asked]
    if not asked or len(set(names)) < len(names):
        got = "none" if not asked else ", ".join(names)
        raise ValueError(f"systems must be one at least, each name once; got {got}.")
    if isinstance(costs, Mapping) and not set(costs) <= set(names):
        other = ", ".join(sorted(set(costs).difference(names)))
        raise ValueError(f"costs must be of the systems {', '.join(names)}; got costs of {other}.")
    streams = as_generator(rng).spawn(len(asked))
    rows = []
    for index, system in enumerate(asked):
        rows.append(_row(system, costs, rounds, streams[index]))
        if progress is not None:
            progress((index + 1) / len(asked))
    return tuple(rows)


def over_sizes(
    systems: Iterable[System], nodes: Iterable[int], *, costs: GivenCosts | None = None
) -> tuple[SystemRow, ...]:
    """Each system with drafts of these numbers of nodes; sizes of which nothing is known are left out.

    Candidates side by side come in whole ones: sizes that mean the same draft are one row.
    """
    by_name = {system.name: system for system in systems}
    rows = []
    for system in by_name.values():
        others = (resized(system, size) for size in sorted(set(nodes)))
        drafts = {other.strategy.nodes: other for other in others if other is not None}
        rows += [_row(other, costs, None, np.random.default_rng(0)) for other in drafts.values()]
    return tuple(rows)


def _row(
    system: System, costs: GivenCosts | None, rounds: int | None, rng: np.random.Generator
) -> SystemRow:
    strategy = system.strategy
    mine = costs.get(system.name) if isinstance(costs, Mapping) else costs
    paid = system.costs if mine is None else mine
    sampled = None
    if rounds is not None:
        sampled = simulate(strategy, rounds=rounds, rng=rng).tokens_per_round
    return SystemRow(
        system=system,
        tokens_per_round=system.tokens_per_round,
        simulated=sampled,
        nodes=strategy.nodes,
        verified=strategy.verified_tokens,
        draft_steps=strategy.draft_steps,
        verify_cost=None if paid is None else paid.of_pass(strategy.verified_tokens),
        round_cost=None if paid is None else paid.of_round(strategy),
    )
