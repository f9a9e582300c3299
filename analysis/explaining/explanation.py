"""An explanation: where the gain of a round goes, what to attack, where it breaks even."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from analysis.diagnosis.derived import Derived
from analysis.diagnosis.finding import Finding
from analysis.explaining.cost_line import CostLine
from analysis.explaining.parts import Part, PartKind
from simulator import Estimate

Source: TypeAlias = Literal["predicted", "reported", "measured"]
LeverKind: TypeAlias = PartKind | Literal["tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lever:
    """Something to attack: `without` is the speedup with that part gone.

    For kind "tokens" it is the speedup with half as many rejections, 1 − p halved; None where p is not
    known.
    """

    kind: LeverKind
    name: str
    without: Derived | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """What to attack first: the reason as a sentence, and what to do.

    `likely` is the part behind several that are not told apart, where a finding points at one.
    """

    kind: LeverKind
    name: str
    without: Derived | None
    sentence: str
    advice: str
    likely: PartKind | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """What one quantity, alone, would have to become for a speedup of 1.

    `needed` is None if it cannot alone, or does not follow; `sentence` says which. For "gamma" it is the
    longest whole draft that does not lose.
    """

    what: str
    now: float | None
    needed: float | None
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Where the gain of a round goes, in plain target steps.

    A round gives `tokens` (each worth a plain step) and takes `cost`; `net` is their ratio, the decoding
    speedup of each request against plain decoding at the same batch. `parts` itemise the cost, the plain
    pass first. `p` is the one acceptance that gives these tokens at `gamma` in the closed form, `ceiling`
    the tokens per round that no draft of any length exceeds at it, 1 / (1 − p). `levers` are what could
    be attacked, the one that gains most first; `attack` is the choice. `line` is the straight line of
    round costs over draft lengths, where a sweep shows one. `verdict` says so where no draft length that is
    known of pays. `refusal` says why there are no parts, if so;
    `contradiction` what in the numbers cannot be. `findings` are the doctor's.
    """

    source: Source
    name: str = ""
    gamma: int | None = None
    draft_length: float | None = None
    batch: float | None = None
    tokens: Derived | None = None
    cost: Derived | None = None
    net: Derived | None = None
    p: Derived | None = None
    ceiling: Derived | None = None
    parts: tuple[Part, ...] = ()
    levers: tuple[Lever, ...] = ()
    attack: Attack | None = None
    break_even: tuple[BreakEven, ...] = ()
    line: CostLine | None = None
    findings: tuple[Finding, ...] = ()
    verdict: str = ""
    refusal: str = ""
    contradiction: str = ""
    notes: tuple[str, ...] = ()

    @property
    def tokens_per_round(self) -> Estimate | None:
        """What a round gives."""
        return None if self.tokens is None else self.tokens.value

    @property
    def round_cost(self) -> Estimate | None:
        """What a round takes [plain steps]."""
        return None if self.cost is None else self.cost.value

    @property
    def speedup(self) -> Estimate | None:
        """The net speedup."""
        return None if self.net is None else self.net.value

    @property
    def saved(self) -> float | None:
        """Plain steps that a round saves; negative where it loses."""
        return self.parts[-1].left if self.parts else None

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the findings."""
        return tuple(each.code for each in self.findings)

    def part(self, kind: PartKind) -> Part | None:
        """The part of that kind, if there is one."""
        return next((part for part in self.parts if part.kind == kind), None)
