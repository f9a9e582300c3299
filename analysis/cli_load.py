"""The command on speedup under load: latency and throughput at every concurrency, and where it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from analysis.deployment_options import (
    USUAL_CONTEXT,
    DraftOverlap,
    DraftTexts,
    HardwareText,
    HeldContext,
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
from analysis.output import Cell, Format, Report, emit
from analysis.run_options import FigureFile, ResamplingSeed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.deployment.deployment import Deployment
    from analysis.deployment.load import LoadPoint

Concurrency = Annotated[
    str, typer.Option("--concurrency", help="Requests that are sent at a time: 1,8,64,512.")
]
LoadGamma = Annotated[
    int | None,
    typer.Option(
        "--gamma",
        min=1,
        max=1000,
        help="Draft length of the table, the best at the first --concurrency if not given. Break-even "
        "batches are for 1 to 8 beside it.",
    ),
]
PromptTokens = Annotated[
    int | None, typer.Option(min=1, help="With --output-tokens: whole requests, prompts included.")
]
OutputTokens = Annotated[int | None, typer.Option(min=1, help="Tokens of each answer.")]
MostRunning = Annotated[
    int | None, typer.Option(min=1, help="Most requests that the engine runs at a time.")
]
_TRIED = 16  # draft lengths of which the best is taken
_BREAK_EVEN = range(1, 9)
_DRAWN = (1, 2, 4, 8)
MOST_GAMMA = 1000
_MEANING = (
    "Speedups and ratios are against plain decoding at the same concurrency, each side with the requests "
    "that fit its memory."
)
_WHOLE = (
    "Response times include waiting for room; their ratio is the throughput ratio. speedup_once_running "
    "is that of a request without its waiting."
)
_CHOSEN = (
    "γ = {} is the best at concurrency {:,}, the first, and kept for all; `specdec plan` chooses one for each "
    "batch."
)


def register(app: typer.Typer) -> None:
    """Add the command to `specdec`."""
    app.command(name="load")(load_command)


def load_command(
    target: TargetText = None,
    hardware: HardwareText = None,
    draft: DraftTexts = None,
    steps: StepFile = None,
    p: P = None,
    by_depth: ByDepth = None,
    log: LogFile = None,
    log_gamma: LogGamma = None,
    gamma: LoadGamma = None,
    concurrency: Concurrency = "1,4,16,64,256,1024",
    context: HeldContext = None,
    prompt_tokens: PromptTokens = None,
    output_tokens: OutputTokens = None,
    most_running: MostRunning = None,
    price: Price = None,
    weight_bits: WeightBits = 16.0,
    kv_bits: KvBits = 16.0,
    overhead_s: RoundOverhead = 0.0,
    draft_overlap: DraftOverlap = 0.0,
    seed: ResamplingSeed = 0,
    figure: FigureFile = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """What a request gains and what the server gains at every concurrency, and where it stops paying."""
    from analysis.cli_costs import Words  # noqa: PLC0415
    from analysis.cli_deployments import deployments_of  # noqa: PLC0415
    from analysis.deployment.break_even import break_even_batch  # noqa: PLC0415
    from analysis.deployment.load import over_concurrency  # noqa: PLC0415
    from analysis.deployment.report import break_even_section, load_section  # noqa: PLC0415

    sent = whole_numbers("--concurrency", concurrency)
    if (prompt_tokens is None) != (output_tokens is None):
        missing = "--prompt-tokens" if prompt_tokens is None else "--output-tokens"
        raise ValueError(
            f"--prompt-tokens and --output-tokens must be given together, or neither; {missing} is missing."
        )
    held = context if context is not None else _held(prompt_tokens, output_tokens)
    if figure is not None:
        from analysis.runs.report import figure_kind  # noqa: PLC0415

        figure_kind(figure)  # before the work, not after it
    if draft is not None and len(draft) > 1:
        raise ValueError(
            f"--draft must be given once; `specdec plan` compares several; got {len(draft)}."
        )
    (deployment,), costs = deployments_of(
        Words(
            target=target, hardware=hardware, drafts=tuple(draft or ()), steps=steps,
            weight_bits=weight_bits, kv_bits=kv_bits, overhead_s=overhead_s,
            draft_overlap=draft_overlap, p=p, by_depth=by_depth, log=log, log_gamma=log_gamma,
            context=held, seed=seed,
        )
    )  # fmt: skip
    first = max(min(sent[0], most_running or sent[0]), 1)  # a wrong one is refused below
    length = _best(deployment, first, held) if gamma is None else _checked(gamma, deployment)
    points = over_concurrency(
        deployment, length, sent, context=held, prompt_tokens=prompt_tokens,
        output_tokens=output_tokens, price_per_hour=price, most_running=most_running,
    )  # fmt: skip
    tried = [each for each in _BREAK_EVEN if each <= _longest(deployment)]
    ends = [break_even_batch(deployment, each, context=held) for each in sorted({*tried, length})]
    if figure is not None:
        from analysis.deployment.figures import speedup_over_batch  # noqa: PLC0415
        from analysis.runs.figures import save  # noqa: PLC0415

        drawn = sorted({length, *(each for each in _DRAWN if each in tried)})
        save(speedup_over_batch(deployment, drawn, context=held), figure)
    parameters: tuple[tuple[str, Cell], ...] = (
        ("target", target),
        ("hardware", hardware),
        ("draft", "; ".join(draft or ())),
        ("steps", None if steps is None else str(steps)),
        ("gamma", length),
        ("context", held),
        ("prompt_tokens", prompt_tokens),
        ("output_tokens", output_tokens),
        ("price", price),
        ("seed", seed),
    )
    runs = [point.plain.running for point in points]
    report = Report(
        command="load",
        parameters=parameters,
        sections=(load_section(points), break_even_section(ends)),
        headline=" ".join(
            (points[-1].sentence, *(end.sentence for end in ends if end.gamma == length))
        ),
        notes=(
            *([] if gamma is not None else [_CHOSEN.format(length, sent[0])]),
            *([] if prompt_tokens is None else [_DECODING]),
            *_notes(points, deployment, held),
            *costs.notes,
            *costs.outside(runs, held, length),
        ),
    )
    emit(report, output)


_DECODING = (
    "Break-even batches are of decoding alone; what whole requests gain, prompts included, the ratios of the "
    "table say."
)


def _held(prompt_tokens: int | None, output_tokens: int | None) -> int:
    """What a request holds on average while it is answered; a usual chat where nothing says."""
    if prompt_tokens is None or output_tokens is None:
        return USUAL_CONTEXT
    return prompt_tokens + output_tokens // 2


def _longest(deployment: Deployment) -> int:
    longest = deployment.acceptance.longest
    return MOST_GAMMA if longest is None else longest


def _checked(gamma: int, deployment: Deployment) -> int:
    """The draft length that was asked for. ValueError for one of which the acceptance says nothing."""
    longest = _longest(deployment)
    if gamma > longest:
        raise ValueError(
            f"--gamma must be at most {longest}: the acceptance of {deployment.name!r} is known no "
            f"deeper; got {gamma}."
        )
    return gamma


def _best(deployment: Deployment, batch: int, context: int) -> int:
    """The draft length of the largest speedup at a batch, or at the most requests that fit."""
    from analysis.deployment.grid import speedups  # noqa: PLC0415

    fits = deployment.most_requests(context)
    deployment.check_batch(1, context, drafting=True)
    tried = range(1, min(_TRIED, _longest(deployment)) + 1)
    gains = speedups(deployment, tried, [int(min(batch, fits))], context)[0]
    return tried[int(gains.argmax())]


def _notes(points: Sequence[LoadPoint], deployment: Deployment, context: int) -> tuple[str, ...]:
    """What the columns compare, and what of the memory the draft takes."""
    from analysis.cli_deployments import limits  # noqa: PLC0415

    whole = points[0].plain.service_s is not None
    said = [_MEANING, *([_WHOLE] if whole else []), *limits([deployment], context)]
    gamma = points[0].gamma
    if deployment.acceptance.extrapolates(gamma):
        said.append(
            f"γ = {gamma} is longer than any measured draft: what it gives is extrapolated."
        )
    return tuple(said)
