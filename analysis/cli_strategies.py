"""The command on ways of drafting: draft models, look-ups, heads and trees side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from analysis.deployment_options import (
    USUAL_CONTEXT,
    HardwareText,
    StepFile,
    TargetText,
)
from analysis.options import OutputFormat, Overhead, Seed, whole, whole_numbers
from analysis.output import Cell, Format, emit
from analysis.progress import shown_progress
from analysis.run_options import FigureFile
from analysis.strategy_words import POINT_FORM, RATIO_FORM, number_in, pass_point, ratio_pair

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from analysis.systems.system import PassVerifyCost, System

USUAL_RATIO = 0.05
"""About what printed rounds of a draft model, Medusa and EAGLE leave for a draft step beside V(n)."""
USUAL_TARGET, USUAL_HARDWARE = "Llama 3.1 8B", "H100 SXM"

Presets = Annotated[
    list[str] | None,
    typer.Option(
        "--preset",
        metavar="NAME[,NAME]",
        help="Systems to compare, all if not given: draft-model, prompt-lookup, lookahead, medusa, "
        "eagle-chain, eagle-tree, eagle-2, sequoia, mtp, block.",
    ),
]
CostRatios = Annotated[
    str | None,
    typer.Option(
        "--cost-ratio",
        metavar="C|NAME=C,...",
        help=f"One draft step / one plain target step: one number for all, or medusa=0.07,eagle-2=0.04; "
        f"{USUAL_RATIO:g} where not given.",
    ),
]
PassCosts = Annotated[
    str | None,
    typer.Option(
        "--verify-cost",
        metavar="V|N:V,...",
        help="Target pass over N tokens / over 1: one number, or points 1:1,8:1.05,128:1.5 with straight "
        f"lines between; else that of a machine, {USUAL_TARGET} on {USUAL_HARDWARE} where none is given.",
    ),
]
NodeCounts = Annotated[
    str | None,
    typer.Option("--nodes", help="Also drafts of these sizes: 8,16,32. Trees are the best ones."),
]
SampledRounds = Annotated[
    int,
    typer.Option(
        "--rounds", parser=whole, metavar="N", help="Rounds simulated beside exact; 0 for none."
    ),
]
PassBatch = Annotated[
    int | None, typer.Option("--batch", min=1, help="Requests at a time, for V(n) of a machine; 1.")
]
PassContext = Annotated[
    int | None,
    typer.Option(
        "--context", min=0, help=f"Tokens held, for V(n) of a machine; {USUAL_CONTEXT:,}."
    ),
]
_RATIO = (
    f"A draft step is taken as {USUAL_RATIO:g} plain target steps{{}}: about what the printed rounds of the "
    "draft model, Medusa and EAGLE leave beside V(n), whose speedups at this ratio are thus no test. "
    "--cost-ratio NAME=C gives what you measured."
)
_MACHINE = (
    f"V(n) is that of {USUAL_TARGET} on one {USUAL_HARDWARE} at batch {{}}, {{:,}} tokens held. For your own "
    "costs: --steps RUNFOLDER, what `specdec measure` wrote, and --cost-ratio NAME=C; --target and --hardware "
    "predict another machine, --batch a busier server."
)
_ONE_RATIO = (
    "One cost ratio is taken for every draft step; a layer, a set of heads and a small model rarely cost the "
    "same: NAME=C gives each its own."
)


def register(app: typer.Typer) -> None:
    """Add the command to `specdec`."""
    app.command(name="strategies")(strategies_command)


def strategies_command(
    preset: Presets = None,
    cost_ratio: CostRatios = None,
    verify_cost: PassCosts = None,
    target: TargetText = None,
    hardware: HardwareText = None,
    steps: StepFile = None,
    batch: PassBatch = None,
    context: PassContext = None,
    overhead: Overhead = 0.0,
    nodes: NodeCounts = None,
    rounds: SampledRounds = 200_000,
    seed: Seed = 0,
    figure: FigureFile = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Medusa, EAGLE, Lookahead and their like on one scale: tokens per round, draft steps, pass, speedup."""
    from analysis.systems.comparing import compare_systems, over_sizes  # noqa: PLC0415
    from analysis.systems.presets import preset_system, preset_systems  # noqa: PLC0415
    from analysis.systems.report import systems_report  # noqa: PLC0415
    from analysis.systems.system import SystemCosts  # noqa: PLC0415
    from analysis.systems.wording import beyond_measured  # noqa: PLC0415

    if figure is not None:
        from analysis.runs.report import figure_kind  # noqa: PLC0415

        figure_kind(figure)  # before the work, not after it
    if rounds < 0:
        raise ValueError(f"--rounds must be at least 0; got {rounds}.")
    names = [name.strip() for text in preset or () for name in text.split(",")]
    systems = tuple(map(preset_system, names)) if names else preset_systems()
    sizes = () if nodes is None else whole_numbers("--nodes", nodes)
    if any(size < 1 for size in sizes):
        raise ValueError(f"--nodes must be whole numbers of at least 1; got {min(sizes)}.")
    ratios, notes = _ratios(cost_ratio, systems)
    machine = ""
    if verify_cost is None and target is None and hardware is None and steps is None:
        target, hardware, batch = USUAL_TARGET, USUAL_HARDWARE, batch or 1
        context = USUAL_CONTEXT if context is None else context
        notes.append(_MACHINE.format(batch, context))
        machine = f"{target}, {hardware}, batch {batch}"
    passes, assumed, widest = _passes(verify_cost, target, hardware, steps, batch, context)
    costs = {
        name: SystemCosts(cost_ratio=ratio, verify_cost=passes, overhead=overhead)
        for name, ratio in ratios.items()
    }
    with shown_progress("simulating rounds") as progress:
        rows = compare_systems(
            systems, costs=costs, rounds=rounds or None, rng=seed, progress=progress
        )
    larger = over_sizes(systems, sizes, costs=costs)
    notes += [*assumed, *_without(systems, sizes)]
    if widest is not None and (beyond := beyond_measured((*rows, *larger), widest)):
        notes.append(beyond)
    if figure is not None:
        from analysis.runs.figures import save  # noqa: PLC0415
        from analysis.systems.figures import tokens_over_drafts  # noqa: PLC0415

        save(tokens_over_drafts(rows, larger), figure)
    parameters: tuple[tuple[str, Cell], ...] = (
        ("preset", ",".join(names) or "all"),
        ("cost_ratio", cost_ratio or f"{USUAL_RATIO:g}"),
        ("verify_cost", verify_cost),
        ("target", target),
        ("hardware", hardware),
        ("steps", None if steps is None else str(steps)),
        ("batch", batch),
        ("context", context),
        ("overhead", overhead),
        ("nodes", nodes),
        ("rounds", rounds),
        ("seed", seed if rounds else None),
    )
    shown = systems_report(rows, sizes=larger, parameters=parameters, notes=notes, machine=machine)
    emit(shown, output)


def _passes(
    verify_cost: str | None,
    target: str | None,
    hardware: str | None,
    steps: Path | None,
    batch: int | None,
    context: int | None,
) -> tuple[PassVerifyCost, list[str], float | None]:
    """V(n) as it was given, or of a machine, what to say of it, and the widest pass if some were measured."""
    from analysis.systems.system import PassPoints  # noqa: PLC0415

    if verify_cost is not None:
        machine = {
            "--target": target, "--hardware": hardware, "--steps": steps, "--batch": batch,
            "--context": context,
        }  # fmt: skip
        both = [name for name, value in machine.items() if value is not None]
        if both:
            raise ValueError(
                "give --verify-cost, or a machine to predict it for, not both; got --verify-cost "
                f"{verify_cost!r:.60} and {', '.join(both)}."
            )
        if ":" not in verify_cost:
            return number_in("--verify-cost", verify_cost, POINT_FORM), [], None
        return PassPoints(points=tuple(map(pass_point, verify_cost.split(",")))), [], None
    from analysis.cli_costs import Words, costs_of  # noqa: PLC0415

    held = USUAL_CONTEXT if context is None else context
    found = costs_of(Words(target=target, hardware=hardware, steps=steps, context=held))
    size = batch or 1

    def of_pass(width: int) -> float:
        return float(found.target.verify_cost(width, batch=size, context=held))

    widest = None if found.fitted is None else found.fitted.ranges.tokens[1]
    return of_pass, list(found.notes), widest


def _ratios(
    cost_ratio: str | None, systems: Sequence[System]
) -> tuple[Mapping[str, float], list[str]]:
    """The cost ratio of every system, and what must be said of it."""
    steps = [system.name for system in systems if system.strategy.draft_steps]
    ratios = {system.name: USUAL_RATIO for system in systems}
    if cost_ratio is None:
        return ratios, [_RATIO.format("")] if steps else []
    if "=" not in cost_ratio:
        ratio = number_in("--cost-ratio", cost_ratio, RATIO_FORM)
        return dict.fromkeys(ratios, ratio), [_ONE_RATIO] if len(steps) > 1 else []
    names = [part.partition("=")[0].strip() for part in cost_ratio.split(",")]
    if not set(names) <= set(ratios) or len(set(names)) < len(names):
        raise ValueError(
            f"--cost-ratio must name systems that are compared ({', '.join(ratios)}), each once; got "
            f"{cost_ratio!r:.60}."
        )
    ratios |= dict(map(ratio_pair, cost_ratio.split(",")))
    usual = [name for name in steps if name not in names]
    return ratios, [_RATIO.format(f" for {', '.join(usual)}")] if usual else []


def _without(systems: Sequence[System], sizes: Sequence[int]) -> list[str]:
    """A note on sizes of which nothing is known."""
    from analysis.systems.system import resized  # noqa: PLC0415

    none = {
        system.name: [f"{size}" for size in sizes if resized(system, size) is None]
        for system in systems
    }
    gone = [f"{name} {', '.join(which)}" for name, which in none.items() if which]
    return [f"No such draft, or no acceptance so deep: {'; '.join(gone)}."] if gone else []
