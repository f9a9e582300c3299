"""Verification of a tree: which path of drafted tokens is kept, and which token follows it.

At every node the children are tried in the order in which they were drafted. How depends on the rule:

- speculative sampling (multi-round): child x is kept with probability min(1, R(x) / Q(x)), where R is
  the target at first; a rejection leaves R = norm(max(R - Q, 0)). For children drawn with replacement.
- without replacement: the same, and a rejected child is taken out of Q as well.
- one-hot, for children that came about in any way, chosen ones too: child x is kept with probability
  R(x); a rejection takes x out of R. Equal in law to sample-and-match, which draws from the target
  and looks the token up.
- greedy: the child that is the target's most likely token. Typical acceptance: every child that is
  likely enough; of all paths the longest wins, of equal ones the first.

If no child is kept the round ends with a token drawn from what R has become; behind a leaf it is drawn
from the target.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulator._checks import FloatArray, IntArray, Rng, as_array, as_generator
from simulator._inputs import check_rule
from simulator._rows import ProbabilityRows, Rows, as_rows
from simulator._siblings import judge_children
from simulator.rules import TREE_RULES, Rule
from simulator.trees import Tree

NAMES = frozenset(rule.name for rule in TREE_RULES)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeVerdict:
    """What became of a tree: the kept `path` as node numbers, and the token that follows it.

    `tested` counts the depths at which a child was judged: one more than were kept where the last
    kept node (or the root) has children of which none was.
    """

    path: tuple[int, ...]
    next_token: int
    tested: int


def verify_tree(
    target_probs: npt.ArrayLike,
    draft_probs: npt.ArrayLike | None,
    tokens: npt.ArrayLike,
    parents: npt.ArrayLike,
    *,
    rule: Rule,
    rng: Rng,
) -> TreeVerdict:
    """Judge one drafted tree by its probabilities.

    Node i has token tokens[i] and follows node parents[i], or the text where that is -1; both have
    shape [nodes]. target_probs [nodes + 1, vocabulary] says what follows the text (row 0) and what
    follows node i (row i + 1); draft_probs [nodes, vocabulary] what each node was drawn from, None for
    a rule that does not ask. Siblings stand in the order in which they were drawn and carry the
    distribution that the first of them was drawn from. Rows are divided by their sums in float64.

    Raises ValueError for a rule that cannot judge a tree, shapes that do not fit, parents that are no
    tree, rows that are no distributions, tokens outside the vocabulary, siblings of different
    distributions, and a tested token that its distribution cannot draw.

    >>> from simulator import one_hot
    >>> target = [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    >>> verify_tree(target, None, [0, 1, 2], [-1, -1, 0], rule=one_hot(), rng=1)
    TreeVerdict(path=(1,), next_token=0, tested=1)
    """
    check_rule(rule)
    check_tree_rule(rule)
    target = as_rows("target_probs", target_probs)
    draft = None if draft_probs is None else as_rows("draft_probs", draft_probs)
    above = as_array("parents", parents, "node numbers in a row, -1 for the text")
    if above.ndim != 1 or (above.size and above.dtype.kind not in "iu"):
        raise ValueError(
            "parents must be node numbers in a row, -1 for the text; "
            f"got {above.dtype} of shape {list(above.shape)}."
        )
    tree = Tree(parents=tuple(above.tolist()))
    if target.ndim != 2 or len(target) != tree.nodes + 1:
        raise ValueError(
            f"target_probs must have shape [{tree.nodes + 1}, vocabulary], the text's row and one per "
            f"node; got {list(target.shape)}."
        )
    shape = (tree.nodes, target.shape[1])
    if draft is not None and draft.shape != shape:
        raise ValueError(
            f"draft_probs must have shape {list(shape)}, one row per node; got {list(draft.shape)}."
        )
    found = _as_nodes(tokens, *shape)
    rows = None if draft is None else ProbabilityRows(draft)
    children = [list(below) for below in tree.children]
    if rule.needs_draft_probs and rows is not None:
        for below in filter(None, children):
            _common_row(rows, below)
    return judge_tree(
        ProbabilityRows(target), rows, found, children, rule=rule, rng=as_generator(rng)
    )


def judge_tree(
    target: Rows,
    draft: Rows | None,
    tokens: IntArray,
    children: list[list[int]],
    *,
    rule: Rule,
    rng: np.random.Generator,
) -> TreeVerdict:
    """Judge one tree. Row 0 of `target` follows the text, row i + 1 node i; row i of `draft` drew node i.

    `children` lists those of the root first, then those of every node. Raises ValueError for a rule
    that cannot judge a tree, for a rule that needs the draft's distributions where there are none, and
    for a child that its distribution cannot draw.
    """
    check_tree_rule(rule)
    if not rule.needs_draft_probs:
        draft = None
    elif draft is None and tokens.size:
        raise ValueError(
            f"draft_probs must be given: {rule.name} asks how likely the draft found its token."
        )
    if rule.name == "greedy":
        return follow(
            lambda row: int(target.most_likely(np.array([row]))[0]), tokens.tolist(), children
        )
    if rule.name == "typical_acceptance":
        return _longest_typical(target, tokens, children, rule)
    path: list[int] = []
    here = 0
    while True:
        below = children[here]
        probs = target.at(np.array([here]))
        drawn_from = None
        if draft is not None and below:
            drawn_from = _common_row(draft, below)
        kept, following = judge_children(
            probs, drawn_from, tokens[below][None], rule=rule, uniform=rng.random
        )
        if kept[0] < 0:
            return TreeVerdict(
                path=tuple(path), next_token=int(following[0]), tested=len(path) + bool(below)
            )
        path.append(below[int(kept[0])])
        here = path[-1] + 1


def check_tree_rule(rule: Rule) -> None:
    """ValueError for a rule that cannot judge a tree."""
    if rule.name not in NAMES:
        raise ValueError(
            f"rule must be one that can judge a tree, {', '.join(sorted(NAMES))}; got {rule.name}."
        )


def children_of(parents: IntArray) -> list[list[int]]:
    """Children of the root, then of every node, from parents [n] of which -1 is the root."""
    below: list[list[int]] = [[] for _ in range(len(parents) + 1)]
    for node, parent in enumerate(parents.tolist()):
        below[parent + 1].append(node)
    return below


def _as_nodes(tokens: npt.ArrayLike, nodes: int, vocabulary: int) -> IntArray:
    """Tokens of the vocabulary, one per node."""
    found = as_array("tokens", tokens, f"token numbers of shape [{nodes}]")
    if found.shape != (nodes,) or (nodes and found.dtype.kind not in "iu"):
        raise ValueError(
            f"tokens must be token numbers of shape [{nodes}], one per node; got {found.dtype} of "
            f"shape {list(found.shape)}."
        )
    if nodes and not (found.min() >= 0 and found.max() < vocabulary):
        raise ValueError(
            f"tokens must lie in [0, {vocabulary - 1}]; got {found.min()} to {found.max()}."
        )
    return found.astype(np.int64)


def _common_row(draft: Rows, below: list[int]) -> FloatArray:
    """The distribution that the first of these siblings was drawn from, [1, vocabulary].

    ValueError unless all carry it: rejecting one changes the odds of the next by its row.
    """
    first = draft.at(np.array(below[:1]))
    for node in below[1:]:
        if not np.array_equal(first, draft.at(np.array([node]))):
            raise ValueError(
                "siblings must carry one distribution, that which the first of them was drawn from; "
                f"nodes {below[0]} and {node} differ."
            )
    return first


def follow(
    most_likely: Callable[[int], int], tokens: list[int], children: list[list[int]]
) -> TreeVerdict:
    """The path of the target's most likely tokens, asked for row by row."""
    path: list[int] = []
    here = 0
    while True:
        wanted = most_likely(here)
        node = next((node for node in children[here] if tokens[node] == wanted), None)
        if node is None:
            tested = len(path) + bool(children[here])
            return TreeVerdict(path=tuple(path), next_token=wanted, tested=tested)
        path.append(node)
        here = node + 1


def _longest_typical(
    target: Rows, tokens: IntArray, children: list[list[int]], rule: Rule
) -> TreeVerdict:
    """The longest path of tokens that are likely enough behind each other."""
    paths: list[tuple[int, ...]] = [()]  # of the nodes that are reached, by breadth
    best: tuple[int, ...] = ()
    deepest = 0
    while paths:
        path = paths.pop(0)
        best = max(best, path, key=len)  # of equal ones the first
        here = path[-1] + 1 if path else 0
        below = children[here]
        if not below:
            continue
        deepest = max(deepest, len(path) + 1)
        probs = target.at(np.array([here]))[0].astype(np.float64)
        limit = min(rule.epsilon, rule.delta * float(np.exp(-_entropy(probs))))
        paths += [(*path, node) for node in below if probs[tokens[node]] > limit]
    following = int(target.most_likely(np.array([best[-1] + 1 if best else 0]))[0])
    return TreeVerdict(path=best, next_token=following, tested=min(deepest, len(best) + 1))


def _entropy(probs: FloatArray) -> float:
    """In nats."""
    positive = probs[probs > 0.0]
    return float(-(positive * np.log(positive)).sum())
