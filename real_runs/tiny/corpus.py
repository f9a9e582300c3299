"""What the tiny pair learns from: the sources of the Python standard library, by manifest.

The texts themselves are not in this repository, only their names, sizes and hashes: every Python
carries its own copy. Files whose name hashes into the last twentieth are held out from training.
"""

from __future__ import annotations

import csv
import hashlib
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MANIFEST = Path(__file__).with_name("corpus.csv")
EXCLUDED_FOLDERS = frozenset(
    {"site-packages", "test", "tests", "idle_test", "encodings", "pydoc_data", "turtledemo"}
)
"""Tests repeat themselves, tables of characters are no text, installed packages differ by machine."""
EXCLUDED_PREFIX = "_sysconfigdata"  # written at build time: differs by machine
HELD_OUT_SHARE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusFile:
    """One file of the corpus: its path below the standard library, its size, hash and use."""

    path: str
    size: int
    sha256: str
    held_out: bool


def library_folder() -> Path:
    """Where the sources of the running Python's standard library lie."""
    return Path(sysconfig.get_path("stdlib"))


def scan(folder: Path) -> Iterator[CorpusFile]:
    """The files of a standard library that belong to the corpus, by name."""
    for path in sorted(folder.rglob("*.py")):
        relative = path.relative_to(folder)
        if EXCLUDED_FOLDERS.isdisjoint(relative.parts) and not path.name.startswith(
            EXCLUDED_PREFIX
        ):
            content = path.read_bytes()
            name = relative.as_posix()
            yield CorpusFile(
                path=name,
                size=len(content),
                sha256=hashlib.sha256(content).hexdigest(),
                held_out=is_held_out(name),
            )


def is_held_out(name: str) -> bool:
    """Whether a file is kept from training: a rule on its name, so that every version agrees."""
    return hashlib.sha256(name.encode()).digest()[0] % HELD_OUT_SHARE == HELD_OUT_SHARE - 1


def write_manifest(files: Iterator[CorpusFile], path: Path = MANIFEST) -> None:
    """Write the manifest of a corpus as CSV."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["path", "size", "sha256", "held_out"])
        writer.writerows([f.path, f.size, f.sha256, int(f.held_out)] for f in files)


def read_manifest(path: Path = MANIFEST) -> tuple[CorpusFile, ...]:
    """The files that the bundled weights were trained and judged on.

    >>> files = read_manifest()
    >>> any(file.held_out for file in files)
    True
    """
    with path.open(newline="", encoding="utf-8") as stream:
        return tuple(
            CorpusFile(
                path=row["path"],
                size=int(row["size"]),
                sha256=row["sha256"],
                held_out=row["held_out"] == "1",
            )
            for row in csv.DictReader(stream)
        )


def read_file(file: CorpusFile, folder: Path | None = None) -> bytes:
    """The content of a corpus file in this Python's library.

    Raises ValueError where the library has no such file.
    """
    path = (library_folder() if folder is None else folder) / file.path
    try:
        return path.read_bytes()
    except OSError:
        raise ValueError(
            f"the corpus file {file.path} must exist in this Python's standard library; it does not."
        ) from None


def is_same(file: CorpusFile, content: bytes) -> bool:
    """Whether a content is the one of the manifest: another version of Python has other files."""
    return hashlib.sha256(content).hexdigest() == file.sha256
