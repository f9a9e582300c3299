"""What run.json holds: what was asked for, on what, in which order, and how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from real_runs.models.identity import ModelIdentity

SCHEMA_VERSION = 1
"""Of the run folder; a reader refuses newer ones."""
Status: TypeAlias = Literal["running", "interrupted", "complete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What decides the numbers of a run: a run is only continued with the same ones."""

    target: str
    drafter: str
    draft: str | None
    gammas: tuple[int, ...]
    max_tokens: int
    rule: str
    stop: str
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    order: str = "transformers"
    repeats: int = 1
    seed: int = 0
    device: str = "cpu"
    dtype: str = "float32"
    threads: int = 1
    stop_tokens: tuple[int, ...] = ()
    allow_lossy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptFacts:
    """Which prompts: the name of the set, the hash of its texts, their ids, and remarks on them."""

    name: str
    sha256: str
    ids: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """On what: an allow-list of facts that times depend on, none of them about a person or a place."""

    python: str
    packages: tuple[tuple[str, str], ...]
    system: str
    machine: str
    cpu: str
    cores: int
    memory_bytes: int
    accelerator: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One request to be measured; gamma 0 is plain decoding."""

    prompt: str
    gamma: int
    repeat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One process that worked on the run: its UTC times, and the requests done before it."""

    started: str
    ended: str | None
    before: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The content of run.json. `tasks` is the order in which the requests are made."""

    schema_version: int
    status: Status
    argv: tuple[str, ...]
    settings: Settings
    prompts: PromptFacts
    target: ModelIdentity
    draft: ModelIdentity | None
    environment: Environment
    tasks: tuple[Task, ...]
    sessions: tuple[Session, ...]
