"""What an importer returns: the counts the text supports, and how it was understood."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from simulator import (
    AcceptanceTable,
    Clock,
    CountedUnit,
    Counts,
    Method,
    Observation,
    ReportedRatio,
)

_WRITTEN = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "tensorrt-llm": "TensorRT-LLM",
    "transformers": "Transformers",
    "aiperf": "AIPerf",
    "openai": "OpenAI",
    "model-optimizer": "Model-Optimizer",
    "lm-studio": "LM Studio",
    "mlx": "MLX",
    "spec-bench": "Spec-Bench",
    "eagle": "EAGLE",
    "inferencex": "InferenceX",
    "sdb": "SDB",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A line that belongs to the format but gave no counts, and why.

    `finding` is the code of what the doctor would call it, for a line with impossible numbers.
    """

    line: int
    reason: str
    finding: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One engine's metrics from one text.

    `layout` names the kind of line, once per engine. `counts` hold what all its records count; None
    where the text has ratios and no counts. `printed` holds the engine's own ratios as it
    prints them (fractions, never percent), with the half-width of their rounding, where they
    are those of a single record; it is empty for a sum, which the ratios of no record describe.
    `definition` says in a sentence what the engine's "acceptance rate" is. `notes` say what was
    summed, inferred, or is missing. `lines` counts the lines read, `used` those with a record that
    counted: a record that goes on in further lines is in the first of them, and one line can hold
    several.

    `units` are the requests, or the intervals, that were summed, as far as the text tells them
    apart (the first 50,000). `gamma` is the configured draft length, where the text says so;
    `undrafted_rounds` are rounds without a draft that the engine counted beside those in `counts`.
    `clock` holds what the text says about time, for the same rounds. `version` is what the text
    says of the engine's version, or what its layout implies.
    """

    engine: str
    layout: str
    source: str
    counts: Counts | None
    printed: tuple[ReportedRatio, ...]
    definition: str
    lines: int
    used: int
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    unit: Literal["request", "interval"] = "interval"
    units: tuple[CountedUnit, ...] = ()
    gamma: int | None = None
    undrafted_rounds: int | None = None
    emitted: int | None = None
    clock: Clock = field(default_factory=Clock)
    method: Method | None = None
    version: str | None = None

    @property
    def observation(self) -> Observation:
        """The reading without how it was read: what the analysis takes."""
        counts = self.counts
        accepted = None
        if isinstance(counts, AcceptanceTable):
            accepted = sum(counts.accepted)
        elif counts is not None:
            accepted = counts.accepted
        return Observation(
            name=self.source,
            engine=self.engine,
            version=self.version,
            method=self.method,
            gamma=self.gamma,
            rounds=None if counts is None else counts.rounds,
            drafted=None if counts is None else counts.drafted,
            accepted=accepted,
            emitted=self.emitted,
            undrafted_rounds=self.undrafted_rounds,
            length_rule="unknown" if counts is None else counts.length_rule,
            counts=counts,
            printed=self.printed,
            unit=self.unit,
            units=self.units,
            clock=self.clock,
        )

    @property
    def title(self) -> str:
        """The engine as it writes itself, and the kind of line: one name per reading."""
        return f"{written(self.engine)}, {self.layout}"


def written(engine: str) -> str:
    """The name of an engine as it writes itself.

    >>> written("vllm"), written("llama.cpp")
    ('vLLM', 'llama.cpp')
    """
    return _WRITTEN.get(engine, engine)
