"""Folders of heads: what is stored is what comes back, and what does not fit is refused."""

from __future__ import annotations

import hashlib
import json
import shutil
import struct

import numpy as np
import pytest
import torch
from safetensors.torch import save
from small_models import save_model

from real_runs.heads.accuracy import HeldOutRanks
from real_runs.heads.features import read_features
from real_runs.heads.judging import ranks_on
from real_runs.heads.order import HeadsOrder
from real_runs.heads.recipe import Recipe
from real_runs.heads.store import (
    BUNDLED_HEADS,
    HEADER,
    WEIGHTS,
    empty_heads,
    heads_folder,
    load_heads,
    read_heads_header,
)
from real_runs.heads.target_layers import output_rows_of
from real_runs.heads.train_heads import CHECKPOINT, train_heads
from real_runs.heads.training import train
from real_runs.runs.errors import RunFolderError
from real_runs.runs.sealing import seal
from real_runs.target import load_target

RECIPE = Recipe(steps=4, batch=8, peak_rate=1e-3, window=64)


def order(kind, **changes):
    sizes = {"text_tokens": 240, "new_tokens": 20, "vocabulary": 30} | changes
    return HeadsOrder(kind=kind, recipe=RECIPE, **sizes)


@pytest.fixture(scope="module")
def target():
    return load_target("tiny-draft")


@pytest.fixture(scope="module")
def trained(target, tmp_path_factory):
    """A folder of each kind; both learn from one text."""
    root = tmp_path_factory.mktemp("heads")
    for kind in ("medusa", "eagle"):
        train_heads(target, order(kind), root / kind, text=root / "text")
    return root


@pytest.fixture(params=["medusa", "eagle"])
def folder(request, trained, tmp_path):
    return shutil.copytree(trained / request.param, tmp_path / request.param)


def rewrite(folder, **changes):
    """A header with other members, sealed again."""
    document = json.loads((folder / HEADER).read_text())
    del document["sha256"]
    (folder / HEADER).write_text(seal(document | changes) + "\n")


def test_what_is_stored_comes_back_in_half_precision(folder, target):
    header = read_heads_header(folder)
    module = load_heads(folder, target)
    size = struct.unpack("<Q", (folder / WEIGHTS).read_bytes()[:8])[0]
    stored = json.loads((folder / WEIGHTS).read_bytes()[8 : 8 + size])
    stored.pop("__metadata__", None)
    assert {tensor["dtype"] for tensor in stored.values()} == {"F16"}
    assert header.parameters == sum(p.numel() for p in module.parameters())
    assert sorted(stored) == sorted(module.state_dict())
    assert not module.training
    assert not any(parameter.requires_grad for parameter in module.parameters())
    assert header.kind == folder.name
    assert (header.target, header.recipe) == ("tiny-draft", RECIPE)
    assert header.tokens == tuple(module.tokens.tolist())
    assert len(header.tokens) == 30
    assert header.curve.steps == (1, 2, 3, 4)
    assert not (folder / CHECKPOINT).exists()


def test_accuracies_are_those_of_the_stored_heads(folder, target, trained):
    header = read_heads_header(folder)
    held_out = read_features(trained / "text-held-out")
    ranks = ranks_on(load_heads(folder, target), held_out, vocabulary=target.vocabulary)
    assert isinstance(ranks, HeldOutRanks)
    assert len(ranks.ranks) == header.accuracy.positions
    np.testing.assert_allclose(header.accuracy.by_rank, ranks.accuracies(10), atol=1e-6)
    tested, accepted = ranks.chain()
    assert (header.accuracy.tested, header.accuracy.accepted) == (tuple(tested), tuple(accepted))
    assert header.text.held_out_texts == held_out.count


def test_heads_compute_in_the_precision_of_an_exact_target(trained):
    exact = load_target("tiny-draft", dtype="float64")
    for kind in ("medusa", "eagle"):
        module = load_heads(trained / kind, exact)
        assert {parameter.dtype for parameter in module.parameters()} == {torch.float64}


def test_heads_of_another_target_are_refused_by_name_and_hash(folder, small_target_folder):
    other = load_target(str(small_target_folder))
    with pytest.raises(
        ValueError,
        match=r"trained on, tiny-draft \(sha256 [0-9a-f]{12}…\); this one is small-target "
        r"\(sha256 [0-9a-f]{12}…\)\.$",
    ):
        load_heads(folder, other)


def test_a_renamed_target_is_the_same_one(folder, target, tmp_path):
    copy = shutil.copytree(target.source.folder, tmp_path / "renamed")
    load_heads(folder, load_target(str(copy)))


@pytest.mark.parametrize("damage", ["missing", "changed", "cut", "pickled"])
def test_damaged_weights_are_refused(folder, target, damage):
    path = folder / WEIGHTS
    content = bytearray(path.read_bytes())
    if damage == "missing":
        path.unlink()
    elif damage == "pickled":
        torch.save({"a": torch.ones(2)}, path)
    elif damage == "cut":
        path.write_bytes(content[:-10])
    else:
        content[-1] ^= 1
        path.write_bytes(content)
    with pytest.raises(RunFolderError, match=r"weights.safetensors: (must be there|was changed)"):
        load_heads(folder, target)


def test_weights_that_fit_the_hash_and_not_the_sizes_are_refused(folder, target):
    for junk, message in (
        (b"junk", "cannot be read"),
        (_tensors(torch.ones(2)), "must have shape"),
        (_like(folder, target, float("nan")), "must hold finite numbers"),
        (_like(folder, target, 1.0, torch.int16), "in half precision"),
        (_like(folder, target, 1.0, torch.bfloat16), "in half precision"),
    ):
        (folder / WEIGHTS).write_bytes(junk)
        rewrite(folder, weights_sha256=hashlib.sha256(junk).hexdigest())
        with pytest.raises(RunFolderError, match=message):
            load_heads(folder, target)


def _tensors(tensor):
    return save({"a": tensor})


def _like(folder, target, value, dtype=torch.float16):
    module = empty_heads(read_heads_header(folder).shape, target, np.arange(30))
    return save(
        {
            key: torch.full_like(tensor, value, dtype=dtype)
            for key, tensor in module.state_dict().items()
        }
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tokens": [3, 3, *range(5, 33)]}, "rising ids"),
        ({"tokens": [*range(29), 257]}, r"rising ids in \[0, 257\)"),
        ({"tokens": [1, 2]}, "tokens must be 30"),
        ({"medusa": None, "eagle": None}, "the one kind of heads whose sizes are given; got none"),
        ({"kind": "hydra"}, "kind must be one of medusa, eagle"),
        ({"schema_version": 99}, "newer version of specdec"),
        ({"schema_version": 0}, "schema_version must be at least 1; got 0"),
        ({"parameters": 5}, "for these sizes; got 5"),
        (
            {"curve": {"steps": [1, 2], "losses": [1.0]}},
            "must be as many, at least one; got 2 and 1",
        ),
    ],
)
def test_headers_that_contradict_themselves_are_refused(folder, target, changes, message):
    rewrite(folder, **changes)
    with pytest.raises(RunFolderError, match=message):
        load_heads(folder, target)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tested": [9]}, "one entry per depth, at least one; got [48], [48], 1, [48]"),
        (
            {"by_rank": [], "kept_by_rank": [], "tested": [], "accepted": []},
            "at least one; got 0, 0, 0, 0",
        ),
        ({"by_rank": [[0.7, 0.4]] * 4}, r"by_rank\[0\] must be shares that sum to at most 1"),
        ({"kept_by_rank": [[0.7, -0.4]] * 4}, "they go from -0.4 and sum to 0.3"),
        ({"tested": [9, 4, 4, 4], "accepted": [4, 5, 0, 0]}, r"accepted\[1\] must lie in \[0, 4\]"),
    ],
)
def test_accuracies_that_no_text_has_are_refused(trained, target, tmp_path, changes, message):
    folder = shutil.copytree(trained / "medusa", tmp_path / "medusa")
    accuracy = json.loads((folder / HEADER).read_text())["accuracy"]
    rewrite(folder, accuracy=accuracy | changes)
    with pytest.raises(RunFolderError, match=message):
        load_heads(folder, target)


def test_sizes_are_compared_before_memory_is_taken_or_a_file_is_read(folder, target):
    with (folder / WEIGHTS).open("r+b") as stream:
        stream.truncate(1 << 40)  # a hole, which would take long to hash
    with pytest.raises(RunFolderError, match=r"must have at most .* it has 1,099,511,627,776"):
        load_heads(folder, target)
    sizes = {"medusa": {"heads": 32, "blocks": 8}, "eagle": {"inner": 65_536}}[folder.name]
    shape = json.loads((folder / HEADER).read_text())[folder.name]
    rewrite(folder, **{folder.name: shape | sizes})
    with pytest.raises(RunFolderError, match=r"parameters must be .* for these sizes"):
        load_heads(folder, target)


def test_more_columns_than_the_target_has_tokens_are_refused(folder, target):
    shape = json.loads((folder / HEADER).read_text())[folder.name]
    rewrite(folder, tokens=None, **{folder.name: shape | {"vocabulary": 1 << 20}})
    with pytest.raises(RunFolderError, match="257 tokens; they have 96 and 1048576"):
        load_heads(folder, target)


def test_a_name_that_a_terminal_would_obey_is_shown_harmless(folder, target):
    rewrite(folder, target="a\x1b[31mb\n", target_sha256="0")
    with pytest.raises(ValueError, match="trained on") as refusal:
        load_heads(folder, target)
    assert str(refusal.value).isprintable()


def test_a_header_for_a_wider_target_is_refused(folder, target):
    document = json.loads((folder / HEADER).read_text())
    kind = document["kind"]
    rewrite(folder, **{kind: document[kind] | {"width": 192}})
    with pytest.raises(RunFolderError, match="must have the target's width 96"):
        load_heads(folder, target)


def test_a_folder_without_heads_says_what_could_be_there(tmp_path, target):
    with pytest.raises(
        RunFolderError, match=r"no folder of heads \(or tiny-medusa or tiny-eagle\)"
    ):
        load_heads(tmp_path, target)
    assert heads_folder("tiny-medusa") == BUNDLED_HEADS["tiny-medusa"]


def test_heads_do_not_go_into_a_file(target, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="must be a folder, where the heads go; it is a file"):
        train_heads(target, order("medusa"), tmp_path / "file")


def test_finished_and_unfinished_folders_are_not_begun_anew(folder, target, trained, tmp_path):
    with pytest.raises(ValueError, match="must not hold heads yet"):
        train_heads(target, order(folder.name), folder, text=trained / "text")

    class StopError(Exception):
        pass

    def stop(name, share):
        if name == "training" and share >= 0.5:
            raise StopError

    kind, new = folder.name, tmp_path / "new"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("real_runs.heads.train_heads.train", _often)
        with pytest.raises(StopError):
            train_heads(target, order(kind), new, text=trained / "text", progress=stop)
    with pytest.raises(ValueError, match=r"unfinished training.*--resume"):
        train_heads(target, order(kind), new, text=trained / "text")
    with pytest.raises(ValueError, match="must be of this recipe"):
        train_heads(target, order(kind, vocabulary=20), new, text=trained / "text", resume=True)
    header = train_heads(target, order(kind), new, text=trained / "text", resume=True)
    # Uninterrupted, from the same seed: the same weights, bit for bit.
    assert header.weights_sha256 == read_heads_header(folder).weights_sha256
    assert header.curve == read_heads_header(folder).curve


def _often(*arguments, **options):
    return train(*arguments, **(options | {"every_s": -1.0}))


def test_a_target_whose_output_layer_adds_a_bias_is_refused(tmp_path):
    other = load_target(str(save_model(tmp_path / "small")))
    other.model.lm_head = torch.nn.Linear(32, 257)
    with pytest.raises(ValueError, match="adds a bias"):
        output_rows_of(other.model, np.array([1]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "hydra"}, "kind must be medusa or eagle; got 'hydra'"),
        ({"vocabulary": 0}, "vocabulary must be"),
        ({"new_tokens": 2}, "new_tokens must be"),
        ({"text_tokens": 5}, "text_tokens must be a whole number of at least 20; got 5"),
    ],
)
def test_impossible_orders_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        order(**({"kind": "eagle"} | change))
