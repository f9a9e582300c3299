"""What the figures and charts of a deployment draw: lines and layers of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.deployment.break_even import break_even_batch
from analysis.deployment.deployment import Deployment
from analysis.deployment.grid import batches_up_to, speedups
from analysis.deployment.load import over_concurrency
from analysis.pass_cost import PassCost
from simulator._checks import as_count

_MOST = 1024
PLAIN_NAME = "plain decoding"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Points (x, y) in order; `labels` names each of them, `mark` is a point that means something."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    labels: tuple[str, ...] = ()
    mark: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundLayers:
    """What a round takes over batch, in plain steps: a layer per part, and the tokens that it gives.

    `layers[i][j]` is part `names[i]` at `batches[j]`; what is hidden is left out of the drafting.
    """

    batches: tuple[int, ...]
    names: tuple[str, ...]
    layers: tuple[tuple[float, ...], ...]
    tokens_per_round: float


def over_batch(
    deployment: Deployment, gammas: Sequence[int], *, context: float, most: int | None = None
) -> tuple[Line, ...]:
    """Speedup of a request over batch, a line per draft length; marked where it stops paying."""
    deployment.check_batch(1, context, drafting=True)
    last = int(min(most or _MOST, deployment.most_requests(context)))
    batches = batches_up_to(last)
    found = speedups(deployment, gammas, batches, context)
    lines = []
    for gamma, values in zip(gammas, found.T, strict=True):
        end = break_even_batch(deployment, gamma, context=context, most=last).batch
        mark = None
        if end is not None:
            mark = (float(end), float(speedups(deployment, [gamma], [end], context)[0, 0]))
        lines.append(_line(f"γ = {gamma}", batches, values, mark=mark))
    return tuple(lines)


def over_context(
    deployment: Deployment, gamma: int, *, batches: Sequence[int], contexts: Sequence[int]
) -> tuple[Line, ...]:
    """Speedup of a request over context, a line per batch, as far as the batch fits.

    Raises ValueError if a batch fits at none of the contexts.
    """
    found = np.stack([speedups(deployment, [gamma], batches, held)[:, 0] for held in contexts])
    for batch, values in zip(batches, found.T, strict=True):
        if not np.isfinite(values).any():
            deployment.check_batch(batch, min(contexts), drafting=gamma > 0)
    return tuple(
        _line(f"batch {batch}", contexts, values)
        for batch, values in zip(batches, found.T, strict=True)
    )


def frontier(
    deployment: Deployment,
    gammas: Sequence[int],
    *,
    context: float,
    concurrencies: Sequence[int] | None = None,
) -> tuple[Line, ...]:
    """Tokens/s of one request (x) against tokens/s of the server (y), over concurrency.

    The first line is plain decoding. Each side runs what fits its memory; without `concurrencies` up to
    there. Points that run the same batch are one.
    """
    if concurrencies is None:
        deployment.check_batch(1, context, drafting=bool(gammas))
        fits = deployment.most_requests(context, drafting=False)
        concurrencies = batches_up_to(int(min(_MOST, fits)), per_doubling=2)
    lines = []
    for gamma in (0, *gammas):
        points = over_concurrency(deployment, gamma, concurrencies, context=context)
        served = {point.speculative.running: point.speculative for point in points}
        lines.append(
            Line(
                name=f"γ = {gamma}" if gamma else PLAIN_NAME,
                x=tuple(one.request_tokens_per_s.value for one in served.values()),
                y=tuple(one.tokens_per_s.value for one in served.values()),
                labels=tuple(f"{running:g}" for running in served),
            )
        )
    return tuple(lines)


def round_layers(
    deployment: Deployment, gamma: int, *, context: float, most: int | None = None
) -> RoundLayers:
    """Where the time of a round goes over batch, in plain steps of the same batch."""
    gamma = as_count("gamma", gamma, least=1)
    deployment.check_batch(1, context, drafting=True)
    batches = batches_up_to(int(min(most or _MOST, deployment.most_requests(context))))
    tokens = deployment.acceptance.tokens_per_round(gamma)
    parts = [deployment.parts(gamma, batch, context, tokens=tokens) for batch in batches]
    return RoundLayers(
        batches=batches,
        names=("a plain step", "drafting", "wider verification", "fixed overhead"),
        layers=(
            tuple(1.0 for _ in parts),
            tuple((one.drafting_s - one.hidden_s) / one.plain_s for one in parts),
            tuple(one.wider_s / one.plain_s for one in parts),
            tuple(one.overhead_s / one.plain_s for one in parts),
        ),
        tokens_per_round=tokens.value,
    )


def over_width(
    cost: PassCost, *, batches: Sequence[int], context: float, most: int = 64
) -> tuple[Line, ...]:
    """V(n) over the tokens n that a pass verifies of each request, a line per batch; marked at the knee.

    The mark is no end of what is free: V there is near 1 under the roofline, but about 2 without overlap.
    """
    widths = np.arange(1.0, as_count("most", most, least=1) + 1.0)
    lines = []
    for batch in batches:
        knee = cost.knee(batch, context)
        mark = (knee, float(cost.verify_cost(knee, batch, context))) if 1 <= knee <= most else None
        values = np.asarray(cost.verify_cost(widths, batch, context))
        lines.append(_line(f"batch {batch}", widths, values, mark=mark))
    return tuple(lines)


def _line(
    name: str,
    x: Sequence[float] | np.ndarray,
    y: np.ndarray,
    *,
    mark: tuple[float, float] | None = None,
) -> Line:
    """A line through the points that are there."""
    kept = [(float(a), float(b)) for a, b in zip(x, y, strict=True) if np.isfinite(b)]
    return Line(name=name, x=tuple(a for a, _ in kept), y=tuple(b for _, b in kept), mark=mark)
