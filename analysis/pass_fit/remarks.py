"""What a reader must know of a fit: what the times do not tell, and what they contradict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from analysis.pass_fit.cells import Cell
from analysis.pass_fit.choosing import Choice
from analysis.pass_fit.design import DRAFT, SHARES, Design

MEANING = {
    "weights_s": "reading weights",
    "compute_s": "computing a token",
    "kv_s": "reading the cache",
    "experts_s": "reading the experts",
    "attention_s": "attending to a token of context",
    "fixed_s": "what else a pass takes",
    "token_s": "what else a token takes",
    "several_s": "what passes over several tokens take beside",
    "memory_share": "the share of bandwidth",
    "operations_share": "the share of arithmetic",
    "draft_weights_s": "a draft step",
    "draft_compute_s": "a drafted token",
    "draft_kv_s": "the draft's cache",
    "draft_round_s": "what drafting takes beside its steps",
}
_NO_OVERLAP = (
    "The times do not show whether reading and computing overlap{}: one after the other is taken "
    "(k = 1), and the intervals hold for that alone."
)
_ONE_SIDE = "all measured passes lie on the same side of the knee"
_TAIL = 1.02  # mean / median from which the tail is worth a note
_SINGLE = 0.1  # of the one-token pass by which its fit is worth a note


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """A fit before it is put in words."""

    design: Design
    cells: tuple[Cell, ...]
    choice: Choice
    given: float | None

    @property
    def told_apart(self) -> bool:
        """Whether drafting, where it is in the times, is told from a wider pass."""
        rounds = any(cell.draft_steps for cell in self.cells)
        return not (rounds and set(DRAFT[:2]) <= set(self.choice.held))

    @property
    def knee_seen(self) -> bool:
        """Whether some passes read for longer than they compute, and some the other way round."""
        design = self.choice.solution.design
        memory, compute, _ = design.known + design.parts @ self.choice.solution.theta
        target = design.width > 0.0
        longer = memory[target] > compute[target]
        return bool(longer.any() and not longer.all())


def remarks(
    found: Found, *, at_bound: Iterable[str], mean_over_median: float, certain: bool
) -> tuple[str, ...]:
    """The notes of a fit, the most consequential first."""
    said = [*_drafting(found), *_overlap(found), *_held(found), *_bounds(at_bound)]
    if not certain:
        said.append(
            "There are no more measured settings (batch, tokens, drafting) than parameters: how far off they "
            "are is not known."
        )
    single = _single_token(found)
    if single is not None:
        said.append(single)
    if mean_over_median > _TAIL:
        said.append(
            f"Times are medians; all times together are {mean_over_median - 1.0:.0%} longer (slow steps)."
        )
    return tuple(said)


def _drafting(found: Found) -> list[str]:
    if found.told_apart:
        return []
    return [_NOT_APART]


_NOT_APART = (
    "Drafting and a wider pass cannot be told apart: each further draft step comes with a further token "
    "to verify, so that the pass shown includes its drafting. Measure another batch, other "
    "numbers of draft tokens, or drafting alone."
)


def _overlap(found: Found) -> list[str]:
    if found.given is not None:
        return []
    if not found.choice.contradicted:
        if found.choice.turns is not None:
            return []
        return [_NO_OVERLAP.format("" if found.knee_seen else f" ({_ONE_SIDE})")]
    if found.knee_seen:
        return []
    return [f"The overlap is read from a bend in the times alone: {_ONE_SIDE}."]


def _held(found: Found) -> list[str]:
    """Parameters without effect in one sentence, those that are within others in another."""
    idle, within = [], []
    for name, like in found.choice.why.items():
        if name in DRAFT and (not found.told_apart or name in DRAFT[2:]):
            continue
        value = found.choice.held[name]
        taken = 1.0 / value if name in SHARES else value
        if like:
            within.append(f"{MEANING[name]} ({name}) in {' and '.join(MEANING[x] for x in like)}")
        else:
            idle.append(f"{MEANING[name]} ({name}: {taken:g} is taken)")
    said = []
    if idle:
        said.append(f"The times say nothing of {', '.join(idle)}.")
    if within:
        said.append(
            f"Terms that these settings cannot tell apart are counted together: {'; '.join(within)}."
        )
    return said


def _bounds(names: Iterable[str]) -> list[str]:
    said = []
    for name in names:
        if name in SHARES:
            said.append(
                f"{name} ends at 1, its bound: passes are faster than the machine's numbers allow "
                "(fewer bytes, a cache, or another machine)."
            )
        else:
            said.append(
                f"{MEANING[name][0].upper()}{MEANING[name][1:]} ({name}): the times show none."
            )
    return said


def _single_token(found: Found) -> str | None:
    """Kernels for one token differ from those for several: a step that no term of the formula has."""
    ratios = [
        fitted / cell.seconds
        for cell, fitted in zip(found.cells, found.choice.solution.fitted, strict=True)
        if cell.target and cell.batch * cell.tokens == 1.0 and not cell.draft_steps
    ]
    if not ratios or all(cell.batch * cell.tokens == 1.0 for cell in found.cells if cell.target):
        return None
    off = float(np.median(ratios)) - 1.0
    if abs(off) < _SINGLE:
        return None
    return (
        f"Passes over a single token are fitted {off:+.0%} off: programs often compute them "
        "differently, and V(n), which is relative to them, is off by as much."
    )
