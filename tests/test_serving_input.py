"""What the serving simulation refuses, each in one sentence: the parameter, what is allowed, what came."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from serving_cases import CHAINS, TREES, make_server, make_times, serve

from simulator import ConfidenceThreshold, ConfidentAcceptance, draft_model
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
    ServingEstimates,
    ServingTimes,
    UniformTokens,
    Workload,
    compare_rates,
    mean_of,
    ratio_of,
    replicate,
    simulate_serving,
    stable_limit,
)

TIMES = make_times()
SHORT = FixedTokens(tokens=3)
LOAD = Workload(arrivals=ClosedLoop(users=2), prompt=SHORT, output=SHORT)
TRACE = RecordedArrivals(arrival_s=(0.0, 1.0), prompt_tokens=(3, 4), output_tokens=(5, 6))
CONFIDENT = ConfidentAcceptance(levels=(0.3, 0.9), weights=(0.5, 0.5), accepted=(0.3, 0.9))


def table(**changed):
    parts = {"requests": (1, 2), "tokens": (1,), "contexts": (0,), "seconds": [[[1.0]], [[2.0]]]}
    return PassTable(**{**parts, **changed})


def prompts(**changed):
    return PromptTable(
        **{"tokens": (1, 9), "target_s": (1.0, 2.0), "draft_s": (0.0, 0.0), **changed}
    )


def times(**changed):
    parts = {"passes": table(), "drafting_s": [[[0.0], [0.0]]], "prompts": prompts()}
    return ServingTimes(**{**parts, **changed})


def record(**changed):
    parts = {"arrival_s": (0.0, 1.0), "prompt_tokens": (3, 4), "output_tokens": (5, 6)}
    return RecordedArrivals(**{**parts, **changed})


def drafting(name="constant", **options):
    return make_server(CHAINS.get(name) or TREES[name], **options)


def run(server=None, load=LOAD, **options):
    return serve(server or make_server(times=TIMES), load, **{"requests": 3, **options})


REFUSED = {
    "fixed": (lambda: FixedTokens(tokens=0), "tokens"),
    "fixed fraction": (lambda: FixedTokens(tokens=2.5), "tokens"),
    "fixed huge": (lambda: FixedTokens(tokens=10**6 + 1), "tokens"),
    "uniform least": (lambda: UniformTokens(least=0, most=3), "least"),
    "uniform crossed": (lambda: UniformTokens(least=4, most=3), "most"),
    "geometric mean": (lambda: GeometricTokens(mean=0.9), "mean"),
    "geometric nan": (lambda: GeometricTokens(mean=math.nan), "mean"),
    "geometric huge": (lambda: GeometricTokens(mean=1e300), "mean"),
    "geometric most": (lambda: GeometricTokens(mean=9.5, most=9), "most"),
    "lognormal spread": (lambda: LogNormalTokens(mean=9.0, spread=-0.1), "spread"),
    "lognormal wild": (lambda: LogNormalTokens(mean=9.0, spread=1e200), "spread"),
    "lognormal mean": (lambda: LogNormalTokens(mean=0.0, spread=1.0), "mean"),
    "no values": (lambda: EmpiricalTokens(values=()), "values"),
    "a value of 0": (lambda: EmpiricalTokens(values=(3, 0)), "values[1]"),
    "users": (lambda: ClosedLoop(users=0), "users"),
    "true users": (lambda: ClosedLoop(users=True), "users"),
    "rate 0": (lambda: PoissonArrivals(rate_per_s=0.0), "rate_per_s"),
    "rate nan": (lambda: PoissonArrivals(rate_per_s=math.nan), "rate_per_s"),
    "rate word": (lambda: PoissonArrivals(rate_per_s="1"), "rate_per_s"),
    "no record": (lambda: record(arrival_s=(), prompt_tokens=(), output_tokens=()), "arrival_s"),
    "columns differ": (lambda: record(output_tokens=(5,)), "arrival_s"),
    "time falls": (lambda: record(arrival_s=(1.0, 0.5)), "arrival_s"),
    "time negative": (lambda: record(arrival_s=(-1.0, 0.5)), "arrival_s[0]"),
    "time nan": (lambda: record(arrival_s=(0.0, math.nan)), "arrival_s[1]"),
    "prompt 0": (lambda: record(prompt_tokens=(3, 0)), "prompt_tokens[1]"),
    "prompt fraction": (lambda: record(prompt_tokens=(1.5, 3)), "prompt_tokens[0]"),
    "prompt rows": (lambda: record(prompt_tokens=((1, 2), (3, 4))), "prompt_tokens[0]"),
    "prompt ragged": (lambda: record(prompt_tokens=((1, 2), 3)), "prompt_tokens"),
    "output huge": (lambda: record(output_tokens=(10**30, 3)), "output_tokens[0]"),
    "scaled by 0": (lambda: TRACE.scaled(0.0), "factor"),
    "scaled too far": (lambda: TRACE.scaled(1e-320), "arrival_s[1]"),
    "arrivals": (lambda: Workload(arrivals=3.0, prompt=SHORT, output=SHORT), "arrivals"),
    "no prompt": (lambda: Workload(arrivals=ClosedLoop(users=1), output=SHORT), "prompt"),
    "prompt twice": (lambda: Workload(arrivals=TRACE, prompt=SHORT), "prompt"),
    "output twice": (lambda: Workload(arrivals=TRACE, output=SHORT), "output"),
    "no marks": (lambda: table(requests=(), seconds=[]), "requests"),
    "marks begin at 2": (lambda: table(tokens=(2,)), "tokens"),
    "marks fall": (lambda: table(requests=(1, 1)), "requests"),
    "marks none": (lambda: table(contexts=None), "contexts"),
    "marks words": (lambda: table(requests=("1", "2")), "requests"),
    "pass of 0 s": (lambda: table(seconds=[[[0.0]], [[1.0]]]), "seconds"),
    "pass nan": (lambda: table(seconds=[[[math.nan]], [[1.0]]]), "seconds"),
    "pass shape": (lambda: table(seconds=[[1.0], [2.0]]), "seconds"),
    "pass ragged": (lambda: table(seconds=[[[1.0], [2.0]], [[3.0]]]), "seconds"),
    "batch beyond": (lambda: table().batch(3), "requests"),
    "prompt time": (lambda: prompts(target_s=(1.0, -1.0)), "target_s"),
    "prompt shape": (lambda: prompts(draft_s=(1.0,)), "draft_s"),
    "prompt marks": (lambda: prompts(tokens=(0, 9)), "tokens"),
    "drafting shape": (lambda: times(drafting_s=[[0.0, 0.0]]), "drafting_s"),
    "drafting number": (lambda: times(drafting_s=0.0), "drafting_s"),
    "drafting none": (lambda: times(drafting_s=[]), "drafting_s"),
    "drafting ragged": (lambda: times(drafting_s=[[[0.0]], [[0.0], [0.0]]]), "drafting_s"),
    "drafting negative": (lambda: times(drafting_s=[[[0.0], [-1.0]]]), "drafting_s"),
    "overhead": (lambda: times(overhead_s=-1.0), "overhead_s"),
    "overlap": (lambda: times(draft_overlap=1.5), "draft_overlap"),
    "most running 0": (lambda: make_server(most_running=0), "most_running"),
    "most running 9": (lambda: make_server(most_running=9), "most_running"),
    "budget 0": (lambda: make_server(token_budget=0), "token_budget"),
    "gamma alone": (lambda: make_server(gamma=2), "gamma"),
    "gamma beyond": (lambda: drafting(gamma=5), "gamma"),
    "gamma negative": (lambda: drafting(gamma=(4, -1)), "gamma"),
    "gamma empty": (lambda: drafting(gamma=()), "gamma"),
    "gamma word": (lambda: drafting(gamma="4"), "gamma"),
    "gamma of a tree": (lambda: drafting("medusa", gamma=1), "gamma"),
    "gamma unknown": (lambda: drafting(times=make_times(most_gamma=3)), "gamma"),
    "pass too wide": (lambda: drafting(times=make_times(tokens=(1, 4))), "passes"),
    "early end": (
        lambda: make_server(
            draft_model(acceptance=CONFIDENT, gamma=3, stop=ConfidenceThreshold(threshold=0.5))
        ),
        "strategy",
    ),
    "plain too wide": (lambda: drafting().plain(most_running=99), "most_running"),
    "objective": (lambda: LatencyObjective(ttft_s=-1.0), "ttft_s"),
    "requests none": (lambda: run(requests=None), "requests"),
    "requests 0": (lambda: run(requests=0), "requests"),
    "requests fraction": (lambda: run(requests=1.5), "requests"),
    "warm-up": (lambda: run(warm_up=-1), "warm_up"),
    "rng": (lambda: run(rng=None), "rng"),
    "loop": (lambda: run(loop="fortran"), "loop"),
    "recorded and counted": (lambda: run(load=Workload(arrivals=TRACE)), "requests"),
    "too many kept": (lambda: run(requests=2 * 10**6, keep_requests=True), "requests"),
    "prompts beyond": (
        lambda: run(
            load=Workload(arrivals=LOAD.arrivals, prompt=FixedTokens(tokens=66), output=SHORT)
        ),
        "prompts",
    ),
    "contexts beyond": (
        lambda: run(
            make_server(),
            Workload(arrivals=LOAD.arrivals, prompt=SHORT, output=FixedTokens(tokens=400)),
        ),
        "contexts",
    ),
    "budget beyond": (lambda: run(make_server(token_budget=66)), "token_budget"),
    "record of rounds": (lambda: run(drafting("recorded rounds", gamma=2)), "a trace of rounds"),
    "no replication": (
        lambda: replicate(make_server(), LOAD, replications=0, rng=0, requests=3),
        "replications",
    ),
    "no run": (lambda: ServingEstimates.of([]), "runs"),
    "no value": (lambda: mean_of([]), "values"),
    "no ratio": (lambda: ratio_of([], []), "values"),
    "no rate": (
        lambda: compare_rates(make_server(), make_server(), LOAD, (), rng=0),
        "rates_per_s",
    ),
    "bad rate": (
        lambda: compare_rates(make_server(), make_server(), LOAD, (0.0,), rng=0),
        "rate_per_s",
    ),
    "limit of none": (lambda: stable_limit(make_server(), LOAD, rng=0, requests=0), "requests"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_one_sentence_says_what_is_wrong(name):
    make, parameter = REFUSED[name]
    with pytest.raises(ValueError, match=re.escape(parameter)) as error:
        make()
    sentence = str(error.value)
    assert sentence.startswith(parameter)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(sentence) < 250
    assert re.search(r" must (be|have|not|hold|rise|draft|reach|know) ?", sentence)
    assert re.search(r"; (they|the load) |; got |got ", sentence), sentence


def test_what_is_right_is_taken():
    """Every part that the refused ones change one thing of."""
    for part in (table(), prompts(), times(), record(), TRACE.scaled(2.0), drafting(gamma=(4, 0))):
        assert part is not None
    assert run().measured == 3
    numbers = np.array([3, 4], dtype=np.uint8)
    assert record(prompt_tokens=tuple(numbers)) is not None
    assert simulate_serving(make_server(), Workload(arrivals=TRACE), rng=0).measured == 2
