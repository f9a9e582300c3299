"""The JSON that `vllm bench serve --save-result` writes (vllm/benchmarks/serve.py)."""

from __future__ import annotations

from dataclasses import replace

from real_runs.engines.counts.pool import Pool
from real_runs.engines.counts.printed import MOST_DEPTHS, Printed
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.reading import Reading
from real_runs.engines.text.fields import as_decimal, count_at, decimal_at, number_at
from real_runs.engines.text.objects import JsonObject, Where
from real_runs.engines.vllm.bench import LAYOUT
from real_runs.engines.vllm.bench_clock import RunClock, clock_of_runs
from real_runs.engines.vllm.block_ratios import shortened
from real_runs.engines.vllm.blocks import Block, Output, block_counts, recovered_note

SHAPES = "'\"spec_decode_num_drafts\": ...' (JSON of vllm bench serve)"
KEYS = ("spec_decode_num_drafts", "spec_decode_acceptance_length")

_COUNTS = ("spec_decode_num_drafts", "spec_decode_draft_tokens", "spec_decode_accepted_tokens")
_RATES = "spec_decode_per_position_acceptance_rates"
_EXACT = 10**10


class BenchResults:
    """Sums the results in one text, one per run of the benchmark."""

    def __init__(self, source: str, skips: Skips) -> None:
        del skips  # what is raised here is recorded by the caller
        self._pool = Pool(replace(LAYOUT, name="result of bench serve"), source)
        self._clocks: list[RunClock] = []
        self._gammas: set[int | None] = set()
        self._rounded = False
        self._output = Output()

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Add the counts of one run."""
        if isinstance(value.get(KEYS[1]), dict):
            return  # of the same name, AIPerf has a block of statistics
        counts = [count_at(value, name) for name in _COUNTS]
        rounds, drafted, accepted = counts
        if rounds is None or drafted is None or accepted is None:
            missing = _COUNTS[counts.index(None)]
            raise NoCounts(f"the object has no '{missing}'")
        survival, exact = _survival(value, rounds, accepted)
        found = block_counts(
            Block(
                rounds=rounds,
                drafted=drafted,
                accepted=accepted,
                fraction=decimal_at(value, "spec_decode_acceptance_rate"),
                length=shortened(decimal_at(value, "spec_decode_acceptance_length")),
                survival=survival,
            )
        )
        per_token, running = number_at(value, "mean_tpot_ms"), number_at(value, "max_concurrency")
        clock = RunClock(
            tokens_per_s=number_at(value, "output_throughput"),
            s_per_token=None if per_token is None else per_token / 1000.0,
            running=running,
        )
        output = count_at(value, "total_output_tokens"), count_at(value, "completed")
        self._pool.add(where.line, found.recovered, found.ratios)
        self._output.add(*output, of_rounds=rounds + accepted)
        self._rounded |= not exact
        self._gammas.add(found.gamma)
        if len(self._clocks) < 2:
            self._clocks.append(clock)

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of all runs summed; empty if there are none."""
        clock, said = clock_of_runs(self._clocks, ())
        gamma = next(iter(self._gammas)) if len(self._gammas) == 1 else None
        return [
            replace(
                reading,
                notes=(
                    *reading.notes,
                    *(recovered_note(reading.counts) if self._rounded else ()),
                    *self._output.notes,
                    *said,
                ),
                clock=clock,
                gamma=gamma,
                emitted=self._output.total,
                version="V1",
            )
            for reading in self._pool.readings(lines)
        ]


def _survival(value: JsonObject, rounds: int, accepted: int) -> tuple[tuple[Printed, ...], bool]:
    """The ratios of the positions, and whether they are quotients of counts and not rounded.

    Ratios in full give whole numbers when multiplied by the rounds; so do short ones like 0.75, if
    they are exact. Others are taken as rounded to the digits of the longest.
    """
    rates = value.get(_RATES)
    if rates is None or rates == []:
        return (), True
    if not isinstance(rates, list) or len(rates) > MOST_DEPTHS:
        raise NoCounts(f"{_RATES} is no list of at most {MOST_DEPTHS} ratios")
    printed = [as_decimal(f"{_RATES}[{index}]", rate) for index, rate in enumerate(rates)]
    kept = [round(each.value * rounds) for each in printed]
    whole = all(
        abs(each.value * rounds - count) <= rounds * 1e-9
        for each, count in zip(printed, kept, strict=True)
    )
    if rounds and whole and sum(kept) == accepted:
        scale = _EXACT * rounds
        return tuple(Printed(units=count * _EXACT, scale=scale) for count in kept), True
    scale = max(each.scale for each in printed)
    return tuple(
        Printed(units=each.units * (scale // each.scale), scale=scale) for each in printed
    ), False
