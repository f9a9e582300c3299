"""For every finding of the doctor: observations that show it, and the same with its cause removed."""

from __future__ import annotations

from dataclasses import replace

from simulator import (
    AcceptanceTable,
    AcceptanceTotals,
    Clock,
    CountedUnit,
    Observation,
    ReportedRatio,
)

PLAIN = 0.020
"""Seconds of a plain step."""


def expected_table(p=0.7, gamma=4, rounds=5_000):
    """Counts as close to their expectation as whole numbers are; p is one number or one per depth."""
    by_depth = [p] * gamma if isinstance(p, float) else list(p)
    reached, alive = [rounds], 1.0
    for each in by_depth:
        alive *= each
        reached.append(round(rounds * alive))
    return AcceptanceTable(
        rounds=rounds,
        drafted=rounds * len(by_depth),
        tested=tuple(reached[:-1]),
        accepted=tuple(reached[1:]),
    )


def run(p=0.7, gamma=4, rounds=5_000, *, price=0.1, overhead=0.0, plain=PLAIN, **more):
    """A healthy run: each drafted token costs `price` plain steps, and the clock agrees with it."""
    table = expected_table(p, gamma, rounds)
    step = plain * (1.0 + price * table.depths + overhead)
    clock = Clock(decode_s=rounds * step, plain_s_per_token=plain)
    values = {
        "gamma": table.depths,
        "rounds": table.rounds,
        "drafted": table.drafted,
        "accepted": sum(table.accepted),
        "length_rule": "fixed",
        "counts": table,
        "clock": clock,
        "method": "draft_model",
        "target": "dense-7B",
    }
    return Observation(**(values | more))


def ratio(quantity, value, half_width=0.0005, depth=None):
    return ReportedRatio(
        quantity=quantity, value=value, half_width=half_width, averaged_over="run", depth=depth
    )


def survival(*values, half_width=0.0005):
    return tuple(ratio("survival", each, half_width, depth) for depth, each in enumerate(values))


def printed(*ratios, **more):
    return Observation(printed=ratios, **({"gamma": 4, "length_rule": "fixed"} | more))


def timed(gamma, tokens, seconds, **more):
    """A run of which only the length and the time per token are printed."""
    return printed(
        ratio("tokens_per_round", tokens, 0.005),
        gamma=gamma,
        clock=Clock(s_per_token=seconds),
        name=f"γ = {gamma}",
        **more,
    )


def at_batch(batch, price, **more):
    return run(batch=batch, price=price, name=f"batch {batch}", **more)


_GOOD = run(name="one")
_DRAFT = {"method": "draft_model"}
_LINE = survival(0.7, 0.49, 0.343, 0.240)
_OLD = {"engine": "vllm", "version": "V0", "gamma": 5, "length_rule": "fixed"}


def drafting(share, price=0.5):
    """A run in which drafting takes `share` of a round."""
    seen = run(price=price)
    return replace(seen, clock=replace(seen.clock, draft_s=share * (seen.clock.decode_s or 0.0)))


def counted(rounds, drafted, accepted, **more):
    totals = AcceptanceTotals(rounds=rounds, drafted=drafted, accepted=accepted, longest_draft=4)
    values = {"rounds": rounds, "drafted": drafted, "accepted": accepted, "gamma": 4}
    return Observation(counts=totals, **(values | more))


SICK = {
    "accepted_without_drafted": (
        [Observation(drafted=0, accepted=5, rounds=9)],
        [Observation(drafted=9, accepted=5, rounds=9)],
    ),
    "unit_error": (
        [printed(ratio("accepted_fraction", 44.3), ratio("tokens_per_round", 2.77))],
        [printed(ratio("accepted_fraction", 0.443), ratio("tokens_per_round", 2.77))],
    ),
    "length_outside_range": (
        [printed(ratio("tokens_per_round", 5.2))],
        [printed(ratio("tokens_per_round", 4.2))],
    ),
    "speedup_above_tokens_per_round": (
        [printed(ratio("tokens_per_round", 2.0), clock=Clock(speedup=2.2))],
        [printed(ratio("tokens_per_round", 2.0), clock=Clock(speedup=1.8))],
    ),
    "sglang_rate_with_bonus": (
        [
            printed(
                ratio("tokens_per_round", 2.17, 0.005),
                ratio("accepted_fraction", 0.54, 0.005),
                gamma=3,
            )
        ],
        [
            printed(
                ratio("tokens_per_round", 2.17, 0.005),
                ratio("accepted_fraction", 0.39, 0.005),
                gamma=3,
            )
        ],
    ),
    "length_without_bonus": (
        [run(printed=(ratio("tokens_per_round", 1.773),))],
        [run(printed=(ratio("tokens_per_round", 2.773),))],
    ),
    "numeric_backend_bug": (
        [replace(_GOOD, name="CUDA"), run(p=0.01, name="Vulkan")],
        [replace(_GOOD, name="CUDA"), run(p=0.69, name="Vulkan")],
    ),
    "chance_level_first_position": ([run(p=0.03)], [run(p=0.3)]),
    "dead_after_first": ([run(p=(0.6, 0.01, 0.0, 0.0))], [run(p=(0.6, 0.55, 0.5, 0.5))]),
    "suspicious_round_value": ([run(p=1.0)], [run(p=0.7)]),
    "fixed_overhead_dominates": ([run(overhead=9.0)], [run(overhead=0.1)]),
    "memory_spill": (
        [run(context=1_000, name="short"), run(context=2_000, plain=0.1, name="long")],
        [run(context=1_000, name="short"), run(context=2_000, plain=0.03, name="long")],
    ),
    "context_cost": (
        [run(context=1_000, name="short"), run(context=90_000, plain=0.03, name="long")],
        [run(context=1_000, name="short"), run(context=90_000, plain=0.0204, name="long")],
    ),
    "moe_verify_cost": (
        [run(price=0.5, target="Qwen3-30B-A3B")],
        [run(price=0.5, target="Qwen3-32B")],
    ),
    "draft_cost_dominates": ([drafting(0.6)], [drafting(0.1)]),
    "verify_cost_dominates": ([drafting(0.1)], [drafting(0.1, price=0.1)]),
    "gamma_too_long": (
        [timed(2, 2.3, 0.010), timed(6, 2.6, 0.012)],
        [timed(2, 2.3, 0.012), timed(6, 2.6, 0.010)],
    ),
    "batch_saturation": (
        [at_batch(1, 0.1), at_batch(64, 0.3)],
        [at_batch(1, 0.1), at_batch(64, 0.1)],
    ),
    "acceptance_changed": ([run(p=0.7, name="a"), run(p=0.5, name="b")], [_GOOD, run(name="b")]),
    "pass_time_changed": ([run(name="a"), run(plain=0.026, name="b")], [_GOOD, run(name="b")]),
    "vllm_v0_counts": (
        [Observation(drafted=5_000, accepted=2_500, emitted=2_200, **_OLD)],
        [Observation(drafted=5_000, accepted=2_500, emitted=3_500, **(_OLD | {"version": "V1"}))],
    ),
    "undrafted_rounds": ([run(undrafted_rounds=900)], [run(undrafted_rounds=0)]),
    "short_drafts": ([counted(1_000, 2_000, 1_500)], [counted(1_000, 4_000, 1_500)]),
    "truncated_positions": (
        [printed(ratio("tokens_per_round", 2.773), *_LINE[:2])],
        [printed(ratio("tokens_per_round", 2.773), *_LINE)],
    ),
    "rate_is_accepted_over_drafted": ([run(gamma=4)], [run(gamma=1)]),
    "saturated_acceptance": ([run(p=0.99)], [run(p=0.8)]),
    "gamma_could_be_longer": ([run(p=0.95, gamma=3, price=0.02)], [run(p=0.6, gamma=3)]),
    "acceptance_falls_with_depth": ([run(p=(0.8, 0.7, 0.6, 0.5))], [run(p=0.7)]),
    "acceptance_rises_with_depth": ([run(p=(0.6, 0.7, 0.8, 0.9))], [run(p=0.7)]),
    "noise_or_outlier": (
        [run(clock=Clock(s_per_token=0.01, plain_s_per_token=0.02, speedup=1.7))],
        [run(clock=Clock(s_per_token=0.01, plain_s_per_token=0.02, speedup=2.0))],
    ),
    "small_sample": ([run(rounds=20)], [run(rounds=2_000)]),
    "cumulative_counters": (
        [counted(n, 4 * n, 2 * n) for n in (1_000, 1_100, 1_250)],
        [counted(n, 4 * n, 2 * n) for n in (1_000, 100, 1_250)],
    ),
    "window_counters": (
        [
            run(
                unit="interval",
                units=(CountedUnit(counts=expected_table()),),
                clock=Clock(tokens_per_s=90.0, running=1),
            )
        ],
        [run()],
    ),
    "acceptance_independent_of_batch": (
        [at_batch(1, 0.1), at_batch(64, 0.1)],
        [at_batch(1, 0.1), at_batch(64, 0.1, p=0.5)],
    ),
    "healthy": ([run()], [run(p=0.03)]),
    "not_enough_data": ([Observation(clock=Clock(speedup=1.2))], [run()]),
}
"""code: (observations with the finding, the same without its cause)."""
