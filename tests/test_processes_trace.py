"""Replay of recorded texts: equal to real decoding where it can be, and unknown where it was not tested."""

from __future__ import annotations

import numpy as np
import pytest
from stats import FALSE_ALARM
from test_toy_exact import MODELS, most_likely_text, run

from simulator import (
    AcceptanceTable,
    Chain,
    CountedUnit,
    Heuristic,
    TraceReplay,
    draft_model,
    replay,
    replay_texts,
    simulate,
    simulate_requests,
)
from simulator.trace_walk import outcomes_of

LENGTHS = [2, 37, 120]


def texts_of(kind, record, gamma, *, stops=False, lengths=LENGTHS, **more):
    """Texts of several lengths, or texts that end with each of the tokens that occur."""
    chain = Chain(gamma=gamma, **more)
    if not stops:
        return [run(kind, chain=chain, max_tokens=n, record=record) for n in lengths]
    ends = sorted(set(most_likely_text(kind, [3, 1], 80)))
    texts = [
        run(kind, chain=chain, max_tokens=80, stop_tokens={token}, record=record) for token in ends
    ]
    assert {text.ended for text in texts} == {"stop"}
    return [text for text in texts if text.rounds]


@pytest.mark.parametrize("stops", [False, True])
@pytest.mark.parametrize("kind", MODELS)
def test_every_position_gives_what_replay_gives(kind, stops):
    texts = texts_of(kind, "every_position", 6, stops=stops)
    trace = TraceReplay.of(texts)
    assert (trace.every_position, trace.gamma) == (True, 6)
    for gamma in range(7):
        replayed = replay_texts(trace, gamma=gamma)
        assert not replayed.untested.any()
        for text, unit in zip(texts, replayed.units(), strict=True):
            assert unit.counts == replay(text, gamma=gamma)
            assert unit.counts.emitted == len(text.tokens) - 1


@pytest.mark.parametrize("stops", [False, True])
@pytest.mark.parametrize("kind", MODELS)
def test_rounds_give_their_own_table_back(kind, stops):
    texts = texts_of(kind, "rounds", 4, stops=stops)
    replayed = replay_texts(TraceReplay.of(texts), gamma=4)
    assert [unit.counts for unit in replayed.units()] == [text.table for text in texts]
    for i, text in enumerate(texts):
        assert replayed.steps(i) == tuple((r.drafted, r.accepted) for r in text.rounds)
    lengthened = texts_of(kind, "rounds", 5, stops=stops, stop=Heuristic(start=2))
    trace = TraceReplay.of(lengthened)
    counts = [unit.counts for unit in replay_texts(trace, gamma=trace.gamma).units()]
    assert [(t.rounds, t.drafted, t.accepted, t.tested, t.discarded) for t in counts] == [
        (t.rounds, t.drafted, t.accepted[: trace.gamma], t.tested[: trace.gamma], t.discarded)
        for t in (text.table for text in lengthened)
    ]


@pytest.mark.parametrize("stops", [False, True])
@pytest.mark.parametrize("recorded", [2, 4, 6])
@pytest.mark.parametrize("kind", MODELS)
def test_what_a_record_of_rounds_knows_is_true_and_the_rest_is_unknown(kind, recorded, stops):
    """A greedy draft depends on the text alone: an every-position record of the text knows all."""
    rounds = TraceReplay.of(texts_of(kind, "rounds", recorded, stops=stops))
    every = TraceReplay.of(texts_of(kind, "every_position", 9, stops=stops))
    assert rounds.lengths == every.lengths
    known = unknown = 0
    for gamma in set(range(9)) - {recorded}:
        part, full = outcomes_of(rounds, gamma), outcomes_of(every, gamma)
        for text, length in enumerate(rounds.lengths):
            for i in range(length):
                mine, truth = part.first[text] + i, full.first[text] + i
                accepted, real = int(part.accepted[mine]), int(full.accepted[truth])
                # Behind the end of a text it may have gone on: only what arrived can be compared.
                assert min(accepted, length - i) <= min(real, length - i)
                if part.known[mine]:
                    assert min(accepted, length - i) == min(real, length - i)
                    known += 1
                else:
                    unknown += 1
    assert known > 50
    assert unknown > 20 or kind == "chain"  # whose drafts may never be kept whole


@pytest.mark.parametrize("kind", MODELS)
def test_rounds_replayed_shorter_are_real_decoding_where_all_is_known(kind):
    equal = 0
    for gamma in (1, 2, 3):
        for n in range(2, 60, 2):
            (text,) = texts_of(kind, "rounds", 4, lengths=[n])
            replayed = replay_texts(TraceReplay.of([text]), gamma=gamma)
            direct = run(kind, chain=Chain(gamma=gamma), max_tokens=n)
            if replayed.untested.any():
                continue
            assert int(replayed.rounds[0]) == direct.table.rounds
            emitted = replayed.table.emitted
            assert emitted == direct.table.emitted == n - 1
            equal += 1
    assert equal > 3


def test_untested_positions_are_counted_and_belong_to_no_other_count():
    # Kept, kept, bonus (never tested); rejected; kept, rejected.
    trace = TraceReplay(texts=(((2, 2), (2, 0), (2, 1)),))
    assert trace.lengths == (6,)
    longer = replay_texts(trace, gamma=3)  # the first draft needs the bonus; then 0 and 1 kept
    assert longer.untested.tolist() == [1]
    assert longer.untested_tokens.tolist() == [3]
    assert longer.steps(0) == ((3, 0), (3, 1))
    assert longer.table == AcceptanceTable(
        rounds=2, drafted=6, tested=(2, 1, 0), accepted=(1, 0, 0)
    )
    assert longer.emitted.tolist() == [3]
    shorter = replay_texts(trace, gamma=1)  # kept and a bonus; the old bonus is unknown
    assert shorter.steps(0) == ((1, 1), (1, 0), (1, 1))
    assert shorter.untested.tolist() == [1]
    assert replay_texts(trace, gamma=0).table == AcceptanceTable(
        rounds=6, drafted=0, tested=(), accepted=()
    )


def test_a_round_without_a_draft_tested_nothing():
    trace = TraceReplay(texts=(((0, 0), (3, 1), (0, 0)),))
    own = replay_texts(trace, gamma=3)
    assert own.undrafted.tolist() == [2]
    assert own.table == AcceptanceTable(
        rounds=3, drafted=3, tested=(1, 1, 0), accepted=(1, 0, 0), length_rule="scheduled"
    )
    other = replay_texts(trace, gamma=2)
    assert (other.untested.tolist(), other.rounds.tolist()) == ([2], [1])


def test_the_end_of_a_text_cuts_its_last_round():
    trace = TraceReplay(texts=(((4, 4), (4, 3)),), tokens=(6,))
    assert trace.lengths == (6,)
    assert replay_texts(trace, gamma=4).discarded.tolist() == [3]
    shorter = replay_texts(trace, gamma=2)  # 2 kept + bonus, kept + never tested, then past the end
    assert shorter.steps(0) == ((2, 2), (2, 2))
    assert shorter.untested_tokens.tolist() == [2]
    assert shorter.discarded.tolist() == [2]


def test_behind_an_accepted_stop_token_nothing_was_tested_at_any_length():
    stopped = TraceReplay(texts=(((4, 2),),), tokens=(2,), stopped=(True,))
    cut = TraceReplay(texts=(((4, 2),),), tokens=(2,))  # by a limit: the third was rejected
    for trace, tested in ((stopped, 0), (cut, 1)):
        for gamma in (3, 4, 7):
            replayed = replay_texts(trace, gamma=gamma)
            assert replayed.table == AcceptanceTable(
                rounds=1,
                drafted=gamma,
                tested=(1, 1, tested, *(0,) * (gamma - 3)),
                accepted=(1, 1, *(0,) * (gamma - 2)),
                discarded=1,
            )
            assert not replayed.untested.any()


def test_requests_draw_texts_and_join_them(rng):
    # Texts of one round each: kept whole, or not at all; every position begins one.
    trace = TraceReplay(texts=(((3, 3),), ((3, 0),)))
    strategy = draft_model(acceptance=trace, gamma=3)
    run = simulate_requests(strategy, requests=4000, tokens=41, rng=rng, record_steps=True)
    assert set(run.in_order.accepted.tolist()) == {0, 3}
    assert run.emitted.tolist() == [41] * 4000
    first = np.searchsorted(run.in_order.request, np.arange(4000))
    from scipy.stats import binomtest  # noqa: PLC0415 — of this test alone

    for k in (0, 5):
        whole = int((run.in_order.accepted[first + k] == 3).sum())
        assert binomtest(whole, 4000, 0.5).pvalue >= FALSE_ALARM
    same = simulate_requests(strategy, requests=4000, tokens=41, rng=3)
    again = simulate_requests(strategy, requests=4000, tokens=41, rng=3)
    assert same.table == again.table


def test_requests_count_what_was_never_tested():
    trace = TraceReplay(texts=(((2, 2), (2, 0), (2, 1)),))
    run = simulate_requests(draft_model(acceptance=trace, gamma=3), requests=7, tokens=12, rng=0)
    assert run.untested.tolist() == [2] * 7  # twice the text
    assert run.emitted.tolist() == [6] * 7
    assert all(unit.counts.emitted == 6 for unit in run.units())
    strategy = draft_model(acceptance=trace, gamma=3)
    with pytest.raises(
        ValueError, match="the trace must know every token that drafts of 3 test; got 1"
    ):
        simulate(strategy, rounds=10, rng=0)
    table = simulate(draft_model(acceptance=trace, gamma=2), rounds=300, streams=2, rng=0)
    assert table == AcceptanceTable(rounds=300, drafted=600, tested=(300, 200), accepted=(200, 100))


def test_units_with_steps_make_a_trace():
    table = AcceptanceTable(rounds=2, drafted=4, tested=(2, 1), accepted=(1, 1), discarded=1)
    unit = CountedUnit(counts=table, steps=((2, 0), (2, 2)))
    trace = TraceReplay.of([unit, unit])
    assert (trace.texts, trace.tokens) == ((((2, 0), (2, 2)),) * 2, (3, 3))
    assert replay_texts(trace, gamma=2).table == table + table
    every = CountedUnit(counts=table, steps=((2, 0), (2, 2)), every_position=True)
    assert TraceReplay.of([every]).every_position
    assert TraceReplay.of([every]).tokens == ()
