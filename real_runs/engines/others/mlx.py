"""MLX servers: oMLX's line for each request, counters of Rapid-MLX, tokens of MLX-LM."""

from __future__ import annotations

import re
from dataclasses import replace

from real_runs.engines.counts.lengths import counted_totals
from real_runs.engines.counts.pool import Extras, Layout, Pool, unit_of
from real_runs.engines.counts.printed import (
    COUNT,
    MOST_DEPTHS,
    as_count,
    as_fraction,
    as_printed,
)
from real_runs.engines.counts.ratios import Ratios, check_counts
from real_runs.engines.counts.recovery import with_rounds
from real_runs.engines.counts.rounding import Claim
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.counts.wording import counted
from real_runs.engines.reading import Reading
from real_runs.engines.text.lines import Line
from simulator import AcceptanceTotals, Clock

MARKERS = (
    "tokens_per_round=",
    "spec_decode_attempts_total",
    "spec_decode_accepts_total",
    "tokens-per-sec",
)
SHAPES = (
    "'rounds=... accepted=.../... tokens_per_round=...' (oMLX) or 'spec_decode_attempts_total=..., "
    "accepts_total=...' (Rapid-MLX)"
)

_NUMBER = r"(\d{1,18}(?:\.\d{1,18})?)"
_ROUNDS = re.compile(rf"\brounds={COUNT}")
_ACCEPTED = re.compile(rf"\baccepted={COUNT}/{COUNT}(?:\s*\({_NUMBER}%\))?")
_LENGTH = re.compile(rf"\btokens_per_round={_NUMBER}")
_EMITTED = re.compile(rf"\bemitted={COUNT}")
_BLOCK = re.compile(rf"\bblock_size={COUNT}")
_REQUEST = re.compile(r"\brequest=([^\s,]{1,80})")
_FINISH = re.compile(r"\bfinish=([^\s,]{1,40})")
_SPEED = re.compile(rf"\bGeneration: {COUNT} tokens, {_NUMBER} tokens-per-sec")
_COUNTER = re.compile(
    r"\b(?:spec_decode_|rapid_mlx_spec_decode_)?(attempts|accepts)_total(?:\{[^}\n]{0,500}\})?"
    r"\s*[=: ]\s*(\d{1,18})(?:\.0+)?\b"
)

_OMLX = Layout(
    engine="mlx",
    name="oMLX stats",
    unit="request",
    averaged_over="rounds of one request",
    definition="accepted=a/b (p%) is accepted / drafted; block_size counts the token of the target.",
)
_COUNTERS = Layout(
    engine="mlx",
    name="counters",
    unit="snapshot",
    averaged_over="all since the server started",
    definition="accept_ratio is accepts / attempts: accepted / drafted.",
)


class MLXLines:
    """Sums oMLX's requests and keeps the last counters of Rapid-MLX."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._source = source
        self._skips = skips
        self._requests = Pool(_OMLX, source)
        self._blocks: set[int | None] = set()
        self._emitted: int | None = 0
        self._counters: dict[str, int] = {}
        self._counter_line = 0
        self._falls = 0
        self._speeds: list[float] = []

    def take(self, line: Line) -> None:
        """Add what the line counts, or note why it counts nothing."""
        with self._skips.guard(line.number, expected=SHAPES):
            if speed := _SPEED.search(line.text):
                self._speeds.append(as_printed("tokens-per-sec", speed[2]).value)
            if "tokens_per_round=" in line.text and "rounds=" in line.text:
                self._take_request(line)
            elif "spec_decode_a" in line.text:
                self._take_counters(line)

    def _take_request(self, line: Line) -> None:
        rounds, accepted = _ROUNDS.search(line.text), _ACCEPTED.search(line.text)
        if rounds is None or accepted is None:
            raise NoCounts("the line has no 'rounds=' and 'accepted=.../...'")
        count = as_count("rounds", rounds[1])
        kept, drafted = as_count("accepted", accepted[1]), as_count("drafted", accepted[2])
        check_counts(accepted=kept, drafted=drafted, of="in the request")
        if count == 0:
            raise NoCounts("tokens were drafted in no round")
        length = _LENGTH.search(line.text)
        block = _BLOCK.search(line.text)
        gamma = None if block is None else as_count("block_size", block[1]) - 1
        if gamma is not None and not 1 <= gamma <= MOST_DEPTHS:
            gamma = None  # a block of the target's token alone drafts nothing
        fits = gamma is not None and drafted <= count * gamma
        ratios = Ratios(
            length=None if length is None else as_printed("tokens_per_round", length[1])
        )
        if accepted[3] is not None:
            share = as_fraction(
                as_printed("accepted", f"{accepted[3]}"), accepted=kept, drafted=drafted
            )
            if share is None:
                raise NoCounts(
                    f"the printed {accepted[3]}% contradicts the counts ({kept} of {drafted})"
                )
            ratios = replace(ratios, fraction=share)
        claim = Claim(
            drafted=drafted, accepted=kept, length=ratios.length, longest=gamma if fits else None
        )
        record = with_rounds(claim, count)
        emitted = _EMITTED.search(line.text)
        tokens = None if emitted is None else as_count("emitted", emitted[1])
        if tokens is not None:
            if tokens > count + kept:
                raise NoCounts(
                    f"emitted ({tokens}) is above rounds + accepted ({count} + {kept})",
                    finding="length_outside_range",
                )
            record = replace(record, totals=replace(record.totals, emitted=tokens))
        name, finish = _REQUEST.search(line.text), _FINISH.search(line.text)
        unit = unit_of(
            record,
            name="" if name is None else name[1],
            labels=() if finish is None else (("finish", finish[1]),),
        )
        self._requests.add(line.number, record, ratios, unit=unit)
        self._blocks.add(gamma)
        self._emitted = None if self._emitted is None or tokens is None else self._emitted + tokens

    def _take_counters(self, line: Line) -> None:
        for kind, number in _COUNTER.findall(line.text):
            found = int(number)
            if found < self._counters.get(kind, 0):
                self._falls += 1
            self._counters[kind] = found
            self._counter_line = line.number

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of oMLX's requests, one of the counters; each empty without its lines."""
        gamma = next(iter(self._blocks)) if len(self._blocks) == 1 else None
        speed = self._speeds[0] if len(self._speeds) == 1 else None
        clock = Clock() if speed is None else Clock(tokens_per_s=speed, running=1.0)
        found = self._requests.readings(
            lines, extras=Extras(gamma=gamma, emitted=self._emitted, clock=clock, method="mtp")
        )
        if {"attempts", "accepts"} <= self._counters.keys():
            with self._skips.guard(self._counter_line, expected=SHAPES):
                found += self._of_counters(lines, clock)
        return found

    def _of_counters(self, lines: int, clock: Clock) -> list[Reading]:
        attempts, accepts = self._counters["attempts"], self._counters["accepts"]
        check_counts(accepted=accepts, drafted=attempts, of="so far")
        pool = Pool(_COUNTERS, self._source)
        record = counted_totals(AcceptanceTotals(drafted=attempts, accepted=accepts))
        pool.add(self._counter_line, record)
        notes = [
            (
                "Attempts count drafted tokens. Where a round drafts one they are its rounds, and tokens "
                f"per round are 1 + {accepts}/{attempts} = {1 + accepts / attempts:.3f}."
            )
        ]
        if self._falls:
            notes.append(
                f"The counters fell {counted(self._falls, 'time')} (a restart): what came before is not "
                "counted."
            )
        (reading,) = pool.readings(lines, extras=Extras(clock=clock, method="mtp"))
        return [replace(reading, notes=("Rounds are not printed.", *notes))]
