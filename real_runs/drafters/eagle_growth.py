"""How an EAGLE head grows a tree: of fixed shape, or by its own confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from simulator._checks import FloatArray, IntArray
from simulator.models import Draft
from simulator.rules import Picked
from simulator.sampling import Sampling
from simulator.trees import ROOT, Tree

if TYPE_CHECKING:
    from real_runs.heads.eagle_draft import EagleDraft


def grow_static(
    head: EagleDraft,
    first: torch.Tensor,
    tree: Tree,
    length: int,
    vocabulary: int,
    *,
    picked: Picked,
    sampling: Sampling,
    rng: np.random.Generator,
) -> tuple[Draft, int]:
    """The nodes of `tree` down to depth `length`, level by level; the forwards that it took.

    `first` [n] are the logits behind the text. A chosen node has the token of its rank; a drawn one
    has that of its turn among its siblings, whatever its rank: a rule takes the second child for the
    second draw. A node for which the head's vocabulary, or what the sampling leaves of it, has no
    token is left out with all that follows it.
    """
    children = tree.children
    tokens: list[int] = []
    parents: list[int] = []
    rows: list[FloatArray] = []
    above = [(ROOT, ROOT)]  # nodes of the tree and their numbers in the draft
    grown: dict[int, int] = {ROOT: ROOT}  # number in the draft -> number among the head's nodes
    logits = first[None]
    steps = 0
    for depth in range(1, length + 1):
        level: list[tuple[int, int]] = []
        wanted = [(number, children[node + 1]) for node, number in above]
        columns = [
            [tree.ranks[child] for child in below]
            if picked == "chosen"
            else list(range(len(below)))
            for _, below in wanted
        ]
        candidates = _candidates(
            logits, [max(some) + 1 for some in columns], picked=picked, sampling=sampling, rng=rng
        )
        for (number, below), some, (places, likely) in zip(
            wanted, columns, candidates, strict=True
        ):
            row = None
            if likely is not None:
                row = np.zeros(vocabulary)
                row[head.tokens] = likely
            for child, column in zip(below, some, strict=True):
                if column >= len(places):
                    continue
                level.append((child, len(tokens)))
                tokens.append(int(head.tokens[places[column]]))
                parents.append(number)
                if row is not None:
                    rows.append(row)
        above = [(node, number) for node, number in level if children[node + 1]]
        if depth == length or not above:
            break
        numbers = [number for _, number in above]
        grown |= {number: place for place, number in enumerate(numbers, start=head.nodes)}
        logits = head.grow([tokens[n] for n in numbers], [grown[parents[n]] for n in numbers])
        steps += 1
    return Draft(
        tokens=np.array(tokens, dtype=np.int64),
        probs=None if picked == "chosen" else np.stack(rows),
        parents=np.array(parents, dtype=np.int64),
    ), steps


def _candidates(
    logits: torch.Tensor,
    counts: list[int],
    *,
    picked: Picked,
    sampling: Sampling,
    rng: np.random.Generator,
) -> list[tuple[IntArray, FloatArray | None]]:
    """Columns of the children behind each row [m, n], as many as asked for or possible.

    For drawn ones the distribution that they were drawn from.
    """
    if picked == "chosen":
        most = min(max(counts), logits.shape[1])
        top = logits.topk(most, dim=1).indices.cpu().numpy()
        return [(top[row, :count], None) for row, count in enumerate(counts)]
    found: list[tuple[IntArray, FloatArray | None]] = []
    for row, count in zip(logits.cpu().numpy(), counts, strict=True):
        likely = sampling.probabilities(row)
        possible = np.flatnonzero(likely)
        if picked == "drawn":
            places = rng.choice(likely.size, size=count, p=likely)
        else:  # successive draws without replacement: the order of exponential races
            races = rng.standard_exponential(possible.size) / likely[possible]
            places = possible[np.argsort(races)[:count]]
        found.append((places, likely))
    return found


def grow_dynamic(
    head: EagleDraft, first: torch.Tensor, length: int, *, nodes: int, expand: int
) -> tuple[Draft, int]:
    """The `nodes` likeliest of all that `length` levels offer; the forwards that it took.

    A candidate's value is the product of the head's probabilities on the way to it. Every level offers
    the `expand` likeliest tokens behind each node that was grown, and the `expand` of highest value
    among these grow on (Li et al. 2024b, EAGLE-2).
    """
    most = min(expand, first.shape[0])
    tokens: list[IntArray] = []  # of all candidates, level by level
    parents: list[IntArray] = []  # among all candidates
    values: list[FloatArray] = []
    logits = first[None]
    above = np.array([ROOT])  # candidates that were grown last
    worth = np.ones(1)
    places = np.array([ROOT])  # their numbers among the head's nodes
    count = steps = 0
    for depth in range(1, length + 1):
        likely, columns = torch.softmax(logits.double(), dim=1).topk(most, dim=1)
        offered = (worth[:, None] * likely.cpu().numpy()).ravel()
        level = head.tokens[columns.cpu().numpy().ravel()]
        behind = np.repeat(np.arange(above.size), most)
        tokens.append(level)
        parents.append(above[behind])
        values.append(offered)
        if depth == length:
            break
        best = np.argsort(-offered, kind="stable")[:most]
        logits = head.grow(level[best].tolist(), places[behind[best]].tolist())
        places = np.arange(head.nodes - best.size, head.nodes)
        above, worth = count + best, offered[best]
        count += level.size
        steps += 1
    # A child is worth no more than its parent and comes after it: the best are a tree.
    kept = np.sort(np.argsort(-np.concatenate(values), kind="stable")[:nodes])
    number = np.full(sum(map(len, tokens)) + 1, ROOT)  # the last entry is ROOT's own
    number[kept] = np.arange(kept.size)
    return Draft(
        tokens=np.concatenate(tokens)[kept].astype(np.int64),
        parents=number[np.concatenate(parents)[kept]].astype(np.int64),
    ), steps
