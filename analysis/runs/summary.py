"""What a measured run comes to: measured, closed, predicted, foretold."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from simulator import AcceptanceTable, Estimate

FEWEST_PROMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class GammaMeasured:
    """What was measured at one draft length, with intervals over prompts.

    `speedup` is of decoding, per emitted token; `whole_request` the same with prefill, per token of
    the whole text. `round_cost` is the clock's, in plain steps. The three shares are parts of
    decoding time. `width`, `draft_steps` and `nodes` are tokens of a target pass, forwards of the draft
    one after the other, and drafted tokens, each per round; `verify_cost` is V of the pass over γ + 1
    tokens, of trees the mean over their passes. `drafting_cost`, `wider_cost` and `outside_cost` are
    what a round takes beyond a plain step [plain steps]: drafting, a target pass over more tokens, and
    time outside of model calls.
    """

    gamma: int
    table: AcceptanceTable
    speedup: Estimate
    whole_request: Estimate
    tokens_per_round: Estimate
    emitted_per_round: Estimate
    accepted_fraction: Estimate
    discarded_per_round: Estimate
    round_cost: Estimate
    verify_cost: Estimate
    draft_share: Estimate
    verify_share: Estimate
    rest_share: Estimate
    drafting_cost: Estimate
    wider_cost: Estimate
    outside_cost: Estimate
    acceptance: tuple[Estimate, ...]
    width: float
    nodes: float
    draft_steps: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """The formula with a run's own counts and costs at one gamma; `error` = predicted / measured - 1."""

    gamma: int
    speedup: Estimate
    error: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """One way to predict a gamma; `emitted` is tokens per round less the discarded ones."""

    tokens: Estimate
    emitted: Estimate
    speedup: Estimate
    error: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A draft length predicted from the acceptance at the largest one, `source`.

    `constant` takes one p for all depths, `by_depth` the acceptance of the first gamma depths, both
    for the source's drafts cut to gamma tokens, with the run's V, c and overhead. `article` is
    Theorem 3.8 of Leviathan et al. 2023 with the same p and c: V = 1, no overhead, nothing
    discarded. At the source itself nothing is foreseen.
    """

    gamma: int
    source: int
    constant: Forecast
    by_depth: Forecast
    article: Forecast

    @property
    def foreseen(self) -> bool:
        """False at the gamma whose acceptance was used."""
        return self.gamma != self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class Foretold:
    """A draft length as heads foretold it: their accuracies on held-out text, and this run's costs."""

    gamma: int
    forecast: Forecast


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A measured run: what it gained, what it cost, and how well that was predicted.

    `best` is the gamma with the highest measured speedup; `as_good` are those that the prompts
    cannot tell from it. `refusal` says why nothing is predicted, if so. With `branches` drafts are
    trees; with `by_step` `cost_ratio` is per forward of the draft, which gives several tokens, and
    else per drafted token.
    """

    prompts: int
    requests: int
    left_out: int
    plain_step_s: Estimate
    cost_ratio: Estimate
    overhead: Estimate
    p: Estimate
    verify_costs: tuple[tuple[int, Estimate], ...]
    measured: tuple[GammaMeasured, ...]
    closures: tuple[Closure, ...]
    predictions: tuple[Prediction, ...]
    refusal: str
    best: int
    as_good: tuple[int, ...]
    branches: bool = False
    by_step: bool = False
    foretold: tuple[Foretold, ...] = ()

    @property
    def closure_error(self) -> float:
        """Median over gamma of the closure's error, without its sign."""
        return statistics.median(abs(closure.error.value) for closure in self.closures)

    def at(self, gamma: int) -> GammaMeasured:
        """What was measured at a draft length. Raises ValueError if it was not."""
        found = next((entry for entry in self.measured if entry.gamma == gamma), None)
        if found is None:
            measured = ", ".join(str(entry.gamma) for entry in self.measured)
            raise ValueError(f"gamma must be one of the run's ({measured}); got {gamma}.")
        return found
