"""`specdec measure --peer`: our loop beside another library's. Nothing heavy is imported here."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from analysis.cli_runs import EXIT_CHECK_FAILED, EXIT_INTERRUPTED, run_errors
from analysis.output import Format, emit
from analysis.progress import shown_progress

if TYPE_CHECKING:
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
    from analysis.runs.peer_report import peer_report  # noqa: PLC0415
    from analysis.runs.peer_summary import summarize_peer  # noqa: PLC0415
    from real_runs.bench import without_folders  # noqa: PLC0415
    from real_runs.peers.comparing import (  # noqa: PLC0415
        PEERS,
        check_peer,
        compare_with_transformers,
    )
    from real_runs.peers.pair import CUSTOMS  # noqa: PLC0415
    from real_runs.peers.result import PEER_FILE, check_peer_place, write_peer  # noqa: PLC0415

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
    greedy = found.settings.temperature == 0.0
    summaries = summarize_peer(found.requests)
    different = sum(each.requests - each.same_text for each in summaries)
    unexplained = any(each.unexplained for each in summaries)
    names = (stage.name for stage in summaries[0].stages)
    notes = (*(f"{name}: {CUSTOMS[name]}" for name in names), *found.prompts.notes)
    if greedy and different:
        said = f"{different} texts are not the same in both; rounds of these are not compared."
        notes = (f"{said} --dtype float64 shows whether rounding decided.", *notes)
    elif greedy and unexplained and found.target.dtype != "float64":
        said = "Where texts agree, rounding can change a draft, too: --dtype float64 shows whether it did."
        notes = (said, *notes)
    told = found.settings
    report = peer_report(
        summaries,
        peer=peer,
        greedy=greedy,
        notes=notes,
        parameters=(
            ("peer", f"{found.peer} {found.version}"),
            ("target", told.target),
            ("drafter", told.drafter),
            *((("draft", told.draft),) if told.draft else ()),
            ("temperature", told.temperature),
            ("threads", told.threads),
            ("seed", told.seed),
            ("out", f"{without_folders([str(out)])[0]}/{PEER_FILE}"),
        ),
    )
    emit(report, output)
    if greedy and unexplained:
        raise typer.Exit(EXIT_CHECK_FAILED)
