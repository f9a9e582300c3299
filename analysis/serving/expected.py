"""What queueing theory says of a server under load, exactly: the oracle of the simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.deployment.deployment import Deployment
from analysis.deployment.prefill import prefill_s
from simulator._checks import FloatArray, as_count, as_nonnegative
from simulator.serving import FixedTokens, GeometricTokens, UniformTokens

ExactTokens = FixedTokens | GeometricTokens | UniformTokens
"""Laws of answers whose probabilities are known in closed form."""
RoundTime = Callable[[FloatArray], FloatArray]
"""Time of a round [s] by the tokens that a request holds."""
_NEGLIGIBLE = 1e-15


@dataclass(frozen=True, slots=True, kw_only=True)
class OneSlot:
    """A server of one request at a time, with Poisson arrivals: the queue M/G/1.

    `service_s` and `service_s2` are the mean time of a request on the machine [s] and the mean of its square
    [s²], `tokens` the mean tokens of an answer.

    >>> slot = OneSlot(service_s=1.0, service_s2=2.0, tokens=10.0)  # exponential: M/M/1
    >>> slot.waiting_s(0.5), slot.response_s(0.5), slot.limit_per_s
    (1.0, 2.0, 1.0)
    """

    service_s: float
    service_s2: float
    tokens: float

    @property
    def limit_per_s(self) -> float:
        """Requests per second at which the queue begins to grow for ever."""
        return 1.0 / self.service_s

    def waiting_s(self, rate_per_s: float) -> float:
        """Mean time from arrival to admission [s], W = λ E[S²] / (2 (1 − λ E[S])).

        Pollaczek 1930 and Khinchine 1932, for admission in order of arrival. Raises ValueError at and
        beyond the limit.
        """
        rate = as_nonnegative("rate_per_s", rate_per_s)
        busy = rate * self.service_s
        if busy >= 1.0:
            raise ValueError(
                f"rate_per_s must be below {self.limit_per_s:g}, the stable limit; got {rate_per_s!r}."
            )
        return rate * self.service_s2 / (2.0 * (1.0 - busy))

    def response_s(self, rate_per_s: float) -> float:
        """Mean time from arrival to the last token [s]: waiting and service."""
        return self.waiting_s(rate_per_s) + self.service_s


def one_slot(
    survival: npt.ArrayLike,
    output: ExactTokens,
    *,
    prompt_tokens: int,
    prompt_s: float,
    round_s: RoundTime,
) -> OneSlot:
    """The exact law of the time that one request takes alone, first two moments.

    `survival` is P(the first i drafted tokens are all kept), shape [gamma], p^i under one p; an empty one is
    plain decoding. Rounds are independent. The prompt takes `prompt_s` and emits the first token; behind j
    further tokens a round takes s(j) = `round_s`(prompt_tokens + 1 + j). With f(k) = P(a round emits k
    tokens) and a(j, k) = P(an answer goes on beyond j + k tokens | beyond j), from the last token back

        E_j = s(j) + Σ_k f(k) a(j, k) E_(j+k)
        M_j = s(j)² + 2 s(j) (E_j − s(j)) + Σ_k f(k) a(j, k) M_(j+k)

    are the mean and the mean square of what is left. What a round emits behind the end is thrown away.
    Raises ValueError for survival outside [0, 1] or rising, and other laws of answers.

    >>> twice = one_slot([1.0], FixedTokens(tokens=5), prompt_tokens=9, prompt_s=1.0,
    ...     round_s=lambda held: 0.5 + 0.0 * held)
    >>> twice.service_s, twice.service_s2  # two rounds of two tokens behind the first
    (2.0, 4.0)
    """
    kept = np.asarray(survival, dtype=np.float64)
    if kept.ndim != 1 or not (np.diff([1.0, *kept, 0.0]) <= 0.0).all():
        raise ValueError(f"survival must fall within [0, 1], shape [gamma]; got {survival!r:.80}.")
    prompt = as_count("prompt_tokens", prompt_tokens, least=1)
    first_s = as_nonnegative("prompt_s", prompt_s)
    beyond = _beyond(output)  # P(answer > n), n = 0, 1, …; the last is 0
    emits = -np.diff([1.0, *kept, 0.0])  # [gamma + 1]: P(k + 1 tokens)
    steps = beyond.size - 1
    mean, square = np.zeros(steps + emits.size), np.zeros(steps + emits.size)
    if steps > 1:
        held = np.arange(prompt + 1.0, prompt + steps)
        taken = np.asarray(round_s(held), dtype=np.float64)
        padded = np.concatenate([beyond, np.zeros(emits.size)])
        for j in range(steps - 2, -1, -1):
            ahead = slice(j + 1, j + 1 + emits.size)
            goes_on = emits * padded[j + 2 : j + 2 + emits.size] / padded[j + 1]
            left = float(goes_on @ mean[ahead])
            mean[j] = taken[j] + left
            square[j] = taken[j] ** 2 + 2.0 * taken[j] * left + float(goes_on @ square[ahead])
    decodes = float(beyond[1]) if beyond.size > 1 else 0.0  # P(more than the first token)
    return OneSlot(
        service_s=first_s + decodes * float(mean[0]),
        service_s2=first_s**2 + decodes * (2.0 * first_s * float(mean[0]) + float(square[0])),
        tokens=float(beyond.sum()),
    )


def one_slot_of(
    deployment: Deployment,
    gamma: int,
    survival: npt.ArrayLike,
    output: ExactTokens,
    *,
    prompt_tokens: int,
) -> OneSlot:
    """`one_slot` with the times of a deployment at batch 1: rounds at the context that the request holds.

    Raises ValueError for a gamma that is no whole number of at least 0, survival of another shape than
    [gamma], prompt_tokens below 1, and what `one_slot` and the rounds of the deployment raise.
    """
    length = as_count("gamma", gamma)
    prompt = prefill_s(deployment.target, prompt_tokens)
    if length:
        prompt += deployment.drafting.prefill_s(prompt_tokens)
    kept = np.asarray(survival, dtype=np.float64)
    if kept.shape != (length,):
        raise ValueError(f"survival must have {length} entries, one per depth; got {kept.shape}.")
    return one_slot(
        kept,
        output,
        prompt_tokens=prompt_tokens,
        prompt_s=prompt,
        round_s=lambda held: deployment.round_s(length, 1, held),
    )


def saturated_plain_rate(
    deployment: Deployment, running: int, *, prompt_tokens: int, output_tokens: int
) -> float:
    """Requests per second of plain decoding when one is always waiting, all of the same lengths; exact.

    `running` requests then begin and end together: their prompts one after the other, then n − 1 rounds
    of all of them at rising contexts, and again. `Served` says nearly the same from one round at the
    middle context. Raises ValueError for running, prompt_tokens or output_tokens below 1, and what the rounds
    of the deployment raise.

    >>> from analysis.deployment.drafting import Drafting
    >>> from analysis.fitting import Fit
    >>> from analysis.pass_cost import PassCost
    >>> from simulator import ConstantAcceptance
    >>> flat = Deployment(name="flat", target=PassCost(weights_s=0.01, compute_s=0.0),
    ...     drafting=Drafting(shape="lookup"), acceptance=Fit.of_process(ConstantAcceptance(p=0.5)))
    >>> round(saturated_plain_rate(flat, 4, prompt_tokens=100, output_tokens=97), 9)
    4.0
    """
    slots = as_count("running", running, least=1)
    tokens = as_count("output_tokens", output_tokens, least=1)
    prompts = slots * prefill_s(deployment.target, prompt_tokens)
    held = prompt_tokens + 1.0 + np.arange(tokens - 1)
    rounds = float(np.sum(deployment.round_s(0, slots, held))) if tokens > 1 else 0.0
    return slots / (prompts + rounds)


def _beyond(output: ExactTokens) -> FloatArray:
    """P(answer > n) for n = 0, 1, … up to the first that is 0, or negligible."""
    if isinstance(output, FixedTokens):
        return np.append(np.ones(output.tokens), 0.0)
    if isinstance(output, UniformTokens):
        falling = np.linspace(1.0, 0.0, output.most - output.least + 2)
        return np.concatenate([np.ones(output.least - 1), falling])
    if not isinstance(output, GeometricTokens):
        raise ValueError(
            f"output must be FixedTokens, GeometricTokens or UniformTokens; got {output!r:.80}."
        )
    stays = 1.0 - 1.0 / output.mean
    if stays == 0.0:
        return np.array([1.0, 0.0])
    most = min(output.most, math.ceil(math.log(_NEGLIGIBLE) / math.log(stays)))
    return np.append(np.power(stays, np.arange(most, dtype=np.float64)), 0.0)
