"""Whether a number can be what it is called; what the digits allow is cut to what is possible."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.conversion.quantities import QUANTITIES, Quantity
from analysis.conversion.values import Known

_HINTS = {
    ("tokens_per_round", "low"): "Without the bonus token it is accepted_per_round.",
    ("accepted_per_round", "high"): "With the bonus token it is tokens_per_round.",
    ("accepted_fraction", "high"): "A percent is written 64.5%.",
    ("p", "high"): "A percent is written 64.5%; a mean length is tokens_per_round.",
}
_SLACK = 1e-9


def check_possible(quantity: str, known: Known, beside: Mapping[str, Known]) -> Known:
    """The values with their ranges cut to the possible; ValueError if nothing possible prints so."""
    word = QUANTITIES[quantity]
    if not word.by_depth and len(known.values) != 1:
        raise ValueError(f"{quantity} must be one number; got {len(known.values)}.")
    if quantity == "histogram" and len(known.values) == 1:
        raise ValueError("histogram must have two numbers at least, for 0 and 1 accepted; got 1.")
    least, most = word.least, _most(word, beside)
    where = f"lie in [{least:g}, {most:g}]" if most is not None else f"be at least {least:g}"
    lows, highs, values = [], [], []
    for depth, (value, low, high) in enumerate(
        zip(known.values, known.lows, known.highs, strict=True)
    ):
        name = f"{quantity}[{depth}]" if word.by_depth else quantity
        above = most is not None and low > most + _SLACK
        if high < least - _SLACK or above:
            hint = _HINTS.get((quantity, "high" if above else "low"), "")
            raise ValueError(f"{name} must {where}; got {value:g}. {hint}".rstrip())
        if word.whole and not (value == int(value) and low == high):
            raise ValueError(f"{name} must be a whole number; got {value:g}.")
        end = high if most is None else most
        values.append(min(max(value, least), end))
        lows.append(min(max(low, least), end))
        highs.append(min(max(high, least), end))
    checked = Known(values=tuple(values), lows=tuple(lows), highs=tuple(highs))
    if quantity == "survival":
        checked = _falling(checked)
    _check_depths(quantity, len(values), beside)
    return checked


def _most(word: Quantity, beside: Mapping[str, Known]) -> float | None:
    if not isinstance(word.most, str):
        return word.most
    if "gamma" not in beside:
        return None
    gamma = beside["gamma"].values[0]
    return gamma + 1.0 if word.most == "gamma + 1" else gamma


def _falling(known: Known) -> Known:
    """Survival never rises: a range ends where those before and behind it allow."""
    for depth in range(1, len(known.values)):
        if known.lows[depth] > known.highs[depth - 1] + _SLACK:
            raise ValueError(
                f"survival must not rise with depth; got {known.values[depth]:g} at depth {depth} "
                f"after {known.values[depth - 1]:g}. Accepted / tested is conditional_acceptance."
            )
    highs, values = [known.highs[0]], [known.values[0]]
    for high, value in zip(known.highs[1:], known.values[1:], strict=True):
        highs.append(min(high, highs[-1]))
        values.append(min(value, values[-1]))
    lows = [known.lows[-1]]
    for low in reversed(known.lows[:-1]):
        lows.append(max(low, lows[-1]))
    return Known(values=tuple(values), lows=tuple(reversed(lows)), highs=tuple(highs))


def _check_depths(quantity: str, count: int, beside: Mapping[str, Known]) -> None:
    if not QUANTITIES[quantity].by_depth or "gamma" not in beside:
        return
    most = int(beside["gamma"].values[0]) + (quantity == "histogram")
    if count > most:
        raise ValueError(
            f"{quantity} must have at most {most} numbers with this gamma; got {count}."
        )
