"""`specdec convert` as a user calls it: three forms, all names with their sources."""

from __future__ import annotations

import csv
import io
import json

import pytest
from commands import specdec

RATE = ["convert", "--quantity", "acceptance rate", "--engine", "vllm", "--engine-version", "0.9"]


def document(*arguments):
    result = specdec(*arguments, "--format", "json")
    assert result.returncode in {0, 1}, result.stderr
    return result.returncode, json.loads(result.stdout)


def test_convert_says_what_follows_and_what_does_not():
    code, found = document(*RATE, "--gamma", "4", "0.645")

    assert code == 0
    rows = {row["quantity"]: row for row in found["quantities"]}
    assert rows["tokens_per_round"]["value"] == pytest.approx(3.58)
    assert rows["tokens_per_round"]["low"] == pytest.approx(3.578)
    assert rows["tokens_per_round"]["assuming"] == "chain, full_drafts"
    assert rows["survival"]["follows"] == "not"
    assert any("not p" in note for note in found["notes"])
    assert {row["engine"] for row in found["words"]} >= {"vllm", "sglang", "tensorrt-llm"}


def test_convert_takes_lists_and_prints_tables_and_csv():
    arguments = ["convert", "-q", "survival", "0.805,0.632,0.483", "--known", "full_drafts, chain"]

    table = specdec(*arguments)
    rows = list(csv.DictReader(io.StringIO(specdec(*arguments, "--format", "csv").stdout)))

    assert table.returncode == 0
    assert "2.9200" in table.stdout
    assert "synthetic_acceptance_rates" in table.stdout
    exact = [row["quantity"] for row in rows if row["follows"] == "exactly"]
    assert exact.count("conditional_acceptance") == 3
    assert "accepted_fraction" in exact


def test_convert_to_one_engine_gives_all_of_its_words():
    _, found = document(
        "convert",
        "-q",
        "accept len",
        "--engine",
        "sglang",
        "2.17",
        "--window",
        "4",
        "--to",
        "sglang",
    )

    words = {(row["word"], row["versions"]): row["value"] for row in found["words"]}
    assert words["accept rate", "up to 0.5.10"] == "0.5425"
    assert words["accept rate", "from 0.5.11"] == "0.39"


def test_convert_exact_digits_have_no_range():
    _, found = document("convert", "-q", "p", "0.8", "--gamma", "5", "--exact")
    row = next(row for row in found["quantities"] if row["quantity"] == "tokens_per_round")

    assert row["low"] == row["value"] == row["high"] == pytest.approx(3.68928)


def test_convert_lists_its_names_with_their_sources():
    _, everything = document("convert", "--list")
    _, one = document("convert", "--list", "--engine", "sglang")

    assert len(everything["names"]) > len(one["names"]) > 3
    assert all(row["source"] for row in everything["names"])
    assert {row["engine"] for row in one["names"]} == {"sglang"}
    assert specdec("convert", "--list").returncode == 0


def test_the_first_entry_of_a_histogram_is_of_rounds_that_kept_nothing():
    _, found = document("convert", "-q", "histogram", "10,5,3")
    rows = [row for row in found["quantities"] if row["quantity"] == "histogram"]
    assert [(row["depth"], row["value"], row["how"]) for row in rows] == [
        (0, 10, "rounds with 0 accepted"),
        (1, 5, "rounds with 1 accepted"),
        (2, 3, "rounds with 2 accepted"),
    ]


def test_one_meaning_is_named_once_among_the_choices():
    result = specdec("convert", "-q", "acceptance rate", "--engine", "vllm", "0.6")
    assert result.returncode in {2, 3}
    assert (
        "accepted_fraction (vllm from 0.8); v0_accepted_fraction (vllm up to 0.8)" in result.stderr
    )


def test_where_every_version_means_the_same_none_is_asked_for():
    code, found = document(
        "convert", "-q", "draft_acceptance_rate", "--engine", "tensorrt-llm", "0.6"
    )
    assert code == 0
    assert found["quantities"][0]["quantity"] == "accepted_fraction"
    for version in ("0.9", "0.20"):
        _, found = document(*RATE[:-1], version, "60%")
        assert found["quantities"][0]["quantity"] == "accepted_fraction"
