"""The article's claims about servers: every number of a finding is computed again, and bears the verdict."""

from __future__ import annotations

import re

import pytest

from analysis import article
from analysis.article_load import (
    FULL,
    LONG,
    SHORT,
    USUAL,
    busy_servers,
    latency_not_throughput,
    pair,
    self_drafting,
)
from analysis.deployment.grid import batches_up_to, speedups
from analysis.deployment.load import under_load


def numbers(pattern, text):
    found = re.search(pattern, text)
    assert found, text
    return [float(number) for number in found.groups()]


def net(deployment, batch, context):
    """Tokens per round / cost of a round, from the passes themselves."""
    target, step = deployment.target, deployment.drafting.step
    plain = target.seconds(batch, 1, context)
    taken = target.seconds(batch, 5, context) + 4 * step.seconds(batch, 1, context)
    return (1 - 0.7**5) / 0.3 * plain / taken


def test_both_gain_alike_at_one_batch():
    finding = latency_not_throughput().finding
    both = numbers(r"both gain alike: ([\d.]+)× and ([\d.]+)× at batch 8", finding)
    assert both == pytest.approx([net(pair(), 8, USUAL)] * 2, abs=0.005)
    assert both[0] > 1.2


def test_a_full_server_trades_throughput_for_latency():
    finding = latency_not_throughput().finding
    held = pair().memory
    beside, alone = (
        (0.9 * held.capacity_bytes - weights) // (each * USUAL)
        for weights, each in (
            (held.target_bytes + held.draft_bytes, held.target_kv_bytes + held.draft_kv_bytes),
            (held.target_bytes, held.target_kv_bytes),
        )
    )
    assert numbers(r"(\d+) requests run beside the draft instead of (\d+)", finding) == [
        beside,
        alone,
    ]
    assert max(beside, alone) < FULL
    latency, throughput = numbers(
        r"each decodes ([\d.]+)× as fast, the server gives ([\d.]+) of its tokens per second",
        finding,
    )
    slower = pair().target.seconds(alone, 1, USUAL) / pair().target.seconds(beside, 1, USUAL)
    assert latency == pytest.approx(net(pair(), beside, USUAL) * slower, abs=0.005)
    assert throughput == pytest.approx(latency * beside / alone, abs=0.01)
    assert throughput < 1.0 < latency  # what the verdict says of a full server
    most, gamma = numbers(r"\(([\d.]+) at γ = (\d+), its best\)", finding)
    ratios = [
        under_load(pair(), g, concurrency=FULL, context=USUAL).throughput_ratio.value
        for g in (1, 2, 3, 4, 8)
    ]
    assert most == pytest.approx(max(ratios), abs=0.005)
    assert [1, 2, 3, 4, 8][ratios.index(max(ratios))] == gamma
    assert most < 1.1  # "unchanged or slightly worse"
    (long,) = numbers(r"the full server gives ([\d.]+) times as many", finding)
    assert long > 1.0  # and what it says of long contexts
    assert latency_not_throughput().verdict == "holds if"


def test_the_gain_is_gone_at_the_stated_batch():
    finding = busy_servers().finding
    one, many, turn = numbers(
        r"from ([\d.]+)× at batch 1 to ([\d.]+)× at 64 and is gone from batch (\d+) on", finding
    )
    assert [one, many] == pytest.approx([net(pair(), b, SHORT) for b in (1, 64)], abs=0.005)
    assert net(pair(), turn, SHORT) <= 1.0 < net(pair(), turn - 1, SHORT)
    later = speedups(pair(), [4], batches_up_to(int(pair().most_requests(SHORT))), SHORT)[:, 0]
    assert (later[-8:] < 1.0).all()  # gone for good


def test_at_long_context_a_busy_server_gains_more():
    finding = busy_servers().finding
    alone, crowd, most = numbers(
        r"from ([\d.]+)× at batch 1 to ([\d.]+)× at (\d+), all that fit", finding
    )
    assert [alone, crowd] == pytest.approx(
        [net(self_drafting(), batch, LONG) for batch in (1, most)], abs=0.005
    )
    assert alone < 1.0 < crowd
    with pytest.raises(ValueError, match="batch must be at most"):
        self_drafting().parts(4, most + 1, LONG)


def test_both_claims_are_judged_and_wait_no_more():
    judged = {one.claim: one.verdict for one in article.judgements()}
    assert judged["latency, not throughput"] == judged["busy servers"] == "holds if"
    waiting = {one.claim for one in article.not_yet_judged()}
    assert not waiting & {"latency, not throughput", "busy servers"}
