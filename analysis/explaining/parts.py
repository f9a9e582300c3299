"""The parts of a round as a waterfall: tokens first, then what each part takes of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from analysis.diagnosis.derived import Derived
from analysis.uncertainty import Range
from simulator import Estimate

PartKind: TypeAlias = Literal["plain", "drafting", "wider", "overhead", "hidden", "together"]
NAMES: dict[str, str] = {
    "plain": "plain pass",
    "drafting": "drafting",
    "wider": "wider verification",
    "overhead": "fixed overhead",
    "hidden": "hidden by overlap",
}
"""What a part of one kind is called; parts that are not told apart are called after their members."""
_AND = " + "
_SHORT = {"drafting": "drafting", "wider": "verification", "overhead": "overhead"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One of several parts that are not told apart: what it can be at least and at most [plain steps]."""

    kind: PartKind
    range: Range

    @property
    def name(self) -> str:
        """What it is called."""
        return NAMES[self.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one part takes [plain steps], negative for what is hidden; `together` has members."""

    kind: PartKind
    cost: Derived
    members: tuple[Member, ...] = ()

    @property
    def name(self) -> str:
        """What it is called: of several that are not told apart, "drafting + verification + overhead"."""
        if self.kind != "together":
            return NAMES[self.kind]
        return _AND.join(_SHORT[each.kind] for each in self.members)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One step of the waterfall.

    `cost` is what the part takes [plain steps], negative for what is hidden. `left` are the steps that
    a round still saves once this and all parts above are paid, `speedup` is tokens per round over what
    is paid so far, `speedup_range` what the ranges of both allow.
    """

    kind: PartKind
    name: str
    cost: Derived
    left: float
    speedup: float
    speedup_range: Range
    members: tuple[Member, ...] = ()


def spoken(name: str) -> tuple[str, str]:
    """The name of a part within a sentence, and its verb's ending: lumps are several.

    >>> spoken("drafting + overhead"), spoken("drafting")
    (('drafting and overhead (not told apart)', ''), ('drafting', 's'))
    """
    return (f"{listed(name, 'and')} (not told apart)", "") if _AND in name else (name, "s")


def listed(name: str, word: str) -> str:
    """The members in the name of a lump as a list whose last two are joined by `word`.

    >>> listed("drafting + verification + overhead", "or")
    'drafting, verification or overhead'
    """
    *first, last = name.split(_AND)
    return f"{', '.join(first)} {word} {last}" if first else last


def waterfall(tokens: Derived, net: Derived, shares: Sequence[Share]) -> tuple[Part, ...]:
    """The parts in order, the plain pass first: tokens − 1 − … = steps saved; the last speedup is the net.

    >>> [round(part.speedup, 3) for part in waterfall(
    ...     Derived.exactly(3.0, "tokens"), Derived.exactly(2.0, "tokens / cost"),
    ...     [Share(kind="plain", cost=PLAIN), Share(kind="drafting", cost=Derived.exactly(0.5, "c"))])]
    [3.0, 2.0]
    """
    parts: list[Part] = []
    for i in range(len(shares)):
        paid = [share.cost for share in shares[: i + 1]]
        spent = math.fsum(cost.number for cost in paid)
        low, high = (math.fsum(cost.range[end] for cost in paid) for end in (0, 1))
        ends = _over(tokens.range[0], high), _over(tokens.range[1], low)
        last = i == len(shares) - 1
        parts.append(
            Part(
                kind=shares[i].kind,
                name=shares[i].name,
                cost=shares[i].cost,
                left=math.fsum([tokens.number, *(-cost.number for cost in paid)]),
                speedup=net.number if last else _over(tokens.number, spent),
                speedup_range=net.range if last else ends,
                members=shares[i].members,
            )
        )
    return tuple(parts)


def _over(tokens: float, paid: float) -> float:
    return tokens / paid if paid > 0.0 else math.inf


PLAIN = Derived(value=Estimate(value=1.0), range=(1.0, 1.0), how="every round contains one")
"""The plain pass, in plain steps."""


def ends(value: Derived) -> tuple[float | None, float | None]:
    """The interval of a value where it has one, else what rounding and unknown splits allow, else None."""
    if value.value.interval is not None:
        return value.value.interval
    if value.value.se is not None and value.range[0] == value.range[1]:
        spread = 1.959963984540054 * value.value.se
        return value.number - spread, value.number + spread
    low, high = value.range
    return (None, None) if math.isclose(low, high, rel_tol=1e-9, abs_tol=1e-12) else (low, high)
