"""What two loops did on the same requests, as one frozen value and as a file of JSON."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path

from real_runs.models.identity import ModelIdentity
from real_runs.runs.errors import RunFolderError
from real_runs.runs.header import Environment, PromptFacts, Settings
from real_runs.runs.reading import HEADER, read_sealed
from real_runs.runs.sealing import seal
from simulator.acceptance import AcceptanceTable

PEER_FILE = "peer.json"
SCHEMA_VERSION = 1
_LARGEST_FILE = 1 << 28
NS = 1e9

PROMPT, SEARCH, END = "a round over the prompt", "its search", "its end of drafts"
CUSTOMS = {
    PROMPT: "the peer's pass over the prompt judges a draft at once; ours emits one token, of no round.",
    SEARCH: "the peer copies what followed the earliest match, up to the text's end; ours prefers a "
    "later one, and goes on into its copy.",
    END: "the peer drafts nothing that a limit or a stop token would cut, or does not count it; ours "
    "drafts in full and counts what is thrown away as discarded.",
}
"""The stages that lead from our counts to the peer's, and what each of them takes over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The rounds of a request in order [tokens per round], and their counts by depth."""

    drafted: tuple[int, ...]
    accepted: tuple[int, ...]
    emitted: tuple[int, ...]
    table: AcceptanceTable

    def __post_init__(self) -> None:
        lengths = {len(self.drafted), len(self.accepted), len(self.emitted)}
        if lengths != {self.table.rounds}:
            raise ValueError(
                f"every list must have one entry per round, {self.table.rounds}; got "
                f"{len(self.drafted)}, {len(self.accepted)} and {len(self.emitted)}."
            )

    def differing(self, other: Counts) -> int:
        """Rounds that are not the same in both, taken in order; those that one of them lacks differ."""
        mine, theirs = self._rounds(), other._rounds()
        unequal = sum(a != b for a, b in zip(mine, theirs, strict=False))
        return unequal + abs(len(mine) - len(theirs))

    def _rounds(self) -> tuple[tuple[int, int, int], ...]:
        return tuple(zip(self.drafted, self.accepted, self.emitted, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One loop's answer to a request, from the call to its return.

    `first_tokens` had arrived after `first_ns`, when the prompt was read: one of ours, a whole round of
    a loop whose first pass judges a draft. `target_ns` and `draft_ns` are the time inside of the two
    models' forward passes, the prompt's included.
    """

    tokens: tuple[int, ...]
    first_tokens: int
    first_ns: int
    total_ns: int
    target_passes: int
    target_ns: int
    draft_passes: int
    draft_ns: int
    counts: Counts

    def __post_init__(self) -> None:
        if not self.tokens or not 0 < self.first_ns <= self.total_ns:
            raise ValueError(
                "a turn must have tokens, and 0 < first_ns <= total_ns; got "
                f"{len(self.tokens)} tokens, {self.first_ns} and {self.total_ns}."
            )

    @property
    def total_s(self) -> float:
        """The whole request [s]."""
        return self.total_ns / NS

    @property
    def first_s(self) -> float:
        """Until the prompt was read and the first tokens were there [s]."""
        return self.first_ns / NS

    @property
    def target_s(self) -> float:
        """Inside of the target's passes [s]."""
        return self.target_ns / NS

    @property
    def draft_s(self) -> float:
        """Inside of the draft's passes [s]."""
        return self.draft_ns / NS


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Our loop with one more of the peer's customs than in the stage before."""

    name: str
    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerRequest:
    """A request, answered by both loops; the last of `stages` does all that the peer does."""

    prompt: str
    gamma: int
    repeat: int
    prompt_tokens: int
    ours_first: bool
    ours: Turn
    peer: Turn
    stages: tuple[Stage, ...]

    def __post_init__(self) -> None:
        if not self.stages:
            raise ValueError("stages must hold one at least; got none.")

    @property
    def same_text(self) -> bool:
        """Whether both emitted the same tokens."""
        return self.ours.tokens == self.peer.tokens

    @property
    def unexplained(self) -> int:
        """Rounds of the peer that are not those of the last stage."""
        return self.stages[-1].counts.differing(self.peer.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerComparison:
    """Both loops on the same models, prompts and draft lengths, taken in turns in one process."""

    schema_version: int
    peer: str
    version: str
    settings: Settings
    prompts: PromptFacts
    target: ModelIdentity
    draft: ModelIdentity | None
    environment: Environment
    requests: tuple[PeerRequest, ...]

    def __post_init__(self) -> None:
        if len({tuple(stage.name for stage in each.stages) for each in self.requests}) != 1:
            raise ValueError(
                "requests must be one at least, all with the same stages; got "
                f"{len(self.requests)} requests."
            )


def check_peer_place(folder: str | Path) -> None:
    """ValueError for a place that no comparison can be written to, or that holds one or a run."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} must be a folder; it is a file.")
    if (folder / PEER_FILE).exists():
        raise ValueError(f"{folder} holds a {PEER_FILE} already; choose another folder.")
    if (folder / HEADER).exists():
        raise ValueError(f"{folder} holds a run; choose another folder.")


def holds_comparison(folder: str | Path) -> bool:
    """Whether a folder is that of a comparison, and not of a run."""
    folder = Path(folder)
    return (folder / PEER_FILE).is_file() and not (folder / HEADER).exists()


def write_peer(comparison: PeerComparison, folder: str | Path) -> Path:
    """Write peer.json into a folder, which is made; OSError if it cannot be, ValueError if it is there."""
    check_peer_place(folder)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path, new = folder / PEER_FILE, folder / f"{PEER_FILE}.new"
    with new.open("wb") as stream:
        stream.write(seal(dataclasses.asdict(comparison), between="\n").encode() + b"\n")
        stream.flush()
        os.fsync(stream.fileno())
    new.replace(path)
    return path


def read_peer(folder: str | Path) -> PeerComparison:
    """The comparison in a folder; RunFolderError if it is damaged, OSError if it cannot be opened."""
    path = Path(folder) / PEER_FILE
    unknown: list[str] = []
    found = read_sealed(
        path, PeerComparison, newest=SCHEMA_VERSION, most=_LARGEST_FILE, unknown=unknown.append
    )
    if unknown:
        raise RunFolderError(path, problem=f"has the member {unknown[0]!r}, which is not known.")
    return found
