"""What the blocks at the end of a vLLM benchmark have in common: counted rounds and ratios over them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from real_runs.engines.counts.printed import MOST_DEPTHS, Printed
from real_runs.engines.counts.ratios import Ratios, agreeing_fraction, check_counts
from real_runs.engines.counts.recovery import Recovered, with_rounds
from real_runs.engines.counts.rounding import Claim
from real_runs.engines.counts.skips import NoCounts, NothingDrafted
from real_runs.engines.counts.wording import counted
from real_runs.engines.vllm.block_ratios import coarser, falls_within
from simulator import AcceptanceTable, Counts

MOST_NOTES = 4
"""Notes on single blocks that are kept."""

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
    if not whole and not falls_within(block.survival, block.accepted / block.rounds):
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
        fraction=None if block.fraction is None else coarser(block.fraction),
        length=None if block.length is None else coarser(block.length),
        survival=tuple(coarser(printed) for printed in block.survival),
    )


def recovered_note(counts: Counts | None) -> tuple[str, ...]:
    """Says so where the counts per depth stem from printed ratios, and are exact."""
    known = isinstance(counts, AcceptanceTable) or (
        counts is not None and counts.accepted_by_depth is not None
    )
    return (RECOVERED,) if known else ()


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
