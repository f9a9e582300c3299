"""The report of measured runs: what was gained, what a round cost, and how well it was predicted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from analysis.output import Cell, Report, Row, Section
from analysis.runs.prediction import RunSummary
from analysis.runs.rows import TABLES
from analysis.runs.verdict import advice, findings, headline

FORMATS = ("png", "svg", "pdf")
UNEVEN = 0.05
"""How much longer a plain step of the same target may take before a reader is told."""
_WORDS = (
    "speedup is of decoding, per token that arrived; whole_request has prefill in it. V is {v}; costs "
    "are in plain steps; draft, pass and outside are shares of decoding time. An error is predicted / "
    "measured - 1."
)


_V, _V_OF_TREES = "the pass over γ + 1 tokens", "the mean pass over the whole tree"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRun:
    """A run with the name of its folder and the facts of where it was measured, as (what, value).

    `system` says what drafted; `conditions` are the facts that runs must share to be compared.
    """

    name: str
    summary: RunSummary
    facts: tuple[tuple[str, str], ...] = ()
    system: str = ""
    conditions: tuple[tuple[str, str], ...] = ()


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
    several = len({run.system for run in runs}) > 1
    if several:
        sections.insert(1, systems_section(runs))
    trees = [run.summary.branches for run in runs]
    v = _V if not any(trees) else _V_OF_TREES if all(trees) else f"{_V}, with trees {_V_OF_TREES}"
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
            *((*unlike(runs), *uneven_pace(runs)) if several else ()),
            _WORDS.format(v=v),
        ),
    )


def systems_section(runs: tuple[NamedRun, ...]) -> Section:
    """Every run at its best draft length in one row: what it verifies, drafts, costs, gains.

    `foretold` is by the accuracies of heads on held-out text, `predicted` by the acceptance at another
    draft length, both with the run's own costs; `closure` puts its own acceptance in as well, and is
    left out where one draft length was measured alone, which it would explain by construction.
    `measured` is against the plain steps of the same run, `plain_ms`; `token_ms` is the clock's, per token.
    """
    return Section(
        name="systems",
        columns=(
            *("run", "system", "gamma", "tokens_per_round", "nodes", "width", "draft_steps", "V"),
            *("round_cost", "foretold", "predicted", "closure", "measured", "low", "high"),
            *("plain_ms", "token_ms"),
        ),
        rows=tuple(_system(run) for run in runs),
        too_wide=("width", "round_cost", "low", "high", "plain_ms"),
    )


def _system(run: NamedRun) -> Row:
    summary = run.summary
    best = summary.at(summary.best)
    foretold = next((f for f in summary.foretold if f.gamma == best.gamma), None)
    foreseen = next((p for p in summary.predictions if p.gamma == best.gamma and p.foreseen), None)
    closure = next(c for c in summary.closures if c.gamma == best.gamma)
    plain_ms = 1e3 * summary.plain_step_s.value
    return (
        run.name,
        run.system,
        best.gamma,
        best.tokens_per_round.value,
        best.nodes,
        best.width,
        best.draft_steps.value,
        best.verify_cost.value,
        best.round_cost.value,
        None if foretold is None else foretold.forecast.speedup.value,
        None if foreseen is None else foreseen.by_depth.speedup.value,
        closure.speedup.value if len(summary.measured) > 1 else None,
        best.speedup.value,
        *(best.speedup.interval or (None, None)),
        plain_ms,
        plain_ms / best.speedup.value,
    )


def unlike(runs: tuple[NamedRun, ...]) -> tuple[str, ...]:
    """A sentence naming the conditions in which runs differ, so that their rows cannot be compared."""
    values: dict[str, set[str]] = {}
    for run in runs:
        for what, value in run.conditions:
            values.setdefault(what, set()).add(value)
    different = [what for what, found in values.items() if len(found) > 1]
    if not different:
        return ()
    names = ", ".join(different)
    return (f"The rows of `systems` are not to be compared: the runs differ in {names}.",)


def uneven_pace(runs: tuple[NamedRun, ...]) -> tuple[str, ...]:
    """A sentence if plain steps took longer in one run than in another, by more than UNEVEN."""
    steps = [1e3 * run.summary.plain_step_s.value for run in runs]
    if max(steps) <= (1.0 + UNEVEN) * min(steps):
        return ()
    sentence = (
        f"The machine's pace differed between the runs: a plain step took {min(steps):.3g} to "
        f"{max(steps):.3g} ms. A speedup is against the plain steps of its own run, which took turns "
        "with the drafts; between runs look at token_ms too."
    )
    return (sentence,)


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
