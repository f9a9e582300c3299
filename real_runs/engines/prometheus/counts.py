"""From how far the counters of one model grew to counts, and what contradicts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from real_runs.engines.counts.pool import Record
from real_runs.engines.counts.printed import MOST_DEPTHS
from real_runs.engines.counts.ratios import check_counts
from real_runs.engines.counts.recovery import Recovered
from real_runs.engines.counts.skips import NoCounts, NothingDrafted
from real_runs.engines.counts.wording import counted
from real_runs.engines.prometheus.exposition import Series
from simulator import AcceptanceTotals, ReportedRatio

LARGEST = 2.0**53
"""Beyond it, a float of Prometheus no longer holds every whole number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The counters of one engine: their names without "_total".

    `rounds`, `per_position` and `steps` (a histogram: the seconds of each step of a request) are empty
    where the engine has none. `old` is a counter that only an older engine with other meanings has.
    """

    engine: str
    prefix: str
    shape: str
    definition: str
    drafted: str
    accepted: str
    rounds: str = ""
    per_position: str = ""
    steps: tuple[str, ...] = ()
    old: str = ""

    @property
    def names(self) -> frozenset[str]:
        """All names that are kept."""
        steps = (f"{name}_{part}" for name in self.steps for part in ("sum", "count"))
        named = (self.drafted, self.accepted, self.rounds, self.per_position, self.old)
        return frozenset({*(name for name in named if name), *steps})


@dataclass(frozen=True, slots=True, kw_only=True)
class Grown:
    """The counters of one model, summed over its engines."""

    sums: dict[str, float]
    positions: dict[int, float]


def summed(series: Sequence[Series], schema: Schema, *, whole: bool) -> Grown:
    """Sums over all engines; the `whole` counters since the start, or only what they grew by."""
    sums: dict[str, float] = {}
    positions: dict[int, float] = {}
    for each in series:
        value = each.last if whole else each.grown
        name = bare_name(each.name)
        if name != schema.per_position:
            sums[name] = sums.get(name, 0.0) + value
            continue
        position = each.label("position")
        if not (position.isdecimal() and int(position[:9]) < MOST_DEPTHS):
            raise NoCounts(f"position is not one of {MOST_DEPTHS} ({position[:40]})")
        positions[int(position)] = positions.get(int(position), 0.0) + value
    return Grown(sums=sums, positions=positions)


def bare_name(name: str) -> str:
    """The name of a counter, which may be written without its "_total"."""
    return name.removesuffix("_total")


def counts_of(grown: Grown, schema: Schema) -> tuple[Record, list[str]]:
    """The counts of one model and notes on them; NoCounts if they contradict each other."""
    drafted = _whole(grown, schema.drafted)
    accepted = _whole(grown, schema.accepted)
    check_counts(accepted=accepted, drafted=drafted, of="in these counters")
    rounds = None
    if schema.rounds in grown.sums:
        rounds = _whole(grown, schema.rounds)
        if rounds > drafted or rounds == 0:
            raise NoCounts(
                f"{schema.rounds} ({rounds}) does not fit the drafted tokens ({drafted})",
                finding="length_outside_range",
            )
    by_depth, notes = _by_depth(grown, accepted=accepted, rounds=rounds)
    longest = len(by_depth) if by_depth else None
    if longest is not None and rounds is not None and drafted > rounds * longest:
        longest, by_depth = None, None
        notes.append(
            "Drafted tokens are above rounds × positions (a tree, or servers of different draft lengths): "
            "counts per depth are left out."
        )
    full = rounds is not None and longest is not None and drafted == rounds * longest
    totals = AcceptanceTotals(
        drafted=drafted,
        accepted=accepted,
        rounds=rounds,
        accepted_by_depth=by_depth,
        longest_draft=longest,
        length_rule="fixed" if full else "unknown",
    )
    table = totals.to_table()
    if table is not None:
        return table, notes
    basis, allowed = ("unknown", (1, drafted)) if rounds is None else ("counted", (rounds, rounds))
    return Recovered(totals=totals, basis=basis, allowed=allowed), notes  # type: ignore[arg-type]


def lacks_drafted(grown: Grown, schema: Schema) -> bool:
    """Whether rounds and accepted tokens are there, and drafted tokens, without which no counts are, not."""
    return (
        schema.drafted not in grown.sums and {schema.rounds, schema.accepted} <= grown.sums.keys()
    )


def ratios_of(
    grown: Grown, schema: Schema, *, averaged_over: str
) -> tuple[tuple[ReportedRatio, ...], list[str]]:
    """Tokens per round of rounds and accepted tokens alone, with the survival where positions add up."""
    rounds, accepted = _whole(grown, schema.rounds), _whole(grown, schema.accepted)
    if rounds == 0:
        if accepted:
            raise NoCounts(
                f"{accepted} accepted tokens in no round", finding="length_outside_range"
            )
        raise NothingDrafted("no draft in these counters")
    by_depth, notes = _by_depth(grown, accepted=accepted, rounds=rounds)
    values: list[tuple[str, float, int | None]] = [
        ("tokens_per_round", 1.0 + accepted / rounds, None)
    ]
    values += [("survival", kept / rounds, depth) for depth, kept in enumerate(by_depth or ())]
    ratios = tuple(
        ReportedRatio(
            quantity=quantity,
            value=value,
            half_width=0.0,
            averaged_over=averaged_over,
            depth=depth,
        )
        for quantity, value, depth in values
    )
    missing = (
        f"{schema.drafted} is not in the text, so accepted / drafted is unknown: ratios over "
        f"{counted(rounds, 'round')} only."
    )
    return ratios, [missing, *notes]


def _by_depth(
    grown: Grown, *, accepted: int, rounds: int | None
) -> tuple[tuple[int, ...] | None, list[str]]:
    """Accepted counts per position, if all are there and add up; else a note that says why not."""
    positions = grown.positions
    if not positions:
        return None, []
    if sorted(positions) != list(range(len(positions))):
        return None, ["Counts per position are left out: some positions are missing."]
    values = [positions[depth] for depth in range(len(positions))]
    if not all(value.is_integer() and 0.0 <= value < LARGEST for value in values):
        return None, ["Counts per position are left out: they are no whole numbers."]
    counts = tuple(int(value) for value in values)
    before = (rounds if rounds is not None else counts[0], *counts)
    if sum(counts) != accepted or any(
        later > earlier for earlier, later in zip(before, counts, strict=False)
    ):
        return None, [
            f"Counts per position are left out: they add up to {sum(counts)}, and {accepted} were accepted."
            if sum(counts) != accepted
            else "Counts per position are left out: they rise with the position."
        ]
    return counts, []


def _whole(grown: Grown, name: str) -> int:
    value = grown.sums.get(name)
    if value is None:
        raise NoCounts(f"the exposition has no '{name}'")
    if not (value.is_integer() and 0.0 <= value < LARGEST):
        raise NoCounts(f"{name} is not a count ({value:.17g})")
    return int(value)
