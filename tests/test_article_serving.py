"""The article's "latency, not throughput" under load: the finding's numbers again, and what they bear."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from analysis import article_serving
from analysis.article_load import SHORT, pair
from analysis.article_serving import (
    BUSY,
    CALM,
    GAMMA,
    HALF,
    chats,
    latency_under_load,
    loaded_pair,
    servers,
)
from analysis.deployment.load import under_load
from analysis.deployment.prefill import prefill_s
from simulator import Estimate
from simulator.serving import stable_limit


def numbers(pattern, text):
    found = re.search(pattern, text)
    assert found, text
    return [float(number) for number in found.groups()]


def test_the_finding_has_the_numbers_of_the_runs():
    found, said = loaded_pair(), latency_under_load().finding
    calm = numbers(r"At ([\d.]+) requests/s, 5% .* they end ([\d.]+)× as fast", said)
    half = numbers(r"at ([\d.]+), 60%, ([\d.]+)×", said)
    for share, point, (rate, gain) in ((CALM, found.calm, calm), (HALF, found.half, half)):
        assert rate == pytest.approx(share * found.plain_limit.value, rel=0.01)
        assert gain == pytest.approx(point.gain_e2e.value, abs=0.005)
    (rate,) = numbers(r"at ([\d.]+), 90%, never with speculation: the queue grows", said)
    assert rate == pytest.approx(BUSY * found.plain_limit.value, rel=0.01)
    (first,) = numbers(r"first token comes later \(([\d.]+)× as fast at the lowest load\)", said)
    assert first == pytest.approx(found.calm.gain_ttft.value, abs=0.005)
    assert found.half.gain_ttft.interval[1] < 1.0
    assert found.busy.speculative is None
    assert found.busy.plain is not None
    (ratio,) = numbers(r"without: ([\d.]+) of the throughput", said)
    assert ratio == pytest.approx(found.limit.value / found.plain_limit.value, abs=0.005)


def test_a_calm_server_gains_what_a_request_alone_does():
    point = loaded_pair().calm.gain_e2e
    alone = under_load(
        pair(), GAMMA, concurrency=2, context=SHORT + 100, prompt_tokens=SHORT, output_tokens=200
    )
    assert point.value == pytest.approx(alone.throughput_ratio.value, rel=0.06)
    assert point.interval[0] > 1.0
    assert loaded_pair().half.gain_e2e.value < point.value


def test_the_limits_are_those_of_a_full_batch():
    """Mean lengths in the usual formula: near, for answers end at different times."""
    found, alone = loaded_pair(), servers(token_budget=None)
    full = under_load(
        pair(), GAMMA, concurrency=256, context=SHORT + 100, prompt_tokens=SHORT, output_tokens=200
    )
    for side, served, beside in (
        (alone.plain, full.plain, found.plain_limit),
        (alone.speculative, full.speculative, found.limit),
    ):
        limit = stable_limit(side, chats(), rng=0, requests=8 * 256, replications=2)
        assert served.tokens_per_s.value / 200 == pytest.approx(limit.value, rel=0.03)
        assert beside.value > 1.05 * limit.value  # weights that are read anyway read prompts too
    assert prefill_s(pair().target, SHORT) * found.plain_limit.value < 1.0
    assert found.limit_ratio < 1.0


def test_what_arrives_is_answered_on_both_sides():
    for point in (loaded_pair().calm, loaded_pair().half):
        low, high = point.throughput_ratio.interval
        assert low < 1.0 < high or point.throughput_ratio.value == pytest.approx(1.0, abs=0.02)


def test_the_verdict_follows_the_numbers(monkeypatch):
    found = loaded_pair()
    assert latency_under_load().verdict == "holds if"
    for change in (
        {"limit": Estimate(value=2.0 * found.plain_limit.value)},
        {"calm": replace(found.calm, gain_e2e=Estimate(value=0.9))},
    ):
        monkeypatch.setattr(article_serving, "loaded_pair", lambda c=change: replace(found, **c))
        assert latency_under_load().verdict == "does not hold"


def test_chats_are_short():
    assert (chats().most_prompt, chats().most_output) == (SHORT, 300)
