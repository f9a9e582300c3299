"""Tokens per round of trees and of chains side by side, from acceptance by rank or by depth."""

from __future__ import annotations

import math
from collections.abc import Iterable

from analysis.optimum import p_from_tokens
from analysis.published.prediction import Family, Prediction
from analysis.published.rows import PublishedRow, published_rows, value_of
from analysis.systems.facts import EAGLE_1, LOOKAHEAD, published_tree
from analysis.systems.head_presets import RANKS, eagle_share
from analysis.systems.published import medusa_trees
from analysis.systems.rates import positional_vector, sibling_rates
from analysis.systems.system import exact_tokens
from analysis.trees.bounds import lookahead_tokens
from analysis.trees.search import best_tree
from simulator import eagle

SPECINFER, SEQUOIA = "SpecInfer 2023", "Sequoia repository 2024"
BEFORE, BEHIND = 2, 6
"""SpecInfer's tree <1, 1, k, 1, …, 1>: chains of two before the branching, of six from it on."""
DRAFT_TIME, PASS_TIMES = 0.3, ((1, 10.0), (2, 10.0), (4, 10.0), (8, 12.0), (16, 14.0), (32, 18.0))
"""demo-config.json of Sequoia: a draft step, and passes over so many tokens, the root among them."""
_SPECTR_CHAINS = 8
_DEEPEST = 8


def trees_from_rates() -> Family:
    """Printed acceptance by rank or by depth put through the tree (Sequoia, proposition 3.4)."""
    given = [
        row.number
        for row in published_rows()
        if (row.source == SPECINFER and row.table == "Table 1" and row.temperature == "0")
        or row.note == "accuracies of five heads, best 1 to 5"
    ]
    return Family(
        name="trees from rates",
        kind="prediction",
        asks="do acceptances by depth or by rank give tokens per round?",
        misses="acceptance that depends on what was accepted before, or is of other text than the run",
        predictions=(*_eagle(), *_success_rates(), *_medusa(), *_demo()),
        inputs=frozenset(given),
    )


def trees_from_other_text() -> Family:
    """Multi-step sampling in SpecInfer's tree: p from one chain, the gain of k children from other texts."""
    return Family(
        name="width from other text",
        kind="prediction",
        asks="is what a wider tree gains a property of the pair of models, the same on other text?",
        misses="gains of width that depend on the text",
        predictions=tuple(_multi_step()),
    )


def candidates_as_independent() -> Family:
    """Several drafts side by side as if each failed by itself, E = γ + 1 − Σ (1 − p^i)^G."""
    rows = [
        row
        for row in published_rows()
        if (row.source == LOOKAHEAD and row.note == "N=5 W=30 G=1")
        or (row.source == "SpecTr 2023" and row.method == "draft model")
    ]
    return Family(
        name="candidates as if independent",
        kind="prediction",
        asks="are drafts side by side right and wrong independently of each other?",
        misses="they follow one text and fail together: this assumption is wrong, and shows by how much",
        predictions=tuple(_independent()),
        inputs=frozenset(row.number for row in rows),
    )


def branching_tokens(p: float, wide: float) -> float:
    """Tokens per round of SpecInfer's tree: one child with p everywhere, k children together with `wide`.

    1 + p + p² + p² · wide · (1 + p + … + p⁵).

    >>> branching_tokens(0.5, 0.5)  # a chain of eight
    1.99609375
    """
    chain = math.fsum(p**i for i in range(BEHIND))
    return 1.0 + math.fsum(p**i for i in range(1, BEFORE + 1)) + p**BEFORE * wide * chain


def wide_from_tokens(p: float, tokens_per_round: float) -> float:
    """The `wide` at which `branching_tokens` gives these tokens per round.

    >>> round(wide_from_tokens(0.5, branching_tokens(0.5, 0.8)), 12)
    0.8
    """
    narrow = branching_tokens(p, 0.0)
    return (tokens_per_round - narrow) / (branching_tokens(p, 1.0) - narrow)


def _eagle() -> Iterable[Prediction]:
    tree, share = published_tree("eagle-25").tree, eagle_share()
    for row in published_rows(EAGLE_1):
        if not row.rates_by_depth:
            continue
        if row.method == "EAGLE chain":
            predicted = exact_tokens(eagle(by_depth=row.rates_by_depth))
            inputs = "acceptance by depth of the chain"
        else:
            rates = sibling_rates(row.rates_by_depth, share, RANKS)
            predicted = exact_tokens(eagle(ranks=rates, tree=tree))
            inputs = "acceptance by depth of chains, share of siblings from Vicuna 7B on MT-Bench"
        solved = (row.table, row.method, row.target, row.temperature) == (
            "Table 2", "EAGLE", "Vicuna 7B", "0",
        )  # fmt: skip
        yield Prediction(
            row=row, quantity="tokens_per_round", printed=value_of(row.tokens_per_round),
            predicted=predicted, inputs=inputs, group=f"EAGLE, {row.target}", fitted=solved,
        )  # fmt: skip


def _success_rates() -> Iterable[Prediction]:
    rates = {
        (row.task, row.width): value_of(row.p)
        for row in published_rows(SPECINFER, "Table 1")
        if row.temperature == "0"
    }
    for row in published_rows(SPECINFER, "Table 2"):
        if row.temperature == "0":
            yield Prediction(
                row=row, quantity="tokens_per_round", printed=value_of(row.tokens_per_round),
                predicted=branching_tokens(rates[row.task, 1], rates[row.task, row.width]),
                inputs="success rates of the best 1 and the best k", group=f"SpecInfer, {row.task}",
            )  # fmt: skip


def _medusa() -> Iterable[Prediction]:
    least = medusa_trees()[0].predicted
    for row in published_rows():
        greedy = row.source in {"Hydra 2024", "EAGLE-2 2024"} and row.task == "MT-Bench"
        known = greedy or row.source == "Medusa repository 2023" or row.task == "OVERALL"
        if row.method == "Medusa" and row.target.startswith("Vicuna 7B") and known:
            if row.temperature == "1" or row.tokens_per_round is None:
                continue
            yield Prediction(
                row=row, quantity="tokens_per_round", printed=row.tokens_per_round, predicted=least,
                inputs="accuracies of the heads on training text, the tree of 63", group="Medusa's heads",
            )  # fmt: skip


def _demo() -> Iterable[Prediction]:
    for row in published_rows(SEQUOIA):
        yield Prediction(
            row=row, quantity="nodes", printed=float(value_of(row.nodes)), predicted=float(demo_nodes()),
            inputs="acceptance by rank, times of drafts and passes", group=SEQUOIA,
        )  # fmt: skip


def demo_nodes() -> int:
    """Drafted tokens of the fastest tree for Sequoia's demo: time / F, over the sizes that are timed.

    A tree of n nodes with d levels below the root takes (d + 1) · draft time + pass(n) (its search).
    """
    rates = positional_vector()
    speeds = {}
    for size, seconds in PASS_TIMES[1:]:
        for depth in range(1, min(size - 1, _DEEPEST) + 1):
            found = best_tree(rates, size - 1, max_depth=depth)
            speeds[size - 1, depth] = found.tokens_per_round / (seconds + (depth + 1) * DRAFT_TIME)
    return max(speeds, key=lambda at: speeds[at])[0]


def _multi_step() -> Iterable[Prediction]:
    rows = [row for row in published_rows(SPECINFER) if row.method.endswith("multi-step sampling")]
    chains = {row.task: p_from_tokens(value_of(row.tokens_per_round), BEFORE + BEHIND)
              for row in rows if row.width == 1}  # fmt: skip
    for row in rows:
        p = chains[row.task]
        same = [other for other in rows if other.width == row.width and other.table == "Table 2"]
        gains = [
            wide_from_tokens(chains[other.task], value_of(other.tokens_per_round))
            - chains[other.task]
            for other in same
            if other.task != row.task
        ]
        wide = p if row.width == 1 else p + math.fsum(gains) / len(gains)
        yield Prediction(
            row=row, quantity="tokens_per_round", printed=value_of(row.tokens_per_round),
            predicted=branching_tokens(p, wide), inputs="its chain's tokens, gain of k children on other text",
            group=f"SpecInfer, {row.task}", fitted=row.width == 1,
            guess=branching_tokens(p, p),
        )  # fmt: skip


def _independent() -> Iterable[Prediction]:
    table = {row.note: row for row in published_rows(LOOKAHEAD, "Table 3")}
    yield _of_chains(table["N=5 W=15 G=15"], table["N=5 W=30 G=1"], gamma=4, count=15)
    rows = {row.method: row for row in published_rows("SpecTr 2023")}
    yield _of_chains(
        rows["SpecTr, 8 drafts"], rows["draft model"], gamma=rows["draft model"].gamma or 0,
        count=_SPECTR_CHAINS,
    )  # fmt: skip


def _of_chains(row: PublishedRow, single: PublishedRow, *, gamma: int, count: int) -> Prediction:
    known = value_of(single.tokens_per_round)
    return Prediction(
        row=row, quantity="tokens_per_round", printed=value_of(row.tokens_per_round),
        predicted=float(lookahead_tokens(p_from_tokens(known, gamma), gamma + 1, count)),
        inputs=f"tokens per round of one draft; {count} independent", group=row.source, guess=known,
    )  # fmt: skip
