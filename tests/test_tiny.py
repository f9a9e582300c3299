"""The bundled pair: what the card says of it is so."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import pytest
import torch

from real_runs.heads.store import BUNDLED_HEADS, WEIGHTS, load_heads, read_heads_header
from real_runs.target import load_target
from real_runs.tiny import train
from real_runs.tiny.architecture import CONTEXT, FOLDER, NAMES, SEPARATOR, build_model, folder_of
from real_runs.tiny.corpus import (
    CorpusFile,
    is_held_out,
    is_same,
    read_file,
    read_manifest,
    scan,
    write_manifest,
)

CARD = (FOLDER / "README.md").read_text(encoding="utf-8")
LIMIT = 12_000_000  # bytes of all weights of the repository


def card_row(name):
    row = next(line for line in CARD.splitlines() if line.startswith(f"| {name}"))
    return [cell.strip() for cell in row.strip("|").split("|")[1:]]


def header(name):
    """Names, types and shapes of a safetensors file."""
    content = (folder_of(name) / "model.safetensors").read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8 : 8 + size])


def test_all_weights_of_the_repository_are_small_and_in_half_precision():
    files = [
        path
        for path in Path(__file__).parents[1].glob("*/**/*.safetensors")
        if ".venv" not in path.parts
    ]
    heads = set(BUNDLED_HEADS.values())
    assert {path.parent for path in files} == {folder_of(name) for name in NAMES} | heads
    assert sum(path.stat().st_size for path in files) < LIMIT
    for name in NAMES:
        tensors = {key: value for key, value in header(name).items() if key != "__metadata__"}
        assert {tensor["dtype"] for tensor in tensors.values()} == {"F16"}


@pytest.mark.parametrize("name", NAMES)
def test_the_card_gives_its_size(name):
    column = NAMES.index(name)
    parameters = sum(parameter.numel() for parameter in build_model(name).parameters())
    assert card_row("parameters")[column] == f"{parameters:,}"
    size = (folder_of(name) / "model.safetensors").stat().st_size / 1e6
    assert float(card_row("file")[column].removesuffix(" MB")) == pytest.approx(size, rel=0.02)


def test_the_target_is_the_better_model_on_held_out_files():
    files = [file for file in read_manifest() if file.held_out]
    known = [(file, read_file(file)) for file in files if exists(file)]
    contents = [content for _, content in known]
    losses = [train.held_out_loss(train.load(name), contents, every=16) for name in NAMES]
    assert losses[0] < losses[1] - 0.3
    if len(known) == len(files) and all(is_same(file, content) for file, content in known):
        printed = [float(cell) for cell in card_row("held-out loss")]
        # Every 16th window: the mean of 34 windows is within some hundredths of the mean of all.
        assert losses == pytest.approx(printed, abs=0.15)


def exists(file):
    try:
        read_file(file)
    except ValueError:
        return False
    return True


def test_no_held_out_file_was_trained_on():
    files = read_manifest()
    assert len({file.path for file in files}) == len(files)
    assert all(file.held_out == is_held_out(file.path) for file in files)
    trained = {file.sha256 for file in files if not file.held_out}
    twins = [file for file in files if file.held_out and file.sha256 in trained]
    assert [(file.path, file.size) for file in twins] == [("__phello__/spam.py", 97)]
    assert "One of 97 bytes has a twin" in CARD
    counts = [sum(file.held_out == side for file in files) for side in (False, True)]
    assert [int(number) for number in re.findall(r"(\d+) files", CARD)] == counts


def test_a_manifest_is_read_as_it_was_written(tmp_path):
    (tmp_path / "lib" / "test").mkdir(parents=True)
    for name in ("a.py", "test/b.py", "_sysconfigdata_x.py", "c.txt"):
        (tmp_path / "lib" / name).write_text("x = 1\n", encoding="utf-8")
    files = tuple(scan(tmp_path / "lib"))
    assert [file.path for file in files] == ["a.py"]
    write_manifest(iter(files), tmp_path / "corpus.csv")
    assert read_manifest(tmp_path / "corpus.csv") == files
    assert is_same(files[0], read_file(files[0], tmp_path / "lib"))
    assert not is_same(files[0], b"x = 2\n")


def test_a_file_that_this_python_lacks_is_named(tmp_path):
    file = CorpusFile(path="no/such.py", size=1, sha256="0" * 64, held_out=False)
    with pytest.raises(ValueError, match=r"no/such.py must exist"):
        read_file(file, tmp_path)


def test_other_sources_are_refused(monkeypatch):
    monkeypatch.setattr(train, "read_file", lambda _: b"other")
    with pytest.raises(ValueError, match=r"must be as in the manifest; .*--any-version"):
        train.read_corpus(held_out=True)
    assert set(train.read_corpus(held_out=True, any_version=True)) == {b"other"}


def test_training_learns_and_repeats_itself():
    tokens = train.as_tokens([b"abcdefgh" * 400])
    recipe = train.Recipe(steps=6, batch=1, warm_up=1)
    models = [train.train("draft", tokens, recipe) for _ in range(2)]
    weights = [model.state_dict() for model in models]
    assert all(torch.equal(weights[0][key], weights[1][key]) for key in weights[0])
    torch.manual_seed(recipe.seed)
    fresh = build_model("draft")
    text = [b"abcdefgh" * 200]
    assert train.held_out_loss(models[0], text) < train.held_out_loss(fresh, text) - 0.1


def test_a_token_is_a_byte():
    tokenizer = load_target("tiny").tokenizer
    text = "x = 'é'\n\t€"
    ids = list(tokenizer.encode(text))
    assert ids == [SEPARATOR, *text.encode()]
    assert tokenizer.decode(ids[1:]) == text
    assert tuple(tokenizer.stop_tokens) == (SEPARATOR,)
    assert load_target("tiny").context == CONTEXT


@pytest.mark.parametrize("name", BUNDLED_HEADS)
def test_the_card_says_how_good_the_bundled_heads_are(name):
    header = read_heads_header(name)
    row = card_row(name)
    accuracy = header.accuracy
    rates = [a / t for a, t in zip(accuracy.accepted, accuracy.tested, strict=True)]
    if header.kind == "medusa":
        rates = [ranks[0] for ranks in accuracy.by_rank]
    assert row[0] == f"{header.parameters:,}"
    size = (BUNDLED_HEADS[name] / WEIGHTS).stat().st_size / 1e6
    assert float(row[1].removesuffix(" MB")) == pytest.approx(size, rel=0.01)
    assert [float(rate) for rate in row[2].split()] == pytest.approx(rates[:4], abs=5.1e-4)
    load_heads(name, load_target("tiny"))
