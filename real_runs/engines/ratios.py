"""An engine's own printed ratios under this project's names."""

from __future__ import annotations

from real_runs.engines.errors import MetricsFormatError
from real_runs.engines.printed import Printed, as_fraction
from real_runs.engines.skips import NoCounts, NothingDrafted
from simulator import ReportedRatio


def check_counts(source: str, line: int, *, accepted: int, drafted: int, of: str) -> None:
    """Raise NothingDrafted for a line without drafts, MetricsFormatError for more kept than drafted."""
    if accepted > drafted:
        raise MetricsFormatError(
            source,
            line=line,
            problem=f"accepted ({accepted}) is above drafted ({drafted}); "
            "expected at most as many accepted as drafted tokens.",
        )
    if drafted == 0:
        raise NothingDrafted(f"no draft in this {of}")


def agreeing_fraction(printed: Printed, *, accepted: int, drafted: int) -> Printed:
    """The printed acceptance rate as a fraction; NoCounts if it contradicts the counts."""
    fraction = as_fraction(printed, accepted=accepted, drafted=drafted)
    if fraction is None:
        raise NoCounts(
            f"the printed acceptance rate {printed.value:g} contradicts the counts "
            f"({accepted} accepted of {drafted} drafted)"
        )
    return fraction


def reported(
    *,
    fraction: Printed | None,
    length: Printed | None,
    survival: tuple[Printed, ...],
    averaged_over: str,
) -> tuple[ReportedRatio, ...]:
    """The ratios of one line, each with the half-width of its rounding."""
    named: list[tuple[str, Printed | None, int | None]] = [
        ("accepted_fraction", fraction, None),
        ("tokens_per_round", length, None),
        *(("survival", printed, depth) for depth, printed in enumerate(survival)),
    ]
    return tuple(
        ReportedRatio(
            quantity=quantity,
            value=printed.value,
            half_width=printed.half_width,
            averaged_over=averaged_over,
            depth=depth,
        )
        for quantity, printed, depth in named
        if printed is not None
    )
