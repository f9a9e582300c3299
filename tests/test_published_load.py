"""Published tables of speed under load, reproduced: the rules, the facts, and controls that must fail."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from analysis.output import to_csv, to_json
from analysis.published_load.acceptance import acceptance_of_tokens
from analysis.published_load.apertus import (
    Assumptions,
    chosen_fit,
    fit_apertus,
    held_tokens,
    request_tokens,
)
from analysis.published_load.choices import choices
from analysis.published_load.eagle_chain import HEADS, fit_chain, rises
from analysis.published_load.errors import (
    Compared,
    errors_of,
    nearest_falling,
    never_falls,
    never_rises,
)
from analysis.published_load.facts import APERTUS, EAGLE_3, MAGICDEC, load_facts, printed_tokens
from analysis.published_load.machines import LLAMA_2_7B
from analysis.published_load.magicdec import (
    MODEL,
    best_never_falls,
    gains_rise,
    groups,
    magicdec_deployment,
    magicdec_rows,
    printed_p,
    speedups_by_length,
)
from analysis.published_load.report import published_load_report
from analysis.published_load.sensitivity import (
    UNFITTED,
    alternatives,
    sensitivities,
    sensitivity,
)
from analysis.published_load.step_profile import step_profile

LIMIT = 0.1


def row(gamma=2, batch=8, measured=1.0, predicted=1.0, **others):
    return Compared(
        method="m", target="t", gamma=gamma, batch=batch, measured=measured, predicted=predicted, **others
    )  # fmt: skip


@pytest.fixture(scope="module")
def apertus():
    return chosen_fit()


@pytest.fixture(scope="module")
def report():
    return published_load_report()


# --- the facts


@pytest.mark.parametrize(
    ("source", "method", "gamma", "batch", "target", "value"),
    [
        (APERTUS, "block drafter", 1, 1, "Apertus 1.5 8B", 1.26),
        (APERTUS, "block drafter", 7, 1, "Apertus 1.5 8B", 1.87),
        (APERTUS, "block drafter", 3, 32, "Apertus 1.5 8B", 1.31),
        (APERTUS, "block drafter", 7, 256, "Apertus 1.5 8B", 0.74),
        (APERTUS, "block drafter", 4, 64, "Apertus 1.5 8B", 1.02),
        (APERTUS, "EAGLE head", 3, 1, "Apertus 1.5 8B", 1.56),
        (APERTUS, "EAGLE head", 1, 256, "Apertus 1.5 8B", 1.02),
        (MAGICDEC, "self-speculation", 3, 32, "Llama 3.1 8B", 1.23),
        (MAGICDEC, "self-speculation", 4, 128, "Llama 2 7B 32K", 1.65),
        (MAGICDEC, "draft model", 2, 32, "Llama 2 7B 32K", 1.32),
        (EAGLE_3, "EAGLE", 3, 48, "Llama 3.1 8B", 0.88),
        (EAGLE_3, "EAGLE-3", 3, 64, "Llama 3.1 8B", 1.38),
    ],
)
def test_speedups_are_as_printed(source, method, gamma, batch, target, value):
    found = [
        fact.value
        for fact in load_facts(source, "speedup", method)
        if (fact.gamma, fact.batch, fact.target) == (gamma, batch, target)
    ]
    assert found == [value]


def test_every_table_is_whole():
    counts = {
        (source, method): len(load_facts(source, "speedup", method))
        for source, method in [
            (APERTUS, "block drafter"), (APERTUS, "EAGLE head"), (MAGICDEC, "self-speculation"),
            (MAGICDEC, "draft model"), (EAGLE_3, "EAGLE"), (EAGLE_3, "EAGLE-3"),
        ]
    }  # fmt: skip
    assert list(counts.values()) == [36, 36, 5, 3, 9, 9]
    assert printed_tokens(APERTUS, "block drafter") == {
        1: 1.65, 2: 2.05, 3: 2.29, 4: 2.44, 5: 2.51, 7: 2.59,
    }  # fmt: skip
    assert len(load_facts(APERTUS, "step_s")) == 25


def test_every_fact_has_a_source_an_address_and_a_confidence():
    for fact in load_facts():
        assert fact.source
        assert fact.url.startswith("https://")
        assert fact.confidence in {"direct", "direct-community", "secondary"}
        assert math.isfinite(fact.value)
        assert fact.value > 0.0


def test_tokens_that_the_report_does_not_print_say_so():
    facts = load_facts(APERTUS, "tokens_per_round")
    unprinted = {(fact.method, fact.gamma) for fact in facts if "not in the" in fact.note}
    assert unprinted == {("block drafter", 4)} | {("EAGLE head", g) for g in (1, 2, 3, 4, 5, 7)}


# --- acceptance from printed tokens


def test_acceptance_gives_the_printed_tokens_back():
    printed = printed_tokens(APERTUS, "block drafter")
    fit = acceptance_of_tokens(printed)
    for gamma, tokens in printed.items():
        assert fit.tokens_per_round(gamma).value == pytest.approx(tokens, abs=1e-12)
    assert fit.tokens_per_round(6).value == pytest.approx((2.51 + 2.59) / 2.0, abs=1e-12)


@pytest.mark.parametrize("tokens", [{1: 0.9}, {1: 2.5}, {1: 1.3, 2: 1.9}, {2: 1.6, 3: 1.5}])
def test_tokens_that_no_acceptance_gives_are_refused(tokens):
    with pytest.raises(ValueError, match="tokens_per_round must rise by less and less"):
        acceptance_of_tokens(tokens)


# --- Apertus


def test_two_parameters_fitted_on_light_load_predict_the_rest(apertus):
    rows = apertus.rows()
    fitted = [r for r in rows if r.fitted]
    assert {r.batch for r in fitted} == {1, 8}
    assert {r.gamma for r in fitted} == {1, 2, 3, 5, 7}
    held_out = [r for r in rows if r.batch > 8]
    above = errors_of(held_out)
    assert above.n == 20
    assert above.rms <= LIMIT
    assert errors_of(replace(r, marked=False) for r in held_out).rms <= LIMIT  # γ = 4 too


def test_rows_without_printed_tokens_are_marked_and_nowhere_in_the_fit(apertus):
    marked = [r for r in apertus.rows() if r.marked]
    assert {r.gamma for r in marked} == {4}
    assert len(marked) == 6
    assert not any(r.fitted for r in marked)
    assert all(r.note for r in marked)


@pytest.mark.parametrize("off", [True, False])
@pytest.mark.parametrize("all_lengths", [True, False])
def test_best_length_falls_with_load_and_is_where_it_was_measured(apertus, off, all_lengths):
    rows = [r for r in apertus.rows() if all_lengths or not r.marked]
    found = choices(rows, off=off)
    assert [choice.batch for choice in found] == [1, 8, 32, 64, 128, 256]
    assert never_rises([choice.predicted for choice in found])
    assert all(choice.holds for choice in found)


def test_the_fit_is_deterministic_and_inside_its_bounds(apertus):
    again = fit_apertus()
    assert again == apertus
    assert 0.1 < apertus.operations_share < 0.9
    assert 0.5 < apertus.draft_factor < 2.0


def test_the_fit_is_a_minimum(apertus):
    def squares(fit):
        return sum(math.log(r.predicted / r.measured) ** 2 for r in fit.rows() if r.fitted)

    least = squares(apertus)
    for share in (-0.01, 0.01):
        for factor in (-0.01, 0.01):
            moved = replace(
                apertus,
                operations_share=apertus.operations_share + share,
                draft_factor=apertus.draft_factor + factor,
            )
            assert squares(moved) > least


def test_the_arithmetic_fitted_is_what_the_same_report_measured_of_steps(apertus):
    assert apertus.operations_share == pytest.approx(
        step_profile().machine.operations_share, rel=0.1
    )


def test_heads_rows_are_predicted_without_a_fit(apertus):
    rows = apertus.eagle_rows()
    assert len(rows) == 36
    assert not any(r.fitted or r.marked for r in rows)
    assert errors_of(rows).rms <= LIMIT


def test_a_cost_without_arithmetic_fails():
    control = sensitivity(Assumptions(name="no arithmetic", arithmetic=False))
    assert control.held_out.rms > 3.0 * LIMIT
    assert control.best_gammas == (7,) * 6


def test_the_limit_tells_assumptions_apart():
    found = {entry.assumptions.name: entry for entry in sensitivities()}
    first = next(iter(found.values()))
    assert first.assumptions.name == "chosen"
    assert first.held_out.rms <= LIMIT
    assert first.share_is == "fitted"
    assert found["roofline, no step profile"].held_out.rms > LIMIT
    assert found["no prompts"].held_out.rms > LIMIT
    assert found["k = 1, no step profile"].share_is == "at its limit"
    assert found["no prompts, roofline, 1,000 held"].share_is == "not told"


def test_the_step_times_alone_predict_the_speedups():
    share = step_profile().machine.operations_share
    unfitted = sensitivity(Assumptions(name=UNFITTED, operations_share=share, draft_factor=1.0))
    assert (unfitted.operations_share, unfitted.draft_factor) == (share, 1.0)
    assert unfitted.share_is == "fixed"
    assert unfitted.held_out.rms < 0.03
    assert unfitted.fitted.rms < 0.03  # no row helped
    assert UNFITTED in {each.name for each in alternatives()}


def test_requests_are_as_the_result_files_say():
    assert request_tokens() == (round(322416 / 512), round(97335 / 512))
    assert held_tokens() == 630 + 95


# --- MagicDec


def test_magicdec_gains_rise_with_the_batch_and_best_lengths_do_not_fall():
    rows = magicdec_rows()
    assert [len(group) for group in groups(rows)] == [2, 3, 3]
    assert gains_rise(rows)
    assert best_never_falls(rows)
    assert {r.p for r in rows} == {0.81, 0.83}
    assert [r.p_assumed for r in rows] == [False, False] + [True] * 6


def test_the_measured_rows_obey_the_same_rules():
    for group in groups(magicdec_rows()):
        assert np.all(np.diff([r.compared.measured for r in group]) > 0.0)
        assert never_falls([r.compared.gamma for r in group])


def test_without_the_cache_gains_do_not_rise():
    assert not gains_rise(magicdec_rows(cache=False))


def test_with_little_held_the_gain_and_the_best_length_fall_with_the_batch():
    pair = magicdec_deployment(LLAMA_2_7B, MODEL, 0.83)
    rows = [r for r in magicdec_rows() if r.compared.method == MODEL]

    def at(context, batches=(128, 512, 1024)):
        gains = [speedups_by_length(pair, batch, context) for batch in batches]
        return [
            replace(
                row, best_gamma=int(np.argmax(gain)),
                compared=replace(row.compared, batch=batch, predicted=float(gain[3])),
            )
            for row, gain, batch in zip(rows, gains, batches, strict=True)
        ]  # fmt: skip

    assert gains_rise(at(8000))
    assert best_never_falls(at(8000))
    assert not gains_rise(at(100))
    assert not best_never_falls(at(100))


def test_one_group_that_breaks_a_rule_is_enough():
    rows = magicdec_rows()
    last = max(rows, key=lambda r: (r.group, r.compared.batch))
    others = [r for r in rows if r is not last]
    before = [r for r in others if r.group == last.group][-1]
    assert not best_never_falls([*others, replace(last, best_gamma=before.best_gamma - 1)])
    level = replace(last.compared, predicted=before.compared.predicted)
    assert not gains_rise([*others, replace(last, compared=level)])


def test_printed_acceptance_is_not_extrapolated():
    assert [printed_p(n) for n in (4000, 8000, 100_000)] == [0.84, 0.83, 0.79]
    assert 0.81 < printed_p(24000) < 0.82
    with pytest.raises(ValueError, match="context must be 4,000 to 100,000 tokens"):
        printed_p(3999)


# --- EAGLE-3, Table 3


def test_the_chain_is_fitted_on_small_batches_only():
    rows = fit_chain().rows()
    assert len(rows) == 18
    assert {r.batch for r in rows if r.fitted} == {2, 4, 8}
    assert errors_of(r for r in rows if r.fitted).rms < 0.03
    for head in HEADS:
        assert never_rises([r.predicted for r in rows if r.method == head])


def test_the_measured_gain_rises_where_no_monotone_cost_does():
    eagle, third = rises(fit_chain().rows())
    assert (eagle.lowest_at, third.lowest_at) == (48, 32)
    assert eagle.rise_from_48 == pytest.approx(0.99 / 0.88 - 1.0)
    assert third.rise_from_48 == 0.0
    assert third.rise == pytest.approx(1.38 / 1.32 - 1.0)
    assert 0.0 < third.least.rms < eagle.least.rms
    above = {(r.method, r.batch): r.note for r in fit_chain().rows() if r.note}
    assert set(above) == {("EAGLE", 56), ("EAGLE", 64)} | {("EAGLE-3", b) for b in (48, 56, 64)}
    assert above["EAGLE-3", 56] == "measured gain above that at 32"


def test_borrowed_tokens_need_another_time_per_round():
    fit = fit_chain(borrowed_tokens=True)
    assert fit.tokens_per_round[1] == 2.78
    assert fit.overhead_s > 5e-4
    assert errors_of(r for r in fit.rows() if r.fitted).rms < 0.03


# --- errors and choices


def test_nearest_falling_is_nearest():
    measured = [1.40, 1.38, 1.23, 1.02, 0.93, 0.94, 0.88, 0.99, 0.99]
    found = np.asarray(nearest_falling(measured))
    assert never_rises(list(found))

    def loss(values):
        return float(np.sum((np.asarray(values) / measured - 1.0) ** 2))

    rng = np.random.default_rng(20)
    for _ in range(500):
        other = np.minimum.accumulate(found + rng.normal(0.0, 0.02, len(measured)))
        assert loss(other) >= loss(found) - 1e-12
    assert nearest_falling([3.0, 2.0, 1.0]) == (3.0, 2.0, 1.0)
    assert loss(found) > 0.0


def test_the_nearest_falling_values_weigh_relative_errors():
    assert nearest_falling([1.0, 0.5, 1.0])[1] == pytest.approx(0.6)  # (2 + 1) / (4 + 1)
    assert not never_rises([1.0, 1.01])
    assert not never_falls([1.0, 0.99])


def test_errors_leave_marked_rows_out():
    rows = [row(measured=2.0, predicted=1.8), row(measured=1.0, predicted=9.0, marked=True)]
    assert errors_of(rows).n == 1
    assert errors_of(rows).worst == pytest.approx(-0.1)
    with pytest.raises(ValueError, match="at least one row"):
        errors_of(rows[1:])


def test_choices_far_from_the_best_do_not_hold():
    speeds = {1: (1.0, 1.5), 2: (1.2, 1.4), 3: (1.5, 1.3)}
    rows = [row(gamma=g, measured=m, predicted=p) for g, (m, p) in speeds.items()]
    (found,) = choices(rows)
    assert (found.predicted, found.measured, found.steps) == (1, 3, 2)
    assert not found.holds
    (flat,) = choices([replace(rows[0], measured=1.47), *rows[1:]])
    assert flat.steps == 2
    assert flat.holds
    (outside,) = choices([replace(rows[0], measured=1.44), *rows[1:]])
    assert not outside.holds  # 0.96 of the best, two lengths away
    (off,) = choices([row(gamma=2, measured=0.9, predicted=0.95)])
    assert (off.predicted, off.measured) == (0, 0)


# --- the report


def test_the_report_shows_every_row_and_every_rule(report):
    sections = {section.name: section for section in report.sections}
    tables = Counter(cells[0] for cells in sections["speedups"].rows)
    assert tables == {
        "Apertus chat, block drafter": 36,
        "Apertus chat, EAGLE head": 36,
        "EAGLE-3, Table 3: EAGLE": 9,
        "EAGLE-3, Table 3: EAGLE-3": 9,
    }
    assert len(sections["magicdec_8_h100"].rows) == 8
    held = [cells[-1] for cells in sections["summary"].rows if cells[-1] is not None]
    assert held == [True] * 6
    first = dict(zip(sections["summary"].columns, sections["summary"].rows[0], strict=True))
    assert (first["n"], first["limit"]) == (20, LIMIT)
    roles = Counter((cells[0], str(cells[-1]).split(":")[0]) for cells in sections["speedups"].rows)
    assert roles["Apertus chat, block drafter", "fitted"] == 10
    assert roles["Apertus chat, block drafter", "predicted"] == 20
    assert roles["Apertus chat, block drafter", "marked"] == 6
    assert roles["Apertus chat, EAGLE head", "predicted"] == 36
    assert roles["EAGLE-3, Table 3: EAGLE", "fitted"] == 3
    assert "6 of 6" in report.headline
    (chains,) = [cells for cells in sections["summary"].rows if cells[0] == "EAGLE, Table 5"]
    assert chains[-2:] == (0.05, True)
    assert len(sections["systems"].rows) == 22
    unfitted = next(cells for cells in sections["apertus_sensitivity"].rows if cells[0] == UNFITTED)
    rms = unfitted[sections["apertus_sensitivity"].columns.index("rms_predicted")]
    assert f"nothing fitted to its speedups, give {rms:.1%}" in report.headline
    marks = [cells for cells in sections["summary"].rows if cells[0] == "EAGLE-3, Table 3"]
    assert all(cells[-1] is None and cells[-2] is None for cells in marks)


def test_the_report_says_what_is_outside_any_monotone_cost(report):
    said = " ".join(report.notes)
    assert "Above batch 48 the measured gain of EAGLE rises" in said
    assert "outside any monotone cost" in said
    assert "tokens per round are not printed" in said
    assert "no printed tokens per round" in said


def test_the_report_can_be_written(report):
    assert '"schema_version"' in to_json(report)
    assert to_csv(report).startswith("table,what,n,rms_error")
    for section in report.sections:
        assert all(len(cells) == len(section.columns) for cells in section.rows)
