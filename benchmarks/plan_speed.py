"""How long a plan takes: every batch, draft length and strategy, with intervals by request."""

from __future__ import annotations

import time

from rows import Row

import analysis as an
from simulator import ConstantAcceptance, draft_model
from simulator.requests import simulate_requests

BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 80, 96, 112, 128, 160)
GAMMAS = range(17)
REQUESTS = 1000
TOKENS = 256
CONTEXT = 1024
P = 0.75
NAMES = ("model", "head", "block", "lookup")


def strategies(acceptance: an.Fit) -> tuple[an.Deployment, ...]:
    """A draft model, a head and a block drafter of one fitted acceptance, and a lookup of an assumed one."""
    machine = an.Machine(accelerator=an.accelerator("H100 SXM"))
    target, draft = an.architecture("Llama 3.1 8B"), an.architecture("Llama 3.2 1B")
    drafts = (
        an.DraftKind(kind="model", model=draft),
        an.DraftKind(kind="head"),
        an.DraftKind(kind="block"),
        an.DraftKind(kind="lookup"),
    )
    found = an.Fit.of_process(ConstantAcceptance(p=0.4))
    return tuple(
        an.deploy(target, machine, kind, found if name == "lookup" else acceptance, name=name)
        for name, kind in zip(NAMES, drafts, strict=True)
    )


def planning(requests: int = REQUESTS, repeats: int = 3) -> Row:
    """The best of a few runs: fit the counts of requests with resampling, then plan with the fit."""
    strategy = draft_model(p=P, gamma=5)
    drawn = simulate_requests(strategy, requests=requests, tokens=TOKENS, rng=0)
    units = drawn.units()
    fitting, planned = [], []
    for _ in range(repeats):
        start = time.perf_counter()
        fitted = an.fit(units, rng=0, intervals="resampling")
        middle = time.perf_counter()
        found = an.plan(strategies(fitted), BATCHES, context=CONTEXT, gammas=GAMMAS)
        schedule = found.schedule()
        fitting.append(middle - start)
        planned.append(time.perf_counter() - middle)
    check(found, schedule, fitted)
    best = min(range(repeats), key=lambda i: fitting[i] + planned[i])
    total = fitting[best] + planned[best]
    return Row(
        what=f"`plan` of {len(BATCHES)} batch sizes × γ 0 to {GAMMAS[-1]} × {len(NAMES)} strategies with "
        f"intervals, and its schedule to the exact batch; with the fit to {requests:,} resampled requests "
        "before it",
        measured=f"{planned[best]:.2f} s; {total:.2f} s with the fit",
        required="< 1 s",
        ok=total < 1.0,
    )


def check(found: an.Plan, schedule: an.Schedule, fitted: an.Fit) -> None:
    """The plan is what each batch gives when it is asked alone."""
    for row in found.rows:
        for deployment, choice in zip(strategies(fitted), row.choices, strict=True):
            costs = deployment.round_costs(GAMMAS[-1], row.batch, CONTEXT)
            best = deployment.acceptance.best_gamma(costs, GAMMAS)
            same = (choice.gamma, choice.flat, choice.ties) == (best.gamma, best.flat, best.ties)
            if not same or abs(choice.speedup.value / best.speedup.value - 1.0) > 1e-12:
                raise SystemExit(f"the plan is wrong at batch {row.batch}: {choice} is not {best}")
    taken = [choice.gamma for choice in found.of(found.best_single)]
    if [schedule.gamma(batch) for batch in BATCHES] != taken:
        raise SystemExit(f"the schedule is wrong: {schedule.text} is not {taken}")


def rows() -> list[Row]:
    return [planning()]


if __name__ == "__main__":
    print(*rows(), sep="\n")
