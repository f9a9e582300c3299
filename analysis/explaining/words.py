"""An explanation in sentences: what a round gives, what eats the gain, what to do about it."""

from __future__ import annotations

from analysis.explaining.explanation import Attack, Explanation
from analysis.explaining.parts import NAMES, Part, listed, spoken

_SHOWN = 0.005  # plain steps below which two decimals show nothing


def headline(explanation: Explanation) -> str:
    """What eats the gain and what to do, for a reader who knows no formula.

    >>> from analysis.deployment.round_parts import RoundParts
    >>> from analysis.explaining.predicted import explain
    >>> from simulator import Estimate
    >>> print(headline(explain(RoundParts(gamma=4, batch=1, plain_s=0.02, drafting_s=0.008, wider_s=0.001,
    ...                                   tokens_per_round=Estimate(value=2.7731)))))
    1.91×: a round gives 2.77 tokens and takes 1.45 plain steps. Of the 1.77 steps that it could save,
    drafting takes 0.40 and wider verification 0.05. Attack drafting first. Without it the speedup would be
    2.64×, not 1.91×. Without wider verification alone it would be 1.98×. Use a smaller or faster draft, or
    draft while the target verifies.
    """
    if explanation.refusal:
        return explanation.refusal
    tokens, cost, net = explanation.tokens, explanation.cost, explanation.net
    assert tokens is not None and cost is not None and net is not None  # noqa: PT018, S101
    said = f"{explanation.verdict} {_shown(net.value.interval, net.number)}: ".lstrip()
    if len(explanation.parts) == 1:
        return f"{said}plain decoding, one token per round; nothing is drafted."
    said += f"a round gives {tokens.number:.2f} tokens and takes {cost.number:.2f} plain steps."
    if explanation.contradiction:
        return f"{said} {explanation.contradiction}"
    said += f" {eaten(explanation)}"
    attack = explanation.attack
    if attack is None:
        return said
    return f"{said} {_first(attack)} {attack.sentence} {attack.advice}".rstrip()


def eaten(explanation: Explanation) -> str:
    """What takes the gain away, the largest part first."""
    tokens = explanation.tokens
    parts = [part for part in explanation.parts if part.kind not in {"plain", "hidden"}]
    taking = sorted(parts, key=lambda part: -part.cost.number)
    taking = [part for part in taking if part.cost.range[1] >= _SHOWN] or taking[:1]
    listed = [_taking(part, first=i == 0) for i, part in enumerate(taking)]
    hidden = explanation.part("hidden")
    said = listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
    if hidden is not None:
        said += f"; {-hidden.cost.number:.2f} of it is hidden by overlap"
    if tokens is None or tokens.number - 1.0 < _SHOWN:  # shown, it would be nothing
        return f"There is nothing to save; {said}."
    most = tokens.number - 1.0
    if sum(part.cost.number for part in parts) > most:
        return f"It could save {most:.2f} steps, but {said}."
    return f"Of the {most:.2f} steps that it could save, {said}."


def context(explanation: Explanation) -> str:
    """How far acceptance alone would carry: tokens per round that no draft exceeds; "" where p is not known."""
    p, most, tokens = explanation.p, explanation.ceiling, explanation.tokens
    if p is None or most is None or tokens is None:
        return ""
    return (
        f"If one p rules every depth it is {p.number:.3f}, and no draft of any length gives more than "
        f"{most.number:.{2 if most.number < 10.0 else 1 if most.number < 100.0 else 0}f} tokens per round."
    )


def _first(attack: Attack) -> str:
    """What to attack first; of several that are not told apart that they must be, or which is most likely."""
    if attack.kind != "together":
        return f"Attack {attack.name} first."
    if attack.likely is not None:
        return (
            f"Attack {NAMES[attack.likely]} first, the most likely of {listed(attack.name, 'and')}, which "
            "these numbers do not tell apart."
        )
    return f"First find out whether {listed(attack.name, 'or')} takes most of that."


def _taking(part: Part, *, first: bool) -> str:
    name, ending = spoken(part.name)
    return f"{name} {f'take{ending} ' if first else ''}{_steps(part)}"


def _steps(part: Part) -> str:
    low, high = (f"{end:.2f}" for end in part.cost.range)
    return f"{part.cost.number:.2f}" + (f" ({low} to {high})" if low != high else "")


def _shown(interval: tuple[float, float] | None, number: float) -> str:
    if interval is None:
        return f"{number:.2f}×"
    return f"{number:.2f}× [{interval[0]:.2f}, {interval[1]:.2f}]"
