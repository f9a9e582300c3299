"""The article's claims about the variants: every number of a finding is computed again."""

from __future__ import annotations

import re

import pytest

from analysis import article, expected_tokens
from analysis.article_load import USUAL, pair
from analysis.article_systems import (
    different_bets,
    eagle_features,
    lookahead_ngrams,
    medusa_heads,
    one_cheap_pass,
)
from analysis.systems.rates import medusa_rates


def numbers(pattern, judgement):
    found = re.search(pattern, judgement.finding)
    assert found, judgement.finding
    return [float(number) for number in found.groups()]


def test_the_variants_are_judged():
    judged = {one.claim: one.verdict for one in article.judgements()}
    assert judged["Medusa"] == judged["EAGLE"] == judged["one cheap pass"] == "holds if"
    assert judged["Lookahead"] == "does not hold"
    assert judged["different bets"] == "holds"


def test_medusas_heads_are_counted_and_their_chain_is_weak():
    judgement = medusa_heads()
    chain, least, most, nodes, printed = numbers(
        r"chain of ([\d.]+) tokens.*: ([\d.]+) to ([\d.]+) with (\d+) nodes, printed ([\d.]+\d)",
        judgement,
    )
    kept, tokens = 1.0, 1.0
    for row in medusa_rates():
        kept *= row[0]
        tokens += kept
    assert chain == pytest.approx(tokens, abs=0.005)
    assert chain < least < printed < most
    assert (nodes, printed) == (63, 2.58)
    assert "(5 in the published weights)" in judgement.finding


def test_eagle_accepts_as_a_good_draft_does():
    judgement = eagle_features()
    small, heads, hydra, feature = numbers(
        r"draft model ([\d.]+), Medusa ([\d.]+), Hydra ([\d.]+), EAGLE ([\d.]+) tokens", judgement
    )
    assert small < heads < hydra < feature
    p, tokens = numbers(r"kept with p = ([\d.]+), as .* gives ([\d.]+):", judgement)
    assert tokens == pytest.approx(float(expected_tokens(p, 5)), abs=0.005)
    (chain,) = numbers(r"by depth, give ([\d.]+) on Vicuna 7B;", judgement)
    assert tokens > chain
    assert numbers(r"gave up the other and gets ([\d.]+), if", judgement)[0] > feature


def test_lookahead_is_not_prompt_lookup():
    judgement = lookahead_ngrams()
    alone, window, both = numbers(
        r"([\d.]+) tokens per round by looking up alone, ([\d.]+) by guessing, ([\d.]+) by both",
        judgement,
    )
    assert alone < window < both
    extra, gain, cost = numbers(
        r"takes (\d+) more tokens .* speedup, ([\d.]+)×, makes such a round ([\d.]+) plain",
        judgement,
    )
    assert extra == (15 + 15) * 4
    assert cost == pytest.approx(window / gain, abs=0.005)


def test_bets_differ_in_what_a_round_costs():
    found = re.findall(r"([\d.]+) \(([\d.]+)\)", different_bets().finding)
    assert len(found) == 6
    assert min(float(tokens) for tokens, _ in found) == 1.63
    assert all(1.0 < float(cost) < 1.4 for _, cost in found)


def test_the_cheap_pass_is_cheap_while_the_machine_is_idle():
    judgement = one_cheap_pass()
    widths = numbers(r"pass over (\d+), (\d+) and (\d+) tokens", judgement)
    alone = numbers(r"costs ([\d.]+), ([\d.]+) and ([\d.]+) plain steps", judgement)
    busy = numbers(r"batch 1 and ([\d.]+), ([\d.]+) and ([\d.]+) at 16", judgement)
    assert widths == [5, 64, 121]
    for shown, batch in ((alone, 1), (busy, 16)):
        passes = [pair().target.verify_cost(width, batch=batch, context=USUAL) for width in widths]
        assert shown == pytest.approx(passes, abs=0.005)
    heads, guessed = numbers(
        r"Medusa's printed ([\d.]+) tokens nor Lookahead's ([\d.]+) pay", judgement
    )
    assert alone[1] < heads < busy[1]
    assert alone[2] < guessed < busy[2]
