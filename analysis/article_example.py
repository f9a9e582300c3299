"""The article's worked example: its numbers, and what the closed form makes of them."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.formulas import expected_tokens, speedup

P, GAMMA, COST_RATIO = 0.7, 4, 0.1
"""The worked example of the article."""
ROUNDS = 200_000
"""The rounds its simulator runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkedNumber:
    """A number the article prints, and what the closed form gives; `decimals` as printed."""

    name: str
    printed: float
    decimals: int
    exact: float

    @property
    def agrees(self) -> bool:
        """True if the exact value rounds to the printed one."""
        return round(self.exact, self.decimals) == self.printed


def worked_example() -> tuple[WorkedNumber, ...]:
    """The numbers of the article's example, recomputed.

    >>> for number in worked_example():
    ...     print(number.name, round(number.exact, 4), number.agrees)
    p^5 0.1681 True
    tokens per round 2.7731 True
    cost of a round 1.4 True
    speedup 1.9808 True
    """
    tokens = float(expected_tokens(P, GAMMA))
    gain = float(speedup(P, GAMMA, COST_RATIO))
    return (
        WorkedNumber(name="p^5", printed=0.168, decimals=3, exact=P ** (GAMMA + 1)),
        WorkedNumber(name="tokens per round", printed=2.77, decimals=2, exact=tokens),
        WorkedNumber(name="cost of a round", printed=1.4, decimals=1, exact=tokens / gain),
        WorkedNumber(name="speedup", printed=1.98, decimals=2, exact=gain),
    )
