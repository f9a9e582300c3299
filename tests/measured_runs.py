"""Measured requests whose truth is known: counts from coin flips, times from stated costs."""

from __future__ import annotations

import numpy as np

from simulator import AcceptanceTable
from simulator.costs import MeasuredRequest, PassTimes

STEP_S = 0.01
COST_RATIO = 0.125
OVERHEAD = 0.0625


def pass_cost(width):
    """V: a pass over five tokens costs 1.25 steps."""
    return 1.0 + (width - 1) / 16


def measured_run(
    *,
    gammas=(1, 2, 4, 8),
    prompts=12,
    length=64,
    acceptance=(0.8,),
    spread=0.0,
    overhead=lambda _gamma: OVERHEAD,
    cost_ratio=lambda _gamma: COST_RATIO,
    verify_cost=pass_cost,
    slow=0.0,
    empty=0.0,
    length_rule="fixed",
    repeats=1,
    rng=0,
):
    """One request per prompt, repeat and gamma, plain ones included.

    `acceptance` by depth, the last one going on; `spread` is the sd of a prompt's own shift of it;
    `slow` the sd of a prompt's own factor on every time; a share `empty` of rounds drafts nothing.
    `length` tokens after that of prefill, or
    one number per prompt.
    """
    rng = np.random.default_rng(rng)
    lengths = np.broadcast_to(length, prompts)
    requests = []
    for i in range(prompts):
        shift, factor = spread * rng.standard_normal(), np.exp(slow * rng.standard_normal())
        step = STEP_S * factor
        for repeat in range(repeats):
            requests.append(plain_request(f"prompt {i}", int(lengths[i]), step, repeat))
            for gamma in gammas:
                chances = [
                    float(np.clip(acceptance[min(depth, len(acceptance) - 1)] + shift, 0.0, 1.0))
                    for depth in range(gamma)
                ]
                table, alone = flipped(chances, int(lengths[i]), length_rule, empty, rng)
                full = table.rounds - alone
                passes = tuple(
                    PassTimes(width=width, count=count, total_s=step * count * verify_cost(width))
                    for width, count in ((1, alone), (gamma + 1, full))
                    if count
                )
                draft_s = step * table.drafted * cost_ratio(gamma)
                requests.append(
                    MeasuredRequest(
                        prompt=f"prompt {i}",
                        gamma=gamma,
                        repeat=repeat,
                        table=table,
                        emitted=table.emitted,
                        prefill_s=3 * step,
                        decode_s=sum(times.total_s for times in passes)
                        + draft_s
                        + step * table.rounds * overhead(gamma),
                        passes=passes,
                        draft_steps=table.drafted,
                        draft_s=draft_s,
                    )
                )
    return tuple(requests)


def plain_request(prompt, length, step_s=STEP_S, repeat=0):
    return MeasuredRequest(
        prompt=prompt,
        gamma=0,
        repeat=repeat,
        table=AcceptanceTable(rounds=length, drafted=0, tested=(), accepted=()),
        emitted=length,
        prefill_s=3 * step_s,
        decode_s=step_s * length,
        passes=(PassTimes(width=1, count=length, total_s=step_s * length),),
        draft_steps=0,
        draft_s=0.0,
    )


def flipped(chances, length, length_rule, empty, rng):
    """The table of rounds until `length` tokens are there, and how many of them had no draft."""
    gamma, there, alone = len(chances), 0, 0
    kept = []
    while there < length:
        if empty and rng.random() < empty:
            alone, there = alone + 1, there + 1
            continue
        flips = rng.random(gamma) < chances
        kept.append(gamma if flips.all() else int(np.argmin(flips)))
        there += kept[-1] + 1
    table = AcceptanceTable.from_lengths(np.array(kept, dtype=int), gamma=gamma)
    table = AcceptanceTable(
        rounds=table.rounds + alone,
        drafted=table.drafted,
        tested=table.tested,
        accepted=table.accepted,
        discarded=there - length,
        length_rule=length_rule,
    )
    return table, alone
