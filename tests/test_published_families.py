"""Families of predictions: one row of each by hand, no row from its own value, and wrong models noticed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from analysis.published import families, rows
from analysis.published.arithmetic import arithmetic
from analysis.published.families import published_families, roles
from analysis.published.formula import formula_measured, formula_printed, one_p, static_passes
from analysis.published.from_shapes import shapes_alone, shapes_with_plain_step, shapes_with_tokens
from analysis.published.one_cost import (
    cost_of,
    cost_of_other_targets,
    cost_of_other_tasks,
    cost_on_other_machine,
    left_out,
    other_machine,
    task_tables,
)
from analysis.published.other_length import other_length_curve, other_length_one_p
from analysis.published.prediction import Family, Prediction
from analysis.published.rows import PublishedRow, published_rows
from analysis.published.statistics import family_errors
from analysis.published.trees import (
    branching_tokens,
    candidates_as_independent,
    demo_nodes,
    trees_from_other_text,
    trees_from_rates,
    wide_from_tokens,
)
from analysis.trees.values import tree_value
from simulator.trees import Tree


def found(family, **wanted):
    """The one prediction whose row has these values."""
    (only,) = (
        each
        for each in family.predictions
        if all(getattr(each.row, name) == value for name, value in wanted.items())
    )
    return only


def rms(predictions):
    return math.sqrt(np.mean([each.error**2 for each in predictions]))


# --- one row of each family by hand


def test_formula_against_print_and_clock():
    of_print = found(
        formula_printed(), table="Tables 2+4", draft="T5-small 77M", task="EnDe", temperature="0"
    )
    by_hand = (1 - 0.75**8) / (0.25 * (1 + 7 * 0.02))
    assert of_print.predicted == pytest.approx(by_hand, rel=1e-12)
    assert of_print.printed == 3.2
    clock = found(
        formula_measured(), table="Tables 2+4", draft="T5-small 77M", task="EnDe", temperature="0"
    )
    assert (clock.predicted, clock.printed) == (of_print.predicted, 3.4)
    assert found(formula_measured(), source="DeepSeek-V3 2024").predicted == pytest.approx(1.875)
    assert found(formula_measured(), source="Cohere blog").predicted == pytest.approx(2.73 / 1.25)


def test_the_oracles_passes_give_those_at_a_constant_length():
    p = 1 - 27 / 129  # an oracle drafts 1 / (1 − p) tokens per pass
    assert static_passes() == pytest.approx(129 / sum(p**i for i in range(6)), rel=1e-12)


def test_one_p_at_another_length():
    row = found(other_length_one_p(), table="minimax-m3-eagle3", gamma=3)
    assert row.predicted == pytest.approx(1 + 0.78 + 0.78**2 + 0.78**3, rel=1e-9)
    assert row.printed == 2.83
    assert one_p(2.44, 2, 2) == pytest.approx(2.44)


def test_a_curve_through_short_drafts_is_asked_about_long_ones():
    family = other_length_curve()
    row = found(family, method="block drafter", gamma=5)
    first, decay = 0.65, math.sqrt(0.6 / 0.65)  # 0.65, 0.40, 0.24 are printed: 0.24 / 0.40 = 0.6
    rates = [first * decay**i for i in range(5)]
    assert row.predicted == pytest.approx(1 + sum(np.cumprod(rates)), rel=0.01)
    assert {each.row.gamma for each in family.predictions if each.fitted} == {1, 2, 3, 4}
    assert all((each.row.gamma or 0) > 4 for each in family.tested)


def test_a_task_from_the_cost_of_the_others():
    row = found(
        cost_of_other_tasks(), source="EAGLE 2024", target="Vicuna 7B", temperature="0",
        task="HumanEval", table="Table 1",
    )  # fmt: skip
    cost = math.sqrt(4.0 / 3.01 * 3.86 / 2.79)
    assert row.predicted == pytest.approx(4.29 / cost, rel=1e-12)
    assert row.guess == pytest.approx((3.01 + 2.79) / 2)
    assert row.printed == 3.33


def test_a_target_from_the_cost_of_the_others():
    row = found(cost_of_other_targets(), source="Hydra 2024", method="Medusa", target="Vicuna 33B")
    assert row.predicted == pytest.approx(2.55 / math.sqrt(2.58 / 2.13 * 2.6 / 1.97), rel=1e-12)


def test_a_task_on_one_machine_from_another():
    row = found(other_machine(), method="SAMD with EAGLE-2", task="Multi-turn")
    ratios = [2.01 / 1.83, 3.19 / 2.64, 2.36 / 2.15, 2.96 / 2.63, 2.52 / 2.1]
    assert row.predicted == pytest.approx(2.85 * math.prod(ratios) ** (1 / 5), rel=1e-12)
    whole = found(cost_on_other_machine(), method="SAMD with EAGLE-2", task="OVERALL")
    assert whole.predicted == pytest.approx(4.58 / (4.61 / 2.38), rel=1e-12)
    assert {each.row.hardware for each in other_machine().predictions} == {"A100 80G FP16"}


def seconds(tokens, device=(2.039e12, 312e12), bits=16):
    """A pass of Llama 2 7B with 500 tokens held: reading, then computing, then overheads."""
    per_layer = 4 * 4096**2 + 3 * 4096 * 11008
    numbers = 32 * per_layer + 4096 * 32000
    reading = (numbers * bits / 8 + 500 * 2 * 32 * 4096 * 2) / (0.8 * device[0])
    computing = tokens * (2 * numbers + 500 * 4 * 32 * 4096) / (0.6 * device[1])
    return reading + computing + 2e-4 + 32 * 2e-5


def test_costs_from_shapes():
    row = found(
        shapes_with_tokens(), source="Spec-Bench leaderboard 2025", method="prompt lookup",
        hardware="A100 80G FP16",
    )  # fmt: skip
    assert row.predicted == pytest.approx(1.75 * seconds(1) / seconds(11), rel=1e-3)
    plain = found(shapes_alone(), target="Llama 2 7B, 4 bits")
    assert plain.predicted == pytest.approx(1 / seconds(1, bits=4), rel=1e-3)
    steps = [each for each in shapes_alone().predictions if each.row.source == "Sequoia 2024"]
    assert [(each.quantity, each.printed) for each in steps] == [
        ("tokens_per_s", pytest.approx(1e3 / 24.2)),
        ("tokens_per_s", pytest.approx(1e3 / 0.5)),
        ("cost_ratio", 0.0207),
    ]
    assert steps[0].predicted == pytest.approx(1 / seconds(1, (1.935e12, 312e12)), rel=1e-3)
    assert steps[2].predicted == pytest.approx(steps[0].predicted / steps[1].predicted, rel=1e-12)
    table = found(
        shapes_with_plain_step(), method="Sequoia tree", task="C4", temperature="0", target="Llama 2 7B",
        table="Tables 1/3",
    )  # fmt: skip
    pcie = (1.935e12, 312e12)
    wider = seconds(128, pcie) - seconds(1, pcie)
    by_hand = 5.08 / (1 + (wider + 10 * 0.5e-3) / 24.2e-3)
    assert table.predicted == pytest.approx(by_hand, rel=1e-3)


def test_trees_from_rates():
    row = found(
        trees_from_rates(), source="SpecInfer 2023", task="Alpaca", width=3, temperature="0"
    )
    p, wide = 0.68, 0.81
    by_hand = 1 + p + p**2 + p**2 * wide * sum(p**i for i in range(6))
    assert row.predicted == pytest.approx(by_hand, rel=1e-12)
    chain = found(trees_from_rates(), method="EAGLE chain", target="Vicuna 33B")
    assert chain.predicted == pytest.approx(1 + sum(np.cumprod([0.74, 0.69, 0.67, 0.67, 0.66])))
    assert demo_nodes() == 3  # the tree that ships with the demo


def test_the_branching_formula_is_the_trees_value():
    paths = [(0,), (0, 0)]
    for child in range(3):
        paths.extend((0, 0, child, *([0] * length)) for length in range(6))
    rates = [[0.5, 0.2, 0.1]] * 8
    assert tree_value(Tree.from_paths(paths), rates) == pytest.approx(branching_tokens(0.5, 0.8))
    assert wide_from_tokens(0.5, branching_tokens(0.5, 0.8)) == pytest.approx(0.8)


def test_width_from_other_text():
    row = found(
        trees_from_other_text(), table="Table 2", task="PIQA", width=2, temperature="stochastic"
    )

    def solved(task_chain):
        low, high = 0.0, 1.0
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (
                (middle, high) if sum(middle**i for i in range(9)) < task_chain else (low, middle)
            )
        return low

    gains = []
    for chain, wider in ((1.79, 2.11), (1.69, 1.99)):  # Alpaca, CP
        p = solved(chain)
        narrow = 1 + p + p**2
        gains.append((wider - narrow) / (p**2 * sum(p**i for i in range(6))) - p)
    p = solved(1.67)
    by_hand = 1 + p + p**2 + p**2 * (p + sum(gains) / 2) * sum(p**i for i in range(6))
    assert row.predicted == pytest.approx(by_hand, rel=1e-9)
    assert row.printed == 1.93


def test_candidates_as_independent():
    row = found(candidates_as_independent(), source="SpecTr 2023", method="SpecTr, 8 drafts")
    low, high = 0.0, 1.0
    for _ in range(80):
        p = (low + high) / 2
        low, high = (p, high) if sum(p**i for i in range(9)) < 2.9 else (low, p)
    by_hand = 9 - sum((1 - p**i) ** 8 for i in range(1, 9))
    assert row.predicted == pytest.approx(by_hand, rel=1e-9)
    assert row.error > 0.5  # and wrong: drafts fail together


def test_arithmetic_of_a_table():
    tokens, gain = (
        each
        for each in arithmetic().predictions
        if (each.row.source, each.row.method, each.row.target)
        == ("EAGLE-2 2024", "prompt lookup", "Vicuna 7B")
    )
    assert tokens.predicted == pytest.approx((1.68 + 1.87 + 1.99 + 1.31 + 2.72 + 1.44) / 6)
    assert gain.predicted == pytest.approx((1.61 + 1.82 + 1.82 + 1.21 + 2.53 + 1.23) / 6)
    first = found(arithmetic(), source="Chen et al. 2023", temperature="nucleus p=0.8")
    assert first.predicted == pytest.approx(14.1 / 7.52)  # 1.875, where 1.92 is printed
    assert found(arithmetic(), source="vLLM log lines", gamma=3).predicted == pytest.approx(3.03)


# --- no row from its own value

PRINTED = {
    "speedup": ("speedup_measured", "speedup_printed"),
    "tokens_per_round": ("tokens_per_round",),
    "cost_ratio": ("cost_ratio",),
    "tokens_per_s": ("plain_ms",),
    "nodes": ("nodes",),
    "target_passes": (),
}
BUILDERS = [*families._BUILDERS, *families._CHECKS]


@pytest.mark.parametrize("build", BUILDERS, ids=lambda build: build.__name__)
def test_a_prediction_does_not_know_its_own_value(build, monkeypatch):
    everything = published_rows()
    before = build()
    every = before.tested
    for at in sorted({0, len(every) // 2, len(every) - 1}):
        each = every[at]
        changed = {
            name: type(getattr(each.row, name))(getattr(each.row, name) * 3)
            for name in PRINTED[each.quantity]
            if getattr(each.row, name) is not None
        }
        other = replace(each.row, **changed)
        tampered = tuple(other if row is each.row else row for row in everything)
        monkeypatch.setattr(rows, "_all_rows", lambda tampered=tampered: tampered)
        again = build().tested[at]
        monkeypatch.undo()
        assert again.row.number == each.row.number
        assert again.predicted == each.predicted


def test_fitted_values_are_in_no_error():
    for family in published_families():
        assert not any(each.fitted for each in family.tested)
        errors = family_errors(family)
        assert errors.n == len(family.predictions) - sum(each.fitted for each in family.predictions)
    fitted = {
        (each.row.batch, each.row.gamma)
        for family in published_families()
        if family.name == "load: Apertus"
        for each in family.predictions
        if each.fitted
    }
    assert fitted == {(batch, gamma) for batch in (1, 8) for gamma in (1, 2, 3, 5, 7)}


# --- wrong models are noticed


def test_tokens_of_another_task_predict_worse():
    right = rms(cost_of_other_tasks().tested)
    shuffled = []
    for table in task_tables():
        moved = [
            replace(row, tokens_per_round=other.tokens_per_round)
            for row, other in zip(table, (*table[1:], table[0]), strict=True)
        ]
        shuffled += left_out(moved, "", "")
    assert right < 0.04
    assert rms(shuffled) > 4 * right


NO_BETTER = {
    "candidates as if independent",  # a wrong assumption, shown as such
    "cost on the other machine",  # tokens are the same there, so that its speed says as much
}


def test_the_tokens_of_a_row_say_more_than_the_other_rows_speed():
    for family in published_families():
        errors = family_errors(family)
        if errors.guess_rms is not None and family.name not in NO_BETTER:
            assert errors.rms.value < 0.75 * errors.guess_rms


def test_a_formula_that_forgets_the_targets_own_token_is_noticed():
    rounding = 0.051
    for each in formula_printed().predictions:
        row = each.row
        if row.p is None or row.gamma is None or row.table == "Tables 2+4":
            continue
        forgets = sum(row.p**i for i in range(row.gamma)) / (1 + row.gamma * row.cost_ratio)
        assert abs(each.predicted - each.printed) < rounding
        if row.table != "Sec 3.6/4.2":  # 0.2³ is below the rounding
            assert abs(forgets - each.printed) > rounding


def test_speed_is_not_tokens_alone():
    """A round costs more than a plain step in every row that prints both, but for the mixture's errors."""
    for table in task_tables():
        assert cost_of(table) > 1.0


# --- statistics


def pair(error, group, *, fitted=False, guess=None):
    return Prediction(
        row=PublishedRow(source="", url="", table=""), quantity="speedup", printed=2.0,
        predicted=2.0 * (1 + error), inputs="", group=group, fitted=fitted, guess=guess,
    )  # fmt: skip


def family_of(*pairs):
    return Family(name="f", kind="prediction", asks="", misses="", predictions=pairs)


def test_errors_by_hand():
    family = family_of(
        pair(0.3, "a", guess=3.0), pair(-0.4, "b", guess=1.0), pair(0.0, "c", guess=2.0),
        pair(9.0, "d", fitted=True),
    )  # fmt: skip
    errors = family_errors(family)
    assert (errors.n, errors.groups) == (3, 3)
    assert errors.median == pytest.approx(0.0, abs=1e-12)
    assert errors.rms.value == pytest.approx(0.5 / math.sqrt(3))
    assert errors.rms.interval is None  # three groups say nothing of an interval
    assert errors.worst == pytest.approx(-0.4)
    assert errors.within == pytest.approx(1 / 3)
    assert errors.guess_rms == pytest.approx(math.sqrt((0.5**2 + 0.5**2) / 3))
    with pytest.raises(ValueError, match="in no fit"):
        family_errors(family_of(pair(0.0, "a", fitted=True)))


def test_rows_of_one_group_do_not_make_the_interval_narrow():
    groups = [0.02, -0.1, 0.05, 0.2, -0.03, 0.08]
    once = family_errors(family_of(*(pair(e, str(e)) for e in groups))).rms
    often = family_errors(family_of(*(pair(e, str(e)) for e in groups for _ in range(40)))).rms
    assert family_errors(family_of(*(pair(e, "one") for e in groups))).groups == 1
    alone = family_errors(family_of(*(pair(e, f"{e} {i}") for e in groups for i in range(40)))).rms
    width = {name: each.interval[1] - each.interval[0] for name, each in
             (("once", once), ("often", often), ("alone", alone))}  # fmt: skip
    assert often.value == pytest.approx(once.value)
    assert width["often"] == pytest.approx(width["once"], rel=0.02)
    assert width["alone"] < 0.3 * width["once"]


def test_every_row_has_one_role():
    found_roles = roles()
    assert sorted(found_roles) == [row.number for row in published_rows()]
    assert set(found_roles.values()) == {
        "predicted", "checked", "fitted", "input", "not predicted",
    }  # fmt: skip
    predicted = {
        each.row.number
        for family in published_families()
        if family.kind == "prediction"
        for each in family.tested
    }
    assert {number for number, role in found_roles.items() if role == "predicted"} == predicted
