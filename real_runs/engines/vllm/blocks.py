"""What the blocks at the end of a vLLM benchmark have in common: counted rounds and ratios over them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from real_runs.engines.counts.pool import Layout
from real_runs.engines.counts.printed import MOST_DEPTHS, Printed
from real_runs.engines.counts.ratios import Ratios, agreeing_fraction, check_counts
from real_runs.engines.counts.recovery import Recovered, with_rounds
from real_runs.engines.counts.rounding import Claim
from real_runs.engines.counts.skips import NoCounts, NothingDrafted
from real_runs.engines.counts.wording import counted
from real_runs.engines.reading import Reading
from simulator import AcceptanceTable, Counts

MOST_NOTES = 4
"""Notes on single blocks that are kept."""

_MOST_DECIMALS = 10**10
_ROUNDING = 1e-9  # of adding decimals in binary
_PADDED = (
    "Ratios agree with the counts only without the zeros at their end: they are taken as rounded "
    "more coarsely than printed."
)

RECOVERED = "Counts per depth are recovered from rounded ratios."


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block as printed: rounds with a draft, two counts, and ratios; `survival` can be cut short."""

    rounds: int
    drafted: int
    accepted: int
    fraction: Printed | None = None
    length: Printed | None = None
    survival: tuple[Printed, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockCounts:
    """What a block supports; `gamma` is the draft length, as far as the block shows it."""

    recovered: Recovered
    ratios: Ratios
    gamma: int | None
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Output:
    """Output tokens of benchmark runs, beside those that the counted rounds and prefill emit."""

    total: int | None = 0
    runs: int = 0
    unexplained: int = 0

    def add(self, total: int | None, requests: int | None, *, of_rounds: int) -> None:
        """Add a run of so many output tokens and requests, of whose tokens `of_rounds` are of rounds."""
        self.runs += 1
        if total is None or self.total is None:
            self.total = None
            return
        self.total += total
        if requests is not None:
            self.unexplained += max(total - requests - of_rounds, 0)

    @property
    def notes(self) -> tuple[str, ...]:
        """Says so where rounds without a draft show, or why they cannot."""
        if self.total is None and self.runs:
            return ("Rounds without a draft are not counted.",)
        if not self.unexplained:
            return ()
        return (
            (
                f"{counted(self.unexplained, 'output token')} more than prefill and the rounds counted "
                "explain: at least as many rounds had no draft."
            ),
        )


def block_counts(block: Block) -> BlockCounts:
    """The counts of a block; NoCounts if its numbers contradict each other.

    A list of positions that is too short for the drafted tokens was cut by whoever copied it: then
    it bounds nothing, and the draft length is drafted / rounds where that is a whole number. Ratios
    that contradict the counts as printed are taken without the zeros at their end, which whoever
    typed 76.0 into two digits put there: rounded more coarsely they bound less, and nothing wrong.
    """
    try:
        return _block_counts(block)
    except NothingDrafted:
        raise
    except NoCounts:
        padded = _without_zeros(block)
        if padded == block:
            raise
        try:
            found = _block_counts(padded)
        except NoCounts:
            found = None
        if found is None:
            raise
        return replace(found, notes=(*found.notes, _PADDED))


def _block_counts(block: Block) -> BlockCounts:
    check_counts(accepted=block.accepted, drafted=block.drafted, of="in this run")
    if block.rounds == 0:
        raise NoCounts(f"{counted(block.drafted, 'drafted token')} in no round")
    fraction = block.fraction
    if fraction is not None:
        fraction = agreeing_fraction(fraction, accepted=block.accepted, drafted=block.drafted)
    listed = len(block.survival)
    whole = bool(listed) and block.drafted <= block.rounds * listed
    mean, rest = divmod(block.drafted, block.rounds)
    longest = listed if whole else (mean if not rest and mean <= MOST_DEPTHS else None)
    claim = Claim(
        drafted=block.drafted,
        accepted=block.accepted,
        length=block.length,
        survival=block.survival if whole else (),
        longest=longest,
    )
    ratios = Ratios(fraction=fraction, length=block.length, survival=block.survival)
    if not whole and not _falls_within(block.survival, block.accepted / block.rounds):
        raise NoCounts(
            f"the positions listed contradict {block.accepted} accepted tokens in "
            f"{counted(block.rounds, 'round')}"
        )
    return BlockCounts(
        recovered=with_rounds(claim, block.rounds),
        ratios=ratios,
        gamma=longest,
        notes=() if whole else _cut_short(listed, block.drafted / block.rounds, longest),
    )


def _without_zeros(block: Block) -> Block:
    return replace(
        block,
        fraction=None if block.fraction is None else _coarser(block.fraction),
        length=None if block.length is None else _coarser(block.length),
        survival=tuple(_coarser(printed) for printed in block.survival),
    )


def _coarser(printed: Printed) -> Printed:
    """The number as rounded to its last digit that is not 0, if that is behind the point.

    >>> _coarser(Printed(units=7600, scale=100))
    Printed(units=76, scale=1)
    """
    units, scale = printed.units, printed.scale
    while units and scale > 1 and units % 10 == 0:
        units, scale = units // 10, scale // 10
    return Printed(units=units, scale=scale)


def as_percent(printed: Printed) -> Printed:
    """A ratio printed in percent without its sign, as a fraction.

    >>> as_percent(Printed(units=7617, scale=100)).value
    0.7617
    """
    return replace(printed, scale=printed.scale * 100)


def shortened(printed: Printed | None) -> Printed | None:
    """A quotient in full as a decimal of at most 10 digits: the last ones are those of a float.

    >>> shortened(Printed(units=3278846153846154, scale=10**15))
    Printed(units=32788461538, scale=10000000000)
    """
    if printed is None or printed.scale <= _MOST_DECIMALS:
        return printed
    return Printed(units=round(printed.value * _MOST_DECIMALS), scale=_MOST_DECIMALS)


def in_order(positions: dict[int, Printed]) -> tuple[Printed, ...]:
    """The ratios of the positions 0, 1, 2 ...; NoCounts where one is missing between others."""
    if sorted(positions) != list(range(len(positions))):
        raise NoCounts(f"the positions listed are not 0 to {len(positions) - 1}")
    return tuple(positions[index] for index in range(len(positions)))


def recovered_note(counts: Counts | None) -> tuple[str, ...]:
    """Says so where the counts per depth stem from printed ratios, and are exact."""
    known = isinstance(counts, AcceptanceTable) or (
        counts is not None and counts.accepted_by_depth is not None
    )
    return (RECOVERED,) if known else ()


def ratios_alone(ratios: Ratios) -> Ratios:
    """The ratios of a block without counts; NoCounts where they contradict each other or are none."""
    if ratios.length is None and not ratios.survival:
        raise NothingDrafted("no draft in this run")
    if ratios.fraction is not None and ratios.fraction.value > 1.0:
        raise NoCounts(
            f"an acceptance rate of {ratios.fraction.value * 100.0:g} per cent, above 100",
            finding="unit_error",
        )
    if ratios.length is not None and ratios.length.value + ratios.length.half_width < 1.0:
        raise NoCounts(
            f"an acceptance length of {ratios.length.value:g}, and a round emits one token at least",
            finding="length_outside_range",
        )
    if not _can_be_cut(ratios):
        raise NoCounts("the printed ratios contradict each other")
    return ratios


def _can_be_cut(ratios: Ratios) -> bool:
    """Whether the positions fall, and the sum of those listed is at most the length less 1."""
    length = ratios.length
    return _falls_within(
        ratios.survival, math.inf if length is None else length.value - 1.0 + length.half_width
    )


def _falls_within(survival: tuple[Printed, ...], total: float) -> bool:
    """Whether the first positions of a list are shares that fall and sum to the total at most."""
    values = [printed.value for printed in survival]
    slack = sum(printed.half_width for printed in survival) + _ROUNDING
    falls = values == sorted(values, reverse=True) and max(values, default=0.0) <= 1.0
    return falls and sum(values) <= total + slack


def _cut_short(listed: int, mean: float, longest: int | None) -> tuple[str, ...]:
    which = f"Only the first {counted(listed, 'position')} of" if listed else "No position of"
    verb = "are" if listed > 1 else "is"
    if longest is None:
        return (f"{which} drafts of {mean:.3g} tokens on average {verb} printed.",)
    return (
        (
            f"{which} drafts of {counted(longest, 'token')} {verb} printed: that length is drafted / "
            "rounds, taken for every draft."
        ),
    )


def of_ratios(layout: Layout, ratios: Ratios, source: str, lines: int) -> Reading:
    """The reading of a block that was copied without its counts."""
    return Reading(
        engine=layout.engine,
        layout=f"{layout.name} without counts",
        source=source,
        counts=None,
        printed=ratios.reported(layout.averaged_over),
        definition=layout.definition,
        lines=lines,
        used=1,
        notes=("Ratios only: without counts there is no sampling error.",),
        version="V1",
    )
