"""The Monte Carlo engine: flips the tokens that are really tested, and counts.

A round tests its first token, then the next one only if that was kept. Rounds are exchangeable, so
the engine goes depth by depth over all surviving rounds and needs one uniform per tested token:
nothing is drawn for tokens behind a rejection, and no formula for the outcome is used.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from simulator._checks import IntArray, Rng, as_count, as_generator
from simulator.acceptance import AcceptanceTable
from simulator.strategies import Strategy

Progress: TypeAlias = Callable[[float], None]
"""Called now and then with the share of the work that is done, in [0, 1]."""

_CHUNK = 16_384  # uniforms at a time: 128 KB of float64 stay in a core's second-level cache
_CHUNKS_PER_REPORT = 256
MAX_FLIPS = 10**11
"""Tokens that `simulate` agrees to flip; beyond it `simulate_counts` has the same distribution."""
MAX_LENGTHS = 10**8
"""Rounds whose lengths `simulate_lengths` agrees to hold (8 bytes each)."""
MAX_COUNTED = 2**62
"""Rounds that `simulate_counts` can draw: its binomials are 64-bit."""


def simulate(
    strategy: Strategy, *, rounds: int, rng: Rng, progress: Progress | None = None
) -> AcceptanceTable:
    """Flip every tested token of `rounds` rounds and return the counts by depth.

    Depth i tests the rounds that survived so far, one uniform each, and keeps those below the
    conditional acceptance of that depth. Memory does not grow with `rounds`; the same `rng` gives
    the same counts whatever the chunk size. Raises ValueError for rounds below 1 or more than
    `MAX_FLIPS` expected flips.

    >>> from simulator import draft_model
    >>> table = simulate(draft_model(p=0.7, gamma=4), rounds=200_000, rng=0)
    >>> table.tokens_per_round
    2.7706 ± 0.0035
    """
    rounds = as_count("rounds", rounds, least=1)
    generator = as_generator(rng)
    conditional = strategy.conditional_acceptance
    expected = _expected_flips(rounds, conditional)
    if expected > MAX_FLIPS:
        raise ValueError(_too_many(rounds, expected))
    accepted: list[int] = []
    alive, flipped = rounds, 0
    buffer = np.empty(_CHUNK)
    for p in conditional:
        kept = 0
        for number, start in enumerate(range(0, alive, _CHUNK)):
            uniforms = buffer[: min(_CHUNK, alive - start)]
            generator.random(out=uniforms)
            kept += int(np.count_nonzero(uniforms < p))
            if progress is not None and number % _CHUNKS_PER_REPORT == 0:
                progress(min((flipped + start) / expected, 1.0))
        flipped += alive
        accepted.append(kept)
        alive = kept
    return _table(strategy, rounds, accepted)


def simulate_lengths(strategy: Strategy, *, rounds: int, rng: Rng) -> IntArray:
    """Accepted tokens of each round, shape [rounds], for plots and for requests made of rounds.

    Draws as `simulate` does: the same `rng` gives the same counts. Raises ValueError for rounds
    outside [1, MAX_LENGTHS].

    >>> from simulator import draft_model
    >>> simulate_lengths(draft_model(p=0.7, gamma=4), rounds=8, rng=1)
    array([2, 0, 4, 0, 1, 4, 0, 4])
    """
    rounds = as_count("rounds", rounds, least=1, most=MAX_LENGTHS)
    generator = as_generator(rng)
    lengths = np.zeros(rounds, dtype=np.int64)
    survivors: IntArray | None = None  # [alive] indices of rounds; None while all are alive
    for p in strategy.conditional_acceptance:
        kept = generator.random(rounds if survivors is None else survivors.size) < p
        survivors = np.flatnonzero(kept) if survivors is None else survivors[kept]
        lengths[survivors] += 1
    return lengths


def simulate_counts(strategy: Strategy, *, rounds: int, rng: Rng) -> AcceptanceTable:
    """The counts of `simulate` drawn directly: accepted[i] ~ Binomial(tested[i], p[i]).

    The same distribution as flipping, in O(gamma) time for any number of rounds. Raises ValueError
    for rounds outside [1, MAX_COUNTED].

    >>> from simulator import draft_model
    >>> table = simulate_counts(draft_model(p=0.7, gamma=4), rounds=10**9, rng=0)
    >>> round(table.tokens_per_round.value, 3)
    2.773
    """
    rounds = as_count("rounds", rounds, least=1, most=MAX_COUNTED)
    generator = as_generator(rng)
    accepted: list[int] = []
    alive = rounds
    for p in strategy.conditional_acceptance:
        alive = int(generator.binomial(alive, p))
        accepted.append(alive)
    return _table(strategy, rounds, accepted)


def _table(strategy: Strategy, rounds: int, accepted: list[int]) -> AcceptanceTable:
    return AcceptanceTable(
        rounds=rounds,
        drafted=rounds * strategy.draft.nodes,
        tested=(rounds, *accepted)[: len(accepted)],
        accepted=tuple(accepted),
    )


def _expected_flips(rounds: int, conditional: tuple[float, ...]) -> float:
    """Tokens a run will test on average: only for the limit and the progress bar."""
    alive, flips = float(rounds), 0.0
    for p in conditional:
        flips += alive
        alive *= p
    return max(flips, 1.0)


def _too_many(rounds: int, expected: float) -> str:
    sample = np.random.default_rng(0)
    start = time.perf_counter()
    for _ in range(64):
        np.count_nonzero(sample.random(_CHUNK) < 0.5)
    hours = expected * (time.perf_counter() - start) / (64 * _CHUNK) / 3600
    return (
        f"rounds must ask for at most {MAX_FLIPS:.0e} flipped tokens; got {rounds}, which would flip "
        f"about {expected:.1e} and take about {hours:.2g} hours here: simulate_counts (on the "
        "command line --counts) draws the same counts at once."
    )
