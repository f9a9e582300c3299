"""The plan: a row per batch, every strategy's best, the whole table, and schedules from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from analysis.planning.choice import PlanChoice, PlanPoint, PlanRow
from analysis.planning.losses import ScheduleLosses, schedule_losses
from analysis.planning.pricing import Preference, Priced
from analysis.planning.schedule import Schedule
from analysis.planning.switching import schedule_of

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """For each batch the strategy and draft length to use, plain decoding included; see `plan`.

    `rows` rise with the batch. `gammas` are the lengths that were asked for, 0 included. `notes` are what a
    reader must know.
    """

    strategies: tuple[str, ...]
    batches: tuple[int, ...]
    context: float
    gammas: tuple[int, ...]
    prefer: Preference
    require_gain: float
    rows: tuple[PlanRow, ...]
    notes: tuple[str, ...]
    priced: tuple[Priced, ...] = field(repr=False, compare=False)

    @property
    def choices(self) -> tuple[PlanChoice, ...]:
        """Every strategy's best at every batch, in the order of batches."""
        return tuple(choice for row in self.rows for choice in row.choices)

    @property
    def table(self) -> tuple[PlanPoint, ...]:
        """The speedup of every strategy, batch and draft length about which something is known."""
        return tuple(
            PlanPoint(strategy=choice.strategy, batch=choice.batch, gamma=gamma, speedup=speedup)
            for choice in self.choices
            for gamma, speedup in zip(self.gammas, choice.speedups, strict=True)
            if speedup is not None
        )

    @property
    def best_single(self) -> str:
        """The strategy to take if one must serve all planned batches, as in an engine.

        The largest sum of log speedups, each planned batch counted once, the low ends of intervals if
        the plan prefers sure drafts; of equal ones the first.
        """
        return max(self.strategies, key=lambda name: sum(map(self._worth, self.of(name))))

    @property
    def sentence(self) -> str:
        """What to do, in one sentence."""
        parts = [
            f"{_lengths(run)} at {_where(run)}"
            for run in (tuple(rows) for _, rows in groupby(self.rows, key=lambda row: row.use))
        ]
        top = max(self.rows, key=lambda row: row.speedup.value)
        said = "; ".join(parts)
        if top.gamma == 0:
            return f"Do not speculate: no draft gains{self._enough} at any planned batch."
        if said.startswith("no"):
            said = f"N{said[1:]}"
        return f"{said}. The largest gain is {top.speedup.value:.2f}×, at batch {top.batch:,}."

    def of(self, strategy: str) -> tuple[PlanChoice, ...]:
        """One strategy's best at every batch. ValueError for a name that is not in the plan."""
        at = self._index(strategy)
        return tuple(row.choices[at] for row in self.rows)

    def lost(self, strategy: str) -> tuple[float, ...]:
        """Share of the chosen speedup that is lost where this strategy must do, at every batch."""
        shares = [
            1.0 - choice.speedup.value / row.speedup.value
            for row, choice in zip(self.rows, self.of(strategy), strict=True)
        ]
        return tuple(0.0 if abs(share) < _ROUNDING else share for share in shares)

    def schedule(
        self, strategy: str | None = None, *, refine: bool = True, falling: bool = False
    ) -> Schedule:
        """The draft lengths of one strategy by batch, of `best_single` unless one is named.

        Engines cannot change the strategy with the batch, only the length. With `refine` every batch from 1 to
        the last planned one is looked at, so that lengths change where they should and not where the plan
        happens to have a batch; otherwise each planned batch holds until the next. `falling` allows no
        longer draft at a larger batch (some engines take nothing else) and gives up as little for that as
        possible; `schedule_losses` says what. Beyond the last planned batch its length goes on.
        """
        priced = self.priced[self._index(strategy or self.best_single)]
        return schedule_of(
            priced, self.batches, prefer=self.prefer, require_gain=self.require_gain,
            refine=refine, falling=falling,
        )  # fmt: skip

    def losses(self, schedule: Schedule, strategy: str | None = None) -> ScheduleLosses:
        """What another schedule loses with one strategy, of `best_single` unless one is named."""
        priced = self.priced[self._index(strategy or self.best_single)]
        return schedule_losses(
            priced.deployment, schedule, self.batches, context=self.context, gammas=self.gammas
        )

    @property
    def _enough(self) -> str:
        return f" {self.require_gain:.0%}" if self.require_gain else ""

    def _index(self, strategy: str) -> int:
        if strategy not in self.strategies:
            raise ValueError(
                f"strategy must be one of {', '.join(self.strategies)}; got {strategy!r:.80}."
            )
        return self.strategies.index(strategy)

    def _worth(self, choice: PlanChoice) -> float:
        value, interval = choice.speedup.value, choice.speedup.interval
        return math.log(interval[0] if self.prefer == "sure" and interval else value)


def _lengths(rows: Sequence[PlanRow]) -> str:
    first, last = rows[0].gamma, rows[-1].gamma
    if first == 0:
        return "no draft"
    ends = [row.gamma for row in rows]
    if (min(ends), max(ends)) != (min(first, last), max(first, last)):
        return f"γ between {min(ends)} and {max(ends)} with {rows[0].use}"
    return f"γ = {first}{'' if first == last else f' to {last}'} with {rows[0].use}"


def _where(rows: Sequence[PlanRow]) -> str:
    first, last = rows[0].batch, rows[-1].batch
    return f"batch {first:,}" if first == last else f"batches {first:,} to {last:,}"
