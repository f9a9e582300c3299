"""`specdec import` and `fit` on logs that print means alone, sums alone, or several readings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import specdec

from analysis import equivalent_p, expected_tokens

LOGS = Path(__file__).parent / "logs"
DECODE = (
    b"[2025-06-01 10:00:00] Decode batch. #running-req: 4, #token: 2211, token usage: 0.01, "
    b"accept len: 2.92, accept rate: 0.73, cuda graph: True, gen throughput (token/s): 812.21, "
    b"#queue-req: 0\n"
)
HEADS = b"TopK=0\n> Head 0 Accuracy=0.684\n> Head 1 Accuracy=0.326\n> Head 2 Accuracy=0.181\n"
GATED = (
    b"decoded 1200 tokens in    8.0 seconds, speed:   150.0 t/s\n"
    b"n_draft   = 16\nn_predict = 1200\nn_drafted = 922\nn_accept  = 899\naccept    = 97.505%\n"
)
"""llama.cpp's example with a limit of 16 tokens, which p_min ends after three on average."""


def imported(stdin, *arguments):
    result = specdec("import", "-", "--format", "json", *arguments, stdin=stdin)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def values(found, quantity):
    return [row["value"] for row in found["quantities"] if row["quantity"] == quantity]


def test_a_decode_line_gives_its_mean_and_the_p_that_would_explain_it():
    found = imported(DECODE, "--plain-tps", "400")

    p = equivalent_p(gamma=3, tokens_per_round=2.92)
    assert values(found, "equivalent p") == [pytest.approx(p, rel=1e-12)]
    assert values(found, "speedup by the clock") == [pytest.approx(812.21 / 400, rel=1e-9)]
    assert f"one p of {p:.3f} would explain at γ = 3; p itself is unknown" in found["headline"]
    assert not [row for row in found["quantities"] if row["quantity"].startswith("p")]
    assert all(row["value"] is not None for row in found["quantities"])


def test_a_decode_line_has_a_speedup_at_given_costs():
    found = imported(DECODE, "--cost-ratio", "0.1")

    assert values(found, "speedup") == [pytest.approx(2.92 / 1.3, rel=1e-12)]


def test_accuracies_of_heads_are_shown_and_no_p():
    found = imported(HEADS)

    assert values(found, "head accuracy at depth 2") == [0.326]
    assert "p is unknown" in found["headline"]
    assert {row["finding"] for row in found["findings"]} == {
        "acceptance_falls_with_depth",
        "not_enough_data",
    }


def test_fit_of_a_decode_line_is_that_of_its_mean():
    arguments = ("--predict-gamma", "3,8", "--method", "eagle", "--format", "json")
    result = specdec("fit", "-", *arguments, stdin=DECODE)

    found = json.loads(result.stdout)
    own, longer = found["prediction"]
    p = equivalent_p(gamma=3, tokens_per_round=2.92)
    assert own["tokens_per_round"] == pytest.approx(2.92)
    assert longer["tokens_per_round"] == pytest.approx(float(expected_tokens(p, 8)))
    assert longer["low"] < 0.95 * longer["tokens_per_round"]  # acceptance falls with depth
    assert any("published curves of eagle" in note for note in found["notes"])


def test_the_closed_form_is_left_out_where_drafts_end_early():
    """E(0.98, 16) would stand beside a mean of 4 tokens."""
    found = imported(GATED, "--gamma", "16", "--cost-ratio", "0.05")

    assert values(found, "tokens per round") == [pytest.approx(1 + 899 / 300)]
    assert not values(found, "equivalent p")
    assert any("drafts had several lengths" in note for note in found["notes"])


def test_a_fit_of_drafts_that_end_early_is_marked():
    gated = specdec("fit", "-", "--predict-gamma", "1:4", stdin=GATED)
    full = specdec("fit", "-", stdin=GATED.replace(b"= 16", b"= 3").replace(b"922", b"900"))

    assert "drafts had 3.07 tokens on average" in gated.stderr
    assert "these predictions promise too much" in gated.stderr
    assert "promise too much" not in full.stderr


def test_one_reading_of_several_can_be_chosen(tmp_path):
    path, profile = str(LOGS / "llamacpp_server.log"), tmp_path / "profile.json"
    layout = ("--layout", "acceptance per request")

    refused = specdec("import", path, "--profile", str(profile))
    assert "choose one with --engine and --layout." in refused.stderr
    assert specdec("import", path, *layout).returncode == 0
    wrong = specdec("import", path, "--layout", "nothing")
    assert wrong.returncode == 2
    assert "--layout 'statistics of draft-eagle3'; got --layout 'nothing'." in wrong.stderr


def test_what_holds_for_several_readings_is_said_once():
    result = specdec("import", str(LOGS / "llamacpp_statistics.log"), "--format", "json")

    notes = json.loads(result.stdout)["notes"]
    said = [note for note in notes if "never add the two" in note]
    assert said == [f"all 5 readings: {said[0].partition(': ')[2]}"]


@pytest.mark.parametrize("by", ["time", "category"])
def test_sums_alone_have_no_groups_and_say_so(by):
    found = imported(GATED, "--by", by)

    assert "groups" not in found
    assert any(note.startswith(f"--by {by}: this text has no requests") for note in found["notes"])


def test_every_test_log_is_read_and_nothing_unknown_becomes_a_row():
    for path in LOGS.glob("*.log"):
        result = specdec("import", str(path), "--plain-tps", "40", "--format", "json")
        rows = json.loads(result.stdout)["quantities"]
        assert rows
        for row in rows:
            known = row["value"] is not None or row["low"] is not None
            assert known or row["how_known"] == "not in the log", (path, row)
