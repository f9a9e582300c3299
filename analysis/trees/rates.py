"""Rates by rank as trees take them: one vector for every depth, or one per depth; checked once."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from simulator import RankAcceptance, Tree
from simulator._checks import FloatArray, as_count, as_probability
from simulator._rates import TOLERANCE

Rates: TypeAlias = Sequence[float] | Sequence[Sequence[float]] | FloatArray | RankAcceptance
"""P(the child of rank r is the accepted one | its parent is): [rank] at any depth, or [depth][rank]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateRows:
    """Rates in rows, best rank first where `gaps` were asked for.

    `rows[d]` belongs to children at depth d + 1; a `repeats` of True means that the one row holds at
    every depth. `ranks[d][k]` is the rank whose rate is rows[d][k].
    """

    rows: tuple[tuple[float, ...], ...]
    ranks: tuple[tuple[int, ...], ...]
    repeats: bool

    @property
    def depths(self) -> float:
        """How deep a tree can be: infinite for a row that holds at every depth."""
        return math.inf if self.repeats else len(self.rows)

    def row(self, depth: int) -> tuple[float, ...]:
        """Rates of children at `depth`, 1 the first."""
        return self.rows[0 if self.repeats else depth - 1]

    def rank(self, depth: int, position: int) -> int:
        """The rank at a position of the row of `depth`."""
        return self.ranks[0 if self.repeats else depth - 1][position]

    def cut(self, max_width: int | None) -> RateRows:
        """The first max_width positions of each row."""
        return RateRows(
            rows=tuple(row[:max_width] for row in self.rows),
            ranks=tuple(row[:max_width] for row in self.ranks),
            repeats=self.repeats,
        )

    def room(self, depth: int, enough: int) -> int:
        """Nodes that fit into `depth` levels, counted no further than `enough`."""
        total, layer = 0, 1
        for level in range(1, depth + 1):
            layer *= len(self.row(level))
            total += layer
            if total >= enough or layer == 0:
                break
        return min(total, enough)


def rate_rows(rates: Rates, *, gaps: bool = False) -> RateRows:
    """Checked rates; with `gaps` each row from its largest rate down, equal ones by rank.

    Raises ValueError for a rate outside [0, 1], for rows that sum above 1, for no rank at all.
    """
    given, repeats = _rows(rates)
    for depth, row in enumerate(given):
        where = "rates" if repeats else f"rates[{depth}]"
        for rank, rate in enumerate(row):
            as_probability(f"{where}[{rank}]", rate)
        total = math.fsum(row)
        if total > 1.0 + TOLERANCE:
            raise ValueError(
                f"{where} must sum to at most 1 over ranks, one child at most is the accepted one; "
                f"got {total:.6g}."
            )
    ranks = [_likeliest_first(row) if gaps else range(len(row)) for row in given]
    return RateRows(
        rows=tuple(
            tuple(float(row[rank]) for rank in order)
            for row, order in zip(given, ranks, strict=True)
        ),
        ranks=tuple(tuple(order) for order in ranks),
        repeats=repeats,
    )


def limits(
    rows: RateRows, nodes: int, max_depth: int | None, max_width: int | None, *, most: int
) -> tuple[RateRows, int]:
    """The rows that max_width leaves and the depth that can matter, once `nodes` fit into them."""
    as_count("nodes", nodes, most=most)
    if max_width is not None:
        rows = rows.cut(as_count("max_width", max_width, least=1))
    depth = nodes if max_depth is None else min(nodes, as_count("max_depth", max_depth, least=1))
    depth = int(min(depth, rows.depths))
    room = rows.room(depth, nodes)
    if room < nodes:
        raise ValueError(
            f"nodes must be at most the {room} that rates, max_depth and max_width leave room for; "
            f"got {nodes}."
        )
    return rows, depth


def rates_of_nodes(tree: Tree, rows: RateRows) -> FloatArray:
    """P(a node is the accepted one | its parent is accepted), shape [nodes].

    Raises ValueError for a node whose depth or rank the rates do not know.
    """
    found = np.empty(tree.nodes)
    for node, (depth, rank) in enumerate(zip(tree.depths, tree.ranks, strict=True)):
        if depth > rows.depths:
            raise ValueError(
                f"rates must know every depth of the tree, {tree.gamma}; got {len(rows.rows)} depths."
            )
        if rank >= len(rows.row(depth)):
            raise ValueError(
                f"rates must know every rank of the tree; node {node} is child {rank} at depth "
                f"{depth}, got {len(rows.row(depth))} ranks there."
            )
        found[node] = rows.row(depth)[rank]
    return found


def _likeliest_first(row: list[float]) -> list[int]:
    return sorted(range(len(row)), key=lambda rank: -row[rank])


def _rows(rates: Rates) -> tuple[list[list[float]], bool]:
    if isinstance(rates, RankAcceptance):
        return [list(row) for row in rates.by_depth], False
    try:
        outer: list[object] = list(rates)
        if outer and not any(_is_row(each) for each in outer):
            return [outer], True  # type: ignore[list-item]
        rows: list[list[float]] = [list(row) for row in outer]  # type: ignore[call-overload]
    except TypeError:
        rows = []
    if not rows or not all(rows):
        raise ValueError(
            "rates must be numbers in [0, 1], one per rank, or one row of them per depth; "
            f"got {reprlib.repr(rates)}."
        )
    return rows, False


def _is_row(each: object) -> bool:
    return isinstance(each, Sequence | np.ndarray) and not isinstance(each, str)
