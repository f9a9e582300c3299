"""What is said of the snapshots of one text: what lies between them, what is missing, what was reset."""

from __future__ import annotations

from collections.abc import Sequence

from real_runs.engines.counts.wording import counted
from real_runs.engines.prometheus.exposition import Series, Snapshots


def what_is_counted(
    snapshots: Snapshots, series: Sequence[Series], *, whole: bool, before: bool
) -> list[str]:
    """Notes on the series of one model; `before` where the first snapshot is of an earlier text."""
    engines = sorted({each.label("engine") for each in series})
    notes = []
    if whole:
        notes.append(
            "One snapshot: the counters are those since the server started, warm-up included; two "
            "snapshots give what lies between them."
        )
    elif before and snapshots.number == 2:
        notes.append("The difference of the snapshot before and this one is counted.")
    elif snapshots.number > 1:
        first, last = snapshots.lines[0], snapshots.lines[-1]
        earlier = "the snapshot before" if before else f"line {first}"
        notes.append(
            f"{snapshots.number} snapshots: the difference of the last (line {last}) and the first "
            f"({earlier}) is counted."
        )
    if len(engines) > 1:
        notes.append(f"Summed over {counted(len(engines), 'engine')}.")
    resets = sorted({each.label("engine") for each in series if each.reset})
    if resets and not whole:
        whose = f" of engine {', '.join(resets[:8])}" if any(resets) else ""
        notes.append(
            f"The counters{whose} were reset between snapshots (a restart): what was counted "
            "between the last snapshot before it and the reset is lost, and what came after is "
            "counted from 0."
        )
    late = {each.label("engine") for each in series if each.first_snapshot > 0}
    if late and not whole:
        notes.append("Series that are not in the first snapshot are counted from 0.")
    if any(each.last_snapshot < snapshots.number - 1 for each in series):
        notes.append(
            "Some series are missing in the last snapshot: they count up to their last one."
        )
    if snapshots.too_many:
        notes.append("Not all series are kept: there are too many.")
    return notes


def nothing_between(snapshots: Snapshots, *, before: bool) -> str:
    """Why snapshots whose counters of drafts are the same give no counts."""
    if before:
        return "the counters are those of the snapshot before: nothing was drafted in between"
    first, last = snapshots.lines[0], snapshots.lines[-1]
    return (
        f"the counters of the last snapshot (line {last}, where a series comes again) are those of the "
        f"first (line {first}): nothing was drafted in between, or one snapshot has every series twice"
    )
