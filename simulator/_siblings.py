"""The children of one node, judged in many rounds at once, by the rules that have chance in them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from simulator._checks import FloatArray, IntArray
from simulator._picking import pick
from simulator.rules import Rule

NONE = -1


def judge_children(
    target_probs: FloatArray,
    draft_probs: FloatArray | None,
    children: IntArray,
    *,
    rule: Rule,
    uniform: Callable[[int], FloatArray],
) -> tuple[IntArray, IntArray]:
    """Judge the children of one node in many rounds, by a rule that has chance in it.

    Shapes: target_probs and draft_probs [rounds, vocabulary], children [rounds, k]. Returns the kept
    child of each round, -1 for none, and the token that follows where none was kept (-1 elsewhere),
    both [rounds]. `uniform` gives n numbers in [0, 1).
    """
    if rule.name == "sample_and_match":
        return _look_up(target_probs, children, uniform)
    if draft_probs is None or not (rule.needs_draft_probs and children.shape[1]):
        return _judge_points(target_probs, children, uniform)
    return _judge_drawn(target_probs, draft_probs, children, rule, uniform)


def _look_up(
    target: FloatArray, children: IntArray, uniform: Callable[[int], FloatArray]
) -> tuple[IntArray, IntArray]:
    """Draw from the target as without a draft, and see whether a child has that token."""
    drawn = pick(target, uniform(len(children)))
    same = children == drawn[:, None]  # [rounds, k]
    kept = _first(same)
    return kept, np.where(kept < 0, drawn, NONE)


def _judge_points(
    target: FloatArray, children: IntArray, uniform: Callable[[int], FloatArray]
) -> tuple[IntArray, IntArray]:
    """Keep child x with probability R(x); rejected it leaves R, which is divided by what is left."""
    rounds, count = children.shape
    index = np.arange(rounds)[:, None]
    likely = target[index, children].astype(np.float64)  # [rounds, k]
    # The second of two equal siblings: its token has left R with the first.
    again = np.tril(children[:, :, None] == children[:, None, :], -1).any(axis=2)
    likely[again] = 0.0
    rest = target.copy()
    rest[index, children] = 0.0
    # What is left when a child is tried, summed from the end: exactly its own where nothing else is.
    left = rest.sum(axis=1, dtype=np.float64)[:, None] + likely[:, ::-1].cumsum(axis=1)[:, ::-1]
    kept = _first(uniform(rounds * count).reshape(rounds, count) * left < likely)
    return kept, _corrected(kept, rest[kept < 0], uniform)


def _judge_drawn(
    target: FloatArray,
    draft: FloatArray,
    children: IntArray,
    rule: Rule,
    uniform: Callable[[int], FloatArray],
) -> tuple[IntArray, IntArray]:
    """Keep child x with probability min(1, R(x) / D(x)); rejected it leaves norm(max(R - D, 0)).

    D is the distribution that the child was drawn from: Q, without replacement less its elder siblings.
    """
    rounds, count = children.shape
    kept = np.full(rounds, NONE, dtype=np.int64)
    alive = np.arange(rounds)
    rest = target  # [alive, vocabulary]; neither this nor `draft` is divided by its sum
    for child in range(count):
        tokens = children[alive, child]
        index = np.arange(alive.size)
        total = rest.sum(axis=1, dtype=np.float64)
        share = draft.sum(axis=1, dtype=np.float64)
        likely = draft[index, tokens]
        _refuse_impossible(likely, tokens)
        rejected = ~(uniform(alive.size) * total * (likely / share) < rest[index, tokens])
        kept[alive[~rejected]] = child
        alive, tokens = alive[rejected], tokens[rejected]
        before, draft = rest[rejected], draft[rejected]
        rest = before / total[rejected, None]
        rest -= draft / share[rejected, None]
        np.maximum(rest, 0.0, out=rest)
        # Nothing left: the target was the draft up to rounding, and is the answer itself.
        lost = ~(rest.sum(axis=1) > 0.0)
        rest[lost] = before[lost]
        if rule.name == "without_replacement":
            draft[np.arange(alive.size), tokens] = 0.0
    return kept, _corrected(kept, rest, uniform)


def _corrected(kept: IntArray, rest: FloatArray, uniform: Callable[[int], FloatArray]) -> IntArray:
    """A token from what is left, where no child was kept."""
    following = np.full(kept.size, NONE, dtype=np.int64)
    following[kept < 0] = pick(rest, uniform(len(rest)))
    return following


def _first(true: FloatArray) -> IntArray:
    """The first column that is true in each row, -1 for none."""
    if not true.shape[1]:
        return np.full(len(true), NONE, dtype=np.int64)
    return np.where(true.any(axis=1), true.argmax(axis=1), NONE)


def _refuse_impossible(likely: FloatArray, tokens: IntArray) -> None:
    if likely.size and not likely.min() > 0.0:
        raise ValueError(
            "drafted must hold tokens that the draft can draw; "
            f"token {tokens[int(np.argmin(likely))]} has draft probability 0 behind its siblings."
        )
