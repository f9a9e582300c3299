"""The fields of one interval line of vLLM, in any of the orders that versions print them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from real_runs.engines.counts.printed import COUNT, Printed, as_count, as_printed, as_survival
from real_runs.engines.counts.ratios import Ratios, agreeing_fraction, check_counts
from real_runs.engines.counts.skips import NoCounts

_NUMBER = r"(?:-?[\d.]++|nan)"
_FIELDS = {
    "Accepted": re.compile(rf"Accepted:\s*+{COUNT}\s*+tokens\b(?!/)"),
    "Drafted": re.compile(rf"Drafted:\s*+{COUNT}\s*+tokens\b(?!/)"),
    "Draft acceptance rate": re.compile(rf"raft acceptance rate:\s*+({_NUMBER})"),
    "Mean acceptance length": re.compile(rf"Mean acceptance length:\s*+({_NUMBER})"),
    "Per-position acceptance rate": re.compile(
        rf"[Pp]er-position(?: acceptance \w++:)?\s*+({_NUMBER}(?:,\s*+{_NUMBER})*+)"
    ),
}
_RATIOS = ("Draft acceptance rate", "Mean acceptance length", "Per-position acceptance rate")
_PERCENT = re.compile(rf"raft acceptance rate:\s*+{_NUMBER}\s*+%")
# The order of vLLM 0.10.2 to 0.33.0, whole: one search instead of six, on lines by the million.
_USUAL = re.compile(
    r" Mean acceptance length: (\d{1,4}\.\d\d), Accepted throughput: [\d.]{1,20} tokens/s, "
    r"Drafted throughput: (\d{1,12}\.\d{1,6}) tokens/s, Accepted: (\d{1,15}) tokens, Drafted: "
    r"(\d{1,15}) tokens, Per-position acceptance rate: ([01]\.\d{3}(?:, [01]\.\d{3}){0,63}), "
    r"Avg Draft acceptance rate: (\d{1,3}\.\d)%(?=\s*+$)",
    re.ASCII,
)
_DRAFTED_PER_S = re.compile(r"Drafted throughput:\s*+(\d{1,12}(?:\.\d{1,6})?) tokens/s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """What one interval line prints; `drafted_per_s` is its drafted throughput."""

    accepted: int
    drafted: int
    ratios: Ratios
    drafted_per_s: float | None = None


def without_counts(text: str) -> bool:
    """True for a line copied without its counts; a line that breaks off is something else."""
    if "Accepted:" in text or "Drafted:" in text:
        return False
    return all(_FIELDS[name].search(text) for name in _RATIOS)


def only_ratios(text: str) -> Ratios:
    """The ratios of a line without counts; NoCounts if they contradict each other."""
    rate, length, survival = (
        match[1] for match in (_FIELDS[name].search(text) for name in _RATIOS) if match is not None
    )
    fraction = as_printed("Draft acceptance rate", rate)
    if fraction.value > 1.0 or _PERCENT.search(text):
        fraction = Printed(units=fraction.units, scale=fraction.scale * 100)
    ratios = Ratios(
        fraction=fraction,
        length=as_printed("Mean acceptance length", length),
        survival=as_survival("Per-position acceptance rate", survival),
    )
    if not ratios.consistent:
        raise NoCounts("the printed ratios contradict each other")
    return ratios


def parsed(text: str) -> Interval:
    """The interval that stands behind "SpecDecoding metrics:"; NoCounts if a field is missing or wrong.

    >>> parsed(" Draft acceptance rate: 64.5%, Accepted: 167 tokens, Drafted: 259 tokens").drafted
    259
    """
    usual = _USUAL.match(text)
    if usual is not None:
        return _of_usual(*usual.groups())
    found = {name: pattern.search(text) for name, pattern in _FIELDS.items()}
    accepted_text, drafted_text, rate, length, survival = found.values()
    if accepted_text is None or drafted_text is None:
        _refuse(found)
    accepted = as_count("Accepted", accepted_text[1])
    drafted = as_count("Drafted", drafted_text[1])
    check_counts(accepted=accepted, drafted=drafted, of="in this interval")
    if rate is None:
        _refuse(found)
    fraction = agreeing_fraction(
        as_printed("Draft acceptance rate", rate[1]), accepted=accepted, drafted=drafted
    )
    if length is None and survival is None and rate.start() < accepted_text.start():
        # vLLM 0.8 prints the rate and the counts, and no more.
        return Interval(accepted=accepted, drafted=drafted, ratios=Ratios(fraction=fraction))
    if length is None or survival is None:
        _refuse(found)
    ratios = Ratios(
        fraction=fraction,
        length=as_printed("Mean acceptance length", length[1]),
        survival=as_survival("Per-position acceptance rate", survival[1]),
    )
    throughput = _DRAFTED_PER_S.search(text)
    return Interval(
        accepted=accepted,
        drafted=drafted,
        ratios=ratios,
        drafted_per_s=None if throughput is None else float(throughput[1]),
    )


def _of_usual(
    length: str, drafted_per_s: str, accepted_text: str, drafted_text: str, survival: str, rate: str
) -> Interval:
    accepted, drafted = int(accepted_text), int(drafted_text)
    check_counts(accepted=accepted, drafted=drafted, of="in this interval")
    return Interval(
        accepted=accepted,
        drafted=drafted,
        ratios=Ratios(
            fraction=agreeing_fraction(
                as_printed("Draft acceptance rate", rate), accepted=accepted, drafted=drafted
            ),
            length=as_printed("Mean acceptance length", length),
            survival=as_survival("Per-position acceptance rate", survival),
        ),
        drafted_per_s=float(drafted_per_s),
    )


def _refuse(found: dict[str, re.Match[str] | None]) -> NoReturn:
    name = next(name for name, match in found.items() if match is None)
    raise NoCounts(f"the line has no '{name}'")
