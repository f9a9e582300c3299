"""Spec-Bench's answer files: one line a question, with the length of every round in order."""

from __future__ import annotations

from collections.abc import Sequence

from real_runs.engines.counts.acceptance_record import label_of
from real_runs.engines.counts.length_pool import LengthPool
from real_runs.engines.counts.pool import Extras, Layout
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.reading import Reading
from real_runs.engines.text.fields import as_number, as_whole, counts_at, shown, text_at
from real_runs.engines.text.objects import JsonObject, Where
from simulator import Clock

KEYS = ("accept_lengths",)
SHAPES = "'accept_lengths' with 'new_tokens' and 'wall_time' (Spec-Bench, one JSON object a line)"
MOST_TURNS = 1000

_LAYOUT = Layout(
    engine="spec-bench",
    name="answer file",
    unit="request",
    averaged_over="rounds",
    definition=(
        "none is printed; accept_lengths are tokens per round with the bonus, whose mean over all rounds "
        "Spec-Bench calls #Mean accepted tokens."
    ),
)


class Answers:
    """Keeps the rounds of every turn, or of every answer where turns cannot be told apart."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._skips = skips
        self._pool = LengthPool(_LAYOUT, source)
        self._emitted: int | None = 0
        self._seconds: float | None = 0.0
        self._first_line = 0

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Add the rounds of one answer, or raise NoCounts with the reason why not."""
        lengths = counts_at(value, KEYS[0])
        if not lengths:
            return  # a choice of an answer that was not timed
        if min(lengths) < 1:
            raise NoCounts(
                "a round of 0 tokens: accept_lengths count the bonus",
                finding="length_outside_range",
            )
        question = where.parents[0] if where.parents else value
        name = label_of(question, "question_id", "id")
        labels = tuple(
            (key, text)
            for key in ("category", "model_id")
            if (text := text_at(question, key)) is not None
        )
        turns = _whole_list(value, "decoding_steps")
        new, wall = _whole_list(value, "new_tokens"), _numbers(value, "wall_time")
        if sum(turns) != len(lengths) or len(wall) != len(turns):
            turns, wall = [len(lengths)], [sum(wall)] if wall else []
        begin = 0
        for index, steps in enumerate(turns):
            kept = [length - 1 for length in lengths[begin : begin + steps]]
            begin += steps
            if not kept:
                continue
            self._pool.add(
                where.line,
                kept,
                name=name if len(turns) == 1 else f"{name}, turn {index + 1}",
                labels=labels,
                decode_s=wall[index] if wall else None,
            )
        self._emitted = None if self._emitted is None or not new else self._emitted + sum(new)
        self._seconds = None if self._seconds is None or not wall else self._seconds + sum(wall)
        self._first_line = self._first_line or where.line

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of all answers; empty, with a skip that says so, if none kept a draft."""
        if self._first_line and not self._pool.longest:
            self._skips.record(
                self._first_line,
                "every round emitted one token: plain decoding, or no drafted token was ever kept",
                expected=SHAPES,
            )
        notes = ["accept_lengths count the bonus token."]
        clock = Clock()
        if self._seconds and self._emitted:
            clock = Clock(tokens_per_s=self._emitted / self._seconds, running=1.0)
            notes.append("wall_time is that of whole answers, their prompts included.")
        return self._pool.readings(
            lines, notes=tuple(notes), extras=Extras(emitted=self._emitted, clock=clock)
        )


def _listed(value: JsonObject, name: str) -> Sequence[object]:
    found = value.get(name)
    if found is None:
        return ()
    if not isinstance(found, list):
        return (found,)
    if len(found) > MOST_TURNS:
        raise NoCounts(f"{name} has more than {MOST_TURNS} turns ({shown(len(found))})")
    return found


def _whole_list(value: JsonObject, name: str) -> list[int]:
    """The counts of all turns, given as a list or as one number."""
    return [as_whole(name, entry) for entry in _listed(value, name)]


def _numbers(value: JsonObject, name: str) -> list[float]:
    return [as_number(name, entry) for entry in _listed(value, name)]
