"""What a deployment's drafts keep, as the strategy that the simulated server draws from."""

from __future__ import annotations

from analysis.deployment.deployment import Deployment
from analysis.deployment.drafting import Shape
from analysis.deployment.undrafted import drafted_share
from analysis.fitting.result import Fit
from simulator import (
    AcceptanceByDepth,
    Chain,
    ConstantAcceptance,
    HitMiss,
    Process,
    Strategy,
    TraceReplay,
)
from simulator._checks import as_count
from simulator.strategies import Steps

_STEPS: dict[Shape, Steps] = {"chain": "sequential", "block": "one", "lookup": "none"}


def served_strategy(deployment: Deployment, gamma: int) -> tuple[Strategy, tuple[str, ...]]:
    """The drafts of a deployment as the simulator draws them, and what to know of that.

    The process of its acceptance, with the share of rounds in which no draft is found where the fit has
    one: one p with that share is a `HitMiss`, and acceptance by depth is multiplied by it at the first
    depth, which keeps every law of kept tokens but prices such a round as if it had a draft. Where only a
    range of p is known, its middle. Raises ValueError for gamma 0, a refused fit, and one that says nothing
    of such a length.

    >>> from analysis.deployment.drafting import Drafting
    >>> from analysis.pass_cost import PassCost
    >>> lookup = Deployment(name="lookup", target=PassCost(weights_s=0.01, compute_s=0.0),
    ...     drafting=Drafting(shape="lookup"), method="ngram",
    ...     acceptance=Fit.of_process(HitMiss(coverage=0.3, right=1.0, p_right=0.7, p_wrong=0.7)))
    >>> served_strategy(lookup, 4)[0].draft
    Chain(gamma=4)
    """
    length = as_count("gamma", gamma, least=1)
    fit = deployment.acceptance
    longest = fit.longest
    if fit.refusal is None and longest is not None and length > longest:
        raise ValueError(
            f"gamma must be at most {longest}: the acceptance of {deployment.name!r} is known no deeper; "
            f"got {length}."
        )
    process, notes = _process(deployment.name, fit)
    depths = getattr(process, "by_depth", None)
    if depths is not None and length > len(depths):
        raise ValueError(
            f"gamma must be at most {len(depths)}, the depths of the acceptance of {deployment.name!r} "
            f"({fit.name}); got {length}."
        )
    strategy = Strategy(
        name=deployment.method,
        draft=Chain(gamma=length),
        acceptance=process,
        steps=_STEPS[deployment.drafting.shape],
    )
    return strategy, notes


def _process(name: str, fit: Fit) -> tuple[Process, tuple[str, ...]]:
    process, notes = fit.process, list[str]()
    if process is None and fit.refusal is None:
        process, notes = _middle(name, fit)
    if process is None:
        why = fit.refusal or "nothing is known of how often they are kept"
        raise ValueError(f"the drafts of {name!r} cannot be served: {why.rstrip('.')}.")
    if fit.replayed and not isinstance(process, TraceReplay):
        notes.append(
            f"{name}: served drafts follow the fitted process, {fit.name}; predictions elsewhere replay the "
            "recorded texts."
        )
    if fit.how not in {"assumed", ""}:
        notes.append(
            f"{name}: acceptance is served as it was fitted; the error of the fit is not in the intervals."
        )
    share = drafted_share(fit)
    if share >= 1.0 or isinstance(process, HitMiss):
        return process, tuple(notes)
    if isinstance(process, ConstantAcceptance):
        hit = HitMiss(coverage=share, right=1.0, p_right=process.p, p_wrong=process.p)
        return hit, tuple(notes)
    if isinstance(process, AcceptanceByDepth):
        first, *others = process.by_depth
        notes.append(
            f"{name}: {1.0 - share:.1%} of its rounds had no draft; they keep nothing here, and take the "
            "time of a round with one."
        )
        return AcceptanceByDepth(by_depth=(share * first, *others)), tuple(notes)
    raise ValueError(
        f"the drafts of {name!r} cannot be served: {1.0 - share:.1%} of the rounds had no draft, which "
        f"{fit.name} does not say; give --p or --by-depth with coverage, as in 'lookup p=0.6 coverage=0.3'."
    )


def _middle(name: str, fit: Fit) -> tuple[Process | None, list[str]]:
    """The process in the middle of a range of p, where that is all that is known."""
    known = {key: found for key, found in fit.parameters.items() if 0.0 <= found.value <= 1.0}
    depths = [found.value for key, found in known.items() if key.startswith("by_depth[")]
    process: Process | None = None
    if "p" in known:
        process = ConstantAcceptance(p=known["p"].value)
    elif depths:
        process = AcceptanceByDepth(by_depth=tuple(depths))
    if process is None:
        return None, []
    ends = known["p"].interval if "p" in known else None
    within = "" if ends is None else f", {ends[0]:.3f} to {ends[1]:.3f}"
    return process, [f"{name}: only a range of p is known{within}; its middle is served."]
