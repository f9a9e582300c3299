"""The acceptance record of one request, by the names that vLLM and AIPerf share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from real_runs.engines.counts.lengths import Steps, from_histogram, from_steps, histogram_of
from real_runs.engines.counts.pool import Record
from real_runs.engines.counts.printed import Printed
from real_runs.engines.counts.ratios import Ratios, agreeing_fraction
from real_runs.engines.counts.skips import NoCounts
from real_runs.engines.text.fields import (
    count_at,
    counts_at,
    decimal_at,
    histogram_at,
    shown,
)
from real_runs.engines.text.objects import JsonObject

_ROUNDING = 1e-9  # of adding and dividing in binary


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRecord:
    """What the record of one request counts; `steps` are its rounds in order, where it has them."""

    record: Record
    ratios: Ratios
    rounds: int
    accepted: int
    gamma: int | None
    steps: Steps
    emitted: int | None


def read_record(value: JsonObject) -> RequestRecord:
    """The counts of a record with `acceptance_histogram` or `per_step_accepted`.

    The histogram is a list, or a sparse object, of rounds by accepted drafted tokens (bonus
    excluded); `per_step_accepted` and `per_step_drafted` are the rounds in order. NoCounts where
    its parts contradict each other, NothingDrafted for a request without a draft.

    >>> read_record({"acceptance_histogram": {"0": 1, "2": 1}, "num_draft_tokens": 4,
    ...              "num_spec_tokens": 2}).record.accepted
    (1, 1)
    """
    kept = counts_at(value, "per_step_accepted")
    drafts = counts_at(value, "per_step_drafted")
    ended = histogram_at(value, "acceptance_histogram")
    if ended is None:
        if not kept:
            raise NoCounts("the record has neither acceptance_histogram nor per_step_accepted")
        ended = histogram_of(kept)
    rounds = sum(ended)
    accepted = sum(length * number for length, number in enumerate(ended))
    drafted, gamma = count_at(value, "num_draft_tokens"), count_at(value, "num_spec_tokens")
    _agree("num_spec_steps", count_at(value, "num_spec_steps"), rounds)
    _agree("num_accepted_draft_tokens", count_at(value, "num_accepted_draft_tokens"), accepted)
    if kept:
        _agree("the length of per_step_accepted", len(kept), rounds)
        _agree("the sum of per_step_accepted", sum(kept), accepted)
    record: Record = from_histogram(ended, drafted=drafted, gamma=gamma)
    steps: Steps = ()
    if kept and drafts:
        _agree("the length of per_step_drafted", len(drafts), rounds)
        _agree("num_draft_tokens", drafted, sum(drafts))
        steps = tuple(zip(drafts, kept, strict=True))
        record = from_steps(steps)
    return RequestRecord(
        record=record,
        ratios=_ratios(value, rounds=rounds, accepted=accepted, drafted=drafted),
        rounds=rounds,
        accepted=accepted,
        gamma=gamma,
        steps=steps,
        emitted=count_at(value, "completion_tokens"),
    )


def _ratios(value: JsonObject, *, rounds: int, accepted: int, drafted: int | None) -> Ratios:
    length = decimal_at(value, "mean_acceptance_length")
    check_length(length, accepted=accepted, rounds=rounds)
    rate = decimal_at(value, "draft_acceptance_rate")
    fraction = None
    if rate is not None and drafted:
        fraction = agreeing_fraction(rate, accepted=accepted, drafted=drafted)
    return Ratios(fraction=fraction, length=length)


def check_length(length: Printed | None, *, accepted: int, rounds: int) -> None:
    """NoCounts if the printed tokens per round are not 1 + accepted / rounds."""
    if length is None or rounds == 0:
        return
    true = 1.0 + accepted / rounds
    if abs(length.value - true) > length.half_width + _ROUNDING:
        raise NoCounts(
            f"the printed tokens per round ({length.value:g}) contradict the counts "
            f"(1 + {accepted}/{rounds} = {true:g})"
        )


def _agree(name: str, given: int | None, found: int) -> None:
    if given is not None and given != found:
        raise NoCounts(f"{name} ({given}) contradicts the rounds of the record ({found})")


def label_of(value: JsonObject, *names: str) -> str:
    """The first of the names that has a text or a number, as the name of a unit; else empty."""
    for name in names:
        found = value.get(name)
        if isinstance(found, (str, int)) and not isinstance(found, bool) and found != "":
            return shown(found)
    return ""


def child(value: JsonObject, name: str) -> JsonObject:
    """The object under a name; empty if there is none."""
    found = value.get(name)
    return found if isinstance(found, Mapping) else {}
