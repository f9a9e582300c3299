"""Servers, loads and strategies that the tests of the serving simulation share."""

from __future__ import annotations

from simulator import (
    BetaMixture,
    ConfidentAcceptance,
    Context,
    DynamicTree,
    EasyHardChain,
    HitMiss,
    TraceReplay,
    draft_model,
    eagle,
    lookahead,
    medusa,
    prompt_lookup,
)
from simulator.serving import PassTable, PromptTable, Server, ServingTimes, simulate_serving

EVERY_POSITION = TraceReplay(
    texts=(((3, 2), (3, 1), (3, 0), (3, 3), (3, 2), (3, 1), (3, 0)), ((3, 1), (3, 0), (3, 0))),
    every_position=True,
)
PER_ROUND = TraceReplay(texts=(((3, 2), (3, 3), (3, 0), (0, 0)), ((3, 1), (2, 0), (3, 3))))
CONTEXTS = (
    Context(share=0.4, by_depth=((0.8, 0.1), (0.7, 0.2))),
    Context(share=0.6, by_depth=((0.4, 0.3), (0.3, 0.3))),
)
CHAINS = {
    "constant": draft_model(p=0.7, gamma=4),
    "by depth": draft_model(by_depth=(0.9, 0.5, 0.7)),
    "confident": draft_model(
        acceptance=ConfidentAcceptance(levels=(0.3, 0.9), weights=(0.5, 0.5), accepted=(0.3, 0.9)),
        gamma=3,
    ),
    "between requests": draft_model(acceptance=BetaMixture(p=0.7, concentration=1.5), gamma=4),
    "along the text": draft_model(
        acceptance=EasyHardChain(p_easy=0.95, p_hard=0.2, stay_easy=0.9, stay_hard=0.8), gamma=4
    ),
    "look-up": prompt_lookup(
        gamma=4, acceptance=HitMiss(coverage=0.5, right=0.6, p_right=0.95, p_wrong=0.1)
    ),
    "recorded positions": draft_model(acceptance=EVERY_POSITION, gamma=3),
    "recorded rounds": draft_model(acceptance=PER_ROUND, gamma=3),
}
TREES = {
    "medusa": medusa(accuracies=((0.6, 0.2), (0.5, 0.2), (0.4, 0.1)), nodes=6),
    "lookahead": lookahead(window=2, ngram=4, candidates=2, p=0.6, hit=0.7),
    "contexts": eagle(contexts=CONTEXTS, tree=DynamicTree(nodes=3, depth=2, expand=2)),
    "dynamic": eagle(ranks=((0.6, 0.3), (0.5, 0.2)), tree=DynamicTree(nodes=3, depth=2, expand=2)),
}
STRATEGIES = CHAINS | TREES


def make_times(
    *,
    pass_s=lambda _requests, _tokens, _context: 1.0,
    drafting_s=lambda _gamma, _requests, _context: 0.25,
    prompt_s=lambda _tokens: 1.0,
    draft_prompt_s=lambda _tokens: 0.0,
    requests=(1, 2, 3, 4, 5, 6, 7, 8),
    tokens=(1, 65),
    contexts=(0,),
    prompts=(1, 65),
    most_gamma=5,
    overhead_s=0.0,
    draft_overlap=0.0,
):
    """`ServingTimes` of functions, looked up at the marks."""
    return ServingTimes(
        passes=PassTable(
            requests=requests,
            tokens=tokens,
            contexts=contexts,
            seconds=[[[pass_s(r, t, c) for c in contexts] for t in tokens] for r in requests],
        ),
        drafting_s=[
            [[drafting_s(gamma, r, c) if gamma else 0.0 for c in contexts] for r in requests]
            for gamma in range(most_gamma + 1)
        ],
        prompts=PromptTable(
            tokens=prompts,
            target_s=[prompt_s(n) for n in prompts],
            draft_s=[draft_prompt_s(n) for n in prompts],
        ),
        overhead_s=overhead_s,
        draft_overlap=draft_overlap,
    )


ROUGH = make_times(
    pass_s=lambda requests, tokens, context: (
        0.01 + 0.002 * requests + 0.0003 * requests * tokens + 1e-4 * context**2
    ),
    drafting_s=lambda gamma, requests, context: (
        gamma * (0.002 + 1e-4 * requests + 1e-5 * context**2)
    ),
    prompt_s=lambda tokens: 0.003 + 0.0007 * tokens,
    draft_prompt_s=lambda tokens: 1e-4 * tokens,
    contexts=(0, 6, 14, 400),
    overhead_s=0.001,
)
"""Times in which nothing is round and everything depends on everything."""


def make_server(strategy=None, *, times=ROUGH, most_running=4, **options):
    return Server(times=times, most_running=most_running, strategy=strategy, **options)


def serve(server, workload, **options):
    """A run of the loop in NumPy, which the compiled one is compared with elsewhere."""
    return simulate_serving(server, workload, **{"rng": 0, "loop": "numpy", **options})
