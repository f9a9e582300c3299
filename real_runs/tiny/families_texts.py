"""The texts that drafts of several families learn from: the target's own kind and two strangers.

Every Python carries them all: the sources of its standard library (the target's corpus), the sources of
pip inside `ensurepip` (Python by other hands) and the language reference behind `help()` (English).
As for the corpus, only names, sizes and hashes are kept here.
"""

from __future__ import annotations

import ast
import csv
import hashlib
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from real_runs.tiny.corpus import is_same, library_folder, read_file, read_manifest

MANIFEST = Path(__file__).with_name("families_texts.csv")
PYTHON, PROSE = "python", "prose"
WHEELS, MEMBERS = "ensurepip/_bundled", "pip/_internal/"
"""pip's own code: what it bundles from others holds copies of the standard library."""
REFERENCE = "pydoc_data/topics.py"
LARGEST_TEXT = 1 << 22
"""[bytes] of one file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrangeText:
    """One text that the target never saw: its kind, where it lies, its size and hash."""

    kind: str
    path: str
    size: int
    sha256: str


def own_texts(*, any_version: bool = False) -> list[bytes]:
    """The files that the target learnt from, in the manifest's order.

    Raises ValueError if this Python's sources are not those of the manifest, unless any version
    will do.
    """
    contents = []
    for file in read_manifest():
        if not file.held_out:
            content = read_file(file)
            if not (any_version or is_same(file, content)):
                raise _another_version(file.path)
            contents.append(content)
    return contents


def strange_texts(
    kind: str, *, any_version: bool = False, folder: Path | None = None
) -> list[bytes]:
    """The texts of a kind that the target never saw, in the manifest's order.

    Raises ValueError if this Python lacks one or has another, unless any version will do: then
    whatever this Python has is taken.
    """
    found = {path: content for each, path, content in scan(folder) if each == kind}
    if any_version:
        return list(found.values())
    contents = []
    for text in read_strange_manifest():
        if text.kind == kind:
            content = found.get(text.path)
            if content is None or hashlib.sha256(content).hexdigest() != text.sha256:
                raise _another_version(text.path)
            contents.append(content)
    return contents


def scan(folder: Path | None = None) -> Iterator[tuple[str, str, bytes]]:
    """Kind, path and content of every strange text of a Python's library, by name."""
    folder = library_folder() if folder is None else folder
    for wheel in sorted((folder / WHEELS).glob("pip-*.whl"))[-1:]:
        with zipfile.ZipFile(wheel) as archive:
            for member in sorted(archive.infolist(), key=lambda member: member.filename):
                name, fits = member.filename, 0 < member.file_size <= LARGEST_TEXT
                if fits and name.startswith(MEMBERS) and name.endswith(".py"):
                    yield PYTHON, name, archive.read(member)
    reference = folder / REFERENCE
    if reference.is_file() and reference.stat().st_size <= LARGEST_TEXT:
        yield PROSE, REFERENCE, reference_prose(reference.read_text(encoding="utf-8"))


def reference_prose(source: str) -> bytes:
    r"""The pages of the language reference, one behind the other, from the literal that holds them.

    The source is parsed and never run. Raises ValueError if it assigns no dictionary of texts.

    >>> reference_prose("topics = {'b': 'Two.\\n', 'a': 'One.\\n'}")
    b'One.\n\nTwo.\n'
    """
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Dict):
            with suppress(ValueError):  # something else than literals
                pages = ast.literal_eval(statement.value)
                if all(isinstance(page, str) for page in pages.values()):
                    return "\n".join(pages[name] for name in sorted(pages)).encode()
    raise ValueError(f"{REFERENCE} must assign a dictionary of texts; it does not.")


def write_strange_manifest(texts: Iterator[tuple[str, str, bytes]], path: Path = MANIFEST) -> None:
    """Write names, sizes and hashes of the strange texts as CSV."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["kind", "path", "size", "sha256"])
        writer.writerows(
            [kind, name, len(content), hashlib.sha256(content).hexdigest()]
            for kind, name, content in texts
        )


def read_strange_manifest(path: Path = MANIFEST) -> tuple[StrangeText, ...]:
    """The strange texts that the kept results were trained on.

    >>> sorted({text.kind for text in read_strange_manifest()})
    ['prose', 'python']
    """
    with path.open(newline="", encoding="utf-8") as stream:
        return tuple(
            StrangeText(
                kind=row["kind"], path=row["path"], size=int(row["size"]), sha256=row["sha256"]
            )
            for row in csv.DictReader(stream)
        )


def _another_version(path: str) -> ValueError:
    return ValueError(
        f"{path} must be as in the manifest; it comes from another version of Python "
        "(--any-version trains on this one)."
    )
