"""The record of a measured run: what each request gave, step by step and in sums.

Counts and nanoseconds are whole numbers, so that every sum can be computed again exactly. The
neutral form that reports read is `simulator.costs.MeasuredRequest`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from real_runs.runs.header import Header, Settings, Status
from simulator.acceptance import AcceptanceTable
from simulator.costs import MeasuredRequest, PassTimes

NS = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """A line of steps.jsonl: the rounds of one request, one entry per round in every list.

    `drafted`, `tested`, `accepted` and `emitted` are tokens; `width` is the number of tokens of the target's
    pass and `verify_ns` its time; `draft_steps` and `draft_ns` are the forwards of the draft since
    the pass before, with heads all their work; `propose_ns` is the whole time of the drafter's
    proposal. `depth` is that of each round's drafted tree, and empty where every draft was a chain.
    """

    task: int
    drafted: tuple[int, ...]
    tested: tuple[int, ...]
    accepted: tuple[int, ...]
    emitted: tuple[int, ...]
    width: tuple[int, ...]
    verify_ns: tuple[int, ...]
    draft_steps: tuple[int, ...]
    draft_ns: tuple[int, ...]
    propose_ns: tuple[int, ...]
    depth: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        lists = self.lists()
        lengths = {name: len(values) for name, values in lists.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"every list must have one entry per round; got {lengths}.")
        for name, values in lists.items():
            if values and min(values) < 0:
                raise ValueError(f"{name} must be at least 0 in every round; got {min(values)}.")

    def lists(self) -> dict[str, tuple[int, ...]]:
        """The lists that have one entry per round, by name."""
        lists = {name: getattr(self, name) for name in self.__slots__ if name != "task"}
        return {name: values for name, values in lists.items() if name != "depth" or values}

    @property
    def rounds(self) -> int:
        """Rounds of the request."""
        return len(self.width)

    @property
    def longest(self) -> tuple[int, ...]:
        """Tokens that each round can have accepted: the depth of its tree, or its chain's length."""
        return self.depth or self.drafted

    def passes(self) -> tuple[PassRecord, ...]:
        """The target's passes summed by width."""
        totals: dict[int, tuple[int, int]] = {}
        for width, nanoseconds in zip(self.width, self.verify_ns, strict=True):
            count, total = totals.get(width, (0, 0))
            totals[width] = (count + 1, total + nanoseconds)
        return tuple(
            PassRecord(width=width, count=count, total_ns=total)
            for width, (count, total) in sorted(totals.items())
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRecord:
    """Target passes over `width` tokens: how many, and their time together."""

    width: int
    count: int
    total_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """Where the greedy text of task `task` first differs from plain decoding, and why it may.

    `at` is the index into the tokens. `gap` is how far, in the one-token pass, the logit of the lesser
    of the two tokens that were taken lies below the best one (the distance of the two best, if these
    were taken); `change` is the largest difference between its logits and those of the many-token
    pass. A near tie, decided by rounding, has a gap below twice the change.
    """

    task: int
    at: int
    gap: float
    change: float

    @property
    def explained(self) -> bool:
        """Whether a difference as large as `change` can have decided between the two tokens."""
        return self.gap < 2.0 * self.change


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRecord:
    """A line of requests.jsonl, written when the request is done: it commits the line of its steps.

    `tokens` is everything emitted, the token of prefill first. `mismatches` are those found when
    this request was done: its own, or those of drafted texts that had waited for this plain one.
    `steps_sha256` ties the line to its line of steps.jsonl.
    """

    task: int
    prompt: str
    gamma: int
    repeat: int
    seed: tuple[int, ...]
    prompt_tokens: int
    table: AcceptanceTable
    prefill_ns: int
    decode_ns: int
    passes: tuple[PassRecord, ...]
    draft_steps: int
    draft_ns: int
    tokens: tuple[int, ...]
    tokens_sha256: str
    mismatches: tuple[Mismatch, ...] = ()
    steps_sha256: str = ""

    @property
    def emitted(self) -> int:
        """Tokens that arrived, without the one of prefill."""
        return len(self.tokens) - 1

    @property
    def measured(self) -> MeasuredRequest:
        """The neutral record, in seconds."""
        return MeasuredRequest(
            prompt=self.prompt,
            gamma=self.gamma,
            repeat=self.repeat,
            table=self.table,
            emitted=self.emitted,
            prefill_s=self.prefill_ns / NS,
            decode_s=self.decode_ns / NS,
            passes=tuple(
                PassTimes(width=p.width, count=p.count, total_s=p.total_ns / NS)
                for p in self.passes
            ),
            draft_steps=self.draft_steps,
            draft_s=self.draft_ns / NS,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run as it was read back: what run.json says, and the requests that are done."""

    name: str
    header: Header
    records: tuple[RequestRecord, ...]

    @property
    def settings(self) -> Settings:
        """What decided the numbers."""
        return self.header.settings

    @property
    def status(self) -> Status:
        """running, interrupted or complete."""
        return self.header.status

    @property
    def requests(self) -> tuple[MeasuredRequest, ...]:
        """The requests that are done, in the order in which they were made."""
        return tuple(record.measured for record in self.records)


def hash_tokens(tokens: tuple[int, ...]) -> str:
    """SHA-256 of token ids as little-endian 64-bit numbers.

    >>> hash_tokens((1, 2))[:12]
    '0c730b69905c'
    """
    return hashlib.sha256(np.asarray(tokens, dtype="<i8").tobytes()).hexdigest()
