"""What `specdec serving` says of its results, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.cli_serving_loads import ServedLoads
    from analysis.serving.tables import ServerPair
    from simulator import Estimate
    from simulator.serving import ServingComparison

_BELOW = (
    "Below both stable limits the server gives the tokens per second that are asked of it, with speculation or "
    "without: throughput can gain only in the limit, {:.3g} with / without."
)


def headline(points: Sequence[ServingComparison], limits: tuple[Estimate, Estimate]) -> str:
    """Where speculation turns, and what the server can take on both sides."""
    from analysis.serving.turning import turning_rate  # noqa: PLC0415

    fast, slow = limits
    said = (
        f"The server is stable up to {slow.value:.3g} requests/s without speculation and {fast.value:.3g} "
        f"with it ({fast.value / slow.value:.2f} of that)."
    )
    first = points[0]
    if first.rate_per_s is None and first.users is None:
        gain = first.gain_e2e
        return (
            said
            if gain is None
            else f"On the recorded arrivals end-to-end times gain {gain}. {said}"
        )
    turn = replace(turning_rate(points), ends=None, ends_at=None)  # `said` has both limits
    return f"{turn.sentence} {said}"


def about_gamma(text: str | None, pair: ServerPair) -> tuple[str, ...]:
    """Which draft length was taken where none was asked for."""
    if text is not None:
        return ()
    said = (
        f"γ = {pair.speculative.most_gamma} is the fastest for a request alone, kept at every batch; "
        "--gamma plan takes the fastest at each."
    )
    return (said,)


def about_loads(
    points: Sequence[ServingComparison],
    limits: tuple[Estimate, Estimate],
    served: ServedLoads,
) -> tuple[str, ...]:
    """What the kind of load means for the numbers."""
    from analysis.serving.loads import mean_lengths  # noqa: PLC0415
    from simulator.serving import RecordedArrivals  # noqa: PLC0415

    fast, slow = limits
    lengths = served.lengths
    arrivals = lengths.arrivals
    if isinstance(arrivals, RecordedArrivals):
        count, long = len(arrivals.arrival_s), arrivals.arrival_s[-1]
        rate = (count - 1) / long if long else 0.0
        prompt, output = mean_lengths(lengths)
        requests = f"{count:,} request{'s' if count > 1 else ''}"
        pace = f"in {long:.4g} s, {rate:.3g} per second" if long else "at one time"
        what = (
            f"The record holds {requests} {pace}, with {prompt:,.0f} tokens of prompt and {output:,.0f} of "
            f"answer on average; {served.unit}. All are measured, from an empty server on."
        )
        how = "They come alike in every run, only what drafts keep differs: intervals are of that."
        said = [what, how]
        over = [name for name, limit in (("without", slow), ("with", fast)) if rate >= limit.value]
        if over:
            said.append(
                f"It brings {rate:.3g} requests/s, beyond the stable limit {' and '.join(over)} speculation: "
                "its queue grows, and times are those of a record of this length."
            )
        return tuple(said)
    if points[0].users is not None:
        return ("Users ask again at once: every number of them is stable.",)
    return (_BELOW.format(fast.value / slow.value),)
