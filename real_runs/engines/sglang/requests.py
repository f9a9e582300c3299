"""SGLang's counts per request: `meta_info` of a response, whole or as pairs within a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from real_runs.capture.answers import TIMED, decode_seconds
from real_runs.engines.counts.lengths import counted_totals, from_histogram
from real_runs.engines.counts.pool import Extras, Layout, Pool, Record, unit_of
from real_runs.engines.counts.ratios import check_counts
from real_runs.engines.counts.recovery import Recovered
from real_runs.engines.counts.skips import NoCounts, NothingDrafted, Skips
from real_runs.engines.counts.wording import counted
from real_runs.engines.reading import Reading
from real_runs.engines.text.fields import count_at, histogram_at, number_at, text_at
from real_runs.engines.text.objects import JsonObject, Where
from simulator import AcceptanceTotals, Clock, ReportedRatio

KEYS = ("spec_verify_ct",)
SHAPES = '"meta_info": {"completion_tokens": ..., "spec_verify_ct": ..., ...} (SGLang)'

_LAYOUT = Layout(
    engine="sglang",
    name="meta_info of requests",
    unit="request",
    averaged_over="one request",
    definition=(
        "spec_accept_rate is accepted / drafted of one request, bonus token excluded; "
        "spec_accept_length is completion_tokens / spec_verify_ct."
    ),
)
_ALONE = (
    "Without drafted tokens there are no counts: tokens per round are (completion_tokens - 1 of the "
    "prefill) / spec_verify_ct over all requests, without a sampling error."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """What one meta_info says; `accepted` and `drafted` are None where it does not."""

    rounds: int
    tokens: int | None
    accepted: int | None
    drafted: int | None
    histogram: tuple[int, ...] | None


class MetaInfo:
    """Sums the requests of one text; those that only count passes and tokens are kept as a ratio."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._skips = skips
        self._source = source
        self._pool = Pool(_LAYOUT, source)
        self._tokens = self._unpaired = 0
        self._prefill = 0
        self._uncounted = self._uncounted_rounds = self._uncounted_tokens = 0
        self._gammas: set[int | None] = set()
        self._seconds: float | None = 0.0

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Add one request; NoCounts if its numbers contradict each other."""
        request = _read(value, where.parents)
        if request.drafted is None:
            if request.tokens is None or request.tokens <= request.rounds:
                raise NoCounts("spec_verify_ct stands without drafted tokens or completion_tokens")
            self._uncounted += 1
            self._uncounted_rounds += request.rounds
            self._uncounted_tokens += request.tokens - 1
            return
        record = _record(request)
        seconds = decode_seconds(where.parents)
        name = text_at(value, "id") or text_at(where.parents[0] if where.parents else {}, "id")
        self._pool.add(where.line, record, unit=unit_of(record, name=name or "", decode_s=seconds))
        if self._seconds is not None:
            self._seconds = None if seconds is None else self._seconds + seconds
        self._gammas.add(_gamma(request))
        if request.tokens is None:
            self._unpaired += 1
        else:
            kept = request.accepted or 0
            # Releases differ in whether the token of the prefill is among the completion's.
            prefill = request.tokens - request.rounds - kept == 1
            self._prefill += prefill
            self._tokens += request.tokens - prefill

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of the requests with counts, else one of the ratio over the others."""
        notes = []
        if self._uncounted:
            notes.append(f"Left out: {counted(self._uncounted, 'request')} without drafted tokens.")
        if self._prefill:
            notes.append(
                f"In {counted(self._prefill, 'request')} completion_tokens holds the token of the "
                "prefill, which belongs to no round: spec_accept_length is that much too long."
            )
        (gamma,) = self._gammas if len(self._gammas) == 1 else (None,)
        if gamma:
            notes.append(
                f"Every round has {counted(gamma, 'drafted token')}: gamma, if drafts are chains."
            )
        if self._seconds:
            notes.append(TIMED)
        extras = Extras(
            gamma=gamma,
            emitted=None if self._unpaired else self._tokens,
            clock=Clock(decode_s=self._seconds or None),
        )
        summed = self._pool.readings(lines, notes=tuple(notes), extras=extras)
        return summed or ([self._of_ratio(lines)] if self._uncounted else [])

    def _of_ratio(self, lines: int) -> Reading:
        ratio = self._uncounted_tokens / self._uncounted_rounds
        over = f"rounds of {counted(self._uncounted, 'request')}"
        return Reading(
            engine=_LAYOUT.engine,
            layout=_LAYOUT.name,
            source=self._source,
            counts=None,
            printed=tuple(
                ReportedRatio(quantity=quantity, value=ratio, half_width=0.0, averaged_over=over)
                for quantity in ("tokens_per_round", "emitted_per_round")
            ),
            definition=_LAYOUT.definition,
            lines=lines,
            used=self._uncounted,
            notes=(_ALONE,),
            unit="request",
            emitted=self._uncounted_tokens,
        )


def _read(value: JsonObject, parents: tuple[JsonObject, ...]) -> _Request:
    """The fields of one request under their names of all releases, of `sglext` beside its usage."""
    rounds = count_at(value, "spec_verify_ct")
    if not rounds:
        raise NothingDrafted("spec_verify_ct is 0: no round")
    accepted = _either(value, "spec_num_correct_drafts", "spec_accept_token_num")
    drafted = _either(value, "spec_num_proposed_drafts", "spec_draft_token_num")
    histogram = histogram_at(value, "spec_correct_drafts_histogram") or None
    if histogram is not None and sum(histogram) != rounds:
        raise NoCounts(
            f"spec_correct_drafts_histogram holds {counted(sum(histogram), 'round')}, and "
            f"spec_verify_ct is {rounds}"
        )
    if histogram is not None:
        kept = sum(length * number for length, number in enumerate(histogram))
        if accepted not in {None, kept}:
            raise NoCounts(
                f"spec_correct_drafts_histogram keeps {kept} tokens, and {accepted} are accepted"
            )
        accepted = kept
    rate = number_at(value, "spec_accept_rate")
    if drafted is None and accepted and rate:
        drafted = _drafted(accepted, rate, rounds)
    if drafted is not None and accepted is not None and rate is not None:
        check_counts(accepted=accepted, drafted=drafted, of="in this request")
        if abs(accepted / drafted - rate) > 0.5e-2:
            raise NoCounts(
                f"spec_accept_rate {rate:g} contradicts the counts ({accepted} of {drafted} drafted)"
            )
    return _Request(
        rounds=rounds,
        tokens=_tokens(value, parents),
        accepted=accepted,
        drafted=drafted if accepted is not None else None,
        histogram=histogram,
    )


def _tokens(value: JsonObject, parents: tuple[JsonObject, ...]) -> int | None:
    """Completion tokens in the object itself, else in the usage of the response around it."""
    usages = [
        each for parent in reversed(parents) if isinstance(each := parent.get("usage"), Mapping)
    ]
    found = (count_at(each, "completion_tokens") for each in (value, *usages))
    return next((tokens for tokens in found if tokens is not None), None)


def _either(value: JsonObject, newer: str, older: str) -> int | None:
    found = count_at(value, newer)
    return count_at(value, older) if found is None else found


def _drafted(accepted: int, rate: float, rounds: int) -> int | None:
    """Drafted tokens behind a rate in full precision: the same number in every round, or unknown."""
    per_round = accepted / (rate * rounds)
    whole = round(per_round)
    return whole * rounds if whole and abs(per_round - whole) < 1e-6 * per_round else None


def _gamma(request: _Request) -> int | None:
    """Drafted tokens per round, if the same number in every round explains all that is printed."""
    drafted, rounds = request.drafted or 0, request.rounds
    if not drafted or drafted % rounds:
        return None
    longest = len(request.histogram or (0,)) - 1
    return drafted // rounds if longest <= drafted // rounds else None


def _record(request: _Request) -> Record:
    drafted, rounds = request.drafted or 0, request.rounds
    check_counts(accepted=request.accepted or 0, drafted=drafted, of="in this request")
    gamma = _gamma(request)
    if request.histogram is not None:
        return from_histogram(request.histogram, drafted=drafted, gamma=gamma)
    return _totals(rounds=rounds, drafted=drafted, accepted=request.accepted or 0, gamma=gamma)


def _totals(*, rounds: int, drafted: int, accepted: int, gamma: int | None) -> Recovered:
    return counted_totals(
        AcceptanceTotals(
            drafted=drafted,
            accepted=accepted,
            rounds=rounds,
            longest_draft=gamma,
            length_rule="unknown" if gamma is None else "fixed",
        )
    )
