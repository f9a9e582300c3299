"""A draft–verify loop that runs both models, with the verdict forced: drafts are kept with chance p.

Both models read their own tokens and choose greedily, as in a real loop; only how many of a round's
drafts count as accepted is drawn beforehand. Everything else is done: caches are rolled back, the
target's choice behind the last kept draft goes on, and the host reads the tokens of every round.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from gpu_clock import FEWEST_REPEATS, Budget, Clock, interleaved
from gpu_derived import with_formulas
from gpu_groups import cache_for, pass_for
from gpu_passes import IdlePass
from gpu_records import LoopTime, Spread, spread
from gpu_stack import Stack

from analysis.formulas import expected_tokens

PASS_REPEATS = 4  # passes are short: so many times for each repeat of the loops


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Passes of target and draft by their width, for one request that holds `context` tokens."""

    target: dict
    draft: dict
    context: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the loops are to do; `tokens` is how many each decodes, as near as whole rounds come."""

    mode: str
    context: int
    tokens: int
    gammas: tuple[int, ...]
    chances: tuple[float, ...]
    repeats: int
    seed: int

    def __post_init__(self) -> None:
        if self.tokens <= max(self.gammas):
            raise ValueError(
                f"tokens must be above the longest gamma, {max(self.gammas)}; got {self.tokens}."
            )


def draw_accepted(p: float, gamma: int, rounds: int, rng: np.random.Generator) -> np.ndarray:
    """Drafts kept in each round, [rounds]: every draft with chance p, up to the first that is not."""
    kept = rng.random((rounds, gamma)) < p
    return np.cumprod(kept, axis=1).sum(axis=1)


def rounds_for(plan: Plan, p: float, gamma: int) -> int:
    """So many rounds that they emit `tokens` on average; fixed, so that stopping biases nothing."""
    return max(1, round(plan.tokens / float(expected_tokens(p, gamma))))


def decode_plainly(pair: Pair, first: int, tokens: int) -> list[int]:
    """Tokens behind `first`, one pass and one reading by the host for each."""
    step, text = pair.target[1], []
    step.tokens.fill_(first)
    for length in range(pair.context, pair.context + tokens):
        step.run(length)
        step.tokens.copy_(step.chosen)
        text += step.chosen[0].tolist()
    return text


def decode_speculatively(pair: Pair, first: int, gamma: int, accepted: list[int]) -> list[int]:
    """Tokens behind `first`, by rounds of gamma drafts of which so many are kept.

    The target's cache holds all tokens but the last. The draft's holds the same, or one fewer behind
    a round that kept everything, whose last draft it never read: its next pass then reads two.
    """
    verify, one, two = pair.target[gamma + 1], pair.draft[1], pair.draft[2]
    read = drafted = pair.context
    text: list[int] = []
    verify.tokens[:, :1].fill_(first)
    for kept in accepted:
        step = one
        if drafted < read:
            step = two
            two.tokens[:, 1:].copy_(verify.tokens[:, :1])
        else:
            one.tokens.copy_(verify.tokens[:, :1])
        for draft in range(1, gamma + 1):
            step.run(drafted)
            drafted += step.tokens.shape[1]
            verify.tokens[:, draft : draft + 1].copy_(step.chosen[:, -1:])
            one.tokens.copy_(step.chosen[:, -1:])
            step = one
        verify.run(read)
        told = torch.cat((verify.tokens[0, 1:], verify.chosen[0])).tolist()
        text += [*told[:kept], told[gamma + kept]]
        if kept == gamma:
            two.tokens[:, :1].copy_(verify.tokens[:, gamma:])
        verify.tokens[:, :1].copy_(verify.chosen[:, kept : kept + 1])
        read += kept + 1
        drafted = min(drafted, read)
    return text


def pair_of(target: Stack, draft: Stack, plan: Plan) -> Pair:
    """The passes that the loops need, on caches with room for them."""
    room = 2 * plan.tokens + 2 * max(plan.gammas) + 2
    widths = sorted({1, *(gamma + 1 for gamma in plan.gammas)})
    target_cache = cache_for(target, plan.mode, 1, plan.context, room)
    draft_cache = cache_for(draft, plan.mode, 1, plan.context, room)
    return Pair(
        target={n: pass_for(target, plan.mode, target_cache, 1, n) for n in widths},
        draft={n: pass_for(draft, plan.mode, draft_cache, 1, n) for n in (1, 2)},
        context=plan.context,
    )


def time_loops(
    target: Stack, draft: Stack, plan: Plan, clock: Clock, budget: Budget
) -> tuple[LoopTime, ...]:
    """Speculative against plain decoding at every gamma and p, all in turn, beside the formula."""
    pair = pair_of(target, draft, plan)
    idle = Pair(
        target={n: IdlePass(target, 1, n) for n in pair.target},
        draft={n: IdlePass(draft, 1, n) for n in pair.draft},
        context=plan.context,
    )
    passes = pass_seconds(pair, plan, clock, budget)
    rng = np.random.default_rng(plan.seed)
    cells = [(gamma, p) for gamma in plan.gammas for p in plan.chances]
    plain: list[float] = []
    round_s: dict[tuple[int, float], list[float]] = {cell: [] for cell in cells}
    counts = {cell: [0, 0] for cell in cells}  # rounds, accepted
    decode_plainly(pair, 0, plan.tokens)
    for repeat in range(plan.repeats):
        if repeat >= FEWEST_REPEATS and budget.left_s <= 0.0:
            break
        plain.append(clock.wall_seconds(lambda: decode_plainly(pair, 0, plan.tokens)) / plan.tokens)
        for gamma, p in cells:
            accepted = fitting(draw_accepted(p, gamma, rounds_for(plan, p, gamma), rng), plan)
            took = clock.wall_seconds(
                lambda gamma=gamma, accepted=accepted: decode_speculatively(
                    pair, 0, gamma, accepted
                )
            )
            round_s[gamma, p].append(took / len(accepted))
            counts[gamma, p][0] += len(accepted)
            counts[gamma, p][1] += sum(accepted)
    overheads = overhead_seconds(idle, plan, clock)
    return tuple(
        _loop_time(plan, cell, counts[cell], plain, round_s[cell], passes, overheads)
        for cell in cells
    )


def fitting(accepted: np.ndarray, plan: Plan) -> list[int]:
    """The rounds for which the caches have room: up to 2 · tokens, about ten deviations above."""
    emitted = np.cumsum(accepted + 1)
    return [int(kept) for kept in accepted[emitted <= 2 * plan.tokens]]


def pass_seconds(pair: Pair, plan: Plan, clock: Clock, budget: Budget) -> dict[str, Spread]:
    """Times of the loop's own passes, in turn."""
    works: dict[str, Callable[[], None]] = {}
    for model, passes in (("target", pair.target), ("draft", pair.draft)):
        for count, step in passes.items():
            works[f"{model} {count}"] = functools.partial(step.run, pair.context)
    spreads, failed = interleaved(works, PASS_REPEATS * plan.repeats, clock, budget)
    if failed:
        raise RuntimeError("; ".join(f"{case}: {reason}" for case, reason in failed.items()))
    return spreads


def overhead_seconds(idle: Pair, plan: Plan, clock: Clock) -> dict[object, float]:
    """What a plain step, and a round at each gamma and p, takes when its passes do nothing."""
    rng = np.random.default_rng(plan.seed)
    seconds: dict[object, list[float]] = {}
    for _ in range(1 + plan.repeats):
        plain = clock.wall_seconds(lambda: decode_plainly(idle, 0, plan.tokens))
        seconds.setdefault("plain", []).append(plain / plan.tokens)
        for gamma in plan.gammas:
            for p in plan.chances:
                kept = fitting(draw_accepted(p, gamma, rounds_for(plan, p, gamma), rng), plan)
                took = clock.wall_seconds(
                    lambda gamma=gamma, kept=kept: decode_speculatively(idle, 0, gamma, kept)
                )
                seconds.setdefault((gamma, p), []).append(took / len(kept))
    return {case: spread(values[1:]).median for case, values in seconds.items()}


def _loop_time(
    plan: Plan,
    cell: tuple[int, float],
    counts: list[int],
    plain: list[float],
    round_s: list[float],
    passes: dict[str, Spread],
    overheads: dict[object, float],
) -> LoopTime:
    gamma, p = cell
    rounds, accepted = counts
    unknown = spread([0.0])  # until what follows is put in
    measured = LoopTime(
        mode=plan.mode,
        gamma=gamma,
        p=p,
        rounds=rounds,
        accepted=accepted,
        plain_token_s=tuple(plain),
        round_s=tuple(round_s),
        target_s=passes["target 1"].median,
        verify_s=passes[f"target {gamma + 1}"].median,
        draft_s=passes["draft 1"].median,
        draft_two_s=passes["draft 2"].median,
        plain_overhead_s=overheads["plain"],
        round_overhead_s=overheads[cell],
        tokens_per_round=0.0,
        expected_tokens=0.0,
        speedup=unknown,
        formula=0.0,
        formula_passes=0.0,
        formula_counts=0.0,
    )
    return with_formulas(measured)
