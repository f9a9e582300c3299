"""What a deployment's passes take, as the tables that the simulated server looks up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from analysis.deployment.deployment import Deployment
from analysis.deployment.prefill import prefill_s
from analysis.deployment.undrafted import drafted_share
from analysis.pass_cost import PassCost
from analysis.serving.marks import refined
from simulator._checks import FloatArray, as_count
from simulator.serving import PassTable, PromptTable, ServingTimes
from simulator.serving.lengths import MOST_TOKENS
from simulator.serving.server import MOST_BUDGET, MOST_RUNNING

MISS = 0.0012
"""Share by which a line between marks may miss a time halfway; at a kink it misses by twice that at most."""
BUDGET_MISS = 0.004
"""The same between widths that only parts of prompts reach."""
MOST_GAMMA = 1000
_DENSE = 256  # batches up to here all have a mark; a hundredth more from there on
_JUST_MORE = 1.0 + 1e-6  # where a pass over more than one token of a request begins
_FEW = 9  # contexts at which widths are refined


def serving_times(
    deployment: Deployment,
    *,
    most_running: int,
    most_gamma: int,
    most_context: int,
    most_prompt: int,
    token_budget: int | None = None,
) -> ServingTimes:
    """The times of a deployment's rounds and prompts [s], tabulated to 0.5 %.

    For up to `most_running` requests that hold up to `most_context` tokens each, drafts of up to
    `most_gamma` tokens and prompts of up to `most_prompt`. Whole widths up to most_gamma + 1 and batches up
    to 256 are exact, contexts as far as time is a straight line. A round is `Deployment.round_s`; only of
    a look-up the width is that of the drafts really found, not their expectation.

    With `token_budget` passes also read parts of prompts, and widths reach up to it (to 1 %). Beyond
    most_gamma + 1 tokens of each request on average, a pass has the logits of so many only (those who
    decode need no more), and its tokens attend, beside what requests hold, to half of the width: right
    for a prompt alone, near where parts of prompts stand beside decoding requests of similar context.
    Raises ValueError for sizes out of range.

    >>> from analysis.deployment.drafting import Drafting
    >>> from analysis.fitting import Fit
    >>> from simulator import ConstantAcceptance
    >>> pair = Deployment(name="pair", target=PassCost(weights_s=0.01, compute_s=0.001),
    ...     acceptance=Fit.of_process(ConstantAcceptance(p=0.7)),
    ...     drafting=Drafting(shape="chain", step=PassCost(weights_s=0.001, compute_s=0.0)))
    >>> times = serving_times(pair, most_running=8, most_gamma=4, most_context=600, most_prompt=512)
    >>> float(times.passes.batch(4)[4, 0]), float(times.drafting(4, 8)[0])
    (0.02, 0.004)
    """
    running = as_count("most_running", most_running, least=1, most=MOST_RUNNING)
    gamma = as_count("most_gamma", most_gamma, most=MOST_GAMMA)
    held = as_count("most_context", most_context, least=1, most=2 * MOST_TOKENS)
    prompt = as_count("most_prompt", most_prompt, least=1, most=MOST_TOKENS)
    widest = gamma + 1
    if token_budget is not None:
        as_count("token_budget", token_budget, least=1, most=MOST_BUDGET)
    requests = _requests(running)
    few = np.linspace(0.0, held, _FEW)
    widths = _widths(deployment, requests, few, widest=widest, budget=token_budget)
    contexts = _contexts(deployment, requests, gamma, held)
    return ServingTimes(
        passes=PassTable(
            requests=requests,
            tokens=widths,
            contexts=contexts,
            seconds=_passes(deployment.target, requests, widths, contexts, widest),
        ),
        drafting_s=np.asarray(
            [_drafting(deployment, n, requests, contexts) for n in range(gamma + 1)]
        ),
        prompts=_prompts(deployment, prompt, drafting=gamma > 0),
        overhead_s=deployment.overhead_s,
        draft_overlap=deployment.draft_overlap,
    )


def _requests(running: int) -> FloatArray:
    """Every batch up to 256, then a hundredth more each."""
    marks = list(range(1, min(running, _DENSE) + 1))
    while marks[-1] < running:
        marks.append(min(marks[-1] + max(marks[-1] // 100, 1), running))
    return np.asarray(marks, dtype=np.float64)


def _widths(
    deployment: Deployment,
    requests: FloatArray,
    contexts: FloatArray,
    *,
    widest: int,
    budget: int | None,
) -> FloatArray:
    """Whole widths of rounds; between them where only some have a draft, and beyond for parts of prompts."""
    target, whole = deployment.target, np.arange(1.0, widest + 1.0)
    jump = [_JUST_MORE] if target.several_s > 0.0 else []

    def passed(widths: FloatArray) -> FloatArray:
        return np.moveaxis(_passes(target, requests, widths, contexts, widest), 1, 0)

    marks = whole
    if drafted_share(deployment.acceptance) < 1.0 and widest > 1:
        marks = refined(passed, [*jump, *whole], miss=MISS)
    if budget is not None:
        most = max(budget, widest)
        steps = [float(n) for n in (2**k for k in range(21)) if widest < n < most]
        beyond = refined(passed, [*jump, *whole, *steps, float(most)], miss=BUDGET_MISS)
        marks = np.union1d(marks, beyond)
    return np.union1d(marks, [1.0])


def _contexts(deployment: Deployment, requests: FloatArray, gamma: int, held: int) -> FloatArray:
    """Contexts between which passes and drafting are straight lines at every batch and width of a round."""
    target, step = deployment.target, deployment.drafting.step
    widths = np.arange(1.0, gamma + 2.0)
    if widths.size > _FEW:
        widths = np.unique(np.geomspace(1.0, gamma + 1.0, _FEW).round())

    def taken(contexts: FloatArray) -> FloatArray:
        passes = _passes(target, requests, widths, contexts, gamma + 1)
        parts = [np.moveaxis(passes, 2, 0).reshape(contexts.size, -1)]
        if gamma and step is not None:
            # what drafting bends counts as far as it is of a round
            plain = passes[:, 0, :].T
            parts.append(_drafting(deployment, gamma, requests, contexts).T + plain)
        return np.concatenate(parts, axis=1)

    kinks = [
        float(cost.kv_budget)
        for cost in (target, step)
        if cost is not None and cost.kv_budget is not None and cost.kv_budget < held
    ]
    return refined(taken, [*np.linspace(0.0, held, 5), *kinks], miss=MISS)


def _passes(
    cost: PassCost, requests: FloatArray, widths: FloatArray, contexts: FloatArray, widest: int
) -> FloatArray:
    """Passes [s], shape [requests, widths, contexts]; those beyond the widest round read parts of prompts."""
    rows = []
    for width in widths.tolist():
        once, held = cost, contexts
        if width > widest:
            once = replace(cost, output_compute_s=cost.output_compute_s * widest / width)
            held = contexts + (width + 1.0) / 2.0
        rows.append(np.asarray(once.seconds(requests[:, np.newaxis], width, held)))
    return np.stack(rows, axis=1)


def _drafting(
    deployment: Deployment, gamma: int, requests: FloatArray, contexts: FloatArray
) -> FloatArray:
    """Drafting gamma tokens [s], shape [requests, contexts]."""
    taken = deployment.drafting.seconds(gamma, requests[:, np.newaxis], contexts)
    return np.broadcast_to(np.asarray(taken), (requests.size, contexts.size))


def _prompts(deployment: Deployment, most: int, *, drafting: bool) -> PromptTable:
    def target_s(tokens: FloatArray) -> FloatArray:
        return np.array([prefill_s(deployment.target, int(n)) for n in tokens])

    def draft_s(tokens: FloatArray) -> FloatArray:
        return np.array([deployment.drafting.prefill_s(int(n)) for n in tokens])

    def read_s(tokens: FloatArray) -> FloatArray:
        both = [target_s(tokens)] + ([draft_s(tokens)] if drafting else [])
        return np.stack([both[0], np.sum(both, axis=0)], axis=1)

    marks = refined(read_s, [1, most], miss=MISS, whole=True)
    return PromptTable(
        tokens=marks,
        target_s=target_s(marks),
        draft_s=draft_s(marks) if drafting else np.zeros(marks.size),
    )
