"""SGLang's counts per request under the names of its releases, and what contradicts itself."""

import json

import pytest

from real_runs.engines import MetricsFormatError, read_text
from simulator import AcceptanceTable, AcceptanceTotals

OLD = (
    '"completion_tokens":200,"spec_accept_rate":0.011702127659574468,"spec_accept_length":'
    '1.0638297872340425,"spec_verify_ct":188,"spec_accept_token_num":11,"spec_draft_token_num":940'
)
NEW = (  # SGLang pull request 33518
    '{"spec_accept_rate": 0.2930232558139535, "spec_accept_length": 2.4651162790697674, '
    '"spec_num_correct_drafts": 63, "spec_num_proposed_drafts": 215, "spec_verify_ct": 43, '
    '"spec_correct_drafts_histogram": [11, 14, 11, 4, 0, 3]}'
)


def test_bare_pairs_within_a_line_are_a_request():
    (reading,) = read_text(f"INFO req 7 done: {OLD}, more")

    assert reading.counts == AcceptanceTotals(
        drafted=940, accepted=11, rounds=188, longest_draft=5, length_rule="fixed"
    )
    assert (reading.gamma, reading.emitted, reading.unit) == (5, 199, "request")
    assert any("the token of the prefill" in note for note in reading.notes)


@pytest.mark.parametrize(
    "text", [NEW, f'{{"text": "x", "meta_info": {NEW}}}', f"[{NEW}]", f"log {NEW} end"]
)
def test_a_histogram_gives_the_table(text):
    (reading,) = read_text(text)

    assert reading.counts == AcceptanceTable(
        rounds=43, drafted=215, tested=(43, 32, 18, 7, 3), accepted=(32, 18, 7, 3, 3)
    )
    assert reading.gamma == 5
    table = reading.counts
    assert sum(table.accepted) / sum(table.tested) == pytest.approx(0.6117, abs=5e-5)
    assert reading.counts.tokens_per_round.value == pytest.approx(2.465, abs=5e-4)


def test_requests_are_summed_and_kept_apart():
    other = '"id": "b", "spec_num_correct_drafts": 1, "spec_num_proposed_drafts": 8, "spec_verify_ct": 2'
    (reading,) = read_text(f"{NEW}\n{{{other}}}\n")

    assert (reading.counts.rounds, reading.counts.drafted, reading.counts.accepted) == (45, 223, 64)
    assert [unit.name for unit in reading.units] == ["", "b"]
    assert sum(unit.counts.rounds for unit in reading.units) == 45
    assert reading.gamma is None
    assert reading.emitted is None  # neither says how many tokens it completed
    assert "2 requests are summed." in reading.notes

    (half,) = read_text(f"{{{OLD}}}\n{{{other}}}\n")
    assert half.emitted is None


def test_drafted_tokens_follow_from_a_rate_in_full():
    (reading,) = read_text(
        json.dumps(
            {"spec_verify_ct": 40, "spec_accept_token_num": 50, "spec_accept_rate": 50 / 120}
        )
    )

    assert reading.counts == AcceptanceTotals(
        drafted=120, accepted=50, rounds=40, longest_draft=3, length_rule="fixed"
    )


def test_passes_and_tokens_alone_are_a_ratio():
    first = '{"completion_tokens": 101, "spec_verify_ct": 40, "spec_accept_length": 2.525}'
    second = '{"completion_tokens": 51, "spec_verify_ct": 25}'
    (reading,) = read_text(f"{first}\n{second}\n")

    assert reading.counts is None
    assert [(r.quantity, r.value) for r in reading.printed] == [
        ("tokens_per_round", 150 / 65),
        ("emitted_per_round", 150 / 65),
    ]
    assert (reading.emitted, reading.used) == (150, 2)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("[11, 14", "[12, 14", "spec_correct_drafts_histogram holds 44 rounds, and spec_verify_ct is 43"),
        ('drafts": 63', 'drafts": 64', "spec_correct_drafts_histogram keeps 63 tokens, and 64 are accepted"),
        ("215", "20", r"accepted \(63\) is above drafted \(20\)"),
        ("0.2930232558139535", "0.39", "spec_accept_rate 0.39 contradicts the counts"),
        ('ct": 43', 'ct": -43', "spec_verify_ct is not a count"),
        ('ct": 43', 'ct": 0', "nothing was drafted"),
        ("[11, 14, 11, 4, 0, 3]", '"many"', "spec_correct_drafts_histogram is neither a list nor"),
        ("215", "172", "spec_accept_rate 0.293023 contradicts the counts"),
    ],
)  # fmt: skip
def test_contradictions_are_told(old, new, reason):
    assert old in NEW
    with pytest.raises(MetricsFormatError, match=reason):
        read_text(NEW.replace(old, new), engine="sglang")


def test_a_lone_number_of_passes_says_nothing():
    with pytest.raises(MetricsFormatError, match="without drafted tokens or completion_tokens"):
        read_text('{"spec_verify_ct": 40}', engine="sglang")


def test_drafts_that_change_length_are_no_table():
    # 43 x 4 tokens on average, and rounds that kept 5
    text = NEW.replace("215", "172").replace('"spec_accept_rate": 0.2930232558139535, ', "")
    (reading,) = read_text(text)

    assert reading.counts == AcceptanceTotals(
        drafted=172, accepted=63, rounds=43, accepted_by_depth=(32, 18, 7, 3, 3)
    )
    assert reading.gamma is None
