"""The report of trtllm-bench: `decoding_stats`, percentiles over requests."""

from __future__ import annotations

from collections.abc import Mapping

from real_runs.engines.counts.printed import Printed
from real_runs.engines.counts.skips import NoCounts, NothingDrafted, Skips
from real_runs.engines.reading import Reading
from real_runs.engines.text.fields import decimal_at, text_at
from real_runs.engines.text.objects import JsonObject, Where
from simulator import ReportedRatio

KEYS = ("acceptance_length_percentiles", "draft_acceptance_rate_percentiles")
SHAPES = '"decoding_stats": {"acceptance_length_percentiles": {...}, ...} (trtllm-bench)'
MOST_REPORTS = 256

DEFINITION = (
    "the draft acceptance rate is accepted / drafted of a request; accepted is inferred as output tokens "
    "- iterations - 1."
)
UPPER_BOUND = (
    "Drafted tokens are the longest draft × iterations in newer reports: an upper bound, so the "
    "accepted fraction is a lower one."
)
STATISTICS = ("average", "minimum", "p50", "p90", "p95", "p99", "maximum")
"""What a report gives of the requests, the mean first: the one number that most readers ask for."""


def ratio_of(quantity: str, statistic: str, printed: Printed) -> ReportedRatio:
    """One statistic over requests, in percent where it is an accepted fraction above 1."""
    if quantity == "accepted_fraction" and printed.value > 1.0:
        printed = Printed(units=printed.units, scale=printed.scale * 100)
    if quantity == "accepted_fraction" and printed.value > 1.0:
        raise NoCounts(
            f"a draft acceptance rate of {printed.value * 100:g} %", finding="unit_error"
        )
    if quantity == "tokens_per_round" and printed.value + printed.half_width < 1.0:
        raise NoCounts(
            f"an acceptance length of {printed.value:g}, and a round emits one token at least",
            finding="length_outside_range",
        )
    over = "requests, unweighted" if statistic == "average" else f"requests: {statistic}"
    return ReportedRatio(
        quantity=quantity,
        value=printed.value,
        half_width=printed.half_width,
        averaged_over=over,
    )


class BenchReport:
    """Collects the reports of one text, each a reading of its own."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._source = source
        self._skips = skips
        self._reports: list[tuple[str, tuple[ReportedRatio, ...]]] = []

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Add one report's ratios; NothingDrafted if it has none."""
        ratios = (
            *_ratios(value, "acceptance_length_percentiles", "tokens_per_round"),
            *_ratios(value, "draft_acceptance_rate_percentiles", "accepted_fraction"),
        )
        if not ratios:
            raise NothingDrafted(f"the decoding_stats of line {where.line} have no acceptance")
        if len(self._reports) == MOST_REPORTS:
            raise NoCounts(f"more than {MOST_REPORTS} reports in one text")
        self._reports.append((text_at(value, "mode") or "", ratios))

    def readings(self, lines: int) -> list[Reading]:
        """One Reading per report."""
        return [
            Reading(
                engine="tensorrt-llm",
                layout="bench report" if not number else f"bench report ({number + 1})",
                source=self._source,
                counts=None,
                printed=ratios,
                definition=DEFINITION,
                lines=lines,
                used=1,
                notes=(
                    "Ratios only: statistics over requests, each of which counts once.",
                    UPPER_BOUND,
                    *((f"Decoding mode: {mode}.",) if mode else ()),
                ),
                unit="request",
            )
            for number, (mode, ratios) in enumerate(self._reports)
        ]


def _ratios(value: JsonObject, name: str, quantity: str) -> list[ReportedRatio]:
    found = value.get(name)
    if found is None:
        return []
    if not isinstance(found, Mapping):
        raise NoCounts(f"{name} is no object")
    printed = [(statistic, decimal_at(found, statistic)) for statistic in STATISTICS]
    return [ratio_of(quantity, statistic, each) for statistic, each in printed if each is not None]
