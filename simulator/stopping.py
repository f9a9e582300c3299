"""When a draft ends, as data.

Every rule says which `length_rule` its tables carry. What may be concluded from a table depends on
it: a length that a schedule decided before the draft leaves accepted / tested a fair sample of the
tokens, a length that the draft decided by looking at its own tokens need not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from simulator._checks import as_count, as_probability
from simulator._counting import LengthRule


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedLength:
    """Every draft has gamma tokens."""

    @property
    def length_rule(self) -> LengthRule:
        """What the tables of this rule carry."""
        return "fixed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heuristic:
    """Longer after a round that kept its whole draft, shorter after any other.

    A request begins with min(start, gamma) tokens. After a round that kept all of them the next
    draft is `step_up` tokens longer, otherwise `step_down` shorter; never below 1, never above
    gamma. transformers' schedule "heuristic" is 5, +2, -1 without an upper end (its
    AssistedCandidateGenerator, update_candidate_strategy).

    >>> rule = Heuristic()
    >>> rule.first(gamma=8), rule.after(5, all_kept=True, gamma=8), rule.after(5, all_kept=False, gamma=8)
    (5, 7, 4)
    """

    start: int = 5
    step_up: int = 2
    step_down: int = 1

    def __post_init__(self) -> None:
        as_count("start", self.start, least=1)
        as_count("step_up", self.step_up)
        as_count("step_down", self.step_down)

    @property
    def length_rule(self) -> LengthRule:
        """What the tables of this rule carry: the past decides, never the draft itself."""
        return "scheduled"

    def first(self, *, gamma: int) -> int:
        """Tokens of a request's first draft."""
        return min(self.start, gamma)

    def after(self, length: int, *, all_kept: bool, gamma: int) -> int:
        """Tokens of the draft after one of `length` tokens."""
        if all_kept:
            return min(length + self.step_up, gamma)
        return max(length - self.step_down, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceThreshold:
    """The draft ends with the first token whose confidence is below the threshold, at gamma at most.

    Confidence is the draft's own probability of the token that it took. That token stays in the
    draft and is tested, as in transformers (`assistant_confidence_threshold`). With `drops_last` it
    is thrown away again, as in llama.cpp's common_speculative (`--draft-p-min`; its versions of 2025
    kept it): its step was paid for, the draft may be empty, and a rule that compares with the draft's
    distribution, such as speculative sampling, is no longer lossless.

    >>> rule = ConfidenceThreshold(threshold=0.4)
    >>> rule.goes_on(0.4), rule.goes_on(0.39)
    (True, False)
    """

    threshold: float
    drops_last: bool = False

    def __post_init__(self) -> None:
        as_probability("threshold", self.threshold)
        if not isinstance(self.drops_last, bool):
            raise ValueError(f"drops_last must be True or False; got {self.drops_last!r}.")

    @property
    def length_rule(self) -> LengthRule:
        """What the tables of this rule carry."""
        return "confidence"

    def goes_on(self, confidence: float) -> bool:
        """Whether another token is drafted behind one of this confidence."""
        return confidence >= self.threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracle:
    """Drafts exactly the tokens that will be accepted, gamma at most: what any rule could hope for.

    Nothing is wasted and nothing is known before the target has spoken, so it exists in the
    simulator only (Leviathan et al. 2023, section 3.4).
    """

    @property
    def length_rule(self) -> LengthRule:
        """What the tables of this rule carry: all that is tested is accepted, which says nothing."""
        return "confidence"


Stop: TypeAlias = FixedLength | Heuristic | ConfidenceThreshold | Oracle
