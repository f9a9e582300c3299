"""Recorded texts as a law of acceptance: what was kept, read again with drafts of another length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from simulator._checks import as_count
from simulator.drafts import MAX_GAMMA
from simulator.generation import Generation
from simulator.observation import CountedUnit

MAX_RECORDED = 10**8
"""Tokens that a trace may hold, all texts together."""
Steps = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceReplay:
    """Recorded texts: what became of the drafts that began at each round, or at every position.

    `texts` holds one record per text, (drafted, accepted) per round in order, or, with
    `every_position`, per token of the text: what a draft that begins there keeps. `tokens` are the
    tokens that arrived of each text, where the record knows; without it every round counts whole.
    `stopped` tells the texts that a stop token ended, behind which nothing was tested.

    An every-position record holds all drafts up to its longest. A per-round record is exact at its
    own draft length. With drafts of another length rounds begin elsewhere: which tokens of the text
    were kept and which rejected is then read from the record, as for a drafter whose token depends
    on the text before it alone; the tokens behind a draft that was kept whole were never tested.

    Raises ValueError for no text, an empty one, and counts that cannot be.

    >>> trace = TraceReplay(texts=(((2, 1), (2, 2), (2, 0)),))
    >>> trace.gamma, trace.lengths
    (2, (6,))
    """

    texts: tuple[Steps, ...]
    every_position: bool = False
    tokens: tuple[int, ...] = ()
    stopped: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        if not _is_sequence(self.texts):
            raise ValueError(f"texts must be a sequence of texts; got {self.texts!r}.")
        if not self.texts:
            raise ValueError("texts must hold one text at least; got none.")
        for name, values in (("tokens", self.tokens), ("stopped", self.stopped)):
            if values and len(values) != len(self.texts):
                raise ValueError(
                    f"{name} must have one value per text ({len(self.texts)}); got {len(values)}."
                )
        if self.tokens and self.every_position:
            raise ValueError(
                "tokens must not be given with every_position, which has one step each."
            )
        for i, steps in enumerate(self.texts):
            self._check_text(i, steps)
        total = sum(self.lengths)
        if total > MAX_RECORDED:
            raise ValueError(f"texts must hold at most {MAX_RECORDED:.0e} tokens; got {total}.")

    def _check_text(self, i: int, steps: Steps) -> None:
        if not _is_sequence(steps):
            raise ValueError(f"texts[{i}] must be a sequence of steps; got {steps!r}.")
        if not steps:
            raise ValueError(f"texts[{i}] must hold one step at least; got none.")
        if not _plainly_right(steps):
            self._find_fault(i, steps)
        if self.tokens:
            whole = sum(accepted + 1 for _, accepted in steps)
            behind = whole - steps[-1][1] - 1  # where the last round began
            as_count(f"tokens[{i}]", self.tokens[i], least=behind + 1, most=whole)

    def _find_fault(self, i: int, steps: Steps) -> None:
        for k, step in enumerate(steps):
            try:
                drafted, accepted = step
            except (TypeError, ValueError):
                raise ValueError(
                    f"texts[{i}][{k}] must be (drafted, accepted); got {step!r}."
                ) from None
            as_count(f"drafted of texts[{i}][{k}]", drafted, most=MAX_GAMMA)
            as_count(f"accepted of texts[{i}][{k}]", accepted, most=drafted)

    @classmethod
    def of(cls, records: Iterable[Generation | CountedUnit]) -> TraceReplay:
        """The texts of generations, or the steps of counted units, that recorded them.

        Raises ValueError where one has no steps, where some have one for every position and others
        not, for drafts that ended by their confidence, and for generations mixed with units.

        >>> from simulator import AcceptanceTable
        >>> table = AcceptanceTable(rounds=1, drafted=2, tested=(1, 1), accepted=(1, 0))
        >>> TraceReplay.of([CountedUnit(counts=table, steps=((2, 1),))]).texts
        (((2, 1),),)
        """
        texts, kinds, tokens, stopped = [], set(), [], []
        for i, record in enumerate(records):
            steps, every_position, arrived = _steps_of(i, record)
            if not steps:  # a text that ended with the token of prefill
                continue
            texts.append(steps)
            kinds.add(every_position)
            tokens.append(arrived)
            stopped.append(isinstance(record, Generation) and record.ended == "stop")
        if len(kinds) > 1:
            raise ValueError(
                "records must all hold rounds or all hold every position; got some of each."
            )
        every_position = kinds == {True}
        known = [count for count in tokens if count is not None]
        told = not every_position and len(known) == len(texts)
        return cls(
            texts=tuple(texts),
            every_position=every_position,
            tokens=tuple(known) if told else (),
            stopped=tuple(stopped) if any(stopped) else (),
        )

    @property
    def gamma(self) -> int:
        """The longest recorded draft [tokens]."""
        return max(drafted for steps in self.texts for drafted, _ in steps)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Tokens of each text."""
        if self.every_position:
            return tuple(map(len, self.texts))
        if self.tokens:
            return self.tokens
        return tuple(sum(accepted + 1 for _, accepted in steps) for steps in self.texts)


def _is_sequence(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _plainly_right(steps: Steps) -> bool:
    """Whether all steps are pairs of whole numbers that can be; False says only: look at each."""
    try:
        pairs = np.array(steps)
    except (TypeError, ValueError, OverflowError):
        return False
    if pairs.dtype != np.int64 or pairs.ndim != 2 or pairs.shape[1] != 2:
        return False
    drafted, accepted = pairs.T
    return bool(np.all((accepted >= 0) & (accepted <= drafted) & (drafted <= MAX_GAMMA)))


def _steps_of(i: int, record: Generation | CountedUnit) -> tuple[Steps, bool, int | None]:
    """The steps, whether there is one for every position, and the tokens that arrived if known."""
    counts = record.table if isinstance(record, Generation) else record.counts
    if counts.length_rule == "confidence":
        raise ValueError(
            f"records[{i}] must have drafts whose length does not depend on the draft's confidence; "
            "others would have ended elsewhere."
        )
    if isinstance(record, Generation):
        steps: Steps = tuple((r.drafted, r.accepted) for r in record.rounds)
        every_position = record.record == "every_position"
    else:
        steps, every_position = record.steps, record.every_position
    recorded = isinstance(record, Generation) and record.record != "table"
    if not steps and not recorded:
        raise ValueError(f"records[{i}] must hold its steps; got none.")
    return steps, every_position, None if every_position else counts.emitted
