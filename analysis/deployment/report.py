"""Loads and break-even batches as tables of a report."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.deployment.break_even import BreakEvenBatch
from analysis.deployment.load import LoadPoint
from analysis.output import Cell, Section
from simulator import Estimate


def load_section(points: Sequence[LoadPoint], *, name: str = "load") -> Section:
    """A row per load: what runs, what a request gets, what the server gives, without and with drafts.

    Whole requests and prices are columns only where they were asked for. `speedup_once_running` is that of
    a request without its waiting for room, which the response times have.
    """
    columns = [
        "concurrency", "gamma", "running_plain", "running", "batch_lost", "request_tokens_per_s_plain",
        "request_tokens_per_s", "latency_speedup", "tokens_per_s_plain", "tokens_per_s",
        "throughput_ratio", "throughput_low", "throughput_high",
    ]  # fmt: skip
    whole = bool(points) and points[0].plain.service_s is not None
    priced = bool(points) and points[0].plain.price_per_hour is not None
    columns += ["response_s_plain", "response_s", "speedup_once_running"] if whole else []
    columns += ["price_per_million_plain", "price_per_million"] if priced else []
    return Section(
        name=name,
        columns=tuple(columns),
        rows=tuple(_row(point, whole=whole, priced=priced) for point in points),
        too_wide=(
            "gamma", "batch_lost", "request_tokens_per_s_plain", "tokens_per_s_plain", "throughput_low",
            "throughput_high",
            *(("request_tokens_per_s", "latency_speedup", "tokens_per_s") if whole else ()),
            *(("price_per_million_plain", "request_tokens_per_s") if priced else ()),
            *(("speedup_once_running",) if whole and priced else ()),
        ),
    )  # fmt: skip


def break_even_section(found: Sequence[BreakEvenBatch], *, name: str = "break_even") -> Section:
    """A row per draft length: how far it pays, where it stops, and whether it pays again.

    `pays_up_to` is the last batch before it first stops, all that were tried if it never does.
    """
    columns = (
        "gamma", "context", "pays_up_to", "stops_paying_at", "pays_again_from", "tried_up_to", "in_words",
    )  # fmt: skip
    rows = [
        (
            f.gamma, f.context, f.tried if f.batch is None else f.batch - 1, f.batch, f.again, f.tried,
            f.sentence,
        )
        for f in found
    ]  # fmt: skip
    return Section(
        name=name,
        columns=columns,
        rows=tuple(rows),
        too_wide=("context", "tried_up_to", "in_words"),
    )


def _row(point: LoadPoint, *, whole: bool, priced: bool) -> tuple[Cell, ...]:
    plain, drafted, ratio = point.plain, point.speculative, point.throughput_ratio
    low, high = ratio.interval or (None, None)
    cells: list[Cell] = [
        point.concurrency,
        point.gamma,
        _whole(plain.running),
        _whole(drafted.running),
        _whole(point.batch_lost),
        plain.request_tokens_per_s.value,
        drafted.request_tokens_per_s.value,
        point.latency_speedup.value,
        plain.tokens_per_s.value,
        drafted.tokens_per_s.value,
        ratio.value,
        low,
        high,
    ]
    if whole:
        cells += map(_value, (plain.response_s, drafted.response_s, point.request_speedup))
    if priced:
        cells += map(_value, (plain.price_per_million, drafted.price_per_million))
    return tuple(cells)


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value


def _whole(requests: float) -> float | int:
    """Requests are counted; memory that holds any number of them gives infinity."""
    return int(requests) if float(requests).is_integer() else requests
