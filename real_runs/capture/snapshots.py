"""The counters of a running server, taken now and some seconds later, in Prometheus' text format."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from real_runs.capture.addresses import Server, check_server
from real_runs.capture.errors import CaptureError
from real_runs.capture.fetching import TIMEOUT_S, fetch
from real_runs.engines.errors import MetricsFormatError
from real_runs.engines.prometheus.exposition import Labels, Sample, Samples

LONGEST_WAIT_S = 86_400.0
BESIDE_S = 3.0
"""How long metrics may take that are only a second source."""
_STEP_S = 0.5
_OF_ENGINES = tuple(map(Samples, ("vllm:", "sglang:", "llamacpp:", "trtllm_")))
_COUNT = "spec_decode_num_"
_HINT = (
    "vLLM serves /metrics always, llama-server with --metrics, SGLang with --enable-metrics, each with "
    "counters of speculative decoding only where that is on"
)

Sleep = Callable[[float], object]
Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoSnapshots:
    """The texts of one server before and after, and the seconds between them.

    `counted` says that there are counters, whose difference can be read; without it there are
    gauges, whose latest state alone says something. `interrupted` says that the wait was cut short.
    """

    url: str
    before: str
    after: str
    seconds: float
    counted: bool
    interrupted: bool = False


def metrics_of(url: str, *, allow_remote: bool = False) -> Server:
    """The server of a URL at its metrics: under /metrics where the URL has no path, or only /v1."""
    server = check_server(url, allow_remote=allow_remote)
    return server.at("/metrics") if server.path in {"", "/v1"} else server


def take_snapshot(server: Server, *, timeout_s: float = TIMEOUT_S) -> str:
    """The metrics of a server as text.

    Raises CaptureError if it does not answer, MetricsFormatError if the answer has no numbers of
    speculative decoding.
    """
    try:
        text = fetch(server, timeout_s=timeout_s)
    except CaptureError as error:
        if error.status in {404, 501}:
            problem = f"it has no metrics there (status {error.status}): {_HINT}"
            raise CaptureError(server.url, problem, status=error.status) from None
        raise
    if text[:1000].lstrip().startswith("<"):
        raise MetricsFormatError(server.url, problem="this is a web page, not metrics.")
    if not any(True for _ in _speculative(text)):
        raise MetricsFormatError(
            server.url, problem=f"no counters of speculative decoding; {_HINT}."
        )
    return text


def snapshot_beside(
    url: str, *, allow_remote: bool = False, timeout_s: float = BESIDE_S
) -> str | None:
    """The metrics of the server that a URL asks prompts of; None where it gives none, for any reason.

    They are looked for in front of the URL's /v1. Raises ValueError for a server that may not be asked.
    """
    server = check_server(url, allow_remote=allow_remote)
    base = server.path.partition("?")[0].partition("/v1")[0]
    try:
        return take_snapshot(server.at(f"{base}/metrics"), timeout_s=timeout_s)
    except (CaptureError, MetricsFormatError):
        return None


def check_wait(seconds: float) -> None:
    """ValueError for seconds between two snapshots outside (0, 86400]."""
    if not 0.0 < seconds <= LONGEST_WAIT_S:
        raise ValueError(f"seconds between snapshots must be in (0, 86400]; got {seconds:g}.")


def take_snapshots(
    url: str,
    seconds: float,
    *,
    allow_remote: bool = False,
    sleep: Sleep = time.sleep,
    progress: Progress | None = None,
    timeout_s: float = TIMEOUT_S,
) -> TwoSnapshots:
    """The metrics of a server now and after so many seconds; an interrupt ends the wait early.

    `progress` takes the share of the wait that is over. Raises ValueError for seconds outside (0,
    86400] and for a server that may not be asked, CaptureError for one that does not answer,
    MetricsFormatError for an answer without counters and for counters that stood still.
    """
    check_wait(seconds)
    server = metrics_of(url, allow_remote=allow_remote)
    before = take_snapshot(server, timeout_s=timeout_s)
    started = time.monotonic()
    slept, interrupted = 0.0, False
    try:
        while slept < seconds:
            step = min(_STEP_S, seconds - slept)
            sleep(step)
            slept += step
            if progress is not None:
                progress(slept / seconds)
    except KeyboardInterrupt:
        interrupted = True
    waited = time.monotonic() - started if interrupted else seconds
    after = take_snapshot(server, timeout_s=timeout_s)
    first, last = speculative_counters(before), speculative_counters(after)
    if first and first == last:
        raise MetricsFormatError(
            server.url,
            problem=f"the counters of speculative decoding did not move in {waited:.3g} s: no request "
            "was served meanwhile, or none with drafts.",
        )
    return TwoSnapshots(
        url=server.url,
        before=before,
        after=after,
        seconds=waited,
        counted=_has_counts(first) and _has_counts(last),
        interrupted=interrupted,
    )


def speculative_counters(text: str) -> dict[tuple[str, Labels], float]:
    """The counters of speculative decoding in a text of Prometheus' format.

    >>> speculative_counters('sglang:spec_verify_calls_total{tp_rank="0"} 7')
    {('sglang:spec_verify_calls_total', (('tp_rank', '0'),)): 7.0}
    """
    return {
        (each.name, each.labels): each.value
        for each in _speculative(text)
        if (each.name.endswith("_total") or _COUNT in each.name)
        and not each.name.endswith("_created")  # the time of a start, no count
        and math.isfinite(each.value)
    }


def _has_counts(counters: dict[tuple[str, Labels], float]) -> bool:
    return any(_COUNT in name for name, _ in counters)


def _speculative(text: str) -> Iterator[Sample]:
    for row in text.split("\n"):
        if "spec_" in row:
            for samples in _OF_ENGINES:
                yield from (each for each in samples(row) if "spec_" in each.name)
