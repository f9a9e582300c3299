"""A busy server's log rounds more than chance moves: still fitted by depth, and honest about it."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import bdtr

import analysis as an
from analysis.fitting.maximise import maximise
from analysis.fitting.rounding import Rounding
from analysis.fitting.spread import Hidden
from real_runs.engines import read_text
from simulator import AcceptanceTable, AcceptanceTotals, Observation

SURVIVAL = (0.6204, 0.3296, 0.1504, 0.0696, 0.0304)  # no one p, and no geometric decay
TOKENS = {gamma: 1.0 + sum(SURVIVAL[:gamma]) for gamma in (1, 3, 5)}
SIZES = list(itertools.product((500, 2_000, 7_000, 50_000), (1, 50)))
BUSY = "8182 tokens, Drafted: 34090 tokens, Per-position acceptance rate: 0.620, 0.330, 0.150, 0.070, 0.030"


def line(counts: tuple[int, ...], rounds: int) -> str:
    accepted, drafted = sum(counts), rounds * len(counts)
    rates = ", ".join(f"{count / rounds:.3f}" for count in counts)
    return (
        f"SpecDecoding metrics: Mean acceptance length: {1 + accepted / rounds:.2f}, Accepted throughput: "
        f"{accepted / 10:.2f} tokens/s, Drafted throughput: {drafted / 10:.2f} tokens/s, Accepted: "
        f"{accepted} tokens, Drafted: {drafted} tokens, Per-position acceptance rate: {rates}, "
        f"Avg Draft acceptance rate: {100 * accepted / drafted:.1f}%\n"
    )


def sampled(rounds: int, lines: int, seed: int, survival=SURVIVAL) -> list[tuple[int, ...]]:
    kept = -np.diff([1.0, *survival, 0.0])
    ended = np.random.default_rng(seed).multinomial(rounds, kept, size=lines)
    return [tuple(int(n) for n in row[::-1].cumsum()[::-1][1:]) for row in ended]


def log(rounds: int, lines: int, seed: int, survival=SURVIVAL) -> Observation:
    text = "".join(line(counts, rounds) for counts in sampled(rounds, lines, seed, survival))
    (reading,) = read_text(text)
    return reading.observation


def covers(estimate, truth: float) -> bool:
    return estimate.interval[0] <= truth <= estimate.interval[1]


@pytest.mark.parametrize(("rounds", "lines"), SIZES)
def test_all_but_certain_intervals_hold_the_truth_and_are_not_absurdly_wide(rounds, lines):
    found = an.fit(log(rounds, lines, seed=rounds + lines), level=1.0 - 1e-10, intervals="sandwich")
    usual = an.fit(log(rounds, lines, seed=rounds + lines), intervals="sandwich")

    assert "range" not in found.name
    assert found.name != "constant p"
    for gamma, truth in TOKENS.items():
        if found.name == "by depth":
            assert covers(found.tokens_per_round(gamma), truth), gamma
        tokens = usual.tokens_per_round(gamma)
        # Chance alone, and half of the last digit at each depth at most.
        alone = np.sqrt(_variance(gamma) / (rounds * lines))
        half = (tokens.interval[1] - tokens.interval[0]) / 2.0
        assert half < 3.5 * alone + 0.0005 * gamma, gamma


@pytest.mark.parametrize(("rounds", "lines"), [(7_000, 1), (7_000, 20), (50_000, 1), (50_000, 20)])
def test_usual_intervals_hold_the_truth_as_often_as_they_say(rounds, lines):
    times = 60
    hits = dict.fromkeys(TOKENS, 0)
    for seed in range(times):
        found = an.fit(log(rounds, lines, seed), processes=("by depth",), rng=seed)
        for gamma, truth in TOKENS.items():
            hits[gamma] += covers(found.tokens_per_round(gamma), truth)

    # A coverage of 93 % or more gives so few hits with chance below 1e-8.
    assert all(bdtr(count, times, 0.93) > 1e-8 for count in hits.values()), hits


@pytest.mark.parametrize("lines", [1, 50])
def test_without_what_rounding_hides_a_very_busy_log_would_be_believed_too_much(lines):
    edge = (
        0.62045,
        0.32955,
        0.15045,
        0.06955,
        0.03045,
    )  # all of it hidden, always to the same side
    found = an.fit(
        log(400_000_000, lines, 1, edge), level=1.0 - 1e-9, intervals="sandwich", processes=("by depth",)
    )  # fmt: skip
    honest = found.spread([1])
    contrast = np.ones(1)

    assert covers(honest.estimate(contrast, bounds=(1.0, 2.0)), 1.0 + edge[0])
    blind = dataclasses.replace(honest, hidden=None).estimate(contrast, bounds=(1.0, 2.0))
    assert not covers(blind, 1.0 + edge[0])
    assert found.tokens_per_round(1).interval[1] - found.tokens_per_round(1).interval[0] < 0.003
    assert any("widened by all that rounding may hide" in note for note in found.notes)
    for name, truth in zip(
        found.parameters, np.asarray(edge) / np.asarray((1.0, *edge[:-1])), strict=True
    ):
        assert covers(found.parameters[name], truth), name


def test_one_p_would_be_wrong_and_sure_of_it():
    observation = log(7_000, 1, 3)
    one = an.fit(observation, processes=("constant p",)).tokens_per_round(1)
    assert one.interval[1] < TOKENS[1] - 0.03


def test_a_busy_line_is_fitted_by_depth():
    text = (
        "SpecDecoding metrics: Mean acceptance length: 2.20, Accepted throughput: 818.20 tokens/s, Drafted "
        f"throughput: 3409.00 tokens/s, Accepted: {BUSY}, Avg Draft acceptance rate: 24.0%\n"
    )
    (reading,) = read_text(text)
    found = an.fit(reading.observation)

    assert found.name == "geometric decay"
    assert covers(found.tokens_per_round(1), 1.62)
    assert covers(found.tokens_per_round(5), 1.0 + 8182 / 6818)
    assert not any("do not say which depths" in note for note in found.notes)
    (note,) = [note for note in found.notes if "widened" in note]
    assert "up to 0.00044 of the rounds" in note


def test_lines_that_chance_scatters_need_no_worst_case_and_copies_do():
    busy = an.fit(log(7_000, 50, 5))
    assert any("each line is rounded for itself" in note for note in busy.notes)
    assert busy.spread([1]).hidden is None

    (reading,) = read_text(line(sampled(7_000, 1, 6)[0], 7_000) * 50)
    copies = an.fit(reading.observation)
    assert copies.spread([1]).hidden is not None


def test_the_best_length_is_less_sure_too():
    found = an.fit(log(50_000_000, 1, 2), processes=("by depth",))
    costs = an.RoundCosts(cost_ratio=0.2)
    spread = found.spread([2, 3])
    blind = dataclasses.replace(spread, hidden=None)
    contrast = np.asarray([1.0 / costs.cost(2), -1.0 / costs.cost(3)])
    ends = spread.estimate(contrast, bounds=(-9.0, 9.0)).interval
    narrow = blind.estimate(contrast, bounds=(-9.0, 9.0)).interval
    assert ends[0] < narrow[0] - 1e-5
    assert narrow[1] + 1e-5 < ends[1]


def test_few_lines_are_counted_without_a_pun():
    found = an.fit(log(2_000, 3, 5))
    assert any(note.startswith("Only 3 intervals of the log:") for note in found.notes)


@given(
    st.lists(st.floats(-5, 5), min_size=2, max_size=6), st.lists(st.integers(0, 9), min_size=12, max_size=12)
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_the_reach_is_that_of_linear_programming(slopes, room):
    from scipy.optimize import linprog  # noqa: PLC0415

    depths = len(slopes)
    below, above = (
        np.asarray(room[:depths], dtype=float),
        np.asarray(room[6 : 6 + depths], dtype=float),
    )
    hidden = Hidden(slopes=np.asarray([slopes]), below=below, above=above)
    down, up = hidden.reach(np.ones(1))
    for sign, reach in ((1.0, up), (-1.0, down)):
        best = linprog(
            -sign * np.asarray(slopes), A_eq=np.ones((1, depths)), b_eq=[0.0],
            bounds=list(zip(-below, above, strict=True)),
        )  # fmt: skip
        assert reach == pytest.approx(-best.fun, abs=1e-7)


@pytest.mark.parametrize("process", ["constant p", "geometric decay", "by depth", "hit or miss"])
def test_slopes_are_what_a_fit_to_other_counts_moves_by(process):
    from analysis.fitting.choice import laws_named  # noqa: PLC0415
    from analysis.fitting.rows import rows_of_pool  # noqa: PLC0415

    (law,) = laws_named([process])

    def peak(kept):
        table = AcceptanceTable(
            rounds=100_000, drafted=400_000, tested=(100_000, *kept[:-1]), accepted=kept
        )
        rows = rows_of_pool(table)
        return maximise(law, rows), rows

    falling = process == "geometric decay"
    kept = (70_000, 46_000, 27_000, 14_000) if falling else (70_000, 55_000, 46_000, 40_000)
    best, rows = peak(kept)
    slopes = Rounding(below=np.ones(4), above=np.ones(4)).slopes(best, rows)
    for i in range(4):
        moved, _ = peak(tuple(n + 10 * (depth == i) for depth, n in enumerate(kept)))
        seen = (moved.theta - best.theta) / 10
        assert slopes[:, i] == pytest.approx(seen, rel=0.02, abs=1e-6)


def test_what_falls_back_to_a_range_says_what_is_missing():
    coarse = AcceptanceTotals(
        rounds=100, drafted=200, accepted=120, longest_draft=2,
        accepted_by_depth_bounds=((65, 75), (45, 55)),
    )  # fmt: skip
    open_ = AcceptanceTotals(rounds=100, drafted=190, accepted=120, longest_draft=2)

    assert any("rounded too coarsely" in note for note in an.fit(coarse).notes)
    assert an.fit(coarse).how == "range"
    assert any("do not say which depths were tested" in note for note in an.fit(open_).notes)
    assert an.fit(open_).name == "constant p, as a range"


def test_coarse_rates_that_contradict_one_p_are_fitted_by_depth():
    coarse = AcceptanceTotals(
        rounds=1000, drafted=3000, accepted=660, longest_draft=3,
        accepted_by_depth_bounds=((450, 550), (80, 150), (0, 50)),
    )  # fmt: skip
    found = an.fit(coarse)
    assert found.name == "by depth"
    assert found.tokens_per_round(1).interval[0] < 1.46
    assert found.tokens_per_round(1).interval[1] > 1.55


def test_counts_by_depth_that_contradict_one_p_have_a_range_at_each_depth():
    totals = AcceptanceTotals(
        rounds=1000, drafted=2997, accepted=1100, longest_draft=3, accepted_by_depth=(620, 330, 150)
    )
    found = an.fit(totals)

    assert found.name == "by depth, as a range"
    assert [covers(found.tokens_per_round(g), t) for g, t in ((1, 1.62), (2, 1.95), (3, 2.1))]
    assert found.tokens_per_round(1).interval[0] > 1.55
    with pytest.raises(ValueError, match="gamma must be at most 3"):
        found.tokens_per_round(4)


def _variance(gamma: int) -> float:
    kept = np.minimum(np.arange(len(SURVIVAL) + 1), gamma)
    share = -np.diff([1.0, *SURVIVAL, 0.0])
    return float(share @ kept**2 - (share @ kept) ** 2)
