"""What a target writes itself: the text that its heads learn from.

Heads have to guess what the target says next, so they are trained on its own greedy text, not on
other people's (Cai et al. 2024, arXiv 2401.10774, section 2.3, calls it self-distillation). It is
written once into a folder, batch by batch, and a stopped process goes on where it was:

    text.json    the target, the prompts and the length, sealed
    text.jsonl   one line per text, in the order in which they were written
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from real_runs.heads.greedy_batches import continue_greedily, similar_lengths
from real_runs.heads.journal import SCHEMA_VERSION, open_journal, read_header, read_journal
from real_runs.models.causal import CausalTarget
from real_runs.runs.errors import RunFolderError
from real_runs.runs.lock import LOCK
from simulator._checks import IntArray, as_count

HEADER, TEXTS = "text.json", "text.jsonl"
LARGEST_VOCABULARY = 1 << 31


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SelfText:
    """A prompt of `prompt_tokens` tokens and what the target wrote behind it: `tokens`, [n]."""

    prompt_tokens: int
    tokens: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class TextHeader:
    """Who writes (name, hash of the weights, precision), behind which prompts, how much of it."""

    target: str
    target_sha256: str
    dtype: str
    prompts: int
    prompts_sha256: str
    new_tokens: int
    schema_version: int = SCHEMA_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRecord:
    """A finished text: the number of its prompt, that prompt's length, all its tokens."""

    prompt: int
    prompt_tokens: int
    tokens: tuple[int, ...]


def write_self_text(
    target: CausalTarget,
    prompts: Sequence[IntArray],
    folder: str | Path,
    *,
    new_tokens: int,
    batch: int = 32,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Let the target continue every prompt greedily by up to `new_tokens`, into a folder.

    Texts that are there already are kept; `batch` may differ from one session to the next.
    `progress` takes the share done.

    Raises ValueError, one sentence each: no prompt, one that is empty or does not fit the context
    with what follows it, a folder of another target, of other prompts or another length, or in use;
    RunFolderError for a damaged one and for one that has something else in it.
    """
    folder = Path(folder)
    batch = as_count("batch", batch, least=1)
    new_tokens = as_count("new_tokens", new_tokens, least=1)
    rows = [_checked(target, index, prompt, new_tokens) for index, prompt in enumerate(prompts)]
    if not rows:
        raise ValueError("prompts must hold at least one prompt; got none.")
    header = TextHeader(
        target=target.identity.name,
        target_sha256=target.identity.sha256,
        dtype=target.identity.dtype,
        prompts=len(rows),
        prompts_sha256=digest(rows),
        new_tokens=new_tokens,
    )
    _refuse_foreign(folder)
    with open_journal(
        folder / TEXTS, TextRecord, header=header, header_path=folder / HEADER
    ) as journal:
        done = {record.prompt for record in journal.records}
        missing = [index for index in range(len(rows)) if index not in done]
        for chosen in similar_lengths([len(rows[index]) for index in missing], batch=batch):
            indices = [missing[row] for row in chosen]
            texts = continue_greedily(
                target, [rows[index] for index in indices], new_tokens=new_tokens
            )
            journal.append(
                [
                    TextRecord(
                        prompt=index, prompt_tokens=len(rows[index]), tokens=tuple(text.tolist())
                    )
                    for index, text in zip(indices, texts, strict=True)
                ]
            )
            if progress is not None:
                progress(len(journal.records) / len(rows))


def read_self_text(folder: str | Path) -> tuple[SelfText, ...]:
    """The texts of a folder, in the order of their prompts.

    Raises RunFolderError for a folder that holds none, is damaged, or is unfinished.
    """
    folder = Path(folder)
    header = read_text_header(folder)
    records = read_journal(folder / TEXTS, TextRecord)
    problem = None
    for line, record in enumerate(records, start=1):
        if not 1 <= record.prompt_tokens <= len(record.tokens):
            problem = "prompt_tokens must lie in [1, number of tokens]"
        elif not 0 <= min(record.tokens) <= max(record.tokens) < LARGEST_VOCABULARY:
            problem = f"tokens must lie in [0, {LARGEST_VOCABULARY})"
        if problem:
            raise RunFolderError(folder / TEXTS, line=line, problem=f"{problem}.")
    by_prompt = {record.prompt: record for record in records}
    if len(by_prompt) < len(records) or len(records) > header.prompts:
        raise RunFolderError(
            folder / TEXTS, problem="must hold every text once; one is there twice."
        )
    if len(records) < header.prompts:
        raise RunFolderError(
            folder,
            problem=f"must hold {header.prompts} texts; it holds {len(records)}, and the same "
            "command continues it.",
        )
    if set(by_prompt) != set(range(header.prompts)):
        raise RunFolderError(folder / TEXTS, problem="must hold the texts of its own prompts.")
    return tuple(
        SelfText(
            prompt_tokens=by_prompt[index].prompt_tokens,
            tokens=np.array(by_prompt[index].tokens, dtype=np.int64),
        )
        for index in range(header.prompts)
    )


def read_text_header(folder: Path) -> TextHeader:
    """Who wrote the texts of a folder, and behind what."""
    return read_header(folder / HEADER, TextHeader, "folder of self-written text")


def digest(rows: Iterable[IntArray]) -> str:
    """A hash of rows of tokens that tells where each ends.

    >>> digest([np.array([1, 2])]) == digest([np.array([1]), np.array([2])])
    False
    """
    result = hashlib.sha256()
    for row in rows:
        result.update(len(row).to_bytes(8, "little"))
        result.update(np.ascontiguousarray(row, dtype="<i8").tobytes())
    return result.hexdigest()


def _refuse_foreign(folder: Path) -> None:
    """RunFolderError for a folder that has something else in it."""
    if folder.is_dir() and not (folder / HEADER).exists():
        others = {entry.name for entry in folder.iterdir()} - {LOCK, f"{HEADER}.new"}
        if others:
            raise RunFolderError(
                folder, problem=f"must be new or empty, or hold such text; it has {min(others)}."
            )


def _checked(target: CausalTarget, index: int, prompt: IntArray, new_tokens: int) -> IntArray:
    ids = np.ascontiguousarray(prompt, dtype=np.int64)
    if ids.ndim != 1 or not len(ids) or ids.min() < 0 or ids.max() >= target.vocabulary:
        raise ValueError(
            f"prompt {index} must be one row of at least one id in [0, {target.vocabulary}); got "
            f"shape {list(ids.shape)}."
        )
    if target.context is not None and len(ids) + new_tokens > target.context:
        raise ValueError(
            f"prompt {index} must fit the context of {target.context} tokens together with "
            f"{new_tokens} new ones; it has {len(ids)}."
        )
    return ids
