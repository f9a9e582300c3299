"""The systems behind a choice: presets, and what the visitor made of them. No Streamlit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from analysis.predicted_pass import predict_pass
from analysis.systems.contexts import easy_and_hard
from analysis.systems.curves import curve_by_name, depth_rates
from analysis.systems.facts import published_tree
from analysis.systems.head_presets import RANKS
from analysis.systems.presets import preset_names, preset_system
from analysis.systems.rates import (
    Rates,
    at_most,
    medusa_rates,
    n_alpha,
    positional_vector,
    sibling_rates,
)
from analysis.systems.system import PassVerifyCost, Printed, System, SystemCosts
from analysis.trees.search import best_tree
from app_pages.systems.choice import Choice
from app_pages.systems.fields import system_keys
from simulator import (
    DynamicTree,
    RankAcceptance,
    Strategy,
    Tree,
    block,
    draft_model,
    eagle,
    lookahead,
    medusa,
    mtp,
    prompt_lookup,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """All systems in the order of tables, and a sentence for each that could not be built as chosen."""

    systems: tuple[System, ...]
    problems: tuple[str, ...] = ()


def all_systems(choice: Choice) -> Built:
    """Every system as chosen; where its numbers fit no draft, the preset and the sentence that says why."""
    systems, problems = [], []
    for name in preset_names():
        try:
            systems.append(one_system(choice, name))
        except ValueError as error:
            systems.append(preset(name))
            problems.append(f"{name}: {error} The preset is shown.")
    return Built(systems=tuple(systems), problems=tuple(problems))


def one_system(choice: Choice, name: str) -> System:
    """One system as chosen. Raises ValueError in a sentence for numbers that fit no draft."""
    usual = preset(name)
    if is_preset(choice, name):
        return usual
    return replace(
        usual,
        strategy=strategy_of(choice, name),
        printed=Printed(target=usual.printed.target),
        solved=False,
        note="as set on the page of systems; the rest as in the preset.",
    )


def is_preset(choice: Choice, name: str) -> bool:
    """True where nothing of a system was changed."""
    changed = {key for key, _ in choice.changed}
    return changed.isdisjoint(system_keys(name))


@cache
def preset(name: str) -> System:
    """A preset by name."""
    return preset_system(name)


def strategy_of(choice: Choice, name: str) -> Strategy:
    """A system's way of drafting from its numbers and words, the preset's where they are as they were."""
    return _BUILDERS[name](choice)


def costs_of(choice: Choice, passes: PassVerifyCost) -> dict[str, SystemCosts]:
    """What a round costs, by system: one cost ratio for all but those that have their own."""
    own = dict(choice.own)
    return {
        name: SystemCosts(
            cost_ratio=own.get(name, choice.cost_ratio),
            verify_cost=passes,
            overhead=choice.overhead,
        )
        for name in preset_names()
    }


def pass_cost(choice: Choice) -> PassVerifyCost:
    """V(n) as chosen: of a machine as predicted, or a straight line."""
    if choice.passes == "slope":
        slope = choice.slope

        def line(width: int) -> float:
            return 1.0 + slope * (width - 1)

        return line
    runs = choice.runs
    cost = predict_pass(
        runs.target, runs.machine, weight_bits=runs.weight_bits, kv_bits=runs.kv_bits
    )

    def predicted(width: int) -> float:
        return float(cost.verify_cost(width, runs.batch, runs.context))

    return predicted


def medusa_accuracies(choice: Choice) -> Rates:
    """Accuracies of the chosen heads by rank, [heads][10 ranks]."""
    rows = medusa_rates()[: choice.count("heads")]
    if choice.word("mrates") == "most":
        return at_most(rows, RANKS)
    return tuple((*row, *(0.0,) * (RANKS - len(row))) for row in rows)


def eagle_alphas(choice: Choice) -> tuple[float, ...]:
    """n-α of the chosen target and temperature."""
    target, _, temperature = choice.word("alpha").rpartition(" ")
    return n_alpha(target, temperature)


def _draft_model(choice: Choice) -> Strategy:
    return draft_model(p=choice.number("dmp"), gamma=choice.count("dmg"))


def _prompt_lookup(choice: Choice) -> Strategy:
    return prompt_lookup(
        gamma=choice.count("plg"), coverage=choice.number("cover"), p=choice.number("plp")
    )


def _lookahead(choice: Choice) -> Strategy:
    return lookahead(
        window=choice.count("window"), ngram=choice.count("ngram"), candidates=choice.count("cands"),
        p=choice.number("lap"), hit=choice.number("hit"),
    )  # fmt: skip


def _medusa(choice: Choice) -> Strategy:
    accuracies = medusa_accuracies(choice)
    if choice.word("mtree") == "grown":
        return medusa(accuracies=accuracies, nodes=choice.count("mnodes"))
    paths = published_tree("medusa-63").tree.paths
    tree = Tree.from_paths([path for path in paths if len(path) <= len(accuracies)])
    return medusa(accuracies=accuracies, tree=tree)


def _eagle_chain(choice: Choice) -> Strategy:
    return eagle(by_depth=eagle_alphas(choice)[: choice.count("ecg")])


def _eagle_tree(choice: Choice) -> Strategy:
    ranks = sibling_rates(eagle_alphas(choice), choice.number("tail"), RANKS)
    if choice.word("etree") == "best":
        return eagle(ranks=ranks, tree=best_tree(ranks, choice.count("enodes"), gaps=True).tree)
    return eagle(ranks=ranks, tree=published_tree("eagle-25").tree)


def _eagle_2(choice: Choice) -> Strategy:
    alphas, depth = eagle_alphas(choice), choice.count("e2depth")
    deep = (*alphas, *(alphas[-1],) * (depth - len(alphas)))[:depth]
    contexts = easy_and_hard(
        deep, spread=choice.number("spread"), share=choice.number("tail2"), ranks=RANKS
    )
    tree = DynamicTree(nodes=choice.count("e2nodes"), depth=depth, expand=choice.count("e2top"))
    return eagle(contexts=contexts, tree=tree)


def _sequoia(choice: Choice) -> Strategy:
    vector = positional_vector()
    tree = best_tree(vector, choice.count("sqnodes"), max_depth=choice.count("sqdepth")).tree
    law = RankAcceptance.everywhere(vector, tree.gamma)
    return Strategy(name="draft_model", draft=tree, acceptance=law)


def _mtp(choice: Choice) -> Strategy:
    return mtp(by_depth=_curve(choice, "mtp")[: choice.count("mtpg")])


def _block(choice: Choice) -> Strategy:
    return block(by_depth=_curve(choice, "blk")[: choice.count("blkg")])


def _curve(choice: Choice, key: str) -> tuple[float, ...]:
    return depth_rates(curve_by_name(choice.word(key)))


_BUILDERS: dict[str, Callable[[Choice], Strategy]] = {
    "draft-model": _draft_model,
    "prompt-lookup": _prompt_lookup,
    "lookahead": _lookahead,
    "medusa": _medusa,
    "eagle-chain": _eagle_chain,
    "eagle-tree": _eagle_tree,
    "eagle-2": _eagle_2,
    "sequoia": _sequoia,
    "mtp": _mtp,
    "block": _block,
}
