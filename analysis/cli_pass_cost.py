"""The commands on what a pass costs, and on published results under load. Registered by `analysis.cli`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from analysis.cli_published import published_command
from analysis.deployment_options import (
    HardwareText,
    KvBits,
    StepFile,
    TargetText,
    WeightBits,
)
from analysis.log_options import gammas_of
from analysis.options import OutputFormat, whole_numbers
from analysis.output import Cell, Format, emit
from analysis.run_options import FigureFile

if TYPE_CHECKING:
    from analysis.cli_costs import Costs
    from analysis.pass_cost import PassCost
    from analysis.pass_fit import PassCostFit

CostBatches = Annotated[
    str | None,
    typer.Option("--batch", help="Batch sizes: 1,8,64. Left out with --steps: those measured."),
]
Widths = Annotated[
    str | None,
    typer.Option(
        "--tokens",
        help="Tokens per request in a pass: 1:9, or 1,2,4,8. Left out with --steps: those measured.",
    ),
]
CostContext = Annotated[
    int | None,
    typer.Option(
        "--context",
        min=0,
        help="Tokens that each request holds (1024; left out with --steps: the median one).",
    ),
]
_BITS = 16.0
_BATCHES, _WIDTHS, _CONTEXT = (1, 8, 64, 256), (1, 2, 3, 5, 9, 17), 1024
"""What is shown of a predicted pass."""


def register(app: typer.Typer) -> None:
    """Add the commands to `specdec`."""
    app.command(name="pass-cost")(pass_cost_command)
    app.command(name="published")(published_command)


def pass_cost_command(
    target: TargetText = None,
    hardware: HardwareText = None,
    steps: StepFile = None,
    weight_bits: WeightBits = 16.0,
    kv_bits: KvBits = 16.0,
    batch: CostBatches = None,
    tokens: Widths = None,
    context: CostContext = None,
    figure: FigureFile = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """What a target pass takes, predicted or fitted from step times: V(n), its parts, the knee.

    With --target and --hardware it is predicted; with --steps fitted; with all three the times say what
    share of the machine's bandwidth and arithmetic is reached.
    """
    from analysis.cli_costs import Words, costs_of  # noqa: PLC0415
    from analysis.pass_fit.asked import asked_of  # noqa: PLC0415
    from analysis.pass_fit.report import pass_cost_report  # noqa: PLC0415

    batches = None if batch is None else _from_one("--batch", whole_numbers("--batch", batch))
    widths = (
        None if tokens is None else _from_one("--tokens", gammas_of(tokens, "--tokens", "tokens"))
    )
    if target is None and steps is not None and (weight_bits, kv_bits) != (_BITS, _BITS):
        raise ValueError(
            "--weight-bits and --kv-bits need --target and --hardware: times alone do not know bytes."
        )
    costs = costs_of(
        Words(
            target=target,
            hardware=hardware,
            steps=steps,
            weight_bits=weight_bits,
            kv_bits=kv_bits,
            context=context or 0,
        )
    )
    shown: PassCost | PassCostFit = costs.target
    if costs.fitted is None:
        batches, widths = batches or _BATCHES, widths or _WIDTHS
        context = _CONTEXT if context is None else context
    else:
        shown = costs.fitted
    held = asked_of(shown, batches=batches, widths=widths, context=context).context
    if figure is not None:
        from analysis.pass_fit.figures import verify_cost_over_tokens  # noqa: PLC0415
        from analysis.runs.figures import save  # noqa: PLC0415

        save(verify_cost_over_tokens(shown, batches=batches, widths=widths, context=held), figure)
    parameters: tuple[tuple[str, Cell], ...] = (
        ("target", target),
        ("hardware", hardware),
        ("steps", None if steps is None else str(steps)),
        ("weight_bits", None if target is None else weight_bits),
        ("kv_bits", None if target is None else kv_bits),
        ("context", held),
    )
    emit(
        pass_cost_report(
            shown,
            batches=batches,
            widths=widths,
            context=held,
            parameters=parameters,
            notes=(*costs.notes, *_too_large(costs, weight_bits)),
        ),
        output,
    )


def _from_one(option: str, values: tuple[int, ...]) -> tuple[int, ...]:
    if min(values) < 1:
        raise ValueError(f"{option} must be whole numbers of at least 1; got {min(values)}.")
    return values


def _too_large(costs: Costs, weight_bits: float) -> list[str]:
    """A pass can be predicted for a model that the machine cannot hold; that must not go unsaid."""
    from analysis.deployment.memory import gigabytes  # noqa: PLC0415

    if costs.architecture is None or costs.machine is None:
        return []
    size, room = costs.architecture.parameters * weight_bits / 8.0, costs.machine.memory_bytes
    if size <= room:
        return []
    return [f"The weights do not fit the machine: {gigabytes(size)} of {gigabytes(room)}."]
