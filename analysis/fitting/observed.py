"""What the source of a fit says beside counts: one printed mean or several, drafts cut short."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.diagnosis.known import know
from analysis.fitting.curve import fit_curve
from analysis.fitting.mean import fit_mean
from analysis.fitting.result import Fit
from simulator import AcceptanceTotals, Observation, ReportedRatio

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


def fit_of_curve(observations: Sequence[Observation], *, level: float = 0.95) -> Fit | None:
    """The fit of the means that a source prints at several draft lengths; None if it is no curve.

    A curve has no counts, and one printed tokens per round for each of at least two draft lengths.

    >>> seen = [Observation(gamma=gamma, printed=(ReportedRatio(
    ...     quantity="tokens_per_round", value=value, half_width=0.005, averaged_over="a run"),))
    ...     for gamma, value in ((1, 1.8), (2, 2.44), (4, 3.36))]
    >>> fit_of_curve(seen).name, fit_of_curve(seen[:1]) is None
    ('constant p', True)
    """
    curve: dict[int, ReportedRatio] = {}
    for each in observations:
        ratio = _only(each.printed, "tokens_per_round")
        if each.counts is not None or not each.gamma or ratio is None or each.gamma in curve:
            return None
        curve[each.gamma] = ratio
    if len(curve) < 2:
        return None
    methods = {each.method for each in observations}
    return fit_curve(
        {gamma: ratio.value for gamma, ratio in curve.items()},
        half_width={gamma: ratio.half_width for gamma, ratio in curve.items()},
        method=methods.pop() if len(methods) == 1 else None,
        level=level,
    )


def _only(printed: tuple[ReportedRatio, ...], name: str) -> ReportedRatio | None:
    """The one mean of this name; a report's percentiles over requests are none."""
    found = [ratio for ratio in printed if ratio.quantity == name]
    means = [ratio for ratio in found if not ratio.averaged_over.startswith("requests: ")]
    return means[0] if len(means) == 1 else None


def cut_short(observation: Observation) -> tuple[str, ...]:
    """A mark on predictions from drafts that something unknown ended early; none for other drafts.

    >>> totals = AcceptanceTotals(rounds=10, drafted=18, accepted=9, longest_draft=4)
    >>> len(cut_short(Observation(counts=totals, rounds=10, drafted=18, accepted=9, gamma=4)))
    1
    """
    known = know(observation)
    totals = isinstance(observation.counts, AcceptanceTotals)  # tables are marked by the fit
    if not totals or observation.length_rule != "unknown" or not known.cut_short:
        return ()
    mark = (
        f"drafts had {known.draft_length:.2f} tokens on average and nothing says what ended them: if "
        "the draft's confidence did (p_min), these predictions promise too much."
    )
    return (mark,)
