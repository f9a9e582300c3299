"""What follows from measured passes: floors, V(n) and c, the formula's speedups, the break-even batch."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from gpu_records import BreakEven, LoopTime, PassCosts, PassTime, Rates, Report, difference, spread

from analysis.formulas import expected_tokens, round_cost, speedup


def against_floors(entry: PassTime, rates: Rates | None) -> PassTime:
    """The pass with its floors: bytes over the copy's rate, operations over the product's."""
    if rates is None:
        floor = product = None
    else:
        floor = entry.moved_bytes / rates.bytes_per_s
        product = entry.operations / rates.operations_per_s
    over = None if entry.pass_s is None or floor is None else entry.pass_s.median / floor
    return dataclasses.replace(entry, floor_s=floor, over_floor=over, product_floor_s=product)


def pass_costs(passes: Iterable[PassTime]) -> tuple[PassCosts, ...]:
    """V(n) and c wherever the target's pass over one token was measured."""
    groups: dict[tuple[str, int, int], dict[tuple[str, int], float]] = {}
    for entry in passes:
        if entry.pass_s is not None:
            group = groups.setdefault((entry.mode, entry.context, entry.batch), {})
            group[entry.model, entry.tokens] = entry.pass_s.median
    costs = []
    for (mode, context, batch), seconds in sorted(groups.items()):
        step = seconds.get(("target", 1))
        if step is None:
            continue
        draft = seconds.get(("draft", 1))
        widths = sorted(tokens for model, tokens in seconds if model == "target")
        costs.append(
            PassCosts(
                mode=mode,
                batch=batch,
                context=context,
                target_s=step,
                draft_s=draft,
                cost_ratio=None if draft is None else draft / step,
                widths=tuple(widths),
                verify_cost=tuple(seconds["target", n] / step for n in widths),
            )
        )
    return tuple(costs)


def with_formulas(loop: LoopTime) -> LoopTime:
    """The loop with its speedup and what the closed form says of it, in plain steps of its own mode.

    A round after one that kept everything begins with a draft pass over two tokens, since the last
    draft was never read by the draft model: chance p^gamma in the long run.
    """
    drafting = loop.gamma * loop.draft_s + loop.p**loop.gamma * (loop.draft_two_s - loop.draft_s)
    step = loop.target_s + loop.plain_overhead_s
    ratio, verify = drafting / loop.gamma / step, loop.verify_s / step
    overhead = loop.round_overhead_s / step
    cost = round_cost(loop.gamma, ratio, verify_cost=verify, overhead=overhead)
    repeats = zip(loop.plain_token_s, loop.round_s, strict=True)
    tokens = 1.0 + loop.accepted / loop.rounds
    return dataclasses.replace(
        loop,
        tokens_per_round=tokens,
        speedup=spread([tokens * plain / took for plain, took in repeats]),
        expected_tokens=float(expected_tokens(loop.p, loop.gamma)),
        formula=float(speedup(loop.p, loop.gamma, ratio, verify_cost=verify, overhead=overhead)),
        formula_passes=float(
            speedup(
                loop.p,
                loop.gamma,
                loop.draft_s / loop.target_s,
                verify_cost=loop.verify_s / loop.target_s,
            )
        ),
        formula_counts=tokens / float(cost),
    )


def break_even(
    costs: Iterable[PassCosts], *, context: int, gammas: Iterable[int], chances: Iterable[float]
) -> tuple[BreakEven, ...]:
    """Speedup by batch from the passes measured there, and where it stops paying.

    Speedup at batch b = E(p, γ) / (γ · T_d(b, 1) / T(b, 1) + T(b, γ + 1) / T(b, 1)).
    """
    costs = [entry for entry in costs if entry.context == context and entry.cost_ratio is not None]
    found = []
    for mode in sorted({entry.mode for entry in costs}):
        for gamma in gammas:
            measured = [
                (entry.batch, entry.cost_ratio, entry.verify_cost[entry.widths.index(gamma + 1)])
                for entry in costs
                if entry.mode == mode and gamma + 1 in entry.widths
            ]
            for p in chances:
                gains = [float(speedup(p, gamma, c, verify_cost=v)) for _, c, v in measured]
                batches = tuple(batch for batch, _, _ in measured)
                losing = [b for b, gain in zip(batches, gains, strict=True) if gain <= 1.0]
                if batches:
                    found.append(
                        BreakEven(
                            mode=mode,
                            gamma=gamma,
                            p=p,
                            batches=batches,
                            speedups=tuple(gains),
                            batch=min(losing, default=None),
                        )
                    )
    return tuple(found)


def derived(report: Report, *, gammas: Iterable[int], chances: Iterable[float]) -> Report:
    """The report with all that follows from its measurements."""
    costs = pass_costs(report.passes)
    return dataclasses.replace(
        report,
        passes=tuple(against_floors(entry, report.rates) for entry in report.passes),
        costs=costs,
        loops=tuple(map(with_formulas, report.loops)),
        break_even=break_even(costs, context=report.context, gammas=gammas, chances=chances),
    )


def check_report(report: Report) -> None:
    """Refuse a report that claims what does not follow from its own medians and counts."""
    gammas = sorted({entry.gamma for entry in report.break_even})
    chances = sorted({entry.p for entry in report.break_even})
    again = derived(report, gammas=gammas, chances=chances)
    for name in ("passes", "costs", "loops", "break_even"):
        if difference(getattr(report, name), getattr(again, name)):
            raise ValueError(f"{name} must follow from the measured times; a value there does not.")
    for entry in report.passes:
        if (entry.status == "measured") != (entry.pass_s is not None):
            raise ValueError("a pass must have a time exactly if its status is measured.")
