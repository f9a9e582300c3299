"""What to do about the part that is attacked, as far as lengths and batch are known."""

from __future__ import annotations

from analysis.explaining.break_even import PROPORTIONAL, OtherLengths
from analysis.explaining.explanation import LeverKind

_WORTH = 1.01  # times the speedup: what another length must give to be named
_KINDS: dict[LeverKind, str] = {
    "drafting": "Use a smaller or faster draft, or draft while the target verifies.",
    "wider": "Find a back end that verifies a few tokens faster.",
    "overhead": "Profile one round: launches without graphs, waiting, the host.",
    "tokens": "Get a draft that the target accepts more often: another one, or one trained on its texts.",
}
_BATCH = "Run fewer requests at once."


def advice(
    kind: LeverKind, *, gamma: int | None, batch: float | None, others: OtherLengths | None
) -> str:
    """What to do about a part; of several that are not told apart only which other length is faster.

    Another draft length is named only where it is known to be faster, and offered as something to try where
    nothing is known of other lengths. One request cannot run with fewer.

    >>> measured = OtherLengths(speedups=((2, 1.2), (4, 1.5), (8, 1.1)), how="as measured")
    >>> advice("wider", gamma=8, batch=1, others=measured)
    'Find a back end that verifies a few tokens faster. Draft fewer tokens: γ = 4 gives 1.50× (as measured).'
    >>> advice("wider", gamma=4, batch=1, others=measured)
    'Find a back end that verifies a few tokens faster.'
    """
    said = [_KINDS[kind]] if kind in _KINDS else []
    if kind == "wider" and (batch is None or batch > 1.0):
        said.append(_BATCH)
    return " ".join([*said, *_length(kind, gamma, others)])


def no_length_pays(batch: float | None, others: OtherLengths | None) -> str:
    """That one should not speculate, where every draft length that is known loses; else "".

    Lengths that only follow from one in proportion are no ground for it.

    >>> no_length_pays(256, OtherLengths(speedups=((1, 0.98), (2, 0.8)), how="as predicted"))
    'Do not speculate at this batch, 256: no draft of 1 to 2 tokens pays (as predicted). `specdec plan` looks \
for batches and drafts that do.'
    >>> no_length_pays(256, OtherLengths(speedups=((1, 1.02), (2, 0.8)), how="as predicted"))
    ''
    """
    if (
        others is None
        or others.how == PROPORTIONAL
        or any(speedup >= 1.0 for _, speedup in others.speedups)
    ):
        return ""
    lengths = [length for length, _ in others.speedups]
    at, paying = f"at this batch, {batch:g}", "batches and drafts that do"
    if batch is None or batch <= 1.0:
        at, paying = "like this", "drafts that do"
    return (
        f"Do not speculate {at}: no draft of {min(lengths)} to {max(lengths)} tokens pays ({others.how}). "
        f"`specdec plan` looks for {paying}."
    )


def _length(kind: LeverKind, gamma: int | None, others: OtherLengths | None) -> list[str]:
    """The best other length if it is worth it; what might help where none is known."""
    known = {} if others is None else dict(others.speedups)
    if gamma not in known:
        if kind == "overhead":
            return ["Longer drafts spread it."]
        return ["Try shorter drafts."] if gamma != 1 and kind in {"drafting", "wider"} else []
    best = max(known, key=lambda length: known[length])
    if others is None or gamma is None or known[best] < max(1.0, _WORTH * known[gamma]):
        return []  # a length that loses less is no advice
    said = "Draft more tokens" if best > gamma else "Draft fewer tokens"
    return [f"{said}: γ = {best} gives {known[best]:.2f}× ({others.how})."]
