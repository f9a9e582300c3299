"""The command on a server under load: requests that come, wait, and share the machine, simulated."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import typer

from analysis.cli_serving_loads import (
    AskedLoads,
    at_rates,
    check_given,
    gamma_of,
    loads_of,
    objective_of,
)
from analysis.cli_serving_words import about_gamma, about_loads, headline
from analysis.deployment_options import (
    DraftOverlap,
    DraftTexts,
    HardwareText,
    KvBits,
    LogFile,
    LogGamma,
    RoundOverhead,
    StepFile,
    TargetText,
    WeightBits,
)
from analysis.options import ByDepth, OutputFormat, P
from analysis.output import Cell, Format, Report, emit
from analysis.progress import shown_progress
from analysis.run_options import FigureFile
from analysis.serving.usual import USUAL_BUDGET
from analysis.serving_options import (
    USUAL_OUTPUT,
    USUAL_PROMPT,
    E2e,
    LoopWord,
    MostRunning,
    OutputWords,
    PromptWords,
    Rates,
    Replications,
    Requests,
    ServedGamma,
    ServingSeed,
    SpeedUp,
    TokenBudget,
    Tpot,
    TraceFile,
    Ttft,
    Users,
    WarmUp,
)

if TYPE_CHECKING:
    from analysis.serving.tables import ServerPair
    from simulator.serving import LoopName

_PAIRED = (
    "Plain is without speculation; gains are times without / with it on the same arrivals, with 95 % intervals "
    "over {} runs. ttft is time from arrival to the first token, tpot time per token behind it, itl the gap "
    "between chunks as a reader sees them, e2e time from arrival to the last token, waiting time from arrival "
    "to admission."
)

TIMES_WIDTH = 110
"""Characters that hold all columns of the times for people."""
_GOODPUT = "Goodput is the requests per second that keep the objective, all parts of it at once."


def register(app: typer.Typer) -> None:
    """Add the command to `specdec`."""
    app.command(name="serving")(serving_command)


def serving_command(
    target: TargetText = None,
    hardware: HardwareText = None,
    draft: DraftTexts = None,
    steps: StepFile = None,
    p: P = None,
    by_depth: ByDepth = None,
    log: LogFile = None,
    log_gamma: LogGamma = None,
    gamma: ServedGamma = None,
    rate: Rates = None,
    users: Users = None,
    trace: TraceFile = None,
    speed_up: SpeedUp = None,
    prompt_tokens: PromptWords = None,
    output_tokens: OutputWords = None,
    most_running: MostRunning = None,
    token_budget: TokenBudget = USUAL_BUDGET,
    ttft: Ttft = None,
    tpot: Tpot = None,
    e2e: E2e = None,
    requests: Requests = None,
    replications: Replications = 6,
    warm_up: WarmUp = None,
    loop: LoopWord = "auto",
    weight_bits: WeightBits = 16.0,
    kv_bits: KvBits = 16.0,
    overhead_s: RoundOverhead = 0.0,
    draft_overlap: DraftOverlap = 0.0,
    seed: ServingSeed = 0,
    figure: FigureFile = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Simulate a server under load, with speculation and without: waiting, latency, and where it turns.

    Such as: specdec serving --target llama-3.1-8b --hardware h100 --draft "llama-3.2-1b p=0.7" --rate 2,10,20
    """
    from analysis.cli_costs import Words  # noqa: PLC0415
    from analysis.cli_deployments import deployments_of  # noqa: PLC0415
    from analysis.serving import loads, report  # noqa: PLC0415
    from analysis.serving.tables import server_of  # noqa: PLC0415
    from simulator.serving.run import LOOPS  # noqa: PLC0415

    if loop not in LOOPS:
        raise ValueError(f"--loop must be one of {', '.join(LOOPS)}; got {loop!r:.40}.")
    check_given(target=target, hardware=hardware, draft=draft, steps=steps)
    if draft is not None and len(draft) > 1:
        raise ValueError(f"--draft must be given once; got {len(draft)}.")
    if figure is not None:
        from analysis.runs.report import figure_kind  # noqa: PLC0415

        figure_kind(figure)  # before the work, not after it
        if trace is not None:
            raise ValueError("--figure is for several loads; --trace is one.")
    asked = AskedLoads(
        rate=rate, users=users, trace=trace, speed_up=speed_up, prompt=prompt_tokens, output=output_tokens,
        warm_up=warm_up,
    )  # fmt: skip
    served = loads_of(asked)
    lengths = served.lengths
    objective = objective_of(ttft=ttft, tpot=tpot, e2e=e2e)
    context = loads.mean_context(lengths)
    (deployment,), costs = deployments_of(
        Words(
            target=target, hardware=hardware, drafts=tuple(draft or ()), steps=steps,
            weight_bits=weight_bits, kv_bits=kv_bits, overhead_s=overhead_s,
            draft_overlap=draft_overlap, p=p, by_depth=by_depth, log=log, log_gamma=log_gamma,
            context=round(context), seed=seed,
        )
    )  # fmt: skip
    pair = server_of(
        deployment, gamma=gamma_of(gamma, deployment, context, most_running), most_running=most_running,
        most_prompt=lengths.most_prompt, most_output=lengths.most_output,
        token_budget=token_budget or None, mean_context=context,
    )  # fmt: skip
    kind: LoopName = loop
    with shown_progress("serving") as progress:
        limits = loads.stable_limits(pair, lengths, rng=seed, requests=requests, loop=kind)
        points = loads.compare_loads(
            pair, served.loads or at_rates(loads.usual_rates(limits), lengths), rng=seed, limits=limits,
            requests=requests, warm_up=warm_up, replications=replications, objective=objective,
            loop=kind, progress=progress,
        )  # fmt: skip
    if figure is not None:
        from analysis.runs.figures import save  # noqa: PLC0415
        from analysis.serving.figures import times_over_load  # noqa: PLC0415

        save(times_over_load(points, title=deployment.name), figure)
    sections = (
        report.loads_section(points, objective=objective.asks),
        report.times_section(points, narrow=_is_narrow()),
        report.limits_section(pair, limits, output_tokens=loads.mean_lengths(lengths)[1]),
    )
    drafts = pair.speculative.lengths[1:]
    emit(
        Report(
            command="serving",
            parameters=(
                ("target", target),
                ("hardware", hardware),
                ("draft", "; ".join(draft or ())),
                ("gamma", _lengths_text(pair)),
                *_asked_parameters(asked),
                ("most_running", most_running),
                ("token_budget", token_budget),
                *(
                    (f"{name}_s", value)
                    for name, value in (("ttft", ttft), ("tpot", tpot), ("e2e", e2e))
                ),
                ("requests", requests),
                ("replications", replications),
                ("seed", seed),
            ),
            sections=sections,
            headline=headline(points, limits),
            notes=(
                *about_gamma(gamma, pair),
                _PAIRED.format(replications),
                *([_GOODPUT] if objective.asks else []),
                *report.unstable_notes(points),
                *about_loads(points, limits, served),
                *pair.notes,
                *costs.notes,
                *costs.outside((1, pair.plain.most_running), context, int(drafts.max())),
            ),
        ),
        output,
    )


def _is_narrow() -> bool:
    """Whether people read the tables, on a terminal that does not hold all columns of the times."""
    return sys.stdout.isatty() and shutil.get_terminal_size().columns < TIMES_WIDTH


def _asked_parameters(asked: AskedLoads) -> tuple[tuple[str, Cell], ...]:
    traced = asked.trace is not None
    return (
        ("prompt_tokens", None if traced else asked.prompt or USUAL_PROMPT),
        ("output_tokens", None if traced else asked.output or USUAL_OUTPUT),
        ("rate", asked.rate),
        ("users", asked.users),
        ("trace", str(asked.trace) if traced else None),
        ("speed_up", asked.speed_up),
        ("warm_up", asked.warm_up),
    )


def _lengths_text(pair: ServerPair) -> str:
    """The draft length, or the schedule, as it is served."""
    from analysis.planning.schedule import Schedule  # noqa: PLC0415

    lengths = pair.speculative.lengths[1:].tolist()
    if len(set(lengths)) == 1:
        return str(lengths[0])
    return Schedule.of_points(range(1, len(lengths) + 1), lengths).text
