"""Speculation under load: what a request gains and what the server gains, which are two numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.deployment.deployment import Deployment
from analysis.deployment.prefill import prefill_s
from analysis.deployment.served import Served
from simulator import Estimate
from simulator._checks import as_count, as_nonnegative


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPoint:
    """A closed loop of `concurrency` requests, served plainly and with drafts of `gamma` tokens.

    `context` is what a running request holds on average [tokens]. Memory that the draft takes can
    make fewer requests run; `batch_lost` is how many fewer fit. Where both sides run the same batch and
    only decoding is asked for, `latency_speedup` and `throughput_ratio` are one number.
    """

    gamma: int
    concurrency: int
    context: float
    plain: Served
    speculative: Served
    batch_lost: float

    @property
    def latency_speedup(self) -> Estimate:
        """Decoding speed of a running request, with / without, each side at the batch that it runs."""
        fast = self.speculative.request_tokens_per_s
        return fast.scaled(1.0 / self.plain.request_tokens_per_s.value)

    @property
    def throughput_ratio(self) -> Estimate:
        """Tokens per second of the server, with / without.

        In a closed loop also the ratio of response times, waiting included: Little's law.
        """
        return self.speculative.tokens_per_s.scaled(1.0 / self.plain.tokens_per_s.value)

    @property
    def request_speedup(self) -> Estimate | None:
        """Time of a whole request once it runs, prompt included, without / with; None if not asked for."""
        plain = self.plain.service_s
        if plain is None:
            return None
        served = self.speculative
        each = served.output_tokens or 1
        # service = running · tokens / throughput: the ratio is linear in the throughput, as an Estimate is
        return served.tokens_per_s.scaled(plain.value / (served.running * each))

    @property
    def sentence(self) -> str:
        """Both ratios, and what they are ratios of, in a sentence or two."""
        run = f"{self.plain.running:,.0f}"
        if self.speculative.running != self.plain.running:
            run = f"{self.speculative.running:,.0f} instead of {run}"
        said = (
            f"At concurrency {self.concurrency:,} ({run} running): a running request decodes "
            f"{self.latency_speedup.value:.2f} times as fast, the server gives "
            f"{self.throughput_ratio.value:.2f} times the tokens per second."
        )
        prices = self.plain.price_per_million, self.speculative.price_per_million
        if prices[0] is not None and prices[1] is not None:
            said += f" A million tokens cost {_money(prices[1].value)} instead of {_money(prices[0].value)}."
        return said


def _money(value: float) -> str:
    """Three digits, more only before the point.

    >>> _money(5.0), _money(0.0786), _money(1234.5)
    ('5.00', '0.0786', '1,234')
    """
    return f"{value:#.3g}" if value < 100.0 else f"{value:,.0f}"


def under_load(
    deployment: Deployment,
    gamma: int,
    *,
    concurrency: int,
    context: float,
    prompt_tokens: int | None = None,
    output_tokens: int | None = None,
    price_per_hour: float | None = None,
    most_running: int | None = None,
    tokens: Estimate | None = None,
) -> LoadPoint:
    """A closed loop of `concurrency` requests with and without drafts of `gamma` tokens.

    As many run as were sent and as fit the memory, with the draft in it on one side only, and at most
    `most_running` (the engine's limit). With `prompt_tokens` and `output_tokens` whole requests are
    counted, prompts read by target and draft; without them decoding only. `price_per_hour` is that of all
    devices. `tokens` are the tokens per round where they are known already. Formulas: `Served`.

    Raises ValueError for a concurrency below 1, one of the two token counts without the other, a request
    that does not fit, and as `Deployment.parts`.

    >>> from analysis.deployment.drafting import Drafting
    >>> from analysis.fitting import Fit
    >>> from analysis.pass_cost import PassCost
    >>> from simulator import ConstantAcceptance
    >>> free = Deployment(name="lookup", target=PassCost(weights_s=0.01, compute_s=0.001),
    ...     drafting=Drafting(shape="lookup"), acceptance=Fit.of_process(ConstantAcceptance(p=0.5)))
    >>> point = under_load(free, 1, concurrency=8, context=0)
    >>> point.latency_speedup, point.throughput_ratio
    (0.9375, 0.9375)
    """
    gamma = as_count("gamma", gamma)
    clients = as_count("concurrency", concurrency, least=1)
    context = as_nonnegative("context", context)
    if (prompt_tokens is None) != (output_tokens is None):
        missing = "prompt_tokens" if prompt_tokens is None else "output_tokens"
        raise ValueError(
            f"prompt_tokens and output_tokens must be given together, or neither; {missing} is missing."
        )
    if output_tokens is not None:
        as_count("output_tokens", output_tokens, least=1)
    if price_per_hour is not None:
        as_nonnegative("price_per_hour", price_per_hour)
    cap = clients if most_running is None else as_count("most_running", most_running, least=1)

    def served(length: int) -> Served:
        drafting = length > 0
        deployment.check_batch(1, context, drafting=drafting)
        running = min(clients, cap, deployment.most_requests(context, drafting=drafting))
        prompt = 0.0
        if prompt_tokens is not None:
            prompt = prefill_s(deployment.target, prompt_tokens)
            prompt += deployment.drafting.prefill_s(prompt_tokens) if drafting else 0.0
        return Served(
            parts=deployment.parts(length, running, context, tokens=tokens),
            clients=clients,
            prefill_s=prompt,
            output_tokens=output_tokens,
            price_per_hour=price_per_hour,
        )

    lost = deployment.memory.batch_lost(context) if deployment.memory and gamma else 0.0
    return LoadPoint(
        gamma=gamma,
        concurrency=clients,
        context=context,
        plain=served(0),
        speculative=served(gamma),
        batch_lost=lost,
    )


def over_concurrency(
    deployment: Deployment,
    gamma: int,
    concurrencies: Sequence[int],
    *,
    context: float,
    prompt_tokens: int | None = None,
    output_tokens: int | None = None,
    price_per_hour: float | None = None,
    most_running: int | None = None,
) -> tuple[LoadPoint, ...]:
    """`under_load` at several concurrencies; the fit is asked for its tokens per round once."""
    tokens = deployment.acceptance.tokens_per_round(gamma) if gamma else None
    return tuple(
        under_load(
            deployment,
            gamma,
            concurrency=clients,
            context=context,
            prompt_tokens=prompt_tokens,
            output_tokens=output_tokens,
            price_per_hour=price_per_hour,
            most_running=most_running,
            tokens=tokens,
        )
        for clients in concurrencies
    )
