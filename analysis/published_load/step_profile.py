"""What a step of Apertus 8B takes by tokens, measured where its speedups were: the shares and the overlap."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from analysis.hardware import Machine
from analysis.predicted_pass import predict_pass
from analysis.published_load.facts import APERTUS, load_facts
from analysis.published_load.machines import APERTUS_8B, GH200

WIDEST = 2048  # tokens: 256 requests of 1 + 7, the widest pass in the table of speedups
_START = (0.8, 0.6, 1.5)
_BOUNDS = ((0.2, 0.1, 1.0), (1.0, 1.0, 8.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProfile:
    """The machine that the measured steps of at most `widest` tokens say, and how well it fits them."""

    machine: Machine
    widest: int
    n: int
    rms: float


@cache
def step_profile(widest: int = WIDEST) -> StepProfile:
    """`memory_share`, `operations_share` and `overlap` by least squares of log seconds, all steps alike.

    Steps of the plain target at short contexts; what a pass takes beside its model is as assumed.

    >>> found = step_profile()
    >>> round(found.machine.overlap, 1), round(found.machine.memory_share, 2), found.n
    (1.7, 0.84, 19)
    """
    from scipy.optimize import least_squares  # noqa: PLC0415 — `import analysis` loads numpy only

    steps = [
        f for f in load_facts(APERTUS, "step_s") if f.tokens is not None and f.tokens <= widest
    ]
    tokens = np.asarray([fact.tokens for fact in steps], dtype=np.float64)
    seconds = np.asarray([fact.value for fact in steps])

    def machine(shares: np.ndarray) -> Machine:
        memory, operations, overlap = map(float, shares)
        return Machine(
            accelerator=GH200, memory_share=memory, operations_share=operations, overlap=overlap
        )

    def residuals(shares: np.ndarray) -> np.ndarray:
        cost = predict_pass(APERTUS_8B, machine(shares))
        return np.asarray(np.log(np.asarray(cost.seconds(1, tokens)) / seconds))

    found = least_squares(residuals, _START, bounds=_BOUNDS)
    relative = np.exp(residuals(found.x)) - 1.0
    return StepProfile(
        machine=machine(found.x),
        widest=widest,
        n=len(steps),
        rms=float(np.sqrt(np.mean(relative * relative))),
    )
