"""gpt-fast and its kin: the histogram of accepted tokens as shares, and their mean without the bonus."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate

from real_runs.engines.counts.printed import MOST_DEPTHS, Printed, as_printed
from real_runs.engines.counts.skips import NoCounts, NothingDrafted, Skips
from real_runs.engines.counts.wording import counted
from real_runs.engines.reading import Reading
from real_runs.engines.text.lines import Line
from simulator import ReportedRatio

MARKERS = ("Acceptance probs:", "Mean Accepted:")
SHAPES = "'Acceptance probs: [...]' and 'Mean Accepted: ...' (gpt-fast)"

_DEFINITION = (
    "Acceptance probs[i] is the share of rounds that kept exactly i drafted tokens; Mean Accepted is "
    "their mean, without the bonus."
)
_PROBS = re.compile(r"Acceptance probs:\s*\[([^\]\n]*)\]")
_MEAN = re.compile(r"Mean Accepted:\s*(\d{1,4}(?:\.\d{1,20})?)")
_TINY = re.compile(r"\d(?:\.\d{1,20})?e-\d{2}")
_OVER = "rounds of all samples"
_ROUNDING = 1e-9


@dataclass(slots=True)
class _Run:
    line: int
    shares: tuple[Printed, ...] = ()
    mean: Printed | None = None


class Histograms:
    """One Reading for each histogram, with the mean that follows it."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._source = source
        self._skips = skips
        self._runs: list[_Run] = []

    def take(self, line: Line) -> None:
        """Keep a histogram, or the mean of the one before, or note why not."""
        with self._skips.guard(line.number, expected=SHAPES):
            probs, mean = _PROBS.search(line.text), _MEAN.search(line.text)
            if "Acceptance probs:" in line.text:
                if "N/A" in line.text:
                    raise NothingDrafted("no round was recorded")
                if probs is None:
                    raise NoCounts("the list of shares is cut short")
                if len(self._runs) == MOST_DEPTHS:
                    raise NoCounts(f"more than {MOST_DEPTHS} histograms")
                self._runs.append(_Run(line.number, shares=_shares(probs[1])))
            if mean is not None:
                found = _decimal(mean[1])
                if not self._runs or self._runs[-1].mean is not None:
                    self._runs.append(_Run(line.number))
                self._check(self._runs[-1], found)
                self._runs[-1].mean = found

    @staticmethod
    def _check(run: _Run, mean: Printed) -> None:
        if not run.shares:
            return
        own = sum(kept * share.value for kept, share in enumerate(run.shares))
        slack = sum(kept * share.half_width for kept, share in enumerate(run.shares))
        if abs(own - mean.value) > slack + mean.half_width + _ROUNDING:
            raise NoCounts(
                f"Mean Accepted ({mean.value:g}) is not the mean of the shares ({own:g}): is the bonus in it?"
            )

    def readings(self, lines: int) -> list[Reading]:
        """One Reading per run, in order."""
        return [
            Reading(
                engine="gpt-fast",
                layout="acceptance probs" if index == 0 else f"acceptance probs, line {run.line}",
                source=self._source,
                counts=None,
                printed=_ratios(run),
                definition=_DEFINITION,
                lines=lines,
                used=1,
                notes=_notes(run),
                unit="request",
                gamma=len(run.shares) - 1 if run.shares else None,
                method="draft_model",
            )
            for index, run in enumerate(self._runs)
        ]


def _notes(run: _Run) -> tuple[str, ...]:
    notes = ["Shares of rounds are printed, and not how many rounds there were."]
    if run.shares:
        notes.append(
            f"The list has an entry for each of 0 to {counted(len(run.shares) - 1, 'token')}."
        )
    return tuple(notes)


def _shares(text: str) -> tuple[Printed, ...]:
    parts = text.split(",", MOST_DEPTHS + 1)
    if len(parts) > MOST_DEPTHS + 1:
        raise NoCounts(f"the list has more than {MOST_DEPTHS + 1} shares")
    shares = tuple(_decimal(part.strip()) for part in parts)
    total = sum(share.value for share in shares)
    if abs(total - 1.0) > sum(share.half_width for share in shares) + _ROUNDING:
        raise NoCounts(f"the shares sum to {total:g} and not to 1")
    if len(shares) < 2:
        raise NothingDrafted("no token was drafted in any round")
    return shares


def _decimal(text: str) -> Printed:
    if _TINY.fullmatch(text):
        return as_printed("a share", f"{float(text):.17f}"[:18])
    whole, _, decimals = text.partition(".")
    return as_printed("a share", f"{whole}.{decimals[:16]}" if decimals else whole)


def _ratios(run: _Run) -> tuple[ReportedRatio, ...]:
    """The survival of every position, and the mean."""
    ratios = []
    if run.mean is not None:
        ratios.append(_ratio("accepted_per_round", run.mean.value, run.mean.half_width, None))
    values = list(accumulate(share.value for share in reversed(run.shares)))[::-1]
    widths = list(accumulate(share.half_width for share in reversed(run.shares)))[::-1]
    ratios += [
        _ratio("survival", min(value, 1.0), width, depth)
        for depth, (value, width) in enumerate(zip(values[1:], widths[1:], strict=True))
    ]
    return tuple(ratios)


def _ratio(quantity: str, value: float, half_width: float, depth: int | None) -> ReportedRatio:
    return ReportedRatio(
        quantity=quantity, value=value, half_width=half_width, averaged_over=_OVER, depth=depth
    )
