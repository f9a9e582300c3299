"""Fits of means: curves over the draft length, one mean alone, and what published curves say."""

from __future__ import annotations

import numpy as np
import pytest

import analysis as an
from analysis.fitting.families import extrapolation_errors, published_curves, slope_range
from simulator import AcceptanceByDepth, ConstantAcceptance, EasyHardChain, HitMiss

# SemiAnalysisAI/InferenceX, golden_al_distribution/minimaxm3_eagle3.yaml (Apache-2.0)
MINIMAX = {1: 1.78, 2: 2.38, 3: 2.83, 4: 3.11, 5: 3.35, 6: 3.45, 7: 3.53, 8: 3.74}


def curve_of(process, gammas):
    return {gamma: an.process_tokens_per_round(process, gamma) for gamma in gammas}


def test_a_short_curve_predicts_a_long_draft_where_one_mean_misses():
    short = {gamma: tokens for gamma, tokens in MINIMAX.items() if gamma <= 4}
    found = an.fit_curve(short, method="eagle")
    told = found.tokens_per_round(8)
    assert found.name == "geometric decay"
    assert found.extrapolates(8)
    assert abs(told.value / MINIMAX[8] - 1.0) < 0.08
    assert told.interval[0] < MINIMAX[8] < told.interval[1]
    one = an.fit_mean(tokens_per_round=MINIMAX[1], gamma=1)
    assert one.tokens_per_round(8).value / MINIMAX[8] - 1.0 > 0.08


@pytest.mark.parametrize(
    ("name", "process"),
    [
        ("constant p", ConstantAcceptance(p=0.8)),
        ("geometric decay", AcceptanceByDepth(by_depth=tuple(0.85 * 0.9**i for i in range(16)))),
        ("rise", HitMiss(coverage=1.0, right=0.6, p_right=0.95, p_wrong=0.0)),
        (
            "easy/hard chain",
            EasyHardChain(p_easy=0.95, p_hard=0.2, stay_easy=0.9, stay_hard=0.9),
        ),
    ],
)
def test_exact_curves_are_recovered(name, process):
    found = an.fit_curve(curve_of(process, range(1, 9)), half_width=0.0005)
    assert found.name == name
    assert found.tokens_per_round(16).value == pytest.approx(
        an.process_tokens_per_round(process, 16), rel=0.01
    )
    chosen = [c for c in found.candidates if c.chosen]
    assert [c.name for c in chosen] == [name]
    assert all(c.reason for c in found.candidates)


def test_a_wrong_curve_is_not_chosen_and_its_residuals_say_so():
    process = HitMiss(coverage=1.0, right=0.6, p_right=0.95, p_wrong=0.0)
    found = an.fit_curve(curve_of(process, range(1, 9)))
    scores = {c.name: c.criterion for c in found.candidates}
    assert scores["constant p"] > 10.0 * scores["rise"]
    assert scores["geometric decay"] > 10.0 * scores["rise"]


def test_rounding_is_in_the_interval():
    """Rounded to two decimals, the exact mean stays within the interval at every length."""
    process = ConstantAcceptance(p=0.77)
    exact = curve_of(process, range(1, 17))
    rounded = {gamma: round(exact[gamma], 2) for gamma in range(1, 7)}
    found = an.fit_curve(rounded)
    assert found.name == "constant p"
    for gamma in (1, 6, 16):
        low, high = found.tokens_per_round(gamma).interval
        assert low <= exact[gamma] <= high
        assert high - low > 0.0
    wider = an.fit_curve(rounded, half_width=0.05).tokens_per_round(16).interval
    assert wider[1] - wider[0] > high - low


def test_weights_follow_the_rounding():
    """A mean that is known to one decimal moves the fit less than one known to three."""
    curve = {1: 1.7, 2: 2.19, 3: 2.9}  # the last is off for p = 0.7: 2.533
    loose = an.fit_curve(curve, half_width={1: 0.0005, 2: 0.0005, 3: 0.5}, choice="aicc")
    tight = an.fit_curve(curve, half_width={1: 0.5, 2: 0.5, 3: 0.0005}, choice="aicc")
    assert loose.name == tight.name == "constant p"
    assert loose.process.p == pytest.approx(0.7, abs=1e-3)
    assert tight.tokens_per_round(3).value == pytest.approx(2.9, abs=1e-3)


def test_few_points_say_which_processes_cannot_be_told():
    reasons = {c.name: c.reason for c in an.fit_curve({1: 1.7, 2: 2.19}).candidates}
    assert "needs 3 points" in reasons["geometric decay"]
    assert "needs 5 points" in reasons["easy/hard chain"]


def test_best_gamma_of_a_curve():
    best = an.fit_curve(MINIMAX).best_gamma(an.RoundCosts(cost_ratio=0.2), range(9))
    assert best.gamma in {2, 3}
    assert best.unit == "means"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"curve": {1: 1.7}}, "two draft lengths or more; got 1"),
        ({"curve": {1: 1.7, 2: 3.1}}, r"curve\[2\] must lie in \[1, gamma \+ 1\]"),
        ({"curve": {0: 1.0, 2: 2.1}}, r"gamma must be a whole number in \[1, 1000\]"),
        ({"curve": {1: 1.7, 2: 2.1}, "half_width": 0.0}, "half_width must be above 0"),
        ({"curve": {1: 1.7, 2: 2.1}, "half_width": {1: 0.1}}, "half_width must be above 0"),
        ({"curve": {1: 1.7, 2: 2.1}, "choice": "bic"}, "choice must be loo or aicc"),
    ],
)
def test_curves_are_checked(arguments, message):
    with pytest.raises(ValueError, match=message):
        an.fit_curve(**arguments)


def test_one_mean_is_explained_by_construction():
    found = an.fit_mean(accepted_fraction=0.537856, gamma=5, half_width=5e-7)
    assert found.process.p == pytest.approx(0.8, abs=1e-5)
    assert found.tokens_per_round(5).value == pytest.approx(1.0 + 5 * 0.537856)
    assert any("one mean only" in note for note in found.notes)


@pytest.mark.parametrize(("method", "asked", "falls"), [("eagle", 8, True), ("ngram", 5, False)])
def test_the_error_of_the_method_is_in_the_interval(method, asked, falls):
    """Below one p for a method whose acceptance falls with depth, above it for one that rises."""
    curve = {"eagle": MINIMAX, "ngram": {1: 1.81, 5: 4.59}}[method]
    plain = an.fit_mean(tokens_per_round=curve[1], gamma=1)
    known = an.fit_mean(tokens_per_round=curve[1], gamma=1, method=method)
    value = plain.tokens_per_round(asked).value
    assert known.tokens_per_round(asked).value == value
    low, high = known.tokens_per_round(asked).interval
    assert low <= curve[asked] + 0.01
    assert high >= curve[asked] - 0.01
    assert (value - low > high - value) == falls
    assert plain.tokens_per_round(asked).interval == pytest.approx((value, value))
    assert known.tokens_per_round(1).interval == pytest.approx((curve[1], curve[1]))


def test_errors_are_computed_from_the_published_curves():
    curves = published_curves()
    assert len(curves) >= 15
    assert {curve.family for curve in curves} >= {"eagle", "mtp", "ngram", "block", "draft_model"}
    minimax = next(curve for curve in curves if curve.name == "minimax-m3-eagle3")
    assert minimax.tokens == MINIMAX
    error = next(
        e
        for e in extrapolation_errors("eagle")
        if (e.curve, e.known, e.asked) == (minimax.name, 1, 8)
    )
    assert error.error == pytest.approx(an.expected_tokens(0.78, 8) / 3.74 - 1.0, abs=1e-12)


def test_every_curve_rises_and_names_its_source():
    for curve in published_curves():
        gammas = sorted(curve.tokens)
        assert curve.source
        assert np.all(np.diff([curve.tokens[g] for g in gammas]) > 0.0), curve.name
        assert all(1.0 <= curve.tokens[g] <= g + 1.0 for g in gammas), curve.name


def test_families_differ_in_direction():
    eagle, ngram = (slope_range(method, known=1, asked=5) for method in ("eagle", "ngram"))
    assert eagle[1] > -eagle[0]  # one p mostly promises too much
    assert ngram[0] < -0.1
    assert ngram[1] == 0.0
    assert slope_range("lookahead", known=1, asked=5) is None
    assert any("No published curve" in note for note in an.fit_mean(
        tokens_per_round=1.5, gamma=3, method="lookahead").notes)  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tokens_per_round": 5.0, "gamma": 3}, r"must lie in \[1, gamma \+ 1\]"),
        ({"gamma": 3}, "got both or neither"),
        ({"tokens_per_round": 2.0, "gamma": 3, "method": "magic"}, "method must be one of"),
        ({"tokens_per_round": 2.0, "gamma": 3, "half_width": -1.0}, "half_width must be"),
    ],
)
def test_one_mean_is_checked(arguments, message):
    with pytest.raises(ValueError, match=message):
        an.fit_mean(**arguments)


def test_reasons_say_what_was_compared():
    curve = {1: 1.78, 2: 2.38, 3: 2.83, 4: 3.11}
    for choice in ("loo", "aicc"):
        found = an.fit_curve(curve, choice=choice)
        scored = [c for c in found.candidates if not np.isnan(c.criterion)]
        (chosen,) = [c for c in scored if c.chosen]
        least = min(c.criterion for c in scored)
        assert chosen.reason.startswith("smallest") == (chosen.criterion <= least)
        for other in scored:
            if other is not chosen:
                larger = other.criterion > chosen.criterion
                assert other.reason.startswith("larger") == larger


def test_the_simpler_of_two_near_ones_is_not_called_the_smallest():
    """With 2 % between them the fewer parameters decide, and the reasons say so."""
    generator = np.random.default_rng(0)
    seen = set()
    for _ in range(60):
        curve = {
            g: float(np.clip(an.expected_tokens(0.75, g) + generator.normal(0, 0.02), 1, g + 1))
            for g in (1, 2, 3, 5)
        }
        found = an.fit_curve(curve)
        scored = [c for c in found.candidates if not np.isnan(c.criterion)]
        (chosen,) = [c for c in scored if c.chosen]
        if chosen.criterion > min(c.criterion for c in scored):
            seen.add(chosen.reason.split(":")[0])
            assert any(c.reason.startswith("no smaller by more than chance") for c in scored)
    assert seen == {"fewest parameters of those near the smallest"}


def test_an_end_of_the_range_has_no_interval_and_falling_means_are_said():
    kept = an.fit_curve({1: 2.0, 2: 3.0})
    assert kept.parameters["p"].interval is None
    assert kept.tokens_per_round(2).interval is not None
    assert not any("fall from" in note for note in kept.notes)
    falling = an.fit_curve({1: 1.8, 2: 1.9, 4: 1.6})
    assert any("fall from γ = 2 to γ = 4" in note for note in falling.notes)
