"""The `stats` and `usage` objects of LM Studio's servers and libraries."""

from __future__ import annotations

from dataclasses import replace

from real_runs.engines.counts.acceptance_record import child
from real_runs.engines.counts.lengths import counted_totals
from real_runs.engines.counts.pool import Extras, Layout, Pool, unit_of
from real_runs.engines.counts.ratios import check_counts
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.reading import Reading
from real_runs.engines.text.fields import count_at, number_at
from real_runs.engines.text.objects import JsonObject, Where
from simulator import AcceptanceTotals, Clock

KEYS = (
    "total_draft_tokens_count",
    "accepted_draft_tokens_count",
    "totalDraftTokensCount",
    "acceptedDraftTokensCount",
)
SHAPES = "'total_draft_tokens_count' and 'accepted_draft_tokens_count' (LM Studio)"

_LAYOUT = Layout(
    engine="lm-studio",
    name="stats",
    unit="request",
    averaged_over="one request",
    definition=(
        "none is printed; accepted draft tokens are shown beside predicted tokens, of which they are a "
        "share, not an acceptance rate."
    ),
)
_PREDICTED = (
    "predicted_tokens_count",
    "predictedTokensCount",
    "completion_tokens",
)
_SPEED = ("tokens_per_second", "tokensPerSecond")


class Stats:
    """Sums the stats of all requests, and keeps them apart."""

    def __init__(self, source: str, _: Skips) -> None:
        self._pool = Pool(_LAYOUT, source)
        self._emitted: int | None = 0
        self._accepted = 0
        self._ignored = 0
        self._speeds: list[float | None] = []

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Add the stats of one request, or raise NoCounts with the reason why not."""
        accepted = _either(value, "accepted")
        drafted = _either(value, "total")
        rejected, ignored = _either(value, "rejected"), _either(value, "ignored") or 0
        if accepted is None:
            return  # nothing was drafted: the other counts are those of a plain request
        if drafted is None and rejected is not None:
            drafted = accepted + rejected + ignored
        if drafted is None:
            raise NoCounts("drafted tokens are missing: total_draft_tokens_count")
        check_counts(accepted=accepted, drafted=drafted, of="in the request")
        if rejected is not None and accepted + rejected + ignored != drafted:
            raise NoCounts(
                f"accepted, rejected and ignored ({accepted} + {rejected} + {ignored}) are not the "
                f"{drafted} drafted"
            )
        predicted = _predicted(value, where)
        if predicted is not None and accepted > predicted:
            raise NoCounts(
                f"accepted ({accepted}) is above the {predicted} predicted tokens",
                finding="accepted_without_drafted",
            )
        totals = AcceptanceTotals(drafted=drafted, accepted=accepted)
        record = counted_totals(totals)
        self._pool.add(where.line, record, unit=unit_of(record))
        self._accepted += accepted
        self._ignored += ignored
        self._emitted = (
            None if self._emitted is None or predicted is None else self._emitted + predicted
        )
        self._speeds.append(_speed(value, where))

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of all requests; empty without one."""
        speed = self._speeds[0] if len(self._speeds) == 1 else None
        clock = Clock() if speed is None else Clock(tokens_per_s=speed, running=1.0)
        readings = self._pool.readings(
            lines, extras=Extras(emitted=self._emitted or None, clock=clock)
        )
        notes = []
        if self._emitted:
            notes.append(
                f"Of {self._emitted} predicted tokens {self._emitted - self._accepted} were not drafted: the "
                "rounds, give or take the first token of a request, a last round that was cut, and tokens "
                "without a draft."
            )
        if self._ignored:
            notes.append(f"{self._ignored} drafted tokens were ignored: neither kept nor rejected.")
        return [replace(each, notes=(*_without_span(each.notes), *notes)) for each in readings]


def _without_span(notes: tuple[str, ...]) -> tuple[str, ...]:
    """The notes without the span of rounds, which no printed ratio limits."""
    return tuple(
        "Rounds are not printed." if note.startswith("Rounds stay unknown") else note
        for note in notes
    )


def _either(value: JsonObject, kind: str) -> int | None:
    snake = count_at(value, f"{kind}_draft_tokens_count")
    return count_at(value, f"{kind}DraftTokensCount") if snake is None else snake


def _predicted(value: JsonObject, where: Where) -> int | None:
    parent = where.parents[-1] if where.parents else {}
    for each in (value, child(parent, "usage"), parent):
        for name in _PREDICTED:
            if name in each:
                return count_at(each, name)
    return None


def _speed(value: JsonObject, where: Where) -> float | None:
    parent = where.parents[-1] if where.parents else {}
    for each in (value, child(parent, "stats")):
        for name in _SPEED:
            if name in each:
                return number_at(each, name)
    return None
