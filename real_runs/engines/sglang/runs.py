"""A run of one of SGLang's benchmarks, and the Reading that it becomes: there are no counts in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from real_runs.engines.counts.printed import Printed
from real_runs.engines.counts.skips import NoCounts, NothingDrafted
from real_runs.engines.reading import Reading
from real_runs.engines.sglang.settings import DraftSetting
from simulator import Clock, ReportedRatio

DEFINITION = "none is printed; the accept length is tokens per round, bonus token included."


@dataclass(slots=True)
class BenchRun:
    """One run: `kind` names what was measured, `notes` say what is particular to it."""

    line: int
    kind: str
    length: Printed
    setting: DraftSetting | None = None
    clock: Clock = field(default_factory=Clock)
    emitted: int | None = None
    notes: tuple[str, ...] = ()


def check_length(name: str, length: Printed, *, drafting: bool = False) -> None:
    """Raise NoCounts for a length below 1, NothingDrafted for 1 unless the run is known to draft."""
    if length.value < 1.0:
        raise NoCounts(
            f"{name} is {length.value:g}, and a round emits one token at least",
            finding="length_outside_range",
        )
    if length.value == 1.0 and not drafting:
        raise NothingDrafted(f"{name} is 1, which SGLang prints with speculation off")


def run_readings(
    runs: Sequence[BenchRun], source: str, lines: int, *, version: str | None = None
) -> list[Reading]:
    """One Reading per run, in their order; runs of one kind are numbered."""
    seen: Counter[str] = Counter()
    readings = []
    for run in runs:
        seen[run.kind] += 1
        again = "" if seen[run.kind] == 1 else f" ({seen[run.kind]})"
        setting = run.setting
        tree = None if setting is None else setting.sentence
        notes = [f"Ratios only, of the run in line {run.line}: no counts are printed."]
        notes += [tree] if tree else []
        readings.append(
            Reading(
                engine="sglang",
                layout=f"{run.kind}{again}",
                source=source,
                counts=None,
                printed=(
                    ReportedRatio(
                        quantity="tokens_per_round",
                        value=run.length.value,
                        half_width=run.length.half_width,
                        averaged_over="one benchmark run",
                    ),
                ),
                definition=DEFINITION,
                lines=lines,
                used=1,
                notes=(*notes, *run.notes),
                gamma=None if setting is None else setting.gamma,
                emitted=run.emitted,
                clock=run.clock,
                method=None if setting is None else setting.method,
                version=version,
            )
        )
    return readings
