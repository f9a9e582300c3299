"""The report of measured runs: what was gained, what a round cost, and how well it was predicted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from analysis.output import Cell, Report, Section
from analysis.runs.prediction import RunSummary
from analysis.runs.rows import TABLES
from analysis.runs.verdict import advice, findings, headline

FORMATS = ("png", "svg", "pdf")
_WORDS = (
    "speedup is of decoding, per token that arrived; whole_request has prefill in it. V is the pass "
    "over γ + 1 tokens; costs are in plain steps; draft, pass and outside are shares of decoding "
    "time. An error is predicted / measured - 1."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRun:
    """A run with the name of its folder and the facts of where it was measured, as (what, value)."""

    name: str
    summary: RunSummary
    facts: tuple[tuple[str, str], ...] = ()


def run_report(runs: tuple[NamedRun, ...], parameters: tuple[tuple[str, Cell], ...] = ()) -> Report:
    """The report of runs, side by side if there are several. Raises ValueError without a run.

    CSV prints the first section, which has a row per run and draft length and every speedup.
    """
    if not runs:
        raise ValueError("runs must hold one run at least; got none.")
    sections = [
        Section(
            name=table.name,
            columns=("run", *table.columns),
            rows=tuple((run.name, *row) for run in runs for row in table.rows(run.summary)),
            too_wide=table.too_wide,
            grouped=True,
        )
        for table in TABLES
    ]
    facts = tuple((run.name, *fact) for run in runs for fact in run.facts)
    sections.append(
        Section(name="facts", columns=("run", "fact", "value"), rows=facts, grouped=True)
    )
    return Report(
        command="report",
        parameters=parameters,
        sections=tuple(section for section in sections if section.rows),
        headline="\n".join(
            _named(run, runs, f"{headline(run.summary)} {advice(run.summary)}") for run in runs
        ),
        notes=(
            *(_named(run, runs, note) for run in runs for note in findings(run.summary)),
            _WORDS,
        ),
    )


def figure_kind(path: Path) -> str:
    """The format that a figure's name ends in. Raises ValueError for none of .png, .svg and .pdf.

    >>> figure_kind(Path("run.SVG"))
    'svg'
    """
    kind = path.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        names = ", ".join(f".{name}" for name in FORMATS)
        raise ValueError(f"the figure's name must end in one of {names}; got {str(path)!r}.")
    return kind


def _named(run: NamedRun, runs: tuple[NamedRun, ...], sentence: str) -> str:
    return sentence if len(runs) == 1 else f"{run.name}: {sentence}"
