"""Presets of systems that draft with heads or with trees, from published acceptance."""

from __future__ import annotations

from functools import cache

from analysis.systems.contexts import easy_and_hard
from analysis.systems.facts import (
    EAGLE_1,
    EAGLE_2,
    MEDUSA,
    one_fact,
    published_tree,
    system_facts,
)
from analysis.systems.rates import (
    medusa_rates,
    n_alpha,
    positional_vector,
    sibling_rates,
    solved,
)
from analysis.systems.system import Printed, System, exact_tokens
from analysis.trees.search import best_tree
from simulator import DynamicTree, RankAcceptance, Strategy, eagle, medusa

TARGET = "Vicuna 7B"
PROMPTS = f"{TARGET}, MT-Bench"
"""Target and text that most presets are printed for."""
RANKS = 10
"""Candidates of a node: the most that Medusa's tree and EAGLE-2 try."""
SPREAD = 0.3
"""How far the failures of EAGLE-2's contexts lie apart: assumed."""
_SEQUOIA_NODES, _SEQUOIA_DEPTH = 32, 8
_EAGLE_2_NODES, _EAGLE_2_DEPTH = 59, 6  # 60 tokens in a pass; five layers behind the first


def printed_by_eagle_2(method: str) -> Printed:
    """Tokens per round and speedup of Vicuna 7B on MT-Bench, as EAGLE-2's Table 1 has them."""
    tokens, gain = (
        one_fact(quantity, method, source=EAGLE_2, target=TARGET, temperature="0")
        for quantity in ("tokens_per_round", "speedup")
    )
    return Printed(
        tokens_per_round=tokens.value, speedup=gain.value, target=PROMPTS,
        source=f"{tokens.source}, {tokens.table}", url=tokens.url,
    )  # fmt: skip


@cache
def eagle_share(spread: float = 0.0) -> float:
    """What each further candidate takes of what is left, solved from the printed tree of 25 nodes."""
    tree = published_tree("eagle-25").tree
    printed = one_fact(
        "tokens_per_round", "EAGLE", source=EAGLE_1, target=TARGET, temperature="0"
    ).value

    def tokens(share: float) -> float:
        contexts = easy_and_hard(n_alpha(TARGET), spread=spread, share=share, ranks=RANKS)
        return exact_tokens(eagle(contexts=contexts, tree=tree))

    return solved(tokens, printed, high=0.5)


def medusa_system() -> System:
    """Five heads and the tree of 63 nodes that ships with Medusa."""
    accuracies = tuple((*row, *(0.0,) * (RANKS - len(row))) for row in medusa_rates())
    fact = system_facts("top_accuracy", "Medusa")[0]
    printed = printed_by_eagle_2("Medusa")
    return System(
        name="medusa",
        strategy=medusa(accuracies=accuracies, tree=published_tree("medusa-63").tree),
        origin="heads on the target's last state, each its own token",
        printed=printed,
        note=f"accuracies on training text ({MEDUSA}, {fact.table}); heads taken as independent, guesses "
        "behind the fifth, which are not published, as never right.",
    )


def eagle_chain_system() -> System:
    """Five tokens in a row, n-α as printed."""
    fact = one_fact("tokens_per_round", "EAGLE chain", source=EAGLE_1, target=TARGET)
    return System(
        name="eagle-chain",
        strategy=eagle(by_depth=n_alpha(TARGET)),
        origin="a layer on the target's features, token by token",
        printed=Printed(
            tokens_per_round=fact.value, target=PROMPTS, source=f"{EAGLE_1}, {fact.table}", url=fact.url
        ),
        note="acceptance by depth (n-α) as printed.",
    )  # fmt: skip


def eagle_tree_system() -> System:
    """The tree of 25 nodes that ships with EAGLE."""
    share = eagle_share()
    return System(
        name="eagle-tree",
        solved=True,
        strategy=eagle(
            ranks=sibling_rates(n_alpha(TARGET), share, RANKS), tree=published_tree("eagle-25").tree
        ),
        origin="a layer on the target's features, several tokens per depth",
        printed=printed_by_eagle_2("EAGLE"),
        note=f"first candidates: n-α as printed; each further one takes {share:.2f} of what is left, solved "
        "from the printed tokens.",
    )


def eagle_2_system() -> System:
    """EAGLE's head on a dynamic tree, predicted from the two above."""
    alphas = n_alpha(TARGET)
    deep = (*alphas, *(alphas[-1],) * (_EAGLE_2_DEPTH - len(alphas)))
    contexts = easy_and_hard(deep, spread=SPREAD, share=eagle_share(SPREAD), ranks=RANKS)
    tree = DynamicTree(nodes=_EAGLE_2_NODES, depth=_EAGLE_2_DEPTH, expand=RANKS)
    return System(
        name="eagle-2",
        strategy=eagle(contexts=contexts, tree=tree),
        origin="a layer on the target's features, the tree after its confidence",
        printed=printed_by_eagle_2("EAGLE-2"),
        note=f"predicted from EAGLE's n-α (the last one for the sixth depth) and candidates on a tree of "
        f"{_EAGLE_2_NODES} nodes; assumed: half the contexts fail {1 - SPREAD:g} times as often as usual, "
        f"half {1 + SPREAD:g} times.",
    )


def sequoia_system() -> System:
    """A draft model on the best tree of Sequoia's published vector."""
    vector = positional_vector()
    found = best_tree(vector, _SEQUOIA_NODES, max_depth=_SEQUOIA_DEPTH)
    return System(
        name="sequoia",
        strategy=Strategy(
            name="draft_model",
            draft=found.tree,
            acceptance=RankAcceptance.everywhere(vector, found.tree.gamma),
        ),
        origin="a small model, drawn without replacement",
        printed=Printed(target="models not stated",
                        source="Sequoia repository 2024, acceptance-rate-vector.pt",
                        url="https://github.com/Infini-AI-Lab/Sequoia"),
        note=f"the repository's vector at every depth, on its best tree of {_SEQUOIA_NODES} nodes up to "
        f"{_SEQUOIA_DEPTH} deep.",
    )  # fmt: skip
