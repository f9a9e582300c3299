"""What a round costs with one part changed, and what the part must be for a given cost."""

from __future__ import annotations

import math
from collections.abc import Sequence

from analysis.explaining.parts import Part, PartKind

_EDGE = 1e-12  # relative: a part that must vanish altogether can


def cost_with(parts: Sequence[Part], kind: PartKind, value: float) -> float:
    """Cost of the round with the part of that kind at `value` [plain steps], all else as it is.

    What is hidden stays the same share of the shorter of drafting and the wider pass: without drafting
    nothing is hidden.
    """
    costs = {part.kind: part.cost.number for part in parts}
    hidden, shorter = -costs.pop("hidden", 0.0), _shorter(costs)
    overlap = hidden / shorter if hidden else 0.0
    costs[kind] = value
    return math.fsum([*costs.values(), -overlap * _shorter(costs) if overlap else 0.0])


def solved(parts: Sequence[Part], kind: PartKind, cost: float) -> float | None:
    """What the part must be for the round to cost `cost` [plain steps]; None if nothing is enough.

    The cost rises with the part in straight lines that can meet where drafting and the wider pass are as
    long as each other.
    """
    costs = {part.kind: part.cost.number for part in parts}
    none = cost_with(parts, kind, 0.0)
    if cost < none * (1.0 - _EDGE):
        return None
    meet = {"drafting": 1.0 + costs.get("wider", 0.0), "wider": costs.get("drafting", 0.0) - 1.0}
    bend = max(meet.get(kind, 0.0), 0.0)
    there = cost_with(parts, kind, bend)
    if cost > there:
        return bend + (cost - there)
    return bend * (cost - none) / (there - none) if there > none and cost > none else 0.0


def _shorter(costs: dict[PartKind, float]) -> float:
    return min(costs.get("drafting", 0.0), 1.0 + costs.get("wider", 0.0))
