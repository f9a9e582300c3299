"""What a reader knows beside the log: said in a few words, added to what the log says."""

from __future__ import annotations

from dataclasses import replace

from analysis.log_summary import with_gamma
from simulator import METHODS, Method, Observation
from simulator._checks import as_count


def with_facts(
    observation: Observation,
    *,
    gamma: int | None = None,
    method: str | None = None,
    target: str | None = None,
    tokens_per_s: float | None = None,
    plain_tokens_per_s: float | None = None,
    running: float | None = None,
) -> Observation:
    """The observation with what is known beside it; None leaves what it says.

    `gamma` is the configured draft length, `method` one of METHODS, `target` the model's name,
    `tokens_per_s` and `plain_tokens_per_s` the speed with and without speculation, of all `running`
    requests together. Raises ValueError for a gamma that contradicts the counts, another method, and
    a speed or number of requests that is not above 0 or not below 1e12.

    >>> from simulator import AcceptanceTotals
    >>> totals = AcceptanceTotals(rounds=9, drafted=18, accepted=4, accepted_by_depth=(4,))
    >>> known = with_facts(Observation(counts=totals), gamma=2, plain_tokens_per_s=50.0)
    >>> known.counts.tested, known.clock.plain_tokens_per_s
    ((9, 4), 50.0)
    """
    given = {
        "tokens_per_s": tokens_per_s,
        "plain_tokens_per_s": plain_tokens_per_s,
        "running": running,
    }
    times = {name: value for name, value in given.items() if value is not None}
    for name, value in times.items():
        if not 0.0 < value < 1e12:
            limit = "below 1e12" if value > 0.0 else "above 0"
            raise ValueError(f"{name} must be a number {limit}; got {value!r}.")
    counts = observation.counts
    if gamma is not None:
        gamma = as_count("gamma", gamma, least=1)
        counts = None if counts is None else with_gamma(counts, gamma)
    return replace(
        observation,
        gamma=observation.gamma if gamma is None else gamma,
        counts=counts,
        method=observation.method if method is None else as_method(method),
        target=observation.target if target is None else target,
        clock=replace(observation.clock, **times),
    )


def as_method(text: str) -> Method:
    """One of METHODS by its name; spaces and dashes do not matter.

    >>> as_method("Draft model")
    'draft_model'
    """
    name = text.strip().lower().replace(" ", "_").replace("-", "_")
    found = next((method for method in METHODS if method == name), None)
    if found is None:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {text!r}.")
    return found
