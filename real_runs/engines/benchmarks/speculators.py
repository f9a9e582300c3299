"""The acceptance.csv of speculators: counters and survival by subset of a benchmark."""

from __future__ import annotations

from real_runs.engines.counts.acceptance_record import check_length
from real_runs.engines.counts.pool import Layout, Pool, unit_of
from real_runs.engines.counts.printed import MOST_DEPTHS, Printed
from real_runs.engines.counts.ratios import Ratios, check_counts
from real_runs.engines.counts.recovery import with_rounds
from real_runs.engines.counts.rounding import Claim
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.reading import Reading
from real_runs.engines.text.fields import FINEST, count_at, decimal_at, text_at
from real_runs.engines.text.objects import JsonObject, Where

KEYS = ("acceptance_at_pos_0",)
SHAPES = "columns 'num_drafts', 'num_draft_tokens' and 'acceptance_at_pos_0' (speculators, CSV)"

_LAYOUT = Layout(
    engine="speculators",
    name="acceptance.csv",
    unit="subset",
    averaged_over="rounds with a draft",
    definition=(
        "acceptance_at_pos_i is the share of rounds that kept the first i + 1 drafted tokens; "
        "acceptance_length counts the bonus."
    ),
)


class Rows:
    """Sums the rows, and keeps each as a unit with its subset as label."""

    def __init__(self, source: str, _: Skips) -> None:
        self._pool = Pool(_LAYOUT, source)

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Add one row, or raise NoCounts with the reason why not."""
        rounds, drafted = count_at(value, "num_drafts"), count_at(value, "num_draft_tokens")
        accepted = count_at(value, "num_accepted_tokens")
        if rounds is None or drafted is None or accepted is None:
            raise NoCounts("num_drafts, num_draft_tokens or num_accepted_tokens is missing")
        check_counts(accepted=accepted, drafted=drafted, of="in the row")
        if rounds == 0:
            raise NoCounts("tokens were drafted in no round")
        length = decimal_at(value, "acceptance_length")
        check_length(length, accepted=accepted, rounds=rounds)
        survival = _exact(_survival(value), rounds, accepted)
        full = drafted == rounds * len(survival)
        claim = Claim(
            drafted=drafted,
            accepted=accepted,
            survival=survival,
            longest=len(survival) if survival and drafted <= rounds * len(survival) else None,
            none_empty=full,
        )
        record = with_rounds(claim, rounds)
        subset = text_at(value, "subset")
        unit = unit_of(
            record, name=subset or "", labels=() if subset is None else (("subset", subset),)
        )
        ratios = Ratios(length=length, survival=survival)
        self._pool.add(where.line, record, ratios, unit=unit)

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of all rows; empty without one."""
        note = "num_drafts counts the rounds that had a draft."
        return self._pool.readings(lines, notes=(note,))


def _survival(value: JsonObject) -> tuple[Printed, ...]:
    found: list[Printed] = []
    for depth in range(MOST_DEPTHS):
        rate = decimal_at(value, f"acceptance_at_pos_{depth}")
        if rate is None:
            break
        if rate.value > 1.0:
            raise NoCounts(
                f"acceptance_at_pos_{depth} is above 1 ({rate.value:g})", finding="unit_error"
            )
        found.append(rate)
    return tuple(found)


def _exact(survival: tuple[Printed, ...], rounds: int, accepted: int) -> tuple[Printed, ...]:
    """The rates in full digits where they are those of counts that sum to the accepted tokens.

    The program divides counts and writes what comes: 0.6 then stands for 18/30 and for no rounding.
    """
    counts = [round(rate.value * rounds) for rate in survival]
    whole = all(
        abs(rate.value * rounds - count) < 1e-6
        for rate, count in zip(survival, counts, strict=True)
    )
    if not whole or sum(counts) != accepted:
        return survival
    # Quotients of the counts themselves: a rate of 11 digits is not one of 12.
    return tuple(Printed(units=count * 10**FINEST, scale=rounds * 10**FINEST) for count in counts)
