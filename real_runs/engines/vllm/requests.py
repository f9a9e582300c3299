"""vLLM's metrics of single requests (--per-request-spec-decode-metrics; vllm/v1/metrics/stats.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from real_runs.capture.answers import TIMED, decode_seconds
from real_runs.engines.counts.lengths import Steps, from_histogram, from_steps, histogram_of
from real_runs.engines.counts.pool import Layout, Pool, Record, as_totals, unit_of
from real_runs.engines.counts.printed import MOST_DEPTHS, Printed
from real_runs.engines.counts.ratios import Ratios, agreeing_fraction, check_counts
from real_runs.engines.counts.recovery import Recovered
from real_runs.engines.counts.skips import NoCounts, NothingDrafted, Skips
from real_runs.engines.counts.wording import counted
from real_runs.engines.reading import Reading
from real_runs.engines.text.fields import (
    count_at,
    counts_at,
    decimal_at,
    histogram_at,
    text_at,
)
from real_runs.engines.text.objects import JsonObject, Where
from real_runs.engines.vllm.block_ratios import shortened
from simulator import Clock

SHAPES = (
    '\'"speculative_decoding": {"acceptance_histogram": [...], "num_spec_steps": ..., '
    '"num_draft_tokens": ...}\' (JSON of vLLM)'
)
KEYS = ("num_spec_steps",)

_LAYOUT = Layout(
    engine="vllm",
    name="metrics of requests",
    unit="request",
    averaged_over="one request",
    definition="accepted / drafted of one request, drafts that a grammar forbids left out.",
)


class RequestMetrics:
    """Sums the requests of one text; each is a unit of its own, with its rounds in order where printed."""

    def __init__(self, source: str, skips: Skips) -> None:
        del skips  # what is raised here is recorded by the caller
        self._pool = Pool(_LAYOUT, source)
        self._gammas: set[int] = set()
        self._completion: int | None = 0
        self._unexplained = 0
        self._ordered = 0
        self._seconds: float | None = 0.0

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Add the counts of one request."""
        if not isinstance(value.get("acceptance_histogram"), list) or "engine" in value:
            return  # of the same names, AIPerf makes a record of its own
        steps = _steps(value)
        record, ratios, gamma = _counted(value, steps)
        completion = _completion(where.parents)
        seconds = decode_seconds(where.parents)
        unit = None
        if self._pool.wants_units:
            unit = unit_of(
                record,
                name=_first_text(where.parents, "id") or _first_text(where.parents, "request_id"),
                labels=_labels(where.parents),
                steps=steps,
                decode_s=seconds,
            )
        self._pool.add(where.line, record, ratios, unit=unit)
        if unit is None:
            self._pool.skip_unit()
        self._ordered += bool(steps)
        self._gammas.add(gamma)
        self._add_completion(completion, record)
        if self._seconds is not None:
            self._seconds = None if seconds is None else self._seconds + seconds

    def _add_completion(self, completion: int | None, record: Record) -> None:
        """Compare the tokens of a response with what its rounds emit, the first one by prefill."""
        if completion is None or self._completion is None:
            self._completion = None
            return
        self._completion += completion
        totals = record.totals if isinstance(record, Recovered) else as_totals(record)
        explained = 1 + (totals.rounds or 0) + totals.accepted
        self._unexplained += max(completion - explained, 0)

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of all requests; empty if there are none."""
        return [
            replace(
                reading,
                notes=(*reading.notes, *self._notes()),
                gamma=next(iter(self._gammas)) if len(self._gammas) == 1 else None,
                emitted=self._completion,
                clock=Clock(decode_s=self._seconds or None),
                version="V1",
            )
            for reading in self._pool.readings(lines)
        ]

    def _notes(self) -> list[str]:
        notes = []
        if self._ordered:
            notes.append(
                f"The rounds of {counted(self._ordered, 'request')} are in order: drafted and accepted."
            )
        if self._completion is None:
            notes.append("Rounds without a draft are not counted, and would show in no field.")
        elif self._unexplained:
            notes.append(
                f"{counted(self._unexplained, 'completion token')} more than prefill and the rounds "
                "counted explain: at least as many rounds had no draft."
            )
        if self._seconds:
            notes.append(TIMED)
        return notes


def _counted(value: JsonObject, steps: Steps) -> tuple[Record, Ratios, int]:
    """The table or the totals of one request, its ratios and the configured draft length."""
    found = [
        count_at(value, name)
        for name in (
            "num_spec_steps",
            "num_accepted_draft_tokens",
            "num_draft_tokens",
            "num_spec_tokens",
        )
    ]
    rounds, accepted, drafted, gamma = found
    histogram = histogram_at(value, "acceptance_histogram")
    if rounds is None or accepted is None or drafted is None or histogram is None:
        raise NoCounts("the object has no count of steps, drafted and accepted tokens")
    if gamma is None:
        gamma = len(counts_at(value, "acceptance_histogram", most=MOST_DEPTHS + 2)) - 1
    if not 1 <= gamma <= MOST_DEPTHS:
        raise NoCounts(f"num_spec_tokens is not 1 to {MOST_DEPTHS} ({gamma})")
    check_counts(accepted=accepted, drafted=drafted, of="in this request")
    kept = sum(length * number for length, number in enumerate(histogram))
    if sum(histogram) != rounds or kept != accepted:
        raise NoCounts(
            f"the histogram has {counted(sum(histogram), 'step')} and {kept} accepted tokens, the "
            f"counts say {rounds} and {accepted}"
        )
    if drafted > rounds * gamma:
        raise NoCounts(
            f"drafted ({drafted}) is above {counted(rounds, 'step')} of {counted(gamma, 'token')}"
        )
    if steps:
        if histogram_of([step for _, step in steps]) != histogram:
            raise NoCounts("the steps in order contradict the histogram")
        if sum(step for step, _ in steps) != drafted:
            raise NoCounts("the steps in order contradict the drafted tokens")
        record: Record = from_steps(steps)
    else:
        record = from_histogram(histogram, drafted=drafted, gamma=gamma)
    return record, _ratios(value, rounds=rounds, accepted=accepted, drafted=drafted), gamma


def _ratios(value: JsonObject, *, rounds: int, accepted: int, drafted: int) -> Ratios:
    length = shortened(decimal_at(value, "mean_acceptance_length"))
    fraction: Printed | None = decimal_at(value, "draft_acceptance_rate")
    if length is not None:
        gap = abs(1.0 + accepted / rounds - length.value)
        if gap > length.half_width + 1e-9:
            raise NoCounts(f"mean_acceptance_length {length.value:g} contradicts the counts")
    if fraction is not None:
        fraction = agreeing_fraction(fraction, accepted=accepted, drafted=drafted)
    return Ratios(fraction=fraction, length=length)


def _steps(value: JsonObject) -> Steps:
    """The rounds as (drafted, accepted) in order; empty in a summary."""
    accepted, drafted = counts_at(value, "per_step_accepted"), counts_at(value, "per_step_drafted")
    if len(accepted) != len(drafted):
        raise NoCounts(
            f"per_step_accepted has {counted(len(accepted), 'step')}, per_step_drafted {len(drafted)}"
        )
    if max(drafted, default=0) > MOST_DEPTHS:
        raise NoCounts(f"a step drafted more than {MOST_DEPTHS} tokens")
    if drafted and not any(drafted):
        raise NothingDrafted("no draft in this request")
    return tuple(zip(drafted, accepted, strict=True))


def _completion(parents: tuple[JsonObject, ...]) -> int | None:
    """usage.completion_tokens of the response around the metrics."""
    for parent in reversed(parents):
        usage = parent.get("usage")
        if isinstance(usage, Mapping):
            return count_at(usage, "completion_tokens")
    return None


def _first_text(parents: tuple[JsonObject, ...], name: str) -> str:
    """The text under a name in the innermost object that has one; "" if none has."""
    texts = (text_at(parent, name) for parent in reversed(parents))
    return next((text for text in texts if text), "")


def _labels(parents: tuple[JsonObject, ...]) -> tuple[tuple[str, str], ...]:
    named = ((name, _first_text(parents, name)) for name in ("model", "category", "finish_reason"))
    return tuple((name, text) for name, text in named if text)
