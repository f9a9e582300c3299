"""Why a predicted round is as fast as it is."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.deployment.round_parts import RoundParts
from analysis.diagnosis.derived import Derived
from analysis.explaining.break_even import PROPORTIONAL, OtherLengths, scaled_lengths
from analysis.explaining.building import built, ceiling, one_p
from analysis.explaining.explanation import Explanation
from analysis.explaining.parts import PLAIN, PartKind, Share
from simulator import Estimate
from simulator._checks import as_count, as_nonnegative, as_probability

_MISSES = "{coverage:.0%} of the rounds have a draft, so no one p describes them and none is given."


def explain(
    parts: RoundParts,
    *,
    name: str = "",
    others: Iterable[RoundParts] = (),
    coverage: float = 1.0,
) -> Explanation:
    """The waterfall of a predicted round: tokens, less the plain pass, drafting, wider verification, overhead.

        speedup = tokens per round / (1 + drafting + wider + overhead − hidden)   [plain steps]

    (Medusa, section 7.1, itemised.) `others` are the parts of the same deployment at other draft lengths,
    from which the lengths that pay are read; without them drafting and verification are taken to grow in
    proportion to γ, and acceptance as the one p. `coverage` is the share of rounds that have a draft: below 1
    no one p is given, for rounds without a draft are no rejections. Raises ValueError for a time that is
    negative, a plain step that is not above 0, more hidden than drafted, and fewer than one token per round.

    >>> explanation = explain(RoundParts(gamma=4, batch=1, plain_s=0.02, drafting_s=0.008,
    ...                                  tokens_per_round=Estimate(value=2.7731)))
    >>> [(part.name, round(part.speedup, 4)) for part in explanation.parts]
    [('plain pass', 2.7731), ('drafting', 1.9808)]
    >>> explanation.attack.name, round(explanation.break_even[0].needed, 4)
    ('drafting', 1.7731)
    """
    _check(parts)
    tokens = _sure(parts.tokens_per_round, "predicted")
    cost = Derived.exactly(parts.round_cost, "the sum of all parts")
    covered = as_probability("coverage", coverage) == 1.0
    p = one_p(tokens, parts.gamma) if covered else None
    frame = Explanation(
        source="predicted",
        name=name,
        gamma=parts.gamma,
        draft_length=float(parts.gamma),
        batch=parts.batch,
        tokens=tokens,
        cost=cost,
        net=_sure(parts.speedup, "tokens per round / cost of a round"),
        p=p,
        ceiling=ceiling(p),
        notes=() if covered else (_MISSES.format(coverage=coverage),),
    )
    return built(frame, _shares(parts), others=_lengths(parts, p, tuple(others)))


def _shares(parts: RoundParts) -> tuple[Share, ...]:
    seconds: tuple[tuple[PartKind, float], ...] = (
        ("drafting", parts.drafting_s),
        ("wider", parts.wider_s),
        ("overhead", parts.overhead_s),
        ("hidden", -parts.hidden_s),
    )
    return (
        Share(kind="plain", cost=PLAIN),
        *(
            Share(kind=kind, cost=Derived.exactly(each / parts.plain_s, "predicted"))
            for kind, each in seconds
            if each
        ),
    )


def _lengths(
    parts: RoundParts, p: Derived | None, others: tuple[RoundParts, ...]
) -> OtherLengths | None:
    if others:
        known = {each.gamma: each.speedup.value for each in (*others, parts) if each.gamma}
        return OtherLengths(
            speedups=tuple(sorted(known.items())), how="as predicted for each length"
        )
    if p is None or not parts.gamma:
        return None
    grows = (parts.drafting_s + parts.wider_s - parts.hidden_s) / parts.plain_s / parts.gamma
    fixed = 1.0 + parts.overhead_s / parts.plain_s
    return scaled_lengths(
        p.number,
        parts.gamma,
        lambda length: fixed + grows * length,
        how=PROPORTIONAL,
    )


def _sure(value: Estimate, how: str) -> Derived:
    return Derived(value=value, range=(value.value, value.value), how=how)


def _check(parts: RoundParts) -> None:
    as_count("gamma", parts.gamma)
    for name in ("plain_s", "drafting_s", "wider_s", "overhead_s", "hidden_s"):
        value = getattr(parts, name)
        rounding = name == "wider_s" and -1e-12 * parts.plain_s <= value < 0.0  # of a difference
        as_nonnegative(name, 0.0 if rounding else value)
    if parts.plain_s == 0.0:
        raise ValueError("plain_s must be above 0; got 0.")
    if parts.hidden_s > parts.drafting_s * (1.0 + 1e-9):
        raise ValueError(
            f"hidden_s must be at most drafting_s, {parts.drafting_s:g}; got {parts.hidden_s:g}."
        )
    if not as_nonnegative("tokens_per_round", parts.tokens_per_round.value) >= 1.0:
        raise ValueError(
            f"tokens_per_round must be at least 1; got {parts.tokens_per_round.value:g}."
        )
