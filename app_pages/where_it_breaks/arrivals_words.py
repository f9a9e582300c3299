"""What the simulated arrivals mean, in sentences. No Streamlit."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from analysis.serving.report import unstable_notes
from app_pages.where_it_breaks.arrivals import Load
from simulator import Estimate
from simulator.serving import Seen, ServingComparison, ServingEstimates

Kind: TypeAlias = Literal["gains", "even", "loses", "unstable"]


def verdict(point: ServingComparison) -> tuple[str, Kind]:
    """What speculation does at a rate, as Markdown, and in a word.

    Where the interval of the gain holds 1 nothing is claimed.
    """
    rate = f"{point.rate_per_s:.3g} requests per second arrive"
    if point.speculative is None or point.plain is None:
        return _unstable(point, rate), "unstable"
    gain = point.gain_e2e
    served = (
        "Both servers keep up and give what arrives: speculation changes what each request waits for, not "
        "how many are served."
    )
    if gain is None or not math.isfinite(gain.value):
        return f"**{rate}.** {served}", "even"
    low, high = gain.interval or (gain.value, gain.value)
    shown = f"{gain.value:.2f}× ({low:.2f} to {high:.2f})"
    if low > 1.0:
        return f"**{rate}: a request is done sooner, {shown}.** {served}", "gains"
    if high < 1.0:
        return f"**{rate}: a request is done later, {shown}.** {served}", "loses"
    return f"**{rate}: no difference that these runs can tell, {shown}.** {served}", "even"


def _unstable(point: ServingComparison, rate: str) -> str:
    with_drafts, without = (_limit(each) for each in (point.limit, point.plain_limit))
    sure = "" if _is_beyond(point) else " for sure"
    if point.speculative is None and point.plain is None:
        return (
            f"**{rate}: neither server keeps up{sure}.** It takes {without} without a draft and {with_drafts} "
            "with drafts; beyond that its queue grows for ever, and no time means anything."
        )
    if point.plain is None:
        return (
            f"**{rate}: only with drafts does the server keep up{sure}.** Without one it takes {without}, with "
            f"drafts {with_drafts}: here speculation decides how many are served."
        )
    return (
        f"**{rate}: with drafts the server does not keep up{sure}.** It takes {with_drafts}, without a draft "
        f"{without}: drafting costs it requests here."
    )


def _is_beyond(point: ServingComparison) -> bool:
    """Whether the rate is above all that the limits of the sides that are missing may be."""
    sides = ((point.speculative, point.limit), (point.plain, point.plain_limit))
    ends = [
        limit.value if limit.interval is None else limit.interval[1]
        for side, limit in sides
        if side is None and limit is not None
    ]
    return (point.rate_per_s or 0.0) > max(ends, default=0.0)


def _limit(limit: Estimate | None) -> str:
    if limit is None:
        return "an unknown rate"
    if limit.interval is None:
        return f"{limit.value:.3g} per second"
    return f"{limit.value:.3g} per second ({limit.interval[0]:.3g} to {limit.interval[1]:.3g})"


def before_after(point: ServingComparison, of: Seen) -> str:
    """The mean time on both sides: "2.05 s → 1.00 s"."""
    return " → ".join(
        "unstable" if side is None else seconds(side.mean_s(of).value)
        for side in (point.plain, point.speculative)
    )


def throughput(point: ServingComparison) -> str:
    """Tokens per second of both sides."""
    shown = [
        "unstable" if side is None else f"{side.tokens_per_s.value:,.0f}"
        for side in (point.plain, point.speculative)
    ]
    return f"{shown[0]} → {shown[1]} tokens/s"


def slowest(side: ServingEstimates | None) -> str:
    """The time within which 95 % of the requests are done."""
    return "unstable" if side is None else seconds(side.e2e.p95_s.value)


def good(side: ServingEstimates | None) -> str:
    """Requests per second that keep the objective, and their share."""
    if side is None:
        return "unstable"
    return f"{side.goodput_per_s.value:.3g}/s ({side.met_share.value:.0%})"


def objective(load: Load) -> str:
    """What counts as a good answer."""
    asked = (
        (load.ttft, f"the first token within {load.ttft:g} s"),
        (load.tpot, f"each further token within {load.tpot:g} ms on average"),
        (load.e2e, f"the whole answer within {load.e2e:g} s"),
    )
    said = [words for limit, words in asked if limit]
    return ", ".join(said) if said else "an answer at all: nothing is asked for"


def sampled(point: ServingComparison, points: tuple[ServingComparison, ...], seed: int) -> str:
    """How much was simulated."""
    runs = next(
        (
            side.replications
            for each in (point, *points)
            for side in (each.plain, each.speculative)
            if side is not None
        ),
        0,
    )
    return (
        f"Sampled: {runs} short runs at each rate from seed {seed}, the same requests on both sides; bars "
        "and intervals are 95 %. Longer runs narrow them: take the command below."
    )


def unsettled(points: tuple[ServingComparison, ...], here: ServingComparison) -> str:
    """At which of these rates a side is not stable, or is too near to its limit for a run to settle."""
    told = here.plain is None and here.speculative is None  # by the verdict
    by_rate = {point.rate_per_s or 0.0: point for point in (points if told else (here, *points))}
    return " ".join(unstable_notes([by_rate[rate] for rate in sorted(by_rate)]))


def seconds(time: float) -> str:
    """A time in the unit that reads best.

    >>> seconds(0.0071), seconds(0.5), seconds(12.34), seconds(1234.5)
    ('7.1 ms', '500 ms', '12.3 s', '1,234 s')
    """
    if not math.isfinite(time):
        return "unknown"
    if time < 0.9995:
        return f"{1e3 * time:.3g} ms"
    return f"{time:.3g} s" if time < 999.5 else f"{time:,.0f} s"
