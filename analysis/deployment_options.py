"""The options that describe a target, its draft and a machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from analysis.specs import OWN_MACHINE, OWN_MODEL


def _listed_machines(value: str | None) -> str | None:
    """Print the accelerators and end, where they are asked for."""
    if not _asks_for_list(value):
        return value
    from analysis.machine_presets import accelerators  # noqa: PLC0415 — reads a file

    rows = [
        (
            card.name, f"{card.memory_bytes_per_s / 1e9:,.0f} GB/s",
            f"{card.operations_per_s / 1e12:,.3g} TFLOP/s", f"{card.memory_bytes / 1e9:,.0f} GB",
        )
        for card in accelerators()
    ]  # fmt: skip
    _print_list(rows, f"or numbers: '{OWN_MACHINE}'")
    raise typer.Exit


def _listed_models(value: str | None) -> str | None:
    """Print the models and end, where they are asked for."""
    if not _asks_for_list(value):
        return value
    from analysis.model_presets import architectures  # noqa: PLC0415 — reads a file

    rows = [
        (model.name, _parameters(model.parameters), f"{model.vocabulary:,} words")
        for model in architectures()
    ]
    _print_list(rows, f"or a config.json, its folder, or dimensions: '{OWN_MODEL}'")
    raise typer.Exit


def _parameters(count: float) -> str:
    size, letter = (1e9, "B") if count >= 1e9 else (1e6, "M")
    return f"{count / size:,.3g} {letter} parameters"


def _asks_for_list(value: str | None) -> bool:
    return value is not None and value.strip().lower() == "list"


def _print_list(rows: Sequence[tuple[str, ...]], last: str) -> None:
    """Columns as wide as their texts: names to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *numbers in rows:
        cells = [n.rjust(width) for n, width in zip(numbers, widths[1:], strict=True)]
        print("   ".join((name.ljust(widths[0]), *cells)))  # noqa: T201
    print(last)  # noqa: T201


TargetText = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="MODEL",
        callback=_listed_models,
        help="Preset ('list' shows all), config.json, or dimensions: layers=32 hidden=4096 …",
    ),
]
HardwareText = Annotated[
    str | None,
    typer.Option(
        "--hardware",
        metavar="MACHINE",
        callback=_listed_machines,
        help="Preset ('list' shows all) or numbers, with what is reached of it: 'h100 devices=4 "
        f"operations_share=0.5', '{OWN_MACHINE}'.",
    ),
]
DraftTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--draft",
        metavar="DRAFT",
        help="eagle (EAGLE-1 and 2: a layer and the whole output layer), eagle3 (32,000 words of output), "
        "mtp, block, lookup, self, a model, or 'chain cost_ratio=0.1', with its own "
        "acceptance if it has one: 'eagle p=0.8', 'lookup p=0.6 coverage=0.3' (drafts found in 30 % "
        "of the rounds), 'eagle log=FILE'.",
    ),
]
StepFile = Annotated[
    Path | None,
    typer.Option(
        "--steps",
        metavar="FILE",
        help="Measured step times to fit the costs from: CSV (batch, tokens, context, seconds), "
        "the JSON of benchmarks/gpu.py, SGLang's bench jsonl, or a run folder of `measure`. A --draft whose "
        "steps are not in it needs --target and --hardware too, or its cost_ratio.",
    ),
]
WeightBits = Annotated[float, typer.Option(help="Bits per weight of the target.")]
KvBits = Annotated[float, typer.Option(help="Bits per number of the KV cache.")]
USUAL_CONTEXT = 1024
Context = Annotated[
    int, typer.Option(min=0, help="Tokens that each request holds: prompt and half of its answer.")
]
HeldContext = Annotated[
    int | None,
    typer.Option(
        "--context",
        min=0,
        help=f"Tokens that each request holds: {USUAL_CONTEXT}, or --prompt-tokens and half of "
        "--output-tokens, if not given.",
    ),
]
RoundOverhead = Annotated[
    float, typer.Option("--overhead-s", help="Seconds of a speculative round beside its passes.")
]
DraftOverlap = Annotated[
    float,
    typer.Option(help="0: draft, then verify. 1: the shorter runs beside the longer (PEARL, DSI)."),
]
LogFile = Annotated[
    Path | None,
    typer.Option(
        "--log",
        metavar="FILE",
        help="Fit the acceptance from this log (- is stdin), run folder, or JSON of `simulate`; for "
        "each --draft that says none.",
    ),
]
LogGamma = Annotated[int | None, typer.Option(help="Draft length of --log, if it does not say.")]
Batches = Annotated[
    str | None,
    typer.Option(
        "--batch",
        help="Batch sizes: 1,2,4,8. If not given, powers of 2 up to 256 that fit, or that --steps alone "
        "measured.",
    ),
]
OneBatch = Annotated[float, typer.Option("--batch", help="Requests that run together.")]
Price = Annotated[
    float | None,
    typer.Option(
        min=0.0, help="Price of the whole machine per hour: gives money per million tokens."
    ),
]
