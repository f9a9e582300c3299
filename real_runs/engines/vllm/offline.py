"""The block of vLLM's example of offline speculative decoding (examples/offline_inference/spec_decode.py)."""

from __future__ import annotations

import re
from dataclasses import replace

from real_runs.engines.counts.pool import Layout, Pool
from real_runs.engines.counts.printed import COUNT, MOST_DEPTHS, Printed, as_count, as_printed
from real_runs.engines.counts.ratios import Ratios
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.counts.wording import counted
from real_runs.engines.reading import Reading
from real_runs.engines.text.lines import Line
from real_runs.engines.vllm.block_ratios import in_order, of_ratios, ratios_alone
from real_runs.engines.vllm.blocks import MOST_NOTES, Block, block_counts, recovered_note

SHAPE = (
    "a block of 'num_drafts: ...', 'num_draft_tokens: ...', 'num_accepted_tokens: ...', "
    "'mean acceptance length: ...' and 'acceptance at token 0: ...' (vLLM example)"
)
SHAPES = "'num_drafts: ...' (vLLM example)"
MARKERS = (
    "num_output_tokens:",
    "num_draft",
    "num_accepted_tokens:",
    "mean acceptance length:",
    "without_sd:",
    "normalized acceptance length:",
    "acceptance at token",
)

_LAYOUT = Layout(
    engine="vllm",
    name="block of the offline example",
    unit="run",
    averaged_over="one run",
    definition="none is printed; rounds are num_drafts, those with a draft.",
)
_FIELD = re.compile(
    rf"(?<![\w:.\"'])(total_num_output_tokens|num_drafts|num_draft_tokens|num_accepted_tokens"
    rf"|num_tokens_generated_without_sd)\s*+:\s*+{COUNT}(?:\.0)?\s*+$"
)
_RATIO = re.compile(
    r"(?<![\w.])(mean acceptance length|seq normalized acceptance length|acceptance at token \d{1,3})"
    r":\s*+([\d.]++|nan)\s*+$"
)
_COUNTS = ("num_drafts", "num_draft_tokens", "num_accepted_tokens")
_AT = "acceptance at token "


class OfflineBlocks:
    """Sums the blocks of one log, one per run of the example."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._source = source
        self._skips = skips
        self._pool = Pool(_LAYOUT, source)
        self._first_line = 0
        self._texts: dict[str, str] = {}
        self._notes: dict[str, None] = {}
        self._gammas: set[int | None] = set()
        self._undrafted: int | None = 0
        self._emitted: int | None = 0
        self._ratios: Ratios | None = None

    def take(self, line: Line) -> None:
        """Collect one field; a field that comes again begins the next block."""
        match = _FIELD.search(line.text) or _RATIO.search(line.text)
        if match is None:
            return
        if match[1] in self._texts:
            self._settle()
        if not self._texts:
            self._first_line = line.number
        self._texts[match[1]] = match[2]

    def _settle(self) -> None:
        texts, self._texts = self._texts, {}
        named = [name for name in _COUNTS if name in texts]
        positions = any(name.startswith(_AT) for name in texts)
        if not named and not positions:
            return  # a lone length or number of tokens is some other program's
        with self._skips.guard(self._first_line, expected=SHAPE):
            survival = in_order(
                {
                    int(name.removeprefix(_AT)): as_printed(name, text)
                    for name, text in texts.items()
                    if name.startswith(_AT)
                }
            )
            if len(survival) > MOST_DEPTHS:
                raise NoCounts(f"more than {MOST_DEPTHS} positions")
            length = None
            if "mean acceptance length" in texts:
                length = as_printed("mean acceptance length", texts["mean acceptance length"])
            if named:
                self._add(texts, length, survival)
            else:
                self._ratios = ratios_alone(Ratios(length=length, survival=survival))

    def _add(
        self, texts: dict[str, str], length: Printed | None, survival: tuple[Printed, ...]
    ) -> None:
        for name in _COUNTS:
            if name not in texts:
                raise NoCounts(f"the block has no '{name}'")
        rounds, drafted, accepted = (as_count(name, texts[name]) for name in _COUNTS)
        found = block_counts(
            Block(
                rounds=rounds, drafted=drafted, accepted=accepted, length=length, survival=survival
            )
        )
        emitted = _count_in(texts, "total_num_output_tokens")
        undrafted = _count_in(texts, "num_tokens_generated_without_sd")
        _check_normalized(texts, emitted, None if undrafted is None else rounds + undrafted)
        self._pool.add(self._first_line, found.recovered, found.ratios)
        if len(self._notes) < MOST_NOTES:
            self._notes |= dict.fromkeys(found.notes)
        self._gammas.add(found.gamma)
        self._undrafted = _plus(self._undrafted, undrafted)
        self._emitted = _plus(self._emitted, emitted)

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of all blocks summed, or of ratios alone; empty if there are none."""
        self._settle()
        readings = self._pool.readings(lines)
        if not readings:
            return (
                []
                if self._ratios is None
                else [of_ratios(_LAYOUT, self._ratios, self._source, lines)]
            )
        (reading,) = readings
        counts = reading.counts
        notes = [*reading.notes, *self._notes, *recovered_note(counts)]
        if counts is not None and counts.rounds and self._undrafted is not None:
            notes.append(_all_rounds(counts.rounds, self._undrafted, reading))
        else:
            notes.append(
                "Rounds without a draft are not counted: over all rounds, tokens per round are fewer."
            )
        return [
            replace(
                reading,
                notes=tuple(notes),
                gamma=next(iter(self._gammas)) if len(self._gammas) == 1 else None,
                undrafted_rounds=self._undrafted,
                emitted=self._emitted,
                version="V1",
            )
        ]


def _plus(total: int | None, more: int | None) -> int | None:
    return None if total is None or more is None else total + more


def _count_in(texts: dict[str, str], name: str) -> int | None:
    return as_count(name, texts[name]) if name in texts else None


def _check_normalized(texts: dict[str, str], emitted: int | None, rounds: int | None) -> None:
    """Raise NoCounts where the length over all rounds contradicts the counts."""
    name = "seq normalized acceptance length"
    if name not in texts or emitted is None or not rounds:
        return
    printed = as_printed(name, texts[name])
    if abs(emitted / rounds - printed.value) > printed.half_width + 1e-9:
        raise NoCounts(
            f"the printed {name} {printed.value:g} contradicts {emitted} tokens in "
            f"{counted(rounds, 'round')}"
        )


def _all_rounds(rounds: int, undrafted: int, reading: Reading) -> str:
    if not undrafted:
        return "No round was without a draft."
    accepted = reading.observation.accepted or 0
    every = rounds + undrafted
    return (
        f"{counted(undrafted, 'round')} without a draft: over all {every} rounds, there are "
        f"{(every + accepted) / every:.3f} tokens per round."
    )
