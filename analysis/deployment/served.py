"""A closed loop of requests as one way of decoding serves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from analysis.deployment.round_parts import RoundParts
from simulator import Estimate

_MILLION = 1e6
_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What a closed loop gets: `clients` requests at once, the next one sent when one is answered.

    `parts` is a round at the batch that runs; who does not fit waits. `prefill_s` is what the prompt of one
    request takes of the machine (0 if decoding alone is asked for), and `output_tokens` what it
    answers, None if no whole request is asked for. While a request runs, every running request is
    replaced once, so that it sees the prompts of all of them:

        service    = running · prefill_s + (output_tokens − 1) / tokens per round · round_s
        throughput = running · output_tokens / service
        response   = clients · output_tokens / throughput            (Little's law)

    Prefill emits the first token. Prompts are read between rounds, not within them, and the last round of
    a request counts as far as it is used.
    """

    parts: RoundParts
    clients: int
    prefill_s: float = 0.0
    output_tokens: int | None = None
    price_per_hour: float | None = None

    @property
    def running(self) -> float:
        """Requests that decode together: the batch."""
        return self.parts.batch

    @property
    def waiting(self) -> float:
        """Requests for which there is no room."""
        return self.clients - self.running

    @property
    def request_tokens_per_s(self) -> Estimate:
        """Decoding speed of one running request [tokens/s]: what its reader sees."""
        return self.parts.tokens_per_round.scaled(1.0 / self.parts.round_s)

    @property
    def tokens_per_s(self) -> Estimate:
        """Tokens of all requests per second, prefill included where whole requests are asked for."""
        if self.output_tokens is None:
            return self.parts.tokens_per_s
        made = self.running * self.output_tokens
        return self._from_tokens(lambda tokens: made / self._service_s(tokens))

    @property
    def service_s(self) -> Estimate | None:
        """Time of a request from its prompt to its last token, without waiting [s]."""
        return None if self.output_tokens is None else self._from_tokens(self._service_s)

    @property
    def response_s(self) -> Estimate | None:
        """The same with waiting for room [s]."""
        service = self.service_s
        return None if service is None else service.scaled(self.clients / self.running)

    @property
    def price_per_million(self) -> Estimate | None:
        """Money per million tokens that are answered, at the price of an hour."""
        if self.price_per_hour is None:
            return None
        cost = self.price_per_hour * _MILLION / _HOUR_S
        return through(self.tokens_per_s, lambda speed: cost / speed)

    def _service_s(self, tokens: float) -> float:
        rounds = ((self.output_tokens or 1) - 1) / tokens
        return self.running * self.prefill_s + rounds * self.parts.round_s

    def _from_tokens(self, function: Callable[[float], float]) -> Estimate:
        return through(self.parts.tokens_per_round, function)


def through(known: Estimate, function: Callable[[float], float]) -> Estimate:
    """The estimate of a monotone, smooth function of a quantity above 0.

    Ends of the interval go through the function; the standard error by its slope (delta method).

    >>> through(Estimate(value=2.0, interval=(1.0, 4.0)), lambda x: 1.0 / x)
    0.50 [0.25, 1.00]
    """
    se = None
    if known.se is not None:
        step = 1e-5 * known.value
        rise = function(known.value + step) - function(known.value - step)
        se = abs(rise) / (2.0 * step) * known.se
    ends = None
    if known.interval is not None:
        low, high = sorted(function(end) for end in known.interval)
        ends = (low, high)
    return Estimate(value=function(known.value), se=se, interval=ends, level=known.level)
