"""How heads are trained: one value, written into the folder of every result."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from simulator._checks import as_count, as_nonnegative, as_probability

Labels: TypeAlias = Literal["hard", "soft"]
_MOST_STEPS = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Steps of gradient descent and what a step is.

    `batch` counts positions of the text for Medusa, texts for EAGLE, of which each gives at most
    `window` tokens. Labels are the tokens themselves (hard) or the target's whole distribution over
    the tokens drafted from (soft). `on_prompts` learns from what the target makes of its prompts
    too. Learning rates are those of AdamW and of Muon scaled to it, the `peak_rate` reached after
    `warm_up` steps and left on half a cosine down to the share `last_rate`.

    For EAGLE, `unroll` steps go on the head's own estimates; step s weighs `step_weight`^s, and
    each adds `state_weight` times the smooth L1 distance of the estimate from the target's state.
    Of Medusa's heads, head k weighs `step_weight`^k.

    Raises ValueError for counts below 1 and shares outside of [0, 1].
    """

    steps: int
    batch: int
    peak_rate: float
    seed: int = 0
    warm_up: int = 50  # [steps]
    last_rate: float = 0.02
    weight_decay: float = 0.02
    labels: Labels = "soft"
    on_prompts: bool = False
    window: int = 256  # [tokens]
    unroll: int = 3  # [steps]
    step_weight: float = 0.9
    state_weight: float = 0.1
    bfloat16: bool = True

    def __post_init__(self) -> None:
        as_count("steps", self.steps, least=1, most=_MOST_STEPS)
        as_count("batch", self.batch, least=1)
        as_count("seed", self.seed)
        as_count("warm_up", self.warm_up)
        as_count("window", self.window, least=8)
        as_count("unroll", self.unroll, least=1, most=16)
        as_nonnegative("peak_rate", self.peak_rate)
        as_nonnegative("weight_decay", self.weight_decay)
        as_nonnegative("state_weight", self.state_weight)
        as_probability("last_rate", self.last_rate)
        as_probability("step_weight", self.step_weight)
        if self.labels not in {"hard", "soft"}:
            raise ValueError(f"labels must be hard or soft; got {self.labels!r}.")

    def rate(self, step: int) -> float:
        """Share of the peak rate at a step: linear warm-up, then half a cosine.

        >>> recipe = Recipe(steps=100, batch=1, peak_rate=1e-3, warm_up=10)
        >>> [round(recipe.rate(step), 3) for step in (0, 9, 10, 55, 100)]
        [0.1, 1.0, 1.0, 0.51, 0.02]
        """
        if step < self.warm_up:
            return (step + 1) / self.warm_up
        done = (step - self.warm_up) / max(self.steps - self.warm_up, 1)
        return self.last_rate + (1.0 - self.last_rate) * 0.5 * (1.0 + math.cos(math.pi * done))
