"""Table 3 of EAGLE-3: a chain of three on one H100. Fitted on batches 2 to 8, all rows shown.

Neither tokens per round nor prompts are printed for this table. Tokens per round are therefore two of the
three fitted numbers, one per head; they take up whatever else a round costs that is the same at every batch,
and are no measurement of acceptance.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

from analysis.deployment.building import DraftKind, deploy
from analysis.deployment.deployment import Deployment
from analysis.hardware import Machine
from analysis.published_load.acceptance import acceptance_of_tokens
from analysis.published_load.errors import Compared, Errors, errors_of, nearest_falling
from analysis.published_load.facts import EAGLE_3, META, load_facts
from analysis.published_load.machines import EAGLE_VOCABULARY, H100, LLAMA_3_8B

GAMMA = 3
FITTED_UP_TO = 8  # requests
RISES_FROM = 48  # requests
CONTEXT = 500.0  # tokens held, assumed: an MT-Bench prompt and half of an answer
HEADS = ("EAGLE", "EAGLE-3")

_BOUNDS = ((0.02, 1.05, 1.05), (1.0, 4.0, 4.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainFit:
    """Three numbers for 18 rows: the arithmetic that is reached, and the tokens per round of each head.

    With `overhead_s` the tokens of EAGLE-3 are those of another head of its kind, and what else a round
    takes is fitted in their place.
    """

    operations_share: float
    tokens_per_round: tuple[float, float]
    overhead_s: float = 0.0
    context: float = CONTEXT

    def deployment(self, head: str) -> Deployment:
        """Llama 3.1 8B with this head, all else as assumed everywhere (`Machine`)."""
        machine = Machine(accelerator=H100, operations_share=self.operations_share)
        return deploy(
            LLAMA_3_8B,
            machine,
            DraftKind(kind="head", vocabulary=EAGLE_VOCABULARY[head], method="eagle"),
            acceptance_of_tokens({GAMMA: self.tokens_per_round[HEADS.index(head)]}),
            overhead_s=self.overhead_s,
        )

    def rows(self) -> tuple[Compared, ...]:
        """All 18 rows, by head and batch."""
        return tuple(row for head in HEADS for row in self.rows_of(head))

    def rows_of(self, head: str) -> tuple[Compared, ...]:
        """The nine rows of one head, by batch."""
        deployment = self.deployment(head)
        facts = load_facts(EAGLE_3, "speedup", head)
        lowest = min(facts, key=lambda fact: fact.value).batch or 1
        return tuple(
            Compared(
                method=head,
                target=fact.target,
                gamma=GAMMA,
                batch=batch,
                measured=fact.value,
                predicted=deployment.parts(GAMMA, batch, self.context).speedup.value,
                fitted=batch <= FITTED_UP_TO,
                note=f"measured gain above that at {lowest}" if batch > lowest else "",
            )
            for fact in facts
            for batch in [fact.batch or 1]
        )


@cache
def fit_chain(context: float = CONTEXT, *, borrowed_tokens: bool = False) -> ChainFit:
    """Least squares of the log ratio over batches 2, 4 and 8 of both heads: six rows, three numbers.

    `borrowed_tokens` takes the tokens per round that Meta 2025 prints for a head of its own on the same
    model (chain of three, MT-Bench, temperature 0) for EAGLE-3, and fits a fixed time per round instead.
    """
    from scipy.optimize import least_squares  # noqa: PLC0415 — `import analysis` loads numpy only

    printed = load_facts(META, "tokens_per_round")[0].value

    def fit_of(values: np.ndarray) -> ChainFit:
        share, first, third = map(float, values)
        if borrowed_tokens:
            return ChainFit(
                operations_share=share,
                tokens_per_round=(first, printed),
                overhead_s=(third - 1.0) * 1e-3,
                context=context,
            )
        return ChainFit(operations_share=share, tokens_per_round=(first, third), context=context)

    def residuals(values: np.ndarray) -> np.ndarray:
        return np.asarray(
            [np.log(row.predicted / row.measured) for row in fit_of(values).rows() if row.fitted]
        )

    return fit_of(least_squares(residuals, (0.4, 2.0, 2.4), bounds=_BOUNDS).x)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rise:
    """How the measured gain of one head moves at large batches, beside any gain that never rises.

    `lowest_at` is the batch of the smallest measured gain and `rise` what the last row lies above it;
    `rise_from_48` is the last row / the one at 48 − 1. `least` are the errors of the nearest gains that never
    rise (`nearest_falling`): no cost that is monotone in the batch at constant tokens per round does better.
    """

    head: str
    lowest_at: int
    rise: float
    rise_from_48: float
    least: Errors


def rises(rows: Iterable[Compared]) -> tuple[Rise, ...]:
    """The rise of each head, from its measured rows."""
    shown = tuple(rows)
    return tuple(_rise(head, [row for row in shown if row.method == head]) for head in HEADS)


def _rise(head: str, rows: list[Compared]) -> Rise:
    measured = [row.measured for row in rows]
    lowest = int(np.argmin(measured))
    at_48 = next(row.measured for row in rows if row.batch == RISES_FROM)
    nearest = zip(rows, nearest_falling(measured), strict=True)
    return Rise(
        head=head,
        lowest_at=rows[lowest].batch,
        rise=measured[-1] / measured[lowest] - 1.0,
        rise_from_48=measured[-1] / at_48 - 1.0,
        least=errors_of(
            Compared(
                method=head, target=row.target, gamma=GAMMA, batch=row.batch,
                measured=row.measured, predicted=value,
            )
            for row, value in nearest
        ),
    )  # fmt: skip
