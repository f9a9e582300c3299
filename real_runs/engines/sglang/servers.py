"""SGLang's `/server_info`: the accept length since the start, and step times by batch size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import median

from real_runs.engines.counts.printed import MOST_DEPTHS, Printed
from real_runs.engines.counts.skips import NoCounts, NothingDrafted, Skips
from real_runs.engines.reading import Reading
from real_runs.engines.sglang.runs import DEFINITION
from real_runs.engines.sglang.settings import DraftSetting, setting_in
from real_runs.engines.text.fields import as_number, as_whole, decimal_at, text_at
from real_runs.engines.text.objects import JsonObject, Where
from simulator import Clock, ReportedRatio

KEYS = ("avg_spec_accept_length",)
SHAPES = '"internal_states": [{"avg_spec_accept_length": ..., ...}] (SGLang /server_info)'
MOST_SERVERS = 256
MOST_TIMES = 100_000


class ServerInfo:
    """Collects the server states of one text: each is a reading, with step times one per batch size."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._source = source
        self._skips = skips
        self._servers = 0
        self._readings: list[Reading] = []

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Add one server's state; its settings stand in the objects around it."""
        length = decimal_at(value, "avg_spec_accept_length")
        if length is None or length.value in {0.0, 1.0}:
            raise NothingDrafted("avg_spec_accept_length is what SGLang gives with speculation off")
        if length.value < 1.0:
            raise NoCounts(
                f"avg_spec_accept_length is {length.value:g}, and a round emits one token at least",
                finding="length_outside_range",
            )
        if self._servers == MOST_SERVERS:
            raise NoCounts(f"more than {MOST_SERVERS} server states in one text")
        around = (value, *reversed(where.parents))
        settings = [setting for setting in map(setting_in, around) if setting is not None]
        setting = settings[0] if settings else None
        versions = [text for each in around if (text := text_at(each, "version")) is not None]
        times = _step_times(value)
        self._servers += 1
        name = "server info" if self._servers == 1 else f"server info ({self._servers})"
        batches: list[int | None] = [*sorted(times)] or [None]
        for batch in batches:
            self._readings.append(
                _reading(
                    self._source,
                    name if batch is None else f"{name}, batch {batch}",
                    length,
                    setting,
                    versions[0] if versions else None,
                    Clock() if batch is None else Clock(running=batch, s_per_round=times[batch]),
                )
            )

    def readings(self, lines: int) -> list[Reading]:
        """The readings of all server states."""
        return [replace(reading, lines=lines) for reading in self._readings]


def _reading(
    source: str,
    layout: str,
    length: Printed,
    setting: DraftSetting | None,
    version: str | None,
    clock: Clock,
) -> Reading:
    notes = [
        "Ratios only, of everything since the server started: no counts are printed.",
    ]
    if clock.s_per_round is not None:
        notes.append(
            "Seconds per round are the median step time of this batch size; the accept length is that of "
            "all batch sizes together."
        )
    if setting is not None and setting.sentence:
        notes.append(setting.sentence)
    return Reading(
        engine="sglang",
        layout=layout,
        source=source,
        counts=None,
        printed=(
            ReportedRatio(
                quantity="tokens_per_round",
                value=length.value,
                half_width=length.half_width,
                averaged_over="all rounds since the server started",
            ),
        ),
        definition=DEFINITION,
        lines=0,
        used=1,
        notes=tuple(notes),
        gamma=None if setting is None else setting.gamma,
        clock=clock,
        method=None if setting is None else setting.method,
        version=version,
    )


def _step_times(value: JsonObject) -> dict[int, float]:
    """Seconds per pass by batch size, the median where the server keeps all of them."""
    times = value.get("step_time_dict")
    if not isinstance(times, Mapping):
        return {}
    if len(times) > 4 * MOST_DEPTHS:
        raise NoCounts(f"step_time_dict has more than {4 * MOST_DEPTHS} batch sizes")
    found = {}
    for batch, seconds in times.items():
        each = seconds if isinstance(seconds, list) else [seconds]
        if len(each) > MOST_TIMES:
            raise NoCounts(f"step_time_dict has more than {MOST_TIMES:,} times of one batch size")
        numbers = [as_number("step_time_dict", number) for number in each]
        if numbers and median(numbers) > 0.0:
            found[as_whole("a batch size in step_time_dict", batch)] = median(numbers)
    return found
