"""The report of an imported log: counts, p, tokens per round and speedup, each with how it is known."""

from __future__ import annotations

import math
from dataclasses import dataclass

from analysis.log_summary import LogSummary
from analysis.output import Report, Row, Section
from analysis.uncertainty import one_p_probability
from simulator import AcceptanceTable, Counts, Estimate, ReportedRatio


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedLog:
    """One engine's counts as read, their summary, and what the reader should know."""

    name: str
    definition: str
    counts: Counts
    summary: LogSummary
    printed: tuple[ReportedRatio, ...]
    lines: int
    used: int
    notes: tuple[str, ...]
    skipped: tuple[str, ...]


_SURPRISING = 1e-3
_INDEPENDENCE = (
    "intervals take rounds as independent, for the log does not tell requests apart: "
    "the real uncertainty is larger."
)
_COLUMNS = ("quantity", "value", "low", "high", "how_known")


def log_rows(
    counts: Counts, summary: LogSummary, printed: tuple[ReportedRatio, ...]
) -> tuple[Row, ...]:
    """Every quantity of one log as rows: value, lower and upper end, how it is known."""
    return (
        *_count_rows(counts, summary),
        *_p_rows(summary),
        *_token_rows(summary, printed),
        *_speed_rows(summary),
    )


def _count_rows(counts: Counts, summary: LogSummary) -> list[Row]:
    rows: list[Row] = [
        ("rounds", summary.rounds, None, None, "see notes" if summary.rounds else "not in the log"),
        ("drafted tokens", summary.drafted, None, None, "counted"),
        ("accepted tokens", summary.accepted, None, None, "counted"),
    ]
    if isinstance(counts, AcceptanceTable):
        for depth, (tested, accepted) in enumerate(
            zip(counts.tested, counts.accepted, strict=True), 1
        ):
            rows.append((f"kept at depth {depth}", accepted, None, None, f"of {tested:,} tested"))
    elif counts.depth_bounds is not None:
        for depth, (low, high) in enumerate(counts.depth_bounds, 1):
            if low == high:
                how = "recovered from the printed ratio"
                rows.append((f"kept at depth {depth}", low, None, None, how))
            else:
                how = "the printed ratio is rounded"
                rows.append((f"kept at depth {depth}", None, low, high, how))
    return rows


def _p_rows(summary: LogSummary) -> list[Row]:
    rows: list[Row] = []
    if summary.p is not None:
        rows.append(_estimate("p, pooled over depths", summary.p, "accepted / tested, 95 %"))
    else:
        rows.append(_range("p, pooled over depths", summary.p_range, "accepted / tested"))
    if summary.p_by_depth is not None:
        for depth, estimate in enumerate(summary.p_by_depth, 1):
            rows.append(_estimate(f"p at depth {depth}", estimate, "accepted / tested, 95 %"))
    for depth, ends in enumerate(summary.p_by_depth_range or (), 1):
        rows.append(_range(f"p at depth {depth}", ends, "accepted / tested"))
    how = 'accepted / drafted: the engine\'s "acceptance rate"; not p'
    rows.append(("accepted fraction", summary.accepted_fraction, None, None, how))
    return rows


def _token_rows(summary: LogSummary, printed: tuple[ReportedRatio, ...]) -> list[Row]:
    rows: list[Row] = []
    if summary.tokens_per_round is not None:
        rows.append(
            _estimate("tokens per round", summary.tokens_per_round, "1 + accepted / rounds, ± 2 se")
        )
    for ratio in printed:
        if ratio.quantity == "tokens_per_round":
            how = f"printed by the engine over {ratio.averaged_over}"
            rows.append(("tokens per round", ratio.value, *ratio.bounds, how))
    if summary.formula_tokens is not None:
        how = f"closed form with p and γ = {summary.gamma}"
        rows.append(_range("tokens per round", summary.formula_tokens, how))
    if summary.naive_tokens is not None:
        how = "closed form if accepted / drafted is mistaken for p: wrong"
        rows.append(("tokens per round", summary.naive_tokens, None, None, how))
    if summary.equivalent_p is not None and summary.p is None:
        how = f"would explain accepted / drafted if every draft had {summary.gamma} tokens"
        rows.append(("equivalent p", summary.equivalent_p, None, None, how))
    return rows


def _speed_rows(summary: LogSummary) -> list[Row]:
    if summary.speedup is None or summary.round_cost is None:
        return []
    how = f"tokens per round / round cost {summary.round_cost:.3f}, ± 2 se"
    return [_estimate("speedup", summary.speedup, how)]


def _estimate(name: str, estimate: Estimate, how: str) -> Row:
    if estimate.interval is not None:
        return (name, estimate.value, *estimate.interval, how)
    if estimate.se is None:
        return (name, estimate.value, None, None, how.removesuffix(", ± 2 se"))
    return (
        name,
        estimate.value,
        estimate.value - 2 * estimate.se,
        estimate.value + 2 * estimate.se,
        how,
    )


def _range(name: str, ends: tuple[float, float], how: str) -> Row:
    low, high = ends
    if low == high:
        return (name, low, None, None, how)
    return (name, None, low, high, f"{how}; the log allows this range")


def import_report(
    logs: tuple[ImportedLog, ...], *, source: str, cost_ratio: float | None, gamma: int | None
) -> Report:
    """The report of all logs found in one source."""
    rows = tuple(
        (log.name, *row) for log in logs for row in log_rows(log.counts, log.summary, log.printed)
    )
    tables = [log.counts for log in logs if isinstance(log.counts, AcceptanceTable)]
    return Report(
        command="import",
        parameters=(("source", source), ("cost_ratio", cost_ratio), ("gamma", gamma)),
        sections=(
            Section(
                name="quantities",
                columns=("log", *_COLUMNS),
                rows=rows,
                too_wide=("log",) if len(logs) == 1 else (),
            ),
        ),
        headline="\n".join(_headline(log) for log in logs),
        notes=tuple(note for log in logs for note in _notes(log)),
        table=tables[0] if len(logs) == len(tables) == 1 else None,
    )


def _headline(log: ImportedLog) -> str:
    low, high = log.summary.p_range
    p = f"{low:.3f}" if round(low, 3) == round(high, 3) else f"between {low:.3f} and {high:.3f}"
    sentence = (
        f"{log.name}: p is {p}; {log.summary.accepted_fraction:.3f}, the printed acceptance rate, "
        "is accepted / drafted."
    )
    return sentence if log.summary.speedup is None else f"{sentence} Speedup {log.summary.speedup}."


def _notes(log: ImportedLog) -> list[str]:
    return [
        f"{log.name}: {log.used} of {log.lines:,} lines gave counts.",
        f"{log.name}: {log.definition}",
        *(f"{log.name}: {note}" for note in (*log.notes, *_findings(log))),
        *(f"{log.name}: skipped {entry}" for entry in log.skipped),
    ]


def _findings(log: ImportedLog) -> list[str]:
    findings = _one_p(log.counts, log.summary)
    if log.summary.tokens_per_round is None:
        findings.append(
            "tokens per round and speedup need the rounds, which this log does not give."
        )
    elif log.summary.tokens_per_round.se is not None:
        findings.append(_INDEPENDENCE)
    return findings


def _one_p(counts: Counts, summary: LogSummary) -> list[str]:
    """Says so where one p for all depths cannot have given these counts."""
    if not isinstance(counts, AcceptanceTable) or summary.formula_tokens is None:
        return []
    chance = one_p_probability(counts)
    if math.isnan(chance) or chance > _SURPRISING:
        return []
    note = (
        f"p is not the same at every depth (chance {chance:.0e} if it were): the closed form with "
        f"one p gives {summary.formula_tokens[0]:.2f} tokens per round, the counts say "
        f"{summary.tokens_per_round}; predict other draft lengths by depth."
    )
    return [note]
