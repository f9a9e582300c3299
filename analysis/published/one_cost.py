"""speedup = tokens per round / cost of a round: the cost from other rows, the speedup of the one left out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from analysis.published.arithmetic import is_mean, table_key
from analysis.published.prediction import Family, Prediction
from analysis.published.rows import PublishedRow, published_rows, value_of

SPEC_BENCH = "Spec-Bench leaderboard 2025"
MACHINES = ("RTX 3090 FP16", "A100 80G FP16")
OVERALL = "OVERALL"
"""Its rows over all tasks, the only ones with tokens per round."""
_OTHER_TARGETS = (("Medusa 2024", "Table 1"), ("Hydra 2024", "figure of Hydra++"))


def cost_of(rows: Sequence[PublishedRow]) -> float:
    """The cost of a round in plain steps, tokens per round / speedup, as a geometric mean over rows.

    The tables are compared by ratio, so that the mean is one of logarithms. ValueError without a row.
    """
    if not rows:
        raise ValueError("rows must hold at least one row; got none.")
    logs = [
        math.log(value_of(row.tokens_per_round) / value_of(row.speedup_measured)) for row in rows
    ]
    return math.exp(math.fsum(logs) / len(logs))


def cost_of_other_tasks() -> Family:
    """One cost for all tasks of a method, target and temperature; each task from the cost of the others."""
    return Family(
        name="cost of the other tasks",
        kind="prediction",
        asks="is the speed of a task its tokens per round over one cost of a round?",
        misses="prompts read, contexts held and lengths of drafts that differ between tasks",
        predictions=tuple(
            each
            for rows in task_tables()
            for each in left_out(
                rows,
                "other tasks",
                f"{rows[0].method}, {rows[0].target}, T = {rows[0].temperature}",
            )
        ),
    )


def cost_of_other_targets() -> Family:
    """The cost of a round in plain steps from other targets, or other settings, of the same method."""
    return Family(
        name="cost of other targets",
        kind="prediction",
        asks="is the cost of a round, in plain steps, the same for another target or setting?",
        misses="costs that do not scale with the target: experts, heads, wider passes",
        predictions=(*_targets(), *_settings(), *_mixture()),
    )


def other_machine() -> Family:
    """Spec-Bench on an A100 from the RTX 3090: one ratio of speeds per method, from the other tasks.

    speedup on A100 = speedup on 3090 · (cost on 3090 / cost on A100), since tokens per round belong to models
    and text.
    """
    return Family(
        name="other machine",
        kind="prediction",
        asks="does a machine change the speed of all tasks by one factor?",
        misses="programs that changed between the two runs, and tasks whose tokens per round differ",
        predictions=tuple(each for table in _spec_bench().values() for each in _by_ratio(table)),
        inputs=_first_machine(),
    )


def cost_on_other_machine() -> Family:
    """Spec-Bench's rows over all tasks: tokens on the A100 / the cost of a round on the RTX 3090."""
    return Family(
        name="cost on the other machine",
        kind="prediction",
        asks="is the cost of a round, in plain steps, the same on another machine?",
        misses="it is not: machines differ in arithmetic beside bandwidth, so measure the cost on your own",
        predictions=tuple(
            Prediction(
                row=pair[1], quantity="speedup", printed=value_of(pair[1].speedup_measured),
                predicted=value_of(pair[1].tokens_per_round) / cost_of([pair[0]]),
                inputs=f"its tokens per round, cost on {MACHINES[0]}", group=method,
                guess=value_of(pair[0].speedup_measured),
            )
            for method, table in _spec_bench().items()
            for pair in [table[OVERALL]]
        ),
        inputs=_first_machine(),
    )  # fmt: skip


def task_tables() -> tuple[tuple[PublishedRow, ...], ...]:
    """Rows with tokens per round and speedup that differ in their task only, two or more of them."""
    found: dict[tuple[str, ...], list[PublishedRow]] = {}
    for row in published_rows():
        if _has_both(row) and row.task and not is_mean(row) and row.task != OVERALL:
            found.setdefault(table_key(row), []).append(row)
    return tuple(tuple(rows) for rows in found.values() if len({row.task for row in rows}) > 1)


def _has_both(row: PublishedRow) -> bool:
    return row.tokens_per_round is not None and row.speedup_measured is not None


def left_out(rows: Sequence[PublishedRow], what: str, group: str) -> Iterable[Prediction]:
    """Each row's speedup from its tokens per round and the cost of all the others."""
    for row in rows:
        others = [other for other in rows if other is not row]
        yield _by_cost(row, others, what, group)


def _by_cost(
    row: PublishedRow, others: Sequence[PublishedRow], what: str, group: str
) -> Prediction:
    """The guess is the mean speedup of the others."""
    gains = [value_of(other.speedup_measured) for other in others]
    return Prediction(
        row=row, quantity="speedup", printed=value_of(row.speedup_measured),
        predicted=value_of(row.tokens_per_round) / cost_of(others),
        inputs=f"its tokens per round, cost of the {what}", group=group,
        guess=math.fsum(gains) / len(gains),
    )  # fmt: skip


def _targets() -> Iterable[Prediction]:
    for source, table in _OTHER_TARGETS:
        rows = published_rows(source, table)
        for method in sorted({row.method for row in rows}):
            same = [row for row in rows if row.method == method]
            yield from left_out(same, "other targets", f"{source}, {method}")


def _settings() -> Iterable[Prediction]:
    rows = [row for row in published_rows("Lookahead decoding 2024", "Table 3") if _has_both(row)]
    yield from left_out(rows, "other settings", "Lookahead")


def _mixture() -> Iterable[Prediction]:
    dense = [
        row
        for row in published_rows("EAGLE 2024", "Table 1")
        if row.temperature == "0" and _has_both(row)
    ]
    for row in published_rows("EAGLE 2024", "Table 3"):
        yield _by_cost(row, dense, "dense targets", row.target)


def _spec_bench() -> dict[str, dict[str, tuple[PublishedRow, PublishedRow]]]:
    """The rows of both machines by method and task."""
    found: dict[str, dict[str, dict[str, PublishedRow]]] = {}
    for row in published_rows(SPEC_BENCH):
        found.setdefault(row.method, {}).setdefault(row.task, {})[row.hardware] = row
    return {
        method: {task: (pair[MACHINES[0]], pair[MACHINES[1]]) for task, pair in tasks.items()}
        for method, tasks in found.items()
    }


def _first_machine() -> frozenset[int]:
    return frozenset(
        row.number for row in published_rows(SPEC_BENCH) if row.hardware == MACHINES[0]
    )


def _by_ratio(table: dict[str, tuple[PublishedRow, PublishedRow]]) -> Iterable[Prediction]:
    tasks = {task: pair for task, pair in table.items() if task != OVERALL}
    logs = {
        task: math.log(value_of(row.speedup_measured) / value_of(given.speedup_measured))
        for task, (given, row) in tasks.items()
    }
    for task, (given, row) in tasks.items():
        others = [ratio for other, ratio in logs.items() if other != task]
        known = value_of(given.speedup_measured)
        yield Prediction(
            row=row, quantity="speedup", printed=value_of(row.speedup_measured),
            predicted=known * math.exp(math.fsum(others) / len(others)),
            inputs=f"its speedup on {MACHINES[0]}, ratio of the other tasks", group=row.method, guess=known,
        )  # fmt: skip
