"""Passes of batches in which only some requests have a draft: lookups that find nothing."""

from __future__ import annotations

import numpy as np

from analysis._arrays import Numbers
from analysis.fitting.result import Fit
from analysis.pass_cost import PassCost
from simulator import HitMiss
from simulator._checks import FloatArray


def drafted_share(acceptance: Fit) -> float:
    """The share of rounds that have a draft: below 1 only where the acceptance says so.

    >>> drafted_share(Fit.of_process(HitMiss(coverage=0.3, right=1.0, p_right=0.7, p_wrong=0.7)))
    0.3
    """
    if isinstance(acceptance.process, HitMiss):
        return float(acceptance.process.coverage)
    return 1.0 if acceptance.coverage is None else acceptance.coverage.value


def verify_s(
    target: PassCost, gammas: Numbers, batch: Numbers, context: Numbers, *, share: float = 1.0
) -> FloatArray:
    """Expected time of a pass in which each request has gamma drafted tokens with probability `share` [s].

    A request without a draft brings one token, so that a batch of b brings b + gamma · Binomial(b, share).
    The expectation is the Gauss rule of two points of that law (Golub and Welsch 1969): exact for one request,
    and wherever the time is a polynomial of at most third degree in the tokens, as without overlap
    (k = 1, dense). Arguments broadcast.

    >>> round(float(verify_s(PassCost(weights_s=0.01, compute_s=0.001), 19, 1, 0, share=0.5)), 6)
    0.015
    """
    length = np.asarray(gammas, dtype=np.float64)
    if not 0.0 < share < 1.0:
        return np.asarray(target.seconds(batch, share * length + 1.0, context))
    spread = np.sqrt(share * (1.0 - share) / np.asarray(batch, dtype=np.float64))
    skew = (1.0 - 2.0 * share) / (share * (1.0 - share)) * spread
    up = (skew + np.sqrt(skew**2 + 4.0)) / 2.0
    weight = 1.0 / (1.0 + up**2)
    many = np.clip(
        share + spread * up, 0.0, 1.0
    )  # the share of requests with a draft, at its nodes
    few = np.clip(share - spread / up, 0.0, 1.0)
    few = np.where(few < 1e-12, 0.0, few)  # a pass over one token is told from a wider one
    return np.asarray(
        weight * np.asarray(target.seconds(batch, 1.0 + many * length, context))
        + (1.0 - weight) * np.asarray(target.seconds(batch, 1.0 + few * length, context))
    )
