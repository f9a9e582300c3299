"""What a source says about a run: counts, printed ratios and times, each only as far as it goes.

The neutral form between the importers, which fill it, and the analysis, which reads it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from simulator._counting import LengthRule
from simulator.totals import Counts, ReportedRatio

Method: TypeAlias = Literal[
    "draft_model", "eagle", "mtp", "medusa", "ngram", "lookahead", "block", "other"
]
METHODS: tuple[Method, ...] = (
    "draft_model",
    "eagle",
    "mtp",
    "medusa",
    "ngram",
    "lookahead",
    "block",
    "other",
)
"""How drafts come about, as far as it matters to what acceptance does with depth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedUnit:
    """The counts of one request, or of one interval of a log: what is resampled as a whole.

    `labels` are (name, value) pairs to group by. `steps` are the rounds in order, as (drafted,
    accepted) each, where the source has them; with `every_position` there is one for every token of
    the text instead: what a draft that begins there would keep. `decode_s` is the time that the
    rounds took, for one request alone.
    """

    counts: Counts
    name: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    steps: tuple[tuple[int, int], ...] = ()
    every_position: bool = False
    decode_s: float | None = None

    def label(self, name: str) -> str | None:
        """The value of a label; None if the unit has none of that name."""
        return next((value for key, value in self.labels if key == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """What a source says about time; None where it says nothing.

    `tokens_per_s` are the tokens of all running requests together, `running` of them at a time;
    `s_per_token` is the time per output token of one request, `s_per_round` that of one target pass
    with its drafting. `decode_s` is the time in which the counted rounds ran, `draft_s` the part of
    it spent drafting. `overhead_s` is what a round takes beside drafting and target passes, where the source
    says it. `plain_tokens_per_s` and `plain_s_per_token` are the same without speculation.
    `speedup` is as printed.
    """

    tokens_per_s: float | None = None
    running: float | None = None
    s_per_token: float | None = None
    s_per_round: float | None = None
    decode_s: float | None = None
    draft_s: float | None = None
    overhead_s: float | None = None
    plain_tokens_per_s: float | None = None
    plain_s_per_token: float | None = None
    speedup: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What is known of one configuration: one engine, one pair of models, one draft length.

    `rounds`, `drafted`, `accepted` and `emitted` are the numbers as reported, unchecked, for a source
    can be wrong; `counts` are those that are consistent. `undrafted_rounds` are rounds without a
    draft, where the engine counts them beside `rounds`. `units` tell requests apart (or the intervals
    of a log, as `unit` says). `name` tells observations of one comparison apart.
    """

    name: str = ""
    engine: str | None = None
    version: str | None = None
    method: Method | None = None
    target: str | None = None
    mixture_of_experts: bool | None = None
    gamma: int | None = None
    batch: float | None = None
    context: int | None = None
    temperature: float | None = None
    rounds: int | None = None
    drafted: int | None = None
    accepted: int | None = None
    emitted: int | None = None
    undrafted_rounds: int | None = None
    length_rule: LengthRule = "unknown"
    counts: Counts | None = None
    printed: tuple[ReportedRatio, ...] = ()
    unit: Literal["request", "interval"] = "request"
    units: tuple[CountedUnit, ...] = ()
    clock: Clock = field(default_factory=Clock)
