"""Published tokens per round and speedups of trees and heads, recomputed from the inputs that are printed.

One table is held to a limit: EAGLE's chains, whose inputs and results are printed for the same prompts. The
others are shown with what stands between their inputs and their results.
"""

from __future__ import annotations

from dataclasses import dataclass

from analysis.formulas import expected_tokens
from analysis.optimum import p_from_tokens
from analysis.output import Section
from analysis.published_load.errors import Compared, Errors, errors_of
from analysis.systems.facts import (
    EAGLE_1,
    EAGLE_2,
    HYDRA,
    LOOKAHEAD,
    MEDUSA,
    SEQUOIA,
    one_fact,
    published_tree,
    system_facts,
)
from analysis.systems.presets import CANDIDATES, NGRAM, WINDOW, pool_fit
from analysis.systems.rates import at_most, medusa_rates, n_alpha, positional_vector
from analysis.systems.system import exact_tokens
from analysis.trees.bounds import lookahead_tokens
from analysis.trees.values import tree_value
from simulator import eagle

CHAIN_LIMIT = 0.05
"""How far EAGLE's chains may be from what their acceptance by depth gives: relative."""
TARGETS = ("Vicuna 7B", "Vicuna 13B", "Vicuna 33B")
_RANKS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedCase:
    """A printed value beside what its printed inputs give.

    `limit` is the largest relative error that counts as agreement; None where no mark is set, and `reasons`
    say why. `solved` cases gave an input their value, and agree by construction.
    """

    table: str
    case: str
    printed: float
    predicted: float
    limit: float | None = None
    solved: bool = False
    reasons: tuple[str, ...] = ()

    @property
    def error(self) -> float:
        """predicted / printed − 1."""
        return self.predicted / self.printed - 1.0

    @property
    def holds(self) -> bool | None:
        """Whether the error is within the limit; None where there is none."""
        return None if self.limit is None else abs(self.error) <= self.limit


def printed_cases() -> tuple[PrintedCase, ...]:
    """EAGLE's chains, Medusa's tree, Sequoia's single sequences and Lookahead's candidates.

    >>> [round(case.error, 3) for case in printed_cases() if case.limit is not None]
    [0.034, 0.029, 0.001]
    """
    return (*eagle_chains(), *medusa_trees(), *sequoia_sequences(), *lookahead_candidates())


def eagle_chains() -> tuple[PrintedCase, ...]:
    """1 + Σ_k α_1 · … · α_k from n-α (Table 2) against the measured chains without a tree (Table 5)."""
    return tuple(
        PrintedCase(
            table="EAGLE, Table 5",
            case=f"chain of 5, {target}",
            printed=one_fact(
                "tokens_per_round", "EAGLE chain", source=EAGLE_1, target=target
            ).value,
            predicted=exact_tokens(eagle(by_depth=n_alpha(target))),
            limit=CHAIN_LIMIT,
        )
        for target in TARGETS
    )


def medusa_trees() -> tuple[PrintedCase, ...]:
    """The tree of 63 nodes under published accuracies; later guesses never right, or as often as can be."""
    tree, rates = published_tree("medusa-63").tree, medusa_rates()
    least = tree_value(tree, [(*row, *(0.0,) * (_RANKS - len(row))) for row in rates])
    most = tree_value(tree, at_most(rates, _RANKS))
    typical = system_facts("tokens_per_round", "Medusa", source=MEDUSA, target="Vicuna 7B")[0]
    greedy = [
        one_fact("tokens_per_round", "Medusa", source=source, target="Vicuna 7B", temperature="0")
        for source in (HYDRA, EAGLE_2)
    ]
    reasons = (
        "accuracies are of training text, not of these prompts",
        "heads are taken as independent",
        "guesses behind the fifth are not published",
    )
    kept = ("typical acceptance keeps more than equal tokens",)
    return tuple(
        PrintedCase(
            table=f"{fact.source}, {fact.table}, Vicuna 7B",
            case=f"{how}, guesses 6 to 10 {end}",
            printed=fact.value,
            predicted=value,
            reasons=(*(kept if fact is typical else ()), *reasons),
        )
        for fact, how in ((typical, "typical"), *((fact, "greedy") for fact in greedy))
        for end, value in (("never right", least), ("at most", most))
    )


def sequoia_sequences() -> tuple[PrintedCase, ...]:
    """Speedups of one sequence of 8 to 128 tokens: p solved from the first, and p of the repository."""
    facts = system_facts("speedup", "independent sequences", source=SEQUOIA)
    ratio = one_fact("cost_ratio", "independent sequences", source=SEQUOIA).value
    first = facts[0]
    depth = first.depth or 0
    solved_p = p_from_tokens(first.value * (1.0 + ratio * depth), depth)
    reasons = (
        "V(n) = 1 up to 129 tokens is assumed",
        "no acceptance is printed for this table",
        "the printed columns do not line up, so that a value may belong to another row",
    )
    return tuple(
        PrintedCase(
            table=f"{SEQUOIA}, {fact.table}, speedup of one sequence",
            case=f"{length} tokens, {words}",
            printed=fact.value,
            predicted=float(expected_tokens(p, length)) / (1.0 + ratio * length),
            solved=fact is first and p == solved_p,
            reasons=(*reasons, *other),
        )
        for p, words, other in (
            (solved_p, f"p = {solved_p:.3f} of the first", ()),
            (
                positional_vector()[0],
                f"p = {positional_vector()[0]:.3f}, repository",
                ("of which models the repository's vector is, is not stated",),
            ),
        )
        for fact in facts
        for length in [fact.depth or 0]
    )


def lookahead_candidates() -> tuple[PrintedCase, ...]:
    """Table 3: p from one candidate, then fifteen as if they were independent, and as a pool that can miss."""
    settings = (f"N={NGRAM} W=30 G=1", f"N={NGRAM} W={WINDOW} G={CANDIDATES}")
    one, many = (
        one_fact("tokens_per_round", "Lookahead", source=LOOKAHEAD, setting=setting).value
        for setting in settings
    )
    p, pool = p_from_tokens(one, NGRAM - 1), pool_fit()
    chains = float(lookahead_tokens(p, NGRAM, CANDIDATES))
    missing = float(lookahead_tokens(pool.p, NGRAM, CANDIDATES, hit=pool.hit))
    table = f"{LOOKAHEAD}, Table 3"
    together = (
        "n-grams of one pool are right together and wrong together, so that more of them add little"
    )
    return (
        PrintedCase(
            table=table,
            case=f"{settings[0]}, p = {p:.3f}",
            printed=one,
            predicted=float(lookahead_tokens(p, NGRAM, 1)),
            solved=True,
            reasons=("p is solved from its row at G = 1",),
        ),
        PrintedCase(
            table=table,
            case=f"{settings[1]}, independent",
            printed=many,
            predicted=chains,
            reasons=(together,),
        ),
        PrintedCase(
            table=table,
            case=f"{settings[1]}, p = {pool.p:.2f}, hit {pool.hit:.0%}",
            printed=many,
            predicted=missing,
            solved=True,
            reasons=(
                "a pool that misses (hit …) has p and hit rate solved from both rows: a reading, no test",
                "the rows differ in W too",
            ),
        ),
    )


def chain_errors() -> Errors:
    """The errors of EAGLE's chains together."""
    return errors_of(
        Compared(
            method="EAGLE chain", target=case.case, gamma=5, batch=1,
            measured=case.printed, predicted=case.predicted,
        )
        for case in eagle_chains()
    )  # fmt: skip


def printed_section() -> Section:
    """All cases as a table for `specdec published`."""
    return Section(
        name="systems",
        columns=(
            "systems_table", "case", "printed", "predicted", "error", "role", "limit", "holds", "why_no_mark",
        ),
        rows=tuple(
            (
                case.table, case.case, case.printed, case.predicted, round(case.error, 9),
                "solved" if case.solved else "predicted", case.limit, case.holds, "; ".join(case.reasons),
            )
            for case in printed_cases()
        ),
        too_wide=("role", "limit", "why_no_mark"),
        grouped=True,
    )  # fmt: skip


def printed_notes() -> tuple[str, ...]:
    """The reasons, once per table, for people who read the terminal."""
    reasons: dict[str, dict[str, None]] = {}
    for case in printed_cases():
        reasons.setdefault(case.table, {}).update(dict.fromkeys(case.reasons))
    tables: dict[tuple[str, ...], list[str]] = {}
    for table, why in reasons.items():
        if why:
            tables.setdefault(tuple(why), []).append(table)
    held = (
        f"EAGLE's chains are held to {CHAIN_LIMIT:.0%}: acceptance by depth and tokens per round are printed "
        "for the same prompts. The other tables of heads and trees have no mark:"
    )
    return (held, *(f"{' and '.join(names)}: {'; '.join(why)}." for why, names in tables.items()))
