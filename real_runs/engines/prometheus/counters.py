"""Counters of speculative decoding in Prometheus' text format: vLLM's schema, llama.cpp's, TensorRT-LLM's.

Of two snapshots or more, the difference counts; of one, everything since the server started. Series
are summed over engines (data-parallel ranks), model by model.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from real_runs.engines.counts.pool import Extras, Layout, Pool, Record, unit_of
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.prometheus.counts import (
    Schema,
    bare_name,
    counts_of,
    lacks_drafted,
    ratios_of,
    summed,
)
from real_runs.engines.prometheus.exposition import MOST_SERIES, Samples, Series, Snapshots
from real_runs.engines.prometheus.saying import nothing_between, what_is_counted
from real_runs.engines.reading import Reading
from real_runs.engines.text.lines import Line
from simulator import AcceptanceTable, Clock, ReportedRatio

MOST_MODELS = 32
LONGEST_NAME = 100

_DEFINITION = "none is printed; accepted / drafted tokens of the counters is what engines call it"

VLLM = Schema(
    engine="vllm",
    prefix="vllm:",
    shape="'vllm:spec_decode_num_drafts_total{...} ...' (Prometheus, vLLM)",
    definition=f"{_DEFINITION}; rounds without a draft are not counted.",
    rounds="vllm:spec_decode_num_drafts",
    drafted="vllm:spec_decode_num_draft_tokens",
    accepted="vllm:spec_decode_num_accepted_tokens",
    per_position="vllm:spec_decode_num_accepted_tokens_per_pos",
    steps=("vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"),
    old="vllm:spec_decode_num_emitted_tokens",
)
LLAMACPP = Schema(
    engine="llama.cpp",
    prefix="llamacpp:",
    shape="'llamacpp:spec_decode_num_drafts_total ...' (Prometheus, llama.cpp)",
    definition=f"{_DEFINITION}; rounds without a draft are not counted.",
    rounds="llamacpp:spec_decode_num_drafts",
    drafted="llamacpp:spec_decode_num_draft_tokens",
    accepted="llamacpp:spec_decode_num_accepted_tokens",
    per_position="llamacpp:spec_decode_num_accepted_tokens_per_pos",
)
TENSORRT = Schema(
    engine="tensorrt-llm",
    prefix="trtllm_",
    shape="'trtllm_spec_decode_num_draft_tokens_total ...' (Prometheus, TensorRT-LLM)",
    definition=f"{_DEFINITION}; rounds are not counted.",
    drafted="trtllm_spec_decode_num_draft_tokens",
    accepted="trtllm_spec_decode_num_accepted_tokens",
)
VLLM_MARKERS = ("vllm:spec_decode_num_", *(f"{name}_" for name in VLLM.steps))
LLAMACPP_MARKERS = ("llamacpp:spec_decode_num_",)
TENSORRT_MARKERS = ("trtllm_spec_decode_num_",)

_V0 = "vLLM V0 counts acceptances after a rejection"


class Counters:
    """The counters of one engine over the snapshots of one text, or of a text before and one after."""

    def __init__(self, source: str, skips: Skips, *, schema: Schema) -> None:
        self._source = source
        self._skips = skips
        self._schema = schema
        self._samples = Samples(schema.prefix)
        self._snapshots = Snapshots()
        self._before = False
        self._names = schema.names
        self._used: dict[str, tuple[int, int]] = {}

    def take(self, line: Line) -> None:
        """Keep the samples of a line."""
        for sample in self._samples(line.text):
            if bare_name(sample.name.removesuffix("_created")) in self._names:
                self._snapshots.add(line.number, sample)
                self._use(line.number, sample.label("model_name")[:LONGEST_NAME])

    def _use(self, line: int, model: str) -> None:
        """Count a line as used by a model, once."""
        if model not in self._used and len(self._used) >= MOST_SERIES:
            return
        number, last = self._used.get(model, (0, 0))
        if line != last:
            self._used[model] = (number + 1, line)

    def start_here(self) -> bool:
        """Count from here on: what was taken is the snapshot before; False if nothing was."""
        self._snapshots.start_here()
        self._before = bool(self._snapshots.series)
        self._used.clear()
        return self._before

    def readings(self, lines: int) -> list[Reading]:
        """A Reading for each model with counters of drafts; empty if there are none."""
        self._snapshots.close()
        snapshots, schema = self._snapshots, self._schema
        models: dict[str, list[Series]] = {}
        for series in snapshots.series.values():
            models.setdefault(series.label("model_name")[:LONGEST_NAME], []).append(series)
        models = {
            model: found
            for model, found in models.items()
            if any(bare_name(each.name) in {schema.drafted, schema.accepted} for each in found)
        }
        line = snapshots.lines[-1] if snapshots.lines else 1
        if len(models) > MOST_MODELS:
            self._skips.record(line, f"more than {MOST_MODELS} models", expected=schema.shape)
        named = len(models) > 1
        readings: list[Reading] = []
        for model, found in list(models.items())[:MOST_MODELS]:
            with self._skips.guard(line, expected=schema.shape):
                made = self._of_model(model, found, lines=lines, line=line, named=named)
                used, _ = self._used.get(model, (1, line))
                readings += [replace(each, used=used) for each in made]
        return readings

    def _of_model(
        self, model: str, series: list[Series], *, lines: int, line: int, named: bool
    ) -> list[Reading]:
        schema, snapshots = self._schema, self._snapshots
        if schema.old and any(bare_name(each.name) == schema.old for each in series):
            self._skips.record(
                line,
                f"'{schema.old}' is not imported because {_V0}",
                expected=schema.shape,
                finding="vllm_v0_counts",
            )
            return []
        if snapshots.doubled:
            raise NoCounts(
                f"'{snapshots.doubled}' occurs twice with the same labels in one snapshot"
            )
        whole = snapshots.number == 1 and not self._before
        grown = summed(series, schema, whole=whole)
        of_drafts = (schema.rounds, schema.drafted, schema.accepted)
        if not whole and not any(grown.sums.get(name) for name in of_drafts):
            raise NoCounts(nothing_between(snapshots, before=self._before))
        name = f"Prometheus counters of {model}" if named else "Prometheus counters"
        said = what_is_counted(snapshots, series, whole=whole, before=self._before)
        over = "since the server started" if whole else "between two snapshots"
        if lacks_drafted(grown, schema):
            ratios, notes = ratios_of(grown, schema, averaged_over=over)
            return [
                self._of_ratios(f"{name} without drafted tokens", ratios, [*said, *notes], lines)
            ]
        record, notes = counts_of(grown, schema)
        layout = Layout(
            engine=schema.engine,
            name=name,
            unit="snapshot",
            averaged_over=over,
            definition=schema.definition,
        )
        pool = Pool(layout, self._source)
        pool.add(line, record, unit=unit_of(record, name=model))
        steps, seconds = _steps(grown.sums, schema)
        rounds = grown.sums.get(schema.rounds, 0.0)
        undrafted = int(steps - rounds) if steps >= rounds > 0.0 else None
        if undrafted is not None:
            notes.append(
                f"Steps that were timed: {steps:.0f}, {undrafted} more than drafts: rounds without one."
            )
        return pool.readings(
            lines,
            notes=(*said, *notes),
            extras=Extras(
                gamma=_gamma(record, schema),
                undrafted_rounds=undrafted,
                clock=Clock(s_per_round=seconds / steps if steps and seconds > 0.0 else None),
            ),
        )

    def _of_ratios(
        self, name: str, ratios: tuple[ReportedRatio, ...], notes: list[str], lines: int
    ) -> Reading:
        return Reading(
            engine=self._schema.engine,
            layout=name,
            source=self._source,
            counts=None,
            printed=ratios,
            definition=self._schema.definition,
            lines=lines,
            used=1,
            notes=tuple(notes),
        )


def _gamma(record: Record, schema: Schema) -> int | None:
    """The configured draft length: vLLM has a counter for each of its positions from the start on."""
    if schema is not VLLM:
        return None
    return record.depths if isinstance(record, AcceptanceTable) else record.totals.longest_draft


def _steps(sums: dict[str, float], schema: Schema) -> tuple[float, float]:
    """Steps of requests and their seconds, of the first histogram of them that is there."""
    for name in schema.steps:
        steps = sums.get(f"{name}_count", 0.0)
        if steps > 0.0:
            return steps, sums.get(f"{name}_sum", 0.0)
    return 0.0, 0.0


VllmCounters = partial(Counters, schema=VLLM)
LlamaCppCounters = partial(Counters, schema=LLAMACPP)
TensorrtCounters = partial(Counters, schema=TENSORRT)
