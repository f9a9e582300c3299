"""The command that explains a speedup: what eats it, what to attack, what would break even."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.cli_explain_takes import MACHINE, check, echoed, kind_of
from analysis.cli_explained import Beside, of_deployment, of_formula, of_log, of_run
from analysis.deployment_options import (
    Context,
    DraftOverlap,
    HardwareText,
    KvBits,
    LogFile,
    LogGamma,
    OneBatch,
    RoundOverhead,
    StepFile,
    WeightBits,
)
from analysis.log_options import AnyEngine, Layout, MethodName, PlainSpeed, Running, Speed
from analysis.options import ByDepth, KnownCostRatio, OutputFormat, P, verify_costs
from analysis.output import Cell, Format, emit
from analysis.run_options import FigureFile, ResamplingSeed

if TYPE_CHECKING:
    from analysis.explaining.explanation import Explanation

Explained = Annotated[
    Path | None,
    typer.Argument(
        metavar="[FILE]",
        help="A log (- is stdin), JSON of `simulate`, or a run folder of `measure`; without one the options "
        "describe a round.",
    ),
]
ExplainedTarget = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="MODEL",
        help="To predict: preset, config.json, or dimensions. Beside a log alone, its name: "
        "30B-A3B or 8x7B say mixture of experts.",
    ),
]
ExplainedDraft = Annotated[
    list[str] | None,
    typer.Option(
        "--draft",
        metavar="DRAFT",
        help="eagle, mtp, block, lookup, self, a model, or 'chain cost_ratio=0.1', with its own "
        "acceptance if it has one: 'eagle p=0.8'.",
    ),
]
KnownVerifyCost = Annotated[
    str | None,
    typer.Option(
        "--verify-cost",
        help="V, target pass over gamma + 1 tokens / over 1: one number, or one per gamma from 0 on.",
    ),
]
KnownOverhead = Annotated[
    float | None, typer.Option("--overhead", help="Other cost of a round, in plain steps.")
]
ExplainedGamma = Annotated[
    int | None,
    typer.Option(
        "--gamma", help="Draft length; the best of a run folder or a prediction if not given."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command to `specdec`."""
    app.command(name="explain")(explain_command)


def explain_command(
    call: typer.Context,
    source: Explained = None,
    gamma: ExplainedGamma = None,
    p: P = None,
    by_depth: ByDepth = None,
    cost_ratio: KnownCostRatio = None,
    verify_cost: KnownVerifyCost = None,
    overhead: KnownOverhead = None,
    tps: Speed = None,
    plain_tps: PlainSpeed = None,
    running: Running = None,
    method: MethodName = None,
    engine: AnyEngine = None,
    layout: Layout = None,
    target: ExplainedTarget = None,
    hardware: HardwareText = None,
    draft: ExplainedDraft = None,
    steps: StepFile = None,
    log: LogFile = None,
    log_gamma: LogGamma = None,
    batch: OneBatch = 1.0,
    context: Context = 1024,
    weight_bits: WeightBits = 16.0,
    kv_bits: KvBits = 16.0,
    overhead_s: RoundOverhead = 0.0,
    draft_overlap: DraftOverlap = 0.0,
    seed: ResamplingSeed = 0,
    figure: FigureFile = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """What eats the gain of a round, what to attack first, what would break even.

    With FILE, of a log (give --plain-tps too) or a measured run. With --target, --hardware and --draft, of a
    predicted round at --batch; beside a log they split what it does not tell apart. With --p, --gamma and
    --cost-ratio, of the formula.
    """
    from analysis.explaining.report import explain_report  # noqa: PLC0415

    given = _given(call)
    kind = kind_of(source, given)
    check(kind, given)
    if figure is not None:
        from analysis.runs.report import figure_kind  # noqa: PLC0415

        figure_kind(figure)  # before the work, not after it
    passes = None if verify_cost is None else verify_costs(verify_cost)
    words = None
    if kind == "a prediction" or given & MACHINE:
        from analysis.cli_costs import Words  # noqa: PLC0415

        words = Words(
            target=target, hardware=hardware, drafts=tuple(draft or ()), steps=steps,
            weight_bits=weight_bits, kv_bits=kv_bits, overhead_s=overhead_s,
            draft_overlap=draft_overlap, p=p, by_depth=by_depth, log=log, log_gamma=log_gamma,
            context=context, seed=seed,
        )  # fmt: skip
    notes: tuple[str, ...] = ()
    if source is not None and kind == "a run folder":
        explanation = of_run(source, gamma, seed)
    elif source is not None:
        beside = Beside(
            gamma=gamma, engine=engine, layout=layout, method=method, target=target,
            tokens_per_s=tps, plain_tokens_per_s=plain_tps, running=running, verify_cost=passes,
            cost_ratio=cost_ratio, machine=words,
            context=context if "context" in given else None,
        )  # fmt: skip
        explanation, notes = of_log(source, beside)
    elif words is not None:
        explanation, notes = of_deployment(words, gamma, batch, context)
    else:
        if cost_ratio is None or (p is None) == (by_depth is None):
            raise ValueError(
                "Give a log or a run folder; or --target, --hardware and --draft; or --cost-ratio and one of "
                "--p (with --gamma) and --by-depth."
            )
        explanation = of_formula(
            p=p, by_depth=by_depth, gamma=gamma, cost_ratio=cost_ratio,
            verify_cost=1.0 if passes is None else passes, overhead=overhead or 0.0,
        )  # fmt: skip
    if figure is not None:
        _draw(explanation, figure)
    report = explain_report(explanation, _parameters(call, kind, explanation))
    emit(replace(report, notes=(*report.notes, *notes)), output)


def _given(call: typer.Context) -> set[str]:
    """The names of the options that were given, not those at their default."""
    return {
        name
        for name in call.params
        if (origin := call.get_parameter_source(name)) is not None and origin.name != "DEFAULT"
    }


def _draw(explanation: Explanation, figure: Path) -> None:
    from analysis.explaining.figures import waterfall_figure  # noqa: PLC0415
    from analysis.runs.figures import save  # noqa: PLC0415

    if not explanation.parts:
        raise ValueError(f"--figure has no parts to draw. {explanation.refusal}")
    save(waterfall_figure(explanation), figure)


def _parameters(
    call: typer.Context, kind: str, explanation: Explanation
) -> tuple[tuple[str, Cell], ...]:
    """What was given or stands in for it, γ and the batch as they were found."""
    source = call.params["source"]
    said: dict[str, Cell] = {
        "source": None if source is None else "stdin" if str(source) == "-" else str(source)
    }
    for name in echoed(kind, _given(call)):
        value = call.params[name]
        if value is not None:
            value = "; ".join(value) if isinstance(value, list | tuple) else value
            said[name] = value if isinstance(value, str | int | float) else str(value)
    said |= {"gamma": explanation.gamma, "batch": explanation.batch}
    return tuple(said.items())
