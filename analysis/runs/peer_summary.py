"""Two loops on the same requests: how much faster one is, and where counts and time differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from analysis.runs.answered import Answered, Turned
from analysis.runs.resampling import over_prompts
from simulator import AcceptanceTable, Estimate
from simulator._checks import FloatArray, Rng


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopFigures:
    """All requests of one loop: counts, speed [tokens/s], and where the time went [s].

    `tokens_per_s` counts whole requests. `rest_s` is outside of both models.
    """

    table: AcceptanceTable
    tokens: int
    tokens_per_s: float
    tokens_per_round: Estimate
    p: Estimate
    first_s: float
    total_s: float
    target_passes: int
    target_s: float
    draft_passes: int
    draft_s: float

    @property
    def rest_s(self) -> float:
        """Time outside of the models' passes [s]."""
        return self.total_s - self.target_s - self.draft_s


@dataclass(frozen=True, slots=True, kw_only=True)
class StageFigures:
    """Counts after one step on the way from our loop's to the peer's."""

    name: str
    table: AcceptanceTable


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerSummary:
    """One draft length: ratios are ours / the peer's, so that above 1 ours is faster.

    `decode_ratio` leaves out the pass over the prompt and what arrived with it. `unexplained` counts
    rounds of the requests with equal texts that our loop, doing all that the peer does, counted in
    another way.
    """

    gamma: int
    requests: int
    same_text: int
    unexplained: int
    ratio: Estimate
    decode_ratio: Estimate
    ours: LoopFigures
    peer: LoopFigures
    stages: tuple[StageFigures, ...]


_TOKENS, _TOTAL, _LATER, _DECODE, _ROUNDS, _ACCEPTED, _TESTED = range(7)
_COLUMNS = 7


def summarize_peer(requests: Iterable[Answered], *, rng: Rng = 0) -> tuple[PeerSummary, ...]:
    """One summary per draft length, its intervals over prompts (95 %), which are drawn again whole.

    Raises ValueError without a request.
    """
    groups: dict[int, list[Answered]] = {}
    for request in requests:
        groups.setdefault(request.gamma, []).append(request)
    if not groups:
        raise ValueError("requests must hold one at least; got none.")
    return tuple(_summary(gamma, groups[gamma], rng) for gamma in sorted(groups))


def _summary(gamma: int, requests: list[Answered], rng: Rng) -> PeerSummary:
    prompts = {name: row for row, name in enumerate(dict.fromkeys(r.prompt for r in requests))}
    sums = np.zeros((len(prompts), 2 * _COLUMNS))  # ours, then the peer's
    for request in requests:
        row = sums[prompts[request.prompt]]
        row[:_COLUMNS] += _sums(request.ours)
        row[_COLUMNS:] += _sums(request.peer)

    def statistics(weights: FloatArray) -> FloatArray:
        totals = weights @ sums
        ours, peer = totals[:, :_COLUMNS], totals[:, _COLUMNS:]
        with np.errstate(divide="ignore", invalid="ignore"):
            columns = [
                ours[:, _TOKENS] / ours[:, _TOTAL] * peer[:, _TOTAL] / peer[:, _TOKENS],
                ours[:, _LATER] / ours[:, _DECODE] * peer[:, _DECODE] / peer[:, _LATER],
                *(1.0 + side[:, _ACCEPTED] / side[:, _ROUNDS] for side in (ours, peer)),
                *(side[:, _ACCEPTED] / side[:, _TESTED] for side in (ours, peer)),
            ]
        return np.stack(columns, axis=1)

    ratio, decode, our_tokens, peer_tokens, our_p, peer_p = over_prompts(
        statistics, len(prompts), rng=rng
    )
    names = [stage.name for stage in requests[0].stages]
    return PeerSummary(
        gamma=gamma,
        requests=len(requests),
        same_text=sum(request.same_text for request in requests),
        unexplained=sum(request.unexplained for request in requests if request.same_text),
        ratio=ratio,
        decode_ratio=decode,
        ours=_figures([request.ours for request in requests], our_tokens, our_p),
        peer=_figures([request.peer for request in requests], peer_tokens, peer_p),
        stages=tuple(
            StageFigures(
                name=name, table=_pooled(request.stages[index].counts.table for request in requests)
            )
            for index, name in enumerate(names)
        ),
    )


def _sums(turn: Turned) -> FloatArray:
    table = turn.counts.table
    return np.array(
        [
            len(turn.tokens),
            turn.total_s,
            len(turn.tokens) - turn.first_tokens,
            turn.total_s - turn.first_s,
            table.rounds,
            sum(table.accepted),
            sum(table.tested),
        ],
        dtype=np.float64,
    )


def _figures(turns: list[Turned], tokens_per_round: Estimate, p: Estimate) -> LoopFigures:
    tokens, total, _, decode, *_ = np.sum([_sums(turn) for turn in turns], axis=0).tolist()
    return LoopFigures(
        table=_pooled(turn.counts.table for turn in turns),
        tokens=int(tokens),
        tokens_per_s=tokens / total,
        tokens_per_round=tokens_per_round,
        p=p,
        first_s=total - decode,
        total_s=total,
        target_passes=sum(turn.target_passes for turn in turns),
        target_s=sum(turn.target_s for turn in turns),
        draft_passes=sum(turn.draft_passes for turn in turns),
        draft_s=sum(turn.draft_s for turn in turns),
    )


def _pooled(tables: Iterable[AcceptanceTable]) -> AcceptanceTable:
    first, *others = tables
    return sum(others, start=first)
