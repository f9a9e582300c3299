"""The report of imported logs: their rows, the conclusion in a sentence, what a reader must know."""

from __future__ import annotations

import math
from dataclasses import dataclass

from analysis.by_unit import drawn_note
from analysis.diagnosis.finding import Finding
from analysis.doctor import Diagnosis
from analysis.group_rows import GROUPS, group_rows, groups_sentence
from analysis.groups import Groups
from analysis.import_rows import COLUMNS, drafts_vary, log_rows, time_rows
from analysis.log_summary import LogSummary
from analysis.output import Cell, Report, Row, Section
from analysis.uncertainty import one_p_probability
from simulator import AcceptanceTable, Counts, ReportedRatio

_SURPRISING = 1e-3
_SMALLEST_SHOWN = 1e-12
_TOGETHER = "Side by side"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedLog:
    """One engine's counts as read, their summary, and what the reader should know.

    `units` is how many requests, or intervals, the log tells apart.
    """

    name: str
    definition: str
    counts: Counts | None
    summary: LogSummary
    printed: tuple[ReportedRatio, ...]
    lines: int
    used: int
    notes: tuple[str, ...]
    skipped: tuple[str, ...]
    diagnosis: Diagnosis | None = None
    groups: Groups | None = None
    units: int = 0


def import_report(
    logs: tuple[ImportedLog, ...],
    parameters: tuple[tuple[str, Cell], ...],
    *,
    together: tuple[Finding, ...] = (),
) -> Report:
    """The report of all logs that were found; `together` is what shows only in several of them."""
    rows = tuple((log.name, *row) for log in logs for row in _quantities(log))
    tables = [log.counts for log in logs if isinstance(log.counts, AcceptanceTable)]
    return Report(
        command="import",
        parameters=parameters,
        sections=(
            Section(name="quantities", columns=("log", *COLUMNS), rows=rows, grouped=True),
            *_group_sections(logs),
            *_finding_sections(logs, together),
        ),
        headline="\n".join((*(_headline(log) for log in logs), *_of_all(together))),
        notes=_all_notes(logs),
        table=tables[0] if len(logs) == 1 and tables else None,
    )


def _quantities(log: ImportedLog) -> tuple[Row, ...]:
    times = None if log.diagnosis is None else log.diagnosis.times[0]
    return (*log_rows(log.counts, log.summary, log.printed), *time_rows(times))


def _group_sections(logs: tuple[ImportedLog, ...]) -> tuple[Section, ...]:
    rows = tuple(
        (log.name, *row) for log in logs if log.groups is not None for row in group_rows(log.groups)
    )
    if not rows:
        return ()
    return (Section(name="groups", columns=("log", *GROUPS), rows=rows, grouped=True),)


def _finding_sections(
    logs: tuple[ImportedLog, ...], together: tuple[Finding, ...]
) -> tuple[Section, ...]:
    alone = [
        (log.name, found)
        for log in logs
        if log.diagnosis is not None
        for found in log.diagnosis.findings
    ]
    rows = tuple(
        (name, found.code, found.kind, found.evidence, found.reason, found.advice)
        for name, found in (*alone, *((_TOGETHER, found) for found in together))
    )
    if not rows:
        return ()
    columns = ("log", "finding", "kind", "evidence", "reason", "advice")
    wide = ("kind", "evidence", "reason", "advice")  # a screen shows them as sentences below
    return (Section(name="findings", columns=columns, rows=rows, too_wide=wide, hidden=True),)


def _headline(log: ImportedLog) -> str:
    findings = () if log.diagnosis is None else log.diagnosis.findings
    return "\n".join((f"{log.name}: {conclusion(log.summary)}", *map(_sentence, findings)))


def _of_all(together: tuple[Finding, ...]) -> tuple[str, ...]:
    return (f"{_TOGETHER}:", *map(_sentence, together)) if together else ()


def _sentence(found: Finding) -> str:
    return f"  {found.code.replace('_', ' ')}: {found.sentence}"


def conclusion(summary: LogSummary) -> str:
    """What the counts of a log say of p and of the speedup, in a sentence or two."""
    if math.isnan(summary.p_range[0]):
        return _without_p(summary)
    low, high = (f"{end:.3f}" for end in summary.p_range)
    sentence = f"p is {low}" if low == high else f"p is between {low} and {high}"
    if summary.p_interval is not None:
        ends = " to ".join(f"{end:.3f}" for end in summary.p_interval)
        sentence += f" (with sampling error {ends})"
    fraction = f"{summary.accepted_fraction:.3f}"
    if fraction == low:
        sentence += f"; accepted / drafted = {fraction} is the least it can be."
    else:
        sentence += f", not accepted / drafted = {fraction}."
    if summary.speedup is None:
        return sentence
    value = str(summary.speedup) if summary.speedup.se else f"{summary.speedup.value:.2f}"
    return f"{sentence} Speedup of these rounds {value}."


def _without_p(summary: LogSummary) -> str:
    tokens = summary.tokens_per_round
    if summary.drafted is not None:
        return "p is unknown: no drafted token was tested."
    if tokens is None:
        return "p is unknown: no count and no acceptance by depth is printed, nor tokens per round."
    sentence = f"{tokens.value:.2f} tokens per round"
    if summary.equivalent_p is not None:
        sentence += (
            f", which one p of {summary.equivalent_p:.3f} would explain at γ = {summary.gamma}"
        )
    sentence += "; p itself is unknown without counts or acceptance by depth."
    if summary.speedup is not None:
        sentence += f" Speedup of these rounds {summary.speedup.value:.2f}."
    return sentence


def _all_notes(logs: tuple[ImportedLog, ...]) -> tuple[str, ...]:
    """The notes of each log under its name; what holds for several is said once."""
    of: dict[str, list[str]] = {}
    for log in logs:
        for note in dict.fromkeys(_notes(log)):
            of.setdefault(note, []).append(log.name)
    if len(logs) == 1:
        return tuple(of)
    every = f"all {len(logs)} readings"
    who = {
        note: every if len(logs) == len(names) > 2 else "; ".join(names)
        for note, names in of.items()
    }
    return tuple(f"{names}: {note}" for note, names in who.items())


def _notes(log: ImportedLog) -> list[str]:
    skipped = f", {len(log.skipped)} skipped" if log.skipped else ""
    return [
        f"{log.used:,} of {log.lines:,} lines {'was' if log.used == 1 else 'were'} used{skipped}.",
        f"acceptance rate: {log.definition}",
        *log.notes,
        *(() if log.groups is None else (groups_sentence(log.groups),)),
        *_findings(log),
        *(f"skipped {entry}" for entry in log.skipped),
    ]


def _findings(log: ImportedLog) -> list[str]:
    findings = _one_p(log.counts, log.summary)
    if log.summary.tokens_per_round is None:
        findings.append(_without_rounds(log.summary))
    elif log.summary.tokens_per_round.se is not None:
        findings.append(drawn_note(log.summary.by_unit, log.units))
    several = isinstance(log.counts, AcceptanceTable) and log.counts.length_rule != "fixed"
    if several or drafts_vary(log.summary):
        findings.append(
            "drafts had several lengths: the closed form, which takes one, is left out."
        )
    return findings


def _without_rounds(summary: LogSummary) -> str:
    note = "tokens per round and speedup need the rounds, which this log does not give"
    if summary.gamma and summary.drafted and summary.accepted is not None:
        least = -(-summary.drafted // summary.gamma)
        most = 1.0 + summary.accepted / least
        note += (
            f"; drafts of at most {summary.gamma} tokens make at least {least:,} rounds and "
            f"at most {most:.2f} tokens per round"
        )
    return f"{note}."


def _one_p(counts: Counts | None, summary: LogSummary) -> list[str]:
    """Says so where one p for all depths cannot have given these counts or ratios."""
    if counts is None:
        return _one_p_by_rounding(summary)
    if not isinstance(counts, AcceptanceTable):
        return []
    chance = one_p_probability(counts)
    if math.isnan(chance) or chance > _SURPRISING:
        return []
    shown = f"{chance:.0e}" if chance >= _SMALLEST_SHOWN else f"below {_SMALLEST_SHOWN:.0e}"
    note = f"p is not the same at every depth (chance {shown} if it were)"
    if summary.formula_tokens is not None:
        note += (
            f": the closed form with one p gives {summary.formula_tokens[0]:.2f} tokens per round, "
            f"the counts say {summary.tokens_per_round}"
        )
    if counts.length_rule in {"confidence", "unknown"}:  # then no depth was offered blindly
        return [f"{note}."]
    return [f"{note}; predict other draft lengths by depth."]


def _one_p_by_rounding(summary: LogSummary) -> list[str]:
    ranges = summary.p_by_depth_range or ()
    if not ranges or max(low for low, _ in ranges) <= min(high for _, high in ranges):
        return []
    note = (
        "p is not the same at every depth, by more than rounding explains; predict other draft "
        "lengths by depth."
    )
    return [note]
