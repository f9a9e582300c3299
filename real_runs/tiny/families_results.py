"""What is kept of the experiment on families: one sealed file, and the two tables made from it."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from real_runs.runs.errors import RunFolderError
from real_runs.runs.from_json import from_json
from real_runs.runs.header import Environment
from real_runs.runs.sealing import SealError, seal, unseal

RESULTS = Path(__file__).parents[1] / "data" / "families" / "results.json"
DRAFTS, PROMPTS = "family_drafts.csv", "family_prompts.csv"
"""Tables that `--tables FOLDER` writes."""
LARGEST_FILE = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyRecipe:
    """How every draft is trained and judged; only the texts and, where said, the steps differ."""

    steps: int = 600
    short_steps: int = 150
    batch: int = 4  # [windows]
    windows: int = 800
    peak_rate: float = 3e-3
    seeds: tuple[int, ...] = (11, 12, 13)
    opening: int = 32  # tokens of a window that the target goes on from
    prompt_tokens: int = 193
    places: int = 128  # tokens of a judged text at which rounds may begin
    gamma: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSample:
    """The windows of one kind of text, and the hash of their tokens."""

    kind: str
    windows: int
    tokens: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSums:
    """One draft behind one prompt: sums over the target's sampled text and over its greedy text.

    `overlap` is Σ over `places` of Σ min(P, Q). `rounds` and `tokens` are those expected at
    temperature 1; the greedy ones are counts, `agreed` the places where both prefer the same token.
    """

    path: str
    offset: int
    places: int
    overlap: float
    rounds: float
    tokens: float
    greedy_places: int
    agreed: int
    greedy_rounds: int
    greedy_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyDraft:
    """A draft of one kind: its seed, its training, its loss on held-out files [nats/byte], its sums."""

    kind: str
    seed: int
    steps: int
    parameters: int
    held_out_loss: float
    prompts: tuple[PromptSums, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyResults:
    """The whole experiment, with what it was made from."""

    date: str
    command: str
    environment: Environment
    target_sha256: str
    target_loss: float
    recipe: FamilyRecipe
    texts: tuple[TextSample, ...]
    drafts: tuple[FamilyDraft, ...]


def write_results(results: FamilyResults, path: Path = RESULTS) -> None:
    """Write the results as sealed JSON, a member per line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(seal(asdict(results), between="\n") + "\n", encoding="ascii")


def read_results(path: Path = RESULTS) -> FamilyResults:
    """The results of a file; RunFolderError if it was changed or is something else.

    >>> read_results().recipe.gamma
    4
    """
    with path.open("rb") as stream:
        content = stream.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise RunFolderError(path, problem=f"must have at most {LARGEST_FILE:,} bytes.")
    unknown: list[str] = []
    try:
        results = from_json(FamilyResults, unseal(content.removesuffix(b"\n")), unknown.append)
    except SealError as error:
        raise RunFolderError(path, problem=f"this file {error}") from None
    except ValueError as error:
        raise RunFolderError(path, problem=str(error)) from None
    if unknown:
        raise RunFolderError(path, problem=f"must not have the member {unknown[0]!r}.")
    return results


def write_tables(results: FamilyResults, folder: Path) -> None:
    """One table with a row per draft, and one with a row per draft and prompt."""
    drafts = results.drafts
    _write(
        folder / DRAFTS,
        ("kind", "seed", "steps", "windows", "parameters", "held_out_loss"),
        ([d.kind, d.seed, d.steps, results.recipe.windows, d.parameters, d.held_out_loss]
         for d in drafts),
    )  # fmt: skip
    sums = tuple(PromptSums.__dataclass_fields__)
    _write(
        folder / PROMPTS,
        ("kind", "seed", *sums),
        ([d.kind, d.seed, *(getattr(row, name) for name in sums)] for d in drafts for row in d.prompts),
    )  # fmt: skip


def _write(path: Path, names: tuple[str, ...], rows: Iterable[list[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)
