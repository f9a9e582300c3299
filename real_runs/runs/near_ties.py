"""Where a greedy text leaves plain decoding, and whether rounding can have done it.

A pass over several tokens adds up in another order than passes over one, so its logits differ in the
last digits. That may decide between two tokens whose logits all but tie, and nothing else.
"""

from __future__ import annotations

import numpy as np

from real_runs.runs.measurement import Mismatch, RequestRecord, StepRecord
from simulator._checks import IntArray
from simulator.models import Logits, Target


class Pairs:
    """Compares greedy texts with the plain one of the same prompt, as soon as both are there."""

    def __init__(self, target: Target, encoded: dict[str, IntArray]) -> None:
        self._target = target
        self._encoded = encoded
        self._plain: dict[tuple[str, int], RequestRecord] = {}
        self._drafted: dict[tuple[str, int], list[tuple[RequestRecord, StepRecord]]] = {}

    def add(self, record: RequestRecord, steps: StepRecord) -> None:
        """Remember a request until its counterparts come."""
        key = (record.prompt, record.repeat)
        if record.gamma == 0:
            self._plain[key] = record
        else:
            self._drafted.setdefault(key, []).append((record, steps))

    def compare(self, record: RequestRecord, steps: StepRecord) -> tuple[Mismatch, ...]:
        """The first differences between this text and those that were waiting for it."""
        key = (record.prompt, record.repeat)
        if record.gamma == 0:
            plain, waiting = record, self._drafted.get(key, [])
        elif key in self._plain:
            plain, waiting = self._plain[key], [(record, steps)]
        else:
            return ()
        prompt = self._encoded[record.prompt]
        found = (
            examine(self._target, prompt, plain=plain, drafted=drafted, steps=its_steps)
            for drafted, its_steps in waiting
        )
        return tuple(mismatch for mismatch in found if mismatch is not None)


def first_difference(text: tuple[int, ...], other: tuple[int, ...]) -> int | None:
    """The index of the first token that two texts do not share; None if they are equal.

    >>> first_difference((1, 2, 3), (1, 4, 3)), first_difference((1,), (1, 2)), first_difference((), ())
    (1, 1, None)
    """
    for index, (token, wanted) in enumerate(zip(text, other, strict=False)):
        if token != wanted:
            return index
    return None if len(text) == len(other) else min(len(text), len(other))


def examine(
    target: Target,
    prompt: IntArray,
    *,
    plain: RequestRecord,
    drafted: RequestRecord,
    steps: StepRecord,
) -> Mismatch | None:
    """The first difference of a drafted text from the plain one, computed again in both ways.

    The one-token pass reads the shared text token by token; the many-token pass reads it in passes
    as wide as those of the drafted request (rejected tokens, which no later one sees, are replaced
    by others; those of a tree become leaves behind its root). None if the texts are equal.
    """
    at = first_difference(drafted.tokens, plain.tokens)
    if at is None:
        return None
    if at >= min(len(drafted.tokens), len(plain.tokens)):
        return Mismatch(task=drafted.task, at=at, gap=0.0, change=0.0)  # one stopped: unexplained
    one = one_token_pass(target, prompt, plain.tokens, at)
    many = many_token_pass(target, prompt, drafted.tokens, steps, at)
    taken = [plain.tokens[at], drafted.tokens[at]]
    return Mismatch(
        task=drafted.task,
        at=at,
        gap=float(one.max() - one[taken].min()),
        change=float(np.max(np.abs(one - many))),
    )


def one_token_pass(target: Target, prompt: IntArray, tokens: tuple[int, ...], at: int) -> Logits:
    """The logits of tokens[at] after passes over one token each, shape [vocabulary]."""
    logits = target.start(prompt)
    for token in tokens[:at]:
        logits = target.extend(np.array([token], dtype=np.int64))[0]
    return logits.astype(np.float64)


def many_token_pass(
    target: Target, prompt: IntArray, tokens: tuple[int, ...], steps: StepRecord, at: int
) -> Logits:
    """The logits of tokens[at] after passes as wide as those of `steps`, shape [vocabulary]."""
    logits = target.start(prompt)
    position = 1  # the token of prefill is not fed yet
    for width, emitted in zip(steps.width, steps.emitted, strict=True):
        if position > at:
            break
        as_tree = steps.depth != () and width > 1
        fed = tokens[position - 1 : position - 1 + (emitted if as_tree else width)]
        fed += (tokens[-1],) * (width - len(fed))
        ids = np.array(fed, dtype=np.int64)
        if as_tree:
            parents = np.arange(-1, width - 1)
            parents[emitted:] = 0
            rows = target.extend_tree(ids, parents)  # type: ignore[attr-defined]  # it did so before
        else:
            rows = target.extend(ids)
        if at < position + emitted:
            logits = rows[at - position]
            break
        if as_tree:
            target.keep(np.arange(emitted))  # type: ignore[attr-defined]  # as above
        else:
            target.rollback(width - emitted)
        position += emitted
    return logits.astype(np.float64)
