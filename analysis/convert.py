"""From a printed ratio to the p that would explain it: an equivalent, not a measurement."""

from __future__ import annotations

from analysis.optimum import p_from_tokens
from simulator._checks import as_count, as_nonnegative, as_probability


def equivalent_p(
    *,
    gamma: int,
    tokens_per_round: float | None = None,
    accepted_fraction: float | None = None,
) -> float:
    """The one p that gives the same mean, if every draft had gamma tokens and one p ruled all depths.

    Solves E(p, gamma) = tokens_per_round, or (E(p, gamma) - 1) / gamma = accepted_fraction (what
    engines print as acceptance rate). It fits the mean by construction and says nothing about other
    draft lengths unless acceptance really is one p. Raises ValueError if the value is impossible:
    tokens_per_round outside [1, gamma + 1], accepted_fraction outside [0, 1], both or neither given.

    >>> round(equivalent_p(gamma=5, accepted_fraction=0.537856), 4)
    0.8
    >>> round(equivalent_p(gamma=4, tokens_per_round=2.7731), 4)
    0.7
    """
    gamma = as_count("gamma", gamma, least=1)
    if (tokens_per_round is None) == (accepted_fraction is None):
        raise ValueError(
            "equivalent_p takes either tokens_per_round or accepted_fraction; got both or neither."
        )
    if tokens_per_round is not None:
        tokens_per_round = as_nonnegative("tokens_per_round", tokens_per_round)
        if not 1.0 <= tokens_per_round <= gamma + 1.0:
            raise ValueError(
                f"tokens_per_round must lie in [1, gamma + 1] = [1, {gamma + 1}]; "
                f"got {tokens_per_round!r}."
            )
        return p_from_tokens(tokens_per_round, gamma)
    fraction = as_probability("accepted_fraction", accepted_fraction)
    return p_from_tokens(1.0 + gamma * fraction, gamma)
