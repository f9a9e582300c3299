"""The two servers that a deployment is compared on: with its drafts, and without them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from analysis.deployment.deployment import Deployment
from analysis.planning.schedule import Schedule
from analysis.serving.acceptance import served_strategy
from analysis.serving.pass_tables import serving_times
from simulator._checks import as_count, as_nonnegative
from simulator.serving import Server, ServingTimes
from simulator.serving.lengths import MOST_TOKENS
from simulator.serving.server import MOST_RUNNING

__all__ = ["USUAL_RUNNING", "ServerPair", "fastest_gamma", "server_of", "serving_times"]

USUAL_RUNNING = 256
"""Requests that an engine runs at a time, at most, unless it is told otherwise."""
_TRIED = 16
_NO_CACHE = (
    "No prompt is shared between requests and none is turned out again: every prompt is read once, and a "
    "request that runs runs to its end."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ServerPair:
    """A server with drafts, the same one without, and what a reader must know of both."""

    speculative: Server
    plain: Server
    notes: tuple[str, ...] = ()


def server_of(
    deployment: Deployment,
    *,
    gamma: int | Schedule | None,
    most_running: int | None,
    most_prompt: int,
    most_output: int,
    token_budget: int | None = None,
    mean_context: float | None = None,
) -> ServerPair:
    """The servers of a deployment for prompts and answers of at most so many tokens.

    `gamma` is the draft length, one for each number of decoding requests (a schedule), or None for the
    fastest at one request. `most_running` None is what fits the memory when each request holds `mean_context`
    tokens (the longest prompt and half of the longest answer if None), at most 256; without the draft in
    memory the plain server may run more. A `most_running` that is given holds for both, as far as it fits.
    With `token_budget` prompts are read in parts beside decoding, which is never cut: a budget below what
    decoding alone brings leaves no room for prompts until fewer decode. Raises ValueError for a request that
    does not fit, a draft length of which the acceptance says nothing, a schedule that never drafts, and as
    `serving_times` and `served_strategy` do.

    >>> from analysis.deployment.drafting import Drafting
    >>> from analysis.fitting import Fit
    >>> from analysis.pass_cost import PassCost
    >>> from simulator import ConstantAcceptance
    >>> flat = Deployment(name="flat", target=PassCost(weights_s=0.01, compute_s=0.0),
    ...     drafting=Drafting(shape="lookup"), acceptance=Fit.of_process(ConstantAcceptance(p=0.5)))
    >>> pair = server_of(flat, gamma=None, most_running=4, most_prompt=100, most_output=97)
    >>> pair.speculative.most_gamma, pair.plain.speculates, pair.plain.most_running
    (16, False, 4)
    """
    prompt = as_count("most_prompt", most_prompt, least=1, most=MOST_TOKENS)
    output = as_count("most_output", most_output, least=1, most=MOST_TOKENS)
    context = prompt + output / 2.0
    if mean_context is not None:
        context = as_nonnegative("mean_context", mean_context)
    cap = USUAL_RUNNING
    if most_running is not None:
        cap = as_count("most_running", most_running, least=1, most=MOST_RUNNING)
    running, plain_running = (
        _running(deployment, context, cap, drafting=on) for on in (True, False)
    )
    lengths = _lengths(deployment, gamma, running, context)
    longest = lengths if isinstance(lengths, int) else max(lengths)
    if longest == 0:
        raise ValueError(
            f"gamma must be above 0 for some batch up to {running:,}, the most that run; got {gamma!r:.80}."
        )
    strategy, notes = served_strategy(deployment, longest)

    def times_of(most: int, length: int) -> ServingTimes:
        return serving_times(
            deployment, most_running=most, most_gamma=length, most_context=prompt + output,
            most_prompt=prompt, token_budget=token_budget,
        )  # fmt: skip

    return ServerPair(
        speculative=Server(
            times=times_of(running, longest), most_running=running, strategy=strategy,
            gamma=lengths, token_budget=token_budget,
        ),
        plain=Server(
            times=times_of(plain_running, 0), most_running=plain_running, token_budget=token_budget
        ),
        notes=(
            *notes,
            *_about_memory(deployment, context, cap, running, plain_running),
            *_about_prompts(token_budget),
            _NO_CACHE,
        ),
    )  # fmt: skip


def _running(deployment: Deployment, context: float, cap: int, *, drafting: bool) -> int:
    deployment.check_batch(1, context, drafting=drafting)
    return int(min(cap, deployment.most_requests(context, drafting=drafting)))


def _lengths(
    deployment: Deployment, gamma: int | Schedule | None, running: int, context: float
) -> int | tuple[int, ...]:
    if gamma is None:
        return fastest_gamma(deployment, 1, context)
    if isinstance(gamma, Schedule):
        return tuple(gamma.gamma(batch) for batch in range(1, running + 1))
    return as_count("gamma", gamma)


def fastest_gamma(deployment: Deployment, batch: int, context: float) -> int:
    """The draft length of 1 to 16 with the largest speedup at a batch, also where none pays.

    >>> from analysis.deployment.drafting import Drafting
    >>> from analysis.fitting import Fit
    >>> from analysis.pass_cost import PassCost
    >>> from simulator import ConstantAcceptance
    >>> flat = Deployment(name="flat", target=PassCost(weights_s=0.01, compute_s=0.001),
    ...     drafting=Drafting(shape="lookup"), acceptance=Fit.of_process(ConstantAcceptance(p=0.5)))
    >>> fastest_gamma(flat, 1, 0.0)  # a pass over ten tokens takes no longer than over one
    9
    """
    from analysis.deployment.grid import speedups  # noqa: PLC0415

    longest = deployment.acceptance.longest
    most = _TRIED if longest is None else min(longest, _TRIED)
    tried = range(1, most + 1)
    return tried[int(speedups(deployment, tried, [batch], context)[0].argmax())]


def _about_memory(
    deployment: Deployment, context: float, cap: int, running: int, plain_running: int
) -> tuple[str, ...]:
    fits = deployment.most_requests(context, drafting=False)
    if math.isinf(fits) or running == plain_running == cap:
        return (f"At most {running:,} requests run at a time on either side.",)
    said = (
        f"At most {running:,} requests run at a time with the draft and {plain_running:,} without: as many "
        f"of {context:,.0f} tokens as fit the memory, and at most {cap:,}. Where they hold more than that on "
        "average they would not fit; nothing is turned out here."
    )
    return (said,)


def _about_prompts(token_budget: int | None) -> tuple[str, ...]:
    if token_budget is None:
        return (
            "A prompt is read alone as soon as its request is admitted; who decodes waits meanwhile.",
        )
    said = (
        f"Parts of prompts fill each pass up to {token_budget:,} tokens, behind those of all who decode, "
        "which are never cut, even where they alone are more; their attention is that of the requests' mean "
        "context."
    )
    return (said,)
