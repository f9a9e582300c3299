"""The block that llama.cpp's examples print at the end of a run (examples/speculative, lookup)."""

from __future__ import annotations

import re

from real_runs.engines.counts.pool import Extras, Layout, Pool, unit_of
from real_runs.engines.counts.printed import COUNT, as_count, as_printed
from real_runs.engines.counts.ratios import Ratios, agreeing_fraction, check_counts
from real_runs.engines.counts.recovery import Recovered
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.counts.wording import counted
from real_runs.engines.reading import Reading
from real_runs.engines.text.lines import Line
from simulator import AcceptanceTotals, Clock

SHAPE = "a block of 'n_predict = ...', 'n_drafted = ...' and 'n_accept = ...' (llama.cpp examples)"
# Not the "n_predict" of a request's JSON, which can be as long as its prompt.
MARKERS = ("n_draft", "n_predict ", "n_accept", "accept  ", "decoded ")

_LAYOUT = Layout(
    engine="llama.cpp",
    name="block of an example",
    unit="run",
    averaged_over="one run",
    definition="accepted / drafted of one run.",
)
_ROUNDS = (
    "rounds = n_predict - n_accept - 1: prefill emits one token, a round one more than it accepts; "
    "rounds without a draft are among them."
)
_GAMMA = (
    "n_draft is the last draft length where it adapts: it counts only if it explains all drafted."
)
_ADAPTED = "n_draft does not explain all drafted: rounds drafted {:.3g} tokens on average."
_FIELD = re.compile(rf"\b(n_draft|n_predict|n_drafted|n_accept)\s*+=\s*+{COUNT}$")
_ACCEPT = re.compile(r"(?<![\w.])accept\s*+=\s*+([\d.]++)%$")
_DECODED = re.compile(rf"\bdecoded\s++{COUNT}\s++tokens in\s++([\d.]++)\s++seconds")
_TIMED = "Decoding time is that of the 'decoded ... tokens' lines."
_NEEDED = ("n_predict", "n_drafted", "n_accept")


class ExampleBlocks:
    """Sums the blocks of one log, one per run of an example."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._skips = skips
        self._pool = Pool(_LAYOUT, source)
        self._first_line = 0
        self._texts: dict[str, str] = {}
        self._decoded: list[tuple[int, float]] = []  # tokens and seconds, of no block yet
        self._records = self._timed = self._emitted = 0
        self._seconds = 0.0
        self._gammas: set[int | None] = set()
        self._drafted = self._rounds = 0

    def take(self, line: Line) -> None:
        """Collect one field; a field that comes again begins the next block."""
        decoded = _DECODED.search(line.text)
        if decoded is not None:
            with self._skips.guard(line.number, expected=SHAPE):
                seconds = as_printed("seconds", decoded[2]).value
                # Before a block or behind it: of the two next to it, its number of tokens tells.
                self._decoded = [*self._decoded[-1:], (as_count("decoded", decoded[1]), seconds)]
        match = _FIELD.search(line.text) or _ACCEPT.search(line.text)
        if match is None:
            return
        name, text = match.groups() if match.re is _FIELD else ("accept", match[1])
        if name in self._texts:
            self._settle()
        if not self._texts:
            self._first_line = line.number
        self._texts[name] = text

    def _settle(self) -> None:
        texts, self._texts = self._texts, {}
        if "n_drafted" not in texts and "n_accept" not in texts:
            return  # a lone n_predict is the setting of some run, not its result
        with self._skips.guard(self._first_line, expected=SHAPE):
            self._add(texts)

    def _add(self, texts: dict[str, str]) -> None:
        for name in _NEEDED:
            if name not in texts:
                raise NoCounts(f"the block has no '{name}'")
        predicted, drafted, accepted = (as_count(name, texts[name]) for name in _NEEDED)
        check_counts(accepted=accepted, drafted=drafted, of="in this run")
        fraction = None
        if "accept" in texts:
            printed = as_printed("accept", texts["accept"])
            fraction = agreeing_fraction(printed, accepted=accepted, drafted=drafted)
        # Prefill emits the first token, and every round one more than it accepts.
        rounds = predicted - accepted - 1
        if rounds < 1:
            raise NoCounts(
                f"n_predict = {predicted} leaves no round for {counted(accepted, 'accepted token')}"
            )
        gamma = as_count("n_draft", texts["n_draft"]) if "n_draft" in texts else None
        totals = _totals(rounds=rounds, drafted=drafted, accepted=accepted, last_gamma=gamma)
        recovered = Recovered(totals=totals, basis="counted", allowed=(rounds, rounds))
        seconds = self._seconds_of(predicted)
        unit = unit_of(recovered, decode_s=seconds)
        self._pool.add(self._first_line, recovered, Ratios(fraction=fraction), unit=unit)
        self._records += 1
        self._emitted += predicted - 1
        self._gammas.add(totals.longest_draft)
        if gamma is not None and totals.longest_draft is None:
            self._drafted += drafted
            self._rounds += rounds
        if seconds is not None:
            self._timed += 1
            self._seconds += seconds

    def _seconds_of(self, predicted: int) -> float | None:
        """The time of the run that decoded so many tokens, used up by it."""
        for place, (tokens, seconds) in enumerate(self._decoded):
            if tokens == predicted and seconds > 0.0:
                del self._decoded[: place + 1]
                return seconds
        return None

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of all blocks summed; empty if none gave counts."""
        self._settle()
        notes = [_ROUNDS, _GAMMA]
        if self._rounds:
            notes.append(_ADAPTED.format(self._drafted / self._rounds))
        clock = Clock()
        if self._timed and self._timed == self._records:
            clock = Clock(decode_s=self._seconds)
            notes.append(_TIMED)
        (gamma,) = self._gammas if len(self._gammas) == 1 else (None,)
        extras = Extras(clock=clock, gamma=gamma, emitted=self._emitted)
        return self._pool.readings(lines, notes=tuple(notes), extras=extras)


def _totals(
    *, rounds: int, drafted: int, accepted: int, last_gamma: int | None
) -> AcceptanceTotals:
    fixed = last_gamma is not None and drafted == rounds * last_gamma
    return AcceptanceTotals(
        drafted=drafted,
        accepted=accepted,
        rounds=rounds,
        longest_draft=last_gamma if fixed else None,
        length_rule="fixed" if fixed else "unknown",
    )
