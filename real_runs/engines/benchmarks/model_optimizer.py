"""Model-Optimizer's specdec_bench: acceptance_rate.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from real_runs.engines.counts.lengths import from_histogram, longest_note
from real_runs.engines.counts.pool import Layout, Pool
from real_runs.engines.counts.printed import MOST_DEPTHS, Printed
from real_runs.engines.counts.ratios import Ratios
from real_runs.engines.counts.skips import NoCounts, NothingDrafted, Skips
from real_runs.engines.counts.wording import counted, told_apart
from real_runs.engines.reading import Reading
from real_runs.engines.text.fields import (
    as_decimal,
    as_whole,
    decimal_at,
    histogram_at,
    shown,
)
from real_runs.engines.text.objects import JsonObject, Where
from simulator import AcceptanceTable, ReportedRatio

KEYS = (
    "Acceptance_Length_Histogram",
    "Conditional_Acceptance_Rate",
    "Joint_Acceptance_Rate",
    "Average_AL",
)
SHAPES = (
    "'Acceptance_Length_Histogram' or 'Joint_Acceptance_Rate' (Model-Optimizer, "
    "acceptance_rate.json)"
)
MOST_TURNS = 1_000_000

_NOTE = "Lengths count the bonus token: a round of length 1 kept no drafted token."
_LAYOUT = Layout(
    engine="model-optimizer",
    name="acceptance_rate.json",
    unit="run",
    averaged_over="rounds of all requests",
    definition=(
        "Joint_Acceptance_Rate[n] is the share of rounds of at least n tokens with the bonus, the "
        "survival of draft position n - 1; Conditional_Acceptance_Rate[n] is the ratio to the one "
        "before; both are 1 at n = 1."
    ),
)
_ROUNDING = 1e-9


class AcceptanceRates:
    """One Reading for each acceptance_rate.json in a text."""

    def __init__(self, source: str, _: Skips) -> None:
        self._source = source
        self._readings: list[tuple[Pool, tuple[str, ...]] | Reading] = []

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Read one file, or note why it counts nothing."""
        ended = histogram_at(value, KEYS[0], first=1)
        notes = _mean_notes(value)
        if ended is None:
            self._readings.append(self._of_ratios(value, notes))
            return
        _check_rates(value, ended)
        record = from_histogram(ended, drafted=None, gamma=None)
        pool = Pool(_LAYOUT, self._source)
        pool.add(where.line, record, Ratios())
        longest = record.depths if isinstance(record, AcceptanceTable) else 0
        self._readings.append((pool, (_NOTE, longest_note(longest), *notes)))

    def _of_ratios(self, value: JsonObject, notes: tuple[str, ...]) -> Reading:
        joint, conditional = by_length(value, KEYS[2]), by_length(value, KEYS[1])
        printed = [
            ReportedRatio(
                quantity=quantity,
                value=rate.value,
                half_width=rate.half_width,
                averaged_over=_LAYOUT.averaged_over,
                depth=length - 2,
            )
            for quantity, rates in (("survival", joint), ("conditional_acceptance", conditional))
            for length, rate in sorted(rates.items())
            if length >= 2
        ]
        mean = decimal_at(value, "Average_AL")
        if mean is not None and mean.value > 0.0:
            printed.append(
                ReportedRatio(
                    quantity="tokens_per_round",
                    value=mean.value,
                    half_width=mean.half_width,
                    averaged_over="turns, unweighted",
                )
            )
        if not printed:
            raise NothingDrafted("the file has no round with a drafted token")
        return Reading(
            engine=_LAYOUT.engine,
            layout=_LAYOUT.name,
            source=self._source,
            counts=None,
            printed=tuple(printed),
            definition=_LAYOUT.definition,
            lines=0,
            used=1,
            notes=("The file has ratios and no histogram: rounds stay unknown.", *notes),
            unit="request",
        )

    def readings(self, lines: int) -> list[Reading]:
        """One Reading per file, in their order."""
        found: list[Reading] = []
        for each in self._readings:
            if isinstance(each, Reading):
                found.append(replace(each, lines=lines))
            else:
                found += each[0].readings(lines, notes=each[1])
        names = told_apart([reading.layout for reading in found])
        return [replace(each, layout=name) for name, each in zip(names, found, strict=True)]


def by_length(value: JsonObject, name: str) -> dict[int, Printed]:
    """Rates by length (bonus included) under a name; empty without them.

    A rate outside [0, 1], or another rate than 1 at length 1, gives NoCounts.
    """
    rates = value.get(name)
    if rates is None:
        return {}
    if not isinstance(rates, Mapping) or len(rates) > MOST_DEPTHS + 1:
        raise NoCounts(f"{name} is no object of at most {MOST_DEPTHS + 1} lengths")
    found = {
        as_whole(f"a length in {name}", key): as_decimal(f"{name}[{shown(key)}]", rate)
        for key, rate in rates.items()
    }
    for length, rate in found.items():
        if rate.value > 1.0 + _ROUNDING:
            raise NoCounts(f"{name}[{length}] is above 1 ({rate.value:g})", finding="unit_error")
        if length < 1 or length > MOST_DEPTHS + 1:
            raise NoCounts(
                f"{name} has a rate of length {length}, outside 1 to {MOST_DEPTHS + 1}",
                finding="length_outside_range",
            )
    if 1 in found and abs(found[1].value - 1.0) > found[1].half_width + _ROUNDING:
        raise NoCounts(
            f"{name}[1] is {found[1].value:g} and not 1: keys are not lengths with the bonus"
        )
    return found


def _check_rates(value: JsonObject, ended: tuple[int, ...]) -> None:
    """NoCounts if a printed rate is not that of the histogram, which leaves out empty lengths."""
    rounds, joint, conditional = (
        sum(ended),
        by_length(value, KEYS[2]),
        by_length(value, KEYS[1]),
    )
    before = rounds
    for length, number in enumerate(ended, start=1):
        if not number:
            continue
        reached = sum(ended[length - 1 :])
        for name, rates, true in (
            (KEYS[2], joint, reached / rounds),
            (KEYS[1], conditional, reached / before),
        ):
            rate = rates.get(length)
            if rate is not None and abs(rate.value - true) > rate.half_width + _ROUNDING:
                raise NoCounts(
                    f"{name}[{length}] ({rate.value:g}) contradicts the histogram ({true:g})"
                )
        before = reached


def _mean_notes(value: JsonObject) -> tuple[str, ...]:
    """What Average_AL and the means of turns say beside the counts."""
    mean = decimal_at(value, "Average_AL")
    turns = _turns(value)
    if turns and mean is not None:
        own = sum(turns) / len(turns)
        if abs(own - mean.value) > mean.half_width + 1e-6:
            raise NoCounts(f"Average_AL ({mean.value:g}) is not the mean of Request_AL ({own:g})")
    if mean is None:
        return ()
    over = counted(len(turns), "turn") if turns else "turns"
    note = (
        f"Average_AL, {mean.value:.6g} tokens per round, is the mean of the means of {over}, each "
        "counted alike; the histogram weights turns by their rounds."
    )
    return (note,)


def _turns(value: JsonObject) -> list[float]:
    requests = value.get("Request_AL")
    if not isinstance(requests, Mapping):
        return []
    found: list[float] = []
    for turns in requests.values():
        means = list(turns.values()) if isinstance(turns, Mapping) else [turns]
        if len(found) + len(means) > MOST_TURNS:
            raise NoCounts(f"Request_AL has more than {MOST_TURNS:,} turns")
        found += [as_decimal("Request_AL", mean).value for mean in means]
    return found
