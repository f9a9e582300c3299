"""The comparison of systems as a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from analysis.checking import z_limit
from analysis.output import Cell, Report, Row, Section
from analysis.systems.comparing import SystemRow
from analysis.systems.wording import acceptance_of, passes_without_a_draft, speedups_beside_print

OTHERS = "other targets and texts, none comparable"
"""The heading of systems that share target and text with no other."""
_WORDS = (
    "tokens per round is exact; verified is n of V(n), all tokens in the target's pass; draft steps are those "
    "one after the other; round cost is in plain target steps, and tokens per round / round cost is the "
    "speedup of one request without prefill."
)
_NO_COSTS = "No costs are given, so no speedup."


def systems_report(
    rows: Sequence[SystemRow],
    *,
    sizes: Iterable[SystemRow] = (),
    parameters: Sequence[tuple[str, Cell]] = (),
    notes: Sequence[str] = (),
    machine: str = "",
) -> Report:
    """Every system with its tokens per round, nodes and draft steps, what print says, and where it is from.

    `sizes` are the same systems with drafts of other sizes (`over_sizes`). Systems that share target and
    text stand together, the most of them first; the headline names the best of those by speedup where
    costs are known of all, else by tokens per round, and says whose V(n) it is, if `machine` does.
    Raises ValueError without a row.

    >>> from analysis.systems.comparing import compare_systems
    >>> from analysis.systems.presets import preset_system
    >>> names = ("block", "draft-model", "medusa")
    >>> systems_report(compare_systems(map(preset_system, names))).headline
    'Most tokens per round on Vicuna 7B, MT-Bench: draft-model, 2.36 for 5 draft steps, 6 tokens in a pass.'
    """
    if not rows:
        raise ValueError("rows must hold one system at least; got none.")
    groups = grouped(rows)
    larger = tuple(sizes)
    sections = [_systems(groups), _sources(groups)]
    if larger:
        sections.insert(1, _sizes(larger))
    paid = all(row.speedup is not None for row in rows)
    said = (
        _WORDS, passes_without_a_draft(rows), "" if paid else _NO_COSTS, _not_comparable(groups),
        _beside_print(rows), speedups_beside_print(rows), _sampled(rows),
    )  # fmt: skip
    return Report(
        command="strategies",
        parameters=tuple(parameters),
        sections=tuple(sections),
        headline=_headline(groups, machine),
        notes=(*(note for note in said if note), *notes),
    )


def grouped(rows: Sequence[SystemRow]) -> tuple[tuple[str, tuple[SystemRow, ...]], ...]:
    """Rows of one target and text together, the largest group first; those on their own under `OTHERS`.

    A single row is a group by itself.
    """
    counts = Counter(row.system.printed.target for row in rows)
    if len(counts) == 1:
        return ((rows[0].system.printed.target, tuple(rows)),)
    groups = [
        (target, tuple(row for row in rows if row.system.printed.target == target))
        for target, count in counts.most_common()
        if count > 1
    ]
    alone = tuple(row for row in rows if counts[row.system.printed.target] == 1)
    return (*groups, *([(OTHERS, alone)] if alone else []))


def _headline(groups: Sequence[tuple[str, tuple[SystemRow, ...]]], machine: str) -> str:
    target, rows = groups[0]
    every = [row for _, group in groups for row in group]
    if target == OTHERS:
        return "No two of these systems are of one target and text, so none is called the best."
    where = f" on {target}" if target else ""
    if any(row.speedup is None for row in every):
        best = max(rows, key=lambda row: row.tokens_per_round)
        steps = "1 draft step" if best.draft_steps == 1 else f"{best.draft_steps} draft steps"
        return (
            f"Most tokens per round{where}: {best.system.name}, {best.tokens_per_round:.2f} for "
            f"{steps}, {best.verified} tokens in a pass."
        )
    fastest = max(rows, key=lambda row: row.speedup or 0.0)
    gain = fastest.speedup or 0.0
    costs = f"these costs (V(n) on {machine})" if machine else "these costs"
    if gain <= 1.0:
        return f"No system pays{where} at {costs}; {fastest.system.name} comes closest with {gain:.2f}×."
    losing = [row.system.name for row in every if (row.speedup or 0.0) < 1.0]
    rest = f" Slower than plain decoding: {', '.join(losing)}." if losing else ""
    return (
        f"Fastest at {costs}{where}: {fastest.system.name}, {gain:.2f}× from "
        f"{fastest.tokens_per_round:.2f} tokens per round of {fastest.round_cost:.2f} plain steps.{rest}"
    )


def _not_comparable(groups: Sequence[tuple[str, tuple[SystemRow, ...]]]) -> str:
    """What the systems are printed for that share it with no other."""
    alone = [row.system for target, group in groups for row in group if target == OTHERS]
    named = [f"{one.name} ({one.printed.target or 'nothing printed'})" for one in alone]
    return (
        f"Of other targets and texts, so no measure of the rest: {', '.join(named)}."
        if named
        else ""
    )


def _beside_print(rows: Sequence[SystemRow]) -> str:
    """Which printed tokens were predicted, with the errors, and which went into the presets."""
    known = [row for row in rows if row.printed_error is not None]
    predicted = [f"{r.system.name} {r.printed_error:+.1%}" for r in known if not r.system.solved]
    solved = [row.system.name for row in known if row.system.solved]
    said = []
    if predicted:
        said.append(f"Tokens per round against print: {', '.join(predicted)}.")
    if solved:
        said.append(
            f"Solved for, so that they agree by construction and are no test: {', '.join(solved)}."
        )
    return " ".join(said)


def _sampled(rows: Sequence[SystemRow]) -> str:
    """How far the sampled rounds are from the exact values."""
    sampled = [row for row in rows if row.z is not None]
    if not sampled:
        return ""
    far = max(sampled, key=lambda row: abs(row.z or 0.0))
    return (
        f"Simulated, too: the farthest from exact is {far.system.name}, {far.z or 0.0:+.1f} standard errors; "
        f"beyond {z_limit():.1f} one of the two would be wrong."
    )


def _systems(groups: Sequence[tuple[str, tuple[SystemRow, ...]]]) -> Section:
    rows = [row for _, group in groups for row in group]
    sampled = any(row.simulated is not None for row in rows)
    paid = any(row.round_cost is not None for row in rows)
    columns = ["compares_on", "system", "tokens_per_round"]
    columns += ["simulated", "se", "z"] if sampled else []
    columns += ["nodes", "verified", "draft_steps"]
    columns += ["verify_cost", "round_cost", "speedup"] if paid else []
    columns += ["printed_tokens", "printed_speedup", "printed_is"]
    return Section(
        name="systems",
        columns=tuple(columns),
        rows=tuple(
            (target, *_cells(row, sampled=sampled, paid=paid))
            for target, group in groups
            for row in group
        ),
        too_wide=tuple(
            name
            for name in ("simulated", "se", "z", "nodes", "verify_cost", "printed_is")
            if name in columns
        ),
        grouped=True,
    )


def _cells(row: SystemRow, *, sampled: bool, paid: bool) -> Row:
    cells: list[Cell] = [row.system.name, row.tokens_per_round]
    if sampled:
        simulated = row.simulated
        cells += [
            None if simulated is None else simulated.value,
            None if simulated is None else simulated.se,
            row.z,
        ]
    cells += [row.nodes, row.verified, row.draft_steps]
    if paid:
        cells += [row.verify_cost, row.round_cost, row.speedup]
    printed = row.system.printed
    cells += [printed.tokens_per_round, printed.speedup, _role(row)]
    return tuple(cells)


def _role(row: SystemRow) -> str:
    if row.printed_error is None:
        return ""
    return "solved for" if row.system.solved else f"predicted, {row.printed_error:+.1%}"


def _sizes(rows: Sequence[SystemRow]) -> Section:
    paid = any(row.round_cost is not None for row in rows)
    columns = ("sized_system", "nodes", "tokens_per_round", "verified", "draft_steps")
    more = ("round_cost", "speedup") if paid else ()
    return Section(
        name="sizes",
        columns=(*columns, *more),
        rows=tuple(
            (
                row.system.name, row.nodes, row.tokens_per_round, row.verified, row.draft_steps,
                *((row.round_cost, row.speedup) if paid else ()),
            )
            for row in rows
        ),
        grouped=True,
    )  # fmt: skip


def _sources(groups: Sequence[tuple[str, tuple[SystemRow, ...]]]) -> Section:
    return Section(
        name="sources",
        columns=("from", "draft_from", "target", "source", "url", "acceptance"),
        rows=tuple(
            (
                row.system.name, row.system.origin, row.system.printed.target, row.system.printed.source,
                row.system.printed.url, acceptance_of(row),
            )
            for _, group in groups
            for row in group
        ),
        too_wide=("target", "url"),  # targets are headings and in a note
    )  # fmt: skip
