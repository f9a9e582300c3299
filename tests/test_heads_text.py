"""The text that a target writes for its heads: batches against one at a time, folders that go on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from small_models import CONTEXT, save_model

from real_runs.heads import self_text
from real_runs.heads.greedy_batches import SPREAD, continue_greedily, similar_lengths
from real_runs.heads.self_text import TEXTS, digest, read_self_text, write_self_text
from real_runs.models.cache import growing_cache
from real_runs.runs.errors import RunFolderError
from real_runs.target import load_target
from simulator import decode, greedy

NEW = 20
LENGTHS = (9, 3, 25, 12, 3, 17, 8, 30, 9)


@pytest.fixture(scope="module")
def target(small_target_folder):
    return load_target(str(small_target_folder), dtype="float64")


@pytest.fixture
def prompts():
    rng = np.random.default_rng(3)
    return [rng.integers(0, 256, size=length) for length in LENGTHS]


def one_at_a_time(target, prompt, *, stops, count=NEW):
    text = decode(prompt, target=target, rule=greedy(), max_tokens=count, stop_tokens=stops, rng=0)
    return [*prompt.tolist(), *text.tokens]


def all_equal(texts, others):
    return [text.tokens.tolist() for text in texts] == [other.tokens.tolist() for other in others]


class Stopped(Exception):  # noqa: N818 - stands for Ctrl-C
    pass


def stop_after(count):
    """A progress that ends the process's work after so many calls."""
    calls = []

    def progress(share):
        calls.append(share)
        if len(calls) == count:
            raise Stopped

    return progress


def test_a_batch_writes_what_every_prompt_gets_alone(target, prompts):
    texts = continue_greedily(target, prompts, new_tokens=NEW)
    alone = [
        one_at_a_time(target, prompt, stops=target.tokenizer.stop_tokens) for prompt in prompts
    ]
    assert [text.tolist() for text in texts] == alone
    assert len({tuple(text[-3:]) for text in alone}) > 5  # or rows could be confused


def test_rows_that_stop_leave_the_batch_and_change_no_other(target, prompts, monkeypatch):
    alone = [one_at_a_time(target, prompt, stops=()) for prompt in prompts]
    written = [
        token for text, prompt in zip(alone, prompts, strict=True) for token in text[len(prompt) :]
    ]
    stops = tuple(sorted(set(written), key=written.count)[-4:])
    monkeypatch.setattr(target.tokenizer, "stop_tokens", stops)
    sizes = []
    handle = target.model.register_forward_pre_hook(
        lambda _module, _inputs, named: sizes.append(len(named["input_ids"])), with_kwargs=True
    )
    texts = continue_greedily(target, prompts, new_tokens=NEW)
    handle.remove()
    wanted = [one_at_a_time(target, prompt, stops=stops) for prompt in prompts]
    assert [text.tolist() for text in texts] == wanted
    assert len({len(text) - len(prompt) for text, prompt in zip(wanted, prompts, strict=True)}) >= 3
    assert sizes[0] == len(prompts)
    assert sizes[-1] < len(prompts)


def test_the_targets_own_sequence_is_untouched(target, prompts):
    target.start(prompts[0])
    before = target.extend(np.array([7]))
    target.rollback(1)
    continue_greedily(target, prompts, new_tokens=3)
    assert target.length == len(prompts[0])
    np.testing.assert_array_equal(target.extend(np.array([7])), before)


def test_rows_kept_in_a_cache_go_on_as_if_alone(target):
    ids = torch.arange(12).reshape(3, 4)
    config = target.model.config
    with torch.inference_mode():
        cache = growing_cache(config)
        target.model(input_ids=ids, cache=cache, use_cache=True)
        cache.batch_select_indices(torch.tensor([2, 0]))
        assert cache.get_seq_length() == 4
        kept = target.model(input_ids=torch.tensor([[5], [6]]), cache=cache, use_cache=True).logits
        whole = target.model(input_ids=torch.tensor([[8, 9, 10, 11, 5], [0, 1, 2, 3, 6]])).logits
    torch.testing.assert_close(kept[:, -1], whole[:, -1], rtol=0, atol=1e-10)


def test_batches_hold_each_prompt_once_and_similar_lengths():
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 200, size=300).tolist()
    batches = list(similar_lengths(lengths, batch=16))
    assert sorted(index for rows in batches for index in rows) == list(range(300))
    for rows in batches:
        assert 1 <= len(rows) <= 16
        assert max(lengths[i] for i in rows) - min(lengths[i] for i in rows) <= SPREAD
    assert max(map(len, batches)) == 16


def test_what_is_read_is_what_was_written(target, prompts, tmp_path):
    shares = []
    write_self_text(target, prompts, tmp_path, new_tokens=NEW, batch=4, progress=shares.append)
    texts = read_self_text(tmp_path)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    for text, prompt in zip(texts, prompts, strict=True):
        assert text.prompt_tokens == len(prompt)
        assert text.tokens.tolist() == one_at_a_time(
            target, prompt, stops=target.tokenizer.stop_tokens
        )


def test_a_stopped_process_goes_on_and_repeats_nothing(target, prompts, tmp_path, monkeypatch):
    write_self_text(target, prompts, tmp_path / "whole", new_tokens=NEW, batch=2)
    folder = tmp_path / "parts"
    with pytest.raises(Stopped):
        write_self_text(target, prompts, folder, new_tokens=NEW, batch=2, progress=stop_after(2))
    kept = (folder / TEXTS).read_bytes()
    with (folder / TEXTS).open("ab") as stream:  # killed in the middle of a line
        stream.write(kept.splitlines()[0][:40])
    with pytest.raises(RunFolderError, match=r"must hold 9 texts; it holds [34], and the same"):
        read_self_text(folder)
    made = []

    def spy(target, rows, *, new_tokens):
        made.extend(rows)
        return continue_greedily(target, rows, new_tokens=new_tokens)

    monkeypatch.setattr(self_text, "continue_greedily", spy)
    write_self_text(target, prompts, folder, new_tokens=NEW, batch=3)
    assert len(made) == len(prompts) - len(kept.splitlines())
    assert (folder / TEXTS).read_bytes().startswith(kept)
    assert all_equal(read_self_text(folder), read_self_text(tmp_path / "whole"))
    write_self_text(target, prompts, folder, new_tokens=NEW)  # complete: nothing is left to do
    assert len(made) == len(prompts) - len(kept.splitlines())


def test_a_folder_of_other_text_is_refused(target, prompts, tmp_path):
    folder = tmp_path / "text"
    write_self_text(target, prompts, folder, new_tokens=3)
    with pytest.raises(ValueError, match=r"other settings \(new_tokens was 3, is 4\)"):
        write_self_text(target, prompts, folder, new_tokens=4)
    with pytest.raises(ValueError, match=r"prompts was 9, is 8; prompts_sha256 was"):
        write_self_text(target, prompts[1:], folder, new_tokens=3)
    changed = [prompts[0] ^ 1, *prompts[1:]]
    with pytest.raises(ValueError, match=r"settings \(prompts_sha256 was"):
        write_self_text(target, changed, folder, new_tokens=3)
    other = load_target(str(save_model(tmp_path / "other", seed=1)), dtype="float64")
    with pytest.raises(ValueError, match=r"target was small-target, is other; target_sha256 was"):
        write_self_text(other, prompts, folder, new_tokens=3)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").touch()
    with pytest.raises(
        RunFolderError, match=r"new or empty, or hold such text; it has letter\.txt"
    ):
        write_self_text(target, prompts, tmp_path / "home", new_tokens=3)
    with pytest.raises(
        RunFolderError, match=r"no folder of self-written text; it has no text\.json"
    ):
        read_self_text(tmp_path / "home")


@pytest.mark.parametrize(
    ("prompts", "options", "message"),
    [
        ([], {}, "prompts must hold at least one prompt; got none"),
        ([np.array([1]), np.array([], dtype=int)], {}, r"prompt 1 must be one row of at least one"),
        ([np.array([257])], {}, r"prompt 0 must be one row of at least one id in \[0, 257\)"),
        ([np.array([-1])], {}, r"prompt 0 must be one row of at least one id in \[0, 257\)"),
        ([np.ones((2, 2), dtype=int)], {}, r"got shape \[2, 2\]"),
        (
            [np.ones(CONTEXT - 2, dtype=int)],
            {},
            r"context of 64 tokens together with 3 new ones; it has 62",
        ),
        (
            [np.array([1])],
            {"new_tokens": 0},
            "new_tokens must be a whole number of at least 1; got 0",
        ),
        ([np.array([1])], {"batch": 0}, "batch must be a whole number of at least 1; got 0"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(target, tmp_path, prompts, options, message):
    with pytest.raises(ValueError, match=message) as refused:
        write_self_text(target, prompts, tmp_path / "text", **{"new_tokens": 3, **options})
    assert str(refused.value).count(". ") == 0
    assert not (tmp_path / "text").exists()


def test_a_text_is_told_from_every_other_one():
    rows = [np.array([1, 2, 3]), np.array([4])]
    assert digest(rows) == digest([row.astype(np.int32) for row in rows])
    others = (
        [rows[1], rows[0]],
        rows[:1],
        [np.array([1, 2]), np.array([3, 4])],
        [rows[0] + 1, rows[1]],
    )
    assert len({digest(rows), *map(digest, others)}) == 5


def test_the_header_names_who_wrote(target, prompts, tmp_path):
    write_self_text(target, prompts, tmp_path, new_tokens=3)
    header = self_text.read_text_header(tmp_path)
    assert header == replace(
        header, target="small-target", dtype="float64", prompts=9, new_tokens=3
    )
    assert header.target_sha256 == target.identity.sha256
