"""The numbers over the rate of arrivals, as a table and as a file. No Streamlit."""

from __future__ import annotations

import pandas as pd

from simulator import Estimate
from simulator.serving import Seen, ServingComparison, ServingEstimates

_SEEN = ("e2e_s", "e2e_p95_s", "ttft_s", "tpot_s", "tokens_per_s", "mean_batch")


def table(points: tuple[ServingComparison, ...]) -> pd.DataFrame:
    """A row per rate: what either side's requests see [s], what runs, and the gains with their ends."""
    rows = []
    for point in points:
        row: dict[str, float | None] = {"rate_per_s": point.rate_per_s}
        for name, side in (("plain", point.plain), ("speculative", point.speculative)):
            row |= _seen(name, side)
        for name in ("e2e", "ttft", "tpot"):
            row |= _with_ends(f"gain_{name}", getattr(point, f"gain_{name}"))
        rows.append(row | _with_ends("throughput_ratio", point.throughput_ratio))
    return pd.DataFrame(rows)


def times(points: tuple[ServingComparison, ...], of: Seen) -> pd.DataFrame:
    """A row per rate: the mean time [s] that the chart draws, with its ends, on either side."""
    return pd.DataFrame(
        [
            {"rate_per_s": point.rate_per_s}
            | _with_ends("plain_s", None if point.plain is None else point.plain.mean_s(of))
            | _with_ends(
                "speculative_s",
                None if point.speculative is None else point.speculative.mean_s(of),
            )
            for point in points
        ]
    )


def gains(points: tuple[ServingComparison, ...]) -> pd.DataFrame:
    """A row per rate: time without / with drafts, with its ends."""
    frame = table(points)
    return frame[["rate_per_s", *(name for name in frame if str(name).startswith("gain_"))]]


def _seen(name: str, side: ServingEstimates | None) -> dict[str, float | None]:
    if side is None:
        return {f"{name}_{key}": None for key in _SEEN}
    values = (
        side.e2e.mean_s, side.e2e.p95_s, side.ttft.mean_s, side.tpot.mean_s, side.tokens_per_s,
        side.mean_batch,
    )  # fmt: skip
    return {f"{name}_{key}": each.value for key, each in zip(_SEEN, values, strict=True)}


def _with_ends(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    value = None if estimate is None else estimate.value
    low, high = (None, None) if estimate is None else (estimate.interval or (None, None))
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def table_csv(points: tuple[ServingComparison, ...]) -> bytes:
    """The table over rates as CSV."""
    return table(points).to_csv(index=False).encode()
