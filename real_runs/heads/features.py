"""The states that a target's output layer sees along its own text: what heads draft from.

Computed once and cached beside the text, as half-precision numbers in one file that is mapped, not
read, so that training on it for several epochs costs no memory:

    features.json    the target, its precision, the width and the text, sealed
    features.jsonl   one line per text whose states are there, with their checksum
    hidden.npy       float16 [tokens of all texts, width], texts in the order of their prompts

The state of token i is the one the target has after reading tokens[: i + 1]; its output layer turns
it into the logits of token i + 1.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from real_runs.heads.journal import SCHEMA_VERSION, open_journal, read_header, read_journal
from real_runs.heads.self_text import SelfText, digest, read_self_text, read_text_header
from real_runs.heads.state_passes import passes, states_of
from real_runs.heads.states_file import HalfArray, create, map_states, write_rows
from real_runs.models.causal import CausalTarget
from real_runs.runs.errors import RunFolderError
from simulator._checks import IntArray, as_count, as_probability

HEADER, DONE, STATES = "features.json", "features.jsonl", "hidden.npy"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureHeader:
    """Whose states these are, in which precision they were computed, along which text."""

    target: str
    target_sha256: str
    dtype: str
    width: int
    tokens: int
    text_sha256: str
    schema_version: int = SCHEMA_VERSION

    @property
    def shape(self) -> tuple[int, int]:
        """That of all states together."""
        return self.tokens, self.width


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureRecord:
    """A text whose states are written: its number, and the CRC-32 of their bytes."""

    text: int
    crc32: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Features:
    """Texts with the target's states, both by the number of the text in [0, count)."""

    header: FeatureHeader
    texts: tuple[SelfText, ...]
    starts: IntArray  # [count]: first row of each text
    states: HalfArray  # [tokens, width], mapped

    @property
    def count(self) -> int:
        """Number of texts."""
        return len(self.texts)

    @property
    def width(self) -> int:
        """Length of a state."""
        return self.header.width

    def tokens(self, index: int) -> IntArray:
        """Prompt and self-written tokens of a text, [n]."""
        return self.texts[index].tokens

    def prompt_tokens(self, index: int) -> int:
        """How many of them are the prompt's."""
        return self.texts[index].prompt_tokens

    def hidden(self, index: int) -> HalfArray:
        """The states after each token, [n, width]; a view of the file."""
        first = int(self.starts[index])
        return self.states[first : first + len(self.tokens(index))]


def write_features(
    target: CausalTarget,
    folder: str | Path,
    *,
    pass_tokens: int = 2048,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Compute the target's states along the text of a folder, and store them there.

    A pass reads texts of about `pass_tokens` tokens together. The precision may be another than the
    one that the text was written in. `progress` takes the share of texts done.

    Raises ValueError, one sentence each: text of another target (by name and hash), features of
    another precision in the folder, a folder in use, states beyond half precision; RunFolderError
    for unfinished or damaged text.
    """
    folder = Path(folder)
    pass_tokens = as_count("pass_tokens", pass_tokens, least=1)
    texts = read_self_text(folder)
    _check_target(folder, target)
    lengths = [len(text.tokens) for text in texts]
    header = FeatureHeader(
        target=target.identity.name,
        target_sha256=target.identity.sha256,
        dtype=target.identity.dtype,
        width=target.identity.hidden_size,
        tokens=sum(lengths),
        text_sha256=_text_digest(texts),
    )
    with open_journal(
        folder / DONE, FeatureRecord, header=header, header_path=folder / HEADER
    ) as journal:
        path, starts = folder / STATES, _starts(lengths)
        if not journal.records:
            create(path, header.shape)
        done = {record.text for record in journal.records}
        missing = [index for index in range(len(texts)) if index not in done]
        for indices in passes(missing, lengths, pass_tokens):
            states = states_of(target, [texts[index].tokens for index in indices])
            places = [int(starts[index]) for index in indices]
            write_rows(path, header.shape, zip(places, states, strict=True))
            journal.append(
                [
                    FeatureRecord(text=index, crc32=zlib.crc32(rows.tobytes()))
                    for index, rows in zip(indices, states, strict=True)
                ]
            )
            if progress is not None:
                progress(len(journal.records) / len(texts))


def read_features(folder: str | Path) -> Features:
    """The features of a folder, every state checked against its checksum.

    Raises RunFolderError for a folder without them, unfinished or damaged ones, and features of
    another text than the one beside them.
    """
    folder = Path(folder)
    header = read_header(folder / HEADER, FeatureHeader, "folder of features")
    texts = read_self_text(folder)
    if (header.text_sha256, header.tokens) != (
        _text_digest(texts),
        sum(len(text.tokens) for text in texts),
    ):
        raise RunFolderError(folder / HEADER, problem="belongs to another text than the folder's.")
    features = Features(
        header=header,
        texts=texts,
        starts=_starts([len(text.tokens) for text in texts]),
        states=map_states(folder / STATES, header.shape),
    )
    records = read_journal(folder / DONE, FeatureRecord)
    if {record.text for record in records} != set(range(len(texts))):
        raise RunFolderError(
            folder,
            problem=f"must hold the states of {len(texts)} texts; it holds those of {len(records)}, "
            "and the same command continues it.",
        )
    for record in records:
        if zlib.crc32(features.hidden(record.text).tobytes()) != record.crc32:
            raise RunFolderError(
                folder / STATES, problem=f"the states of text {record.text} were changed."
            )
    return features


def split(features: Features, *, held_out: float = 0.05) -> tuple[IntArray, IntArray]:
    """Numbers of the texts to train on and of those to judge on.

    A text's prompt decides by its hash, so that the side does not depend on the order or on how it
    was continued; texts of one prompt stay together. At least one is held out. Raises ValueError
    for a share outside of [0, 1], and where nothing would be left to train on.
    """
    share = as_probability("held_out", held_out)
    ranks = np.array(
        [
            int.from_bytes(hashlib.sha256(text.tokens[: text.prompt_tokens].tobytes()).digest()[:8])
            for text in features.texts
        ],
        dtype=np.uint64,
    )
    size = max(1, round(share * features.count))
    judged = ranks <= np.sort(ranks)[size - 1]
    if judged.all():
        raise ValueError(
            f"held_out must leave a text to train on; {share:g} of {features.count} leaves none."
        )
    return np.flatnonzero(~judged), np.flatnonzero(judged)


def _check_target(folder: Path, target: CausalTarget) -> None:
    header, identity = read_text_header(folder), target.identity
    if header.target_sha256 != identity.sha256:
        raise ValueError(
            f"{folder} must hold text of {identity.name} (sha256 {identity.sha256[:12]}…); it is "
            f"that of {header.target} (sha256 {header.target_sha256[:12]}…)."
        )


def _starts(lengths: Sequence[int]) -> IntArray:
    return np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)


def _text_digest(texts: Sequence[SelfText]) -> str:
    return digest(
        np.concatenate([np.array([text.prompt_tokens], dtype=np.int64), text.tokens])
        for text in texts
    )
