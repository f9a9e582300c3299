"""Questions about heads, trees and look-ups: the page Systems."""

from __future__ import annotations

from dataclasses import replace

from analysis.systems.comparing import SystemRow
from app_pages.questions.asking import Question
from app_pages.systems import results as system_results
from app_pages.systems import sizes as system_sizes
from app_pages.systems.choice import Choice

_BUSY = 64


def _gains(choice: Choice) -> dict[str, float]:
    rows: tuple[SystemRow, ...] = system_results.exact_rows(choice.costly)
    return {row.system.name: row.speedup for row in rows if row.speedup is not None}


def _ends(gains: dict[str, float]) -> str:
    best, worst = max(gains, key=gains.__getitem__), min(gains, key=gains.__getitem__)
    return f"**{best}** is fastest with {gains[best]:.2f}×, **{worst}** slowest with {gains[worst]:.2f}×"


def fastest(choice: Choice) -> str:
    """First and last at these costs."""
    losing = [name for name, gain in _gains(choice).items() if gain <= 1.0]
    rest = f" These lose: {', '.join(losing)}." if losing else " None loses."
    return f"{_ends(_gains(choice))}.{rest}"


def crowded(choice: Choice) -> str:
    """What a batch does to each."""
    if choice.passes == "slope":
        raise ValueError(
            "A straight line knows no batch: take V(n) from a machine, then ask again."
        )
    one, many = (
        _gains(replace(choice, runs=replace(choice.runs, batch=batch))) for batch in (1, _BUSY)
    )
    kept = {name: many[name] / one[name] for name in one}
    first, last = min(kept, key=kept.__getitem__), max(kept, key=kept.__getitem__)
    return (
        f"From batch 1 to {_BUSY} **{first}** goes from {one[first]:.2f}× to {many[first]:.2f}× and loses "
        f"most, **{last}** from {one[last]:.2f}× to {many[last]:.2f}× and loses least. Every node of a tree is "
        f"computed for every request. At batch {_BUSY} {_ends(many)}."
    )


def free_steps(choice: Choice) -> str:
    """Who gains most from a free draft."""
    now, free = _gains(choice), _gains(replace(choice, cost_ratio=0.0, own=()))
    most = max(now, key=lambda name: free[name] / now[name])
    return (
        f"**{most}**: from {now[most]:.2f}× to {free[most]:.2f}×, as it drafts in the most steps one after the "
        f"other. Then {_ends(free)}; what still differs is acceptance and the width of the pass."
    )


def too_many(choice: Choice) -> str:
    """Where more nodes stop paying for the system that is looked at."""
    found = system_sizes.sizes_of(choice.costly, choice.focus)
    best = found.best
    words = [f"**{choice.focus}** is fastest with **{best.nodes}** nodes, {best.speedup:.2f}×"]
    if found.loses_from is not None:
        words.append(f"from {found.loses_from} on a further one loses")
    if found.behind_from is not None:
        words.append(f"from {found.behind_from} on plain decoding is faster")
    return "; ".join(words) + "."


SYSTEMS: tuple[Question[Choice], ...] = (
    Question(text="Which system is fastest here, and does one lose?", answer=fastest),
    Question(
        text="*Look closer* at **medusa** or **eagle-2** and pull the nodes down. Where is it fastest?",
        answer=too_many,
    ),
    Question(
        text=f"Raise the batch to {_BUSY}. Which systems lose most, and why not the chains?",
        answer=crowded,
    ),
    Question(text="Set **c** to 0. Who gains most, and what remains?", answer=free_steps),
)
