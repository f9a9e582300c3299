"""From tokens, cost and its parts to the whole explanation: the same for every source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analysis.diagnosis.derived import Derived
from analysis.diagnosis.finding import Finding
from analysis.explaining.advice import advice, no_length_pays
from analysis.explaining.break_even import OtherLengths, break_even
from analysis.explaining.explanation import Explanation, LeverKind
from analysis.explaining.levers import UNTRIED, choose, kinds_of, levers
from analysis.explaining.parts import Share, waterfall
from analysis.optimum import p_from_tokens
from simulator import Estimate
from simulator._counting import LengthRule

_FULL = 0.95  # of γ: what the end of a text takes from drafts is less


def built(
    frame: Explanation,
    shares: Sequence[Share],
    *,
    applying: Sequence[Finding] = (),
    wasted: float = 0.0,
    others: OtherLengths | None = None,
) -> Explanation:
    """The explanation `frame`, whose tokens, cost and net are known, with parts and what follows from them.

    `applying` are those findings that are about it; where other lengths are known, those that advise a length
    untried say what is known of it. Nothing is attacked, and nothing breaks even, while the numbers
    contradict each other, or at γ = 0.
    """
    tokens, cost, net = frame.tokens, frame.cost, frame.net
    assert tokens is not None and cost is not None and net is not None  # noqa: PT018, S101
    parts = waterfall(tokens, net, shares)
    if frame.contradiction or len(parts) == 1:
        return replace(frame, parts=parts)

    def advise(kind: LeverKind) -> str:
        return advice(kind, gamma=frame.gamma, batch=frame.batch, others=others)

    def informed(finding: Finding) -> Finding:
        if others is None or finding.code not in UNTRIED or finding not in applying:
            return finding
        told = kinds_of(finding.code, parts)
        said = advise(told[0] if len(told) == 1 else "together")
        return replace(
            finding, advice=said or "Time the drafting, or measure V of the target's pass."
        )

    p = None if frame.p is None else frame.p.number
    found = levers(tokens, cost, parts, frame.p, frame.gamma)
    return replace(
        frame,
        parts=parts,
        levers=found,
        verdict=no_length_pays(frame.batch, others),
        findings=tuple(map(informed, frame.findings)),
        attack=choose(tokens, cost, parts, found, tuple(map(informed, applying)), advise),
        break_even=break_even(
            tokens, cost, parts, gamma=frame.gamma, p=p, wasted=wasted, others=others
        ),
    )


def full_drafts(drafted: float | None, gamma: int | None, rule: LengthRule) -> bool:
    """True if drafts are about γ long, so that one p at γ describes them."""
    if drafted is None or not gamma or rule in {"confidence", "scheduled"}:
        return False
    return drafted >= _FULL * gamma


def one_p(tokens: Derived, gamma: int) -> Derived | None:
    """The p that gives these tokens at gamma in the closed form; None where none does."""
    low, high = tokens.range
    if gamma < 1 or not 1.0 <= tokens.number <= gamma + 1.0:
        return None

    def at(value: float) -> float:
        return p_from_tokens(min(max(value, 1.0), gamma + 1.0), gamma)

    interval = tokens.value.interval
    if interval is None and tokens.value.se is not None:
        spread = 1.959963984540054 * tokens.value.se
        interval = tokens.number - spread, tokens.number + spread
    return Derived(
        value=Estimate(
            value=at(tokens.number),
            interval=None if interval is None else (at(interval[0]), at(interval[1])),
            level=tokens.value.level,
        ),
        range=(at(low), at(high)),
        how="the one p that gives these tokens per round at this γ",
    )


def ceiling(p: Derived | None) -> Derived | None:
    """Tokens per round that no draft of any length exceeds at this p, 1 / (1 − p); None at p = 1."""
    if p is None or p.number >= 1.0 or p.range[1] >= 1.0:
        return None
    interval = p.value.interval
    if interval is not None and interval[1] >= 1.0:
        interval = None
    return Derived(
        value=Estimate(
            value=1.0 / (1.0 - p.number),
            interval=None
            if interval is None
            else (1.0 / (1.0 - interval[0]), 1.0 / (1.0 - interval[1])),
            level=p.value.level,
        ),
        range=(1.0 / (1.0 - p.range[0]), 1.0 / (1.0 - p.range[1])),
        how="1 / (1 − p), a draft that always stops in time",
    )
