"""The texts that a run continues: a file of the user's, or one of the three bundled sets.

- a file that ends in .jsonl has one JSON object per line, {"id": "...", "prompt": "..."}
- every other file is text in UTF-8 with one prompt per line; empty lines count in no way
- `bundled` for the tiny pair: cuts from the held-out files of its corpus, which every Python carries
- `varied` for the tiny pair: such cuts on which the target's greedy text goes in no circles
- `bundled` for any other model: editing tasks, whose answers repeat most of what the prompt says
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from real_runs.runs.errors import RunFolderError
from real_runs.runs.from_json import from_json
from real_runs.runs.header import PromptFacts
from real_runs.runs.sealing import SealError, parse
from real_runs.tiny.corpus import CorpusFile, is_same, library_folder, read_file, read_manifest

BUNDLED, VARIED = "bundled", "varied"
DATA = Path(__file__).with_name("data")
CUTS = DATA / "tiny_cuts.csv"
VARIED_CUTS = DATA / "tiny_varied_cuts.csv"
"""Chosen by `python -m real_runs.tiny.varied`."""
EDITING_TASKS = DATA / "editing_tasks.jsonl"
LARGEST_FILE = 1 << 26
"""[bytes] of a prompt file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A text with a name."""

    id: str
    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSet:
    """Prompts with distinct ids; `chat` says that they are messages to an assistant."""

    name: str
    prompts: tuple[Prompt, ...]
    notes: tuple[str, ...] = ()
    chat: bool = False

    @property
    def facts(self) -> PromptFacts:
        """What a run records of it: no text, but the hash of all of them."""
        texts = json.dumps([[prompt.id, prompt.prompt] for prompt in self.prompts])
        return PromptFacts(
            name=self.name,
            sha256=hashlib.sha256(texts.encode()).hexdigest(),
            ids=tuple(prompt.id for prompt in self.prompts),
            notes=self.notes,
        )


def read_prompts(source: str, *, target: str) -> PromptSet:
    """The prompts of a file, or the bundled ones that suit a target.

    Raises RunFolderError (file, line, what was expected) for a file that has none or is not what its
    name says; OSError if it cannot be opened; ValueError for `varied` prompts of another target than
    tiny.
    """
    if source == VARIED:
        if target != "tiny":
            raise ValueError(f"prompts varied must go with target tiny; got {target!r}.")
        return bundled_cuts(cuts=VARIED_CUTS)
    if source != BUNDLED:
        return read_prompt_file(Path(source))
    return bundled_cuts() if target == "tiny" else editing_tasks()


def read_prompt_file(path: Path) -> PromptSet:
    """The prompts of a .jsonl file or of a text with one prompt per line."""
    with path.open("rb") as stream:
        content = stream.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise RunFolderError(path, problem=f"must have at most {LARGEST_FILE:,} bytes.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise RunFolderError(path, line=line, problem="must be text in UTF-8.") from None
    # Not splitlines(): a form feed or a U+2028 within a prompt ends no line.
    lines = list(enumerate(text.replace("\r\n", "\n").split("\n"), start=1))
    if path.suffix == ".jsonl":
        prompts = tuple(_json_line(path, n, line) for n, line in lines if line.strip())
    else:
        prompts = tuple(Prompt(id=f"line-{n}", prompt=line) for n, line in lines if line.strip())
    if not prompts:
        raise RunFolderError(path, problem="must have at least one prompt; it has none.")
    seen: set[str] = set()
    for prompt in prompts:
        if prompt.id in seen:
            raise RunFolderError(path, problem=f"ids must be distinct; {prompt.id!r} is not.")
        seen.add(prompt.id)
    return PromptSet(name=path.name, prompts=prompts)


def _json_line(path: Path, number: int, line: str) -> Prompt:
    unknown: list[str] = []
    try:
        prompt = from_json(Prompt, parse(line.encode()), unknown.append)
    except SealError as error:
        raise RunFolderError(path, line=number, problem=f"this line {error}") from None
    except ValueError as error:
        raise RunFolderError(path, line=number, problem=str(error)) from None
    if unknown:
        problem = f"must have the members id and prompt only; got {unknown[0]!r} too."
        raise RunFolderError(path, line=number, problem=problem)
    if not (prompt.id and prompt.prompt):
        raise RunFolderError(path, line=number, problem="id and prompt must not be empty.")
    if not prompt.id.isprintable():
        problem = f"id must hold printable characters only; got {prompt.id!r}."
        raise RunFolderError(path, line=number, problem=problem)
    return prompt


def editing_tasks() -> PromptSet:
    """A dozen requests to repeat a text with a small change: what prompt lookup is good at.

    >>> len(editing_tasks().prompts)
    12
    """
    tasks = read_prompt_file(EDITING_TASKS)
    return PromptSet(name="bundled editing tasks", prompts=tasks.prompts, chat=True)


def bundled_cuts(folder: Path | None = None, *, cuts: Path = CUTS) -> PromptSet:
    """Cuts of held-out files from the running Python's own library, or from another `folder`.

    `cuts` says where: the usual ones, or VARIED_CUTS.

    The texts are not stored here. A file that this Python lacks is left out, one that it has in
    another version is cut all the same (its name keeps it out of training in every version); both
    are noted. Raises RunFolderError if nothing is left.
    """
    folder = library_folder() if folder is None else folder
    manifest = {file.path: file for file in read_manifest() if file.held_out}
    prompts, notes = [], dict[str, None]()
    for path, offset, length in _cuts(cuts):
        try:
            content = read_file(manifest[path], folder)
        except ValueError:
            notes[f"{path} is not in this Python's library: left out."] = None
            continue
        if not is_same(manifest[path], content):
            notes[f"{path} differs from the corpus manifest: cut from this Python's version."] = (
                None
            )
        text = content[offset : offset + length].decode("utf-8", "ignore")
        if text.strip():
            prompts.append(Prompt(id=f"{path}@{offset}", prompt=text))
    if not prompts:
        raise RunFolderError(folder, problem="has none of the held-out files of the corpus.")
    name = "bundled cuts" if cuts == CUTS else "varied cuts"
    return PromptSet(name=name, prompts=tuple(prompts), notes=tuple(notes))


def _cuts(cuts: Path) -> Iterator[tuple[str, int, int]]:
    with cuts.open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            yield row["path"], int(row["offset"]), int(row["length"])


def choose_cuts(
    files: Iterator[tuple[CorpusFile, bytes]], *, parts: int = 3
) -> Iterator[tuple[str, int, int]]:
    """How the bundled cuts were chosen: per held-out file of 5,000 bytes and more, up to two.

    A cut begins at a line's start near one and two thirds of the file (or where it is divided into
    more `parts`) and has 192 to 256 bytes, the last line whole where that fits.
    """
    for file, content in files:
        if file.held_out and file.size >= 5000:
            for share in range(1, parts):
                offset = content.index(b"\n", file.size * share // parts) + 1
                end = content.rfind(b"\n", offset + 192, offset + 256) + 1
                length = (end or offset + 224) - offset
                if content[offset : offset + length].isascii():
                    yield file.path, offset, length
