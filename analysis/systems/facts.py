"""Published numbers on Medusa, EAGLE, Lookahead and their like, as printed, each with its source."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from analysis.csv_facts import csv_facts, csv_records
from simulator.trees import Tree

Quantity: TypeAlias = Literal[
    "top_accuracy", "n_alpha", "positional_acceptance", "tokens_per_round", "speedup", "cost_ratio"
]

MEDUSA = "Medusa repository 2023"
HYDRA = "Hydra 2024"
EAGLE_1 = "EAGLE 2024"
EAGLE_2 = "EAGLE-2 2024"
EAGLE_3 = "EAGLE-3 2025"
LOOKAHEAD = "Lookahead decoding 2024"
SEQUOIA = "Sequoia 2024"


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFact:
    """One published number; None and "" where the source prints nothing.

    `quantity` says what `value` is. "top_accuracy": share of tokens that are among the best `rank` of
    head `depth`. "n_alpha": P(accepted | tested) at `depth` of a chain. "positional_acceptance":
    P(child `rank` is the accepted one). "tokens_per_round" counts what the target adds; "speedup" is over
    plain decoding; "cost_ratio" a draft step / a plain target step. `nodes` are drafted tokens per
    round. `confidence`: "direct" (the source's own table), "direct-figure" or "secondary".
    """

    source: str
    url: str
    table: str
    quantity: str
    method: str
    target: str
    draft: str
    task: str
    temperature: str
    depth: int | None
    rank: int | None
    nodes: int | None
    setting: str
    value: float
    confidence: str
    note: str


@cache
def _all_facts() -> tuple[SystemFact, ...]:
    return csv_facts("systems.csv", SystemFact, counts=("depth", "rank", "nodes"))


def system_facts(
    quantity: Quantity | None = None,
    method: str | None = None,
    *,
    source: str | None = None,
    target: str | None = None,
    temperature: str | None = None,
) -> tuple[SystemFact, ...]:
    """The facts that ship with the package in the order of their file, filtered where something is given.

    >>> [fact.value for fact in system_facts("n_alpha", target="Vicuna 33B", temperature="0")]
    [0.74, 0.69, 0.67, 0.67, 0.66]
    """
    return tuple(
        fact
        for fact in _all_facts()
        if quantity in (None, fact.quantity)
        and method in (None, fact.method)
        and source in (None, fact.source)
        and target in (None, fact.target)
        and temperature in (None, fact.temperature)
    )


def one_fact(
    quantity: Quantity,
    method: str,
    *,
    source: str,
    target: str | None = None,
    temperature: str | None = None,
    setting: str | None = None,
) -> SystemFact:
    """The one fact that fits; ValueError if there is none or more than one.

    >>> one_fact("tokens_per_round", "EAGLE chain", source=EAGLE_1, target="Vicuna 7B").value
    3.2
    """
    found = [
        fact
        for fact in system_facts(
            quantity, method, source=source, target=target, temperature=temperature
        )
        if setting in (None, fact.setting)
    ]
    if len(found) != 1:
        raise ValueError(
            f"systems.csv must hold one {quantity} of {method} by {source} here; got {len(found)}."
        )
    return found[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTree:
    """A tree that ships with a system's code."""

    name: str
    source: str
    url: str
    tree: Tree


@cache
def published_tree(name: str) -> PublishedTree:
    """The tree "medusa-63" or "eagle-25", by the ranks on the way to each node.

    Raises ValueError for another name.

    >>> published_tree("eagle-25").tree.widths
    (4, 8, 8, 3, 2)
    """
    rows = csv_records("published_trees.csv")
    for row in rows:
        if row["tree"] == name:
            paths = [tuple(map(int, path.split("."))) for path in row["paths"].split()]
            return PublishedTree(
                name=name, source=row["source"], url=row["url"], tree=Tree.from_paths(paths)
            )
    raise ValueError(f"name must be one of {', '.join(row['tree'] for row in rows)}; got {name!r}.")
