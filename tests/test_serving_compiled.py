"""The compiled loop gives what the loop in NumPy gives, whatever is served."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serving_cases import CHAINS, ROUGH, STRATEGIES, make_server, make_times, serve

from simulator.serving import (
    ClosedLoop,
    EmpiricalTokens,
    FixedTokens,
    GeometricTokens,
    LatencyObjective,
    LogNormalTokens,
    PassTable,
    PoissonArrivals,
    PromptTable,
    RecordedArrivals,
    Server,
    ServingTimes,
    UniformTokens,
    Workload,
    compiled,
    stream,
)

USUAL = {"prompt": UniformTokens(least=1, most=60), "output": UniformTokens(least=1, most=40)}
LOADS = {
    "closed": Workload(arrivals=ClosedLoop(users=5), **USUAL),
    "Poisson": Workload(arrivals=PoissonArrivals(rate_per_s=4.0), **USUAL),
    "recorded": Workload(
        arrivals=RecordedArrivals(
            arrival_s=(0.0, 0.0, 0.1, 0.1, 0.1, 0.4, 9.0, 9.0, 9.5),
            prompt_tokens=(5, 1, 60, 9, 9, 30, 2, 3, 4),
            output_tokens=(9, 1, 3, 30, 1, 2, 1, 12, 1),
        )
    ),
}
WORDS = ("ttft", "tpot", "itl", "e2e", "waiting")
OBJECTIVE = LatencyObjective(ttft_s=0.3, tpot_s=0.02, e2e_s=1.0)


def differences(server, workload, **options):
    """Names of what the two loops say differently: whole numbers to the last one, sums to 1e-12."""
    if not isinstance(workload.arrivals, RecordedArrivals):
        options = {"requests": 40, **options}
    options = {"objective": OBJECTIVE, "keep_requests": True, **options}
    slow = serve(server, workload, **options)
    fast = serve(server, workload, **{**options, "loop": "numba"})
    pairs = {f"counters.{f.name}": f.name for f in fields(slow.counters)}
    found = [
        name
        for name, key in pairs.items()
        if not same(getattr(slow.counters, key), getattr(fast.counters, key))
    ]
    for word in WORDS:
        one, other = getattr(slow, word), getattr(fast, word)
        found += [
            f"{word}.{f.name}"
            for f in fields(one)
            if not same(getattr(one, f.name), getattr(other, f.name))
        ]
    found += [
        name
        for name in ("measured", "met", "answer_tokens")
        if getattr(slow, name) != getattr(fast, name)
    ]
    found += [
        f"requests.{f.name}"
        for f in fields(slow.requests)
        if not np.array_equal(getattr(slow.requests, f.name), getattr(fast.requests, f.name))
    ]
    return found


def same(one, other):
    if type(one) is not type(other):
        return False
    if isinstance(one, int):
        return one == other
    return math.isclose(one, other, rel_tol=1e-12) or (math.isnan(one) and math.isnan(other))


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("budget", [None, 70, 9])
@pytest.mark.parametrize("name", [*STRATEGIES, None])
def test_both_loops_give_the_same(name, budget, load):
    server = make_server(STRATEGIES.get(name), token_budget=budget and min(budget, 65))
    assert differences(server, LOADS[load], rng=3) == []


@pytest.mark.parametrize("load", ["closed", "Poisson"])
@pytest.mark.parametrize("budget", [None, 20])
@pytest.mark.parametrize("gamma", [0, 1, (4, 2, 0), (0, 4), (0, 0, 3, 1)])
def test_any_draft_length_gives_the_same(gamma, budget, load):
    for strategy in (CHAINS["constant"], CHAINS["look-up"]):
        server = make_server(strategy, gamma=gamma, token_budget=budget)
        assert differences(server, LOADS[load]) == []


@pytest.mark.parametrize("warm_up", [0, 1, 7, 300])
@pytest.mark.parametrize("load", ["closed", "Poisson"])
def test_any_window_gives_the_same(load, warm_up):
    server = make_server(CHAINS["constant"])
    for requests in (1, 9):
        assert differences(server, LOADS[load], warm_up=warm_up, requests=requests) == []


@pytest.mark.parametrize("budget", [None, 12])
def test_more_than_there_is_room_for_gives_the_same(monkeypatch, budget):
    """Blocks of 4, buffers of a few: every way back out of the loop, again and again; a queue that grows."""
    monkeypatch.setattr(stream, "BLOCK", 4)
    monkeypatch.setattr(compiled, "BLOCK", 4)
    monkeypatch.setattr(compiled, "_BUFFER", 0)
    server = make_server(CHAINS["look-up"], token_budget=budget)
    for arrivals in (PoissonArrivals(rate_per_s=60.0), ClosedLoop(users=21)):
        assert differences(server, Workload(arrivals=arrivals, **USUAL), requests=120) == []


def test_long_answers_give_the_same():
    times = make_times(
        pass_s=lambda requests, tokens, context: 0.01 + 0.001 * requests * tokens + 1e-6 * context,
        contexts=(0, 10_000),
    )
    long = LogNormalTokens(mean=60.0, spread=4.0, most=5000)
    server = make_server(CHAINS["constant"], times=times)
    for arrivals in (ClosedLoop(users=3), PoissonArrivals(rate_per_s=0.4)):
        workload = Workload(arrivals=arrivals, prompt=FixedTokens(tokens=5), output=long)
        assert differences(server, workload) == []
    one = Workload(arrivals=ClosedLoop(users=3), prompt=long, output=FixedTokens(tokens=1))
    times = make_times(contexts=(0, 10_000), prompts=(1, 5000))
    assert differences(make_server(CHAINS["constant"], times=times), one) == []


@st.composite
def servers(draw):
    """Servers with tables of any size and times of any size; they may fall where they should rise."""

    def marks(first, most):
        found = draw(st.sets(st.integers(first + 1, most), max_size=3))
        return [first, *sorted(found)]

    requests, contexts = [*marks(1, 5), 6], [*marks(0, 99), 100]
    tokens = [*marks(1, 19), 20]
    if draw(st.booleans()):
        contexts = [0]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = (len(requests), len(tokens), len(contexts))
    times = ServingTimes(
        passes=PassTable(
            requests=requests, tokens=tokens, contexts=contexts, seconds=rng.uniform(0.1, 2, sizes)
        ),
        drafting_s=rng.uniform(0, 1, (6, sizes[0], sizes[2])),
        prompts=PromptTable(
            tokens=(1, 9, 50), target_s=rng.uniform(0, 3, 3), draft_s=rng.uniform(0, 1, 3)
        ),
        overhead_s=draw(st.sampled_from([0.0, 0.3])),
        draft_overlap=draw(st.sampled_from([0.0, 0.7, 1.0])),
    )
    name = draw(st.sampled_from([None, "constant", "look-up", "medusa"]))
    return Server(
        times=times,
        most_running=draw(st.integers(1, 6)),
        strategy=STRATEGIES.get(name),
        token_budget=draw(st.sampled_from([None, 1, 6, 20])),
    )


@given(
    server=servers(),
    arrivals=st.sampled_from([ClosedLoop(users=1), ClosedLoop(users=8)])
    | st.floats(0.01, 10.0).map(lambda rate: PoissonArrivals(rate_per_s=rate)),
    output=st.sampled_from([FixedTokens(tokens=1), EmpiricalTokens(values=(1, 2, 3, 50))]),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=40)
def test_any_server_gives_the_same(server, arrivals, output, seed):
    workload = Workload(arrivals=arrivals, prompt=GeometricTokens(mean=9.0, most=50), output=output)
    assert differences(server, workload, rng=seed, requests=20, warm_up=5) == []


@pytest.mark.parametrize(
    ("field", "expected"),
    [("beside", "counters.clock_s"), ("nodes", "counters.drafted"), ("gamma", "counters.accepted")],
)
def test_a_wrong_loop_is_noticed(monkeypatch, field, expected):
    right = compiled.times_of

    def wrong(server):
        times = right(server)
        value = getattr(times, field)
        return times._replace(
            **{field: value * (1 + 1e-6) if value.dtype.kind == "f" else np.maximum(value - 1, 0)}
        )

    monkeypatch.setattr(compiled, "times_of", wrong)
    assert expected in differences(make_server(CHAINS["constant"]), LOADS["closed"])


def test_times_are_rough_enough_to_tell():
    """Nothing in the times that most tests here use is the same for two batches, widths or contexts."""
    assert np.unique(np.asarray(ROUGH.passes.seconds)).size == np.size(ROUGH.passes.seconds)
