"""The server's loop against a slow one, written from its description, and against what a pencil gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serving_cases import CHAINS, STRATEGIES, make_server, make_times, serve
from slow_server import SlowRequest, SlowServer

from simulator import draft_model
from simulator.serving import (
    ClosedLoop,
    EmpiricalTokens,
    FixedTokens,
    PoissonArrivals,
    RecordedArrivals,
    Server,
    UniformTokens,
    Workload,
)
from simulator.serving.stream import InOrder, RequestStream

# Powers of two only, marks at powers of two: no sum is rounded, so that two ways are equal to the last bit.
ROUND = make_times(
    pass_s=lambda requests, tokens, _context: 1.0 + requests / 4 + tokens / 8,
    drafting_s=lambda gamma, requests, _context: gamma * (1 + requests) / 8,
    prompt_s=lambda tokens: 0.5 + tokens / 8,
    draft_prompt_s=lambda tokens: tokens / 8,
    overhead_s=1 / 8,
    draft_overlap=0.5,
)
USUAL = UniformTokens(least=1, most=12)


def slow_requests(server, workload, count, seed):
    """The requests of the stream that a run with this seed sees, with their verdicts."""
    stream = InOrder(
        RequestStream(server, workload, np.random.default_rng(seed)), workload.arrivals
    )
    requests = []
    for _ in range(count):
        arrival = stream.next_arrival()
        prompt, output, _, _, kept = stream.take()
        row = [] if kept is None else kept[:output].tolist()
        requests.append(SlowRequest(prompt, output, row, arrival))
    return requests


def both(server, workload, *, wanted=30, more=600, seed=0):
    """(arrival, admitted, first, end, output) of the measured requests: of the loop, of the slow server."""
    recorded = isinstance(workload.arrivals, RecordedArrivals)
    closed = isinstance(workload.arrivals, ClosedLoop)
    if recorded:
        wanted, more = len(workload.arrivals.arrival_s), 0
    options = {} if recorded else {"requests": wanted, "warm_up": 0}
    run = serve(server, workload, rng=seed, keep_requests=True, **options)
    slow = SlowServer(server)
    users = workload.arrivals.users if closed else 0
    seen = slow.serve(
        slow_requests(server, workload, wanted + more, seed), wanted=wanted, users=users
    )
    return np.array(sorted(rows_of(run))), np.array(sorted(seen)), run, slow


def rows_of(run):
    asked = run.requests
    columns = (
        asked.arrival_s,
        asked.admitted_s,
        asked.first_token_s,
        asked.end_s,
        asked.output_tokens,
    )
    return list(zip(*(column.tolist() for column in columns), strict=True))


def recorded(arrivals, prompts, outputs):
    return Workload(
        arrivals=RecordedArrivals(
            arrival_s=tuple(arrivals), prompt_tokens=tuple(prompts), output_tokens=tuple(outputs)
        )
    )


@pytest.mark.parametrize("budget", [None, 5, 16])
@pytest.mark.parametrize("name", STRATEGIES)
def test_every_law_is_served_as_by_the_slow_server(name, budget):
    server = make_server(STRATEGIES[name], most_running=3, token_budget=budget)
    load = Workload(arrivals=PoissonArrivals(rate_per_s=25.0), prompt=USUAL, output=USUAL)
    loop, slow, run, _ = both(server, load)
    assert loop == pytest.approx(slow, abs=1e-9)
    assert run.waiting.longest_s > 0.0  # and there was a queue


@pytest.mark.parametrize("budget", [None, 1, 7, 40])
@pytest.mark.parametrize("gamma", [None, 0, 2, (4, 2), (0, 4), (3, 0, 1, 4)])
def test_every_schedule_is_served_as_by_the_slow_server(gamma, budget):
    strategy = CHAINS["along the text"]
    server = make_server(strategy, most_running=4, gamma=gamma, token_budget=budget)
    load = Workload(arrivals=PoissonArrivals(rate_per_s=25.0), prompt=USUAL, output=USUAL)
    loop, slow, _, _ = both(server, load, seed=3)
    assert loop == pytest.approx(slow, abs=1e-9)


@settings(max_examples=100)
@given(
    steps=st.lists(
        st.tuples(st.integers(0, 12), st.integers(1, 9), st.integers(1, 12)),
        min_size=1,
        max_size=12,
    ),
    budget=st.sampled_from([None, 1, 4, 6, 32]),
    name=st.sampled_from(sorted(STRATEGIES)),
    most_running=st.integers(1, 2),
)
def test_recorded_arrivals_to_the_last_bit(steps, budget, name, most_running):
    """Arrivals on the same grid as the ends of passes: who comes just then, and several at once."""
    arrivals = np.cumsum([gap / 8 for gap, _, _ in steps]).tolist()
    load = recorded(arrivals, [p for _, p, _ in steps], [o for _, _, o in steps])
    server = Server(
        times=ROUND, most_running=most_running, strategy=STRATEGIES[name], token_budget=budget
    )
    loop, slow, run, by_hand = both(server, load, seed=len(steps))
    assert loop.tolist() == slow.tolist()
    assert run.counters.rounds == by_hand.rounds
    assert run.counters.emitted == by_hand.emitted


@settings(max_examples=40)
@given(
    users=st.integers(1, 6),
    most_running=st.integers(1, 2),
    outputs=st.lists(st.integers(1, 12), min_size=1, max_size=4),
    budget=st.sampled_from([None, 1, 4, 32]),
    gamma=st.sampled_from([0, 1, 4, (4, 2), (0, 4)]),
)
def test_closed_loops_to_the_last_bit(users, most_running, outputs, budget, gamma):
    server = Server(
        times=ROUND,
        most_running=most_running,
        strategy=CHAINS["constant"],
        gamma=gamma,
        token_budget=budget,
    )
    load = Workload(
        arrivals=ClosedLoop(users=users),
        prompt=UniformTokens(least=1, most=9),
        output=EmpiricalTokens(values=tuple(outputs)),
    )
    loop, slow, _, _ = both(server, load, wanted=12, more=300)
    assert loop.tolist() == slow.tolist()


def test_who_comes_at_once_to_an_idle_server_is_read_in_one_pass():
    """Both are there when the pass begins, whether they came at time 0 of a closed loop or of a record."""
    server = Server(times=make_times(), most_running=2, token_budget=8)
    load = recorded([3.0, 3.0], [4, 4], [2, 2])
    assert rows_of(serve(server, load, keep_requests=True)) == [(3.0, 3.0, 4.0, 5.0, 2)] * 2


def test_a_wrong_slow_server_is_noticed():
    """Negative control: a server that reads the newest prompt first."""

    class LastFirst(SlowServer):
        def admit(self, request):
            self.waiting.append(request)
            super().admit(self.waiting.popleft() if self.now < 1.0 else self.waiting.pop())

    server = make_server(CHAINS["constant"], most_running=2)
    load = Workload(arrivals=PoissonArrivals(rate_per_s=25.0), prompt=USUAL, output=USUAL)
    loop, _, _, _ = both(server, load)
    requests = slow_requests(server, load, 700, 0)
    wrong = np.array(sorted(LastFirst(server).serve(requests, wanted=30)))
    assert loop != pytest.approx(wrong, abs=1e-9)


@pytest.mark.parametrize(
    "budget",
    [None, 64],
)
@pytest.mark.parametrize("context", [50, 100, 250])
def test_drafting_hidden_behind_the_pass_is_the_smaller_of_the_two_at_every_context(
    context, budget
):
    """drafting + pass − overlap · min(drafting, pass), as `ServingTimes` says, also between the marks."""
    times = make_times(
        pass_s=lambda _requests, _tokens, _context: 1.0,
        drafting_s=lambda _gamma, _requests, context: context / 100,
        prompt_s=lambda _tokens: 0.0,
        contexts=(0, 400),
        prompts=(1, 400),
        draft_overlap=1.0,
    )
    strategy = draft_model(p=0.0, gamma=1)
    server = Server(times=times, most_running=1, strategy=strategy, token_budget=budget)
    run = serve(server, recorded([0.0], [context - 1], [2]), keep_requests=True)
    took = run.requests.end_s[0] - run.requests.first_token_s[0]
    assert took == pytest.approx(max(1.0, context / 100))


def test_alone_every_request_takes_its_prompt_and_its_rounds():
    """One user: 10 tokens at p = 1 and gamma = 4 are the prompt's one and two rounds of five (one is cut)."""
    for p, rounds in ((1.0, 2), (0.0, 9)):
        times = make_times(
            pass_s=lambda _requests, tokens, _context: tokens / 4,
            drafting_s=lambda gamma, _requests, _context: gamma / 8,
            prompt_s=lambda tokens: tokens / 2,
            draft_prompt_s=lambda tokens: tokens / 16,
            overhead_s=0.125,
        )
        server = Server(times=times, most_running=1, strategy=draft_model(p=p, gamma=4))
        load = Workload(
            arrivals=ClosedLoop(users=1),
            prompt=FixedTokens(tokens=6),
            output=FixedTokens(tokens=10),
        )
        run = serve(server, load, requests=5, warm_up=0, keep_requests=True)
        prompt_s, round_s = 6 / 2 + 6 / 16, 4 / 8 + 5 / 4 + 0.125
        each = prompt_s + rounds * round_s
        assert rows_of(run) == [
            (k * each, k * each, k * each + prompt_s, (k + 1) * each, 10) for k in range(5)
        ]
        assert run.counters.rounds == 5 * rounds
        assert run.counters.discarded == (5 if p == 1.0 else 0)
        assert run.tpot.mean_s == pytest.approx(rounds * round_s / 9)
        assert run.itl.count == 5 * rounds
        assert run.itl.mean_s == round_s
        assert run.tokens_per_s == pytest.approx(10 / each)


def test_alone_rounds_take_longer_as_the_context_grows():
    times = make_times(
        pass_s=lambda _requests, tokens, context: 0.012 + 0.0003 * tokens + 1e-5 * context,
        drafting_s=lambda gamma, _requests, context: gamma * (0.0021 + 1e-6 * context),
        prompt_s=lambda tokens: 0.003 + 0.0007 * tokens,
        contexts=(0, 20, 400),
        overhead_s=0.001,
    )
    server = Server(times=times, most_running=1, strategy=draft_model(p=0.0, gamma=2))
    run = serve(server, recorded([0.0], [50], [9]), keep_requests=True)
    round_s = [
        2 * (0.0021 + 1e-6 * held) + 0.012 + 0.0003 * 3 + 1e-5 * held + 0.001
        for held in range(51, 59)
    ]
    assert run.requests.first_token_s[0] == pytest.approx(0.003 + 0.0007 * 50)
    assert run.requests.end_s[0] - run.requests.first_token_s[0] == pytest.approx(sum(round_s))
