"""The commands that convert a number and compare two runs. Registered by `analysis.cli`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from analysis.options import OutputFormat
from analysis.output import Format, emit
from analysis.run_options import ResamplingSeed

EXIT_CHECK_FAILED = 1

GivenValue = Annotated[
    str | None,
    typer.Argument(
        metavar="[VALUE]", help="As it was printed: 2.92, 64.5% or 0.805,0.632,0.483 by depth."
    ),
]
GivenQuantity = Annotated[
    str | None,
    typer.Option(
        "--quantity",
        "-q",
        help="What it is called: tokens_per_round, survival, … or an engine's word (see --list).",
    ),
]
FieldEngine = Annotated[str | None, typer.Option("--engine", help="Whose word it is.")]
FieldVersion = Annotated[
    str | None, typer.Option("--engine-version", help="Of the engine: some words changed meaning.")
]
KnownGamma = Annotated[int | None, typer.Option("--gamma", help="Tokens drafted per round.")]
Window = Annotated[
    int | None,
    typer.Option(help="Tokens a target pass verifies, the root included: γ + 1, or a tree's size."),
]
KnownFacts = Annotated[
    str, typer.Option("--known", help="Assumptions that hold here, e.g. full_drafts,chain.")
]
ToEngine = Annotated[
    str | None, typer.Option("--to", help="All words of this engine instead of every setting.")
]
Exactly = Annotated[bool, typer.Option("--exact", help="The digits are all there is: no rounding.")]
ListNames = Annotated[bool, typer.Option("--list", help="Show all names, and stop.")]

RunSource = Annotated[
    Path, typer.Argument(help="A log, a run folder of `measure`, or the JSON of `simulate`.")
]
Regression = Annotated[
    float | None,
    typer.Option(help="Exit 1 if AFTER is slower by more than this share, e.g. 0.05."),
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit 1 if that cannot be decided, too.")]
Unpaired = Annotated[
    bool, typer.Option("--unpaired", help="The same names on both sides are not the same prompts.")
]
Level = Annotated[float, typer.Option(help="Confidence of the intervals.")]
Power = Annotated[float, typer.Option(help="Chance with which the data asked for would decide.")]
ComparedGamma = Annotated[
    int | None,
    typer.Option("--gamma", help="Draft length: of a run folder its largest if not given."),
]
GammaAfter = Annotated[
    int | None, typer.Option(help="Draft length of the second run, if it is another one.")
]
LogEngine = Annotated[str | None, typer.Option("--engine", help="Engine of the logs.")]
Layout = Annotated[str | None, typer.Option(help="Which reading, of a log with several.")]
EngineAfter = Annotated[
    str | None, typer.Option(help="Engine of the second log, if it is another one.")
]
LayoutAfter = Annotated[
    str | None, typer.Option(help="Which reading of the second log, if it is another one.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to `specdec`."""
    app.command(name="convert")(convert_command)
    app.command(name="compare")(compare_command)


def convert_command(
    value: GivenValue = None,
    quantity: GivenQuantity = None,
    engine: FieldEngine = None,
    engine_version: FieldVersion = None,
    gamma: KnownGamma = None,
    window: Window = None,
    known: KnownFacts = "",
    to: ToEngine = None,
    exact: Exactly = False,  # noqa: FBT002
    list_names: ListNames = False,  # noqa: FBT002
    output: OutputFormat = Format.TABLE,
) -> None:
    """What an engine's number means, what follows from it, and how other engines say the same."""
    from analysis.conversion.names import engine_name, field_names  # noqa: PLC0415
    from analysis.conversion.report import conversion_report, names_report  # noqa: PLC0415
    from analysis.converting import convert  # noqa: PLC0415

    if list_names:
        wanted = None if engine is None else engine_name(engine)
        names = tuple(name for name in field_names() if wanted in {None, name.engine})
        emit(names_report(names), output)
        return
    if value is None or quantity is None:
        missing = "VALUE" if value is None else "--quantity"
        raise ValueError(f"{missing} must be given; `specdec convert --list` shows the names.")
    to = None if to is None else engine_name(to)
    result = convert(
        quantity,
        value,
        gamma=gamma,
        window=window,
        engine=engine,
        version=engine_version,
        half_width=0.0 if exact else None,
        known=[name for name in known.replace(" ", "").split(",") if name],
    )
    parameters = (
        ("quantity", quantity),
        ("value", value),
        ("engine", engine),
        ("engine_version", engine_version),
        ("gamma", gamma),
        ("window", window),
        ("known", known or None),
        ("to", to),
    )
    emit(conversion_report(result, parameters, to=to), output)


def compare_command(
    before: RunSource,
    after: RunSource,
    regression: Regression = None,
    strict: Strict = False,  # noqa: FBT002
    gamma: ComparedGamma = None,
    gamma_after: GammaAfter = None,
    engine: LogEngine = None,
    layout: Layout = None,
    engine_after: EngineAfter = None,
    layout_after: LayoutAfter = None,
    unpaired: Unpaired = False,  # noqa: FBT002
    level: Level = 0.95,
    power: Power = 0.8,
    seed: ResamplingSeed = 0,
    output: OutputFormat = Format.TABLE,
) -> None:
    """How much faster AFTER is than BEFORE: acceptance, pass time, noise; exit 1 on a regression."""
    from analysis.cli_runs import run_errors  # noqa: PLC0415
    from analysis.cli_sources import observation_of  # noqa: PLC0415
    from analysis.compare import compare_runs  # noqa: PLC0415
    from analysis.comparison.report import comparison_report  # noqa: PLC0415

    if strict and regression is None:
        raise ValueError(
            "--strict belongs to --regression; give the size that must not be exceeded."
        )
    length_after = gamma if gamma_after is None else gamma_after
    with run_errors():
        sides = (
            observation_of(before, gamma=gamma, engine=engine, layout=layout),
            observation_of(
                after,
                gamma=length_after,
                engine=engine_after or engine,
                layout=layout_after or layout,
            ),
        )
    first, second = (
        replace(side, name=name)
        for (side, _), name in zip(sides, _titles(before, after), strict=True)
    )
    result = compare_runs(
        first,
        second,
        regression=regression,
        level=level,
        power=power,
        paired=False if unpaired else None,
        rng=seed,
    )
    parameters = (
        ("before", str(before)),
        ("after", str(after)),
        ("regression", regression),
        ("level", level),
        ("power", power),
        ("gamma", gamma),
        ("gamma_after", gamma_after),
        ("seed", seed),
    )
    report = comparison_report(result, parameters)
    chosen = tuple(note for _, notes in sides for note in notes)
    emit(replace(report, notes=(*chosen, *report.notes)), output)
    undecided = strict and result.verdict == "undecided"
    if result.verdict == "regressed" or undecided:
        raise typer.Exit(EXIT_CHECK_FAILED)


def _titles(before: Path, after: Path) -> tuple[str, str]:
    """The names of the files, with their folders where they are the same."""
    if before.name != after.name:
        return before.name or str(before), after.name or str(after)
    return f"{before} (before)", f"{after} (after)"
