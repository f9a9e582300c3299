"""One side of a comparison as arrays: a row per request, or one row where only sums are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analysis.diagnosis.counts import counts_of, tokens_of
from analysis.round_time import pass_time
from simulator import AcceptanceTable, AcceptanceTotals, Counts, Observation
from simulator._checks import FloatArray
from simulator._counting import standard_error

SIMULATED = "simulated"
"""The engine of an observation whose rounds are independent by construction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The counts and times of one run.

    Shapes: `rounds`, `tokens` (rounds + accepted), `emitted` and `decode_s` are [units], `tested`
    and `kept` [units, depths]; the last four are None where they are not known of every unit.
    `seconds_per_round` is that of all units together, from their times or from the clock of the
    source. `accepted_se` is one standard error of accepted tokens per round where rounds are all
    that can be told apart. `partial` says that the units are not all that was counted, `left_out`
    how many rounds without a draft no unit accounts for.
    """

    names: tuple[str, ...]
    unit: str
    rounds: FloatArray
    tokens: FloatArray
    emitted: FloatArray | None
    decode_s: FloatArray | None
    tested: FloatArray | None
    kept: FloatArray | None
    seconds_per_round: float | None
    accepted_se: float | None
    independent: bool
    partial: bool
    left_out: int

    @property
    def count(self) -> int:
        """Units that can be drawn again."""
        return self.rounds.size

    @property
    def tokens_per_round(self) -> float:
        """1 + accepted / rounds of all units."""
        return float(self.tokens.sum() / self.rounds.sum())

    @property
    def kept_share(self) -> float | None:
        """Tokens that arrived / tokens that the rounds gave; None if it is not known."""
        return None if self.emitted is None else float(self.emitted.sum() / self.tokens.sum())

    def only(self, names: Sequence[str]) -> Side:
        """The units of these names, in their order; only for sides that have each name once."""
        place = {name: i for i, name in enumerate(self.names)}
        rows = np.array([place[name] for name in names], dtype=np.int64)
        decode = _rows(self.decode_s, rows)
        seconds = self.seconds_per_round
        if decode is not None:
            seconds = float(decode.sum() / self.rounds[rows].sum())
        return Side(
            names=tuple(names),
            unit=self.unit,
            rounds=self.rounds[rows],
            tokens=self.tokens[rows],
            emitted=_rows(self.emitted, rows),
            decode_s=decode,
            tested=_rows(self.tested, rows),
            kept=_rows(self.kept, rows),
            seconds_per_round=seconds,
            accepted_se=self.accepted_se,
            independent=self.independent,
            partial=self.partial,
            left_out=self.left_out,
        )


def side_of(observation: Observation, role: str) -> Side:
    """The side that an observation makes; ValueError if its counts say nothing of rounds."""
    units = [unit for unit in observation.units if unit.counts.rounds]
    pooled = counts_of(observation)
    alone = len(units) < 2
    counts: list[Counts] = [] if pooled is None else [pooled]
    if not alone:
        counts = [unit.counts for unit in units]
    if not counts or not all(each.rounds for each in counts):
        return _side_of_mean(observation, role)
    rounds = np.array([float(each.rounds or 0) for each in counts])
    se = _rounds_se(counts[0], observation.gamma) if alone else None
    accepted = np.array([float(_accepted(each)) for each in counts])
    undrafted = observation.undrafted_rounds or 0
    if alone:  # each of them emitted its one token
        se = None if se is None else se * float(rounds[0] / (rounds[0] + undrafted))
        rounds = rounds + undrafted
    decode_s = None
    if not alone and all(unit.decode_s for unit in units):
        decode_s = np.array([float(unit.decode_s or 0.0) for unit in units])
    emitted = _known([each.emitted for each in counts])
    if alone and emitted is None and observation.emitted is not None:
        emitted = np.array([float(observation.emitted)])
    elif alone and emitted is not None:
        emitted = emitted + undrafted
    if emitted is not None and not (emitted.sum() > 0 and np.all(emitted <= rounds + accepted)):
        emitted = None  # tokens from elsewhere (prefill) are in it, or none at all
    tested, kept = _by_depth(counts)
    total = float(rounds.sum())
    seconds = clock_seconds(
        observation,
        float((rounds + accepted).sum()) / total,
        None if emitted is None else float(emitted.sum()) / total,
    )
    if alone and seconds is None and units and units[0].decode_s:
        seconds = units[0].decode_s / (units[0].counts.rounds or 1)
    if decode_s is not None:
        seconds = float(decode_s.sum() / rounds.sum())
    return Side(
        names=tuple(unit.name for unit in units) if not alone else (observation.name,),
        unit=observation.unit if not alone else "round",
        rounds=rounds,
        tokens=rounds + accepted,
        emitted=emitted,
        decode_s=decode_s,
        tested=tested,
        kept=kept,
        seconds_per_round=seconds,
        accepted_se=se,
        independent=observation.engine == SIMULATED,
        partial=not alone and pooled is not None and rounds.sum() != (pooled.rounds or 0),
        left_out=0 if alone else undrafted,
    )


def _side_of_mean(observation: Observation, role: str) -> Side:
    """A side of which only a mean is known: one round of so many tokens, with no error of its own."""
    mean = tokens_of(observation)
    if mean is None or not mean.number >= 1.0:
        raise ValueError(
            f"{role} must have counts with rounds, or tokens per round, to be compared; "
            f"{observation.name or 'it'} has neither."
        )
    return Side(
        names=(observation.name,),
        unit="round",
        rounds=np.ones(1),
        tokens=np.array([mean.number]),
        emitted=None,
        decode_s=None,
        tested=None,
        kept=None,
        seconds_per_round=clock_seconds(observation, mean.number, None),
        accepted_se=None,
        independent=False,
        partial=False,
        left_out=0,
    )


def clock_seconds(observation: Observation, tokens: float, emitted: float | None) -> float | None:
    """Seconds per round from the clock of a source; None where it does not say.

    `tokens` and `emitted` are those per round of the side. A clock that runs per token gives the
    time of a round through the tokens that arrived in it, so that tokens per second stay as printed.
    """
    time = pass_time(observation)
    if time is None or time.seconds_per_round is None:
        return None
    seconds, clock = time.seconds_per_round.number, observation.clock
    if not clock.s_per_round and time.tokens_per_round is not None:
        there = tokens if clock.decode_s or emitted is None else emitted
        seconds *= there / time.tokens_per_round.number  # of rounds that the side counts
    return seconds if seconds > 0.0 else None


def _rows(
    values: FloatArray | None, rows: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> FloatArray | None:
    return None if values is None else values[rows]


def _accepted(counts: Counts) -> int:
    return sum(counts.accepted) if isinstance(counts, AcceptanceTable) else counts.accepted


def _known(values: Sequence[int | None]) -> FloatArray | None:
    if any(value is None for value in values):
        return None
    return np.array([float(value or 0) for value in values])


def _by_depth(counts: Sequence[Counts]) -> tuple[FloatArray | None, FloatArray | None]:
    """Tested and accepted by depth, where every unit has a table; what a unit lacks it never tested."""
    tables = [each for each in counts if isinstance(each, AcceptanceTable)]
    if len(tables) < len(counts):
        return None, None
    depths = max(table.depths for table in tables)
    tested, kept = np.zeros((len(tables), depths)), np.zeros((len(tables), depths))
    for row, table in enumerate(tables):
        tested[row, : table.depths] = table.tested
        kept[row, : table.depths] = table.accepted
    return tested, kept


def _rounds_se(counts: Counts, gamma: int | None) -> float | None:
    """One standard error of accepted tokens per round, its rounds taken as independent.

    By depth where that is printed (where rounding hides counts, their middle); else that of the
    capped geometric law with this mean, if the longest draft is known.
    """
    rounds = counts.rounds or 0
    if isinstance(counts, AcceptanceTable):
        return standard_error(counts.accepted, rounds)
    if counts.depth_bounds is not None:
        middle = [(low + high) // 2 for low, high in counts.depth_bounds]
        return standard_error(middle, rounds)
    return _geometric_se(counts, gamma)


def _geometric_se(counts: AcceptanceTotals, gamma: int | None) -> float | None:
    from analysis.formulas import tokens_pmf  # noqa: PLC0415 — needed for few sources only
    from analysis.optimum import p_from_tokens  # noqa: PLC0415

    longest = counts.longest_draft or gamma
    rounds = counts.rounds or 0
    if not longest or rounds < 2:
        return None
    mean = min(counts.accepted / rounds, float(longest))
    pmf = np.asarray(tokens_pmf(p_from_tokens(1.0 + mean, longest), longest))
    lengths = np.arange(pmf.size)
    spread = float(pmf @ (lengths - pmf @ lengths) ** 2)
    return float(np.sqrt(spread / rounds))


def unique(names: Sequence[str]) -> bool:
    """Whether every unit has a name of its own."""
    ordered = sorted(names)
    return bool(ordered) and bool(ordered[0]) and all(a != b for a, b in pairwise(ordered))
