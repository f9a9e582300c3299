"""A run counts right: tokens are conserved, Little's law holds, and only the seed changes what it says."""

from __future__ import annotations

import math
import tracemalloc
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serving_cases import CHAINS, ROUGH, STRATEGIES, make_server, make_times, serve

from simulator import draft_model
from simulator.serving import (
    ClosedLoop,
    FixedTokens,
    LatencyObjective,
    PoissonArrivals,
    RecordedArrivals,
    Server,
    UniformTokens,
    Workload,
    records,
    stream,
    verdicts,
)

MIXED = UniformTokens(least=1, most=20)
ARRIVALS = {
    "closed": ClosedLoop(users=5),
    "Poisson": PoissonArrivals(rate_per_s=20.0),
    "recorded": RecordedArrivals(
        arrival_s=(0.0, 0.0, 0.0, 0.01, 0.011, 0.5, 2.0, 2.0),
        prompt_tokens=(3, 9, 1, 40, 2, 2, 7, 1),
        output_tokens=(5, 1, 30, 2, 12, 9, 1, 1),
    ),
}


def run_of(server, arrivals, *, requests=25, warm_up=3, **options):
    if isinstance(arrivals, RecordedArrivals):
        return serve(server, Workload(arrivals=arrivals), keep_requests=True, **options)
    load = Workload(arrivals=arrivals, prompt=MIXED, output=MIXED)
    return serve(server, load, requests=requests, warm_up=warm_up, keep_requests=True, **options)


def assert_counts_right(run, server):
    count, asked = run.counters, run.requests
    assert count.emitted == count.prompts + count.rounds + count.accepted - count.discarded
    assert count.emitted == count.answered + count.running_tokens
    assert count.in_system_s == pytest.approx(count.sojourn_s, rel=1e-9)
    assert 0 <= count.undrafted <= count.rounds
    assert count.accepted <= server.most_gamma * (count.rounds - count.undrafted)
    assert count.discarded <= count.accepted
    assert count.batch_rounds <= count.rounds <= server.most_running * count.batch_rounds
    assert count.finished <= count.prompts <= count.arrived
    assert count.finished >= run.measured == asked.end_s.size
    assert count.busy_s <= count.clock_s * (1 + 1e-12)
    assert count.decoding_s <= server.most_running * count.busy_s
    assert 0.0 <= count.window_from_s <= count.window_to_s <= count.clock_s
    assert 0 <= count.window_tokens <= count.emitted
    assert (asked.arrival_s <= asked.admitted_s).all()
    assert (asked.admitted_s <= asked.first_token_s).all()
    assert (asked.first_token_s <= asked.end_s).all()
    assert (np.diff(asked.end_s) >= 0.0).all()  # in the order in which they ended
    assert_latencies(run)


def assert_latencies(run):
    asked = run.requests
    several = asked.output_tokens > 1
    decoded_s = (asked.end_s - asked.first_token_s)[several]
    pairs = (
        (run.ttft, asked.first_token_s - asked.arrival_s),
        (run.e2e, asked.end_s - asked.arrival_s),
        (run.waiting, asked.admitted_s - asked.arrival_s),
        (run.tpot, decoded_s / (asked.output_tokens[several] - 1)),
    )
    for latency, seen in pairs:
        assert latency.count == seen.size
        if seen.size:
            assert latency.mean_s == pytest.approx(seen.mean(), rel=1e-9, abs=1e-12)
            assert latency.longest_s == seen.max()
    if run.itl.count:  # the gaps of a request are all of its time behind the first token
        assert run.itl.mean_s * run.itl.count == pytest.approx(decoded_s.sum(), rel=1e-9)
        assert several.sum() <= run.itl.count <= (asked.output_tokens - 1).sum()
    else:
        assert not several.any()


@pytest.mark.parametrize("budget", [None, 7])
@pytest.mark.parametrize("arrivals", ARRIVALS)
@pytest.mark.parametrize("name", [*STRATEGIES, "none"])
def test_tokens_and_times_are_conserved(name, arrivals, budget):
    server = make_server(STRATEGIES.get(name), token_budget=budget)
    run = run_of(server, ARRIVALS[arrivals])
    assert_counts_right(run, server)
    if arrivals == "recorded":
        asked = run.requests
        served_s = (asked.end_s - asked.arrival_s).sum()
        assert run.counters.sojourn_s == pytest.approx(served_s, rel=1e-9)
        assert run.counters.answered == sum(ARRIVALS["recorded"].output_tokens)
        assert run.counters.running_tokens == 0
        assert run.itl.count == run.counters.rounds


@settings(max_examples=80)
@given(
    users=st.integers(0, 9),
    rate=st.floats(0.5, 500.0),
    most_running=st.integers(1, 8),
    most=st.integers(1, 30),
    gamma=st.one_of(
        st.none(), st.integers(0, 4), st.lists(st.integers(0, 4), min_size=1, max_size=9)
    ),
    budget=st.one_of(st.none(), st.integers(1, 65)),
    requests=st.integers(1, 30),
    warm_up=st.integers(0, 10),
    seed=st.integers(0, 2**32),
)
def test_small_loads_of_any_kind_are_conserved(
    users, rate, most_running, most, gamma, budget, requests, warm_up, seed
):
    schedule = tuple(gamma) if isinstance(gamma, list) else gamma
    strategy = CHAINS["look-up"]
    server = make_server(strategy, most_running=most_running, gamma=schedule, token_budget=budget)
    arrivals = ClosedLoop(users=users) if users else PoissonArrivals(rate_per_s=rate)
    law = UniformTokens(least=1, most=most)
    load = Workload(arrivals=arrivals, prompt=law, output=law)
    run = serve(server, load, rng=seed, requests=requests, warm_up=warm_up, keep_requests=True)
    assert_counts_right(run, server)


def said(run):
    """All that a run says, as plain values."""
    columns = asdict(run.requests) if run.requests else {}
    return (
        asdict(run.counters),
        [asdict(getattr(run, name)) for name in ("ttft", "tpot", "itl", "e2e", "waiting")],
        run.met,
        {name: column.tolist() for name, column in columns.items()},
    )


def test_the_same_seed_gives_the_same_run_and_another_one_another():
    server = make_server(CHAINS["between requests"])
    for arrivals in ARRIVALS.values():
        first = said(run_of(server, arrivals, rng=5))
        assert first == said(run_of(server, arrivals, rng=np.random.default_rng(5)))
        assert first != said(run_of(server, arrivals, rng=6))


def test_fewer_requests_are_the_first_ones():
    server = make_server(CHAINS["along the text"], most_running=1)
    few, many = (
        run_of(server, ARRIVALS["Poisson"], requests=n, warm_up=0).requests for n in (10, 30)
    )
    assert many.end_s[:10].tolist() == few.end_s.tolist()


@pytest.mark.parametrize("name", ["between requests", "along the text", "look-up"])
@pytest.mark.parametrize(
    ("module", "constant", "value"),
    [(stream, "BLOCK", 64), (records, "_PORTION", 3), (verdicts, "_CELLS", 150)],
)
def test_how_many_are_drawn_or_handed_on_at_once_changes_nothing(
    name, module, constant, value, monkeypatch
):
    server = make_server(CHAINS[name])
    output = FixedTokens(
        tokens=17
    )  # of answers of many lengths the longest decides on the words drawn
    load = Workload(arrivals=PoissonArrivals(rate_per_s=20.0), prompt=MIXED, output=output)
    usual = said(serve(server, load, requests=300, warm_up=5, keep_requests=True))
    monkeypatch.setattr(module, constant, value)
    other = said(serve(server, load, requests=300, warm_up=5, keep_requests=True))
    for one, two in zip(leaves(usual), leaves(other), strict=True):
        assert one == pytest.approx(two, rel=1e-9, nan_ok=True)


def leaves(value):
    if isinstance(value, dict):
        value = [part for key in sorted(value) for part in [value[key]]]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


def test_memory_does_not_grow_with_the_requests(monkeypatch):
    monkeypatch.setattr(stream, "BLOCK", 64)
    monkeypatch.setattr(records, "_PORTION", 64)
    monkeypatch.setattr(verdicts, "_CELLS", 256)
    server = make_server(CHAINS["constant"])
    load = Workload(arrivals=ClosedLoop(users=6), prompt=MIXED, output=FixedTokens(tokens=3))

    def peak(requests, **options):
        tracemalloc.start()
        serve(server, load, requests=requests, warm_up=0, **options)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(200)  # what is loaded and kept once
    few, many, kept = peak(200), peak(2000), peak(2000, keep_requests=True)
    assert many - few < 20_000  # bytes: less than 12 for each request more
    assert kept - few > 5 * 8 * 1800  # negative control: five numbers of each


def test_throughput_of_a_steady_loop_is_exact():
    """Three users in step: a batch of answers takes three prompts of 1 s and nine passes of 2 s."""
    times = make_times(pass_s=lambda _requests, _tokens, _context: 2.0)
    server = Server(times=times, most_running=3)
    load = Workload(
        arrivals=ClosedLoop(users=3), prompt=FixedTokens(tokens=1), output=FixedTokens(tokens=10)
    )
    run = serve(server, load, requests=30, warm_up=9)
    assert run.window_s == 10 * 21.0
    assert (run.requests_per_s, run.tokens_per_s) == (3 / 21.0, 30 / 21.0)
    assert run.mean_batch == (1 * 1 + 2 * 1 + 9 * 2 * 3) / 21.0
    assert run.busy_share == 1.0
    assert run.goodput_per_s == run.requests_per_s


@pytest.mark.parametrize("arrivals", ["closed", "Poisson"])
def test_the_window_leaves_out_what_was_before_it(arrivals):
    """Up to where it ends, less up to where it begins: two runs of the same requests without a warm-up."""
    server = make_server(CHAINS["constant"])
    window, before, all_of_it = (
        run_of(server, ARRIVALS[arrivals], requests=requests, warm_up=warm_up).counters
        for requests, warm_up in ((40, 15), (15, 0), (55, 0))
    )
    assert 0.0 < before.window_to_s == window.window_from_s
    assert window.window_to_s == all_of_it.window_to_s
    for name in ("tokens", "finished", "busy_s", "decoding_s"):
        part, first, whole = (
            getattr(each, f"window_{name}") for each in (window, before, all_of_it)
        )
        assert 0 < first < whole
        assert part == pytest.approx(whole - first)
    run = run_of(server, ARRIVALS[arrivals], requests=40, warm_up=15)
    assert run.mean_batch == window.window_decoding_s / window.window_busy_s
    assert run.busy_share == window.window_busy_s / run.window_s


def test_an_objective_counts_who_kept_it():
    server = make_server(CHAINS["constant"])
    usual = run_of(server, ARRIVALS["Poisson"])
    asked = usual.requests
    ttft, e2e = asked.first_token_s - asked.arrival_s, asked.end_s - asked.arrival_s
    tpot = (asked.end_s - asked.first_token_s) / np.maximum(asked.output_tokens - 1, 1)
    limits = [float(np.median(times)) for times in (ttft, tpot, e2e)]
    objective = LatencyObjective(ttft_s=limits[0], tpot_s=limits[1], e2e_s=limits[2])
    run = run_of(server, ARRIVALS["Poisson"], objective=objective)
    good = (ttft <= limits[0]) & (tpot <= limits[1]) & (e2e <= limits[2])
    assert 0 < run.met == int(good.sum()) < run.measured == usual.met
    assert run.met_share == run.met / run.measured


def test_the_rush_of_the_start_is_gone_behind_a_warm_up():
    """Eight users who ask at once wait for each other's prompts; later they come one by one."""
    times = make_times(pass_s=lambda _requests, _tokens, _context: 0.1)
    server = Server(times=times, most_running=8)
    load = Workload(
        arrivals=ClosedLoop(users=8),
        prompt=FixedTokens(tokens=1),
        output=UniformTokens(least=300, most=900),
    )
    start = serve(server, load, requests=8, warm_up=0)
    later = serve(server, load, requests=100, warm_up=50)
    assert start.ttft.mean_s == pytest.approx(4.5)  # (1 + … + 8) / 8
    assert later.ttft.mean_s < 1.2


def test_answers_of_one_token_need_no_round():
    server = make_server(draft_model(p=0.5, gamma=2))
    load = Workload(arrivals=ARRIVALS["closed"], prompt=MIXED, output=FixedTokens(tokens=1))
    run = serve(server, load, requests=20, warm_up=10)
    assert (run.counters.rounds, run.counters.emitted, run.itl.count, run.tpot.count) == (
        0,
        30,
        0,
        0,
    )
    assert math.isnan(run.tokens_per_round)
    assert math.isnan(run.tpot.p95_s)
    assert run.tokens_per_s == pytest.approx(run.requests_per_s)


def test_drafts_that_no_batch_makes_cost_nothing():
    """A schedule that drafts from batches of two on, on a server that runs one."""
    alone = replace(make_server(draft_model(p=0.5, gamma=2), most_running=1), gamma=(0, 2))
    assert not alone.speculates
    load = Workload(arrivals=ARRIVALS["closed"], prompt=MIXED, output=MIXED)
    drafting, plain = (serve(side, load, requests=20) for side in (alone, alone.plain()))
    assert drafting.e2e == plain.e2e
    assert ROUGH.prompts.draft_share_s(9) > 0.0
