"""A generated text as data, and the shorter drafts that a text judged at every position contains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from simulator._checks import as_count
from simulator._request import Record
from simulator._tally import Tally
from simulator.acceptance import AcceptanceTable
from simulator.drafts import Chain


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round of a text: where it began, and what became of its draft.

    `start` is the index in `Generation.tokens` of its first emitted token. `tested` is smaller than
    `drafted` behind a rejection and behind an accepted stop token; `emitted` tokens arrived.
    """

    start: int
    drafted: int
    tested: int
    accepted: int
    emitted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """A generated text: `tokens` (the first one comes from prefill), its counts, its rounds if recorded.

    `ended` says why it stopped: the limit, a stop token, or the end of the model's context.
    """

    tokens: tuple[int, ...]
    table: AcceptanceTable
    ended: Literal["limit", "stop", "context"]
    rounds: tuple[Round, ...] = ()
    record: Record = "table"


def replay(generation: Generation, *, gamma: int) -> AcceptanceTable:
    """The counts that drafts of at most `gamma` tokens have on a text judged at every position.

    Exact for a drafter and a rule without chance; for drawn drafts the same in distribution only
    where positions are independent. Raises ValueError for a text recorded otherwise, and for a
    gamma above the recorded one.
    """
    if generation.record != "every_position":
        raise ValueError(
            f'generation must be recorded with record="every_position"; got {generation.record!r}.'
        )
    if generation.table.length_rule == "confidence":
        raise ValueError(
            "generation must have drafts whose length does not depend on the draft's confidence; "
            "shorter ones would have ended elsewhere."
        )
    depths = generation.table.depths
    chain = Chain(gamma=as_count("gamma", gamma, most=depths))
    tally = Tally(chain, chain.length_rule)
    position = 1
    while position < len(generation.tokens):
        judged = generation.rounds[position - 1]
        accepted = min(judged.accepted, gamma)
        emitted = min(accepted + 1, len(generation.tokens) - position)
        tally.add(min(judged.drafted, gamma), min(judged.tested, gamma), accepted, emitted)
        position += emitted
    return tally.table()
