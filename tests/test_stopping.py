"""The engine under stopping rules against the exact laws, and the rules themselves.

A table of a heuristic holds rounds that depend on each other. Requests do not, and the engine
promises that the first n rounds of longer requests are those of requests of n rounds: the difference
of two tables is one round of every request, and follows the exact law of that round.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from stats import assert_all, assert_mean, mean_limit

from analysis import estimate_p, expected_tokens, length_laws, stopped_law
from analysis.stopping import mixed_lengths
from simulator import (
    AcceptanceTable,
    Chain,
    ConfidenceThreshold,
    ConfidentAcceptance,
    FixedLength,
    Heuristic,
    Oracle,
    calibrated_acceptance,
    draft_model,
    simulate,
    simulate_counts,
    simulate_lengths,
    stopped,
)

ROUNDS = 100_000
LAW = calibrated_acceptance(p=0.7, concentration=1.5, levels=7)
KEPT = ConfidenceThreshold(threshold=0.5)
DROPPED = ConfidenceThreshold(threshold=0.5, drops_last=True)
STRATEGIES = {
    "kept": draft_model(acceptance=LAW, gamma=6, stop=KEPT),
    "kept, one token": draft_model(acceptance=LAW, gamma=1, stop=KEPT),
    "thrown away": draft_model(acceptance=LAW, gamma=6, stop=DROPPED),
    "miscalibrated": draft_model(
        acceptance=ConfidentAcceptance(
            levels=(0.9, 0.3, 0.6), weights=(0.5, 0.5, 0.0), accepted=(0.3, 0.8, 1.0)
        ),
        gamma=5,
        stop=KEPT,
    ),
    "oracle": draft_model(p=0.8, gamma=9, stop=Oracle()),
    "oracle by depth": draft_model(by_depth=(0.9, 0.4, 1.0, 0.0, 0.5), stop=Oracle()),
    "one round of a heuristic": draft_model(p=0.8, gamma=9, stop=Heuristic(start=3)),
}
REQUESTS = {
    "p 0.7": draft_model(p=0.7, gamma=16, stop=Heuristic()),
    "start at the end": draft_model(p=0.5, gamma=4, stop=Heuristic()),
    "by depth": draft_model(by_depth=(0.95, 0.6, 0.9, 0.3, 0.8), stop=Heuristic(start=2)),
    "confident": draft_model(acceptance=LAW, gamma=9, stop=Heuristic(start=1, step_up=3)),
}


def assert_stopped(table, law):
    """Accepted tokens by mean, chi-square and support; drafted and tested tokens by their means."""
    assert_all(table, law)
    assert_lengths(table, law)
    for depth, chance in enumerate(law.tested):
        deviation = table.tested[depth] / table.rounds - chance
        flip = SimpleNamespace(pmf=(1.0 - chance, chance))
        assert abs(deviation) <= mean_limit(flip, table.rounds), f"tested off at depth {depth}"


def assert_lengths(table, law):
    deviation = table.drafted / table.rounds - law.drafted
    limit = mean_limit(SimpleNamespace(pmf=law.lengths), table.rounds)
    assert abs(deviation) <= limit, f"drafted per round off by {deviation:+.3g} (limit {limit:.3g})"


@pytest.mark.parametrize("name", STRATEGIES)
def test_counts_follow_the_exact_law(name, rng):
    strategy = STRATEGIES[name]
    streams = ROUNDS if isinstance(strategy.draft.stop, Heuristic) else 1
    table = simulate(strategy, rounds=ROUNDS, rng=rng, streams=streams)
    assert (table.rounds, table.depths) == (ROUNDS, strategy.draft.gamma)
    assert table.length_rule == strategy.draft.length_rule
    assert_stopped(table, stopped_law(strategy, rounds=1))


def round_of_requests(strategy, number, *, rng=3, streams=ROUNDS):
    """The table of the n-th round of `streams` requests: what it adds to the rounds before it."""
    longer = simulate(strategy, rounds=number * streams, rng=rng, streams=streams)
    if number == 1:
        return longer
    shorter = simulate(strategy, rounds=(number - 1) * streams, rng=rng, streams=streams)
    return AcceptanceTable(
        rounds=streams,
        drafted=longer.drafted - shorter.drafted,
        tested=tuple(a - b for a, b in zip(longer.tested, shorter.tested, strict=True)),
        accepted=tuple(a - b for a, b in zip(longer.accepted, shorter.accepted, strict=True)),
        length_rule="scheduled",
    )


@pytest.mark.parametrize("number", [1, 2, 3, 6, 12])
@pytest.mark.parametrize("name", REQUESTS)
def test_each_round_of_a_request_follows_its_exact_law(name, number):
    strategy = REQUESTS[name]
    lengths = tuple(length_laws(strategy, rounds=number)[-1].tolist())
    assert_stopped(round_of_requests(strategy, number), mixed_lengths(strategy, lengths))


@pytest.mark.parametrize(
    ("by_depth", "stop"),
    [
        ((1.0, 1.0, 1.0, 0.0, 0.5), Heuristic(start=1)),
        ((1.0,) * 12, Heuristic()),
        ((0.0,) * 12, Heuristic(start=9)),
        ((1.0, 1.0, 0.0, 1.0, 1.0, 1.0), Heuristic(start=4, step_up=3, step_down=2)),
        ((1.0, 1.0, 0.0), Heuristic(start=2, step_up=0, step_down=0)),
    ],
)
def test_requests_without_chance_are_exact(by_depth, stop):
    strategy = draft_model(by_depth=by_depth, stop=stop)
    table = simulate(strategy, rounds=7 * 40, rng=0, streams=7)
    law = stopped_law(strategy, rounds=40)
    assert table.drafted == pytest.approx(280 * law.drafted, rel=1e-12)
    np.testing.assert_allclose(table.tested, 280 * np.array(law.tested), atol=1e-9)
    np.testing.assert_allclose(table.accepted, 280 * np.array(law.accepted), atol=1e-9)


WRONG = {
    "one token up instead of two": (
        round_of_requests,
        REQUESTS["p 0.7"],
        draft_model(p=0.7, gamma=16, stop=Heuristic(step_up=1)),
    ),
    "two tokens down instead of one": (
        round_of_requests,
        REQUESTS["p 0.7"],
        draft_model(p=0.7, gamma=16, stop=Heuristic(step_down=2)),
    ),
    "threshold one level off": (
        None,
        STRATEGIES["kept"],
        draft_model(acceptance=LAW, gamma=6, stop=ConfidenceThreshold(threshold=LAW.levels[1])),
    ),
    "token thrown away instead of kept": (None, STRATEGIES["kept"], STRATEGIES["thrown away"]),
    "token kept instead of thrown away": (None, STRATEGIES["thrown away"], STRATEGIES["kept"]),
    "oracle that sees one token less": (
        None,
        STRATEGIES["oracle"],
        draft_model(p=0.8, gamma=8, stop=Oracle()),
    ),
    "oracle that is none": (None, STRATEGIES["oracle"], draft_model(p=0.8, gamma=9)),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_engines_are_caught(name, rng):
    by_round, right, wrong = WRONG[name]
    if by_round is None:
        table, law = simulate(wrong, rounds=ROUNDS, rng=rng), stopped_law(right)
    else:
        lengths = tuple(length_laws(right, rounds=3)[-1].tolist())
        table, law = by_round(wrong, 3), mixed_lengths(right, lengths)
    with pytest.raises(AssertionError):
        assert_stopped(table, law)


def test_fixed_drafts_under_a_law_of_confidence_have_one_p(rng):
    strategy = draft_model(acceptance=LAW, gamma=5)
    table = simulate(strategy, rounds=ROUNDS, rng=rng)
    assert table.length_rule == "fixed"
    assert_all(table, stopped_law(draft_model(p=LAW.p, gamma=5)))


def test_the_trap_is_sampled_too(rng):
    # See the exact numbers of this law in test_stopping_exact.py.
    law = ConfidentAcceptance(levels=(0.05, 0.95), weights=(1 / 3, 2 / 3), accepted=(0.05, 0.95))
    dropped = simulate(draft_model(acceptance=law, gamma=8, stop=DROPPED), rounds=400_000, rng=rng)
    promised = expected_tokens(float(estimate_p(dropped)), 8)
    fixed = simulate(draft_model(acceptance=law, gamma=8), rounds=400_000, rng=rng)
    assert promised == pytest.approx(7.395, abs=0.1)
    assert_mean(fixed, stopped_law(draft_model(p=0.65, gamma=8)))
    assert dropped.length_rule == "confidence"


@pytest.mark.parametrize("name", [*STRATEGIES, *REQUESTS])
@pytest.mark.parametrize("chunk", [1, 14, 1000, 10**6])
def test_chunk_size_does_not_change_the_counts(name, chunk, monkeypatch):
    strategy = (STRATEGIES | REQUESTS)[name]
    expected = simulate(strategy, rounds=1200, rng=11, streams=40)
    monkeypatch.setattr(stopped, "_CHUNK", chunk)
    assert simulate(strategy, rounds=1200, rng=11, streams=40) == expected


@pytest.mark.parametrize("name", [*STRATEGIES, *REQUESTS])
def test_same_rng_same_counts(name):
    strategy = (STRATEGIES | REQUESTS)[name]
    run = simulate(strategy, rounds=2000, rng=3)
    assert run == simulate(strategy, rounds=2000, rng=np.random.default_rng(3))
    assert run != simulate(strategy, rounds=2000, rng=4)


@pytest.mark.parametrize("name", ["kept", "thrown away", "oracle"])
def test_streams_matter_only_to_rules_that_look_back(name):
    one = simulate(STRATEGIES[name], rounds=3000, rng=5)
    assert one == simulate(STRATEGIES[name], rounds=3000, rng=5, streams=100)
    heuristic = REQUESTS["p 0.7"]
    assert simulate(heuristic, rounds=3000, rng=5) != simulate(
        heuristic, rounds=3000, rng=5, streams=100
    )


@pytest.mark.parametrize("name", [*STRATEGIES, *REQUESTS])
def test_progress_rises_to_one_and_changes_nothing(name, monkeypatch):
    monkeypatch.setattr(stopped, "_CHUNK", 200)
    strategy, reports = (STRATEGIES | REQUESTS)[name], []
    table = simulate(strategy, rounds=1000, rng=0, progress=reports.append)
    assert table == simulate(strategy, rounds=1000, rng=0)
    assert reports == sorted(reports)
    assert reports[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["kept", "oracle", "one round of a heuristic"])
@pytest.mark.parametrize("run", [simulate_lengths, simulate_counts])
def test_what_cannot_be_done_is_refused_in_a_sentence(run, name):
    with pytest.raises(
        ValueError, match=rf"{run.__name__} takes drafts of fixed length; got Chain"
    ):
        run(STRATEGIES[name], rounds=10, rng=0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rounds": 10, "streams": 3}, "multiple of streams.*got 10 rounds and 3 streams"),
        ({"rounds": 0}, r"rounds must be .* got 0"),
        ({"rounds": 10, "streams": 0}, r"streams must be .* got 0"),
        ({"rounds": 10**12}, r"rounds must be .*\[0, 1000000000\]; got 1000000000000"),
        ({"rounds": 10**7, "streams": 10**7}, r"streams must be .* got 10000000"),
    ],
)
def test_bad_runs_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        simulate(REQUESTS["p 0.7"], rng=0, **change)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Heuristic(start=0), "start must be .* got 0"),
        (lambda: Heuristic(step_up=-1), "step_up must be .* got -1"),
        (lambda: Heuristic(step_down=0.5), r"step_down must be .* got 0\.5"),
        (lambda: ConfidenceThreshold(threshold=1.5), r"threshold must be .* got 1\.5"),
        (lambda: ConfidenceThreshold(threshold=0.5, drops_last=1), "drops_last must be .* got 1"),
        (lambda: Chain(gamma=0, stop=Oracle()), r"gamma must be .*\[1, 10000\]; got 0"),
        (lambda: Chain(gamma=4, stop="oracle"), "stop must be one of FixedLength, .* got 'oracle'"),
        (lambda: draft_model(p=0.5, gamma=4, stop=KEPT), "needs an acceptance that says.*p=0.5"),
        (lambda: draft_model(p=0.5, acceptance=LAW, gamma=4), "one of them; got both"),
        (lambda: draft_model(acceptance=LAW), "gamma must be given"),
        (
            lambda: draft_model(acceptance=0.5, gamma=4),
            "acceptance must be one of Constant.* got 0.5",
        ),
        (lambda: ConfidentAcceptance(levels=(), weights=(), accepted=()), "got 0, 0 and 0"),
        (
            lambda: ConfidentAcceptance(levels=(0.5,), weights=(0.5, 0.5), accepted=(1.0,)),
            "one value per level each.*got 1, 2 and 1",
        ),
        (
            lambda: ConfidentAcceptance(levels=(0.5, 0.6), weights=(0.5, 0.4), accepted=(1.0, 0.0)),
            r"weights must sum to 1; got 0\.9",
        ),
        (
            lambda: ConfidentAcceptance(levels=(0.5,), weights=(1.0,), accepted=(1.1,)),
            r"accepted\[0\] must be .* got 1\.1",
        ),
        (lambda: calibrated_acceptance(p=0.5, concentration=0.0), "concentration must be above 0"),
        (lambda: calibrated_acceptance(p=1.5, concentration=1.0), r"p must be .* got 1\.5"),
        (
            lambda: calibrated_acceptance(p=0.5, concentration=1.0, levels=0),
            "levels must be .* got 0",
        ),
    ],
)
def test_bad_values_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_rules_as_data():
    assert Chain(gamma=4) == Chain(gamma=4, stop=FixedLength())
    assert repr(Chain(gamma=4)) == "Chain(gamma=4)"
    assert Chain(gamma=4, stop=Oracle()) != Chain(gamma=4)
    rules = [FixedLength(), Heuristic(), KEPT, DROPPED, Oracle()]
    assert [Chain(gamma=4, stop=stop).length_rule for stop in rules] == [
        "fixed", "scheduled", "confidence", "confidence", "confidence",
    ]  # fmt: skip


def test_heuristic_is_that_of_transformers_below_its_end():
    # num_assistant_tokens += 2 after a round of matches only, else max(1, n - 1).
    rule, length = Heuristic(), 5
    for all_kept, expected in [
        (True, 7),
        (True, 9),
        (False, 8),
        *[(False, n) for n in range(7, 0, -1)],
    ]:
        length = rule.after(length, all_kept=all_kept, gamma=100)
        assert length == expected
    assert rule.after(1, all_kept=False, gamma=100) == 1
    assert rule.after(9, all_kept=True, gamma=10) == 10
    assert rule.first(gamma=3) == 3
