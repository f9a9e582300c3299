"""Vary the family of a draft alone: `python -m real_runs.tiny.families`.

One target, the bundled tiny one. Its drafts have one shape, one vocabulary, as much text and as many
steps; only what they learn from differs:

    own            windows of the target's own corpus
    own, short     the same for a quarter of the steps
    mixture        half of those windows, half of `prose`
    written        text that the target wrote, sampled behind the openings of the `own` windows
    taught         the `own` windows, with the target's distributions in place of their tokens
    python         Python by other hands: pip's own sources
    python, taught the `python` windows, with the target's distributions
    prose          English: the language reference

Every draft is judged along the same texts, which the target writes behind cuts of files that neither
it nor any draft has seen. Seeds vary first weights and order; each kind is one sample of text. One
thread, about a quarter of an hour on an idle core. Another machine or version of torch rounds
differently: results are then equal in kind and not digit for digit.
`--tables FOLDER` trains nothing and writes the tables of the kept results.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from real_runs.host import environment
from real_runs.models.sources import find_source
from real_runs.tiny.corpus import read_file, read_manifest
from real_runs.tiny.families_judging import judge, judged_texts
from real_runs.tiny.families_results import (
    RESULTS,
    FamilyDraft,
    FamilyRecipe,
    FamilyResults,
    TextSample,
    read_results,
    write_results,
    write_tables,
)
from real_runs.tiny.families_texts import (
    PROSE,
    PYTHON,
    own_texts,
    scan,
    strange_texts,
    write_strange_manifest,
)
from real_runs.tiny.families_training import choose_windows, teach, train_draft, write_behind
from real_runs.tiny.train import as_tokens, held_out_loss, load

COMMAND = "python -m real_runs.tiny.families"
_TEXT_SEED, _WRITING_SEED = 1, 2
_LOSS_EVERY = 4  # of the held-out windows one in so many


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lessons:
    """What drafts of a kind learn from: windows [n, CONTEXT + 1], the target's word for them, steps."""

    kind: str
    windows: torch.Tensor
    taught: torch.Tensor | None
    steps: int


def lessons(target: Any, recipe: FamilyRecipe, *, any_version: bool = False) -> Iterator[Lessons]:
    """Every kind in the order above; one at a time, as the distributions are large."""
    own, python, prose = (
        choose_windows(as_tokens(texts), recipe.windows, seed=_TEXT_SEED)
        for texts in (
            own_texts(any_version=any_version),
            strange_texts(PYTHON, any_version=any_version),
            strange_texts(PROSE, any_version=any_version),
        )
    )
    half = recipe.windows // 2
    opening = own[:, : recipe.opening]

    def kind(name: str, windows: torch.Tensor, *, by_target: bool = False) -> Lessons:
        return Lessons(
            kind=name,
            windows=windows,
            taught=teach(target, windows) if by_target else None,
            steps=recipe.short_steps if name == "own, short" else recipe.steps,
        )

    yield kind("own", own)
    yield kind("own, short", own)
    yield kind("mixture", torch.cat([own[:half], prose[half:]]))
    written = write_behind(target, opening, own.shape[1] - recipe.opening, seed=_WRITING_SEED)
    yield kind("written", written)
    yield kind("taught", own, by_target=True)
    yield kind("python", python)
    yield kind("python, taught", python, by_target=True)
    yield kind("prose", prose)


def run_families(recipe: FamilyRecipe, *, any_version: bool = False) -> FamilyResults:
    """Train and judge every draft."""
    started = time.perf_counter()
    target = load("target")
    held_out = [read_file(file) for file in read_manifest() if file.held_out]
    sampled, greedy = (judged_texts(target, recipe, greedy=each) for each in (False, True))
    samples, drafts = [], []
    for lesson in lessons(target, recipe, any_version=any_version):
        samples.append(_sample(lesson))
        for seed in recipe.seeds:
            draft = train_draft(
                lesson.windows, recipe, seed=seed, steps=lesson.steps, taught=lesson.taught
            )
            loss = held_out_loss(draft, held_out, every=_LOSS_EVERY)
            sums = tuple(judge(draft, *pair, recipe) for pair in zip(sampled, greedy, strict=True))
            drafts.append(
                FamilyDraft(
                    kind=lesson.kind,
                    seed=seed,
                    steps=lesson.steps,
                    parameters=sum(parameter.numel() for parameter in draft.parameters()),
                    held_out_loss=round(loss, 6),
                    prompts=sums,
                )
            )
            share = sum(row.overlap for row in sums) / sum(row.places for row in sums)
            print(  # noqa: T201 — progress on stderr
                f"{lesson.kind}, seed {seed}: held-out loss {loss:.3f} nats/byte, p {share:.3f}, "
                f"{time.perf_counter() - started:.0f} s",
                file=sys.stderr,
                flush=True,
            )
    return FamilyResults(
        date=datetime.now(UTC).date().isoformat(),
        command=COMMAND,
        environment=environment(),
        target_sha256=find_source("tiny").sha256(),
        target_loss=round(held_out_loss(target, held_out, every=_LOSS_EVERY), 6),
        recipe=recipe,
        texts=tuple(samples),
        drafts=tuple(drafts),
    )


def _sample(lesson: Lessons) -> TextSample:
    content = lesson.windows.numpy().astype("<i2").tobytes()
    return TextSample(
        kind=lesson.kind,
        windows=len(lesson.windows),
        tokens=lesson.windows.numel(),
        sha256=hashlib.sha256(content).hexdigest(),
    )


def main() -> None:
    """Train and judge drafts of several families, and keep the sums."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results go")
    parser.add_argument("--steps", type=int, help="fewer steps than the recipe, for a trial")
    parser.add_argument("--any-version", action="store_true", help="do not check the texts")
    parser.add_argument("--new-manifest", action="store_true", help="take this Python's texts")
    parser.add_argument("--tables", type=Path, metavar="FOLDER", help="write the tables only")
    arguments = parser.parse_args()
    if arguments.tables:
        write_tables(read_results(arguments.out), arguments.tables)
        return
    torch.set_num_threads(1)
    if arguments.new_manifest:
        write_strange_manifest(scan())
    recipe = FamilyRecipe()
    if arguments.steps:
        recipe = replace(recipe, steps=arguments.steps, short_steps=max(arguments.steps // 4, 1))
    write_results(run_families(recipe, any_version=arguments.any_version), arguments.out)


if __name__ == "__main__":
    main()
