"""What is fitted: each parameter's share in reading, computing and the rest of every cell's time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.hardware import Machine
from analysis.model_shape import Architecture
from analysis.pass_cost import ExpertReads
from analysis.pass_fit.cells import Cell
from analysis.predicted_pass import predict_pass
from simulator._checks import FloatArray

SHARES = ("memory_share", "operations_share")
SEVERAL = "several_s"
_NOTHING = 1e-9  # of the shortest time
DRAFT = ("draft_weights_s", "draft_compute_s", "draft_kv_s", "draft_round_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A parameter: what one unit of it adds to each cell's reading, computing and the rest [s].

    `parts` has the shape [3, cells]. `low` is its least value, `assumed` the one it has where the data
    say nothing of it.
    """

    name: str
    parts: FloatArray
    low: float = 0.0
    assumed: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Design:
    """Times of all cells as a function of the parameters θ, given the overlap k.

        time = (memory^k + compute^k)^(1/k) + rest,  each part linear in θ

    `names` are in the order in which parameters are preferred where the data cannot tell them apart;
    `low` are their least values, `assumed` those that they have where the data say nothing. `parts` is
    what a unit of each adds, shape [memory | compute | rest, cells, parameters], `known` what each part
    has without any, shape [3, cells]. `seconds` [cells] are measured, `weights` sum to their number,
    `width` is the tokens of the target's pass, 0 where there is none.
    """

    names: tuple[str, ...]
    low: FloatArray
    assumed: FloatArray
    parts: FloatArray
    known: FloatArray
    seconds: FloatArray
    weights: FloatArray
    width: FloatArray

    def held(self, values: Mapping[str, float]) -> Design:
        """The same with some parameters at fixed values: they are no longer sought."""
        sought = np.array([name not in values for name in self.names], dtype=bool)
        fixed = np.array([values.get(name, 0.0) for name in self.names])
        return replace(
            self,
            names=tuple(name for name in self.names if name not in values),
            low=self.low[sought],
            assumed=self.assumed[sought],
            parts=self.parts[:, :, sought],
            known=self.known + self.parts @ fixed,
        )


def coefficient_design(
    cells: Sequence[Cell], *, experts: ExpertReads | None, kv_budget: int | None
) -> Design:
    """The coefficients of `PassCost` themselves, output layer and links within the others."""
    on, batch, held, m = _target(cells, kv_budget)
    wider = np.array([float(cell.tokens > 1.0) for cell in cells])
    columns = [
        Column(name="weights_s", parts=_parts(memory=on), low=_least(cells)),
        Column(name="compute_s", parts=_parts(compute=m)),
        Column(name="kv_s", parts=_parts(memory=on * batch * held)),
    ]
    if experts is not None:
        shares = on * np.asarray(experts.share(m))
        columns.append(Column(name="experts_s", parts=_parts(memory=shares)))
    columns += [
        Column(name="attention_s", parts=_parts(compute=m * held)),
        Column(name="fixed_s", parts=_parts(rest=on)),
        Column(name="token_s", parts=_parts(rest=m)),
        Column(name=SEVERAL, parts=_parts(rest=on * wider)),
    ]
    return _design(cells, columns, width=m)


def machine_design(
    cells: Sequence[Cell],
    model: Architecture,
    machine: Machine,
    *,
    weight_bits: float,
    kv_bits: float,
    kv_budget: int | None,
) -> Design:
    """Shares of bandwidth and arithmetic, as 1 / share, and overheads; the physics fixes the rest."""
    whole = predict_pass(
        model,
        replace(
            machine, memory_share=1.0, operations_share=1.0, overlap=1.0, fixed_s=0.0, layer_s=0.0,
            token_s=0.0,
        ),
        weight_bits=weight_bits,
        kv_bits=kv_bits,
        kv_budget=kv_budget,
    )  # fmt: skip
    on, _, _, m = _target(cells, kv_budget)
    wider = np.array([float(cell.tokens > 1.0) for cell in cells])
    parts = [whole.parts(cell.batch, cell.tokens, cell.context) for cell in cells]
    memory, compute, link = (
        on * np.array([getattr(part, name) for part in parts])
        for name in ("memory_s", "arithmetic_s", "communication_s")
    )
    columns = [
        Column(
            name="memory_share",
            parts=_parts(memory=memory),
            low=1.0,
            assumed=1.0 / machine.memory_share,
        ),
        Column(
            name="operations_share",
            parts=_parts(compute=compute),
            low=1.0,
            assumed=1.0 / machine.operations_share,
        ),
        Column(name="fixed_s", parts=_parts(rest=on)),
        Column(name="token_s", parts=_parts(rest=m)),
        Column(name=SEVERAL, parts=_parts(rest=on * wider)),
    ]
    return _design(cells, columns, width=m, link=link)


def _least(cells: Sequence[Cell]) -> float:
    """Next to nothing, for what must take time at every batch, width and context."""
    return _NOTHING * min(cell.seconds for cell in cells)


def _target(
    cells: Sequence[Cell], kv_budget: int | None
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Of each cell: is the target in it, its batch, the context that is read, tokens of the pass."""
    on = np.array([1.0 if cell.target else 0.0 for cell in cells])
    batch = np.array([cell.batch for cell in cells])
    held = np.array([cell.context for cell in cells])
    if kv_budget is not None:
        held = np.minimum(held, float(kv_budget))
    return on, batch, held, on * batch * np.array([cell.tokens for cell in cells])


def _parts(
    *,
    memory: FloatArray | None = None,
    compute: FloatArray | None = None,
    rest: FloatArray | None = None,
) -> FloatArray:
    """The one part that is given, among zeros."""
    given = next(part for part in (memory, compute, rest) if part is not None)
    zero = np.zeros_like(given)
    return np.stack([zero if part is None else part for part in (memory, compute, rest)])


def _design(
    cells: Sequence[Cell],
    columns: list[Column],
    *,
    width: FloatArray,
    link: FloatArray | None = None,
) -> Design:
    steps = np.array([float(cell.draft_steps) for cell in cells])
    if steps.any():
        batch = np.array([cell.batch for cell in cells])
        wide = np.array([float(cell.draft_tokens) for cell in cells])
        held = np.array([cell.context for cell in cells])
        rests = (steps, steps * batch * wide, steps * batch * held, np.sign(steps))
        columns += [
            Column(
                name=name, parts=_parts(rest=rest), low=_least(cells) if name == DRAFT[0] else 0.0
            )
            for name, rest in zip(DRAFT, rests, strict=True)
        ]
    counts = np.array([cell.count for cell in cells])
    # A cell's median is off by its scatter / √count and by what the formula does not know, which a
    # thousand repetitions do not lessen: equal shares of both at the usual count.
    weights = counts / (counts + math.exp(float(np.median(np.log(counts)))))
    return Design(
        names=tuple(column.name for column in columns),
        low=np.array([column.low for column in columns]),
        assumed=np.array([column.assumed for column in columns]),
        parts=np.stack([column.parts for column in columns], axis=2),
        seconds=np.array([cell.seconds for cell in cells]),
        weights=weights * len(cells) / weights.sum(),
        width=width,
        known=np.zeros((3, len(cells))) if link is None else _parts(rest=link),
    )
