"""Public reports as observations, with what must be found in them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from analysis.diagnosis.counts import counts_of
from analysis.diagnosis.finding import CODES
from simulator import METHODS, AcceptanceTable, Clock, CountedUnit, Observation, ReportedRatio
from simulator._checks import as_count

CHECKS = (
    "tokens_per_round",
    "accepted_fraction",
    "p_first",
    "p_pooled_low",
    "p_pooled_high",
    "rounds",
    "effective_gamma",
    "seconds_per_round",
    "round_cost_in_target_steps",
    "speedup",
)
"""Quantities that follow exactly from a report's printed numbers."""
_FIELDS = {each.name for each in dataclasses.fields(Observation)} - {"counts", "units"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One public report.

    `observations` hold its numbers, the one that `check` is about first. `findings` are codes,
    most important first. `log` is the excerpt of the engine's log that it quotes, if any; `date` is
    None where the report does not show one.
    """

    id: str
    url: str
    date: str | None
    observations: tuple[Observation, ...]
    findings: tuple[str, ...]
    check: tuple[tuple[str, float], ...]
    log: str | None = None


def public_cases() -> tuple[Case, ...]:
    """All reports that ship with the package.

    >>> case = public_cases()[0]
    >>> case.id, case.findings[0], len(case.observations)
    ('case-001', 'gamma_too_long', 6)
    """
    text = (files("analysis") / "data" / "cases.jsonl").read_text(encoding="utf-8")
    return tuple(case_of(json.loads(line)) for line in text.splitlines())


def case_of(record: Mapping[str, Any]) -> Case:
    """One line as a Case; ValueError with the id for an unknown field, code or quantity."""
    name = record.get("id", "a case without an id")
    try:
        return Case(
            id=record["id"],
            url=record["url"],
            date=record["date"],
            observations=tuple(_observation(each) for each in record["observations"]),
            findings=tuple(_one_of("findings", code, CODES) for code in record["findings"]),
            check=tuple(
                (_one_of("check", quantity, CHECKS), float(value))
                for quantity, value in record["check"].items()
            ),
            log=record.get("log"),
        )
    except (KeyError, TypeError, ValueError) as error:
        problem = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{name}: {problem.rstrip('.')}.") from None


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}; got {value!r}")
    return value


def _observation(record: Mapping[str, Any]) -> Observation:
    values = dict(record)
    histogram = values.pop("histogram", None)
    for name in values:
        if name not in _FIELDS:
            raise ValueError(f"an observation has no {name!r}")
    if values.get("method") is not None:
        _one_of("method", values["method"], METHODS)
    values["clock"] = Clock(**values.get("clock", {}))
    values["printed"] = tuple(
        ReportedRatio(averaged_over="as reported", **ratio) for ratio in values.get("printed", ())
    )
    seen = Observation(**values)
    if histogram is not None:
        return dataclasses.replace(seen, counts=_table(seen, histogram))
    counts = counts_of(seen)
    if seen.unit == "interval" and counts is not None:
        return dataclasses.replace(seen, units=(CountedUnit(counts=counts),))
    return seen


def _table(seen: Observation, histogram: list[int]) -> AcceptanceTable:
    """Rounds by number of accepted tokens, the index, as a table of full drafts."""
    if seen.gamma is None or len(histogram) != seen.gamma + 1:
        raise ValueError(f"histogram must have γ + 1 entries; got {len(histogram)}")
    counts = [as_count("histogram", count) for count in histogram]
    reached = [sum(counts[n:]) for n in range(len(counts))]
    return AcceptanceTable(
        rounds=reached[0],
        drafted=reached[0] * seen.gamma,
        tested=tuple(reached[:-1]),
        accepted=tuple(reached[1:]),
    )
