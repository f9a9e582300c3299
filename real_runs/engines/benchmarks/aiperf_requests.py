"""AIPerf's acceptance by request: profile_export.jsonl."""

from __future__ import annotations

from collections import Counter

from real_runs.engines.benchmarks.aiperf import seconds
from real_runs.engines.counts.acceptance_record import child, label_of, read_record
from real_runs.engines.counts.lengths import longest_note
from real_runs.engines.counts.pool import Extras, Layout, Pool, unit_of
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.reading import Reading
from real_runs.engines.text.fields import text_at
from real_runs.engines.text.objects import JsonObject, Where
from simulator import AcceptanceTable

KEYS = ("spec_decode_acceptance",)
SHAPES = "'spec_decode_acceptance' with its 'acceptance_histogram' (AIPerf, profile_export.jsonl)"

_LAYOUT = Layout(
    engine="aiperf",
    name="profile_export.jsonl",
    unit="request",
    averaged_over="rounds of one request",
    definition="draft_acceptance_rate is accepted / drafted of one request.",
)


class Requests:
    """Sums the records of the requests of one run, and keeps them apart."""

    def __init__(self, source: str, _: Skips) -> None:
        self._pool = Pool(_LAYOUT, source)
        self._gammas: Counter[int | None] = Counter()
        self._engines: Counter[str] = Counter()
        self._emitted: int | None = 0
        self._longest_assumed = 0

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Add the record of one request, or note why it counts nothing."""
        inner = value.get(KEYS[0])
        if inner is None:
            return  # a request without speculation
        if not isinstance(inner, dict):
            raise NoCounts("spec_decode_acceptance is no object")
        self._add(value, inner, where.line)

    def _add(self, value: JsonObject, inner: JsonObject, line: int) -> None:
        found = read_record(inner)
        metadata, metrics = child(value, "metadata"), child(value, "metrics")
        labels = tuple(
            (name, text)
            for name in ("benchmark_phase", "conversation_id", "category")
            if (text := text_at(metadata, name)) is not None
        )
        whole, first = seconds(metrics, "request_latency"), seconds(metrics, "time_to_first_token")
        unit = unit_of(
            found.record,
            name=label_of(metadata, "x_request_id", "request_id", "session_num"),
            labels=labels,
            steps=found.steps,
            decode_s=None if whole is None or first is None or whole <= first else whole - first,
        )
        self._pool.add(line, found.record, found.ratios, unit=unit)
        self._gammas[found.gamma] += 1
        self._engines[text_at(inner, "engine") or "unnamed engine"] += 1
        if found.emitted is None or self._emitted is None:
            self._emitted = None
        else:
            self._emitted += found.emitted
        if isinstance(found.record, AcceptanceTable) and inner.get("num_draft_tokens") is None:
            self._longest_assumed = max(self._longest_assumed, found.record.depths)

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of all requests; empty without one."""
        gamma = next(iter(self._gammas)) if len(self._gammas) == 1 else None
        notes = []
        if self._engines:
            notes.append(f"The records come from {', '.join(sorted(self._engines)[:4])}.")
        if self._longest_assumed:
            notes.append(longest_note(self._longest_assumed))
        return self._pool.readings(
            lines,
            notes=tuple(notes),
            extras=Extras(gamma=gamma, emitted=self._emitted),
        )
