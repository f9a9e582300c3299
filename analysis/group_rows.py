"""Groups of requests as rows, and what their test says in a sentence."""

from __future__ import annotations

from analysis.groups import Groups
from analysis.output import Cell, Row
from simulator import Estimate

GROUPS = (
    "group", "units", "rounds", "tokens_per_round", "low", "high",
    "accepted_first", "accepted_fraction",
)  # fmt: skip


def group_rows(groups: Groups) -> tuple[Row, ...]:
    """A line per group; the ends are of the tokens per round, by whole requests."""
    return tuple(
        (
            each.label,
            each.units,
            each.rounds,
            each.tokens_per_round.value,
            *_ends(each.tokens_per_round),
            each.first.value,
            each.accepted_fraction.value,
        )
        for each in groups.groups
    )


def groups_sentence(groups: Groups) -> str:
    """Whether the groups differ, by which test, and what was left out."""
    if not groups.groups:
        said = "There is no group to show."
    elif len(groups.groups) == 1:
        said = "There is one group only: nothing to compare."
    else:
        relation = "at most" if groups.p_value <= groups.smallest_p else "="
        verdict = "differ" if groups.differ else "cannot be told apart"
        said = (
            f"The groups {verdict} in tokens per round (p {relation} {groups.p_value:.2g}, "
            f"{groups.method} test over whole units)."
        )
    if groups.trend is not None:
        said += f" From first to last along a line: {groups.trend.value:+.2f}"
        ends = groups.trend.interval
        said += "." if ends is None else f" [{ends[0]:+.2f}, {ends[1]:+.2f}] tokens per round."
    if groups.unlabelled:
        said += f" Without the label, left out: {groups.unlabelled}."
    if groups.unusable:
        said += f" Without counts by depth, left out: {groups.unusable}."
    return said


def _ends(value: Estimate) -> tuple[Cell, Cell]:
    return (None, None) if value.interval is None else value.interval
