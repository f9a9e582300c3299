"""With one seed the requests are the same under every load and on every server, verdicts included."""

from __future__ import annotations

import numpy as np
import pytest
from serving_cases import CHAINS, STRATEGIES, make_server, make_times, serve

from simulator.serving import (
    EmpiricalTokens,
    PoissonArrivals,
    RecordedArrivals,
    Server,
    UniformTokens,
    Workload,
)

PROMPT, OUTPUT = UniformTokens(least=1, most=9), EmpiricalTokens(values=(1, 2, 17, 40))


def decoded_s(run):
    order = np.argsort(run.requests.arrival_s)
    return (run.requests.end_s - run.requests.first_token_s)[order]


@pytest.mark.parametrize("name", STRATEGIES)
def test_requests_are_the_same_under_every_load_and_on_every_server(name):
    """One at a time, decoding takes as long as the verdicts say: the same at any rate, to the last round."""
    alone = make_server(STRATEGIES[name], most_running=1, times=make_times())
    wide = make_server(STRATEGIES[name], most_running=4, times=make_times(), token_budget=9)
    runs = {}
    for side, server in (("alone", alone), ("plain", alone.plain()), ("wide", wide)):
        for rate in (0.01, 0.5):
            load = Workload(arrivals=PoissonArrivals(rate_per_s=rate), prompt=PROMPT, output=OUTPUT)
            runs[side, rate] = serve(
                server, load, rng=4, requests=40, warm_up=0, keep_requests=True
            )
    asked = {key: run.requests for key, run in runs.items()}
    come = {key: np.argsort(columns.arrival_s) for key, columns in asked.items()}
    first = asked["alone", 0.01]
    for (side, rate), columns in asked.items():
        order = come[side, rate]
        scaled = columns.arrival_s[order] * rate
        assert scaled == pytest.approx(first.arrival_s[come["alone", 0.01]] * 0.01)
        same = first.output_tokens[come["alone", 0.01]]
        assert columns.output_tokens[order].tolist() == same.tolist()
    slow, fast = (decoded_s(runs["alone", rate]) for rate in (0.01, 0.5))
    assert slow == pytest.approx(fast)
    assert decoded_s(runs["plain", 0.5]) != pytest.approx(fast)
    assert runs["alone", 0.5].waiting.mean_s > runs["alone", 0.01].waiting.mean_s


def test_recorded_requests_have_the_same_verdicts_at_every_speed():
    arrivals = RecordedArrivals(
        arrival_s=tuple(np.arange(60) * 3.0),
        prompt_tokens=(4,) * 60,
        output_tokens=tuple(range(2, 62)),
    )
    server = Server(times=make_times(), most_running=1, strategy=CHAINS["along the text"])
    runs = [
        serve(server, Workload(arrivals=part), rng=2, keep_requests=True)
        for part in (arrivals, arrivals.scaled(50.0))
    ]
    assert decoded_s(runs[0]) == pytest.approx(decoded_s(runs[1]))
    assert runs[0].counters.rounds == runs[1].counters.rounds
