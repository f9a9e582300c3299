"""Whole requests for tests: the processes, the plain loop on the same draws, rounds taken apart."""

from __future__ import annotations

import numpy as np

from analysis.process_laws import ProcessLaw, round_moves
from simulator import (
    AcceptanceTable,
    BetaMixture,
    EasyHardChain,
    HitMiss,
    calibrated_acceptance,
    draft_model,
)
from simulator._positions import Source

CHAIN = EasyHardChain(p_easy=0.9, p_hard=0.3, stay_easy=0.9, stay_hard=0.7)
HITS = HitMiss(coverage=0.6, right=0.7, p_right=0.95, p_wrong=0.2)
MIXTURE = BetaMixture(p=0.7, concentration=3.0)
PROCESSES = {
    "constant": lambda gamma: draft_model(p=0.8, gamma=gamma),
    "by depth": lambda gamma: draft_model(by_depth=[0.9, 0.4, 1.0, 0.4, 0.0, *[0.7] * 400][:gamma]),
    "confident": lambda gamma: draft_model(
        acceptance=calibrated_acceptance(p=0.7, concentration=2.0), gamma=gamma
    ),
    "mixture": lambda gamma: draft_model(acceptance=MIXTURE, gamma=gamma),
    "chain": lambda gamma: draft_model(acceptance=CHAIN, gamma=gamma),
    "hit or miss": lambda gamma: draft_model(acceptance=HITS, gamma=gamma),
}


def plain_loop(strategy, count, tokens, seed, *, rounds=None):
    """The rounds of each request, (drafted, accepted, begin), token by token from the same draws."""
    gamma = strategy.draft.gamma
    source = Source(strategy.acceptance, gamma, np.random.default_rng(seed))
    source.begin(count)
    drawn = source.next(count, tokens + gamma if rounds is None else rounds * (gamma + 1))
    below = None if drawn.ranks is None else [
        sorted(set(strategy.conditional_acceptance)).index(p)
        for p in strategy.conditional_acceptance
    ]  # fmt: skip
    texts = []
    for r in range(count):
        at, steps = 0, []
        while at < tokens if rounds is None else len(steps) < rounds:
            begin, accepted = at, 0
            drafted = gamma if drawn.found is None or drawn.found[begin, r] else 0
            right = drawn.right is None or drawn.right[begin, r]
            while accepted < drafted:
                if below is not None:
                    kept = drawn.ranks[at, r] <= below[accepted]
                else:
                    kept = (drawn.kept if right else drawn.kept_wrong)[at, r]
                if not kept:
                    break
                accepted, at = accepted + 1, at + 1
            at += 1
            steps.append((drafted, accepted, begin))
        texts.append(steps)
    return texts


def kth_rounds(run, k):
    """The k-th round of every request as a table of its own: independent rounds."""
    first = np.searchsorted(run.in_order.request, np.arange(run.requests))
    return AcceptanceTable.from_lengths(run.in_order.accepted[first + k], gamma=run.gamma)


def law_of_kth_round(chain, gamma, k):
    """The stationary text at the first position, then one move of the round starts per round."""
    moves, alive = round_moves(chain, gamma)
    start = np.array([chain.easy_share, 1 - chain.easy_share]) @ np.linalg.matrix_power(moves, k)
    return ProcessLaw(survival=tuple((alive @ start).tolist()))


def rounds_pmf(pmf, tokens):
    """P(a text of so many tokens takes r rounds), r = 0..tokens, by adding up rounds."""
    gone = np.zeros(tokens + len(pmf))
    gone[0] = 1.0  # P(so many tokens are there)
    law = [0.0]
    for _ in range(tokens):
        gone[tokens:] = 0.0
        gone = np.convolve(gone[:tokens], [0.0, *pmf])
        law.append(gone[tokens:].sum())
    return np.array(law)
