"""`specdec train-heads` as a user calls it, on the small bundled draft as a target."""

from __future__ import annotations

import json

import pytest
from commands import specdec

from real_runs.heads.order import default_recipe
from real_runs.heads.store import read_heads_header
from real_runs.heads.train_heads import CHECKPOINT


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return tmp_path_factory.mktemp("text") / "shared"


@pytest.fixture
def arguments(text, tmp_path):
    return [
        *("--target", "tiny-draft", "--text", str(text), "--text-tokens", "240"),
        *("--new-tokens", "20", "--steps", "3", "--batch", "8", "--vocabulary", "40"),
        *("--threads", "1", "--out", str(tmp_path / "heads")),
    ]


@pytest.mark.parametrize("kind", ["medusa", "eagle"])
def test_heads_are_trained_judged_and_stored(kind, arguments, tmp_path):
    result = specdec("train-heads", kind, *arguments, "--format", "json")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    header = read_heads_header(tmp_path / "heads")
    assert (header.kind, header.target) == (kind, "tiny-draft")
    rows = document["accuracies"]
    assert [row["depth"] for row in rows] == list(range(1, 5 if kind == "medusa" else 9))
    assert [row["tested"] for row in rows] == list(header.accuracy.tested)
    expected = 1.0
    survival = 1.0
    for row in rows:
        survival *= row["accepted"] / row["tested"] if row["tested"] else 0.0
        expected += survival
        assert row["tokens per round"] == pytest.approx(expected)
        assert row["top 1"] <= row["top 3"] <= row["top 10"] <= 1.0
    assert [row["steps"] for row in document["loss"]] == [1, 2, 3]
    assert f"{header.parameters:,} parameters" in document["headline"]
    assert "training: 100.0%" in result.stderr  # progress where nobody watches
    assert str(tmp_path) not in (tmp_path / "heads" / "heads.json").read_text()

    again = specdec("train-heads", kind, *arguments)
    assert again.returncode == 2
    assert "must not hold heads yet" in again.stderr


def test_options_reach_the_recipe_and_the_sizes(arguments, tmp_path):
    result = specdec(
        *("train-heads", "medusa", *arguments, "--heads", "2", "--blocks", "1", "--shared-output"),
        *("--peak-rate", "0.01", "--seed", "7"),
    )
    assert result.returncode == 0, result.stderr
    header = read_heads_header(tmp_path / "heads")
    assert (header.medusa.heads, header.medusa.blocks, header.medusa.own_output) == (2, 1, False)
    assert header.parameters == 2 * (96 * 96 + 96)
    assert (header.recipe.seed, header.recipe.peak_rate, header.recipe.steps) == (7, 0.01, 3)
    assert header.medusa.vocabulary == 40


def test_an_interrupted_training_says_how_it_goes_on(arguments, monkeypatch):
    def interrupted(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("real_runs.heads.train_heads.train", interrupted)
    result = specdec("train-heads", "eagle", *arguments)
    assert result.returncode == 130
    assert "--resume continues" in result.stderr


def test_an_unfinished_training_needs_resume(arguments, tmp_path):
    (tmp_path / "heads").mkdir()
    (tmp_path / "heads" / CHECKPOINT).write_bytes(b"junk")
    result = specdec("train-heads", "eagle", *arguments)
    assert result.returncode == 2
    assert "--resume continues it" in result.stderr
    result = specdec("train-heads", "eagle", *arguments, "--resume")
    assert result.returncode == 2
    assert "must be a checkpoint" in result.stderr


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (("--target", "nowhere/to/be/found"), "there is no"),
        (("--text-tokens", "3"), "text_tokens must be"),
        (("--heads", "40"), r"heads must be a whole number in [1, 32]; got 40"),
        (("--peak-rate", "nan"), "peak_rate must be"),
        (("--device", "tpu"), "device must be one of"),
    ],
)
def test_bad_orders_are_one_sentence(arguments, changes, message):
    result = specdec("train-heads", "medusa", *arguments, *changes)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count("\n") <= 3


def test_recipes_leave_room_for_what_is_given():
    assert default_recipe("medusa", width=192).on_prompts
    assert default_recipe("eagle", width=576).batch == 12
