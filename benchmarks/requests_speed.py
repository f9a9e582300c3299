"""Whole requests under the easy/hard chain, against the loop that one writes first."""

from __future__ import annotations

import random

from rows import Row, interleaved

from simulator import EasyHardChain, draft_model, simulate_requests

CHAIN = EasyHardChain(p_easy=0.9, p_hard=0.3, stay_easy=0.9, stay_hard=0.7)
GAMMA = 4


def plain_loop(
    chain: EasyHardChain, gamma: int, *, requests: int, tokens: int, seed: int
) -> list[tuple[list[int], list[int], int]]:
    """(tested, accepted) by depth and the rounds of every request, token by token.

    Everything is a local name and the generator is Python's own, the fastest for one number at a time.
    """
    uniform = random.Random(seed).random  # noqa: S311 — a simulation
    p_easy, p_hard = chain.p_easy, chain.p_hard
    stay_easy, stay_hard = chain.stay_easy, chain.stay_hard
    easy_share = chain.easy_share
    counts = []
    for _ in range(requests):
        tested, accepted = [0] * gamma, [0] * gamma
        rounds, done = 0, 0
        easy = uniform() < easy_share
        while done < tokens:
            rounds += 1
            for depth in range(gamma):
                tested[depth] += 1
                kept = uniform() < (p_easy if easy else p_hard)
                easy = uniform() < stay_easy if easy else uniform() >= stay_hard
                done += 1
                if not kept:
                    break
                accepted[depth] += 1
            else:
                easy = uniform() < stay_easy if easy else uniform() >= stay_hard
                done += 1
        counts.append((tested, accepted, rounds))
    return counts


def whole_requests(requests: int = 10_000, tokens: int = 256, repeats: int = 7) -> Row:
    strategy = draft_model(acceptance=CHAIN, gamma=GAMMA)
    size = {"requests": requests, "tokens": tokens}
    median = interleaved(
        {
            "arrays": lambda: simulate_requests(strategy, **size, rng=0),
            "loop": lambda: plain_loop(CHAIN, GAMMA, **size, seed=0),
        },
        repeats,
    )
    faster = median["loop"] / median["arrays"]
    return Row(
        what=f"`simulate_requests`, {requests:,} requests of {tokens} tokens under the easy/hard chain, "
        "against a plain Python loop",
        measured=f"{faster:.0f}× faster",
        required="≥ 20×",
        ok=faster >= 20.0,
    )


if __name__ == "__main__":
    print(whole_requests())
