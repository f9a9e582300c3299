"""The texts of the families: by manifest, parsed and never run, refused where they differ."""

from __future__ import annotations

import zipfile

import pytest

from real_runs.tiny import families_texts
from real_runs.tiny.families_texts import (
    PROSE,
    PYTHON,
    StrangeText,
    own_texts,
    read_strange_manifest,
    reference_prose,
    scan,
    strange_texts,
    write_strange_manifest,
)


@pytest.fixture
def library(tmp_path):
    """A library with a wheel of pip and a language reference."""
    wheels = tmp_path / "ensurepip" / "_bundled"
    wheels.mkdir(parents=True)
    with zipfile.ZipFile(wheels / "pip-1.0-py3-none-any.whl", "w") as archive:
        for name in ("b.py", "a.py", "_vendor/c.py", "d.txt", "empty.py"):
            folder = "pip/" if name.startswith("_vendor") else "pip/_internal/"
            archive.writestr(folder + name, "" if name == "empty.py" else f"# {name}\n")
    reference = tmp_path / "pydoc_data" / "topics.py"
    reference.parent.mkdir()
    reference.write_text("topics = {'if': 'The if statement.\\n'}\n", encoding="utf-8")
    return tmp_path


def test_strangers_are_pips_own_sources_and_the_language_reference(library):
    assert list(scan(library)) == [
        (PYTHON, "pip/_internal/a.py", b"# a.py\n"),
        (PYTHON, "pip/_internal/b.py", b"# b.py\n"),
        (PROSE, "pydoc_data/topics.py", b"The if statement.\n"),
    ]
    assert strange_texts(PROSE, any_version=True, folder=library) == [b"The if statement.\n"]


def test_a_manifest_is_read_as_it_was_written(library, tmp_path, monkeypatch):
    path = tmp_path / "texts.csv"
    write_strange_manifest(scan(library), path)
    texts = read_strange_manifest(path)
    assert [(text.kind, text.size) for text in texts] == [(PYTHON, 7), (PYTHON, 7), (PROSE, 18)]
    monkeypatch.setattr(families_texts, "read_strange_manifest", lambda: texts)
    assert strange_texts(PYTHON, folder=library) == [b"# a.py\n", b"# b.py\n"]
    changed = StrangeText(kind=PYTHON, path="pip/_internal/a.py", size=7, sha256="0" * 64)
    monkeypatch.setattr(families_texts, "read_strange_manifest", lambda: (changed,))
    with pytest.raises(ValueError, match=r"a.py must be as in the manifest; .*--any-version"):
        strange_texts(PYTHON, folder=library)


def test_a_file_above_the_limit_is_left_out(library, monkeypatch):
    monkeypatch.setattr(families_texts, "LARGEST_TEXT", 10)
    assert [kind for kind, _, _ in scan(library)] == [PYTHON, PYTHON]


@pytest.mark.parametrize(
    "source", ["x = 1", "topics = {'a': 1}", "raise SystemExit", "topics = {'a': exit()}"]
)
def test_a_reference_without_pages_is_refused_and_never_run(source):
    with pytest.raises(ValueError, match="must assign a dictionary of texts"):
        reference_prose(source)


def test_own_texts_of_another_python_are_refused(monkeypatch):
    monkeypatch.setattr(families_texts, "read_file", lambda _: b"other")
    with pytest.raises(ValueError, match=r"must be as in the manifest; .*--any-version"):
        own_texts()
    assert set(own_texts(any_version=True)) == {b"other"}


def test_no_stranger_is_a_file_of_the_targets_corpus():
    own = {file.sha256 for file in families_texts.read_manifest()}
    strangers = read_strange_manifest()
    assert {text.kind for text in strangers} == {PYTHON, PROSE}
    assert not own & {text.sha256 for text in strangers}
