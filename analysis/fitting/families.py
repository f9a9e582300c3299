"""How far one p misses at another draft length, by method, from published curves.

The table is computed from `analysis/data/acceptance_curves.csv`, whose rows carry their sources.
"""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from analysis.formulas import expected_tokens
from analysis.optimum import p_from_tokens
from simulator import METHODS, Method


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedCurve:
    """Tokens per round at several draft lengths, as a source gives them.

    `kind` "sweep": one run per length; "positions": one run, its survival by position added up, which
    leaves out that shorter drafts begin rounds elsewhere; "fraction": accepted / drafted per length.
    """

    name: str
    family: Method
    kind: str
    source: str
    url: str
    tokens: Mapping[int, float]
    half_widths: Mapping[int, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtrapolationError:
    """One p fitted at `known` tokens, asked about `asked`: predicted / published − 1."""

    curve: str
    family: Method
    known: int
    asked: int
    error: float

    @property
    def slope(self) -> float:
        """The error's logarithm per logarithm of (asked + 1) / (known + 1)."""
        return math.log1p(self.error) / math.log((self.asked + 1) / (self.known + 1))


@cache
def published_curves() -> tuple[PublishedCurve, ...]:
    """All curves that the package carries, with their sources."""
    text = files("analysis").joinpath("data/acceptance_curves.csv").read_text(encoding="utf-8")
    rows: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in csv.DictReader(text.splitlines()):
        rows[row["curve"]].append(row)
    return tuple(_curve(name, found) for name, found in rows.items())


@cache
def extrapolation_errors(method: Method) -> tuple[ExtrapolationError, ...]:
    """What one p would have predicted, for every two lengths of every curve of a method.

    Empty for a method without a published curve. Raises ValueError for a method that is none.

    >>> worst = max(extrapolation_errors("eagle"), key=lambda found: found.error)
    >>> worst.known < worst.asked, worst.error > 0.1
    (True, True)
    >>> min(found.error for found in extrapolation_errors("ngram") if found.asked > found.known) < -0.1
    True
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}.")
    return tuple(
        ExtrapolationError(
            curve=curve.name,
            family=method,
            known=known,
            asked=asked,
            error=_predicted(curve.tokens[known], known, asked) / tokens - 1.0,
        )
        for curve in published_curves()
        if curve.family == method
        for known in curve.tokens
        for asked, tokens in curve.tokens.items()
        if asked != known
    )


def slope_range(method: Method, *, known: int, asked: int) -> tuple[float, float] | None:
    """The smallest and the largest slope of the method's errors in this direction, 0 included.

    Only pairs of lengths at least half as far apart as these (on a logarithmic scale, or as the
    farthest known) have a say: between neighbours the slope is mostly rounding and chance. None without a
    published curve. With slope b, one p predicts ((asked + 1) / (known + 1))^b times too much.
    """
    errors = [
        error
        for error in extrapolation_errors(method)
        if (error.asked > error.known) == (asked > known)
    ]
    if not errors:
        return None
    reach = min(_distance(known, asked), max(_distance(e.known, e.asked) for e in errors)) / 2.0
    slopes = [e.slope for e in errors if _distance(e.known, e.asked) >= reach]
    return min(0.0, *slopes), max(0.0, *slopes)


def _distance(known: int, asked: int) -> float:
    return abs(math.log((asked + 1) / (known + 1)))


def _predicted(tokens: float, known: int, asked: int) -> float:
    return float(expected_tokens(p_from_tokens(tokens, known), asked))


def _curve(name: str, rows: list[dict[str, str]]) -> PublishedCurve:
    tokens: dict[int, float] = {}
    half_widths: dict[int, float] = {}
    alive = 1.0
    for row in rows:
        gamma, value, half = int(row["gamma"]), float(row["value"]), float(row["half_width"])
        if row["kind"] == "positions":
            alive += value
            tokens[gamma], half_widths[gamma] = alive, half * gamma
        elif row["kind"] == "fraction":
            tokens[gamma], half_widths[gamma] = 1.0 + gamma * value, half * gamma
        else:
            tokens[gamma], half_widths[gamma] = value, half
    family = next(method for method in METHODS if method == rows[0]["family"])
    kinds = {row["kind"] for row in rows}
    return PublishedCurve(
        name=name,
        family=family,
        kind=" and ".join(sorted(kinds)),
        source=rows[0]["source"],
        url=rows[0]["url"],
        tokens=tokens,
        half_widths=half_widths,
    )
