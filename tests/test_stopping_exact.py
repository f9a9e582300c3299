"""Exact laws of drafts that may end early: against enumeration in fractions, and against each other."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import (
    break_even_p,
    check,
    compare_stopping,
    expected_tokens,
    length_laws,
    long_run_lengths,
    oracle_tokens,
    round_law,
    speedup,
    stopped_law,
    stopping_speedup,
    tokens_pmf,
)
from simulator import (
    AcceptanceByDepth,
    AcceptanceTable,
    ConfidenceThreshold,
    ConfidentAcceptance,
    ConstantAcceptance,
    FixedLength,
    Heuristic,
    Oracle,
    calibrated_acceptance,
    draft_model,
)

probabilities = st.floats(0.0, 1.0)
LAW = ConfidentAcceptance(
    levels=(0.1, 0.5, 0.9), weights=(0.2, 0.3, 0.5), accepted=(0.2, 0.4, 0.95)
)
RULES = {
    "fixed": FixedLength(),
    "heuristic": Heuristic(start=2),
    "kept": ConfidenceThreshold(threshold=0.5),
    "thrown away": ConfidenceThreshold(threshold=0.5, drops_last=True),
    "oracle": Oracle(),
}


def every_draft(law, gamma):
    """All ways that gamma tokens show confidences and verdicts: (levels, verdicts, probability)."""
    tokens = [
        (level, kept, Fraction(weight) * (Fraction(chance) if kept else 1 - Fraction(chance)))
        for level, weight, chance in zip(law.levels, law.weights, law.accepted, strict=True)
        for kept in (True, False)
    ]
    for draft in product(tokens, repeat=gamma):
        chance = Fraction(1)
        for _, _, weight in draft:
            chance *= weight
        yield [level for level, _, _ in draft], [kept for _, kept, _ in draft], chance


def enumerated(law, gamma, threshold, *, drops_last):
    """Law of a round under a confidence threshold, from the rule in words and nothing else."""
    pmf, lengths = ([Fraction(0)] * (gamma + 1) for _ in range(2))
    tested, accepted = ([Fraction(0)] * gamma for _ in range(2))
    steps = Fraction(0)
    for levels, verdicts, chance in every_draft(law, gamma):
        low = next((i for i, level in enumerate(levels) if level < threshold), None)
        drawn = gamma if low is None else low + 1
        length = low if low is not None and drops_last else drawn
        kept = next((i for i in range(length) if not verdicts[i]), length)
        pmf[kept] += chance
        lengths[length] += chance
        steps += chance * drawn
        for depth in range(length):
            tested[depth] += chance * (kept >= depth)
            accepted[depth] += chance * (kept >= depth + 1)
    return pmf, lengths, tested, accepted, steps


@settings(max_examples=15)
@given(
    st.lists(probabilities, min_size=3, max_size=3), st.integers(1, 3), probabilities, st.booleans()
)
def test_confidence_law_equals_the_enumeration_of_all_drafts(
    accepted, gamma, threshold, drops_last
):
    law = ConfidentAcceptance(
        levels=(0.1, 0.5, 0.9), weights=(0.25, 0.25, 0.5), accepted=tuple(accepted)
    )
    stop = ConfidenceThreshold(threshold=threshold, drops_last=drops_last)
    exact = stopped_law(draft_model(acceptance=law, gamma=gamma, stop=stop))
    expected = enumerated(law, gamma, threshold, drops_last=drops_last)
    found = (exact.pmf, exact.lengths, exact.tested, exact.accepted, exact.draft_steps)
    for value, reference in zip(found, expected, strict=True):
        np.testing.assert_allclose(value, np.array(reference, dtype=float), rtol=1e-12, atol=1e-14)


@given(st.lists(probabilities, min_size=1, max_size=12))
def test_oracle_drafts_what_a_full_draft_would_keep(by_depth):
    full = round_law(draft_model(by_depth=by_depth))
    exact = stopped_law(draft_model(by_depth=by_depth, stop=Oracle()))
    assert exact.pmf == exact.lengths == full.pmf
    assert exact.tested == exact.accepted == full.survival
    assert exact.drafted == pytest.approx(full.tokens_per_round - 1.0, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("p", [0.0, 0.3, 0.9])
def test_oracle_without_an_end_is_the_geometric_law(p):
    capped = stopped_law(draft_model(p=p, gamma=5, stop=Oracle()))
    np.testing.assert_allclose(capped.pmf, tokens_pmf(p, 5), rtol=1e-12)
    assert capped.tokens_per_round == pytest.approx(expected_tokens(p, 5), rel=1e-12)
    endless = stopped_law(draft_model(p=p, gamma=1000, stop=Oracle()))
    assert endless.tokens_per_round == pytest.approx(oracle_tokens(p), rel=1e-12)


@given(st.lists(probabilities, min_size=0, max_size=12))
def test_fixed_length_is_the_law_of_a_round(by_depth):
    strategy = draft_model(by_depth=by_depth)
    exact, full = stopped_law(strategy), round_law(strategy)
    np.testing.assert_allclose(exact.pmf, full.pmf, rtol=1e-12, atol=1e-14)
    assert exact.accepted == full.survival
    assert exact.drafted == exact.draft_steps == len(by_depth)


def requests(by_depth, rounds, start, step_up, step_down):
    """P(round r drafts n tokens), [rounds][gamma + 1], over all verdicts of all tokens of a request."""
    gamma = len(by_depth)
    states = {min(start, gamma): Fraction(1)}
    laws = []
    for _ in range(rounds):
        laws.append([states.get(n, Fraction(0)) for n in range(gamma + 1)])
        following = defaultdict(Fraction)
        for length, weight in states.items():
            for verdicts in product((True, False), repeat=length):
                chance = weight
                for kept, p in zip(verdicts, by_depth, strict=False):
                    chance *= Fraction(p) if kept else 1 - Fraction(p)
                grown = length + step_up if all(verdicts) else length - step_down
                following[max(1, min(grown, gamma))] += chance
        states = following
    return laws


@settings(max_examples=20)
@given(
    st.lists(probabilities, min_size=1, max_size=5),
    st.integers(1, 7),
    st.integers(0, 3),
    st.integers(0, 3),
)
def test_lengths_of_a_request_equal_the_enumeration_of_its_verdicts(by_depth, start, up, down):
    stop = Heuristic(start=start, step_up=up, step_down=down)
    strategy = draft_model(by_depth=by_depth, stop=stop)
    expected = np.array(requests(by_depth, 5, start, up, down), dtype=float)
    np.testing.assert_allclose(length_laws(strategy, rounds=5), expected, rtol=1e-12, atol=1e-14)


def test_rounds_of_a_request_are_averaged():
    strategy = draft_model(p=0.6, gamma=7, stop=Heuristic(start=3))
    laws = length_laws(strategy, rounds=4)
    tokens = [float(law @ expected_tokens(0.6, np.arange(8))) for law in laws]
    exact = stopped_law(strategy, rounds=4)
    assert exact.tokens_per_round == pytest.approx(np.mean(tokens), rel=1e-12)
    assert exact.drafted == pytest.approx(np.mean(laws @ np.arange(8)), rel=1e-12)
    np.testing.assert_allclose(exact.conditional, [0.6] * 7, rtol=1e-12)  # a schedule hides nothing


@pytest.mark.parametrize("p", [0.01, 0.3, 0.7, 0.99])
@pytest.mark.parametrize("gamma", [1, 2, 8, 40])
def test_long_run_is_stationary_and_what_many_rounds_have(p, gamma):
    stop = Heuristic()
    strategy = draft_model(p=p, gamma=gamma, stop=stop)
    law = long_run_lengths(strategy)
    moved = np.zeros(gamma + 1)
    for n in range(1, gamma + 1):
        moved[stop.after(n, all_kept=True, gamma=gamma)] += law[n] * p**n
        moved[stop.after(n, all_kept=False, gamma=gamma)] += law[n] * (1.0 - p**n)
    np.testing.assert_allclose(moved, law, rtol=1e-12, atol=1e-300)
    assert law.sum() == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(length_laws(strategy, rounds=2000)[-1], law, rtol=1e-9, atol=1e-12)


@given(st.floats(0.001, 0.999))
def test_two_lengths_by_hand(p):
    strategy = draft_model(p=p, gamma=2, stop=Heuristic(start=1, step_up=1))
    longer = p / (1.0 + p - p * p)  # π2 (1 - p²) = π1 p
    np.testing.assert_allclose(long_run_lengths(strategy), [0.0, 1.0 - longer, longer], rtol=1e-12)


def test_lengths_that_take_turns_count_by_their_share_of_time():
    strategy = draft_model(by_depth=(1.0, 1.0, 1.0, 0.0, 0.5), stop=Heuristic(start=1))
    np.testing.assert_allclose(long_run_lengths(strategy), [0, 0, 0, 1 / 3, 1 / 3, 1 / 3])


def test_two_ends_of_one_request_count_by_their_chance():
    # From 6: to 8 with 0.4 and then {2, 5, 8} for ever, else to 3, and from there to 1 with 0.2 and
    # then {1, 4, 7} for ever, else back to 6. So 0.4 / (1 - 0.6 · 0.8) = 10 / 13 end in the former.
    strategy = draft_model(
        by_depth=(1.0, 1.0, 0.8, 1.0, 1.0, 0.5, 0.0, 1.0),
        stop=Heuristic(start=6, step_up=3, step_down=3),
    )
    first, second = 3 / 13, 10 / 13
    expected = [
        0,
        0.1 * first,
        0.1 * second,
        0,
        0.5 * first,
        0.5 * second,
        0,
        0.4 * first,
        0.4 * second,
    ]
    np.testing.assert_allclose(long_run_lengths(strategy), expected, rtol=1e-12, atol=1e-15)


def test_a_table_without_its_doubtful_tokens_promises_far_too_much():
    # Two tokens of three are sure ones, kept 95 times of 100; the third is kept 5 times of 100. Who
    # throws the doubtful ones away sees 0.95 at every depth, and the formula then promises 7.4
    # tokens per round at gamma = 8. A fixed draft of 8 has 2.8.
    law = ConfidentAcceptance(levels=(0.05, 0.95), weights=(1 / 3, 2 / 3), accepted=(0.05, 0.95))
    assert law.p == pytest.approx(0.65, rel=1e-15)
    dropped = stopped_law(
        draft_model(
            acceptance=law, gamma=8, stop=ConfidenceThreshold(threshold=0.5, drops_last=True)
        )
    )
    np.testing.assert_allclose(dropped.conditional, [0.95] * 8, rtol=1e-12)
    assert expected_tokens(dropped.conditional[0], 8) == pytest.approx(7.3950, abs=5e-5)
    assert round_law(draft_model(acceptance=law, gamma=8)).tokens_per_round == pytest.approx(
        2.7980, abs=5e-5
    )
    # With the doubtful token kept in the draft, independent confidences leave the table honest.
    kept = stopped_law(
        draft_model(acceptance=law, gamma=8, stop=ConfidenceThreshold(threshold=0.5))
    )
    np.testing.assert_allclose(kept.conditional, [0.65] * 8, rtol=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_laws_are_laws(rule):
    law = stopped_law(draft_model(acceptance=LAW, gamma=6, stop=RULES[rule]))
    assert sum(law.pmf) == pytest.approx(1.0, abs=1e-14)
    assert sum(law.lengths) == pytest.approx(1.0, abs=1e-14)
    assert min(*law.pmf, *law.lengths) >= 0.0
    assert law.draft_steps >= law.drafted - 1e-12
    mean = sum(n * weight for n, weight in enumerate(law.pmf))
    assert law.tokens_per_round == pytest.approx(1.0 + mean, rel=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_speedup_takes_the_verify_cost_of_every_length(rule):
    law = stopped_law(draft_model(acceptance=LAW, gamma=6, stop=RULES[rule]))
    costs = [1.0, 1.1, 1.15, 1.4, 1.6, 1.7, 2.5]
    cost = 0.07 * law.draft_steps + 0.02 + float(np.dot(law.lengths, costs))
    for verify_cost in (costs, lambda tokens: costs[tokens - 1]):
        found = stopping_speedup(
            draft_model(acceptance=LAW, gamma=6, stop=RULES[rule]),
            cost_ratio=0.07,
            verify_cost=verify_cost,
            overhead=0.02,
        )
        assert found == pytest.approx(law.tokens_per_round / cost, rel=1e-12)


@given(probabilities, st.integers(1, 20), st.floats(0.01, 2.0), st.floats(0.0, 1.0))
def test_speedup_of_a_fixed_length_is_the_closed_form(p, gamma, cost_ratio, overhead):
    found = stopping_speedup(
        draft_model(p=p, gamma=gamma), cost_ratio=cost_ratio, verify_cost=1.3, overhead=overhead
    )
    closed = speedup(p, gamma, cost_ratio, verify_cost=1.3, overhead=overhead)
    assert found == pytest.approx(closed, rel=1e-12)


def test_an_empty_chain_is_plain_decoding():
    strategy = draft_model(p=0.5, gamma=0)
    assert stopping_speedup(strategy, cost_ratio=0.1, verify_cost=1.3, overhead=0.2) == 1.0


def test_an_empty_draft_verifies_one_token_but_was_paid_for():
    law = ConfidentAcceptance(levels=(0.1,), weights=(1.0,), accepted=(0.5,))
    stop = ConfidenceThreshold(threshold=0.2, drops_last=True)
    strategy = draft_model(acceptance=law, gamma=4, stop=stop)
    assert stopping_speedup(strategy, cost_ratio=0.25, verify_cost=1.5) == pytest.approx(1 / 1.25)


def by_kind(rows):
    return {(type(row.stop).__name__, getattr(row.stop, "drops_last", None)): row for row in rows}


@pytest.mark.parametrize("cost_ratio", [0.0, 0.02, 0.1, 0.3, 0.9])
@pytest.mark.parametrize("concentration", [0.2, 2.0, 20.0])
def test_no_rule_passes_the_oracle_and_a_threshold_costs_nothing(cost_ratio, concentration):
    law = calibrated_acceptance(p=0.7, concentration=concentration, levels=6)
    rows = by_kind(compare_stopping(law, cost_ratio=cost_ratio, max_gamma=12))
    assert len(rows) == 5
    assert rows["FixedLength", None].gain == 1.0
    best = max(row.speedup for row in rows.values())
    assert rows["Oracle", None].speedup == pytest.approx(best, rel=1e-12)
    if rows["FixedLength", None].gamma:  # its lowest level as threshold never ends a draft
        assert rows["ConfidenceThreshold", False].gain >= 1.0 - 1e-12
    assert rows["Heuristic", None].gain <= 1.0 + 1e-12


def test_confidence_that_says_nothing_gains_nothing():
    law = ConfidentAcceptance(levels=(0.2, 0.5, 0.9), weights=(0.3, 0.3, 0.4), accepted=(0.7,) * 3)
    rows = by_kind(compare_stopping(law, cost_ratio=0.1, max_gamma=12))
    assert rows["FixedLength", None].gamma == 4
    assert rows["ConfidenceThreshold", False].gain == pytest.approx(1.0, rel=1e-12)
    assert rows["ConfidenceThreshold", True].gain == pytest.approx(1.0, rel=1e-12)


def test_confidence_that_says_everything_is_the_oracle_with_one_token_more():
    law = ConfidentAcceptance(levels=(0.0, 1.0), weights=(0.3, 0.7), accepted=(0.0, 1.0))
    kept = stopped_law(
        draft_model(acceptance=law, gamma=9, stop=ConfidenceThreshold(threshold=0.5))
    )
    oracle = stopped_law(draft_model(p=0.7, gamma=9, stop=Oracle()))
    np.testing.assert_allclose(kept.pmf, oracle.pmf, rtol=1e-12)
    assert kept.drafted == pytest.approx(oracle.drafted + 1.0 - 0.7**9, rel=1e-12)


@pytest.mark.parametrize(
    "process", [ConstantAcceptance(p=0.7), AcceptanceByDepth(by_depth=(0.7,) * 9)]
)
def test_without_a_law_of_confidence_there_is_no_threshold(process):
    rows = compare_stopping(process, cost_ratio=0.1, max_gamma=9)
    assert [type(row.stop) for row in rows] == [FixedLength, Heuristic, Oracle]
    assert (rows[0].gamma, round(rows[0].speedup, 4)) == (4, 1.9808)


def test_plain_decoding_wins_where_no_draft_pays():
    rows = compare_stopping(ConstantAcceptance(p=0.1), cost_ratio=0.5, max_gamma=5)
    assert break_even_p(1, 0.5) > 0.1
    assert (rows[0].gamma, rows[0].speedup) == (0, 1.0)


@settings(max_examples=25)
@given(st.floats(0.01, 0.99), st.floats(0.05, 50.0), st.integers(1, 12))
def test_calibrated_levels_are_the_means_of_equal_parts(p, concentration, levels):
    from scipy.special import betainc  # noqa: PLC0415

    law = calibrated_acceptance(p=p, concentration=concentration, levels=levels)
    assert law.p == pytest.approx(p, rel=1e-9)
    assert law.levels == law.accepted == tuple(sorted(law.levels))
    # Means of parts are a contraction of the law: E max(U - t, 0) never exceeds the Beta law's.
    a, b = p * concentration, (1.0 - p) * concentration
    for t in (0.2, 0.5, 0.8):
        parts = np.maximum(np.array(law.levels) - t, 0.0).mean()
        beta = p * (1.0 - betainc(a + 1.0, b, t)) - t * (1.0 - betainc(a, b, t))
        assert parts <= beta + 1e-9


def test_many_levels_come_close_to_the_beta_law():
    law = calibrated_acceptance(p=0.7, concentration=2.0, levels=2000)
    variance = np.mean((np.array(law.levels) - 0.7) ** 2)
    assert variance == pytest.approx(0.7 * 0.3 / 3.0, rel=1e-4)  # p (1 - p) / (s + 1)


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_acceptance_has_one_level(p):
    assert calibrated_acceptance(p=p, concentration=2.0).levels == (p,)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "fixed"])
def test_what_knows_fixed_lengths_only_refuses_the_rest(rule):
    strategy = draft_model(acceptance=LAW, gamma=2, stop=RULES[rule])
    table = AcceptanceTable(rounds=10, drafted=20, tested=(10, 7), accepted=(7, 5))
    with pytest.raises(
        ValueError, match=r"strategy must draft a fixed length; got Chain\(gamma=2, "
    ):
        check(strategy, table)
    with pytest.raises(ValueError, match="must draft a fixed length"):
        round_law(strategy)


def test_lengths_of_another_rule_are_refused():
    for lengths in (long_run_lengths, lambda strategy: length_laws(strategy, rounds=3)):
        with pytest.raises(ValueError, match=r"by a Heuristic; got Chain\(gamma=4\)"):
            lengths(draft_model(p=0.5, gamma=4))
    with pytest.raises(ValueError, match=r"rounds must be .* got 0"):
        stopped_law(draft_model(p=0.5, gamma=4, stop=Heuristic()), rounds=0)
    with pytest.raises(ValueError, match=r"\[0, 1000\]; got 1001"):
        long_run_lengths(draft_model(p=0.5, gamma=1001, stop=Heuristic()))
