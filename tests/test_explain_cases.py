"""Public reports explained: their numbers, their findings, and an attack that does not contradict them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from analysis import diagnose, explain_measured
from analysis.diagnosis.cases import public_cases
from analysis.diagnosis.finding import CODES
from analysis.explaining.findings import applying
from analysis.explaining.levers import ACCEPTANCE, COSTS
from analysis.explaining.report import explain_report
from analysis.explaining.words import headline
from analysis.output import to_json

CASES = {case.id: case for case in public_cases()}
ABOUT_TIMES = {
    case.id: case
    for case in CASES.values()
    if {"speedup", "round_cost_in_target_steps", "seconds_per_round"} & set(dict(case.check))
}
"""Reports of which a time is checked; those without one have nothing that a waterfall could show."""


def digits(value):
    """Half a unit of the last digit that a number shows, four significant ones at least."""
    return 0.5000001 * 10.0 ** -len(f"{value:.4g}".partition(".")[2])


def explained(case):
    return explain_measured(case.observations)


def causes_of(case):
    """Findings about the first observation whose cause is acceptance or the time of a round.

    By itself, and among the others of its report.
    """
    subject = case.observations[0]
    found = [*diagnose(subject).findings, *applying(diagnose(case.observations), subject)]
    codes = dict.fromkeys(each.code for each in found if each.code in (*ACCEPTANCE, *COSTS))
    return sorted(codes, key=CODES.index)


def test_enough_reports_are_about_times():
    assert len(ABOUT_TIMES) >= 24
    with_cost = [
        id_ for id_ in ABOUT_TIMES if "round_cost_in_target_steps" in dict(CASES[id_].check)
    ]
    with_speedup = [id_ for id_ in ABOUT_TIMES if "speedup" in dict(CASES[id_].check)]
    assert len(with_cost) == 12
    assert len(with_speedup) == 21


@pytest.mark.parametrize("case", ABOUT_TIMES.values(), ids=ABOUT_TIMES)
def test_the_first_finding_is_among_those_of_the_explanation(case):
    assert case.findings[0] in explained(case).codes


@pytest.mark.parametrize("case", ABOUT_TIMES.values(), ids=ABOUT_TIMES)
def test_round_cost_and_speedup_are_reproduced_to_the_digits_shown(case):
    explanation, check = explained(case), dict(case.check)
    for quantity, found in (
        ("round_cost_in_target_steps", explanation.cost),
        ("speedup", explanation.net),
        ("tokens_per_round", explanation.tokens),
    ):
        if quantity in check:
            value = check[quantity]
            assert found is not None, quantity
            assert found.range[0] - digits(value) <= value <= found.range[1] + digits(value), (
                quantity
            )
            assert found.number == pytest.approx(value, abs=digits(value) + 1e-12), quantity


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_report_is_explained_or_refused_in_a_sentence(case):
    explanation = explained(case)
    report = explain_report(explanation)
    to_json(report)
    assert bool(explanation.parts) != bool(explanation.refusal)
    assert report.headline == headline(explanation)
    assert report.headline.endswith(".")
    assert "nan" not in report.headline.lower()
    assert report.sections[-1].name == "findings"
    if explanation.refusal:
        assert report.headline.startswith(
            ("Not explained", "Acceptance is fine", "Whether it pays")
        )
        assert explanation.attack is None


EXPLAINED = {id_: case for id_, case in CASES.items() if explained(case).parts}


@pytest.mark.parametrize("case", EXPLAINED.values(), ids=EXPLAINED)
def test_the_parts_sum_to_the_cost_and_end_at_the_net(case):
    explanation = explained(case)
    cost = math.fsum(part.cost.number for part in explanation.parts)
    assert cost == pytest.approx(explanation.cost.number, rel=1e-12)
    assert explanation.parts[-1].speedup == explanation.net.number
    assert explanation.saved == pytest.approx(explanation.tokens.number - cost, abs=1e-12)
    assert explanation.net.number == pytest.approx(explanation.tokens.number / cost, rel=1e-12)


@pytest.mark.parametrize("case", EXPLAINED.values(), ids=EXPLAINED)
def test_the_attack_does_not_contradict_the_findings(case):
    explanation = explained(case)
    attack = explanation.attack
    causes = causes_of(case)
    if not causes:
        return
    if causes[0] in ACCEPTANCE:
        assert attack.kind == "tokens"
        return
    allowed = COSTS[causes[0]]
    lump = explanation.part("together")
    within = () if lump is None else tuple(member.kind for member in lump.members)
    assert attack.kind in allowed or (attack.kind == "together" and set(allowed) & set(within))
    assert attack.likely is None or attack.likely in allowed


def test_the_rule_on_contradictions_meets_both_kinds_of_cause():
    causes = {id_: causes_of(case) for id_, case in EXPLAINED.items()}
    first = {found[0] for found in causes.values() if found}
    assert {"verify_cost_dominates", "moe_verify_cost", "fixed_overhead_dominates"} <= first


@pytest.mark.parametrize("case", EXPLAINED.values(), ids=EXPLAINED)
def test_break_even_values_put_back_give_a_speedup_of_one(case):
    explanation = explained(case)
    costs = {part.name: part.cost.number for part in explanation.parts}
    total = math.fsum(costs.values())
    tried = 0
    for each in explanation.break_even:
        if each.needed is None:
            continue
        if each.what in costs:
            tried += 1
            back = total - costs[each.what] + each.needed
            assert explanation.tokens.number / back == pytest.approx(1.0, abs=1e-9)
        elif each.what == "tokens per round":
            tried += 1
            assert each.needed / total == pytest.approx(1.0, abs=1e-9)
    assert tried


def test_a_sweep_over_draft_lengths_tells_fixed_cost_from_that_of_tokens():
    """vLLM #20780: costs 1.298 to 1.817 over γ = 2 to 7, about 0.105 a token above 1.09."""
    explanation = explained(CASES["case-001"])
    assert [part.kind for part in explanation.parts] == ["plain", "together", "overhead"]
    assert explanation.line.per_token.number == pytest.approx(0.105, abs=0.002)
    assert explanation.line.residual < 0.01
    overhead = explanation.part("overhead")
    assert overhead.cost.number == pytest.approx(0.09, abs=0.01)
    assert 0.0 < overhead.cost.range[0] < overhead.cost.range[1] < 0.15
    assert "cost_over_gamma" in [section.name for section in explain_report(explanation).sections]


def test_costs_that_bend_upwards_show_no_fixed_cost():
    """A V100: 1.36, 1.75, 2.22, 2.51, 3.66 plain steps for 1, 2, 3, 4, 6 tokens."""
    explanation = explained(CASES["case-082"])
    line = explanation.line
    assert [round(cost, 2) for _, cost in line.points] == [1.36, 1.75, 2.22, 2.51, 3.66]
    assert line.per_token.number == pytest.approx(0.455, abs=0.005)
    assert line.residual > 0.05  # a straight line does not fit
    assert line.fixed.number < 1.0
    overhead = explanation.part("overhead").cost
    assert overhead.number == 0.0
    assert overhead.range[1] > 0.0
    assert any("bend upwards" in note for note in explanation.notes)


def test_runs_that_differ_in_more_than_gamma_make_no_line():
    trees = explained(CASES["case-034"])  # three trees of one depth with other widths
    assert trees.line is None
    texts = explained(CASES["case-076"])  # costs known to a third only
    assert texts.line is None


def test_overhead_is_the_cause_where_no_split_of_the_rest_could_be():
    explanation = explained(CASES["case-010"])
    assert explanation.attack.kind == "overhead"
    assert explanation.attack.without.range[0] < 1.0
    lump = explanation.part("together")
    bounds = {member.kind: member.range for member in lump.members}
    assert bounds["overhead"] == pytest.approx((5.244 - 3.0, 4.244), abs=1e-3)
    assert bounds["drafting"] == bounds["wider"] == (0.0, 1.0)


def test_timed_drafting_is_split_off():
    explanation = explained(CASES["case-054"])
    assert explanation.part("drafting").cost.number == pytest.approx(0.142 * 2.985, abs=2e-3)
    assert explanation.attack.likely == "wider"


def test_what_is_known_without_a_plain_step_is_said():
    refusal = explained(CASES["case-061"]).refusal
    assert "2.92 tokens" in refusal
    assert "26.4 ms" in refusal
    assert "14%" in refusal


def test_a_wrong_number_would_be_noticed():
    case = CASES["case-057"]
    seen = case.observations[0]
    wrong = replace(seen, clock=replace(seen.clock, tokens_per_s=seen.clock.tokens_per_s * 1.01))
    value = dict(case.check)["speedup"]
    assert explain_measured(wrong).net.number != pytest.approx(value, abs=digits(value))
