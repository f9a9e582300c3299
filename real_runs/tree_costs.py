"""What trees cost on this machine: passes of the target over its widths, and one step of the heads.

Timed before a run whose tree is to be chosen by them: a small model takes a second, one of 135 million
parameters on two cores some ten for trees of 16 nodes. A wider pass can take less time than a narrower
one, as matrix kernels work in blocks of rows, so each width is timed for itself. Passes are over
chains: a pass over a tree of as many tokens takes about as long.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from statistics import median

import numpy as np

from real_runs.runs.header import Settings, TreeCosts
from real_runs.settings import chain_of, default_rule, rule_of, sampling_of
from real_runs.timed_drafter import timed_drafter
from real_runs.timing import Stopwatch, timed_target
from simulator._checks import IntArray
from simulator.decoding import decode
from simulator.models import Drafter, Target

LEAST_SWEEPS, MOST_SWEEPS = 5, 15
"""Times that every width is timed, one sweep over all of them after the other, and at most."""
ENOUGH_NS = 6_000_000_000
"""Time of all sweeps [ns] behind which no sweep beyond the least is begun."""
EVERY_WIDTH = 33
"""Tokens of a pass up to which every width is timed."""
ROUNDS = 6
"""Rounds at least in which the heads' steps are timed, the first of them unrecorded."""
_CHAINS = (4, 2, 1)
"""Depths of the chain that times a step: the first that the heads know and a tree can have."""


def time_tree_costs(
    target: Target,
    make_drafter: Callable[[Settings], Drafter],
    text: IntArray,
    *,
    settings: Settings,
    depth: int,
    nodes: int,
    watch: Stopwatch,
) -> TreeCosts:
    """V(n) of the target behind `text` up to nodes + 1 tokens, and the cost of one step of the heads.

    Widths are timed in sweeps of random order, so that a machine that slows down slows all of them
    alike; a value is the median of its sweeps over that of one token, and may be below that of a
    narrower pass. The heads draft chains, at most `depth` deep, through the loop itself, made by
    `make_drafter` for the settings it is given; their step is compared with the pass of its own round.
    `watch` is the clock. Raises ValueError where the target's context has no room for a token before
    the widest pass.
    """
    gamma = next(each for each in _CHAINS if each <= min(depth, nodes))
    new_tokens = 1 + ROUNDS * (gamma + 1)
    widths = timed_widths(nodes)
    if target.context is not None:
        ahead = max(widths[-1], new_tokens + gamma)
        if ahead >= target.context:
            raise ValueError(
                f"tree best:{nodes} must time passes of up to {widths[-1]} tokens and a text of "
                f"{new_tokens}, behind one token at least; the target's context is {target.context}."
            )
        text = text[: target.context - ahead]
    passes = _pass_times(target, text, widths, watch)
    verify_costs = tuple(taken / passes[0] for taken in passes)
    share = _step_share(
        target, make_drafter, text, _chain_settings(settings, gamma), new_tokens, watch
    )
    return TreeCosts(
        widths=widths,
        verify_costs=verify_costs,
        steps="one" if settings.drafter == "medusa" else "sequential",
        step_cost=share * verify_costs[widths.index(gamma + 1)],
        plain_s=passes[0] / 1e9,
        context=len(text),
    )


def timed_widths(nodes: int) -> tuple[int, ...]:
    """Tokens of the passes that are timed: all up to 33, then multiples of 8, and the whole tree's.

    Multiples, since kernels whose blocks of rows are full are those that pay; of 8 up to 64, and of
    twice as much with each doubling.

    >>> timed_widths(4)
    (1, 2, 3, 4, 5)
    >>> timed_widths(100)[32:]
    (33, 40, 48, 56, 64, 80, 96, 101)
    """
    most = 1 + nodes
    widths = list(range(1, min(most, EVERY_WIDTH) + 1))
    gap = 8
    while widths[-1] < most:
        width = (widths[-1] // gap + 1) * gap
        widths.append(min(width, most))
        gap *= 2 if width == 8 * gap else 1
    return tuple(widths)


def typical_text(prompts: list[IntArray], max_tokens: int) -> IntArray:
    """A text as long as half-way through a request of the median prompt, made of that prompt again.

    What the tokens are does not matter to the time of a pass.

    >>> typical_text([np.array([7, 8, 9]), np.array([1]), np.array([4, 5])], 6)
    array([4, 5, 4, 5, 4])
    """
    prompt = sorted(prompts, key=len)[len(prompts) // 2]
    return np.resize(prompt, len(prompt) + max_tokens // 2)


def _pass_times(
    target: Target, text: IntArray, widths: tuple[int, ...], watch: Stopwatch
) -> list[float]:
    """The median time of a pass over each width behind the text [ns]; a first sweep does not count."""
    target.start(text)
    taken: dict[int, list[int]] = {width: [] for width in widths}
    rng = np.random.default_rng(0)
    begun = watch.now()
    for sweep in range(MOST_SWEEPS + 1):
        if sweep > LEAST_SWEEPS and watch.now() - begun > ENOUGH_NS:
            break
        for place in rng.permutation(len(widths)):
            width = widths[place]
            tokens = np.resize(text, width)
            before = watch.now()
            target.extend(tokens)
            elapsed = watch.now() - before
            target.rollback(width)
            if sweep:
                taken[width].append(max(1, elapsed))  # a coarse clock divides by it
    return [float(median(taken[width])) for width in widths]


def _step_share(
    target: Target,
    make_drafter: Callable[[Settings], Drafter],
    text: IntArray,
    settings: Settings,
    new_tokens: int,
    watch: Stopwatch,
) -> float:
    """The median of one step of the heads / the pass of its round."""
    (gamma,) = settings.gammas
    watch.reset()
    decode(
        text,
        target=timed_target(target, watch),
        max_tokens=new_tokens,
        rng=0,
        drafter=timed_drafter(make_drafter(settings), watch, heads=True),
        chain=chain_of(settings, gamma),
        rule=rule_of(settings),
        sampling=sampling_of(settings),
    )
    rounds = zip(watch.width, watch.verify_ns, watch.draft_steps, watch.draft_ns, strict=True)
    return median(
        drafting / steps / max(1, passing)
        for width, passing, steps, drafting in list(rounds)[1:]
        if width == gamma + 1
    )


def _chain_settings(settings: Settings, gamma: int) -> Settings:
    """A chain of the same heads and the same sampling; siblings, which it has none of, may be alike."""
    siblings = "drawn" if settings.siblings == "distinct" else settings.siblings
    return replace(
        settings,
        tree="chain",
        shape=None,
        gammas=(gamma,),
        siblings=siblings,
        rule=default_rule(settings.drafter, settings.temperature, siblings),
    )
