"""What `specdec measure --peer` says: speed, counts, the way from one loop's counts to the other's, time."""

from __future__ import annotations

from analysis.output import Cell, Report, Row, Section
from analysis.runs.peer_summary import LoopFigures, PeerSummary
from simulator import AcceptanceTable, Estimate

_SPEED = (
    "gamma",
    "requests",
    "same text",
    "ours / peer",
    "low",
    "high",
    "decoding only",
    "low ",
    "high ",
)
_COUNTS = (
    "gamma", "loop", "tokens/s", "tokens per round", "low", "high", "p", "low ", "high ", "unexplained rounds",
)  # fmt: skip
_WAY = (
    "gamma",
    "counted",
    "rounds",
    "drafted",
    "tested",
    "accepted",
    "discarded",
    "tokens per round",
)
_TIME = (
    "gamma", "loop", "total_s", "prompt_s", "target passes", "target_s", "draft passes", "draft_s", "outside_s",
)  # fmt: skip


def peer_report(
    summaries: tuple[PeerSummary, ...],
    *,
    peer: str,
    greedy: bool,
    command: str = "measure",
    notes: tuple[str, ...] = (),
    parameters: tuple[tuple[str, Cell], ...] = (),
) -> Report:
    """Four tables, one group of rows per draft length."""
    return Report(
        command=command,
        parameters=parameters,
        sections=(
            Section(name="speed", columns=_SPEED, rows=tuple(_speed(each) for each in summaries)),
            Section(
                name="loops",
                columns=_COUNTS,
                rows=tuple(row for each in summaries for row in _loops(each, peer)),
            ),
            Section(
                name="from_ours_to_the_peer",
                columns=_WAY,
                rows=tuple(row for each in summaries for row in _way(each, peer)),
            ),
            Section(
                name="time",
                columns=_TIME,
                rows=tuple(row for each in summaries for row in _time(each, peer)),
            ),
        ),
        headline=" ".join(_sentence(each, peer, greedy=greedy) for each in summaries),
        notes=(*(_why(each, peer) for each in summaries), *notes),
    )


def _sentence(summary: PeerSummary, peer: str, *, greedy: bool) -> str:
    low, high = _ends(summary.ratio)
    between = "" if low is None else f" [{low:.2f}, {high:.2f}]"
    said = (
        f"At γ = {summary.gamma} our loop gives {summary.ratio.value:.2f}×{between} the tokens per second "
        f"of the loop of {peer}."
    )
    if not greedy:
        return f"{said} Texts are sampled, so that counts agree in law only."
    texts = f"The same text in {summary.same_text} of {summary.requests} requests"
    rounds = f"{summary.unexplained} of the peer's {summary.peer.table.rounds:,} rounds are left unexplained"
    return f"{said} {texts}; {rounds}."


def _why(summary: PeerSummary, peer: str) -> str:
    """Where the time differs, per emitted token."""
    ours, theirs = summary.ours, summary.peer
    parts = (
        f"{name} {1e6 * (t / theirs.tokens - o / ours.tokens):+,.0f}"
        for name, o, t in (
            ("in the target", ours.target_s, theirs.target_s),
            ("in the draft", ours.draft_s, theirs.draft_s),
            ("outside of the models", ours.rest_s, theirs.rest_s),
        )
    )
    slower = 1e6 * (theirs.total_s / theirs.tokens - ours.total_s / ours.tokens)
    return f"γ = {summary.gamma}: with {peer} a token takes {slower:+,.0f} µs: {', '.join(parts)}."


def _speed(summary: PeerSummary) -> Row:
    return (
        summary.gamma,
        summary.requests,
        summary.same_text,
        *_cells(summary.ratio),
        *_cells(summary.decode_ratio),
    )


def _loops(summary: PeerSummary, peer: str) -> tuple[Row, Row]:
    def row(name: str, loop: LoopFigures, unexplained: int | None) -> Row:
        return (
            summary.gamma,
            name,
            loop.tokens_per_s,
            *_cells(loop.tokens_per_round),
            *_cells(loop.p),
            unexplained,
        )

    return row("ours", summary.ours, None), row(peer, summary.peer, summary.unexplained)


def _way(summary: PeerSummary, peer: str) -> tuple[Row, ...]:
    steps = (
        ("ours", summary.ours.table),
        *((f"with {stage.name}", stage.table) for stage in summary.stages),
        (peer, summary.peer.table),
    )
    return tuple((summary.gamma, name, *_counts(table)) for name, table in steps)


def _counts(table: AcceptanceTable) -> Row:
    return (
        table.rounds,
        table.drafted,
        sum(table.tested),
        sum(table.accepted),
        table.discarded,
        table.tokens_per_round.value,
    )


def _time(summary: PeerSummary, peer: str) -> tuple[Row, Row]:
    def row(name: str, loop: LoopFigures) -> Row:
        return (
            summary.gamma,
            name,
            loop.total_s,
            loop.first_s,
            loop.target_passes,
            loop.target_s,
            loop.draft_passes,
            loop.draft_s,
            loop.rest_s,
        )

    return row("ours", summary.ours), row(peer, summary.peer)


def _cells(estimate: Estimate) -> tuple[float, float | None, float | None]:
    return (estimate.value, *_ends(estimate))


def _ends(estimate: Estimate) -> tuple[float, float] | tuple[None, None]:
    return estimate.interval or (None, None)
