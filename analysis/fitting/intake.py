"""From what a source gives to rows that can be fitted, and what to say about it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from analysis.fitting.replay import Replay
from analysis.fitting.rounding import Rounding, rounding_of
from analysis.fitting.rows import (
    Rows,
    Steps,
    Unit,
    replayed,
    rows_of_pool,
    rows_of_steps,
    rows_of_tables,
)
from analysis.rounded_counts import RoundedTable, counts_by_depth, full_by_depth, with_longest
from simulator import AcceptanceTable, AcceptanceTotals, CountedUnit, Counts, Observation
from simulator._checks import as_count

Data: TypeAlias = Counts | Observation | Sequence[CountedUnit]

_STRETCHES = 20
_FEWEST_STRETCHES = 5
_LEAST_STRETCH = 10  # rounds
POOLED = (
    "The counts are pooled: rounds of one request are alike, so every interval here is a lower bound "
    "of the uncertainty."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Intake:
    """Rows to fit, or totals that only bound p; what to tell the reader; why nothing is fitted.

    `replay` has the same rows, where every position of them is recorded; `rounding` is what rounded
    counts by depth leave open.
    """

    rows: Rows | None = None
    totals: AcceptanceTotals | None = None
    notes: tuple[str, ...] = ()
    refusal: str | None = None
    replay: Replay | None = None
    rounding: Rounding | None = None


def take_in(data: Data, *, gamma: int | None) -> Intake:
    """The rows of the data. Raises ValueError for something else or counts that cannot be."""
    if gamma is not None:
        as_count("gamma", gamma, least=1)
    if isinstance(data, Observation):
        undrafted = data.undrafted_rounds or 0
        rule = data.length_rule if data.counts is None else data.counts.length_rule
        if "confidence" in {rule, data.length_rule}:
            return Intake(refusal=_CONFIDENCE)
        longest = gamma if gamma is not None else data.gamma
        if len(data.units) > 1 or data.counts is None or any(u.steps for u in data.units):
            word: Unit = "requests" if data.unit == "request" else "intervals"
            taken = _units(data.units, longest, word, undrafted)
            if data.counts is None and longest is None and data.printed:
                return dataclasses.replace(taken, refusal=_NO_LENGTH)
            if taken.rows is not None or data.counts is None:
                return taken
        return _pool(data.counts, longest, undrafted)
    if isinstance(data, (AcceptanceTable, AcceptanceTotals)):
        return _pool(data, gamma, 0)
    if isinstance(data, Sequence) and all(isinstance(unit, CountedUnit) for unit in data):
        return _units(data, gamma, "requests", 0)
    raise ValueError(
        "data must be an AcceptanceTable, AcceptanceTotals, an Observation or a sequence of "
        f"CountedUnit; got {type(data).__name__}."
    )


def _pool(counts: Counts, gamma: int | None, undrafted: int) -> Intake:
    if counts.length_rule == "confidence":
        return Intake(refusal=_CONFIDENCE)
    table, hidden = counts_by_depth(counts, gamma)
    if table is None:
        assert isinstance(counts, AcceptanceTotals)  # noqa: S101 — a table is one already
        totals = with_longest(counts, gamma)
        if totals.drafted == 0:
            return Intake(refusal="Nothing was drafted, so nothing can be fitted.")
        return Intake(
            totals=totals,
            notes=(_COARSE if full_by_depth(totals) else _NO_DEPTHS, POOLED),
        )
    return _one_table(table, hidden, gamma, undrafted)


def _one_table(
    table: AcceptanceTable, hidden: RoundedTable | None, gamma: int | None, undrafted: int
) -> Intake:
    _check_depths(table, gamma)
    if not sum(table.tested):
        return Intake(refusal="Nothing was tested, so nothing can be fitted.")
    rounding, said = rounding_of([hidden], depths=table.depths, apart=False, alike=False)
    rows = rows_of_pool(table, undrafted)
    return Intake(rows=rows, notes=(POOLED, *said, *_marks([table])), rounding=rounding)


def _units(units: Sequence[CountedUnit], gamma: int | None, word: Unit, undrafted: int) -> Intake:
    if any(unit.counts.length_rule == "confidence" for unit in units):
        return Intake(refusal=_CONFIDENCE)
    tables = [(unit, *counts_by_depth(unit.counts, gamma)) for unit in units]
    usable = [each for each in tables if each[0].steps or (each[1] and each[1].rounds)]
    if not usable:
        totals = [unit.counts for unit in units if isinstance(unit.counts, AcceptanceTotals)]
        if not totals:
            return Intake(refusal="There is no round, so nothing can be fitted.")
        pooled = totals[0]
        for more in totals[1:]:
            pooled = pooled + more
        return _pool(pooled, gamma, undrafted)
    notes: list[str] = []
    if len(usable) < len(units):
        notes.append(
            f"{len(units) - len(usable)} of {len(units)} {word} do not say which depths were tested, "
            "are rounded too coarsely, or have no round, and were left out."
        )
    known = [table for _, table, _ in usable if table is not None]
    for table in known:
        _check_depths(table, gamma)
    ordered = [
        replayed(unit.steps) if unit.every_position else list(unit.steps) for unit, *_ in usable
    ]
    every = [unit.every_position for unit, *_ in usable]
    if all(ordered) and word == "requests" and not undrafted:
        texts = [unit.steps for unit, *_ in usable] if all(every) else None
        return _ordered(ordered, (*notes, *_marks(known)), texts)
    if any(every):
        notes.append("Every position is recorded: the rounds that the text takes were fitted.")
    if len(known) < len(usable):
        raise ValueError("units must all have counts by depth or all have steps; got a mixture.")
    if len(known) == 1:
        taken = _one_table(known[0], usable[0][2], gamma, undrafted)
        return dataclasses.replace(taken, notes=(*notes, *taken.notes))
    rows = rows_of_tables(known, unit=word, undrafted=float(undrafted))
    rounding, said = rounding_of(
        [hidden for *_, hidden in usable], depths=rows.depths, apart=True, alike=rows.all_alike
    )
    notes.extend((*said, *_marks(known)))
    if undrafted:
        notes.append("Rounds without a draft are counted for all together and spread by rounds.")
    return dataclasses.replace(_tested(rows, tuple(notes)), rounding=rounding)


def _ordered(
    requests: list[list[tuple[int, int]]], notes: tuple[str, ...], texts: Sequence[Steps] | None
) -> Intake:
    """Requests with their rounds in order; `texts` has their steps where every position has one."""
    if len(requests) > 1:
        falling = sorted(range(len(requests)), key=lambda i: -len(requests[i]))  # as rows are
        rows = rows_of_steps([requests[i] for i in falling])
        if rows.kept is None:
            longest = max(map(len, requests))
            too_many = (
                f"{len(requests):,} requests of up to {longest:,} rounds are too many to follow in "
                "order, so the order of rounds was left out."
            )
            notes = (*notes, too_many)
        replay = None if texts is None else Replay([texts[i] for i in falling])
        return _tested(rows, notes, replay)
    steps = requests[0]
    size = max(-(-len(steps) // _STRETCHES), _LEAST_STRETCH)
    first = list(range(0, len(steps), size))
    if len(first) < _FEWEST_STRETCHES:
        whole = rows_of_steps(requests)
        table = AcceptanceTable(
            rounds=len(steps),
            drafted=sum(drafted for drafted, _ in steps),
            tested=tuple(int(n) for n in whole.tested[0]),
            accepted=tuple(int(n) for n in whole.accepted[0]),
            length_rule="scheduled",
        )
        taken = _pool(table, None, 0)
        return dataclasses.replace(taken, notes=(*notes, *taken.notes))
    rows = dataclasses.replace(
        rows_of_steps([steps[i : i + size] for i in first]), unit="stretches"
    )
    word = f"There is one request: its rounds were cut into {len(first)} stretches, which are resampled."
    replay = None
    if texts is not None:
        begun = np.cumsum([0, *(accepted + 1 for _, accepted in steps)])
        replay = Replay(texts, cuts=begun[first])
    return _tested(rows, (*notes, word), replay)


def _tested(rows: Rows, notes: tuple[str, ...], replay: Replay | None = None) -> Intake:
    if not rows.tested.sum():
        return Intake(refusal="Nothing was tested, so nothing can be fitted.", notes=notes)
    if replay is not None:
        every = (
            f"Every position is recorded: up to γ = {replay.gamma} the texts were replayed, and no "
            "process is behind these predictions; the process was fitted to the rounds that drafts of "
            f"{replay.gamma} take."
        )
        notes = (*notes, every)
    return Intake(rows=rows, notes=notes, replay=replay)


def _check_depths(table: AcceptanceTable, gamma: int | None) -> None:
    deepest = max((i + 1 for i, count in enumerate(table.tested) if count), default=0)
    if gamma is not None and deepest > gamma:
        raise ValueError(
            f"gamma must be at least the {deepest} depths that were tested; got {gamma}."
        )


def _marks(tables: Sequence[AcceptanceTable]) -> tuple[str, ...]:
    full = all(t.drafted == (t.tested[0] if t.depths else 0) * t.depths for t in tables)
    if full or all(table.length_rule != "unknown" for table in tables):
        return ()
    return (_UNKNOWN,)


_NO_DEPTHS = "The counts do not say which depths were tested."
_COARSE = "Per-position rates are rounded too coarsely to tell one depth from another."
_UNKNOWN = (
    "What decided the draft lengths is unknown; if the draft's confidence did, predictions for other "
    "lengths are too high."
)
_NO_LENGTH = (
    "There is no round, and a printed mean says nothing of other lengths without the configured draft "
    "length (gamma); give it."
)
_CONFIDENCE = (
    "The draft's confidence decided the draft lengths (of a tree: how deep each branch goes): the counts "
    "describe the tokens that were offered, not those that a draft of another length would hold, so nothing "
    "is predicted from them."
)
