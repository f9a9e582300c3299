"""What a reader must know of a fit: what the times do not tell, and what they contradict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from analysis.pass_fit.cells import Cell
from analysis.pass_fit.choosing import Choice
from analysis.pass_fit.design import DRAFT, SHARES, Design
from analysis.pass_fit.doubts import alike_holding, lower_bound, wrong_unit
from simulator import Estimate

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
BY_TOKEN = ("compute_s", "attention_s", "token_s", "operations_share")
_NO_TIME = 1e-6  # of every pass: V(n) reads 1.0000
_TAIL = 1.02  # mean / median from which the tail is worth a note
_UNIT = " Is the unit of the times right?"
_TOO_FAST = 1.2  # times as fast as the machine can: another machine, or another unit
_ALIKE = 2.0  # times the fewest tokens held: more tell weights and cache apart
_UNSURE = 0.25  # of the reading, by which the interval of the weights may miss it
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

    @property
    def compute_seen(self) -> bool:
        """Whether the times say of any term by token that it takes time."""
        design = self.choice.solution.design
        above = (self.choice.solution.theta - design.low) * design.parts.sum(axis=0)
        told = (above / design.seconds[:, None]).max(axis=0) > _NO_TIME
        return bool(any(told[index] for index, name in enumerate(design.names) if name in BY_TOKEN))

    @property
    def over_measured(self) -> float:
        """Fitted / measured time of the target's passes, the median."""
        pairs = zip(self.cells, self.choice.solution.fitted, strict=True)
        return float(np.median([fitted / cell.seconds for cell, fitted in pairs if cell.target]))


def remarks(
    found: Found,
    *,
    parameters: Mapping[str, Estimate],
    at_bound: Iterable[str],
    mean_over_median: float,
    certain: bool,
    plain_s: float,
    memory_share: float | None,
) -> tuple[str, ...]:
    """The notes of a fit, the most consequential first; `plain_s` is the shortest pass over one token."""
    said = [*wrong_unit(plain_s, memory_share), *_drafting(found), *_cache(found, parameters)]
    if not found.compute_seen and "operations_share" not in found.choice.held:
        said.append(lower_bound(float(found.design.width.max())))
    said += [*_overlap(found), *_held(found), *_bounds(at_bound, found.over_measured)]
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


def _cache(found: Found, parameters: Mapping[str, Estimate]) -> list[str]:
    """Says so where all passes hold about as many tokens: the cache is then a constant, as the weights are."""
    holdings = [cell.batch * cell.context for cell in found.cells if cell.target]
    low, high = min(holdings), max(holdings)
    if "kv_s" in found.choice.held:
        within = "weights_s" in found.choice.why.get("kv_s", ())
        return [alike_holding(low, high)] if within and high < _ALIKE * low else []
    weights, cache = parameters.get("weights_s"), parameters.get("kv_s")
    if weights is None or cache is None or weights.interval is None or high >= _ALIKE * low:
        return []
    least, most = weights.interval
    reading = weights.value + cache.value * float(np.mean(holdings))
    return [alike_holding(low, high)] if most - least > 2.0 * _UNSURE * reading else []


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


def _bounds(names: Iterable[str], over_measured: float) -> list[str]:
    said = []
    for name in names:
        if name in SHARES:
            said.append(
                f"{name} ends at 1, its bound: passes are faster than the machine's numbers allow "
                "(fewer bytes, a cache, or another machine)."
                + (_UNIT if name == SHARES[0] and over_measured > _TOO_FAST else "")
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
