"""TensorRT-LLM's metrics per request: `speculative_decoding` and `avg_decoded_tokens_per_iter`."""

from __future__ import annotations

from dataclasses import replace

from real_runs.engines.counts.lengths import counted_totals
from real_runs.engines.counts.pool import Layout, Pool, unit_of
from real_runs.engines.counts.ratios import check_counts
from real_runs.engines.counts.skips import NoCounts, NothingDrafted, Skips
from real_runs.engines.counts.wording import counted
from real_runs.engines.reading import Reading
from real_runs.engines.text.fields import count_at, number_at
from real_runs.engines.text.objects import JsonObject, Where
from simulator import AcceptanceTotals, ReportedRatio

# vLLM's object of the same name has other keys: "num_spec_steps", "num_draft_tokens".
KEYS = ("total_draft_tokens", "total_accepted_draft_tokens", "avg_decoded_tokens_per_iter")
SHAPES = (
    '"speculative_decoding": {"total_accepted_draft_tokens": ..., "total_draft_tokens": ...} '
    "(TensorRT-LLM)"
)

_LAYOUT = Layout(
    engine="tensorrt-llm",
    name="metrics of requests",
    unit="request",
    averaged_over="one request",
    definition="acceptance_rate is accepted / drafted of one request, bonus token excluded.",
)
_RATE_SLACK = 0.0051


class RequestMetrics:
    """Sums the counts of the requests, and averages their tokens per iteration."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._skips = skips
        self._source = source
        self._pool = Pool(_LAYOUT, source)
        self._lengths = 0.0
        self._requests = 0

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Add what the object counts: its drafts, or its tokens per iteration, or both."""
        length = number_at(value, "avg_decoded_tokens_per_iter")
        if length:
            if length < 1.0:
                raise NoCounts(
                    f"avg_decoded_tokens_per_iter is {length:g}, and an iteration decodes one token at "
                    "least",
                    finding="length_outside_range",
                )
            self._requests += 1
            self._lengths += length
        if "total_draft_tokens" in value or "total_accepted_draft_tokens" in value:
            self._add(value, where)

    def _add(self, value: JsonObject, where: Where) -> None:
        drafted = count_at(value, "total_draft_tokens")
        accepted = count_at(value, "total_accepted_draft_tokens")
        if drafted is None or accepted is None:
            raise NoCounts("the object has only one of its two counts")
        if drafted == 0 and accepted == 0:
            raise NothingDrafted(
                "no draft in this request, or a release whose PyTorch flow leaves the counts at 0"
            )
        check_counts(accepted=accepted, drafted=drafted, of="in this request")
        rate = number_at(value, "acceptance_rate")
        if rate is not None and abs(accepted / drafted - rate) > _RATE_SLACK:
            raise NoCounts(
                f"acceptance_rate {rate:g} contradicts the counts ({accepted} accepted of {drafted} "
                "drafted)"
            )
        record = counted_totals(AcceptanceTotals(drafted=drafted, accepted=accepted))
        self._pool.add(where.line, record, unit=unit_of(record))

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of all requests: their counts, and the mean of their tokens per iteration."""
        summed = self._pool.readings(lines)
        if not self._requests:
            return summed
        ratio = ReportedRatio(
            quantity="tokens_per_round",
            value=self._lengths / self._requests,
            half_width=0.0,
            averaged_over=f"{counted(self._requests, 'request')}, unweighted",
        )
        note = (
            "avg_decoded_tokens_per_iter is the mean over requests of output tokens per iteration, "
            "whatever their lengths."
        )
        if summed:
            (reading,) = summed
            printed = (*reading.printed, ratio)
            return [replace(reading, printed=printed, notes=(*reading.notes, note))]
        return [
            Reading(
                engine=_LAYOUT.engine,
                layout=_LAYOUT.name,
                source=self._source,
                counts=None,
                printed=(ratio,),
                definition=_LAYOUT.definition,
                lines=lines,
                used=self._requests,
                notes=("Ratios only: drafted and accepted tokens are not printed.", note),
                unit="request",
            )
        ]
