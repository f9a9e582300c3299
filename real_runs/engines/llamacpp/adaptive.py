"""llama.cpp's lines about an adaptive draft depth: counters so far, and single rounds."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from real_runs.engines.counts.lengths import counted_totals, from_steps
from real_runs.engines.counts.pool import MOST_UNITS, Layout, Pool, unit_of
from real_runs.engines.counts.printed import COUNT, MOST_DEPTHS, as_count
from real_runs.engines.counts.ratios import check_counts
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.counts.wording import counted
from real_runs.engines.reading import Reading
from real_runs.engines.text.lines import Line
from simulator import AcceptanceTotals, LengthRule

SHAPE = (
    "'adaptive draft depth seq ...: ... -> ... (n_draft=..., n_accepted=..., cur_accepted=..., "
    "cur_generated=...)' (llama.cpp)"
)
MARKERS = ("adaptive draft depth",)
MOST_SEQUENCES = 4096

_DEFINITION = "none is printed; cur_accepted / cur_generated is accepted / drafted so far."
_COUNTERS = Layout(
    engine="llama.cpp",
    name="adaptive draft depth",
    unit="sequence",
    averaged_over="one sequence",
    definition=_DEFINITION,
)
_SAMPLE = Layout(
    engine="llama.cpp",
    name="rounds that moved the draft depth",
    unit="sequence",
    averaged_over="rounds that moved the draft depth",
    definition=_DEFINITION,
)
_UNFAIR = (
    "only those after which the depth moved are printed, which is no fair sample of all rounds."
)
_SCHEDULED = (
    "Every draft told had the length that was set: the depth looks back at what was kept, not at the "
    "draft's confidence. Long drafts were made where much had been kept."
)
_SHORTENED = (
    "{} shorter than the length that was set (--spec-draft-p-min, or the end of a text): what cut "
    "the others is not known."
)
_OVERLAP = "The counters of the sequences hold these rounds too: never add the two."
_SEQUENCE = re.compile(rf"draft depth seq\s++{COUNT}")
_DEPTH = re.compile(rf"draft depth seq\s++\d++:\s*+{COUNT}\s*+->")
_FIELDS = ("n_draft", "n_accepted", "cur_accepted", "cur_generated")
_FIELD = {name: re.compile(rf"\b{name}=\s*+{COUNT}") for name in _FIELDS}


@dataclass(slots=True)
class _Sequence:
    """The counters of one sequence as last printed, and its rounds that were."""

    line: int
    accepted: int
    drafted: int
    steps: list[tuple[int, int]]
    lines: int = 1
    fell: int = 0
    shortened: int = 0
    unset: int = 0

    @property
    def length_rule(self) -> LengthRule:
        """A schedule where every draft told had the length set; else a confidence may have cut some."""
        return "unknown" if self.shortened or self.unset else "scheduled"


class AdaptiveLines:
    """Keeps the last counters of every sequence, and the rounds after which its depth moved."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._source = source
        self._skips = skips
        self._sequences: dict[int, _Sequence] = {}
        self._steps = 0

    def take(self, line: Line) -> None:
        """Keep what the line counts so far and the round that it tells, or note why it cannot."""
        with self._skips.guard(line.number, expected=SHAPE):
            self._keep(line)

    def _keep(self, line: Line) -> None:
        sequence = _SEQUENCE.search(line.text)
        found = {name: pattern.search(line.text) for name, pattern in _FIELD.items()}
        missing = next((name for name, match in found.items() if match is None), None)
        if missing is not None:
            raise NoCounts(f"the line has no '{missing}'")
        offered, kept, accepted, drafted = (
            as_count(name, match[1]) for name, match in found.items() if match is not None
        )
        number = 0 if sequence is None else as_count("seq", sequence[1])
        check_counts(accepted=kept, drafted=offered, of="in this round")
        check_counts(accepted=accepted, drafted=drafted, of="so far")
        if offered > MOST_DEPTHS:
            raise NoCounts(f"a draft of more than {MOST_DEPTHS} tokens")
        before = self._sequences.get(number)
        if before is None:
            if len(self._sequences) == MOST_SEQUENCES:
                raise NoCounts(f"more than {MOST_SEQUENCES} sequences")
            before = _Sequence(line=line.number, accepted=accepted, drafted=drafted, steps=[])
            self._sequences[number] = before
        else:
            before.fell += drafted < before.drafted or accepted < before.accepted
            before.lines += 1
            before.line, before.accepted, before.drafted = line.number, accepted, drafted
        depth = _DEPTH.search(line.text)
        before.unset += depth is None
        before.shortened += depth is not None and offered < as_count("the depth", depth[1])
        if self._steps < MOST_UNITS:
            before.steps.append((offered, kept))
            self._steps += 1

    def readings(self, lines: int) -> list[Reading]:
        """A Reading of the counters, and one of the rounds told one by one; empty without any."""
        if not self._sequences:
            return []
        counters = Pool(_COUNTERS, self._source)
        sample = Pool(_SAMPLE, self._source)
        for number, each in sorted(self._sequences.items(), key=lambda item: item[1].line):
            record = counted_totals(
                AcceptanceTotals(
                    drafted=each.drafted, accepted=each.accepted, length_rule=each.length_rule
                )
            )
            counters.add(each.line, record, unit=unit_of(record, name=f"seq {number}"))
            if each.steps:
                table = replace(from_steps(tuple(each.steps)), length_rule="unknown")
                unit = unit_of(table, name=f"seq {number}", steps=tuple(each.steps))
                sample.add(each.line, table, unit=unit)
        return [
            *counters.readings(lines, notes=tuple(self._counter_notes())),
            *sample.readings(lines, notes=tuple(self._sample_notes())),
        ]

    def _counter_notes(self) -> list[str]:
        told = sum(each.lines for each in self._sequences.values())
        notes = [
            f"Cumulative counters: of {counted(told, 'line')} the last of every sequence counts."
        ]
        falls = sum(each.fell for each in self._sequences.values())
        if falls:
            times = "once" if falls == 1 else f"{falls} times"
            notes.append(
                f"The counters fell {times} (a new start): what came before is not counted."
            )
        notes.append("The draft length moves every few rounds, so there is no gamma.")
        shortened = sum(each.shortened for each in self._sequences.values())
        if shortened:
            which = f"{counted(shortened, 'draft')} told {'is' if shortened == 1 else 'are'}"
            notes.append(_SHORTENED.format(which))
        elif not any(each.unset for each in self._sequences.values()):
            notes.append(_SCHEDULED)
        return notes

    def _sample_notes(self) -> list[str]:
        offered = [drafted for each in self._sequences.values() for drafted, _ in each.steps]
        which = (
            f"{counted(self._steps, 'round')}, of drafts of {min(offered)} to {max(offered)} tokens"
        )
        notes = [f"{which}: {_UNFAIR}", _OVERLAP]
        told = sum(each.lines for each in self._sequences.values())
        if told > self._steps:
            notes.append(f"Only the first {self._steps:,} of {told:,} rounds are kept.")
        return notes
