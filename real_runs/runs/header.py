"""What run.json holds: what was asked for, on what, in which order, and how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from real_runs.models.identity import ModelIdentity

SCHEMA_VERSION = 2
"""Of the run folder; a reader refuses newer ones. 1 knows neither heads nor trees."""
Status: TypeAlias = Literal["running", "interrupted", "complete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeShape:
    """A fixed tree of drafted tokens, as `simulator.trees.Tree` takes it: parents and ranks."""

    parents: tuple[int, ...]
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What decides the numbers of a run: a run is only continued with the same ones.

    `tree` is what was asked for, "chain", "nodes:N", "best:N" or "dynamic:N:EXPAND"; `shape` the fixed
    tree that was chosen for "nodes:N" or "best:N". `siblings` says how heads pick their tokens.
    `window`, `ngram` and `candidates` belong to Lookahead, and whether it takes n-grams from the prompt
    too.
    """

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
    heads: str | None = None
    tree: str = "chain"
    shape: TreeShape | None = None
    siblings: str = "chosen"
    window: int = 0
    ngram: int = 0
    candidates: int = 0
    ngrams_from_prompt: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadsFacts:
    """Which heads drafted: their weights' hash, their target's, and how they did on held-out text.

    `vocabulary` is the number of tokens that they draft from. `accuracies[depth][r]` is P(the target's
    token has rank r | all before it had one of so many ranks), greedy; empty where it is not known.
    """

    name: str
    kind: str
    sha256: str
    target_sha256: str
    parameters: int
    vocabulary: int
    accuracies: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeCosts:
    """What the tree of "best:N" was chosen by, timed before the first request behind `context` tokens.

    `verify_costs[i]` is V(widths[i]), the target's pass over so many tokens / over one, which takes
    `plain_s` [s]. A round pays `step_cost` [plain passes] for every depth of its tree where `steps` are
    "sequential", and once where a draft is "one" step.
    """

    widths: tuple[int, ...]
    verify_costs: tuple[float, ...]
    steps: Literal["sequential", "one"]
    step_cost: float
    plain_s: float
    context: int


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
    """The content of run.json. `tasks` is the order in which the requests are made.

    `tree_costs` are there where they decided the tree.
    """

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
    heads: HeadsFacts | None = None
    tree_costs: TreeCosts | None = None
