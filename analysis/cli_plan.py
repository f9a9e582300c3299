"""The command that plans: the draft length for every batch, and the configuration that says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from analysis.deployment_options import (
    USUAL_CONTEXT,
    Batches,
    Context,
    DraftOverlap,
    DraftTexts,
    HardwareText,
    KvBits,
    LogFile,
    LogGamma,
    Price,
    RoundOverhead,
    StepFile,
    TargetText,
    WeightBits,
)
from analysis.options import ByDepth, OutputFormat, P, whole_numbers
from analysis.output import Cell, Format, emit
from analysis.run_options import FigureFile, ResamplingSeed

LongestDraft = Annotated[
    int, typer.Option("--max-gamma", min=0, max=1000, help="Longest draft to consider.")
]
Prefer = Annotated[
    str,
    typer.Option(
        help="gain: the largest speedup. sure: the largest low end of its interval. short: the "
        "shortest draft within 1 % of the best."
    ),
]
RequiredGain = Annotated[
    float, typer.Option("--require-gain", help="Least gain that is worth a draft, e.g. 0.05.")
]
OwnSchedule = Annotated[
    str | None,
    typer.Option(
        "--schedule",
        help='Say what this schedule loses against the plan: "1-16:3, 17-64:1, 65-:0".',
    ),
]
EngineName = Annotated[
    str | None,
    typer.Option(
        "--config",
        metavar="ENGINE",
        help="Print its configuration instead of the plan: vllm, sglang, tensorrt_llm, llamacpp. "
        "Where an engine keeps one draft length, and in load tests, that of the first --batch.",
    ),
]
VariantName = Annotated[
    str | None,
    typer.Option(
        help="Of --config: the kind of head (eagle, eagle3; dflash, dspark), if not that of --draft."
    ),
]
Falling = Annotated[
    bool, typer.Option("--falling", help="Of --config: no longer draft at a larger batch.")
]
TargetPath = Annotated[
    str | None, typer.Option(help="Of --config: the target's repository or path.")
]
DraftPath = Annotated[
    str | None,
    typer.Option(
        help="Of --config: the draft's repository or path, if --draft has no path=… of it."
    ),
]
ConfigFolder = Annotated[
    Path | None, typer.Option("--out", metavar="FOLDER", help="Write the files of --config here.")
]


def register(app: typer.Typer) -> None:
    """Add the command to `specdec`."""
    app.command(name="plan")(plan_command)


def plan_command(
    target: TargetText = None,
    hardware: HardwareText = None,
    draft: DraftTexts = None,
    steps: StepFile = None,
    p: P = None,
    by_depth: ByDepth = None,
    log: LogFile = None,
    log_gamma: LogGamma = None,
    batch: Batches = None,
    context: Context = USUAL_CONTEXT,
    max_gamma: LongestDraft = 16,
    weight_bits: WeightBits = 16.0,
    kv_bits: KvBits = 16.0,
    overhead_s: RoundOverhead = 0.0,
    draft_overlap: DraftOverlap = 0.0,
    prefer: Prefer = "gain",
    require_gain: RequiredGain = 0.0,
    price: Price = None,
    schedule: OwnSchedule = None,
    config: EngineName = None,
    variant: VariantName = None,
    falling: Falling = False,  # noqa: FBT002
    target_path: TargetPath = None,
    draft_path: DraftPath = None,
    out: ConfigFolder = None,
    seed: ResamplingSeed = 0,
    figure: FigureFile = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Which draft and draft length at which batch, off included, and the engine's configuration."""
    from analysis.cli_costs import Words  # noqa: PLC0415
    from analysis.cli_deployments import (  # noqa: PLC0415
        check_batches,
        default_batches,
        deployments_of,
        limits,
    )
    from analysis.planning.planner import plan  # noqa: PLC0415
    from analysis.planning.report import plan_report  # noqa: PLC0415
    from analysis.planning.schedule import Schedule  # noqa: PLC0415

    of_config = {"--out": out, "--variant": variant, "--target-path": target_path,
                 "--draft-path": draft_path, "--falling": falling or None}  # fmt: skip
    alone = [name for name, value in of_config.items() if value is not None]
    if config is None and alone:
        raise ValueError(f"{alone[0]} belongs to --config ENGINE; got it alone.")
    if falling and schedule is not None:
        raise ValueError("--falling is for the plan's own schedule; got --schedule beside it.")
    own = None if schedule is None else Schedule.read(schedule)
    if figure is not None:
        from analysis.runs.report import figure_kind  # noqa: PLC0415

        figure_kind(figure)  # before the work, not after it
    deployments, costs = deployments_of(
        Words(
            target=target, hardware=hardware, drafts=tuple(draft or ()), steps=steps,
            weight_bits=weight_bits, kv_bits=kv_bits, overhead_s=overhead_s,
            draft_overlap=draft_overlap, p=p, by_depth=by_depth, log=log, log_gamma=log_gamma,
            context=context, seed=seed,
        )
    )  # fmt: skip
    batches = (
        default_batches(deployments, costs, context)
        if batch is None
        else whole_numbers("--batch", batch)
    )
    check_batches(deployments, batches, context)
    made = plan(
        deployments, batches, context=context, gammas=range(max_gamma + 1),
        prefer=prefer, require_gain=require_gain,  # type: ignore[arg-type]  # `plan` checks the word
    )  # fmt: skip
    if figure is not None:
        from analysis.planning.figures import best_gamma_over_batch  # noqa: PLC0415
        from analysis.runs.figures import save  # noqa: PLC0415

        save(best_gamma_over_batch(made), figure)
    if config is not None:
        from analysis.cli_configuration import Wanted, configure  # noqa: PLC0415

        wanted = Wanted(
            engine=config, target=target_path, draft=draft_path, variant=variant, falling=falling,
            schedule=own, out=out,
        )  # fmt: skip
        configure(made, deployments, costs, wanted)
        return
    parameters: tuple[tuple[str, Cell], ...] = (
        ("target", target),
        ("hardware", hardware),
        ("draft", "; ".join(draft or ())),
        ("steps", None if steps is None else str(steps)),
        ("context", context),
        ("seed", seed),
    )
    report = plan_report(made, parameters, price_per_hour=price, schedule=own)
    longest = max(row.gamma for row in made.rows)
    outside = costs.outside(batches, context, longest)
    fits = limits(deployments, context)
    emit(replace(report, notes=(*report.notes, *fits, *costs.notes, *outside)), output)
