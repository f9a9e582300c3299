"""From named values to counts and ratios: arithmetic decides what names leave open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from real_runs.engines.counts.lengths import counted_totals
from real_runs.engines.counts.pool import Record
from real_runs.engines.counts.printed import MOST_DEPTHS, Printed
from real_runs.engines.counts.ratios import Ratios, agreeing_fraction, check_counts
from real_runs.engines.counts.recovery import with_rounds, without_rounds
from real_runs.engines.counts.rounding import Claim
from real_runs.engines.counts.skips import NoCounts
from real_runs.engines.others.generic_names import Value
from simulator import AcceptanceTable, AcceptanceTotals, ReportedRatio

_ROUNDING = 1e-9
_RATIOS = ("accepted_fraction", "tokens_per_round", "accepted_per_round", "efficiency")


@dataclass(frozen=True, slots=True, kw_only=True)
class GenericRecord:
    """What named values say: counts with the ratios that agree with them, or ratios alone."""

    record: Record | None = None
    checked: Ratios = field(default_factory=Ratios)
    ratios: tuple[ReportedRatio, ...] = ()
    gamma: int | None = None
    emitted: int | None = None
    tokens_per_s: float | None = None
    notes: tuple[str, ...] = ()


def as_record(values: Mapping[str, Value]) -> GenericRecord:
    """The counts in named values, or their ratios; NoCounts where they contradict each other.

    With rounds beside accepted tokens, a length of 1 + accepted / rounds has the bonus token in it
    and one of accepted / rounds has not; with both counts, a rate is a fraction or in percent.
    """
    accepted, drafted = _count(values, "accepted"), _count(values, "drafted")
    rejected, rounds = _count(values, "rejected"), _count(values, "rounds")
    if drafted is None and accepted is not None and rejected is not None:
        drafted = accepted + rejected
    gamma, emitted = _count(values, "gamma"), _count(values, "emitted")
    speed = values.get("tokens_per_s")
    notes: list[str] = []
    record: Record | None = None
    checked = Ratios()
    ratios: tuple[ReportedRatio, ...] = ()
    if "by_depth" in values:
        record, note = _of_list(values["by_depth"].counts)
        notes.append(note)
    elif accepted is not None and drafted is not None:
        check_counts(accepted=accepted, drafted=drafted, of="in the record")
        fraction = _fraction(values.get("accepted_fraction"), accepted, drafted)
        length = _length(values, accepted, rounds, notes)
        checked = Ratios(fraction=fraction, length=length)
        record = _recovered(accepted, drafted, rounds, length, gamma)
    else:
        ratios = tuple(_ratio(name, values[name], notes) for name in _RATIOS if name in values)
    return GenericRecord(
        record=record,
        checked=checked,
        ratios=ratios,
        gamma=gamma if gamma is None or 1 <= gamma <= MOST_DEPTHS else None,
        emitted=emitted,
        tokens_per_s=None if speed is None or speed.low is None else speed.low.value,
        notes=tuple(notes),
    )


def _recovered(
    accepted: int, drafted: int, rounds: int | None, length: Printed | None, gamma: int | None
) -> Record:
    if rounds == 0:
        raise NoCounts("tokens were drafted in no round")
    longest = gamma if gamma and gamma <= MOST_DEPTHS else None
    if longest is not None and rounds is not None and drafted > rounds * longest:
        longest = None  # the name was of something else, or a tree was drafted
    claim = Claim(drafted=drafted, accepted=accepted, length=length, longest=longest)
    if rounds is not None:
        return with_rounds(claim, rounds)
    if length is not None:
        return without_rounds(claim, full_drafts=True)
    return counted_totals(AcceptanceTotals(drafted=drafted, accepted=accepted))


def _of_list(counts: tuple[int, ...]) -> tuple[AcceptanceTable, str]:
    """Rounds, and the rounds that kept each position: what falls and begins with all of them."""
    if len(counts) > MOST_DEPTHS or counts[0] == 0:
        raise NoCounts(f"the list of counts has {len(counts)} entries and begins with {counts[0]}")
    if any(after > before for before, after in pairwise(counts)):
        raise NoCounts(
            "the list of counts rises: it is not one of rounds and what they kept",
            finding="accepted_without_drafted",
        )
    rounds, *kept = counts
    table = AcceptanceTable(
        rounds=rounds,
        drafted=rounds * len(kept),
        tested=counts[:-1],
        accepted=tuple(kept),
        length_rule="unknown",
    )
    return table, (
        f"The list is read as {rounds} rounds and the rounds that kept each drafted position; for one "
        "position that is drafted and accepted too."
    )


def _fraction(value: Value | None, accepted: int, drafted: int) -> Printed | None:
    if value is None or value.low is None or value.is_range:
        return None
    printed = value.low
    if value.percent:
        printed = Printed(units=printed.units, scale=printed.scale * 100)
    return agreeing_fraction(printed, accepted=accepted, drafted=drafted)


def _length(
    values: Mapping[str, Value], accepted: int, rounds: int | None, notes: list[str]
) -> Printed | None:
    """The printed tokens per round, the bonus added where it is not in it."""
    for name in ("tokens_per_round", "accepted_per_round"):
        value = values.get(name)
        if value is None or value.low is None or value.is_range:
            continue
        printed = value.low
        with_bonus = Printed(units=printed.units + printed.scale, scale=printed.scale)
        bonus_in = name == "tokens_per_round" and printed.value >= 1.0
        if rounds:
            true = 1.0 + accepted / rounds
            fits = [
                abs(each.value - true) <= each.half_width + _ROUNDING
                for each in (printed, with_bonus)
            ]
            if not any(fits):
                raise NoCounts(
                    f"{printed.value:g} tokens per round contradict the counts "
                    f"(1 + {accepted}/{rounds} = {true:g})"
                )
            bonus_in = fits[0]
        if not bonus_in and name == "tokens_per_round":
            notes.append(f"The bonus token is not in the printed {printed.value:g} per round.")
        return printed if bonus_in else with_bonus
    return None


def _ratio(name: str, value: Value, notes: list[str]) -> ReportedRatio:
    """A ratio without counts beside it: a rate above 1 is in percent, a range is its middle."""
    if value.low is None:
        raise NoCounts(f"{name.replace('_', ' ')} is no number")
    low, half = value.low.value, value.low.half_width
    high = low if value.high is None else value.high.value
    if high < low:
        raise NoCounts(f"{name.replace('_', ' ')} is a range from {low:g} to {high:g}")
    share = name in {"accepted_fraction", "efficiency"}
    scale = 100.0 if share and (value.percent or high > 1.0) else 1.0
    if share and high > scale:
        raise NoCounts(
            f"{name.replace('_', ' ')} is {high:g}, above {scale:g}", finding="unit_error"
        )
    if share and scale > 1.0 and not value.percent:
        notes.append(f"{name.replace('_', ' ')} of {high:g} is taken as percent.")
    if value.is_range:
        notes.append(
            f"{name.replace('_', ' ')} is printed as a range, {low:g} to {high:g}: its middle stands here, "
            "and half of it as its rounding."
        )
        half = (high - low) / 2.0 + half
    if name == "tokens_per_round" and high < 1.0:
        notes.append(f"{high:g} tokens per round are below 1: the bonus token is not in it.")
        name = "accepted_per_round"
    return ReportedRatio(
        quantity=name,
        value=(low + high) / 2.0 / scale,
        half_width=half / scale,
        averaged_over="unknown",
    )


def _count(values: Mapping[str, Value], name: str) -> int | None:
    value = values.get(name)
    if value is None:
        return None
    if value.counts:
        return value.counts[0]
    if value.low is None or value.low.units % value.low.scale or value.is_range:
        return None
    return value.low.units // value.low.scale
