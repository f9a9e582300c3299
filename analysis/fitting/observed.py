"""The fit of one printed mean, for a source that has no counts."""

from __future__ import annotations

from analysis.fitting.mean import fit_mean
from analysis.fitting.result import Fit
from simulator import Observation, ReportedRatio

_MEANS = ("tokens_per_round", "accepted_fraction")


def fit_of_mean(observation: Observation) -> Fit | None:
    """The fit of the one mean that a source without counts prints; None if it prints none.

    Tokens per round go first, then accepted / drafted, each only where it is printed once and the
    draft length is known. Raises ValueError for a mean that the draft length makes impossible.

    >>> seen = Observation(gamma=3, printed=(ReportedRatio(
    ...     quantity="tokens_per_round", value=2.86, half_width=0.005, averaged_over="a log"),))
    >>> round(fit_of_mean(seen).parameters["p"].value, 3)
    0.779
    """
    if observation.counts is not None or observation.gamma is None:
        return None
    for name in _MEANS:
        ratio = _only(observation.printed, name)
        if ratio is not None:
            return fit_mean(
                gamma=observation.gamma,
                half_width=ratio.half_width,
                method=observation.method,
                tokens_per_round=ratio.value if name == "tokens_per_round" else None,
                accepted_fraction=ratio.value if name == "accepted_fraction" else None,
            )
    return None


def _only(printed: tuple[ReportedRatio, ...], name: str) -> ReportedRatio | None:
    found = [ratio for ratio in printed if ratio.quantity == name]
    return found[0] if len(found) == 1 else None
