"""The predicted tokens in the `usage` of OpenAI's API, and of gateways that fill it for other engines."""

from __future__ import annotations

from dataclasses import replace

from real_runs.engines.counts.lengths import counted_totals
from real_runs.engines.counts.pool import Extras, Layout, Pool, unit_of
from real_runs.engines.counts.ratios import check_counts
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.reading import Reading
from real_runs.engines.text.fields import count_at, text_at
from real_runs.engines.text.objects import JsonObject, Where
from simulator import AcceptanceTotals

KEYS = ("accepted_prediction_tokens",)
SHAPES = (
    '"completion_tokens_details": {"accepted_prediction_tokens": ..., '
    '"rejected_prediction_tokens": ...} (OpenAI)'
)
_LAYOUT = Layout(
    engine="openai",
    name="usage of requests",
    unit="request",
    averaged_over="one request",
    definition="none is printed; accepted / (accepted + rejected) prediction tokens is accepted / drafted.",
)
_ROUNDS = "Rounds are not printed, and do not follow: completion tokens can hold the rejected ones."


class Usages:
    """Sums the prediction tokens of all requests; a request without any says nothing."""

    def __init__(self, source: str, _: Skips) -> None:
        self._pool = Pool(_LAYOUT, source)

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Add one request, or raise NoCounts with the reason why not."""
        accepted = count_at(value, "accepted_prediction_tokens") or 0
        rejected = count_at(value, "rejected_prediction_tokens")
        if not accepted and not rejected:
            return  # most servers write the members and never fill them
        if rejected is None:
            raise NoCounts("accepted_prediction_tokens stands without rejected_prediction_tokens")
        drafted = accepted + rejected
        check_counts(accepted=accepted, drafted=drafted, of="in this request")
        record = counted_totals(AcceptanceTotals(drafted=drafted, accepted=accepted))
        root = where.parents[0] if where.parents else {}
        labels = tuple((name, text) for name in ("model",) if (text := text_at(root, name)))
        unit = unit_of(record, name=text_at(root, "id") or "", labels=labels)
        self._pool.add(where.line, record, unit=unit)

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of all requests; empty without one."""
        return [
            replace(
                each,
                notes=tuple(
                    _ROUNDS if note.startswith("Rounds stay unknown") else note
                    for note in each.notes
                ),
            )
            for each in self._pool.readings(lines, extras=Extras())
        ]
