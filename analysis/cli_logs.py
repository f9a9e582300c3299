"""The command that reads an engine's log: what it says, and what is wrong. Registered with `fit`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from analysis.cli_fit import fit_command
from analysis.log_options import (
    After,
    AllowRemote,
    AnyEngine,
    Ask,
    AskedAtOnce,
    AskedModel,
    AskedTemperature,
    AskedTokens,
    By,
    Keep,
    Layout,
    LogSources,
    MethodName,
    PlainSpeed,
    ProfileFile,
    Running,
    Snapshot,
    Speed,
    TargetName,
    WholeAnswers,
    WithTexts,
)
from analysis.options import (
    KnownCostRatio,
    LoggedGamma,
    OutputFormat,
    Overhead,
    VerifyCost,
)
from analysis.output import Cell, Format, Report, emit

if TYPE_CHECKING:
    from analysis.cli_capture import Captured
    from analysis.cli_known import Known
    from analysis.cli_wanted import Wanted
    from analysis.diagnosis.finding import Finding
    from analysis.import_report import ImportedLog
    from real_runs.engines import Reading
    from simulator import Observation


def register(app: typer.Typer) -> None:
    """Add the commands to `specdec`."""
    app.command(name="import")(import_command)
    app.command(name="fit")(fit_command)


def import_command(
    sources: LogSources,
    before: Snapshot = None,
    after: After = None,
    ask: Ask = None,
    max_tokens: AskedTokens = None,
    concurrency: AskedAtOnce = None,
    model: AskedModel = None,
    temperature: AskedTemperature = None,
    whole_answers: WholeAnswers = False,  # noqa: FBT002 — options, never passed by position
    keep: Keep = None,
    with_texts: WithTexts = False,  # noqa: FBT002
    allow_remote: AllowRemote = False,  # noqa: FBT002
    engine: AnyEngine = None,
    layout: Layout = None,
    gamma: LoggedGamma = None,
    cost_ratio: KnownCostRatio = None,
    verify_cost: VerifyCost = 1.0,
    overhead: Overhead = 0.0,
    tps: Speed = None,
    plain_tps: PlainSpeed = None,
    running: Running = None,
    method: MethodName = None,
    target: TargetName = None,
    by: By = None,
    profile: ProfileFile = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Read an engine's log or a running server: counts, what p really is, what is wrong."""
    from analysis.cli_capture import check_wanted  # noqa: PLC0415
    from analysis.cli_known import Known  # noqa: PLC0415
    from analysis.cli_wanted import Wanted  # noqa: PLC0415
    from analysis.import_report import import_report  # noqa: PLC0415

    if before is not None and len(sources) > 1:
        raise ValueError(f"--before belongs to one file; got {len(sources)}.")
    wanted = Wanted(
        after=after,
        ask=ask,
        max_tokens=max_tokens,
        concurrency=concurrency,
        model=model,
        temperature=temperature,
        whole_answers=whole_answers,
        keep=keep,
        with_texts=with_texts,
        allow_remote=allow_remote,
    )
    known = Known(
        gamma=gamma,
        cost_ratio=cost_ratio,
        verify_cost=verify_cost,
        overhead=overhead,
        tps=tps,
        plain_tps=plain_tps,
        running=running,
        method=method,
        target=target,
        by=by,
    )
    check_wanted(sources, wanted, before)
    captures: list[Captured] = []
    read: list[_Read] = []
    for source in sources:
        captured = _captured(source, wanted, engine, before)
        captures.append(captured)
        if captured.failure is not None:
            break
        read.append(_read(source, captured, known, layout, alone=len(sources) == 1))
    failure = next((each.failure for each in captures if each.failure is not None), None)
    if profile is not None and failure is None:
        _write_profile(profile, tuple(reading for each in read for reading in each.readings))
    logs = tuple(log for each in read for log in each.logs)
    side_by_side = [observation for each in read for observation in each.side_by_side]
    parameters: tuple[tuple[str, Cell], ...] = (
        ("source", ", ".join(map(_name, sources))),
        ("before", None if before is None else str(before)),
        ("engine", engine),
        ("layout", layout),
        *known.told,
        *((name.removeprefix("--").replace("-", "_"), value) for name, value in wanted.told),
    )
    report = import_report(logs, parameters, together=_together(side_by_side, logs))
    _emit_all(report, captures, failure, output)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """One source: its readings, what the report shows of each, and what the doctor lays side by side."""

    readings: tuple[Reading, ...]
    logs: tuple[ImportedLog, ...]
    side_by_side: tuple[Observation, ...]


def _read(
    source: str, captured: Captured, known: Known, layout: str | None, *, alone: bool
) -> _Read:
    """What one source says; `alone` where it is the only one, whose logs need not name it."""
    from analysis.cli_sources import chosen, of_layout  # noqa: PLC0415

    name = _name(source)
    readings = of_layout(captured.readings, layout, name)
    observations = [
        known.added_to(reading.observation, running=captured.running) for reading in readings
    ]
    pairs = list(zip(readings, observations, strict=True))
    logs = tuple(known.log_of(reading, observation) for reading, observation in pairs)
    side_by_side: tuple[Observation, ...] = ()
    if not alone:
        logs = tuple(replace(log, name=f"{name}, {log.name}") for log in logs)
        best, _ = chosen(readings, layout, Path(source))
        side_by_side = (replace(observations[readings.index(best)], name=name),)
    elif len({each.gamma for each in observations}) == len(observations) > 1:
        side_by_side = tuple(  # a sweep in one file
            replace(observation, name=reading.layout) for reading, observation in pairs
        )
    return _Read(readings=tuple(readings), logs=logs, side_by_side=side_by_side)


def _name(source: str) -> str:
    return "stdin" if source == "-" else source


def _emit_all(
    report: Report, captures: list[Captured], failure: ValueError | None, output: Format
) -> None:
    """Print the report with what servers told of times; what failed is raised behind it."""
    sections = tuple(section for each in captures for section in each.sections)
    notes = tuple(note for each in captures for note in each.notes)
    if failure is None or sections:
        told = (*report.sections, *sections)
        emit(replace(report, sections=told, notes=(*notes, *report.notes)), output)
    if failure is not None:
        raise failure


def _captured(source: str, wanted: Wanted, engine: str | None, before: Path | None) -> Captured:
    """What a server or a file says."""
    from analysis.cli_capture import Captured, capture  # noqa: PLC0415
    from analysis.cli_sources import read_source  # noqa: PLC0415
    from real_runs.capture.addresses import is_url  # noqa: PLC0415

    if is_url(source):
        return capture(source, wanted, engine=engine, before=before)
    return Captured(readings=read_source(Path(source), engine=engine, before=before))


def _together(
    observations: list[Observation], logs: tuple[ImportedLog, ...]
) -> tuple[Finding, ...]:
    """What only shows when several logs are laid side by side."""
    from analysis.doctor import diagnose  # noqa: PLC0415

    if len(observations) < 2:
        return ()
    alone = {code for log in logs if log.diagnosis is not None for code in log.diagnosis.codes}
    return tuple(found for found in diagnose(observations).findings if found.code not in alone)


def _write_profile(path: Path, readings: tuple[Reading, ...]) -> None:
    from real_runs.engines.speculation_profile.writing import write_speculation_profile  # noqa: PLC0415

    with_counts = [reading for reading in readings if reading.counts is not None]
    if len(with_counts) != 1:
        raise ValueError(
            "--profile needs one reading with counts; this log has "
            f"{len(with_counts)}: choose one with --engine and --layout."
        )
    write_speculation_profile(path, with_counts[0].observation)
