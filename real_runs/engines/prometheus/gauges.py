"""Gauges of speculative decoding in Prometheus' text format: ratios without counts.

SGLang's are of the latest interval, TensorRT-LLM's of the latest iterations, vLLM V0's since the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from real_runs.engines.counts.printed import MOST_DEPTHS, Printed
from real_runs.engines.counts.skips import NoCounts, NothingDrafted, Skips
from real_runs.engines.prometheus.exposition import Sample, Samples
from real_runs.engines.reading import Reading
from real_runs.engines.sglang.rate import RateWindows
from real_runs.engines.text.fields import as_decimal
from real_runs.engines.text.lines import Line
from simulator import ReportedRatio

MOST_MODELS = 32
LONGEST_NAME = 100

_NO_ERROR = "Ratios only: without counts there is no sampling error, and no sum over snapshots."


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauges:
    """The gauges of one engine by the name of their quantity; `rate` and `settings` need arithmetic."""

    engine: str
    prefix: str
    shape: str
    definition: str
    averaged_over: str
    quantities: Mapping[str, str]
    rate: str = ""
    window: str = ""
    steps: str = ""
    version: str | None = None

    @property
    def names(self) -> frozenset[str]:
        """All names that are kept."""
        others = (self.rate, self.window, self.steps)
        return frozenset({*self.quantities, *(name for name in others if name)})


SGLANG = Gauges(
    engine="sglang",
    prefix="sglang:",
    shape="'sglang:spec_accept_length{...} ...' (Prometheus, SGLang)",
    definition="the accept length counts the bonus token; the accept rate changed its meaning in 0.5.11.",
    averaged_over="the latest interval of one scheduler",
    quantities={"sglang:spec_accept_length": "tokens_per_round"},
    rate="sglang:spec_accept_rate",
    window="sglang:spec_num_draft_tokens",
    steps="sglang:spec_num_steps",
)
TENSORRT = Gauges(
    engine="tensorrt-llm",
    prefix="trtllm_",
    shape="'trtllm_spec_decode_acceptance_length ...' (Prometheus, TensorRT-LLM)",
    definition="the acceptance length is (accepted + requests) / requests: it counts the bonus token.",
    averaged_over="the latest iterations",
    quantities={"trtllm_spec_decode_acceptance_length": "tokens_per_round"},
)
VLLM_V0 = Gauges(
    engine="vllm",
    prefix="vllm:",
    shape="'vllm:spec_decode_efficiency{...} ...' (Prometheus, vLLM V0)",
    definition="efficiency is emitted tokens / (rounds x (gamma + 1)), bonus tokens among them.",
    averaged_over="all requests since the server started",
    quantities={"vllm:spec_decode_efficiency": "efficiency"},
    version="V0",
)
SGLANG_MARKERS = ("sglang:spec_",)
TENSORRT_MARKERS = ("trtllm_spec_decode_acceptance_length",)
VLLM_V0_MARKERS = ("vllm:spec_decode_efficiency",)


@dataclass(slots=True)
class _Last:
    """The last sample of each gauge of one model, and whether several servers print it."""

    line: int
    samples: dict[str, Sample]
    lines: dict[str, int] = field(default_factory=dict)
    several: bool = False


class GaugeLines:
    """Keeps the last value of each gauge of one engine, model by model."""

    def __init__(self, source: str, skips: Skips, *, gauges: Gauges) -> None:
        self._source = source
        self._skips = skips
        self._gauges = gauges
        self._samples = Samples(gauges.prefix)
        self._models: dict[str, _Last] = {}

    def take(self, line: Line) -> None:
        """Keep the gauges of a line."""
        for sample in self._samples(line.text):
            if sample.name in self._gauges.names:
                self._keep(line.number, sample)

    def _keep(self, line: int, sample: Sample) -> None:
        model = sample.label("model_name")[:LONGEST_NAME]
        if model not in self._models and len(self._models) >= MOST_MODELS:
            self._skips.record(line, f"more than {MOST_MODELS} models", expected=self._gauges.shape)
            return
        last = self._models.setdefault(model, _Last(line=line, samples={}))
        before = last.samples.get(sample.name)
        last.several |= before is not None and before.labels != sample.labels
        last.samples[sample.name] = sample
        last.lines[sample.name] = last.line = line

    def readings(self, lines: int) -> list[Reading]:
        """A Reading of ratios for each model; empty if there are none."""
        readings = []
        for model, last in self._models.items():
            with self._skips.guard(last.line, expected=self._gauges.shape):
                name = (
                    f"Prometheus gauges of {model}"
                    if len(self._models) > 1
                    else "Prometheus gauges"
                )
                readings.append(self._of_model(name, last, lines))
        return readings

    def _of_model(self, name: str, last: _Last, lines: int) -> Reading:
        gauges = self._gauges
        values = {key: as_decimal(key, sample.text) for key, sample in last.samples.items()}
        named = {
            quantity: values[key] for key, quantity in gauges.quantities.items() if key in values
        }
        if not named:
            raise NoCounts(f"no gauge of {' or '.join(gauges.quantities)}")
        efficiency = named.get("efficiency")
        if efficiency is not None and efficiency.value > 1.0:
            raise NoCounts(
                f"an efficiency of {efficiency.value:g}, above 1: more tokens than were asked for",
                finding="unit_error",
            )
        length = named.get("tokens_per_round")
        window, steps = _setting(values, gauges.window), _setting(values, gauges.steps)
        _check_length(length, window)
        notes = [_NO_ERROR]
        if gauges.rate in values and length is not None:
            windows = RateWindows()
            windows.add(length, values[gauges.rate])
            meaning = windows.meaning(window=window)
            notes.append(meaning.reason)
            if meaning.quantity is not None:
                named[meaning.quantity] = values[gauges.rate]
        if last.several:
            notes.append("Several servers or ranks print these gauges: the last one is shown.")
        return Reading(
            engine=gauges.engine,
            layout=name,
            source=self._source,
            counts=None,
            printed=tuple(_ratio(quantity, value, gauges) for quantity, value in named.items()),
            definition=gauges.definition,
            lines=lines,
            used=len(set(last.lines.values())),
            notes=tuple(notes),
            gamma=steps if steps is not None else (window - 1 if window else None),
            version=gauges.version,
        )


def _ratio(quantity: str, printed: Printed, gauges: Gauges) -> ReportedRatio:
    return ReportedRatio(
        quantity=quantity,
        value=printed.value,
        half_width=printed.half_width,
        averaged_over=gauges.averaged_over,
    )


def _check_length(length: Printed | None, window: int | None) -> None:
    """NothingDrafted for the 0 of a server that drafted nothing yet, NoCounts for no length of rounds."""
    if length is None:
        return
    if length.value == 0.0:
        raise NothingDrafted("no draft in the latest interval")
    most = MOST_DEPTHS if window is None else window
    if not length.value + length.half_width >= 1.0 or length.value - length.half_width > most:
        raise NoCounts(
            f"tokens per round must lie in [1, {most}], and {length.value:g} is printed",
            finding="length_outside_range",
        )


def _setting(values: Mapping[str, Printed], name: str) -> int | None:
    printed = values.get(name)
    if printed is None or not printed.value.is_integer() or not 1 <= printed.value <= MOST_DEPTHS:
        return None
    return int(printed.value)


SglangGauges = partial(GaugeLines, gauges=SGLANG)
TensorrtGauges = partial(GaugeLines, gauges=TENSORRT)
VllmV0Gauges = partial(GaugeLines, gauges=VLLM_V0)
