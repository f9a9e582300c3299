"""An explanation as a report: waterfall, what to attack, break-even, findings."""

from __future__ import annotations

from analysis.diagnosis.derived import Derived
from analysis.doctor import Diagnosis, diagnosis_section
from analysis.explaining.explanation import BreakEven, Explanation
from analysis.explaining.parts import Part, ends
from analysis.explaining.words import context, headline
from analysis.output import Cell, Report, Row, Section

WATERFALL = (
    "part", "plain_steps", "low", "high", "steps_left", "speedup", "speedup_low", "speedup_high", "basis"
)  # fmt: skip
"""Columns of the waterfall; plain_steps are what a part takes, steps_left what a round then still saves."""

_PRINTED = (
    "part", "gives_or_takes", "low", "high", "left", "speed_after", "speed_after_low", "speed_after_high",
    "how_known",
)  # fmt: skip
_LEGEND = (
    "All in plain steps: a round gives its tokens, each worth one, and every part takes some; left is what "
    "remains, speed after the speedup once it is paid. Speedup without is that with the part gone."
)


def explain_report(
    explanation: Explanation, parameters: tuple[tuple[str, Cell], ...] = ()
) -> Report:
    """What `specdec explain` says. A refused explanation has its findings only.

    >>> from analysis.deployment.round_parts import RoundParts
    >>> from analysis.explaining.predicted import explain
    >>> from simulator import Estimate
    >>> report = explain_report(explain(RoundParts(gamma=4, batch=1, plain_s=0.02, drafting_s=0.008,
    ...                                            tokens_per_round=Estimate(value=2.7731))))
    >>> [section.name for section in report.sections]
    ['waterfall', 'attack', 'break_even']
    """
    sections: list[Section] = []
    if explanation.parts:
        sections.append(
            Section(
                name="waterfall",
                columns=_PRINTED,
                rows=waterfall_rows(explanation),
                too_wide=("speed_after_low", "speed_after_high", "how_known"),
            )
        )
    if explanation.levers:
        sections.append(
            Section(
                name="attack",
                columns=("part", "speedup_without", "low", "high", "first"),
                rows=attack_rows(explanation),
            )
        )
    if explanation.break_even:
        sections.append(
            Section(
                name="break_even",
                columns=("what", "now", "needed", "verdict"),
                rows=tuple(
                    (each.what, _whole(each, each.now), _whole(each, each.needed), each.sentence)
                    for each in explanation.break_even
                ),
            )
        )
    if explanation.line is not None:
        line = explanation.line
        sections.append(
            Section(
                name="cost_over_gamma",
                columns=("drafted_tokens", "round_cost", "line", "off"),
                rows=tuple(
                    (length, cost, line.cost(length), cost - line.cost(length))
                    for length, cost in line.points
                ),
            )
        )
    if explanation.findings:
        sections.append(diagnosis_section(Diagnosis(findings=explanation.findings)))
    said = [context(explanation)]
    if explanation.levers:
        said.insert(0, _LEGEND)
    return Report(
        command="explain",
        parameters=parameters,
        sections=tuple(sections),
        headline=headline(explanation),
        notes=(*filter(None, said), *explanation.notes),
    )


def waterfall_rows(explanation: Explanation) -> tuple[Row, ...]:
    """A row per step with the columns of WATERFALL: tokens, the parts, members of a lump, the net."""
    tokens, cost, net = explanation.tokens, explanation.cost, explanation.net
    if tokens is None or cost is None or net is None or not explanation.parts:
        return ()
    rows: list[Row] = [
        (
            "tokens per round",
            tokens.number,
            *ends(tokens),
            tokens.number,
            None,
            None,
            None,
            tokens.how,
        )
    ]
    for part in explanation.parts:
        rows.append(_row(part, net=part is explanation.parts[-1], of=net))
        rows += [
            (f"of which {each.name}", None, *each.range, None, None, None, None, "bounds")
            for each in part.members
        ]
    rows.append(
        ("net", cost.number, *ends(cost), explanation.saved, net.number, *ends(net), net.how)
    )
    return tuple(rows)


def attack_rows(explanation: Explanation) -> tuple[Row, ...]:
    """A row per lever, the one that gains most first; `first` marks the choice."""
    chosen = explanation.attack
    rows: list[Row] = []
    for lever in explanation.levers:
        without, first = lever.without, chosen is not None and _is(lever.kind, explanation)
        bounds = (None, None) if without is None else ends(without)
        rows.append((lever.name, None if without is None else without.number, *bounds, first))
    return tuple(rows)


def _whole(line: BreakEven, value: float | None) -> float | None:
    """Draft lengths are counts."""
    return int(value) if line.what == "gamma" and value is not None else value


def _is(kind: str, explanation: Explanation) -> bool:
    """A member of a lump is marked at the lump."""
    attack = explanation.attack
    if attack is None:
        return False
    lump = explanation.part("together")
    inside = lump is not None and any(each.kind == attack.kind for each in lump.members)
    return kind == ("together" if inside else attack.kind)


def _row(part: Part, *, net: bool, of: Derived) -> Row:
    speeds = ends(of) if net else part.speedup_range
    if speeds[0] == speeds[1]:
        speeds = (None, None)
    return (
        part.name, part.cost.number, *ends(part.cost), part.left, part.speedup, *speeds, part.cost.how
    )  # fmt: skip
