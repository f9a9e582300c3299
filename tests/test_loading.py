"""Loading: what is refused, in one sentence each, and what a model is known by afterwards."""

from __future__ import annotations

import hashlib
import json
import shutil
import socket
from dataclasses import asdict

import huggingface_hub
import numpy as np
import pytest
import torch
from huggingface_hub.errors import (
    GatedRepoError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
)
from safetensors.torch import load_file, save_file
from small_models import save_model

from real_runs import target
from real_runs.models import hub
from real_runs.models.sources import find_source
from real_runs.target import load_target


@pytest.fixture
def folder(small_target_folder, tmp_path):
    """A copy to damage."""
    return shutil.copytree(small_target_folder, tmp_path / "copy")


@pytest.fixture
def no_network(monkeypatch):
    def connect(*_):
        raise AssertionError("a local model went to the network")

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket, "getaddrinfo", connect)


def refusal(name):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 — the message is what is tested
        load_target(str(name))
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    return message


@pytest.mark.usefixtures("no_network")
def test_a_folder_is_loaded_without_network(folder):
    model = load_target(str(folder))
    text = "x = 1\n"
    tokens = model.tokenizer.encode(text)
    assert tokens.tolist() == [256, *text.encode()]
    assert model.tokenizer.decode(tokens) == text
    assert model.tokenizer.stop_tokens == (256,)
    assert model.start(tokens).shape == (257,)


def test_a_model_is_known_by_its_weights(folder):
    identity = load_target(str(folder)).identity
    weights = (folder / "model.safetensors").read_bytes()
    assert identity.sha256 == hashlib.sha256(weights).hexdigest()
    assert (identity.name, identity.kind, identity.revision) == ("copy", "folder", None)
    assert (identity.layers, identity.hidden_size, identity.context) == (2, 32, 64)
    assert identity.torch_version == torch.__version__
    assert str(folder.parent) not in json.dumps(asdict(identity)), "no folder of this machine"
    shared = load_file(folder / "model.safetensors")
    assert identity.parameters == sum(tensor.numel() for tensor in shared.values())


def test_several_weight_files_are_hashed_in_the_order_of_their_names(folder):
    (folder / "model-2.safetensors").write_bytes(b"second")
    (folder / "model-1.safetensors").write_bytes(b"first")
    (folder / "model.safetensors").unlink()
    assert find_source(str(folder)).sha256() == hashlib.sha256(b"firstsecond").hexdigest()


@pytest.mark.usefixtures("no_network")
def test_names_that_nothing_has(tmp_path):
    assert "there is no folder ./nothing; it must be tiny, " in refusal("./nothing")
    assert "there is no folder " in refusal(tmp_path / "nothing")
    assert "there is no model without a name" in refusal("")
    assert "No such file" in refusal(tmp_path / "none.gguf")
    (tmp_path / "text.md").write_text("no model")
    assert "text.md is a file, but no .gguf; it must be " in refusal(tmp_path / "text.md")


@pytest.mark.usefixtures("no_network")
def test_a_folder_without_configuration(folder):
    (folder / "config.json").unlink()
    assert "copy is no model: a folder with one must hold config.json." in refusal(folder)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "consolidated.00.pth"])
@pytest.mark.usefixtures("no_network")
def test_pickled_weights_are_never_opened(folder, name):
    opened = folder / "opened"

    class Bomb:
        def __reduce__(self):
            return (open, (str(opened), "w"))

    torch.save({"weight": Bomb()}, folder / name)
    (folder / "model.safetensors").unlink()
    assert f"holds pickled weights only ({name}), which can run code" in refusal(folder)
    assert not opened.exists()
    (folder / name).unlink()
    assert "holds no weights: they must be *.safetensors files." in refusal(folder)


@pytest.mark.parametrize("kind", ["known", "unknown"])
@pytest.mark.usefixtures("no_network")
def test_code_of_a_model_is_never_run(folder, kind):
    ran = folder / "ran"
    (folder / "modeling_evil.py").write_text(f"open({str(ran)!r}, 'w')\nclass Evil: pass\n")
    config = json.loads((folder / "config.json").read_text())
    config["auto_map"] = {
        "AutoConfig": "modeling_evil.Evil",
        "AutoModelForCausalLM": "modeling_evil.Evil",
    }
    if kind == "unknown":
        config["model_type"] = "evil"
    (folder / "config.json").write_text(json.dumps(config))
    if kind == "unknown":
        assert "copy cannot be loaded: " in refusal(folder)
    else:
        load_target(str(folder))
    assert not ran.exists()


@pytest.mark.usefixtures("no_network")
def test_damaged_files(folder):
    weights = folder / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    assert "copy cannot be loaded: " in refusal(folder)
    weights.write_bytes(whole)
    configuration = (folder / "config.json").read_text()
    (folder / "config.json").write_text("{")
    assert "copy cannot be loaded: " in refusal(folder)
    (folder / "config.json").write_text(configuration)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    assert "copy must come with its tokenizer; it cannot be loaded: " in refusal(folder)


@pytest.mark.usefixtures("no_network")
def test_missing_weights_are_not_made_up(folder):
    tensors = load_file(folder / "model.safetensors")
    del tensors["model.layers.1.mlp.up_proj.weight"]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    message = refusal(folder)
    assert "must hold all weights of a LlamaForCausalLM; 1 are missing, first " in message
    assert "model.layers.1.mlp.up_proj.weight" in message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "must begin with GGUF; it begins with b''"),
        (b"PK\x03\x04 something else", r"must begin with GGUF; it begins with b'PK\x03\x04'"),
        (b"GGUF", "bad.gguf cannot be loaded: "),
        (b"GGUF" + bytes(range(256)) * 8, "bad.gguf cannot be loaded: "),
        (b"GGUF\x03\0\0\0" + b"\0" * 16, "bad.gguf cannot be loaded: "),
    ],
)
@pytest.mark.usefixtures("no_network")
def test_a_gguf_file_that_is_no_model(tmp_path, content, message):
    path = tmp_path / "bad.gguf"
    path.write_bytes(content)
    assert message in refusal(path)


def test_the_hub_gives_a_folder_that_is_loaded_as_any_other(small_target_folder, monkeypatch):
    asked = {}

    def download(name, **options):
        asked.update(options, name=name)
        return str(small_target_folder)

    monkeypatch.setattr(hub, "snapshot_download", download)
    identity = load_target("someone/some-model").identity
    assert (identity.name, identity.kind) == ("someone/some-model", "hub")
    assert identity.revision == small_target_folder.name
    assert asked["name"] == "someone/some-model"
    fetched = list(
        huggingface_hub.utils.filter_repo_objects(
            ["config.json", "model.safetensors", "pytorch_model.bin", "modeling.py", "a/b.json"],
            allow_patterns=asked["allow_patterns"],
            ignore_patterns=asked["ignore_patterns"],
        )
    )
    assert fetched == ["config.json", "model.safetensors"]


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (
            LocalEntryNotFoundError("offline"),
            "no folder here has that name, and the hub cannot be reached.",
        ),
        (
            RepositoryNotFoundError.__new__(RepositoryNotFoundError),
            "the hub has no such model, or not for everyone.",
        ),
        (
            GatedRepoError.__new__(GatedRepoError),
            "the hub gives it only to those who accepted its terms and are logged in.",
        ),
        (OSError("No space left.\nmore"), "the hub did not give it (No space left)."),
    ],
)
def test_a_hub_that_does_not_give(monkeypatch, error, problem):
    def download(*_, **__):
        raise error

    monkeypatch.setattr(hub, "snapshot_download", download)
    assert refusal("someone/some-model") == f"someone/some-model cannot be had: {problem}"


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(target, "NEEDED", ("numpy", "a_package_that_nobody_has"))
    message = refusal("tiny")
    assert (
        'extra `real`, pip install -e ".[real]" in the checkout; missing: a_package_that_nobody_has.'
        in message
    )


def test_a_chat_needs_a_template_and_a_prompt_a_token(folder):
    tokenizer = load_target(str(folder)).tokenizer
    with pytest.raises(ValueError, match="chat must be off: this model has no chat template"):
        tokenizer.encode("hello", chat=True)
    (folder / "chat_template.jinja").write_text("{{ messages[0]['content'] }}?")
    chatty = load_target(str(folder)).tokenizer
    np.testing.assert_array_equal(chatty.encode("hi", chat=True), [*b"hi?"])


def test_all_ways_to_end_a_text_count(tmp_path):
    save_model(tmp_path)
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [10, 0]}')
    assert load_target(str(tmp_path)).tokenizer.stop_tokens == (0, 10, 256)
