"""What the reproduction of Apertus owes to its assumptions: the same fit under others."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from analysis.hardware import Machine
from analysis.published_load.apertus import ApertusFit, Assumptions, fit_apertus
from analysis.published_load.choices import choices
from analysis.published_load.errors import Errors, errors_of
from analysis.published_load.machines import GH200
from analysis.published_load.step_profile import step_profile

UNFITTED = "the same, draft factor 1"  # then nothing is fitted to the table of speedups
_SHORT, _ALL = 256, 16384  # tokens
_TOLD = 1e-6
_GUESSED = 1000.0  # tokens held, if one knew nothing of the requests


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """A fit under other assumptions: its two numbers, errors on both halves, and its best lengths.

    `share_is` says where the arithmetic comes from: "fitted", "fixed", "at its limit" (no machine does
    more than its maker says), or "not told" where a tenth more or less leaves the fitted rows as they are:
    then it is what one assumes of any machine.
    """

    assumptions: Assumptions
    operations_share: float
    share_is: str
    draft_factor: float
    fitted: Errors
    held_out: Errors
    best_gammas: tuple[int, ...]


def alternatives() -> tuple[Assumptions, ...]:
    """The chosen assumptions first, then one change at a time, then the simplest and a control.

    The simplest know nothing of the requests or the steps: no prompts, tokens held and an overlap as guessed,
    drafting as a share of a target's pass.
    """
    default = Machine(accelerator=GH200)
    profile = step_profile()
    return (
        Assumptions(name="chosen"),
        Assumptions(
            name="arithmetic of the step profile",
            operations_share=profile.machine.operations_share,
        ),
        Assumptions(
            name=UNFITTED, operations_share=profile.machine.operations_share, draft_factor=1.0
        ),
        Assumptions(name=f"step profile to {_SHORT} tokens", machine=step_profile(_SHORT).machine),
        Assumptions(name=f"step profile to {_ALL:,} tokens", machine=step_profile(_ALL).machine),
        Assumptions(name="500 tokens held", context=500.0),
        Assumptions(name="2,000 tokens held", context=2000.0),
        Assumptions(name="drafter reads the prompt", drafter_reads_prompt=True),
        Assumptions(name="draft: share of a pass", draft_share=True),
        Assumptions(name="k = 1, no step profile", machine=default),
        Assumptions(name="k = 2, no step profile", machine=_with_overlap(2.0)),
        Assumptions(name="roofline, no step profile", machine=_with_overlap(math.inf)),
        Assumptions(name="no prompts", prompts=False),
        *(
            Assumptions(
                name=f"no prompts, {label}, {held:,.0f} held",
                machine=_with_overlap(overlap),
                prompts=False,
                context=held,
                draft_share=True,
            )
            for overlap, label, held in (
                (1.0, "k = 1", 500.0),
                (1.0, "k = 1", _GUESSED),
                (1.0, "k = 1", 2000.0),
                (2.0, "k = 2", _GUESSED),
                (math.inf, "roofline", _GUESSED),
            )
        ),
        Assumptions(name="no arithmetic: control", arithmetic=False),
    )


def sensitivity(assumptions: Assumptions) -> Sensitivity:
    """The fit to concurrency 1 and 8 under these assumptions, and how it does above."""
    fit = fit_apertus(assumptions)
    rows = fit.rows()
    return Sensitivity(
        assumptions=assumptions,
        operations_share=fit.operations_share,
        share_is=_share_is(fit),
        draft_factor=fit.draft_factor,
        fitted=errors_of(row for row in rows if row.fitted),
        held_out=errors_of(row for row in rows if not row.fitted),
        best_gammas=tuple(choice.predicted for choice in choices(rows)),
    )


def sensitivities() -> tuple[Sensitivity, ...]:
    """All alternatives, the chosen one first."""
    return tuple(sensitivity(assumptions) for assumptions in alternatives())


def _share_is(fit: ApertusFit) -> str:
    if fit.assumptions.operations_share is not None:
        return "fixed"
    if fit.operations_share > 0.999:
        return "at its limit"
    less = replace(fit, operations_share=0.9 * fit.operations_share)
    pairs = zip(fit.rows(), less.rows(), strict=True)
    moved = max(abs(b.predicted / a.predicted - 1.0) for a, b in pairs if a.fitted)
    return "fitted" if moved > _TOLD else "not told"


def _with_overlap(overlap: float) -> Machine:
    return Machine(accelerator=GH200, overlap=overlap)
