"""A published number beside what a model says of it, and families of such pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from analysis.published.rows import PublishedRow

Kind: TypeAlias = Literal["prediction", "check"]
Quantity: TypeAlias = Literal[
    "speedup", "tokens_per_round", "cost_ratio", "tokens_per_s", "target_passes", "nodes"
]
Role: TypeAlias = Literal["predicted", "checked", "fitted", "input", "not predicted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """One printed value beside the value that a family's model gives, never from that value itself.

    `inputs` says what it was computed from. Predictions of one `group` share a fitted number or a measured
    run, so that their errors go together. `fitted`: the value helped to fit, and is in no error. `guess` is
    what one would say without the row's own inputs, where that means something.
    """

    row: PublishedRow
    quantity: Quantity
    printed: float
    predicted: float
    inputs: str
    group: str
    fitted: bool = False
    guess: float | None = None

    @property
    def error(self) -> float:
        """predicted / printed − 1."""
        return self.predicted / self.printed - 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Predictions of one kind: by one model, with one question.

    A "prediction" could have failed; a "check" repeats the source's own arithmetic, and must agree within
    the rounding of print. `asks` says what is tested, `misses` what an error means. `inputs` are the numbers
    of rows that gave a number and are not predicted here.
    """

    name: str
    kind: Kind
    asks: str
    misses: str
    predictions: tuple[Prediction, ...]
    inputs: frozenset[int] = frozenset()

    @property
    def tested(self) -> tuple[Prediction, ...]:
        """The predictions whose own value was in no fit."""
        return tuple(each for each in self.predictions if not each.fitted)
