"""Every position recorded: predictions at other draft lengths are counted, not modelled."""

from __future__ import annotations

import numpy as np
import pytest

import analysis as an
from analysis.fitting.replay import Replay
from analysis.fitting.report import fit_report
from simulator import (
    AcceptanceTable,
    CountedUnit,
    EasyHardChain,
    Observation,
    TraceReplay,
    replay_texts,
)

NOTHING = AcceptanceTable(rounds=0, drafted=0, tested=(), accepted=())
CHAIN = EasyHardChain(p_easy=0.92, p_hard=0.3, stay_easy=0.9, stay_hard=0.8)
COSTS = an.RoundCosts(cost_ratio=0.1)
GAMMA = 4


def texts(count, tokens, rng=0):
    """What drafts of up to GAMMA tokens keep at every position of texts under the chain."""
    generator = np.random.default_rng(rng)
    found = []
    for _ in range(count):
        easy, kept = generator.random() < CHAIN.easy_share, []
        for _ in range(tokens):
            kept.append(generator.random() < (CHAIN.p_easy if easy else CHAIN.p_hard))
            stays = generator.random() < (CHAIN.stay_easy if easy else CHAIN.stay_hard)
            easy = easy == stays
        run, steps = 0, []
        for verdict in reversed(kept):
            run = run + 1 if verdict else 0
            steps.append((GAMMA, min(run, GAMMA)))
        found.append(tuple(reversed(steps)))
    return tuple(found)


def units(found, *, every_position=True):
    return [CountedUnit(counts=NOTHING, steps=s, every_position=every_position) for s in found]


RECORDED = texts(60, 120)


@pytest.mark.parametrize("intervals", ["resampling", "sandwich"])
@pytest.mark.parametrize("processes", [None, ("constant p",)])
def test_predictions_are_the_replay_whatever_the_process(intervals, processes):
    found = an.fit(units(RECORDED), intervals=intervals, processes=processes)
    trace = TraceReplay(texts=RECORDED, every_position=True)
    assert found.replayed == found.measured == GAMMA
    for gamma in range(1, GAMMA + 1):
        exact = replay_texts(trace, gamma=gamma).tokens_per_round
        told = found.tokens_per_round(gamma)
        assert told.value == pytest.approx(exact.value, abs=1e-12)
        # 400 draws: 5.7 standard errors; otherwise the jackknife of 60 requests
        assert told.se == pytest.approx(exact.se, rel=0.2 if intervals == "resampling" else 0.03)
        assert told.interval[0] < told.value < told.interval[1]
    beyond = found.process
    assert found.tokens_per_round(8).value == pytest.approx(
        an.process_tokens_per_round(beyond, 8), rel=1e-6
    )
    assert any("γ = 4 the texts were replayed" in note for note in found.notes)


def test_one_p_alone_misses_what_the_replay_counts():
    """The control: the same rounds without the positions between them, under a wrong process."""
    trace = TraceReplay(texts=RECORDED, every_position=True)
    rounds = replay_texts(trace, gamma=GAMMA)
    steps = [rounds.steps(i) for i in range(rounds.requests)]
    wrong = an.fit(units(steps, every_position=False), processes=("constant p",))
    exact = replay_texts(trace, gamma=1).tokens_per_round.value
    told = wrong.tokens_per_round(1)
    assert wrong.replayed == 0
    assert abs(told.value - exact) > 0.02
    assert not told.interval[0] <= exact <= told.interval[1]


def test_the_best_length_counts_replayed_and_foreseen_alike():
    found = an.fit(units(RECORDED))
    best = found.best_gamma(COSTS, range(9))
    speedups = {g: found.speedup(g, COSTS).value for g in range(9)}
    assert best.gamma == max(speedups, key=speedups.get)
    assert best.speedup.value == speedups[best.gamma]


def test_the_report_says_what_was_replayed():
    basis = [row[-1] for row in fit_report(an.fit(units(RECORDED)), range(1, 7)).sections[0].rows]
    assert basis == ["replayed"] * GAMMA + ["extrapolated"] * 2


@pytest.mark.parametrize("wrap", [list, lambda one: Observation(counts=NOTHING, units=tuple(one))])
def test_one_text_is_cut_into_stretches_of_the_same_rounds(wrap):
    (one,) = texts(1, 2000, rng=3)
    found = an.fit(wrap(units([one])))
    trace = TraceReplay(texts=(one,), every_position=True)
    assert (found.unit, found.units, found.replayed) == ("stretches", 20, GAMMA)
    for gamma in range(1, GAMMA + 1):
        exact = replay_texts(trace, gamma=gamma).tokens_per_round.value
        assert found.tokens_per_round(gamma).value == pytest.approx(exact, abs=1e-12)


def test_stretches_hold_every_round_once():
    (one,) = texts(1, 300, rng=4)
    whole, cut = Replay([one]), Replay([one], cuts=np.asarray([0, 40, 41, 200]))
    for gamma in range(1, GAMMA + 1):
        for parts, sums in zip(cut.sums(gamma), whole.sums(gamma), strict=True):
            assert parts.shape == (4,)
            assert parts.sum() == sums[0]


def test_texts_of_several_lengths_keep_their_rows():
    """Rows are sorted by their number of rounds; those that were drawn again must be the same."""
    mixed = (*texts(3, 20, rng=5), *texts(4, 200, rng=6), *texts(3, 50, rng=7))
    same, turned = an.fit(units(mixed)), an.fit(units(mixed[::-1]))
    assert same.tokens_per_round(2).value == turned.tokens_per_round(2).value
    at_gamma = Replay(mixed).sums(GAMMA)[1]
    assert sorted(at_gamma, reverse=True) != list(at_gamma)  # the control: they had to be sorted
    sandwich = an.fit(units(mixed), intervals="sandwich", processes=("by depth",))
    exact = replay_texts(TraceReplay(texts=mixed, every_position=True), gamma=GAMMA)
    assert sandwich.tokens_per_round(GAMMA).se == pytest.approx(exact.tokens_per_round.se, rel=0.25)


def test_rows_of_the_replay_are_those_of_the_process():
    """What a request does at γ = 4, counted, it does at γ = 5, foreseen: both go the same way."""
    mixed = (*texts(20, 30, rng=5), *texts(20, 200, rng=6), *texts(20, 60, rng=7))
    for intervals in ("sandwich", "resampling"):
        spread = an.fit(units(mixed), intervals=intervals).curve([GAMMA, GAMMA + 1])
        found = np.cov(spread.draws.T) if spread.covariance is None else spread.covariance
        assert found[0, 1] > 0.9 * np.sqrt(found[0, 0] * found[1, 1])
