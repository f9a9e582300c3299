"""Runs of toy models that draft trees, and measured requests of trees whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from measured_runs import STEP_S, plain_request
from toy_runs import CONTEXT, SETTINGS, VOCABULARY, bench, transitions

from real_runs.runs.header import HeadsFacts
from real_runs.tree_settings import shape_of
from simulator import AcceptanceTable, MarkovChain, Tree
from simulator.costs import MeasuredRequest, PassTimes
from simulator.toy_trees import ToyTreeDrafter

TREE = Tree.from_paths([(0,), (1,), (0, 0), (1, 0), (0, 0, 0)])
HEADS = HeadsFacts(
    name="toy-heads",
    kind="medusa",
    sha256="1" * 64,
    target_sha256="0" * 64,
    parameters=10,
    vocabulary=VOCABULARY,
    accuracies=((0.5, 0.25), (0.5, 0.25), (0.5, 0.25)),
)
TREE_SETTINGS = replace(
    SETTINGS,
    drafter="medusa",
    draft=None,
    heads="toy-heads",
    tree="nodes:5",
    shape=shape_of(TREE),
    gammas=(2, 3),
)


class Heads(ToyTreeDrafter):
    """A toy drafter that counts a forward per proposal and reads passes, as heads do."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.forwards = 0
        self.read = []

    def propose(self, length, keep_going, rng):
        self.forwards += 1
        return super().propose(length, keep_going, rng)

    def read_pass(self, logits, kept):
        self.read.append((len(logits), kept.tolist()))


def tree_bench(settings=TREE_SETTINGS, made=None, target=None):
    """The toy bench with heads; every drafter that it makes goes into `made`."""
    draft = MarkovChain(transitions(), context=CONTEXT).mixed(0.4, np.full(VOCABULARY, 1 / 6))
    made = [] if made is None else made

    def make(_watch):
        picked = "chosen" if settings.temperature == 0.0 else settings.siblings
        made.append(Heads(draft, TREE, picked=picked))
        return made[-1]

    facts = replace(HEADS, kind=settings.drafter)
    models = bench(settings=settings, target=target)
    return replace(models, make_drafter=make, draft_facts=None, heads_facts=facts)


def tree_requests(
    *, gammas=(1, 2), prompts=6, rounds=40, passengers=0, steps=1, step_cost=0.25, rng=0
):
    """Requests of trees of three nodes per depth: a step of the draft for all of them, V(n) = 1 + n / 32."""
    rng = np.random.default_rng(rng)
    requests = []
    for prompt in range(prompts):
        length = 0
        for gamma in gammas:
            nodes = 3 * gamma
            kept = np.minimum(rng.geometric(0.4, size=rounds) - 1, gamma)
            table = replace(AcceptanceTable.from_lengths(kept, gamma=gamma), drafted=rounds * nodes)
            width = 1 + nodes + passengers
            verify_s = STEP_S * rounds * (1.0 + width / 32)
            draft_s = STEP_S * rounds * steps * step_cost
            length = table.emitted
            requests.append(
                MeasuredRequest(
                    prompt=f"prompt {prompt}",
                    gamma=gamma,
                    repeat=0,
                    table=table,
                    emitted=length,
                    prefill_s=3 * STEP_S,
                    decode_s=verify_s + draft_s + STEP_S * rounds / 16,
                    passes=(PassTimes(width=width, count=rounds, total_s=verify_s),),
                    draft_steps=rounds * steps,
                    draft_s=draft_s,
                )
            )
        requests.append(plain_request(f"prompt {prompt}", length))
    return tuple(requests)
