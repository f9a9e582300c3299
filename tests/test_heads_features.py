"""The states along a target's own text: the ones it really has, stored, resumed and checked."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from small_models import save_model

from real_runs.heads import features as features_module
from real_runs.heads.features import DONE, STATES, read_features, split, write_features
from real_runs.heads.self_text import TEXTS, write_self_text
from real_runs.heads.state_passes import passes, states_of
from real_runs.runs.errors import RunFolderError
from real_runs.target import load_target

LENGTHS = (9, 3, 25, 12, 3, 17, 8, 30, 9, 5, 6)


@pytest.fixture(scope="module")
def target(small_target_folder):
    return load_target(str(small_target_folder), dtype="float64", keep_hidden=True)


@pytest.fixture
def folder(target, tmp_path):
    rng = np.random.default_rng(4)
    prompts = [rng.integers(0, 256, size=length) for length in LENGTHS]
    prompts[-1] = prompts[-2]  # said twice
    write_self_text(target, prompts, tmp_path / "text", new_tokens=8)
    return tmp_path / "text"


def test_states_are_those_that_the_output_layer_sees(target, folder):
    write_features(target, folder, pass_tokens=64)
    features = read_features(folder)
    assert (features.count, features.width) == (len(LENGTHS), 32)
    for index in range(features.count):
        tokens = features.tokens(index)
        logits = target.start(tokens[:1])[None]
        if len(tokens) > 1:
            logits = np.concatenate([logits, target.extend(tokens[1:])])
        hidden = torch.from_numpy(np.array(features.hidden(index))).double()
        assert hidden.shape == (len(tokens), 32)
        with torch.inference_mode():
            through = target.model.lm_head(hidden).numpy()
        np.testing.assert_allclose(through, logits, rtol=0, atol=2e-2)  # half precision of states
        own = slice(features.prompt_tokens(index) - 1, len(tokens) - 1)
        chosen = np.take_along_axis(logits[own], tokens[own.start + 1 :, None], axis=1)[:, 0]
        np.testing.assert_array_equal(chosen, logits[own].max(axis=1))  # state j foretells j + 1
        target.start(tokens)
        np.testing.assert_array_equal(target.hidden.half().numpy(), states_of(target, [tokens])[0])
        np.testing.assert_allclose(
            features.hidden(index).astype(float), target.hidden.numpy(), rtol=1e-3, atol=1e-4
        )


def test_states_are_mapped_and_cannot_be_changed(target, folder):
    write_features(target, folder)
    hidden = read_features(folder).hidden(2)
    assert isinstance(hidden, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        hidden[0, 0] = 1.0


def test_a_stopped_process_goes_on_and_repeats_nothing(target, folder, monkeypatch):
    write_features(target, folder, pass_tokens=64)
    whole = np.array(read_features(folder).states)
    for name in (DONE, STATES, features_module.HEADER):
        (folder / name).unlink()

    class StoppedError(Exception):
        pass

    def stop(share):
        if share > 0.4:
            raise StoppedError

    with pytest.raises(StoppedError):
        write_features(target, folder, pass_tokens=64, progress=stop)
    done = (folder / DONE).read_bytes()
    (folder / DONE).write_bytes(done + done[:20])
    with pytest.raises(
        RunFolderError, match=r"must hold the states of 11 texts; it holds those of"
    ):
        read_features(folder)
    made = []

    def spy(target, texts):
        made.extend(texts)
        return states_of(target, texts)

    monkeypatch.setattr(features_module, "states_of", spy)
    shares = []
    write_features(target, folder, pass_tokens=48, progress=shares.append)
    assert len(made) == len(LENGTHS) - len(done.splitlines()) > 0
    assert shares[-1] == 1.0
    np.testing.assert_allclose(
        read_features(folder).states.astype(float), whole.astype(float), rtol=1e-3, atol=1e-4
    )


def test_text_of_another_target_is_refused_by_name_and_hash(target, folder, tmp_path):
    other = load_target(str(save_model(tmp_path / "other", seed=1)))
    ours, theirs = target.identity.sha256[:12], other.identity.sha256[:12]
    with pytest.raises(
        ValueError,
        match=rf"text of other \(sha256 {theirs}…\); it is that of "
        rf"small-target \(sha256 {ours}…\)",
    ):
        write_features(other, folder)


def test_features_of_another_precision_are_refused(target, folder, small_target_folder):
    write_features(target, folder)
    single = load_target(str(small_target_folder))
    with pytest.raises(ValueError, match=r"other settings \(dtype was float64, is float32\)"):
        write_features(single, folder)


def test_damaged_features_are_refused(target, folder):
    write_features(target, folder)
    path = folder / STATES
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(RunFolderError, match=r"hidden\.npy: the states of text 10 were changed"):
        read_features(folder)
    for damaged in (b"", content[:-2], b"PK\x03\x04" + content[4:], content[:60]):
        path.write_bytes(damaged)
        with pytest.raises(RunFolderError, match=r"hidden\.npy: must be an array"):
            read_features(folder)
    np.save(path, np.zeros((3, 32), dtype=np.float16))
    with pytest.raises(RunFolderError, match=r"it is float16 of shape \[3, 32\]"):
        read_features(folder)
    np.save(path, np.array([{}], dtype=object))  # pickled: never opened
    with pytest.raises(RunFolderError, match=r"hidden\.npy: must be an array"):
        read_features(folder)
    path.unlink()
    with pytest.raises(RunFolderError, match=r"hidden\.npy: must be an array"):
        read_features(folder)


def test_features_beside_another_text_are_refused(target, folder, tmp_path):
    write_features(target, folder)
    rng = np.random.default_rng(5)
    write_self_text(
        target,
        [rng.integers(0, 256, size=length) for length in LENGTHS],
        tmp_path / "second",
        new_tokens=8,
    )
    for name in (TEXTS, "text.json"):
        (folder / name).write_bytes((tmp_path / "second" / name).read_bytes())
    with pytest.raises(RunFolderError, match="belongs to another text"):
        read_features(folder)


def test_states_beyond_half_precision_are_refused(folder, small_target_folder):
    large = load_target(str(small_target_folder), dtype="float64")
    with torch.no_grad():
        large.model.model.norm.weight.mul_(1e6)
    with pytest.raises(ValueError, match="must fit half precision; one exceeds 65504"):
        write_features(large, folder)


def test_passes_hold_each_text_once_and_stay_small():
    lengths = [3, 50, 7, 7, 120, 9, 30]
    groups = list(passes(range(7), lengths, 60))
    assert sorted(index for group in groups for index in group) == list(range(7))
    assert groups[0] == [4]  # longer than a pass, and alone
    assert all(len(group) * max(lengths[i] for i in group) <= 60 for group in groups[1:])


def test_a_split_is_of_the_prompts(target, folder):
    write_features(target, folder)
    features = read_features(folder)
    train, judged = split(features, held_out=0.3)
    assert sorted([*train, *judged]) == list(range(features.count))
    assert 3 <= len(judged) <= 4
    assert (9 in train) == (10 in train)  # the prompt that was said twice
    again = split(features, held_out=0.3)
    assert np.array_equal(train, again[0])
    assert len(split(features, held_out=0.0)[1]) >= 1
    with pytest.raises(ValueError, match="held_out must leave a text to train on; 1 of 11"):
        split(features, held_out=1.0)
    with pytest.raises(ValueError, match=r"held_out must be a number in \[0, 1\]; got 2"):
        split(features, held_out=2.0)


def test_a_smaller_share_holds_out_some_of_the_same_texts(target, folder):
    write_features(target, folder)
    features = read_features(folder)
    few, many = (set(split(features, held_out=share)[1]) for share in (0.1, 0.5))
    assert few < many
