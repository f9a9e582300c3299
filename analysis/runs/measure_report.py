"""What `specdec measure` and `specdec verify-run` say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from analysis.output import Cell, Report, Row, Section
from simulator.costs import MeasuredRequest

_COLUMNS = (
    "gamma",
    "requests",
    "rounds",
    "emitted",
    "tokens_per_round",
    "decode_s",
    "tokens_per_s",
)


def measure_report(
    requests: Iterable[MeasuredRequest],
    *,
    headline: str,
    notes: tuple[str, ...] = (),
    parameters: tuple[tuple[str, Cell], ...] = (),
) -> Report:
    """One row per draft length: what was done and how long it took."""
    groups: dict[int, list[MeasuredRequest]] = defaultdict(list)
    for request in requests:
        groups[request.gamma].append(request)
    rows = tuple(_row(gamma, groups[gamma]) for gamma in sorted(groups))
    return Report(
        command="measure",
        parameters=parameters,
        sections=(Section(name="by_gamma", columns=_COLUMNS, rows=rows),),
        headline=headline,
        notes=notes,
    )


def verify_report(
    *,
    summary: tuple[tuple[str, Cell], ...],
    findings: Iterable[str],
    headline: str,
    notes: tuple[str, ...] = (),
    parameters: tuple[tuple[str, Cell], ...] = (),
) -> Report:
    """One row per finding, if there are any, and what was counted."""
    rows: tuple[Row, ...] = tuple((finding,) for finding in findings)
    found = Section(name="findings", columns=("finding",), rows=rows)
    counted = Section(name="summary", columns=("quantity", "value"), rows=summary)
    return Report(
        command="verify-run",
        parameters=parameters,
        sections=(found, counted) if rows else (counted,),
        headline=headline,
        notes=notes,
    )


def _row(gamma: int, requests: list[MeasuredRequest]) -> Row:
    rounds = sum(request.table.rounds for request in requests)
    accepted = sum(sum(request.table.accepted) for request in requests)
    emitted = sum(request.emitted for request in requests)
    decode_s = sum(request.decode_s for request in requests)
    return (
        gamma,
        len(requests),
        rounds,
        emitted,
        1.0 + accepted / rounds if rounds else None,
        decode_s,
        emitted / decode_s if decode_s else None,
    )
