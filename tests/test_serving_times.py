"""Tables of times: at their marks, between them, and what a round is made of; and events worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving_cases import ROUGH, make_server, make_times, serve
from slow_server import along

from simulator import draft_model, lookahead, medusa
from simulator.serving import (
    ClosedLoop,
    EmpiricalTokens,
    FixedTokens,
    GeometricTokens,
    LogNormalTokens,
    PassTable,
    PromptTable,
    RecordedArrivals,
    Server,
    UniformTokens,
    Workload,
)
from simulator.serving.round_times import RoundTimes

UNIT = make_times()  # every pass, and every prompt, takes 1 s; drafting 0.25 s


def events(server, arrivals, prompts, outputs):
    """(arrival, admitted, first, end) of recorded requests, in order of arrival and end."""
    load = RecordedArrivals(
        arrival_s=tuple(arrivals), prompt_tokens=tuple(prompts), output_tokens=tuple(outputs)
    )
    asked = serve(server, Workload(arrivals=load), keep_requests=True).requests
    columns = (asked.arrival_s, asked.admitted_s, asked.first_token_s, asked.end_s)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def test_two_of_different_length_at_p_1():
    """Prompts to 1 and 2 s. Rounds of 1.25 s bring 3 tokens: the first needs 1, the second 3 rounds."""
    server = Server(times=UNIT, most_running=2, strategy=draft_model(p=1.0, gamma=2))
    seen = events(server, [0.0, 0.0], [1, 1], [4, 9])
    assert seen == [(0.0, 0.0, 1.0, 3.25), (0.0, 1.0, 2.0, 5.75)]


def test_two_of_different_length_at_p_0_with_a_third_who_waits():
    """Rounds of 1.25 s bring one token each. The third is admitted when the first leaves, at 4.5 s."""
    server = Server(times=UNIT, most_running=2, strategy=draft_model(p=0.0, gamma=2))
    seen = events(server, [0.0, 0.0, 0.5], [1, 1, 1], [3, 5, 2])
    # rounds 2 to 3.25, 3.25 to 4.5; the third's prompt to 5.5; rounds to 6.75 and 8
    assert seen == [(0.0, 0.0, 1.0, 4.5), (0.0, 1.0, 2.0, 8.0), (0.5, 4.5, 5.5, 6.75)]


def test_two_come_during_a_pass():
    """Both wait for the end of the round, are read one after the other, and the third for a place."""
    server = Server(times=UNIT, most_running=3)
    seen = events(server, [0.0, 1.25, 1.5, 2.0], [1, 1, 1, 1], [6, 2, 2, 2])
    assert seen == [
        (0.0, 0.0, 1.0, 9.0),  # rounds end at 2 (alone), then at 5, 7, 8, 9
        (1.25, 2.0, 3.0, 5.0),
        (1.5, 3.0, 4.0, 5.0),
        (2.0, 5.0, 6.0, 7.0),  # came just as the round ended, but three ran at 4
    ]


@pytest.mark.parametrize(("budget", "end"), [(None, 4.0), (8, 4.0)])
def test_who_comes_just_as_a_pass_ends_is_read_next(budget, end):
    """At 2 s, the end of a round: the prompt has the machine to 3 s, alone or beside decoding."""
    server = Server(times=UNIT, most_running=2, token_budget=budget)
    seen = events(server, [0.0, 2.0], [1, 1], [5, 2])
    assert seen == [(0.0, 0.0, 1.0, 6.0 if budget is None else 5.0), (2.0, 2.0, 3.0, end)]


def test_an_idle_server_waits_for_the_next():
    server = Server(times=UNIT, most_running=3)
    seen = events(server, [0.0, 10.0], [1, 1], [2, 2])
    assert seen == [(0.0, 0.0, 1.0, 2.0), (10.0, 10.0, 11.0, 12.0)]


def test_shares_of_an_idle_server():
    """Busy for 4 of 12 s, in 2 of which one request decodes."""
    load = RecordedArrivals(arrival_s=(0.0, 10.0), prompt_tokens=(1, 1), output_tokens=(2, 2))
    run = serve(Server(times=UNIT, most_running=3), Workload(arrivals=load))
    assert (run.mean_batch, run.busy_share) == (0.5, 4 / 12)
    assert run.window_s == run.counters.clock_s == 12.0


def test_prompts_in_parts_beside_decoding():
    """Budget 4, prompts of 3 and 6. Passes of 1 s, with drafts (each 3 tokens wide) 1.25 s.

    0 to 1: all 3 of the first, 1 of the second. 1 to 2.25: the first drafts, 1 more of the second.
    Again to 3.5 and 4.75, when the first, of 4 tokens, ends. To 5.75: the last 2 of the second.
    Alone it decodes one token: to 7.
    """
    times = make_times()
    server = Server(
        times=times, most_running=2, strategy=draft_model(p=0.0, gamma=2), token_budget=4
    )
    seen = events(server, [0.0, 0.0], [3, 6], [4, 2])
    assert seen == [(0.0, 0.0, 1.0, 4.75), (0.0, 0.0, 5.75, 7.0)]


def test_decoding_that_fills_the_budget_stops_the_reading():
    """Budget 3 is a drafting request's width: the second is read only when the first has its 3 tokens."""
    server = Server(
        times=make_times(draft_prompt_s=lambda tokens: tokens / 8),
        most_running=2,
        strategy=draft_model(p=0.0, gamma=2),
        token_budget=3,
    )
    seen = events(server, [0.0, 0.5], [2, 4], [3, 1])
    # prompt 1 + 2/8; rounds to 2.5 and 3.75; parts of 3 and 1 tokens: 1.375 and 1.125
    assert seen == [(0.0, 0.0, 1.25, 3.75), (0.5, 1.25, 6.25, 6.25)]


def test_a_closed_loop_of_two_by_hand():
    """Answers of 2: prompts to 1 and 2, a round to 3, and the same from there on."""
    load = Workload(
        arrivals=ClosedLoop(users=2), prompt=FixedTokens(tokens=1), output=FixedTokens(tokens=2)
    )
    run = serve(Server(times=UNIT, most_running=2), load, requests=4, warm_up=0, keep_requests=True)
    asked = run.requests
    assert asked.admitted_s.tolist() == [1.0, 0.0, 4.0, 3.0]
    assert asked.first_token_s.tolist() == [2.0, 1.0, 5.0, 4.0]
    assert asked.end_s.tolist() == [3.0, 3.0, 6.0, 6.0]
    assert asked.arrival_s.tolist() == [0.0, 0.0, 3.0, 3.0]
    assert (run.itl.count, run.itl.mean_s) == (4, (2 + 1 + 2 + 1) / 4)


SOME = st.lists(st.floats(0.1, 9.0), min_size=12, max_size=12)


@given(
    seconds=SOME,
    drafts=SOME,
    batch=st.integers(1, 6),
    drafted=st.integers(0, 6),
    context=st.floats(0, 90),
)
def test_a_round_is_its_parts_on_straight_lines(seconds, drafts, batch, drafted, context):
    """drafting + pass + overhead, linear in requests, tokens and context; here with two marks each or three."""
    drafted = min(drafted, batch)
    requests, tokens, contexts = (1, 4, 6), (1, 7), (0, 90)
    table = np.reshape(seconds, (3, 2, 2))
    drafting = np.stack([np.zeros((3, 2)), np.reshape(drafts, (2, 3, 2))[0]])
    times = make_times(requests=requests, tokens=tokens, contexts=contexts, most_gamma=1)
    times = type(times)(
        passes=PassTable(requests=requests, tokens=tokens, contexts=contexts, seconds=table),
        drafting_s=drafting,
        prompts=times.prompts,
        overhead_s=0.5,
    )
    server = Server(times=times, most_running=6, strategy=draft_model(p=0.5, gamma=1))
    width = (batch + drafted) / batch
    rows = [along(tokens, [along(contexts, row, context) for row in rows], width) for rows in table]
    expected = along(requests, rows, batch)
    expected += along(requests, [along(contexts, row, context) for row in drafting[1]], batch) + 0.5
    rounds = RoundTimes(server)
    assert rounds.round_s(batch, drafted, context) == pytest.approx(expected)
    mixed = rounds.mixed_s(batch, batch + drafted, context, batch)
    assert mixed == pytest.approx(expected)


def test_tables_are_exact_at_their_marks():
    for requests in (1, 3, 8):
        assert ROUGH.passes.batch(requests)[0, 0] == pytest.approx(0.01 + 0.0023 * requests)
        assert ROUGH.drafting(3, requests)[0] == pytest.approx(3 * (0.002 + 1e-4 * requests))
    assert ROUGH.passes.most_requests == 8
    assert ROUGH.most_gamma == 5
    prompts = PromptTable(tokens=(1, 5, 9), target_s=(1.0, 2.0, 8.0), draft_s=(0.0, 0.5, 0.5))
    assert prompts.read_s([1, 3, 5, 7, 9], drafting=False).tolist() == [1.0, 1.5, 2.0, 5.0, 8.0]
    assert prompts.read_s([3, 9], drafting=True).tolist() == [1.75, 8.5]
    assert prompts.most_tokens == 9


def test_widths_and_draft_lengths_of_a_server():
    chain = make_server(draft_model(p=0.5, gamma=4), gamma=(4, 2, 0), most_running=5)
    assert chain.lengths.tolist() == [0, 4, 2, 0, 0, 0]
    assert [chain.width(gamma) for gamma in (0, 2, 4)] == [1, 3, 5]
    assert [chain.nodes(gamma) for gamma in (0, 2, 4)] == [0, 2, 4]
    tree = make_server(medusa(accuracies=((0.6, 0.2), (0.5, 0.2)), nodes=4))
    assert (tree.width(2), tree.nodes(2), tree.width(0)) == (5, 4, 1)
    ahead = lookahead(window=2, ngram=3, candidates=2, p=0.6)
    assert make_server(ahead).width(2) == ahead.verified_tokens > 1 + ahead.nodes
    riders = replace(draft_model(p=0.5, gamma=4), extra_nodes=3)
    assert (make_server(riders).width(4), make_server(riders).nodes(4)) == (8, 4)
    assert not make_server().speculates
    assert not chain.plain(most_running=8).speculates
    assert chain.plain(most_running=8).most_running == 8


@pytest.mark.parametrize(
    ("law", "mean", "most"),
    [
        (FixedTokens(tokens=7), 7.0, 7),
        (UniformTokens(least=3, most=9), 6.0, 9),
        (GeometricTokens(mean=12.0), 12.0, None),
        (EmpiricalTokens(values=(1, 4, 4, 11)), 5.0, 11),
        (LogNormalTokens(mean=200.0, spread=0.5), 200.5, None),
        (GeometricTokens(mean=12.0, most=12), 12.0 * (1 - (11 / 12) ** 12), 12),
    ],
    ids=repr,
)
def test_lengths_have_their_mean(law, mean, most, rng):
    """z of the mean: 6.5 sd of a law that is far from heavy-tailed, over 40,000 draws (< 1e-8)."""
    drawn = law.draw(40_000, rng)
    limit = 6.5 * drawn.std() / 200.0 + (0.1 if isinstance(law, LogNormalTokens) else 1e-9)
    assert abs(drawn.mean() - mean) <= limit
    assert abs(drawn.mean() - 1.1 * mean) > limit  # negative control
    assert drawn.min() >= 1
    assert most is None or drawn.max() <= most == law.most


def test_lengths_without_spread_are_the_mean(rng):
    """Also where rounding would carry the mean above itself, and its ceiling to one more."""
    for mean in range(1, 60):
        assert set(LogNormalTokens(mean=mean, spread=0.0).draw(3, rng).tolist()) == {mean}
    assert LogNormalTokens(mean=3.5, spread=0.0).draw(1, rng).tolist() == [4]
    assert set(GeometricTokens(mean=1.0).draw(9, rng).tolist()) == {1}
