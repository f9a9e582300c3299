"""`specdec measure --peer`: our loop beside another library's, and `specdec report` of what it wrote.

Nothing heavy is imported here.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from analysis.cli_runs import EXIT_CHECK_FAILED, EXIT_INTERRUPTED, run_errors
from analysis.output import Format, emit
from analysis.progress import shown_progress

if TYPE_CHECKING:
    from analysis.output import Report
    from real_runs.peers.result import PeerComparison
    from real_runs.runs.header import Settings


def measure_peer(
    peer: str,
    settings: Settings,
    out: Path,
    *,
    prompts: str,
    threads: int | None,
    resume: bool,
    output: Format,
) -> None:
    """Measure both loops into `out`/peer.json and say what they did.

    Exit 1 where a greedy text of both, counted alike, leaves rounds that differ. Raises ValueError for
    another peer, and for options that it does not have.
    """
    from real_runs.peers.comparing import (  # noqa: PLC0415
        PEERS,
        check_peer,
        compare_with_transformers,
    )
    from real_runs.peers.result import check_peer_place, write_peer  # noqa: PLC0415

    if peer not in PEERS:
        raise ValueError(f"--peer must be one of {', '.join(PEERS)}; got {peer!r}.")
    if resume:
        raise ValueError(
            "--resume must be left out with --peer: both loops are measured in one go."
        )
    check_peer(settings)
    check_peer_place(out)
    with run_errors(), shown_progress("measuring") as progress:
        try:
            found = compare_with_transformers(
                settings, prompts=prompts, threads=threads, progress=progress
            )
        except KeyboardInterrupt:
            sentence = "interrupted; a comparison is measured in one go, and nothing is kept."
            print(f"Error: {sentence}", file=sys.stderr)  # noqa: T201
            raise typer.Exit(EXIT_INTERRUPTED) from None
        write_peer(found, out)
    report, unexplained = _report_of(found, out, command="measure", seed=0)
    emit(report, output)
    if unexplained:
        raise typer.Exit(EXIT_CHECK_FAILED)


def report_peer(folder: Path, *, seed: int, output: Format) -> None:
    """Print what `folder`/peer.json holds as `measure --peer` did; `seed` draws its intervals."""
    from real_runs.peers.result import read_peer  # noqa: PLC0415

    with run_errors():
        found = read_peer(folder)
        try:
            report, _ = _report_of(found, folder, command="report", seed=seed)
        except ValueError as error:
            raise ValueError(f"{folder}: {error}") from None
    emit(report, output)


def _report_of(
    found: PeerComparison, folder: Path, *, command: str, seed: int
) -> tuple[Report, bool]:
    """The report of a comparison, and whether greedy rounds are left that nothing explains."""
    from analysis.runs.peer_report import peer_report  # noqa: PLC0415
    from analysis.runs.peer_summary import summarize_peer  # noqa: PLC0415
    from real_runs.bench import without_folders  # noqa: PLC0415
    from real_runs.peers.result import CUSTOMS, PEER_FILE  # noqa: PLC0415

    greedy = found.settings.temperature == 0.0
    summaries = summarize_peer(found.requests, rng=seed)
    different = sum(each.requests - each.same_text for each in summaries)
    unexplained = any(each.unexplained for each in summaries)
    names = (stage.name for stage in summaries[0].stages)
    said = (f"{name}: {CUSTOMS[name]}" for name in names if name in CUSTOMS)
    notes = (*said, *found.prompts.notes)
    if greedy and different:
        told = f"{different} texts are not the same in both; rounds of these are not compared."
        notes = (f"{told} --dtype float64 shows whether rounding decided.", *notes)
    elif greedy and unexplained and found.target.dtype != "float64":
        told = "Where texts agree, rounding can change a draft, too: --dtype float64 shows whether it did."
        notes = (told, *notes)
    settings = found.settings
    report = peer_report(
        summaries,
        peer=found.peer,
        greedy=greedy,
        command=command,
        notes=notes,
        parameters=(
            ("peer", f"{found.peer} {found.version}"),
            ("target", settings.target),
            ("drafter", settings.drafter),
            *((("draft", settings.draft),) if settings.draft else ()),
            ("temperature", settings.temperature),
            ("threads", settings.threads),
            ("seed", settings.seed),
            ("out", f"{without_folders([str(folder)])[0]}/{PEER_FILE}"),
        ),
    )
    return report, greedy and unexplained
