"""The commands on measured runs. Registered by `analysis.cli`; nothing heavy is imported here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from analysis.options import OutputFormat
from analysis.output import Format, emit
from analysis.run_options import FigureFile, ResamplingSeed, RunFolder, RunFolders

if TYPE_CHECKING:
    from analysis.runs.prediction import RunSummary
    from real_runs.runs.losslessness import Losslessness
    from real_runs.runs.measurement import Run

EXIT_CHECK_FAILED, EXIT_USAGE, EXIT_BAD_DATA, EXIT_INTERRUPTED = 1, 2, 3, 130


def register(app: typer.Typer) -> None:
    """Add the commands to `specdec`."""
    from analysis.cli_measure import measure_command  # noqa: PLC0415 - it takes its errors from here

    app.command(name="measure")(measure_command)
    app.command(name="report")(report_command)
    app.command(name="verify-run")(verify_run_command)


def report_command(
    folders: RunFolders,
    figure: FigureFile = None,
    seed: ResamplingSeed = 0,
    output: OutputFormat = Format.TABLE,
) -> None:
    """What measured runs gained, what a round cost, and how well the formula knew; several side by side.

    Of a folder of `measure --peer` it prints what that printed.
    """
    from analysis.runs.report import NamedRun, figure_kind, run_report  # noqa: PLC0415
    from real_runs.peers.result import holds_comparison  # noqa: PLC0415
    from real_runs.runs.facts import conditions_of, facts_of, system_of  # noqa: PLC0415
    from real_runs.runs.reading import read_run  # noqa: PLC0415
    from simulator._checks import as_count  # noqa: PLC0415

    if figure is not None:
        figure_kind(figure)  # before the work, not after it
    as_count("seed", seed)
    compared = [folder for folder in folders if holds_comparison(folder)]
    if compared:
        if len(folders) > 1 or figure is not None:
            raise ValueError(
                f"{compared[0]} holds a comparison of `measure --peer`: give it alone and without --figure."
            )
        from analysis.cli_peer import report_peer  # noqa: PLC0415 - it takes its errors from here

        report_peer(compared[0], seed=seed, output=output)
        return
    runs: list[NamedRun] = []
    for folder in folders:
        with run_errors():
            run = read_run(folder)
            try:
                summary = summarized(run, seed)
            except ValueError as error:
                raise ValueError(f"{folder}: {error}") from None
            before = sum(other.name.partition(" (")[0] == run.name for other in runs)
            name = f"{run.name} ({before + 1})" if before else run.name
            runs.append(
                NamedRun(
                    name=name,
                    summary=summary,
                    facts=facts_of(run),
                    system=system_of(run),
                    conditions=conditions_of(run),
                )
            )
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
    notes = said_of(result.losslessness)
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
        headline="Everything holds."
        if result.passed
        else f"{count} thing{' does' if count == 1 else 's do'} not hold.",
        notes=notes,
        parameters=(("folder", result.name),),
    )
    emit(report, output)
    if not result.passed:
        raise typer.Exit(EXIT_CHECK_FAILED)


def summarized(run: Run, seed: int) -> RunSummary:
    """Everything a report says of a run, with what its heads foretold; raises what `summarize_run` does."""
    from analysis.runs.foretelling import foretell  # noqa: PLC0415
    from analysis.runs.prediction import summarize_run  # noqa: PLC0415
    from real_runs.tree_settings import drafts_of, grows  # noqa: PLC0415

    heads, settings = run.header.heads, run.settings
    # Accuracies are of greedy text; sampled text is kept by another law.
    known = heads is not None and settings.temperature == 0.0
    return summarize_run(
        run.requests,
        rng=seed,
        from_heads=foretell(drafts_of(settings), heads.accuracies) if heads and known else None,
        grows=grows(settings),
    )


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


def said_of(losslessness: Losslessness | None) -> tuple[str, ...]:
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
