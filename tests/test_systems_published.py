"""Published tables of heads and trees: EAGLE's chains within 5 %, the others as they are, with reasons."""

from __future__ import annotations

import pytest

from analysis.systems.facts import EAGLE_1, one_fact
from analysis.systems.published import (
    CHAIN_LIMIT,
    TARGETS,
    PrintedCase,
    chain_errors,
    eagle_chains,
    lookahead_candidates,
    medusa_trees,
    printed_cases,
    printed_notes,
    printed_section,
    sequoia_sequences,
)
from analysis.systems.rates import n_alpha


def by_hand(alphas):
    tokens, kept = 1.0, 1.0
    for alpha in alphas:
        kept *= alpha
        tokens += kept
    return tokens


def test_chains_follow_from_acceptance_by_depth_within_five_per_cent():
    cases = eagle_chains()
    assert [case.printed for case in cases] == [3.2, 3.23, 2.97]
    assert [case.predicted for case in cases] == pytest.approx(
        [by_hand(n_alpha(target)) for target in TARGETS], abs=1e-12
    )
    assert CHAIN_LIMIT == 0.05
    assert all(case.holds for case in cases)
    assert (chain_errors().n, abs(chain_errors().worst) <= CHAIN_LIMIT) == (3, True)


def test_other_acceptance_and_other_drafts_fail_the_mark():
    for target in TARGETS:
        chain = one_fact("tokens_per_round", "EAGLE chain", source=EAGLE_1, target=target).value
        tree = one_fact(
            "tokens_per_round", "EAGLE", source=EAGLE_1, target=target, temperature="0"
        ).value
        alphas = n_alpha(target)

        def case(printed, predicted):
            return PrintedCase(
                table="", case="", printed=printed, predicted=predicted, limit=CHAIN_LIMIT
            )

        assert case(chain, by_hand(alphas)).holds
        assert not case(tree, by_hand(alphas)).holds  # the tree's tokens are no chain's
        assert not case(chain, by_hand(alphas) - 1.0).holds  # the target's own token forgotten
        assert not case(chain, 1.0 + 5 * alphas[0]).holds
        assert target == "Vicuna 33B" or not case(chain, by_hand(n_alpha(target, "1"))).holds


def test_medusas_tree_lies_on_both_sides_of_what_is_printed():
    cases = medusa_trees()
    assert len(cases) == 6
    assert {case.holds for case in cases} == {None}
    for least, most in zip(cases[::2], cases[1::2], strict=True):
        assert least.printed == most.printed
        assert least.predicted < least.printed < most.predicted
        assert "heads are taken as independent" in least.reasons
    assert round(cases[0].predicted, 4) == 2.3397


def test_one_sequence_needs_a_p_that_is_not_printed():
    cases = sequoia_sequences()
    ours, theirs = cases[:5], cases[5:]
    assert [case.printed for case in ours] == [2.08, 1.87, 1.48, 1.11, 0.69]
    assert [case.solved for case in cases] == [True] + [False] * 9
    assert all(abs(case.error) < 0.06 for case in ours)
    assert all(case.error > 0.05 for case in theirs)
    assert {case.limit for case in cases} == {None}


def test_independent_candidates_promise_twice_what_was_measured():
    one, many, pool = lookahead_candidates()
    assert (one.printed, many.printed, pool.printed) == (1.79, 1.96, 1.96)
    assert round(many.predicted, 1) == 4.2
    assert one.solved
    assert not many.solved
    assert pool.solved
    assert abs(pool.error) < 1e-6
    assert {one.holds, many.holds, pool.holds} == {None}
    assert any("wrong together" in reason for reason in many.reasons)


def test_every_case_without_a_mark_says_why():
    for case in printed_cases():
        assert bool(case.reasons) is (case.limit is None)
    section = printed_section()
    assert all(len(cells) == len(section.columns) for cells in section.rows)
    said = " ".join(printed_notes())
    assert said.count("heads are taken as independent") == 2
    assert "held to 5%" in said
