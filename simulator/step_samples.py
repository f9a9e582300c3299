"""One measured time: a pass of the target, a draft's passes, or a whole round of both."""

from __future__ import annotations

from dataclasses import dataclass

from simulator._checks import as_count, as_nonnegative


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSample:
    """How long something took [s] at a batch, a width and a context.

    - a pass of the target (`draft_steps` 0): `tokens` new tokens of each of `batch` requests, each of
      which holds `context` tokens;
    - a whole round (`draft_steps` above 0): so many passes of the draft over `draft_tokens` tokens of
      each request, one after the other, and then that pass of the target;
    - drafting alone (`draft`): `draft_steps` passes of the draft over `draft_tokens` tokens of each
      request; `tokens` then says nothing.

    `weight` is how many such times the sample stands for. Raises ValueError for numbers out of range.

    >>> StepSample(batch=1, tokens=5, context=200, seconds=0.0125).whole_round
    False
    """

    batch: float
    tokens: float
    context: float
    seconds: float
    weight: float = 1.0
    draft_steps: int = 0
    draft_tokens: int = 1
    draft: bool = False

    def __post_init__(self) -> None:
        for name in ("batch", "tokens"):
            if as_nonnegative(name, getattr(self, name)) < 1.0:
                raise ValueError(f"{name} must be at least 1; got {getattr(self, name):g}.")
        as_nonnegative("context", self.context)
        for name in ("seconds", "weight"):
            if as_nonnegative(name, getattr(self, name)) == 0.0:
                raise ValueError(f"{name} must be above 0; got 0.")
        as_count("draft_steps", self.draft_steps, least=1 if self.draft else 0)
        as_count("draft_tokens", self.draft_tokens, least=1)

    @property
    def whole_round(self) -> bool:
        """Whether drafting and a pass of the target are in one time."""
        return self.draft_steps > 0 and not self.draft
