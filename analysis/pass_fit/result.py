"""What a fit of pass times found: the cost, its parameters, how well it describes, how far it reaches."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analysis._arrays import Numbers
from analysis.hardware import Machine
from analysis.pass_cost import PassCost
from analysis.pass_fit.readable import counted
from simulator import Estimate
from simulator._checks import FloatArray

if TYPE_CHECKING:
    from analysis.deployment.drafting import Drafting, Shape
    from analysis.output import Report

POOR = 0.15
"""Typical relative error from which a fit is not to be relied on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedCell:
    """A setting that was measured: its median time and what the fit says [s].

    `what` is "pass" (of the target), "round" (drafting and a pass) or "drafting". `count` is how many
    times stand behind the median.
    """

    what: str
    batch: float
    tokens: float
    context: float
    draft_steps: int
    draft_tokens: int
    count: float
    measured_s: float
    fitted_s: float

    @property
    def error(self) -> float:
        """fitted / measured − 1."""
        return self.fitted_s / self.measured_s - 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRanges:
    """The least and the most of what was measured of the target's passes."""

    batch: tuple[float, float]
    tokens: tuple[float, float]
    context: tuple[float, float]

    @property
    def text(self) -> str:
        """The ranges as a sentence may have them."""
        named = (("batch", self.batch), ("tokens", self.tokens), ("context", self.context))
        return ", ".join(
            f"{name} {low:g}" if low == high else f"{name} {low:g} to {high:g}"
            for name, (low, high) in named
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PassCostFit:
    """The cost of a pass behind measured times.

    `cost` is the target's pass and stands wherever a `PassCost` does; `draft_step` the draft's, where its
    times were measured or rounds tell them apart, and `draft_round_s` what drafting takes beside its
    steps. `machine` is the machine with the fitted shares and overheads, where one was given.

    `parameters` are those that the data say, `overlap` (k) among them where they show one; `assumed` those
    that they do not, at the value that was taken. `rms_error` is the typical relative error over all
    cells, `scatter` what repeated times alone would give, where there are some. `mean_over_median` is
    how much all times together exceed the medians that were fitted. `told_apart` is False where times
    are of whole rounds and drafting cannot be told from a wider pass: then `cost` has both in its
    terms by token. `knee_seen` says whether passes on both sides of the knee were measured,
    `compute_seen` whether the times tell what a further token costs: if not, a pass over more tokens than
    were measured is a lower bound (or, with a machine, rests on the share of arithmetic that is assumed).
    """

    cost: PassCost
    parameters: Mapping[str, Estimate]
    assumed: Mapping[str, float]
    cells: tuple[FittedCell, ...]
    ranges: MeasuredRanges
    rms_error: float
    samples: int
    draft_step: PassCost | None = None
    draft_round_s: float = 0.0
    machine: Machine | None = None
    scatter: float | None = None
    mean_over_median: float = 1.0
    told_apart: bool = True
    knee_seen: bool = False
    compute_seen: bool = True
    notes: tuple[str, ...] = field(default=())

    @property
    def good(self) -> bool:
        """Whether the formula describes the times: a typical error below 15 %."""
        return self.rms_error < POOR

    @property
    def worst(self) -> FittedCell:
        """The cell that the fit misses most."""
        return max(self.cells, key=lambda cell: abs(math.log(cell.fitted_s / cell.measured_s)))

    @property
    def sentence(self) -> str:
        """How well the fit describes the times, for people."""
        cell = self.worst
        where = (
            f"drafting {counted(cell.draft_steps, 'step')}" if cell.what == "drafting" else
            f"a {cell.what} over {counted(cell.tokens, 'token')}"
        )  # fmt: skip
        said = (
            f"Fitted to {counted(self.samples, 'time')} in {counted(len(self.cells), 'cell')}: typical "
            f"error {self.rms_error:.1%}, largest {cell.error:+.1%} ({where} at batch {cell.batch:g}, "
            f"context {cell.context:g})."
        )
        if self.good:
            return said
        return f"{said} The formula does not describe these times; do not rely on it."

    def extrapolates(self, batch: float = 1, tokens: float = 1, context: float = 0) -> bool:
        """Whether a pass lies outside of what was measured."""
        ends = (self.ranges.batch, self.ranges.tokens, self.ranges.context)
        asked = zip((batch, tokens, context), ends, strict=True)
        return any(not low <= value <= high for value, (low, high) in asked)

    def seconds(
        self, batch: Numbers = 1, tokens: Numbers = 1, context: Numbers = 0
    ) -> FloatArray | float:
        """Time of the target's pass [s], as `PassCost.seconds`."""
        return self.cost.seconds(batch, tokens, context)

    def drafting(self, shape: Shape = "chain") -> Drafting:
        """How a round drafts, for a `Deployment`; ValueError where no draft was told apart."""
        from analysis.deployment.drafting import Drafting  # noqa: PLC0415 — only what deploys needs it

        if self.draft_step is None:
            raise ValueError(
                "the times must hold passes of a draft; there are none, or none apart."
            )
        return Drafting(shape=shape, step=self.draft_step, round_s=self.draft_round_s)

    @property
    def report(self) -> Report:
        """`pass_cost_report` over the batches and widths that were measured."""
        from analysis.pass_fit.report import pass_cost_report  # noqa: PLC0415 — loaded when it is asked for

        return pass_cost_report(self)
