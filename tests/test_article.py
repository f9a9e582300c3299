"""The article's numbers and claims."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from analysis import article, expected_tokens, speedup


def test_every_printed_number_is_reproduced():
    assert all(number.agrees for number in article.worked_example())


def test_a_wrong_number_would_be_noticed():
    number = article.WorkedNumber(name="speedup", printed=1.99, decimals=2, exact=1.9808)

    assert not number.agrees


@pytest.mark.parametrize("judge", article.CLAIMS, ids=lambda judge: judge.__name__)
def test_each_finding_has_a_verdict_and_numbers(judge):
    judgement = judge()

    assert judgement.verdict in {"holds", "holds if", "does not hold"}
    assert re.search(r"\d", judgement.finding)


def test_a_claim_that_is_open_is_said_to_be(monkeypatch):
    assert article.not_yet_judged() == ()
    waiting = replace(article.limits(), verdict="not yet judged")
    monkeypatch.setattr(article, "CLAIMS", (article.bad_draft, lambda: waiting))
    assert article.not_yet_judged() == (waiting,)


def test_claims_are_judged_once():
    claims = [judgement.claim for judgement in article.judgements()]

    assert len(claims) == len(set(claims)) == len(article.CLAIMS)


def test_bad_draft_finding_is_the_formula_at_its_break_even():
    finding = article.bad_draft().finding
    needed = float(re.search(r"needs p above ([\d.]+)", finding).group(1))

    assert speedup(needed, 4, 0.1) == pytest.approx(1.0, abs=1e-3)
    assert f"{speedup(0.0, 4, 0.1):.2f}" in finding


def test_nearly_free_finding_states_the_dearest_pass():
    finding = article.nearly_free().finding
    dearest = float(re.search(r"above V\(5\) = ([\d.]+) it loses", finding).group(1))

    assert speedup(0.7, 4, 0.1, verify_cost=dearest) == pytest.approx(1.0, abs=2e-3)
    assert dearest == pytest.approx(expected_tokens(0.7, 4) - 0.4, abs=5e-3)


def test_cost_follows_size_reads_the_published_rows():
    finding = article.cost_follows_size().finding

    assert "143× smaller, a step 50× cheaper" in finding
    assert "14× smaller, a step 9× cheaper" in finding


def test_no_quality_loss_is_exact_where_it_holds_and_measured_where_not():
    judgement = article.no_quality_loss()

    assert judgement.verdict == "holds if"
    assert "(total variation 0)" in judgement.finding
    misses = [float(number) for number in re.findall(r"by ([\d.]+\d)", judgement.finding)]
    assert len(misses) == 4
    assert min(misses) > 0.05


def test_agreeing_is_a_matter_of_chance():
    finding = article.agree_or_disagree().finding

    assert "0.80 for P" in finding  # .4 + .3 + .1
    assert "1 for P = Q" in finding
    assert "chance 0.46 only" in finding  # .36 + .09 + .01
