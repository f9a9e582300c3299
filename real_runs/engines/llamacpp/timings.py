"""The `timings` of llama.cpp's responses, and the summaries that bench scripts make of them."""

from __future__ import annotations

from real_runs.engines.counts.lengths import counted_totals
from real_runs.engines.counts.pool import Extras, Layout, Pool, unit_of
from real_runs.engines.counts.ratios import check_counts
from real_runs.engines.counts.recovery import Recovered
from real_runs.engines.counts.skips import NoCounts, NothingDrafted, Skips
from real_runs.engines.counts.wording import counted
from real_runs.engines.reading import Reading
from real_runs.engines.text.fields import count_at, number_at
from real_runs.engines.text.objects import JsonObject, Where
from simulator import AcceptanceTotals, Clock

KEYS = ("predicted_n", "total_draft_accepted")
SHAPES = '"timings": {"predicted_n": ..., "draft_n": ..., "draft_n_accepted": ...} (llama.cpp)'

ROUNDS = (
    "Rounds are not printed: they are predicted - accepted - 1 of every request, for prefill emits one "
    "token and a round one more than it accepts; rounds without a draft are among them."
)
_DEFINITION = "none is printed; draft_n_accepted / draft_n is accepted / drafted of one request."
_REQUESTS = Layout(
    engine="llama.cpp",
    name="timings of requests",
    unit="request",
    averaged_over="one request",
    definition=_DEFINITION,
)
_AGGREGATES = Layout(
    engine="llama.cpp",
    name="aggregate of a bench script",
    unit="aggregate",
    averaged_over="all requests of one script",
    definition="aggregate_accept_rate is accepted / drafted of all requests.",
)


def request_totals(*, predicted: int, drafted: int, accepted: int, requests: int = 1) -> Recovered:
    """Totals with rounds = predicted - accepted - 1 of each request; NoCounts if that is impossible.

    >>> request_totals(predicted=192, drafted=180, accepted=146).totals.rounds
    45
    """
    if accepted > predicted:
        raise NoCounts(
            f"{accepted} accepted tokens in {counted(predicted, 'predicted token')}",
            expected="at most as many accepted as predicted tokens",
            finding="length_outside_range",
        )
    check_counts(accepted=accepted, drafted=drafted, of="in this request")
    rounds = predicted - accepted - requests
    if rounds < 1:
        raise NoCounts(
            f"{counted(predicted, 'predicted token')} leave no round for "
            f"{counted(accepted, 'accepted token')}",
            finding="length_outside_range",
        )
    return counted_totals(
        AcceptanceTotals(
            drafted=drafted, accepted=accepted, rounds=rounds, emitted=predicted - requests
        )
    )


class Timings:
    """Sums the timings of the requests of one text; aggregates of scripts are kept apart."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._skips = skips
        self._pool = Pool(_REQUESTS, source)
        self._aggregates = Pool(_AGGREGATES, source)
        self._emitted = self._records = self._timed = 0
        self._seconds = 0.0

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Add one request; NoCounts if its numbers are impossible."""
        if "total_draft_accepted" in value:
            self._aggregate(value, where)
            return
        predicted, drafted, accepted = (
            count_at(value, name) for name in ("predicted_n", "draft_n", "draft_n_accepted")
        )
        if predicted is None or (drafted is None and accepted is None):
            raise NothingDrafted("no draft in this request")
        record = request_totals(predicted=predicted, drafted=drafted or 0, accepted=accepted or 0)
        milliseconds = number_at(value, "predicted_ms")
        seconds = milliseconds / 1000.0 if milliseconds else None
        self._pool.add(where.line, record, unit=unit_of(record, decode_s=seconds))
        self._records += 1
        self._emitted += predicted - 1
        if seconds is not None:
            self._timed += 1
            self._seconds += seconds

    def _aggregate(self, value: JsonObject, where: Where) -> None:
        requests, predicted, drafted, accepted = (
            count_at(value, name)
            for name in ("n_requests", "total_predicted", "total_draft", "total_draft_accepted")
        )
        if predicted is None or drafted is None or accepted is None or not requests:
            raise NoCounts("the aggregate has no 'n_requests', 'total_predicted' or 'total_draft'")
        self._aggregates.add(
            where.line,
            request_totals(
                predicted=predicted, drafted=drafted, accepted=accepted, requests=requests
            ),
        )

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of all requests, one of all aggregates; empty where there are none."""
        notes = [ROUNDS]
        clock = Clock()
        if self._timed and self._timed == self._records:
            clock = Clock(decode_s=self._seconds)
            notes.append(
                "Decoding time is predicted_ms, summed over requests as if each ran alone."
            )
        extras = Extras(clock=clock, emitted=self._emitted)
        return [
            *self._pool.readings(lines, notes=tuple(notes), extras=extras),
            *self._aggregates.readings(
                lines,
                notes=(
                    ROUNDS,
                    "The requests may stand one by one in the same text: never add the two.",
                ),
            ),
        ]
