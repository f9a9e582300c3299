"""The page of measured runs, from what `specdec report` says of the folders kept in `real_runs/data`.

python docs/make_results.py           prints it
python docs/make_results.py --write   writes docs/results/real-runs.md
"""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.cli import app

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "real_runs" / "data"
PAGE = ROOT / "docs" / "results" / "real-runs.md"
GROUPS = {
    "runs": "Two pairs, every draft length",
    "systems": "Draft model, prompt lookup, Lookahead, Medusa and EAGLE on the tiny target, greedy",
    "systems_t1": "Medusa and EAGLE at temperature 1",
    "systems_smollm2": "EAGLE on SmolLM2",
    "families": "Families of targets",
}
"""Headings by folder; one that is not named here is shown under its own name."""
FACTS = (
    *("target", "drafter", "draft", "rule", "computed on", "processor"),
    *("prompts", "measured", "against plain decoding"),
)
HEAD = """# Measured runs

Runs of actual models that are kept in `real_runs/data`, as `specdec report` reads them. This page is made
by `python docs/make_results.py --write`; a test compares it with what the command says.

*Speedup* is of decoding, by the clock, against the plain steps of the same run, with a 95 % interval from
drawing the prompts again as wholes. *Closure* is the formula with the run's own acceptance, V, c and
overhead: how far it is from the clock. *By depth* and *one p* know the acceptance at the largest γ only and
foresee the others; *article* takes V = 1 besides. Errors are predicted / measured − 1. V is the pass of a
round in plain steps.
"""
BEST = "| run | drafter | γ | tokens per round | V | speedup | closure | article |"
LENGTHS = "| γ | tokens per round | V | speedup | closure | by depth | one p | article |"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A run folder and what the command says of it."""

    folder: Path
    said: dict[str, Any]

    @property
    def facts(self) -> dict[str, str]:
        """What was run, on what, and when."""
        return {row["fact"]: row["value"] for row in self.said["facts"]}

    @property
    def best(self) -> dict[str, Any]:
        """The draft length that was fastest by the clock."""
        return max(self.said["by_gamma"], key=lambda row: row["speedup"])


def page() -> str:
    """The whole page."""
    lines = [
        HEAD,
        "## All of them, at their best draft length",
        "",
        BEST,
        f"|---|---|{'---:|' * 6}",
    ]
    sections: list[str] = []
    for group, runs in kept_runs().items():
        lines += [_best(run) for run in runs]
        sections += ["", f"## {GROUPS.get(group, group)}"]
        sections += [line for run in runs for line in _run(run)]
    return "\n".join([*lines, *sections, ""])


def kept_runs() -> dict[str, list[Kept]]:
    """All runs by the folder that holds them, as the headings are ordered."""
    groups: dict[str, list[Kept]] = {}
    for folder in sorted(path.parent for path in DATA.rglob("run.json")):
        group = folder.parent.relative_to(DATA).as_posix()
        groups.setdefault(group, []).append(Kept(folder=folder, said=_report(folder)))
    return {name: groups[name] for name in sorted(groups, key=_place)}


def _place(group: str) -> tuple[int, str]:
    return (list(GROUPS).index(group) if group in GROUPS else len(GROUPS), group)


def _best(run: Kept) -> str:
    row = run.best
    article = next(
        (one["article_error"] for one in _predictions(run) if one["gamma"] == row["gamma"]), None
    )
    where = run.folder.relative_to(DATA).as_posix()
    cells = [f"`{where}`", run.facts["drafter"], *_measured(row), _percent(article)]
    return _cells(cells)


def _run(run: Kept) -> list[str]:
    foreseen = {row["gamma"]: row for row in _predictions(run)}
    rows = [_length(row, foreseen.get(row["gamma"], {})) for row in run.said["by_gamma"]]
    facts = [f"- {name}: {run.facts[name]}" for name in FACTS if name in run.facts]
    where = run.folder.relative_to(ROOT).as_posix()
    lines = ["", f"### {where.removeprefix('real_runs/data/')}", "", run.said["headline"], ""]
    lines += [LENGTHS, f"|{'---:|' * 8}", *rows, "", *facts]
    return [*lines, f"- `specdec report {where}` says the rest"]


def _length(row: dict[str, Any], foreseen: dict[str, Any]) -> str:
    known = foreseen.get("role") == "the source"
    by_depth, one_p = (
        "known" if known else _percent(foreseen.get(name))
        for name in ("by_depth_error", "one_p_error")
    )
    return _cells([*_measured(row), by_depth, one_p, _percent(foreseen.get("article_error"))])


def _measured(row: dict[str, Any]) -> list[str]:
    speed = f"{row['speedup']:.2f}× [{row['low']:.2f}, {row['high']:.2f}]"
    tokens, width = f"{row['tokens_per_round']:.3f}", f"{row['V']:.3f}"
    return [f"{row['gamma']}", tokens, width, speed, _percent(row["closure_error"])]


def _predictions(run: Kept) -> list[dict[str, Any]]:
    """Empty for trees that every round grows anew: no depth is predicted from another."""
    return run.said.get("predictions", [])


def _cells(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _percent(error: float | None) -> str:
    return "–" if error is None else f"{100 * error:+.1f} %".replace("-", "−")


def _report(folder: Path) -> dict[str, Any]:
    printed = io.StringIO()
    with redirect_stdout(printed):
        app(["report", str(folder), "--format", "json"], standalone_mode=False)
    return json.loads(printed.getvalue())


def main() -> None:
    """Print the page, or write it."""
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(page(), end="")


if __name__ == "__main__":
    main()
