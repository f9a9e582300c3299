"""What the blocks at the end of a vLLM benchmark have in common: counted rounds and ratios over them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from real_runs.engines.counts.printed import MOST_DEPTHS, Printed
from real_runs.engines.counts.ratios import Ratios, agreeing_fraction, check_counts
from real_runs.engines.counts.recovery import Recovered, with_rounds
from real_runs.engines.counts.rounding import Claim
from real_runs.engines.counts.skips import NoCounts, NothingDrafted
from real_runs.engines.counts.wording import counted
from simulator import AcceptanceTable, Counts

MOST_NOTES = 4
"""Notes on single blocks that are kept."""

_MOST_DECIMALS = 10**10

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
    it bounds nothing, and the draft length is drafted / rounds where that is a whole number.
    """
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
    return BlockCounts(
        recovered=with_rounds(claim, block.rounds),
        ratios=ratios,
        gamma=longest,
        notes=() if whole else _cut_short(listed, block.drafted / block.rounds, longest),
    )


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
    if not replace(ratios, survival=()).consistent or not _can_be_cut(ratios):
        raise NoCounts("the printed ratios contradict each other")
    return ratios


def _can_be_cut(ratios: Ratios) -> bool:
    """Whether the positions fall, and the sum of those listed is at most the length less 1."""
    if ratios.consistent or ratios.length is None:
        return ratios.consistent
    values = [printed.value for printed in ratios.survival]
    slack = ratios.length.half_width + sum(printed.half_width for printed in ratios.survival)
    falls = values[0] <= 1.0 and values == sorted(values, reverse=True)
    return falls and sum(values) < ratios.length.value - 1.0 + slack


def _cut_short(listed: int, mean: float, longest: int | None) -> tuple[str, ...]:
    which = f"Only the first {counted(listed, 'position')} of" if listed else "No position of"
    if longest is None:
        return (f"{which} drafts of {mean:.3g} tokens on average is printed.",)
    return (
        (
            f"{which} drafts of {counted(longest, 'token')} is printed; that every draft has as many "
            "rests on drafted / rounds."
        ),
    )
