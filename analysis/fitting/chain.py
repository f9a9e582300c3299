# ruff: noqa: D102 — `Law` says what each method is
"""The easy/hard chain along the text as a hidden Markov likelihood over rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from analysis.fitting.laws import Law, chance, odds, pairs
from analysis.fitting.rows import Rows
from simulator import EasyHardChain, Process
from simulator._checks import FloatArray, IntArray

_CELLS = 300_000  # points × rows at a time: what stays in a cache


class EasyHard(Law):
    """Positions are easy or hard, a Markov chain; a tested token is kept with the p of its position.

    With D = diag(p), T the transitions and v the law of the state where a round begins, a round that
    keeps k tokens and loses the next one takes v to v (D T)^k (1 - D) T, one that keeps all k of its
    draft to v (D T)^k T: the bonus token has a position, but nothing is seen of it. The sums of v
    are the likelihood. Texts begin in the stationary law.
    """

    name = "easy/hard chain"
    in_order = True

    def obstacle(self, rows: Rows) -> str | None:
        if rows.kept is None:
            return "needs the rounds of each request in order"
        if not rows.drafted_rounds():
            return "no token was tested"
        return None if len(rows.kept) >= 2 else "needs requests of 2 rounds or more"

    def names(self, rows: Rows) -> tuple[str, ...]:
        del rows
        return ("p_easy", "p_hard", "stay_easy", "stay_hard")

    def starts(self, rows: Rows) -> FloatArray:
        tested = max(float((rows.weights @ rows.tested).sum()), 1.0)
        p = float((rows.weights @ rows.accepted).sum()) / tested
        return np.asarray(
            [
                [*odds(np.asarray([p + (1.0 - p) * apart, p * (1.0 - apart)])), *odds(stay)]
                for apart in (0.3, 0.7)
                for stay in np.asarray([[0.6, 0.6], [0.9, 0.7], [0.7, 0.9], [0.95, 0.95]])
            ]
        )

    def log_likelihood(self, thetas: FloatArray, rows: Rows) -> FloatArray:
        codes = list(_codes(rows))
        block = max(_CELLS // max(len(rows.rounds), 1), 1)
        parts = [_forward(thetas[i : i + block], codes, rows) for i in range(0, len(thetas), block)]
        return np.concatenate(parts)

    def natural(self, thetas: FloatArray) -> FloatArray:
        p = chance(thetas)
        swap = (p[:, 0] < p[:, 1])[:, np.newaxis]  # easy is the better one
        return np.where(swap, p[:, [1, 0, 3, 2]], p)

    def process(self, theta: FloatArray, gamma: int, coverage: float) -> Process:
        del gamma, coverage
        p_easy, p_hard, stay_easy, stay_hard = (
            float(p) for p in self.natural(theta[np.newaxis])[0]
        )
        return EasyHardChain(p_easy=p_easy, p_hard=p_hard, stay_easy=stay_easy, stay_hard=stay_hard)

    def canonical(self, theta: FloatArray) -> FloatArray:
        return theta if theta[0] >= theta[1] else theta[[1, 0, 3, 2]]

    def tokens(self, thetas: FloatArray, gammas: Sequence[int]) -> FloatArray:
        """1 + Σ n P(n kept), from the law of the states in which rounds begin in the long run."""
        return _tokens(thetas, gammas)

    def residuals(self, theta: FloatArray, rows: Rows) -> FloatArray:
        """Against the law of the state as known before each round."""
        assert rows.kept is not None  # noqa: S101 — `obstacle` has seen to it
        assert rows.drafted is not None  # noqa: S101
        p = chance(theta)
        keep = np.diag(p[:2]) @ _transitions(theta[np.newaxis])[0]
        outcomes = outcome_matrices(theta[np.newaxis], rows.depths)[0]
        state = np.tile(_stationary(theta[np.newaxis])[0], (len(rows.rounds), 1))
        apart = np.zeros((len(rows.rounds), rows.depths))
        surprise = np.zeros(rows.kept.shape)
        for t, codes in enumerate(_codes(rows)):
            active = len(codes)
            kept, drafted = rows.kept[t, :active], rows.drafted[t, :active]
            alive, before = state[:active], np.ones(active)
            for depth in range(rows.depths):
                alive = alive @ keep
                after = alive.sum(axis=1)
                tested = (drafted > depth) & (kept >= depth)
                apart[:active, depth] += np.where(
                    tested, (kept > depth) - after / np.maximum(before, 1e-300), 0.0
                )
                surprise[t, :active] -= np.where(drafted > depth, after, 0.0)
                before = after
            surprise[t, :active] += kept
            state[:active] = np.einsum("rs,rst->rt", state[:active], outcomes[codes])
            state[:active] /= np.maximum(state[:active].sum(axis=1, keepdims=True), 1e-300)
        return np.column_stack([apart, pairs(surprise, rows)])


def _tokens(thetas: FloatArray, gammas: Sequence[int]) -> FloatArray:
    longest = max(gammas, default=0)
    p, change = chance(thetas[:, :2]), _transitions(thetas)
    keep, lose = p[:, :, np.newaxis] * change, (1.0 - p)[:, :, np.newaxis] * change
    alive = np.broadcast_to(np.eye(2), change.shape)
    moved = np.zeros_like(change)  # rounds that lost a token, from state to state
    reached = np.zeros((len(thetas), 2))  # Σ P(kept i and more), i = 1.., from each state
    tokens = np.ones((len(thetas), longest + 1))
    for gamma in range(longest + 1):
        if gamma:
            moved = moved + alive @ lose
            alive = alive @ keep
            reached = reached + alive.sum(axis=2)
        step = moved + alive @ change
        easy = step[:, 1, 0] / np.maximum(step[:, 0, 1] + step[:, 1, 0], 1e-300)
        tokens[:, gamma] += easy * reached[:, 0] + (1.0 - easy) * reached[:, 1]
    return np.asarray(tokens[:, list(gammas)], dtype=np.float64)


def outcome_matrices(thetas: FloatArray, depths: int) -> FloatArray:
    """What each outcome does to the state, [points, 2 depths + 1, 2, 2].

    Outcome k < depths: kept k and lost the next one; depths + k: the draft ended after k kept ones.
    """
    p = chance(thetas[:, :2])
    change = _transitions(thetas)
    keep, lose = p[:, :, np.newaxis] * change, (1.0 - p)[:, :, np.newaxis] * change
    matrices = np.empty((len(thetas), 2 * depths + 1, 2, 2))
    alive = np.broadcast_to(np.eye(2), change.shape)
    for kept in range(depths + 1):
        if kept < depths:
            matrices[:, kept] = alive @ lose
        matrices[:, depths + kept] = alive @ change
        alive = alive @ keep
    return matrices


def _transitions(thetas: FloatArray) -> FloatArray:
    stay = chance(thetas[:, 2:])
    change = np.empty((len(thetas), 2, 2))
    change[:, 0, 0], change[:, 0, 1] = stay[:, 0], 1.0 - stay[:, 0]
    change[:, 1, 1], change[:, 1, 0] = stay[:, 1], 1.0 - stay[:, 1]
    return change


def _stationary(thetas: FloatArray) -> FloatArray:
    leave = np.maximum(1.0 - chance(thetas[:, 2:]), 1e-7)  # two states that never change: half each
    return np.asarray(leave[:, ::-1] / leave.sum(axis=1, keepdims=True), dtype=np.float64)


def _codes(rows: Rows) -> Iterator[IntArray]:
    """The outcomes of each request's t-th round, for those that have one."""
    assert rows.kept is not None  # noqa: S101
    assert rows.drafted is not None  # noqa: S101
    assert rows.lengths is not None  # noqa: S101
    active = np.searchsorted(-rows.lengths, -np.arange(1, len(rows.kept) + 1), side="right")
    for t, count in enumerate(active):
        kept = rows.kept[t, :count]
        yield np.where(kept == rows.drafted[t, :count], rows.depths + kept, kept)


def _forward(thetas: FloatArray, codes: list[IntArray], rows: Rows) -> FloatArray:
    matrices = outcome_matrices(thetas, rows.depths)
    cells = [np.ascontiguousarray(matrices[:, :, i, j]) for i in (0, 1) for j in (0, 1)]
    begin = _stationary(thetas)
    easy = np.repeat(begin[:, :1], len(rows.rounds), axis=1)  # [points, rows]
    hard = 1.0 - easy
    total = np.zeros_like(easy)
    every = max(24 // max(rows.depths, 1), 1)  # rounds until a product of chances may get too small
    for t, code in enumerate(codes):
        n = len(code)
        ee, eh, he, hh = (np.take(cell, code, axis=1) for cell in cells)
        x, y = easy[:, :n], hard[:, :n]
        easy[:, :n], hard[:, :n] = x * ee + y * he, x * eh + y * hh
        if t % every == every - 1:
            scale = np.maximum(easy[:, :n] + hard[:, :n], 1e-300)
            total[:, :n] += np.log(scale)
            easy[:, :n] /= scale
            hard[:, :n] /= scale
    return np.asarray(total + np.log(np.maximum(easy + hard, 1e-300)), dtype=np.float64)
