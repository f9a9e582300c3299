"""The Markov chain of draft lengths under a heuristic that lengthens and shortens them."""

from __future__ import annotations

import numpy as np

from analysis.exact import round_law
from simulator import Chain, Heuristic, Strategy
from simulator._checks import FloatArray, IntArray, as_count
from simulator.strategies import described

MAX_STATES = 1000
"""The longest draft whose long run is solved for; its equations take gamma² numbers."""


def length_laws(strategy: Strategy, *, rounds: int) -> FloatArray:
    """P(round r of a request drafts n tokens), exact, shape [rounds, gamma + 1].

    A draft of n tokens is kept whole with probability S_n; its length then grows to
    min(n + step_up, gamma) and otherwise shrinks to max(n - step_down, 1). Raises ValueError for
    rounds below 1 and a strategy without `Heuristic`.

    >>> from simulator import draft_model
    >>> strategy = draft_model(p=0.5, gamma=3, stop=Heuristic(start=2))
    >>> length_laws(strategy, rounds=2)
    array([[0.  , 0.  , 1.  , 0.  ],
           [0.  , 0.75, 0.  , 0.25]])
    """
    rounds = as_count("rounds", rounds, least=1)
    stop, whole = _heuristic(strategy), _kept_whole(strategy)
    gamma = strategy.draft.gamma
    longer, shorter = _next_lengths(stop, gamma)
    laws = np.zeros((rounds, gamma + 1))
    laws[0, stop.first(gamma=gamma)] = 1.0
    for r in range(1, rounds):
        np.add.at(laws[r], longer, laws[r - 1] * whole)
        np.add.at(laws[r], shorter, laws[r - 1] * (1.0 - whole))
    return laws


def long_run_lengths(strategy: Strategy) -> FloatArray:
    """The share of rounds that draft n tokens in the long run of a request, shape [gamma + 1].

    From the first length on, the chain ends in one of its closed classes of lengths; each has one
    stationary law, and the classes count with the probability of ending in them. Where lengths take
    turns (p = 0 or 1 at some depth) it is their share over time. Raises ValueError for gamma above
    MAX_STATES and a strategy without `Heuristic`.

    >>> from simulator import draft_model
    >>> long_run_lengths(draft_model(p=1.0, gamma=8, stop=Heuristic()))
    array([0., 0., 0., 0., 0., 0., 0., 0., 1.])
    """
    stop, whole = _heuristic(strategy), _kept_whole(strategy)
    gamma = as_count("gamma", strategy.draft.gamma, most=MAX_STATES)
    longer, shorter = _next_lengths(stop, gamma)
    moves = np.zeros((gamma + 1, gamma + 1))
    np.add.at(moves, (np.arange(gamma + 1), longer), whole)
    np.add.at(moves, (np.arange(gamma + 1), shorter), 1.0 - whole)
    law = np.zeros(gamma + 1)
    for states, chance in _closed_classes(moves, stop.first(gamma=gamma)):
        law[states] += chance * _stationary(moves[np.ix_(states, states)])
    return law


def _closed_classes(moves: FloatArray, first: int) -> list[tuple[IntArray, float]]:
    """The sets of states that are never left again, with the chance of ending in each."""
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 — imported where used

    _, labels = connected_components(moves > 0.0, directed=True, connection="strong")
    leaves = np.zeros(labels.max() + 1, dtype=bool)
    origins, ends = np.nonzero(moves)
    leaves[labels[origins][labels[origins] != labels[ends]]] = True
    transient = np.flatnonzero(leaves[labels])
    classes: list[IntArray] = [np.flatnonzero(labels == label) for label in np.flatnonzero(~leaves)]
    if first not in transient:
        return [(states, 1.0) for states in classes if first in states]
    within = np.eye(transient.size) - moves[np.ix_(transient, transient)]
    entered = np.stack([moves[np.ix_(transient, states)].sum(axis=1) for states in classes], axis=1)
    chances = np.linalg.solve(within, entered)[np.flatnonzero(transient == first)[0]]
    return list(zip(classes, chances.tolist(), strict=True))


def _stationary(moves: FloatArray) -> FloatArray:
    """The stationary law of an irreducible chain by state reduction, which subtracts nothing.

    Grassmann, Taksar, Heyman 1985: every entry is right to a few units in the last place, however
    rare the state.
    """
    rates = moves.copy()
    for last in range(len(rates) - 1, 0, -1):
        rates[:last, last] /= rates[last, :last].sum()
        rates[:last, :last] += np.outer(rates[:last, last], rates[last, :last])
    law: FloatArray = np.ones(len(rates))
    for state in range(1, len(rates)):
        law[state] = law[:state] @ rates[:state, state]
    law /= law.sum()
    return law


def _heuristic(strategy: Strategy) -> Heuristic:
    stop = strategy.draft.stop
    if not isinstance(stop, Heuristic):
        raise ValueError(f"strategy must draft by a Heuristic; got {described(strategy)}.")
    return stop


def _kept_whole(strategy: Strategy) -> FloatArray:
    """P(all n drafted tokens are kept), n = 0..gamma."""
    fixed = Strategy(
        name=strategy.name,
        draft=Chain(gamma=strategy.draft.gamma),
        acceptance=strategy.acceptance,
    )
    return np.array([1.0, *round_law(fixed).survival])


def _next_lengths(stop: Heuristic, gamma: int) -> tuple[IntArray, IntArray]:
    lengths = np.arange(gamma + 1)
    return (
        np.minimum(lengths + stop.step_up, gamma),
        np.maximum(lengths - stop.step_down, min(1, gamma)),
    )
