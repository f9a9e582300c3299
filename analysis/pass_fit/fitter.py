"""From measured times to the cost of a pass."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from analysis.hardware import Machine
from analysis.model_shape import Architecture
from analysis.pass_cost import ExpertReads, PassCost
from analysis.pass_fit.cells import Cell, cells_of, mean_over_median
from analysis.pass_fit.choosing import Choice, choose
from analysis.pass_fit.design import (
    DRAFT,
    SEVERAL,
    Design,
    coefficient_design,
    machine_design,
)
from analysis.pass_fit.parameters import overlap_of, parameters_of, values_of
from analysis.pass_fit.remarks import Found, remarks
from analysis.pass_fit.result import FittedCell, MeasuredRanges, PassCostFit
from analysis.predicted_pass import predict_pass
from simulator import StepSample
from simulator._checks import as_count


def fit_pass_cost(
    samples: Iterable[StepSample],
    *,
    model: Architecture | None = None,
    machine: Machine | None = None,
    overlap: float | None = None,
    weight_bits: float = 16.0,
    kv_bits: float = 16.0,
    kv_budget: int | None = None,
    experts: tuple[int, int] | None = None,
) -> PassCostFit:
    """The coefficients of `PassCost` that come closest to measured times.

    Minimises Σ weight · ρ(log fitted − log measured) over the median time of each cell (batch, tokens,
    context; of many contexts, buckets of a quarter octave), with ρ the square for errors up to 10 % and
    linear beyond, and no parameter negative. Doubling all samples and their order change nothing.

    With `model` and `machine` the parameters are the shares of bandwidth and arithmetic that are reached
    and the overheads per pass and per token; bytes and operations fix the rest (`weight_bits`, `kv_bits`).
    Without a machine they are the coefficients themselves, and a mixture is described by the `model`
    or by `experts` = (how many, how many per token). `kv_budget` is the most tokens of context that are read.

    The exponent `overlap` is sought where none is given: 1 unless the times exclude it, as only
    passes on both sides of the knee can. Parameters that the times cannot tell are named in `notes`.
    Drafting within the samples is fitted beside: each draft step as reading plus computing without
    overlap. Intervals (95 %) take the formula as right.

    Raises ValueError without a time of the target's pass, for a machine without a model, an overlap
    below 1, and more than 4,096 cells.

    >>> cost = PassCost(weights_s=0.004, compute_s=0.00002, fixed_s=0.001)
    >>> times = [StepSample(batch=b, tokens=n, context=0, seconds=cost.seconds(b, n))
    ...          for b in (1, 16, 64, 256) for n in (1, 4, 16)]
    >>> found = fit_pass_cost(times)
    >>> round(found.cost.weights_s, 6), round(found.cost.knee(), 3), found.cost.overlap
    (0.004, 200.0, inf)
    """
    samples = tuple(samples)
    turn = _turn(overlap)
    if machine is not None and model is None:
        raise ValueError("model must be given with a machine: its bytes and operations are needed.")
    if kv_budget is not None:
        as_count("kv_budget", kv_budget, least=1)
    cells = cells_of(samples)
    if not any(cell.target for cell in cells):
        raise ValueError("samples must hold passes of the target; got drafting only.")
    reads = _experts(model, experts)
    if model is not None and machine is not None:
        design = machine_design(
            cells, model, machine, weight_bits=weight_bits, kv_bits=kv_bits, kv_budget=kv_budget
        )
    else:
        design = coefficient_design(cells, experts=reads, kv_budget=kv_budget)
    clusters = len({cell.setting if cell.bucket else -1 - i for i, cell in enumerate(cells)})
    choice = choose(design, turn=turn, clusters=clusters)
    values = values_of(choice)
    fitted_machine = None
    if model is not None and machine is not None:
        fitted_machine = _machine(machine, values, choice.solution.turn)
        cost = predict_pass(
            model, fitted_machine, weight_bits=weight_bits, kv_bits=kv_bits, kv_budget=kv_budget
        )
        cost = replace(cost, several_s=values.get(SEVERAL, 0.0))
    else:
        cost = _cost(values, choice.solution.turn, reads, kv_budget)
    step = _draft_step(cells, values)
    found = Found(design=design, cells=cells, choice=choice, given=overlap)
    parameters, at_bound = parameters_of(choice, clusters)
    certain = all(each.interval is not None for each in parameters.values())
    above = mean_over_median(samples, cells)
    ranges = _ranges(cells)
    plain_s = float(cost.seconds(ranges.batch[0], 1.0, ranges.context[0]))
    return PassCostFit(
        cost=cost,
        parameters=parameters,
        assumed={
            name: values[name] for name in choice.held if name not in DRAFT or step is not None
        },
        cells=_fitted_cells(cells, choice),
        ranges=ranges,
        rms_error=_rms(design, choice),
        samples=len(samples),
        draft_step=step,
        draft_round_s=0.0 if step is None else values.get("draft_round_s", 0.0),
        machine=fitted_machine,
        scatter=_scatter(cells),
        mean_over_median=above,
        told_apart=found.told_apart,
        knee_seen=found.knee_seen,
        compute_seen=found.compute_seen,
        notes=remarks(
            found,
            parameters=parameters,
            at_bound=at_bound,
            mean_over_median=above,
            certain=certain,
            plain_s=plain_s,
            memory_share=None if fitted_machine is None else fitted_machine.memory_share,
        ),
    )


def _turn(overlap: float | None) -> float | None:
    if overlap is None:
        return None
    if isinstance(overlap, bool) or not overlap >= 1.0:
        raise ValueError(f"overlap must be at least 1 (inf is the roofline); got {overlap!r}.")
    return 1.0 / overlap


def _experts(model: Architecture | None, experts: tuple[int, int] | None) -> ExpertReads | None:
    if experts is not None:
        return ExpertReads(experts=experts[0], per_token=experts[1], all_s=1.0)
    if model is None or not model.experts:
        return None
    return ExpertReads(experts=model.experts, per_token=model.experts_per_token, all_s=1.0)


def _cost(
    values: dict[str, float], turn: float, experts: ExpertReads | None, kv_budget: int | None
) -> PassCost:
    own = {
        name: value for name, value in values.items() if name not in DRAFT and name != "experts_s"
    }
    return PassCost(
        **own,
        experts=None if experts is None else replace(experts, all_s=values["experts_s"]),
        overlap=overlap_of(turn),
        kv_budget=kv_budget,
    )


def _machine(machine: Machine, values: dict[str, float], turn: float) -> Machine:
    """The machine with what was fitted; what each layer adds is within `fixed_s`."""
    return replace(
        machine,
        memory_share=values["memory_share"],
        operations_share=values["operations_share"],
        overlap=overlap_of(turn),
        fixed_s=values["fixed_s"],
        layer_s=0.0,
        token_s=values["token_s"],
    )


def _draft_step(cells: tuple[Cell, ...], values: dict[str, float]) -> PassCost | None:
    """The draft's pass, unless there is none or nothing tells it from a wider pass."""
    if not any(cell.draft_steps for cell in cells):
        return None
    step = (values["draft_weights_s"], values["draft_compute_s"], values["draft_kv_s"])
    if step[0] + step[1] == 0.0:
        return None
    return PassCost(weights_s=step[0], compute_s=step[1], kv_s=step[2], overlap=1.0)


def _fitted_cells(cells: tuple[Cell, ...], choice: Choice) -> tuple[FittedCell, ...]:
    return tuple(
        FittedCell(
            what="drafting" if cell.draft else "round" if cell.draft_steps else "pass",
            batch=cell.batch,
            tokens=cell.tokens,
            context=cell.context,
            draft_steps=cell.draft_steps,
            draft_tokens=cell.draft_tokens,
            count=cell.count,
            measured_s=cell.seconds,
            fitted_s=float(seconds),
        )
        for cell, seconds in zip(cells, choice.solution.fitted, strict=True)
    )


def _ranges(cells: tuple[Cell, ...]) -> MeasuredRanges:
    def ends(name: str) -> tuple[float, float]:
        values = [getattr(cell, name) for cell in cells if cell.target]
        return min(values), max(values)

    return MeasuredRanges(batch=ends("batch"), tokens=ends("tokens"), context=ends("context"))


def _rms(design: Design, choice: Choice) -> float:
    squares = choice.solution.residuals**2
    return math.sqrt(float(design.weights @ squares) / len(squares))


def _scatter(cells: tuple[Cell, ...]) -> float | None:
    known = [cell.scatter**2 for cell in cells if cell.scatter is not None]
    return math.sqrt(float(np.mean(known))) if known else None
