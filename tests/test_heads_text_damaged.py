"""Folders of self-written text that were changed: named by file and line, in one sentence."""

from __future__ import annotations

import json

import numpy as np
import pytest

from real_runs.heads import self_text
from real_runs.heads.self_text import TEXTS, read_self_text, write_self_text
from real_runs.runs.errors import NewerSchemaError, RunFolderError
from real_runs.runs.sealing import seal, unseal
from real_runs.target import load_target


@pytest.fixture(scope="module")
def target(small_target_folder):
    return load_target(str(small_target_folder), dtype="float64")


@pytest.fixture
def prompts():
    return [np.arange(first, first + 4) for first in range(6)]


def resealed(line, **changes):
    return seal({**unseal(line), **changes}).encode()


def test_damaged_text_is_named_by_its_line(target, prompts, tmp_path):
    write_self_text(target, prompts, tmp_path, new_tokens=3)
    lines = (tmp_path / TEXTS).read_bytes().splitlines()

    def with_third(line, *more):
        content = [*lines[:2], line, *lines[3:], *more]
        (tmp_path / TEXTS).write_bytes(b"".join(each + b"\n" for each in content))
        with pytest.raises(RunFolderError) as refused:
            read_self_text(tmp_path)
        return str(refused.value)

    assert "line 3: this line was changed" in with_third(lines[2].replace(b"1", b"2", 1))
    assert "line 3: prompt_tokens must lie in [1," in with_third(
        resealed(lines[2], prompt_tokens=99)
    )
    for tokens in ([-1, 2], [1, 10**20]):
        said = with_third(resealed(lines[2], prompt_tokens=1, tokens=tokens))
        assert "line 3: tokens must lie in [0, 2147483648)" in said
    assert "line 3: tokens must be there" in with_third(
        seal({"prompt": 2, "prompt_tokens": 1}).encode()
    )
    assert "must hold every text once" in with_third(lines[2], lines[0])
    assert "must hold the texts of its own prompts" in with_third(resealed(lines[2], prompt=77))
    (tmp_path / TEXTS).write_bytes(b"".join(line + b"\n" for line in lines))
    read_self_text(tmp_path)


def test_a_damaged_or_newer_header_is_refused(target, prompts, tmp_path):
    write_self_text(target, prompts, tmp_path, new_tokens=3)
    path = tmp_path / self_text.HEADER
    header = unseal(path.read_bytes().removesuffix(b"\n"))
    path.write_text(seal({**header, "schema_version": 2}) + "\n")
    with pytest.raises(NewerSchemaError, match="newer version of specdec"):
        read_self_text(tmp_path)
    path.write_text(json.dumps(header))
    with pytest.raises(RunFolderError, match=r"text\.json: this file carries no checksum"):
        read_self_text(tmp_path)
    path.unlink()
    with pytest.raises(RunFolderError, match=r"it has text\.jsonl"):
        write_self_text(target, prompts, tmp_path, new_tokens=3)
