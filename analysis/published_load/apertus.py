"""Apertus 1.5 8B on chat: two parameters fitted on light load, the rest of the table predicted.

The table is output tokens per second of a closed loop over plain decoding at the same concurrency, so the
prompts count: `under_load` with the request's own token counts. Nothing is tuned per row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from analysis.deployment.deployment import Deployment
from analysis.deployment.drafting import Drafting, Shape
from analysis.deployment.load import under_load
from analysis.fitting.result import Fit
from analysis.hardware import Machine
from analysis.model_shape import Architecture
from analysis.pass_cost import PassCost
from analysis.predicted_pass import predict_pass
from analysis.published_load.acceptance import acceptance_of_tokens
from analysis.published_load.errors import Compared
from analysis.published_load.facts import APERTUS, LoadFact, load_facts, printed_tokens
from analysis.published_load.machines import APERTUS_8B, DSPARK, EAGLE_31
from analysis.published_load.step_profile import step_profile

FITTED_UP_TO = 8  # concurrency
UNPRINTED = 4  # the draft length whose tokens per round only the report's result files have
DSPARK_ROWS, EAGLE_ROWS = "block drafter", "EAGLE head"

_BOUNDS = ((0.02, 0.01), (1.0, 10.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """All that is not fitted: the reached bandwidth and overlap, what is counted, how drafting is told.

    `prompts` counts whole requests (prompt and answer), otherwise decoding alone at `context`.
    `drafter_reads_prompt`: the drafter takes a pass over the prompt; a block drafter on the target's
    features only writes its keys and values. `draft_share` tells drafting as a share of the target's pass
    over the same tokens, otherwise by the drafter's own shape. `operations_share` and
    `draft_factor` fix what is fitted otherwise. `arithmetic` False leaves computing out.
    """

    name: str
    machine: Machine = field(default_factory=lambda: step_profile().machine)
    prompts: bool = True
    context: float | None = None
    drafter_reads_prompt: bool = False
    draft_share: bool = False
    operations_share: float | None = None
    draft_factor: float | None = None
    arithmetic: bool = True


CHOSEN = "chosen"


@cache
def request_tokens() -> tuple[int, int]:
    """Prompt and answer of a chat request, means rounded to whole tokens.

    >>> request_tokens()
    (630, 190)
    """
    prompt, output = (
        load_facts(APERTUS, quantity)[0].value for quantity in ("prompt_tokens", "output_tokens")
    )
    return round(prompt), round(output)


def held_tokens() -> float:
    """What a request holds on average while it decodes: its prompt and half of its answer."""
    prompt, output = request_tokens()
    return prompt + output / 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ApertusFit:
    """The two fitted numbers under stated assumptions, and the table that follows.

    `operations_share` is the part of the arithmetic that is reached. `draft_factor` is how many times as
    long drafting takes as its bytes and operations say (or, with `draft_share`, its share of a target's
    pass over the same tokens).
    """

    assumptions: Assumptions
    operations_share: float
    draft_factor: float

    def deployment(
        self, drafter: Architecture = DSPARK, shape: Shape = "block", acceptance: Fit | None = None
    ) -> Deployment:
        """Apertus with a drafter of this shape at the fitted numbers."""
        assumed = self.assumptions
        machine = replace(assumed.machine, operations_share=self.operations_share)
        target = _without_arithmetic(predict_pass(APERTUS_8B, machine), keep=assumed.arithmetic)
        step = target
        if not assumed.draft_share:
            step = _without_arithmetic(predict_pass(drafter, machine), keep=assumed.arithmetic)
        return Deployment(
            name=f"{APERTUS_8B.name}, {drafter.name}",
            target=target,
            drafting=Drafting(
                shape=shape,
                step=step.scaled(self.draft_factor),
                reads_prompt=assumed.drafter_reads_prompt,
            ),
            acceptance=acceptance or _printed(DSPARK_ROWS),
        )

    def rows(self) -> tuple[Compared, ...]:
        """All 36 rows of the block drafter; those without printed tokens per round are marked."""
        return self._compared(self.deployment(), load_facts(APERTUS, "speedup", DSPARK_ROWS))

    def eagle_rows(self) -> tuple[Compared, ...]:
        """The 36 rows of the EAGLE head at the numbers fitted to the block drafter: none is fitted."""
        one_by_one = self.deployment(EAGLE_31, "chain", _printed(EAGLE_ROWS))
        reads = replace(one_by_one, drafting=replace(one_by_one.drafting, reads_prompt=True))
        rows = self._compared(reads, load_facts(APERTUS, "speedup", EAGLE_ROWS))
        return tuple(replace(row, fitted=False, marked=False, note="") for row in rows)

    def speedup(self, deployment: Deployment, gamma: int, concurrency: int) -> float:
        """Output tokens per second, with / without drafts of `gamma` tokens, at this concurrency."""
        assumed = self.assumptions
        prompt, output = request_tokens() if assumed.prompts else (None, None)
        point = under_load(
            deployment,
            gamma,
            concurrency=concurrency,
            context=held_tokens() if assumed.context is None else assumed.context,
            prompt_tokens=prompt,
            output_tokens=output,
        )
        return point.throughput_ratio.value

    def prompt_share(self, concurrency: int) -> float:
        """The part of plain serving that reads prompts."""
        prompt, output = request_tokens()
        plain = under_load(
            self.deployment(),
            0,
            concurrency=concurrency,
            context=held_tokens(),
            prompt_tokens=prompt,
            output_tokens=output,
        ).plain
        decoding = (output - 1) * plain.parts.round_s
        return 1.0 - decoding / plain.service_s.value if plain.service_s else 0.0

    def _compared(self, deployment: Deployment, facts: Sequence[LoadFact]) -> tuple[Compared, ...]:
        return tuple(
            Compared(
                method=fact.method,
                target=fact.target,
                gamma=gamma,
                batch=batch,
                measured=fact.value,
                predicted=self.speedup(deployment, gamma, batch),
                fitted=batch <= FITTED_UP_TO and gamma != UNPRINTED,
                marked=gamma == UNPRINTED,
                note="tokens per round from the result files" if gamma == UNPRINTED else "",
            )
            for fact in facts
            for gamma, batch in [(fact.gamma or 0, fact.batch or 1)]
        )


def fit_apertus(assumptions: Assumptions | None = None) -> ApertusFit:
    """Both numbers by least squares of the log ratio over the rows of concurrency 1 and 8.

    Ten rows, the printed draft lengths only. Deterministic: one start. The chosen answer touches no bound.
    """
    from scipy.optimize import least_squares  # noqa: PLC0415 — `import analysis` loads numpy only

    assumed = assumptions or Assumptions(name=CHOSEN)
    facts = [
        fact
        for fact in load_facts(APERTUS, "speedup", DSPARK_ROWS)
        if (fact.batch or 0) <= FITTED_UP_TO and fact.gamma != UNPRINTED
    ]
    share, factor = assumed.operations_share, assumed.draft_factor

    def fit_of(values: np.ndarray) -> ApertusFit:
        return ApertusFit(
            assumptions=assumed,
            operations_share=float(values[0]) if share is None else share,
            draft_factor=float(values[1]) if factor is None else factor,
        )

    def residuals(values: np.ndarray) -> np.ndarray:
        tried = fit_of(values)
        deployment = tried.deployment()
        return np.asarray(
            [
                np.log(tried.speedup(deployment, fact.gamma or 0, fact.batch or 1) / fact.value)
                for fact in facts
            ]
        )

    start = (assumed.machine.operations_share, 0.3 if assumed.draft_share else 1.0)
    return fit_of(least_squares(residuals, start, bounds=_BOUNDS, x_scale=(0.1, 0.1)).x)


@cache
def chosen_fit() -> ApertusFit:
    """The fit whose table is the reproduction."""
    return fit_apertus()


@cache
def _printed(method: str) -> Fit:
    return acceptance_of_tokens(printed_tokens(APERTUS, method))


def _without_arithmetic(cost: PassCost, *, keep: bool) -> PassCost:
    if keep:
        return cost
    return replace(cost, compute_s=0.0, output_compute_s=0.0, attention_s=0.0)
