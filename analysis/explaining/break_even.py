"""What each part, the tokens, p and the draft length would have to become for a speedup of 1, alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from analysis.diagnosis.derived import Derived
from analysis.explaining.changed import cost_with, solved
from analysis.explaining.explanation import BreakEven
from analysis.explaining.parts import NAMES, Part, spoken
from analysis.formulas import expected_tokens
from analysis.optimum import p_from_tokens

MOST = 64
"""The longest draft that is looked at."""
PROPORTIONAL = "if drafting and verification grow in proportion to γ, and one p rules every depth"
"""How other lengths follow from one."""
_EDGE = 1e-12  # relative: what just suffices does


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherLengths:
    """The speedup at other draft lengths: `speedups` of whole lengths from 1 on, `how` they follow."""

    speedups: tuple[tuple[int, float], ...]
    how: str


def break_even(
    tokens: Derived,
    cost: Derived,
    parts: Sequence[Part],
    *,
    gamma: int | None,
    p: float | None,
    wasted: float = 0.0,
    others: OtherLengths | None = None,
) -> tuple[BreakEven, ...]:
    """One line per part, then tokens per round, p and γ.

    A part breaks even where the round costs its tokens (`solved`); tokens per round at the cost of a round, if
    γ + 1 is as much; p where the closed form gives these tokens and the `wasted` ones that were
    accepted but never arrived.
    """
    found = [_of_part(part, parts, tokens.number) for part in parts if _can_move(part)]
    found += _of_hidden(parts, tokens.number - cost.number)
    found.append(_of_tokens(tokens.number, cost.number, gamma, wasted))
    found += [_of_p(cost.number + wasted, gamma, p), _of_gamma(gamma, others)]
    return tuple(found)


def scaled_lengths(
    p: float, gamma: int, cost_at: Callable[[int], float], *, how: str
) -> OtherLengths:
    """Lengths 1 to MOST, or γ if that is longer, by the closed form at p and a cost for each."""
    lengths = range(1, max(MOST, gamma) + 1)
    return OtherLengths(
        speedups=tuple((n, float(expected_tokens(p, n)) / cost_at(n)) for n in lengths), how=how
    )


def _can_move(part: Part) -> bool:
    return part.kind not in {"plain", "hidden"} and part.cost.number > 0.0


def _of_part(part: Part, parts: Sequence[Part], tokens: float) -> BreakEven:
    now, needed = part.cost.number, solved(parts, part.kind, tokens)
    if needed is None:
        rest = tokens / cost_with(parts, part.kind, 0.0)
        why = f"Cannot alone: without {spoken(part.name)[0]} altogether the speedup is {rest:.2f}."
        return _never(part.name, now, why)
    said = f"{_capital(spoken(part.name)[0])}{_moves(now, needed, 2, cost=True)} plain steps."
    return BreakEven(what=part.name, now=now, needed=needed, sentence=said)


def _of_hidden(parts: Sequence[Part], slack: float) -> list[BreakEven]:
    """What is hidden may fall to nothing, or rise to the shorter of drafting and the wider pass."""
    costs = {part.kind: part.cost.number for part in parts}
    if "hidden" not in costs:
        return []
    name, now = NAMES["hidden"], -costs["hidden"]
    needed = now - slack
    most = min(costs.get("drafting", 0.0), 1.0 + costs.get("wider", 0.0))
    if needed < 0.0:
        return [_never(name, now, "Needs none: the round pays with nothing hidden.")]
    if needed > most * (1.0 + _EDGE):
        return [
            _never(name, now, f"Cannot alone: no more than {most:.2f} plain steps can be hidden.")
        ]
    said = f"What is hidden{_moves(now, needed, 2)} plain steps."
    return [BreakEven(what=name, now=now, needed=needed, sentence=said)]


def _of_tokens(tokens: float, cost: float, gamma: int | None, wasted: float) -> BreakEven:
    most = None if gamma is None else gamma + 1.0 - wasted
    if most is not None and cost > most * (1.0 + _EDGE):
        why = f"Cannot alone: a round takes {cost:.2f} plain steps and can give {most:.3g} tokens."
        return _never("tokens per round", tokens, why)
    return BreakEven(
        what="tokens per round",
        now=tokens,
        needed=cost,
        sentence=f"Tokens per round{_moves(tokens, cost, 2)}, what a round takes.",
    )


def _of_p(needed_tokens: float, gamma: int | None, p: float | None) -> BreakEven:
    if p is None or not gamma:
        return _never(
            "p",
            None,
            "Does not follow: no one p is known, for drafts vary or lengths are not known.",
        )
    if needed_tokens > (gamma + 1.0) * (1.0 + _EDGE):
        return _never("p", p, "Cannot alone: not even p = 1 gives as many tokens as a round takes.")
    if needed_tokens < 1.0:
        return _never("p", p, "Needs none: the token that every round gives pays for it.")
    needed = p_from_tokens(needed_tokens, gamma)
    said = f"p{_moves(p, needed, 3)}."
    return BreakEven(what="p", now=p, needed=needed, sentence=said)


def _of_gamma(gamma: int | None, others: OtherLengths | None) -> BreakEven:
    """The longest length that does not lose, counted on from γ where that pays, else the nearest one."""
    now = None if gamma is None else float(gamma)
    if others is None or not gamma:
        why = "Does not follow: what rounds at other draft lengths give and cost is not known."
        return _never("gamma", now, why)
    pays = {length: speedup >= 1.0 for length, speedup in sorted(others.speedups)}
    if pays.get(gamma):
        longer = [length for length in pays if length >= gamma]
        still = list(takewhile(lambda length: pays[length], longer))
        if still == longer:
            why = f"Needs no change: drafts of up to {longer[-1]} tokens pay ({others.how})."
            return _never("gamma", now, why)
        said = f"γ may grow from {gamma} to {still[-1]} ({others.how})."
        return BreakEven(what="gamma", now=now, needed=float(still[-1]), sentence=said)
    nearest = min((n for n in pays if pays[n]), key=lambda n: (abs(n - gamma), n), default=None)
    if nearest is None:
        why = f"Cannot alone: no draft of {min(pays)} to {max(pays)} tokens pays ({others.how})."
        return _never("gamma", now, why)
    must = "must fall" if nearest < gamma else "must rise"
    said = f"γ {must} from {gamma} to {nearest} ({others.how})."
    return BreakEven(what="gamma", now=now, needed=float(nearest), sentence=said)


def _moves(now: float, needed: float, digits: int, *, cost: bool = False) -> str:
    """From where to where, whether it may or must; of costs less is better, of all else more."""
    if abs(needed - now) < 0.5 * 10.0**-digits:
        return f": at break-even already, {now:.{digits}f}"
    word = (
        ("may rise" if cost else "must rise")
        if needed > now
        else ("must fall" if cost else "may fall")
    )
    return f" {word} from {now:.{digits}f} to {needed:.{digits}f}"


def _never(what: str, now: float | None, sentence: str) -> BreakEven:
    return BreakEven(what=what, now=now, needed=None, sentence=sentence)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
