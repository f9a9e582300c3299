"""`specdec train-heads`: Medusa heads or an EAGLE head on a target. Registered by `analysis.cli`."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from analysis.heads_options import (
    Batch,
    Blocks,
    Heads,
    HeadsOut,
    Inner,
    KindOfHeads,
    NewTokens,
    PeakRate,
    SharedOutput,
    Steps,
    Text,
    TextDtype,
    TextTokens,
    TrainingSeed,
    Unroll,
    Vocabulary,
)
from analysis.options import OutputFormat
from analysis.output import Format, Report, Row, Section, emit
from analysis.progress import shown_progress
from analysis.run_options import Device, Resume, Target, Threads

if TYPE_CHECKING:
    from real_runs.heads.header import HeadsHeader

EXIT_BAD_DATA, EXIT_INTERRUPTED = 3, 130
_LINE_EVERY_S = 30.0


def register(app: typer.Typer) -> None:
    """Add the command to `specdec`."""
    app.command(name="train-heads")(train_heads_command)


def train_heads_command(
    kind: KindOfHeads,
    out: HeadsOut,
    target: Target = "tiny",
    text: Text = None,
    text_tokens: TextTokens = None,
    new_tokens: NewTokens = 128,
    text_dtype: TextDtype = None,
    steps: Steps = None,
    batch: Batch = None,
    peak_rate: PeakRate = None,
    unroll: Unroll = None,
    heads: Heads = 4,
    blocks: Blocks = 2,
    shared_output: SharedOutput = False,  # noqa: FBT002
    inner: Inner = None,
    vocabulary: Vocabulary = 8192,
    seed: TrainingSeed = 0,
    device: Device = "cpu",
    threads: Threads = None,
    resume: Resume = False,  # noqa: FBT002
    output: OutputFormat = Format.TABLE,
) -> None:
    """Train Medusa heads or an EAGLE head on a frozen target, from text that it writes itself."""
    from real_runs.target import load_target  # noqa: PLC0415

    if text_dtype is None:
        text_dtype = "float32" if target == "tiny" else "bfloat16"
    if text_tokens is None:
        text_tokens = 256_000 if target == "tiny" else 128_000
    model = load_target(target, device=device, dtype=text_dtype)
    from real_runs.heads.order import HeadsOrder, default_recipe  # noqa: PLC0415
    from real_runs.heads.train_heads import train_heads  # noqa: PLC0415
    from real_runs.models.devices import set_threads  # noqa: PLC0415

    recipe = default_recipe(kind.value, width=model.identity.hidden_size)
    order = HeadsOrder(
        kind=kind.value,
        recipe=dataclasses.replace(
            recipe,
            seed=seed,
            steps=recipe.steps if steps is None else steps,
            batch=recipe.batch if batch is None else batch,
            peak_rate=recipe.peak_rate if peak_rate is None else peak_rate,
            unroll=recipe.unroll if unroll is None else unroll,
        ),
        vocabulary=vocabulary,
        heads=heads,
        blocks=blocks,
        own_output=not shared_output,
        inner=inner,
        text_tokens=text_tokens,
        new_tokens=new_tokens,
    )
    use = nullcontext() if threads is None else set_threads(threads)
    with _errors(out), _stages() as progress, use:
        header = train_heads(model, order, out, text=text, resume=resume, progress=progress)
    parameters = (
        ("kind", kind.value),
        ("target", header.target),
        ("seed", seed),
        ("out", out.name),
    )
    emit(heads_report(header, parameters), output)


def heads_report(
    header: HeadsHeader, parameters: tuple[tuple[str, str | int | float | bool | None], ...]
) -> Report:
    """How good heads are on held-out text, by depth, and how their loss fell."""
    accuracy = header.accuracy
    rows: list[Row] = []
    mean, survival = 1.0, 1.0
    for depth, (tested, accepted) in enumerate(
        zip(accuracy.tested, accuracy.accepted, strict=True)
    ):
        ranks = accuracy.by_rank[depth]
        survival *= accepted / tested if tested else 0.0
        mean += survival
        rows.append(
            (
                depth + 1,
                ranks[0],
                sum(ranks[:3]),
                sum(ranks[:10]),
                tested,
                accepted,
                accepted / tested if tested else None,
                mean,
            )
        )
    name = "Medusa heads" if header.kind == "medusa" else "an EAGLE head"
    return Report(
        command="train-heads",
        parameters=parameters,
        sections=(
            Section(
                name="accuracies",
                columns=(
                    "depth",
                    "top 1",
                    "top 3",
                    "top 10",
                    "tested",
                    "accepted",
                    "p given tested",
                    "tokens per round",
                ),
                rows=tuple(rows),
            ),
            Section(
                name="loss",
                columns=("steps", "loss"),
                rows=tuple(zip(header.curve.steps, header.curve.losses, strict=True)),
                hidden=True,
            ),
        ),
        headline=f"{header.parameters:,} parameters of {name}, {header.recipe.steps:,} steps on "
        f"{header.text.tokens:,} tokens; the loss went from {header.curve.losses[0]:.3f} to "
        f"{header.curve.losses[-1]:.3f}.",
        notes=(
            (
                f"judged at {accuracy.positions:,} positions of {header.text.held_out_texts} "
                "text(s) not trained on. Tested and accepted are a greedy chain's from every position, "
                "not rounds; tokens per round are those of a chain to that depth."
            ),
        ),
    )


@contextmanager
def _stages() -> Iterator[Callable[[str, float], None]]:
    """Progress of several works one after the other: a bar where somebody watches, else lines."""
    current: list[str] = []
    last = time.monotonic()
    with shown_progress("training heads") as bar:

        def report(name: str, share: float) -> None:
            nonlocal last
            if bar is not None:
                bar(share)
            elif share >= 1.0 or current != [name] or time.monotonic() - last > _LINE_EVERY_S:
                current[:] = [name]
                last = time.monotonic()
                print(f"{name}: {share:.1%}", file=sys.stderr, flush=True)  # noqa: T201

        yield report


@contextmanager
def _errors(out: Path) -> Iterator[None]:
    """Damaged folders with their own exit code; an interruption says how it goes on."""
    from real_runs.runs.errors import RunFolderError  # noqa: PLC0415

    try:
        yield
    except RunFolderError as error:
        print(f"Error: {error}", file=sys.stderr)  # noqa: T201
        raise typer.Exit(EXIT_BAD_DATA) from None
    except KeyboardInterrupt:
        print(  # noqa: T201
            f"Error: interrupted; the same command with --resume continues in {out}.",
            file=sys.stderr,
        )
        raise typer.Exit(EXIT_INTERRUPTED) from None
