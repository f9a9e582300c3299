"""What the target's pass costs, from the options: predicted, fitted from measured steps, or both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.deployment_specs import DraftWords, architecture_of, machine_of

if TYPE_CHECKING:
    from analysis.hardware import Machine
    from analysis.model_shape import Architecture
    from analysis.pass_cost import PassCost
    from analysis.pass_fit import PassCostFit

_ASSUMED = (
    "Passes are predicted from bytes and operations: {memory:.0%} of the bandwidth and {operations:.0%} "
    "of the arithmetic of {name} are assumed to be reached, {overlap}, {layer} per layer and {fixed} per "
    "pass. --steps FILE fits them."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The options on models, machine and acceptance, as they were given."""

    target: str | None = None
    hardware: str | None = None
    drafts: tuple[str, ...] = ()
    steps: Path | None = None
    weight_bits: float = 16.0
    kv_bits: float = 16.0
    overhead_s: float = 0.0
    draft_overlap: float = 0.0
    p: float | None = None
    by_depth: str | None = None
    log: Path | None = None
    log_gamma: int | None = None
    context: int = 0
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """The target's pass, where it comes from, and what a draft's pass can be predicted with.

    `drafts` are the drafts as they were given, in the order of the deployments.
    """

    target: PassCost
    architecture: Architecture | None
    machine: Machine | None
    fitted: PassCostFit | None
    notes: tuple[str, ...]
    drafts: tuple[DraftWords, ...] = ()

    def outside(self, batches: Sequence[float], context: float, gamma: int) -> tuple[str, ...]:
        """A note if passes of these batches over up to gamma + 1 tokens lie beyond the measured ones."""
        if self.fitted is None:
            return ()
        if not any(
            self.fitted.extrapolates(batch, tokens, context)
            for batch in (min(batches), max(batches))
            for tokens in (1, gamma + 1)
        ):
            return ()
        low, high = self.fitted.ranges.batch
        if low == high < max(batches) and self._flat(max(batches), context):
            return (
                (
                    f"V = 1 at every batch follows from times of batch {low:g} alone, which show no time "
                    "for a token: what larger batches take does not follow from them; measure some."
                ),
            )
        return (
            f"Passes were measured at {self.fitted.ranges.text}; what lies beyond is extrapolated.",
        )

    def _flat(self, batch: float, context: float) -> bool:
        """Whether passes over more tokens take no longer."""
        wide, narrow = (float(self.target.seconds(batch, n, context)) for n in (9, 1))
        return wide <= narrow * (1.0 + 1e-9)


def costs_of(words: Words) -> Costs:
    """The target's pass from bytes and operations, from measured steps, or from both.

    Raises ValueError unless --target and --hardware are given together, or --steps.
    """
    from analysis.predicted_pass import predict_pass  # noqa: PLC0415

    if (words.target is None) != (words.hardware is None):
        missing = "--target" if words.target is None else "--hardware"
        raise ValueError(f"--target and --hardware must be given together; {missing} is missing.")
    if words.target is None or words.hardware is None:
        if words.steps is None:
            raise ValueError("give --target and --hardware, or measured step times with --steps.")
        fitted, notes = _fitted(words.steps, None, None, words)
        return Costs(
            target=fitted.cost, architecture=None, machine=None, fitted=fitted, notes=notes
        )
    model, machine = architecture_of(words.target), machine_of(words.hardware)
    cost = predict_pass(model, machine, weight_bits=words.weight_bits, kv_bits=words.kv_bits)
    if words.steps is not None:
        fitted, notes = _fitted(words.steps, model, machine, words)
        return Costs(
            target=fitted.cost, architecture=model, machine=fitted.machine or machine,
            fitted=fitted, notes=notes,
        )  # fmt: skip
    note = _ASSUMED.format(
        memory=machine.memory_share,
        operations=machine.operations_share,
        name=machine.accelerator.name,
        overlap=_in_words(machine.overlap),
        layer=f"{machine.layer_s * 1e6:g} µs",
        fixed=f"{machine.fixed_s * 1e3:g} ms",
    )
    return Costs(target=cost, architecture=model, machine=machine, fitted=None, notes=(note,))


def _in_words(overlap: float) -> str:
    """What the k of a pass means.

    >>> _in_words(1.0), _in_words(float("inf"))
    ('reading and computing one after the other (k = 1)', 'reading and computing at once (k = inf)')
    """
    known = {1.0: "one after the other", math.inf: "at once"}
    return f"reading and computing {known.get(overlap, 'partly at once')} (k = {overlap:g})"


def _fitted(
    file: Path, model: Architecture | None, machine: Machine | None, words: Words
) -> tuple[PassCostFit, tuple[str, ...]]:
    from analysis.cli_runs import run_errors  # noqa: PLC0415
    from analysis.pass_fit import fit_pass_cost  # noqa: PLC0415
    from real_runs.step_times import read_step_times  # noqa: PLC0415

    with run_errors():
        read = read_step_times(file, context=words.context)
    fitted = fit_pass_cost(
        read.samples, model=model, machine=machine, weight_bits=words.weight_bits,
        kv_bits=words.kv_bits,
    )  # fmt: skip
    return fitted, (*read.notes, *fitted.notes)
