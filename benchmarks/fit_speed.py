"""How long it takes to fit and to predict for many requests, the rounds of each in order."""

from __future__ import annotations

import sys
import time

from rows import Row

import analysis as an
from simulator import EasyHardChain, draft_model
from simulator.requests import simulate_requests

REQUESTS = 10_000
GAMMA = 5
TOKENS = 256
CHAIN = EasyHardChain(p_easy=0.92, p_hard=0.3, stay_easy=0.9, stay_hard=0.8)
COSTS = an.RoundCosts(cost_ratio=0.05)


def fitting(requests: int = REQUESTS, repeats: int = 3) -> Row:
    """The best of a few runs: fit all processes, choose, predict γ 0 to 16 with intervals."""
    strategy = draft_model(acceptance=CHAIN, gamma=GAMMA)
    drawn = simulate_requests(strategy, requests=requests, tokens=TOKENS, rng=0, record_steps=True)
    units = drawn.units()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        found = an.fit(units, rng=0)
        predicted = [found.tokens_per_round(gamma) for gamma in range(17)]
        best = found.best_gamma(COSTS)
        seconds.append(time.perf_counter() - start)
    exact = an.process_tokens_per_round(CHAIN, GAMMA)
    right = found.name == "easy/hard chain" and abs(predicted[GAMMA].value / exact - 1.0) < 0.02
    if not right or best.gamma not in best.flat:
        raise SystemExit(f"the fit is wrong: {found.name}, {predicted[GAMMA]} instead of {exact}")
    return Row(
        what=f"`fit` of {requests:,} requests of {TOKENS} tokens, γ {GAMMA}, rounds in order: six processes, "
        "the choice, predictions for γ 0 to 16 and the best γ with intervals by request",
        measured=f"{min(seconds):.1f} s",
        required="< 10 s",
        ok=min(seconds) < 10.0,
    )


def rows() -> list[Row]:
    return [fitting()]


if __name__ == "__main__":
    print(fitting(int(sys.argv[1]) if len(sys.argv) > 1 else REQUESTS))
