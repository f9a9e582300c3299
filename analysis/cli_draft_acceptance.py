"""How often each draft of the command line is accepted: what it says itself, or what is said for all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.deployment_specs import ACCEPTANCE_KEYS, DraftWords
from analysis.options import numbers
from analysis.specs import Spec, named

if TYPE_CHECKING:
    from analysis.cli_costs import Words
    from analysis.fitting import Fit

_BELONGS = {
    "log_gamma": ("log",),
    "engine": ("log",),
    "layout": ("log",),
    "coverage": ("p",),
    "measured_gamma": ("tokens_per_round", "accepted_fraction"),
}


_MEAN = "accepted_fraction=0.24 measured_gamma=5"
_EXAMPLES = f"'eagle p=0.7', or '{_MEAN}' for the rate that an engine prints at a draft length of 5"


def acceptance_of(draft: DraftWords, words: Words) -> tuple[Fit, tuple[str, ...]]:
    """The acceptance of a draft, and what to know of where it comes from.

    Raises ValueError unless it is given exactly once, and the errors of what reads a log.
    """
    spec = draft.spec
    own = has_own(draft)
    if own:
        _check_belonging(spec)
    p = spec.number("p") if own else words.p
    by_depth = spec.numbers("by_depth") if own else _depths(words.by_depth)
    log = spec.values.get("log") if own else words.log
    means = {key: spec.number(key) for key in ("tokens_per_round", "accepted_fraction")}
    given = [each for each in (p, by_depth, log, *means.values()) if each is not None]
    if len(given) != 1:
        raise ValueError(
            f"the acceptance of {draft.label!r} must be given once: p, by_depth, a log, "
            f"tokens_per_round or accepted_fraction ({_EXAMPLES}); got {len(given) or 'none'} of them."
        )
    if log is not None:
        return _from_log(Path(log), draft, words, own=own)
    with named(spec.option if own else "--p" if by_depth is None else "--by-depth"):
        fitted = _assumed(spec, draft, p, by_depth, means)
    return fitted, tuple(f"{draft.label}: {note}" for note in fitted.notes)


def has_own(draft: DraftWords) -> bool:
    """Whether the draft says its acceptance itself."""
    return any(key in draft.spec.values for key in ACCEPTANCE_KEYS)


def check_shared(drafts: Sequence[DraftWords], words: Words) -> None:
    """ValueError for options on the acceptance that no draft needs, and for one stdin read twice."""
    shared = {"--p": words.p, "--by-depth": words.by_depth, "--log": words.log}
    given = [option for option, value in shared.items() if value is not None]
    takers = [draft for draft in drafts if not has_own(draft)]
    if given and not takers:
        raise ValueError(
            f"{given[0]} is for drafts that say no acceptance of their own; every --draft says one."
        )
    if words.log_gamma is not None and words.log is None:
        raise ValueError("--log-gamma belongs to --log FILE; got it alone.")
    logs = [str(draft.spec.values.get("log", "")) for draft in drafts]
    logs += [str(words.log)] * len(takers)
    if logs.count("-") > 1:
        raise ValueError(
            f"stdin (-) must be the log of one draft only; got it for {logs.count('-')}."
        )


def _check_belonging(spec: Spec) -> None:
    for key, hosts in _BELONGS.items():
        if key in spec.values and not any(host in spec.values for host in hosts):
            raise ValueError(f"{spec.option}: {key} belongs to {' or '.join(hosts)}; got it alone.")


def _from_log(
    log: Path, draft: DraftWords, words: Words, *, own: bool
) -> tuple[Fit, tuple[str, ...]]:
    from analysis.cli_acceptance import fitted_source  # noqa: PLC0415
    from analysis.fitting.observed import cut_short  # noqa: PLC0415

    spec = draft.spec
    found = fitted_source(
        log,
        gamma=spec.whole("log_gamma") if own else words.log_gamma,
        engine=spec.values.get("engine"),
        layout=spec.values.get("layout"),
        method=None if draft.kind is None else draft.kind.called,
        seed=words.seed,
    )
    fitted = found.fitted
    if fitted.refusal is not None:
        raise ValueError(
            f"{log} does not say how often {draft.label!r} is accepted: {fitted.refusal}"
        )
    notes = (
        f"acceptance fitted to {log}: {fitted.name}, {fitted.rounds:,} rounds.",
        *found.notes,
        *cut_short(found.observation),
        *fitted.notes,
    )
    return fitted, tuple(f"{draft.label}: {note}" for note in notes)


def _assumed(
    spec: Spec,
    draft: DraftWords,
    p: float | None,
    by_depth: tuple[float, ...] | None,
    means: dict[str, float | None],
) -> Fit:
    from analysis.fitting import Fit, fit_mean  # noqa: PLC0415
    from simulator import AcceptanceByDepth, ConstantAcceptance, HitMiss  # noqa: PLC0415

    if by_depth is not None:
        return Fit.of_process(AcceptanceByDepth(by_depth=by_depth))
    if p is not None:
        covered = spec.number("coverage")
        if covered is None:
            return Fit.of_process(ConstantAcceptance(p=p))
        return Fit.of_process(HitMiss(coverage=covered, right=1.0, p_right=p, p_wrong=p))
    measured = spec.whole("measured_gamma")
    if measured is None:
        raise ValueError(
            "measured_gamma must be given with a mean, the draft length at which it was measured: "
            f"'{_MEAN}'; got the mean alone."
        )
    return fit_mean(
        gamma=measured,
        tokens_per_round=means["tokens_per_round"],
        accepted_fraction=means["accepted_fraction"],
        method=None if draft.kind is None else draft.kind.called,
    )


def _depths(text: str | None) -> tuple[float, ...] | None:
    return None if text is None else numbers("--by-depth", text)
