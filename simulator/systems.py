"""Builders of the article's other systems, and of their relatives: all of them one kind of value."""

from __future__ import annotations

from collections.abc import Sequence

from simulator._checks import as_count
from simulator._rates import as_rates, as_row
from simulator.drafts import MAX_GAMMA
from simulator.dynamic_tree import DynamicTree, best_by_value
from simulator.mixtures import HitMiss, Process
from simulator.parallel_candidates import ParallelCandidates
from simulator.strategies import Strategy, chain_strategy
from simulator.tree_acceptance import (
    Context,
    ContextMixture,
    RankAcceptance,
    TreeAcceptance,
    as_contexts,
    round_kind,
)
from simulator.trees import MAX_NODES, Tree


def medusa(
    *,
    accuracies: Sequence[Sequence[float]] | RankAcceptance,
    tree: Tree | None = None,
    nodes: int | None = None,
    vocabulary: int | None = None,
) -> Strategy:
    """Heads on the target's last hidden state guess one depth each; the target verifies a tree of guesses.

    accuracies[k][r] is the chance that exactly guess r of head k is right, shape [heads][ranks]
    or a `RankAcceptance` (its `from_top_k` takes printed top-k accuracies), as independent across
    heads. Give the `tree`, or `nodes` for the tree that Medusa's own rule grows: always the node of
    the highest product of accuracies that hangs on the tree (Cai et al. 2024). All heads together are
    one draft step. Raises ValueError for ranks that sum above 1, for a tree that needs more heads or
    ranks, and for more candidates than `vocabulary`, where that is given.

    >>> medusa(accuracies=((0.6, 0.2), (0.4, 0.1)), nodes=3).draft.paths
    ((0,), (1,), (0, 0))
    """
    law = _rank_acceptance("accuracies", accuracies)
    if (tree is None) == (nodes is None):
        got = "neither" if tree is None else "both"
        raise ValueError(f"medusa needs a tree or nodes, one of them; got {got}.")
    if nodes is not None:
        tree = _medusas_own(law, as_count("nodes", nodes, least=1, most=MAX_NODES))
    if not isinstance(tree, Tree):
        raise ValueError(f"tree must be a Tree; got {tree!r}.")
    round_kind("accuracies", 1.0, law.by_depth, tree)  # refuses what no accuracy is known of
    _check_candidates(tree, vocabulary)
    return Strategy(name="medusa", draft=tree, acceptance=law, steps="one")


def eagle(
    *,
    by_depth: Sequence[float] | None = None,
    ranks: Sequence[Sequence[float]] | RankAcceptance | None = None,
    contexts: Sequence[Context] | None = None,
    tree: Tree | DynamicTree | None = None,
    vocabulary: int | None = None,
) -> Strategy:
    """A small head drafts feature by feature behind the target's own: a chain, a fixed or a dynamic tree.

    One law of acceptance: `by_depth`, the n-α of the papers, makes a chain, [gamma]; `ranks`, rates by
    depth and rank, [depths][ranks], or a `RankAcceptance`; `contexts`, types of context each with such
    rates, the stated law of a dynamic tree. The last two need the `tree`. Every depth is a draft step
    (Li et al. 2024). Raises ValueError for rates above 1 in sum, for a tree with nodes of which the law
    says nothing, and for more candidates than `vocabulary`, where that is given.

    >>> eagle(by_depth=(0.79, 0.74, 0.72)).draft_steps
    3
    >>> eagle(ranks=((0.7, 0.1), (0.6, 0.1)), tree=Tree.from_widths([2, 1])).verified_tokens
    5
    """
    given = [law for law in (by_depth, ranks, contexts) if law is not None]
    if len(given) != 1:
        raise ValueError(
            f"eagle needs by_depth, ranks or contexts, one of them; got {len(given)} of them."
        )
    if by_depth is not None:
        _check_candidates(Tree.chain(1), vocabulary)
        if tree is not None:
            raise ValueError(
                "by_depth makes a chain, a tree needs ranks or contexts; got by_depth and tree."
            )
        return chain_strategy("eagle", by_depth=by_depth)
    if not isinstance(tree, Tree | DynamicTree):
        raise ValueError(
            f"tree must be a Tree or a DynamicTree beside ranks or contexts; got {tree!r}."
        )
    law: TreeAcceptance
    if contexts is not None:
        law = ContextMixture(contexts=as_contexts(contexts))
    else:
        law = _rank_acceptance("ranks", () if ranks is None else ranks)
        round_kind("ranks", 1.0, law.by_depth, tree)  # refuses what no rate is known of
    _check_candidates(tree, vocabulary)
    return Strategy(name="eagle", draft=tree, acceptance=law)


def lookahead(
    *,
    window: int,
    ngram: int,
    candidates: int,
    p: float | None = None,
    by_depth: Sequence[float] | None = None,
    hit: float = 1.0,
    vocabulary: int | None = None,
) -> Strategy:
    """No draft model: `candidates` n-grams from a pool are verified beside a window that makes new ones.

    An n-gram of N = `ngram` tokens begins with the text's last one, so that a candidate has N - 1; the
    window of W = `window` tokens at N - 1 levels rides along, (W + G)(N - 1) tokens in all behind the
    text's last, as the authors count (`real_runs.drafters.Lookahead` needs one less: its window begins
    with the text's last token). A round finds its candidates in the pool with probability `hit`.
    Acceptance of a candidate as in `ParallelCandidates`, independent between candidates, which real
    n-grams are not (Fu et al. 2024). Raises ValueError for window, ngram or candidates below 1, and for more
    candidates than `vocabulary` has n-grams, where that is given.

    >>> strategy = lookahead(p=0.5, window=15, ngram=5, candidates=15)
    >>> strategy.draft_steps, strategy.draft.gamma, strategy.verified_tokens
    (0, 4, 121)
    """
    window = as_count("window", window, least=1)
    ngram = as_count("ngram", ngram, least=1, most=MAX_GAMMA + 1)
    candidates = as_count("candidates", candidates, least=1, most=MAX_NODES)
    length = ngram - 1
    if vocabulary is not None:
        vocabulary = as_count("vocabulary", vocabulary, least=1)
        if candidates > vocabulary**length:
            raise ValueError(
                f"candidates must be at most the {vocabulary**length} n-grams that {vocabulary} tokens "
                f"make behind one; got {candidates}."
            )
    rates = None if by_depth is None else as_row("by_depth", by_depth)
    law = ParallelCandidates(p=p, by_depth=rates, candidates=candidates, hit=hit)
    tree = Tree.sequences(candidates, length) if length else Tree(parents=())
    return Strategy(
        name="lookahead",
        draft=tree,
        acceptance=law,
        steps="none",
        extra_nodes=window * length,
    )


def prompt_lookup(
    *,
    gamma: int,
    coverage: float | None = None,
    p: float | None = None,
    acceptance: Process | None = None,
) -> Strategy:
    """The continuation of an earlier occurrence of the text's last tokens is the draft: no draft step.

    A round finds one with probability `coverage`, and its tokens are then kept with `p` each, given
    that they are tested; otherwise the round is plain. Any other process, such as a `HitMiss` whose
    finds are right or wrong as a whole or a `TraceReplay`, goes in as `acceptance`. Raises ValueError
    for values outside [0, 1] and for both forms or half of one.

    >>> prompt_lookup(gamma=8, coverage=0.3, p=0.9).draft_steps
    0
    """
    if acceptance is None:
        if coverage is None or p is None:
            raise ValueError(
                "prompt_lookup needs coverage and p (or a process as acceptance); got coverage "
                f"{coverage!r} and p {p!r}."
            )
        acceptance = HitMiss(coverage=coverage, right=1.0, p_right=p, p_wrong=0.0)
    elif coverage is not None or p is not None:
        raise ValueError("prompt_lookup needs coverage and p or acceptance, not both; got both.")
    return chain_strategy("prompt_lookup", steps="none", gamma=gamma, acceptance=acceptance)


def mtp(
    *,
    by_depth: Sequence[float] | None = None,
    p: float | None = None,
    gamma: int | None = None,
    acceptance: Process | None = None,
) -> Strategy:
    """Modules trained with the target predict tokens one after the other: a chain, a step per depth.

    What sets it apart is its own cost per step and its acceptance by depth (DeepSeek-AI 2024). Laws and
    errors as for `draft_model`.

    >>> mtp(by_depth=(0.85, 0.8)).draft_steps
    2
    """
    return chain_strategy("mtp", by_depth=by_depth, p=p, gamma=gamma, acceptance=acceptance)


def block(
    *,
    by_depth: Sequence[float] | None = None,
    p: float | None = None,
    gamma: int | None = None,
    acceptance: Process | None = None,
) -> Strategy:
    """A drafter that writes all its tokens at once: a chain of gamma tokens for one draft step.

    Laws and errors as for `draft_model`.

    >>> block(p=0.7, gamma=8).draft_steps
    1
    """
    return chain_strategy(
        "block", steps="one", by_depth=by_depth, p=p, gamma=gamma, acceptance=acceptance
    )


def _rank_acceptance(
    name: str, given: Sequence[Sequence[float]] | RankAcceptance
) -> RankAcceptance:
    if isinstance(given, RankAcceptance):
        return given
    return RankAcceptance(by_depth=as_rates(name, given))


def _medusas_own(law: RankAcceptance, nodes: int) -> Tree:
    tree = best_by_value("accuracies", law.by_depth, nodes=nodes, expand=nodes)
    if tree.nodes < nodes:
        raise ValueError(
            f"nodes must be at most the {tree.nodes} that these accuracies make; got {nodes}."
        )
    return tree


def _check_candidates(tree: Tree | DynamicTree, vocabulary: int | None) -> None:
    if vocabulary is None:
        return
    vocabulary = as_count("vocabulary", vocabulary, least=1)
    # A child of rank r is the (r + 1)-th candidate, whether or not those before it are in the tree.
    most = tree.expand if isinstance(tree, DynamicTree) else 1 + max(tree.ranks, default=-1)
    if most > vocabulary:
        raise ValueError(
            f"a node must have at most {vocabulary} candidates, the vocabulary; got {most} in the tree."
        )
