"""Prompt files and the bundled sets."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter

import pytest

from real_runs.prompts import (
    CUTS,
    EDITING_TASKS,
    bundled_cuts,
    choose_cuts,
    editing_tasks,
    read_prompt_file,
    read_prompts,
)
from real_runs.runs.errors import RunFolderError
from real_runs.tiny.corpus import is_same, library_folder, read_file, read_manifest
from real_runs.tiny.varied import MOST_OF_A_FILE, PARTS


def write(tmp_path, content, name="texts.txt"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def same_library():
    """Whether this Python's library is the one of the manifest."""
    try:
        return all(is_same(file, read_file(file)) for file in read_manifest() if file.held_out)
    except ValueError:
        return False


def test_a_text_has_one_prompt_per_line(tmp_path):
    path = write(tmp_path, "\ufefffirst\n\n  \r\nsecond \u2028 still\x0c second\r\nthird")
    prompts = read_prompt_file(path)
    assert [(p.id, p.prompt) for p in prompts.prompts] == [
        ("line-1", "first"),
        ("line-4", "second \u2028 still\x0c second"),
        ("line-5", "third"),
    ]
    assert (prompts.name, prompts.chat) == ("texts.txt", False)


def test_jsonl_has_ids_and_may_hold_several_lines(tmp_path):
    lines = [{"id": "a", "prompt": "one\ntwo"}, {"id": "b", "prompt": "ünï"}]
    path = write(tmp_path, "\n".join(map(json.dumps, lines)) + "\n\n", "texts.jsonl")
    assert [(p.id, p.prompt) for p in read_prompt_file(path).prompts] == [
        ("a", "one\ntwo"),
        ("b", "ünï"),
    ]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.txt", b"", r"a.txt: must have at least one prompt; it has none"),
        ("a.txt", b" \n\n\t\n", r"must have at least one prompt"),
        ("a.jsonl", b"\n", r"must have at least one prompt"),
        ("a.txt", b"fine\nfine\n\xff\xfe bad", r"a.txt, line 3: must be text in UTF-8"),
        (
            "a.jsonl",
            b'{"id": "a", "prompt": "x"}\n{"id": ',
            r"a.jsonl, line 2: this line is not JSON",
        ),
        ("a.jsonl", b"[1]", r"line 1: this line must be a JSON object; got list"),
        ("a.jsonl", b'{"id": "a"}', r"line 1: prompt must be there; it is missing"),
        ("a.jsonl", b'{"id": 1, "prompt": "x"}', r"id must be a text; got 1"),
        ("a.jsonl", b'{"id": "", "prompt": "x"}', r"id and prompt must not be empty"),
        ("a.jsonl", b'{"id": "a", "prompt": "x", "n": 1}', r"only; got 'n' too"),
        ("a.jsonl", b'{"id": "a", "id": "b", "prompt": ""}', r"must not give a key twice"),
        (
            "a.jsonl",
            b'{"id": "a", "prompt": "x"}\n{"id": "a", "prompt": "y"}',
            r"ids must be distinct; 'a' is not",
        ),
    ],
)
def test_bad_files_are_one_sentence(tmp_path, name, content, sentence):
    with pytest.raises(RunFolderError, match=sentence):
        read_prompt_file(write(tmp_path, content, name))


def test_a_file_that_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("real_runs.prompts.LARGEST_FILE", 10)
    with pytest.raises(RunFolderError, match="must have at most 10 bytes"):
        read_prompt_file(write(tmp_path, "a" * 11))


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_prompts(str(tmp_path / "none.txt"), target="tiny")


def test_facts_hold_no_text_and_change_with_every_letter(tmp_path):
    facts = read_prompt_file(write(tmp_path, "some secret\nother")).facts
    assert "secret" not in repr(facts)
    assert facts.ids == ("line-1", "line-2")
    assert facts.sha256 != read_prompt_file(write(tmp_path, "some secret\nOther")).facts.sha256


def test_editing_tasks_are_a_dozen_messages_that_name_their_change():
    tasks = editing_tasks()
    assert tasks.chat
    assert len(tasks.prompts) == len({p.id for p in tasks.prompts}) == 12
    for task in tasks.prompts:
        instruction, _, body = task.prompt.partition("\n\n")
        assert len(instruction) < 120
        assert len(body) > 150  # a text that is worth repeating
    assert read_prompts("bundled", target="smollm2") == tasks
    assert EDITING_TASKS.read_text(encoding="utf-8").endswith("}\n")


def test_cuts_come_from_held_out_files_only():
    held_out = {file.path for file in read_manifest() if file.held_out}
    with CUTS.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["path"] for row in rows} <= held_out
    assert len(rows) >= 24
    assert all(192 <= int(row["length"]) <= 256 for row in rows)


def test_no_text_of_others_is_stored():
    assert CUTS.stat().st_size < 2_000
    assert CUTS.read_text(encoding="utf-8").splitlines()[0] == "path,offset,length"


@pytest.mark.skipif(not same_library(), reason="another Python's library")
def test_cuts_are_those_of_their_rule():
    chosen = choose_cuts((file, read_file(file)) for file in read_manifest())
    with CUTS.open(encoding="utf-8") as stream:
        rows = [(r["path"], int(r["offset"]), int(r["length"])) for r in csv.DictReader(stream)]
    assert list(chosen) == rows
    cuts = read_prompts("bundled", target="tiny")
    assert cuts.notes == ()
    assert len(cuts.prompts) == len(rows)
    for prompt in cuts.prompts:
        assert 192 <= len(prompt.prompt.encode()) <= 256
        assert prompt.prompt.endswith("\n") or len(prompt.prompt) == 224


def test_varied_cuts_are_prompts_of_their_own_rule():
    """Which of them the target goes in circles on, the kept runs show: tests/test_systems_runs.py."""
    varied = read_prompts("varied", target="tiny")
    assert varied.name == "varied cuts"
    parts = choose_cuts(((file, read_file(file)) for file in read_manifest()), parts=PARTS)
    allowed = {f"{path}@{offset}" for path, offset, _ in parts}
    if same_library():
        assert {prompt.id for prompt in varied.prompts} <= allowed
        assert len(varied.prompts) == 24
    most = Counter(prompt.id.partition("@")[0] for prompt in varied.prompts).most_common(1)[0][1]
    assert most <= MOST_OF_A_FILE
    with pytest.raises(ValueError, match="prompts varied must go with target tiny; got 'smollm2'"):
        read_prompts("varied", target="smollm2")


def test_another_library_is_noted(tmp_path):
    here = bundled_cuts()
    with CUTS.open(encoding="utf-8") as stream:
        paths = list(dict.fromkeys(row["path"] for row in csv.DictReader(stream)))
    present = [path for path in paths if (library_folder() / path).exists()]
    gone, changed, cut_short, *others = present
    for path in (changed, cut_short, *others):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library_folder() / path, tmp_path / path)
    (tmp_path / changed).write_bytes(b"# \xc3\xa9\n" + (tmp_path / changed).read_bytes())
    (tmp_path / cut_short).write_bytes(b"# nothing left\n")
    there = bundled_cuts(tmp_path)
    assert f"{gone} is not in this Python's library: left out." in there.notes
    assert any(note.startswith(f"{changed} differs") for note in there.notes)
    ids = {prompt.id.partition("@")[0] for prompt in there.prompts}
    assert gone not in ids
    assert cut_short not in ids
    assert {changed, *others} <= ids
    assert there.facts.sha256 != here.facts.sha256


def test_a_library_with_nothing_is_an_error(tmp_path):
    with pytest.raises(RunFolderError, match="none of the held-out files"):
        bundled_cuts(tmp_path)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"id":"a","prompt":"\\ud800"}', "prompt must be text that UTF-8 can hold"),
        ('{"id":"\\ud800","prompt":"x"}', "id must be text that UTF-8 can hold"),
        ('{"id":"a\\u001b[31m","prompt":"x"}', "id must hold printable characters only"),
    ],
)
def test_texts_that_nobody_can_write_or_print(tmp_path, line, words):
    path = tmp_path / "texts.jsonl"
    path.write_text(f"{line}\n")
    with pytest.raises(RunFolderError, match=words):
        read_prompts(str(path), target="tiny")
