"""AIPerf's acceptance of a whole run: profile_export_aiperf.json."""

from __future__ import annotations

from dataclasses import replace

from real_runs.engines.counts.acceptance_record import check_length, child
from real_runs.engines.counts.lengths import from_histogram
from real_runs.engines.counts.pool import Extras, Layout, Pool
from real_runs.engines.counts.printed import Printed
from real_runs.engines.counts.ratios import Ratios, agreeing_fraction
from real_runs.engines.counts.skips import NoCounts, NothingDrafted, Skips
from real_runs.engines.counts.wording import told_apart
from real_runs.engines.reading import Reading
from real_runs.engines.text.fields import count_at, decimal_at, histogram_at, number_at
from real_runs.engines.text.objects import JsonObject, Where
from simulator import Clock, ReportedRatio

KEYS = (
    "pooled_spec_decode_acceptance_histogram",
    "spec_decode_token_weighted_acceptance_length",
    "spec_decode_acceptance_length",
)
SHAPES = (
    "'spec_decode_acceptance_length' or 'pooled_spec_decode_acceptance_histogram' (AIPerf, "
    "profile_export_aiperf.json)"
)

_DEFINITION = (
    "spec_decode_overall_draft_acceptance_rate is accepted / drafted over all requests; "
    "spec_decode_draft_acceptance_rate the mean of that by request."
)
_OVER = "requests, unweighted"
_POOLED = "rounds of all requests"
_LAYOUT = Layout(
    engine="aiperf",
    name="profile_export_aiperf.json",
    unit="run",
    averaged_over=_POOLED,
    definition=_DEFINITION,
)
_SECONDS = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


class Summaries:
    """One Reading for each summary of a run in a text."""

    def __init__(self, source: str, _: Skips) -> None:
        self._source = source
        self._readings: list[tuple[Pool, Extras, tuple[str, ...]] | Reading] = []

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Read a summary, or note why it counts nothing."""
        if KEYS[0] not in value and not any("avg" in child(value, name) for name in KEYS):
            return  # the metrics of one request, or another program's
        ended = histogram_at(value, KEYS[0])
        by_request = _mean_by_request(value)
        if ended is None:
            self._readings.append(self._of_ratios(value, by_request))
            return
        rounds = sum(ended)
        accepted = sum(kept * number for kept, number in enumerate(ended))
        drafted = _total(value, "total_draft_tokens")
        for name, found in (
            ("total_spec_decode_steps", rounds),
            ("total_accepted_draft_tokens", accepted),
        ):
            given = _total(value, name)
            if given is not None and given != found:
                raise NoCounts(f"{name} ({given}) contradicts the histogram ({found})")
        length = average(value, "spec_decode_token_weighted_acceptance_length")
        check_length(length, accepted=accepted, rounds=rounds)
        rate = average(value, "spec_decode_overall_draft_acceptance_rate")
        fraction = None
        if rate is not None and drafted:
            fraction = agreeing_fraction(rate, accepted=accepted, drafted=drafted)
        elif rate is not None and rate.value > 0.0:
            drafted = _drafted_from(rate, accepted)
        record = from_histogram(ended, drafted=drafted, gamma=None)
        pool = Pool(_LAYOUT, self._source)
        pool.add(where.line, record, Ratios(fraction=fraction, length=length))
        notes = ["The histogram counts accepted drafted tokens, without the bonus."]
        if drafted is None:
            notes.append(
                "Drafted tokens are not printed; the longest accepted draft stands for all."
            )
        notes += [_by_request_note(ratio) for ratio in by_request]
        self._readings.append((pool, Extras(clock=_clock(value)), tuple(notes)))

    def _of_ratios(self, value: JsonObject, by_request: list[ReportedRatio]) -> Reading:
        printed = list(by_request)
        pooled = {
            "tokens_per_round": "spec_decode_token_weighted_acceptance_length",
            "accepted_fraction": "spec_decode_overall_draft_acceptance_rate",
        }
        for quantity, name in pooled.items():
            found = average(value, name)
            if found is not None:
                printed.append(_reported(quantity, _fraction(value, name, found), _POOLED))
        if not printed:
            raise NothingDrafted("the summary has no acceptance of any request")
        return Reading(
            engine="aiperf",
            layout=_LAYOUT.name,
            source=self._source,
            counts=None,
            printed=tuple(printed),
            definition=_DEFINITION,
            lines=0,
            used=1,
            notes=("The summary has ratios and no histogram: rounds stay unknown.",),
            clock=_clock(value),
        )

    def readings(self, lines: int) -> list[Reading]:
        """One Reading per summary, in their order."""
        found: list[Reading] = []
        for each in self._readings:
            if isinstance(each, Reading):
                found.append(replace(each, lines=lines))
            else:
                pool, extras, notes = each
                found += pool.readings(lines, notes=notes, extras=extras)
        names = told_apart([reading.layout for reading in found])
        return [replace(each, layout=name) for name, each in zip(names, found, strict=True)]


def average(value: JsonObject, name: str) -> Printed | None:
    """The average of a metric, which is a block of statistics; None without it."""
    return decimal_at(child(value, name), "avg")


def seconds(value: JsonObject, name: str) -> float | None:
    """The average of a metric of time in seconds, by its unit; None without a unit that is known."""
    block = child(value, name)
    scale = _SECONDS.get(str(block.get("unit", "")).lower())
    number = number_at(block, "avg" if "avg" in block else "value")
    return None if scale is None or number is None else number * scale


def _total(value: JsonObject, name: str) -> int | None:
    block = child(value, name)
    if not block:
        return count_at(value, name)
    return count_at(block, "sum") if "sum" in block else count_at(block, "avg")


def _drafted_from(rate: Printed, accepted: int) -> int | None:
    """Drafted tokens from a rate in full digits, if only one number is that close."""
    scale = 100.0 if rate.value > 1.0 else 1.0
    drafted = round(accepted / (rate.value / scale))
    low, high = ((rate.value + side * rate.half_width) / scale for side in (-1, 1))
    neighbours = [
        n for n in (drafted - 1, drafted, drafted + 1) if n and low <= accepted / n <= high
    ]
    return drafted if neighbours == [drafted] else None


def _mean_by_request(value: JsonObject) -> list[ReportedRatio]:
    names = {
        "tokens_per_round": "spec_decode_acceptance_length",
        "accepted_fraction": "spec_decode_draft_acceptance_rate",
        "efficiency": "spec_decode_accepted_per_verified",
    }
    found = []
    for quantity, name in names.items():
        mean = average(value, name)
        if mean is not None:
            found.append(_reported(quantity, _fraction(value, name, mean), _OVER))
    return found


def _fraction(value: JsonObject, name: str, mean: Printed) -> Printed:
    """A rate as a fraction: its unit says if it is in percent."""
    if "length" in name or str(child(value, name).get("unit", "")).lower() not in {"%", "percent"}:
        return mean
    return Printed(units=mean.units, scale=mean.scale * 100)


def _reported(quantity: str, printed: Printed, over: str) -> ReportedRatio:
    length = quantity == "tokens_per_round"
    if length and printed.value + printed.half_width < 1.0:
        raise NoCounts(
            f"{printed.value:g} tokens per round are below 1", finding="length_outside_range"
        )
    if not length and printed.value > 1.0:
        raise NoCounts(
            f"{quantity.replace('_', ' ')} is {printed.value:g}, above 1, and its unit is not percent",
            finding="unit_error",
        )
    return ReportedRatio(
        quantity=quantity,
        value=printed.value,
        half_width=printed.half_width,
        averaged_over=over,
    )


def _by_request_note(ratio: ReportedRatio) -> str:
    names = {
        "tokens_per_round": "tokens per round",
        "accepted_fraction": "accepted / drafted",
        "efficiency": "tokens per round / (draft + 1)",
    }
    return (
        f"The mean by request, each counted alike, is {ratio.value:g} {names[ratio.quantity]}; "
        "the counts weight requests by their rounds."
    )


def _clock(value: JsonObject) -> Clock:
    throughput = average(value, "output_token_throughput")
    return Clock(
        tokens_per_s=None if throughput is None else throughput.value,
        s_per_token=seconds(value, "inter_token_latency"),
    )
