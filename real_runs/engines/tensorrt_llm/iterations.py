"""TensorRT-LLM's statistics per iteration (`GET /metrics`, drained on read): specDecodingStats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from real_runs.engines.counts.lengths import counted_totals
from real_runs.engines.counts.pool import Extras, Layout, Pool, unit_of
from real_runs.engines.counts.ratios import check_counts
from real_runs.engines.counts.skips import NoCounts, NothingDrafted, Skips
from real_runs.engines.counts.wording import counted
from real_runs.engines.reading import Reading
from real_runs.engines.text.fields import count_at, number_at
from real_runs.engines.text.objects import JsonObject, Where
from simulator import AcceptanceTotals, Clock

KEYS = ("specDecodingStats",)
SHAPES = (
    '"specDecodingStats": {"numDraftTokens": ..., "numAcceptedTokens": ..., ...} (TensorRT-LLM)'
)

_LAYOUT = Layout(
    engine="tensorrt-llm",
    name="iteration statistics",
    unit="interval",
    averaged_over="one iteration",
    definition=(
        "none is printed; acceptanceLength is (accepted + requests with drafts) / requests with drafts, "
        "bonus token included."
    ),
)
_ROUNDS = "Rounds are the requests with drafts, one per iteration; requests without a draft are not counted."
_ENOUGH = 8
"""Iterations of several requests with one number of drafted tokens per request: no coincidence."""
_LENGTH_SLACK = 0.0051  # of a length that was printed to two decimals


class IterationStats:
    """Sums the iterations of one text; in each, a request with drafts has one round."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._skips = skips
        self._pool = Pool(_LAYOUT, source)
        self._per_round: set[int | None] = set()
        self._timed = self._overheads = 0
        self._requests = self._tokens = 0
        self._iterations, self._alone = 0, False
        self._seconds = self._draft_s = 0.0

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Add one iteration; NoCounts if its numbers contradict each other."""
        stats = value["specDecodingStats"]
        if stats is None:
            raise NothingDrafted("no draft in this iteration")
        if not isinstance(stats, Mapping):
            raise NoCounts("specDecodingStats is no object")
        rounds, drafted, accepted = (
            _needed(stats, name)
            for name in ("numRequestsWithDraftTokens", "numDraftTokens", "numAcceptedTokens")
        )
        check_counts(accepted=accepted, drafted=drafted, of="in this iteration")
        if rounds == 0:
            raise NoCounts(f"{drafted} tokens are drafted for no request")
        _check_length(stats, rounds=rounds, accepted=accepted)
        latency_ms = number_at(stats, "iterLatencyMS") or number_at(value, "iterLatencyMS")
        if latency_ms:
            self._time(stats, latency_ms / 1000.0, rounds=rounds, accepted=accepted)
        self._iterations += 1
        self._alone |= rounds == 1
        self._per_round.add(drafted // rounds if drafted % rounds == 0 else None)
        record = counted_totals(AcceptanceTotals(drafted=drafted, accepted=accepted, rounds=rounds))
        self._pool.add(
            where.line, record, unit=unit_of(record, decode_s=_alone(latency_ms, rounds))
        )

    def _time(self, stats: JsonObject, seconds: float, *, rounds: int, accepted: int) -> None:
        overhead = number_at(stats, "draftOverhead")
        if overhead is not None and overhead > 1.0:
            raise NoCounts(
                f"draftOverhead is {overhead:g}, and a share is at most 1", finding="unit_error"
            )
        self._timed += 1
        self._seconds += seconds
        self._requests += rounds
        self._tokens += rounds + accepted
        if overhead is not None:
            self._overheads += 1
            self._draft_s += overhead * seconds

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of all iterations summed; empty if none gave counts."""
        gamma = self._gamma
        notes = [_ROUNDS]
        if self._timed:
            notes.append(
                f"Seconds per round are the mean latency of {counted(self._timed, 'iteration')}, with "
                "whatever prefill ran in them; tokens are those of the requests with drafts."
            )
        if self._overheads and self._overheads == self._timed:
            share = self._draft_s / self._seconds
            notes.append(
                f"Drafting takes {share:.1%} of the iterations (draftOverhead, by latency)."
            )
        if gamma is not None:
            notes.append(f"Every iteration drafts {counted(gamma, 'token')} per request: gamma.")
        summed = self._pool.readings(
            lines, notes=tuple(notes), extras=Extras(clock=self._clock, gamma=gamma)
        )
        return [_of_length(reading, gamma) for reading in summed]

    @property
    def _gamma(self) -> int | None:
        """The draft length, where every iteration has the same number per request."""
        if len(self._per_round) != 1 or not (self._alone or self._iterations >= _ENOUGH):
            return None
        return next(iter(self._per_round))

    @property
    def _clock(self) -> Clock:
        if not self._timed:
            return Clock()
        return Clock(
            tokens_per_s=self._tokens / self._seconds,
            running=self._requests / self._timed,
            s_per_round=self._seconds / self._timed,
            decode_s=self._seconds,
            draft_s=self._draft_s if self._overheads == self._timed else None,
        )


def _of_length(reading: Reading, gamma: int | None) -> Reading:
    if gamma is None or not isinstance(reading.counts, AcceptanceTotals):
        return reading
    return replace(
        reading, counts=replace(reading.counts, longest_draft=gamma, length_rule="fixed")
    )


def _needed(stats: JsonObject, name: str) -> int:
    found = count_at(stats, name)
    if found is None:
        raise NoCounts(f"specDecodingStats has no '{name}'")
    return found


def _check_length(stats: JsonObject, *, rounds: int, accepted: int) -> None:
    length = number_at(stats, "acceptanceLength")
    if length is not None and abs(length - (accepted + rounds) / rounds) > _LENGTH_SLACK:
        raise NoCounts(
            f"acceptanceLength {length:g} contradicts the counts ({accepted} accepted, "
            f"{counted(rounds, 'request')})"
        )


def _alone(latency_ms: float | None, rounds: int) -> float | None:
    """The time of an iteration, if one request alone ran in it."""
    return latency_ms / 1000.0 if latency_ms and rounds == 1 else None
