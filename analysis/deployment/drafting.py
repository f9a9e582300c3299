"""How a round drafts, and what that takes at any batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from analysis._arrays import Numbers, lengths, plain
from analysis.deployment.prefill import prefill_s
from analysis.pass_cost import PassCost
from simulator._checks import FloatArray, as_nonnegative

Shape: TypeAlias = Literal["chain", "block", "lookup"]
SHAPES: tuple[Shape, ...] = ("chain", "block", "lookup")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafting:
    """How a round comes to its gamma tokens, for all requests of the batch together.

    - `chain`: gamma steps of `step` one after the other, a token of each request in each (a draft
      model, EAGLE, MTP);
    - `block`: one step of `step` over gamma tokens of each request (block drafters, heads);
    - `lookup`: no model (prompt lookup, n-grams); `step` is None.

    `round_s` is what drafting takes beside its steps, once per round, at every batch. `reads_prompt` says
    whether the draft passes over the prompt once, as a model or a head of its own must; a draft on the
    target's cache need not, and a lookup does not. Raises
    ValueError for an unknown shape, a step that is missing or superfluous, and a negative time.

    >>> step = PassCost(weights_s=0.0005, compute_s=1e-6)
    >>> Drafting(shape="chain", step=step).seconds(4), Drafting(shape="block", step=step).seconds(4)
    (0.002, 0.0005)
    """

    shape: Shape
    step: PassCost | None = None
    round_s: float = 0.0
    reads_prompt: bool = True

    def __post_init__(self) -> None:
        if self.shape not in SHAPES:
            raise ValueError(f"shape must be one of {', '.join(SHAPES)}; got {self.shape!r}.")
        if (self.step is None) != (self.shape == "lookup"):
            raise ValueError("step must be given for a chain and a block, and not for a lookup.")
        as_nonnegative("round_s", self.round_s)

    def steps(self, gamma: int) -> int:
        """Sequential passes of the draft in a round of gamma tokens."""
        if self.step is None or gamma == 0:
            return 0
        return gamma if self.shape == "chain" else 1

    def seconds(
        self, gamma: Numbers, batch: Numbers = 1, context: Numbers = 0
    ) -> FloatArray | float:
        """Time of drafting gamma tokens for each request [s]; 0 at gamma 0. Arguments broadcast."""
        length = lengths("gamma", gamma)
        if self.step is None:
            taken = np.zeros(())
        elif self.shape == "chain":
            taken = length * np.asarray(self.step.seconds(batch, 1, context))
        else:
            taken = np.asarray(self.step.seconds(batch, np.maximum(length, 1.0), context))
        return plain(np.asarray(np.where(length > 0.0, taken + self.round_s, 0.0)))

    def prefill_s(self, prompt_tokens: int) -> float:
        """What the draft takes for the prompt of one request [s]."""
        if self.step is None or not self.reads_prompt:
            return 0.0
        return prefill_s(self.step, prompt_tokens)
