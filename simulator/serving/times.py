"""What passes take, as data: measured or predicted elsewhere, looked up here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulator._checks import FloatArray, as_array, as_nonnegative, as_probability


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PassTable:
    """Times of target passes [s], shape [requests, tokens, contexts]; between its marks it is linear.

    `requests` are whole numbers from 1 on, `tokens` those of each request in the pass (its mean, where some
    bring more than others), from 1 on, `contexts` what each request holds already (its mean), from 0 on.
    Raises ValueError for marks that do not rise or begin elsewhere, another shape, and times that are
    not above 0.

    >>> table = PassTable(requests=(1, 3), tokens=(1, 5), contexts=(0,),
    ...     seconds=[[[1.0], [2.0]], [[3.0], [6.0]]])
    >>> table.batch(2)[:, 0]
    array([2., 4.])
    """

    requests: npt.ArrayLike
    tokens: npt.ArrayLike
    contexts: npt.ArrayLike
    seconds: npt.ArrayLike

    def __post_init__(self) -> None:
        for name, first in (("requests", 1.0), ("tokens", 1.0), ("contexts", 0.0)):
            object.__setattr__(self, name, as_marks(name, getattr(self, name), first))
        shape = tuple(np.size(getattr(self, name)) for name in ("requests", "tokens", "contexts"))
        object.__setattr__(self, "seconds", as_seconds("seconds", self.seconds, shape, least=1e-12))

    def batch(self, requests: int) -> FloatArray:
        """The passes over so many requests, shape [tokens, contexts]; ValueError beyond the last mark."""
        return between("requests", np.asarray(self.requests), np.asarray(self.seconds), requests)

    @property
    def most_requests(self) -> int:
        """The largest batch that the table knows."""
        return int(np.asarray(self.requests)[-1])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PromptTable:
    """Times of the passes that read a prompt [s], by its tokens; between its marks it is linear.

    `target_s` and `draft_s` have shape [tokens]; `draft_s` is 0 for drafts that read no prompt. Raises
    ValueError for marks that do not rise or begin elsewhere than at 1, and negative times.
    """

    tokens: npt.ArrayLike
    target_s: npt.ArrayLike
    draft_s: npt.ArrayLike

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", as_marks("tokens", self.tokens, 1.0))
        shape = (np.size(self.tokens),)
        for name in ("target_s", "draft_s"):
            object.__setattr__(self, name, as_seconds(name, getattr(self, name), shape, least=0.0))

    @property
    def most_tokens(self) -> int:
        """The longest prompt that the table knows."""
        return int(np.asarray(self.tokens)[-1])

    def read_s(self, tokens: npt.ArrayLike, *, drafting: bool) -> FloatArray:
        """Time to read prompts of so many tokens, the draft's included where there is one."""
        marks = np.asarray(self.tokens)
        taken = np.interp(np.asarray(tokens, dtype=np.float64), marks, np.asarray(self.target_s))
        return np.asarray(taken + self.draft_share_s(tokens) if drafting else taken)

    def draft_share_s(self, tokens: npt.ArrayLike) -> FloatArray:
        """What of that is the draft's."""
        marks = np.asarray(self.tokens)
        return np.asarray(
            np.interp(np.asarray(tokens, dtype=np.float64), marks, np.asarray(self.draft_s))
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ServingTimes:
    """Everything that takes time on a server [s].

    `passes` are the target's; `drafting_s` is what drafting takes of a round, shape [gammas, requests,
    contexts] for gamma 0, 1, … at the marks of `passes`; `prompts` what reading a prompt takes alone. A
    round of gamma tokens for b requests takes

        drafting + pass + overhead_s − draft_overlap · min(drafting, pass)

    and one without drafts its pass. Raises ValueError for another shape and negative times.
    """

    passes: PassTable
    drafting_s: npt.ArrayLike
    prompts: PromptTable
    overhead_s: float = 0.0
    draft_overlap: float = 0.0

    def __post_init__(self) -> None:
        as_nonnegative("overhead_s", self.overhead_s)
        as_probability("draft_overlap", self.draft_overlap)
        drafting = _as_numbers("drafting_s", self.drafting_s)
        gammas = max(len(drafting), 1) if drafting.ndim else 1
        shape = (gammas, np.size(self.passes.requests), np.size(self.passes.contexts))
        found = as_seconds("drafting_s", drafting, shape, least=0.0)
        object.__setattr__(self, "drafting_s", found)

    @property
    def most_gamma(self) -> int:
        """The longest draft whose drafting is known."""
        return len(np.asarray(self.drafting_s)) - 1

    def drafting(self, gamma: int, requests: int) -> FloatArray:
        """Time of drafting for so many requests, shape [contexts]."""
        row = np.asarray(self.drafting_s)[gamma]
        return between("requests", np.asarray(self.passes.requests), row, requests)


def as_marks(name: str, values: npt.ArrayLike, first: float) -> FloatArray:
    """Marks of an axis, shape [n ≥ 1], rising from `first`; ValueError otherwise."""
    marks = np.atleast_1d(_as_numbers(name, values))
    if marks.ndim != 1 or not marks.size or marks[0] != first or not np.isfinite(marks).all():
        raise ValueError(
            f"{name} must be finite marks from {first:g} on; got {np.asarray(values)!r:.80}."
        )
    if (np.diff(marks) <= 0.0).any():
        raise ValueError(f"{name} must rise; got {np.asarray(values)!r:.80}.")
    return marks


def as_seconds(
    name: str, values: npt.ArrayLike, shape: tuple[int, ...], *, least: float
) -> FloatArray:
    """Times of this shape; ValueError for another one and for times below `least`."""
    times = _as_numbers(name, values)
    if times.shape != shape:
        raise ValueError(f"{name} must have shape {list(shape)}; got {list(times.shape)}.")
    if times.size and not (np.isfinite(times).all() and times.min() >= least):
        raise ValueError(
            f"{name} must be finite times of at least {least:g} s; got {times.min():g} to {times.max():g}."
        )
    return times


def _as_numbers(name: str, values: npt.ArrayLike) -> FloatArray:
    found = as_array(name, values, "numbers")
    if found.size and found.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be numbers; got {values!r:.80}.")
    return found.astype(np.float64)


def between(name: str, marks: FloatArray, values: FloatArray, at: float) -> FloatArray:
    """`values` along their first axis at a point between its marks, linear; ValueError beyond them."""
    if not marks[0] <= at <= marks[-1]:
        raise ValueError(f"{name} must be in [{marks[0]:g}, {marks[-1]:g}]; got {at:g}.")
    upper = min(int(np.searchsorted(marks, at, side="left")), marks.size - 1)
    if marks[upper] == at:
        return np.asarray(values[upper])
    share = (at - marks[upper - 1]) / (marks[upper] - marks[upper - 1])
    return np.asarray((1.0 - share) * values[upper - 1] + share * values[upper])
