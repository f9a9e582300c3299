"""From an engine's numbers to parts: only what follows is split off, the rest stays one lump with bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from analysis.diagnosis.derived import Derived
from analysis.explaining.cost_line import CostLine
from analysis.explaining.parts import PLAIN, Member, PartKind, Share
from analysis.uncertainty import Range
from simulator import Estimate
from simulator._checks import as_nonnegative

VerifyCosts: TypeAlias = float | Callable[[int], float]
"""V(γ + 1), or V as a function of the tokens in a pass."""
EDGE = 1e-9
"""Plain steps by which a line through exact points may miss the plain pass."""
_PREDICTED = ", predicted for this machine"
_ORDER: tuple[PartKind, ...] = ("drafting", "wider", "overhead")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What is known beside the cost of a round: parts of it, and the share of time spent drafting.

    `predicted` are parts whose cost a model of the machine gives, not a clock. `overhead` is what the source
    itself says of time beside all passes.
    """

    draft_share: Derived | None
    drafted: float | None
    verify_cost: VerifyCosts | None
    cost_ratio: float | None
    line: CostLine | None
    predicted: frozenset[PartKind] = frozenset()
    overhead: Derived | None = None


def split(cost: Derived, given: Given) -> tuple[tuple[Share, ...], str]:
    """The parts of a round that takes `cost` plain steps, and what in the numbers contradicts, or "".

    Drafting is its measured share, else drafted tokens · cost_ratio; wider verification V − 1; overhead what
    is left once both are known, else what the source prints or every round of a sweep pays above the plain
    pass. What remains
    unknown is one part if it is one kind, else a lump of several.
    """
    known: dict[PartKind, Derived] = {}
    share = 0.0
    if given.draft_share is not None:
        share = given.draft_share.number
        low, high = cost.range
        known["drafting"] = Derived(
            value=Estimate(value=share * cost.number),
            range=(share * low, share * high),
            how=given.draft_share.how,
        )
    elif given.cost_ratio is not None and given.drafted is not None:
        known["drafting"] = Derived.exactly(
            as_nonnegative("cost_ratio", given.cost_ratio) * given.drafted,
            f"drafted tokens × c{_PREDICTED if 'drafting' in given.predicted else ''}",
        )
    if given.verify_cost is not None:
        verify = verify_at(given.verify_cost, given.drafted)
        known["wider"] = Derived.exactly(
            verify - 1.0,
            f"V = {verify:.4g}{_PREDICTED if 'wider' in given.predicted else ', as given'}",
        )
    if given.overhead is not None and len(known) < 2:
        known["overhead"] = given.overhead
    elif len(known) < 2 and given.line is not None:
        fixed = _fixed(given.line, _left(cost, known, share))
        if fixed is not None:
            known["overhead"] = fixed
    left = _left(cost, known, share)
    unknown = tuple(kind for kind in _ORDER if kind not in known)
    if len(unknown) == 1:
        known[unknown[0]] = left
        shares = [Share(kind=kind, cost=known[kind]) for kind in _ORDER]
    else:
        lump = Share(kind="together", cost=left, members=_members(unknown, left, given.drafted))
        shares = [Share(kind=kind, cost=known[kind]) for kind in _ORDER if kind in known]
        at = sum(_ORDER.index(share.kind) < _ORDER.index(unknown[0]) for share in shares)
        shares.insert(at, lump)
    return (Share(kind="plain", cost=PLAIN), *shares), _contradiction(
        cost, known, left, unknown, predicted=bool(given.predicted & set(known))
    )


def verify_at(verify_cost: VerifyCosts, drafted: float | None) -> float:
    """V of a pass over the drafted tokens and one more, on a line between whole widths.

    Raises ValueError for one that is not above 0, and a function where the draft length is not known.
    """
    if not callable(verify_cost):
        found = as_nonnegative("verify_cost", verify_cost)
    elif drafted is None:
        raise ValueError(
            "verify_cost must be one number, V of the pass, where the draft length is not known."
        )
    else:
        below, above = math.floor(drafted), math.ceil(drafted)
        ends = [as_nonnegative("verify_cost", float(verify_cost(n + 1))) for n in (below, above)]
        found = ends[0] + (drafted - below) * (ends[1] - ends[0])
    if found == 0.0:
        raise ValueError("verify_cost must be above 0; got 0.")
    return found


def _left(cost: Derived, known: dict[PartKind, Derived], share: float) -> Derived:
    """The cost without the plain pass and what is known; a share of the cost moves with it."""
    others = [value for kind, value in known.items() if not (kind == "drafting" and share)]
    low, high = (
        (1.0 - share) * cost.range[end] - 1.0 - math.fsum(value.range[1 - end] for value in others)
        for end in (0, 1)
    )
    number = math.fsum([cost.number, -1.0, *(-value.number for value in known.values())])
    return Derived(
        value=Estimate(value=number),
        range=(min(low, number), max(high, number)),
        how="what is left of the round",
    )


def _fixed(line: CostLine, left: Derived) -> Derived | None:
    """What a round pays however short its draft, between nothing and all that is left.

    None if all of the line's range at γ = 0 is below the plain pass: costs then bend upwards.
    """
    most = max(left.number, 0.0)
    low, high = (min(max(end - 1.0, 0.0), most) for end in line.fixed.range)
    if line.fixed.range[1] <= 1.0 - EDGE:
        return None
    value = min(max(line.fixed.number - 1.0, 0.0), most)
    return Derived(
        value=Estimate(value=value),
        range=(low, high),
        how="where the line over draft lengths meets γ = 0, less the plain pass",
    )


def _members(kinds: Sequence[PartKind], left: Derived, drafted: float | None) -> tuple[Member, ...]:
    """Each between nothing and all of it.

    Overhead is at least what drafting and judging the tokens as slowly as decoding them would leave.
    """
    most = max(left.range[1], 0.0)
    caps = dict.fromkeys(kinds, most)
    if "overhead" in kinds and drafted is not None:
        caps |= {kind: min(drafted, most) for kind in kinds if kind != "overhead"}
    found = []
    for kind in kinds:
        others = sum(cap for other, cap in caps.items() if other != kind)
        bounds: Range = (max(left.range[0] - others, 0.0), caps[kind])
        found.append(Member(kind=kind, range=bounds))
    return tuple(found)


def _contradiction(
    cost: Derived,
    known: dict[PartKind, Derived],
    left: Derived,
    unknown: Sequence[PartKind],
    *,
    predicted: bool,
) -> str:
    if left.range[1] >= -1e-9 * cost.number:
        return ""
    if not known or len(unknown) == len(_ORDER):
        return (
            f"These numbers contradict each other: a round would take {cost.number:.3f} plain steps, less "
            "than the plain pass that it contains."
        )
    said = {
        "drafting": "drafting {:.3f}", "wider": "wider verification {:.3f}", "overhead": "overhead {:.3f}"
    }  # fmt: skip
    parts = " and ".join(
        said[kind].format(value.number) for kind, value in known.items() if kind not in unknown
    )
    first = "These numbers contradict each other"
    if predicted:
        first = "The log does not fit what is predicted for this machine"
    return (
        f"{first}: a plain pass, {parts} make {cost.number - left.number:.3f} "
        f"plain steps, and the clock says a round takes {cost.number:.3f}: {left.number:.3f} are left."
    )
