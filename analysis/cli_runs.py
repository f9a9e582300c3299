"""The commands on measured runs. Registered by `analysis.cli`; nothing heavy is imported here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from analysis.options import OutputFormat
from analysis.output import Format, emit
from analysis.progress import shown_progress
from analysis.run_options import (
    AllowLossy,
    Device,
    Draft,
    Drafter,
    Dtype,
    FigureFile,
    Gammas,
    MaxTokens,
    MinP,
    Order,
    Out,
    Prompts,
    Repeats,
    ResamplingSeed,
    Resume,
    RuleName,
    RunFolder,
    RunFolders,
    RunSeed,
    Stop,
    Target,
    Temperature,
    Threads,
    TopK,
    TopP,
    whole_numbers,
)

if TYPE_CHECKING:
    from real_runs.runs.losslessness import Losslessness

EXIT_CHECK_FAILED, EXIT_USAGE, EXIT_BAD_DATA, EXIT_INTERRUPTED = 1, 2, 3, 130


def register(app: typer.Typer) -> None:
    """Add the commands to `specdec`."""
    app.command(name="measure")(measure_command)
    app.command(name="report")(report_command)
    app.command(name="verify-run")(verify_run_command)


def measure_command(
    out: Out,
    target: Target = "tiny",
    drafter: Drafter = "draft_model",
    draft: Draft = None,
    gamma: Gammas = "1,2,4,6,8",
    prompts: Prompts = "bundled",
    max_tokens: MaxTokens = 128,
    temperature: Temperature = 0.0,
    top_k: TopK = 0,
    top_p: TopP = 1.0,
    min_p: MinP = 0.0,
    order: Order = "transformers",
    rule: RuleName = None,
    stop: Stop = "fixed",
    repeats: Repeats = 1,
    seed: RunSeed = 0,
    device: Device = "cpu",
    dtype: Dtype = "float32",
    threads: Threads = None,
    allow_lossy: AllowLossy = False,  # noqa: FBT002
    resume: Resume = False,  # noqa: FBT002
    output: OutputFormat = Format.TABLE,
) -> None:
    """Run actual models: plain decoding and every draft length on the same prompts, into a folder."""
    from analysis.runs.measure_report import measure_report  # noqa: PLC0415
    from real_runs.bench import measure_models, without_folders  # noqa: PLC0415
    from real_runs.runs.header import Settings  # noqa: PLC0415
    from real_runs.runs.losslessness import losslessness_of  # noqa: PLC0415
    from real_runs.settings import default_rule  # noqa: PLC0415

    settings = Settings(
        target=target,
        drafter=drafter,
        draft=draft,
        gammas=whole_numbers("--gamma", gamma),
        max_tokens=max_tokens,
        rule=default_rule(drafter, temperature) if rule is None else rule,
        stop=stop,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        min_p=min_p,
        order=order,
        repeats=repeats,
        seed=seed,
        device=device,
        dtype=dtype,
        allow_lossy=allow_lossy,
    )
    with run_errors(), shown_progress("measuring") as progress:
        made = []

        def report(share: float) -> None:
            made.append(share)
            if progress is not None:
                progress(share)

        run = measure_models(
            settings,
            out,
            prompts=prompts,
            threads=threads,
            argv=sys.argv[1:],
            resume=resume,
            progress=report,
        )
    losslessness = losslessness_of(run)
    state = "measured" if made else "the run is complete already; nothing was measured again"
    headline = f"{len(run.records)} requests, {state}. `specdec report {out}` says what they mean."
    parameters = (
        ("target", run.settings.target),
        ("drafter", run.settings.drafter),
        ("draft", run.settings.draft),
        ("rule", run.settings.rule),
        ("threads", run.settings.threads),
        ("seed", run.settings.seed),
        ("out", without_folders([str(out)])[0]),
    )
    notes = (*run.header.prompts.notes, *_said(losslessness))
    emit(
        measure_report(run.requests, headline=headline, notes=notes, parameters=parameters), output
    )
    if losslessness is not None and losslessness.problem:
        raise typer.Exit(EXIT_CHECK_FAILED)


def report_command(
    folders: RunFolders,
    figure: FigureFile = None,
    seed: ResamplingSeed = 0,
    output: OutputFormat = Format.TABLE,
) -> None:
    """What measured runs gained, what a round cost, and how well the formula knew; several side by side."""
    from analysis.runs.prediction import summarize_run  # noqa: PLC0415
    from analysis.runs.report import NamedRun, figure_kind, run_report  # noqa: PLC0415
    from real_runs.runs.facts import facts_of  # noqa: PLC0415
    from real_runs.runs.reading import read_run  # noqa: PLC0415
    from simulator._checks import as_count  # noqa: PLC0415

    if figure is not None:
        figure_kind(figure)  # before the work, not after it
    as_count("seed", seed)
    runs: list[NamedRun] = []
    for folder in folders:
        with run_errors():
            run = read_run(folder)
            try:
                summary = summarize_run(run.requests, rng=seed)
            except ValueError as error:
                raise ValueError(f"{folder}: {error}") from None
            before = sum(other.name.partition(" (")[0] == run.name for other in runs)
            name = f"{run.name} ({before + 1})" if before else run.name
            runs.append(NamedRun(name=name, summary=summary, facts=facts_of(run)))
    if figure is not None:
        from analysis.runs.figures import measured_against_predicted, save  # noqa: PLC0415

        save(measured_against_predicted(tuple(runs)), figure)
    names = ", ".join(run.name for run in runs)
    emit(run_report(tuple(runs), (("runs", names), ("seed", seed))), output)


def verify_run_command(folder: RunFolder, output: OutputFormat = Format.TABLE) -> None:
    """Compute everything in a run folder again from its steps; exit 1 if something does not hold."""
    from analysis.runs.measure_report import verify_report  # noqa: PLC0415
    from real_runs.runs.verify import verify_run  # noqa: PLC0415

    with run_errors():
        result = verify_run(folder)
    count = len(result.findings) + result.left_out
    notes = _said(result.losslessness)
    if result.left_out:
        notes = (*notes, f"{result.left_out} more findings are not shown.")
    report = verify_report(
        summary=(
            ("requests", result.requests),
            ("tasks", result.tasks),
            ("tokens", result.tokens),
            ("findings", count),
        ),
        findings=result.findings,
        headline="Everything holds." if result.passed else f"{count} things do not hold.",
        notes=notes,
        parameters=(("folder", result.name),),
    )
    emit(report, output)
    if not result.passed:
        raise typer.Exit(EXIT_CHECK_FAILED)


@contextmanager
def run_errors() -> Iterator[None]:
    """Errors about runs as one sentence on stderr with their own exit codes."""
    from real_runs.runs.errors import (  # noqa: PLC0415
        RunFolderError,
        RunInterruptedError,
        RunStoppedError,
    )

    try:
        yield
    except RunFolderError as error:
        _fail(str(error), EXIT_BAD_DATA)
    except RunInterruptedError as error:
        _fail(str(error), EXIT_INTERRUPTED)
    except RunStoppedError as error:
        _fail(str(error), EXIT_USAGE)
    except KeyboardInterrupt:
        _fail("interrupted before anything was measured.", EXIT_INTERRUPTED)


def _fail(sentence: str, code: int) -> None:
    print(f"Error: {sentence}", file=sys.stderr)  # noqa: T201
    raise typer.Exit(code)


def _said(losslessness: Losslessness | None) -> tuple[str, ...]:
    """One sentence on greedy texts against plain decoding."""
    if losslessness is None:
        return ()
    if losslessness.problem:
        return (f"not lossless: {losslessness.problem}",)
    sentence = (
        f"{losslessness.mismatches} of {losslessness.texts} drafted texts leave plain decoding at a "
        f"near tie that rounding decides ({losslessness.share:.2g} per token)."
    )
    if not losslessness.mismatches:
        sentence = (
            f"all {losslessness.texts} drafted texts are those of plain decoding, token for token "
            f"({losslessness.tokens:,} tokens)."
        )
    return (sentence,)
