"""How well heads guess, on text that they were not trained on: the rank of every token.

Under greedy decoding the text is what the target says, so a node of a draft tree is kept exactly if
every token on its path is the text's. Ranks along the text therefore give the value of every tree
at once: heads are judged where the tree's tokens would be the text's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from real_runs.heads.eagle_head import EagleHead
from real_runs.heads.medusa_heads import MedusaHeads
from real_runs.heads.rows import Rows
from real_runs.heads.target_layers import places_of
from simulator._checks import FloatArray, IntArray, as_count

WORST = 1 << 20
"""The rank of a token that heads do not draft from: behind every one."""
_AT_ONCE = 1024  # positions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeldOutRanks:
    """`ranks` [positions, depths]: 0 where the text's token was the likeliest of the draft, and so on.

    Row by row a place where a round may begin: the target's own next token is given, then come the
    drafted ones. An EAGLE head reads the text's tokens and its own estimates of the states.
    """

    ranks: IntArray

    @property
    def depths(self) -> int:
        """How far ahead was judged."""
        return int(self.ranks.shape[1])

    def accuracies(self, most: int) -> FloatArray:
        """P(the token at a depth has rank r), whatever came before it: shape [depths, most].

        Sums over ranks are top-k accuracies.

        >>> HeldOutRanks(ranks=np.array([[0, 1], [0, 0], [2, 5], [1, 0]])).accuracies(2)
        array([[0.5 , 0.25],
               [0.5 , 0.25]])
        """
        most = as_count("most", most, least=1)
        return np.stack([(self.ranks == rank).mean(axis=0) for rank in range(most)], axis=1)

    def kept_accuracies(self, most: int) -> FloatArray:
        """The same, given that all tokens before it were among the `most` likeliest: [depths, most].

        Zeros where no position came that far.
        """
        most = as_count("most", most, least=1)
        rows = np.zeros((self.depths, most))
        alive = np.ones(len(self.ranks), dtype=bool)
        for depth in range(self.depths):
            ranks = self.ranks[alive, depth]
            if len(ranks):
                rows[depth] = [(ranks == rank).mean() for rank in range(most)]
            alive &= self.ranks[:, depth] < most
        return rows

    def chain(self) -> tuple[IntArray, IntArray]:
        """Tested and accepted tokens by depth for a chain of the likeliest: n-α is their ratio.

        >>> HeldOutRanks(ranks=np.array([[0, 1], [0, 0], [2, 5], [1, 0]])).chain()
        (array([4, 2]), array([2, 1]))
        """
        kept = np.cumprod(self.ranks == 0, axis=1).sum(axis=0)
        tested = np.concatenate([[len(self.ranks)], kept[:-1]])
        return tested.astype(np.int64), kept.astype(np.int64)

    def tokens_per_round(self, paths: Sequence[tuple[int, ...]]) -> float:
        """1 + accepted tokens of a tree whose nodes are given as paths of ranks from the root.

        At most one path matches a text at each depth, so the mean length is the sum over nodes of how
        often their path does. Raises ValueError for a node deeper than was judged, one whose parent is
        missing, and one that is there twice.

        >>> HeldOutRanks(ranks=np.array([[0, 1], [0, 0]])).tokens_per_round([(0,), (0, 0)])
        2.5
        """
        nodes = set(paths)
        if len(nodes) < len(paths):
            raise ValueError("paths must name every node once; one is there twice.")
        total = 1.0
        for path in paths:
            if not 1 <= len(path) <= self.depths:
                raise ValueError(
                    f"paths must have 1 to {self.depths} ranks, as many as were judged; got {path}."
                )
            if len(path) > 1 and path[:-1] not in nodes:
                raise ValueError(f"paths must hold the parent of every node; {path} has none.")
            total += float((self.ranks[:, : len(path)] == path).all(axis=1).mean())
        return total


@torch.inference_mode()
def medusa_ranks(heads: MedusaHeads, rows: Rows, *, vocabulary: int) -> HeldOutRanks:
    """Ranks of the tokens that the target wrote, for every head, where all heads have one.

    Raises ValueError for texts that are too short for the last head.
    """
    count = heads.shape.heads
    index = np.arange(int(rows.starts[-1]))
    usable = index + 1 + count < rows.ends()
    usable[:-1] &= rows.written()[1:]
    positions = torch.from_numpy(np.flatnonzero(usable))
    if not len(positions):
        raise ValueError(f"held-out texts must have {count + 2} tokens of the target at least.")
    places = torch.from_numpy(places_of(heads.tokens, vocabulary=vocabulary))
    ahead = torch.arange(2, 2 + count)
    dtype = heads.target_output.dtype
    parts = [
        _ranks(heads(rows.states[part].to(dtype)), places[rows.tokens[part[:, None] + ahead]])
        for part in torch.split(positions, _AT_ONCE)
    ]
    return HeldOutRanks(ranks=torch.cat(parts).numpy())


@torch.inference_mode()
def eagle_ranks(head: EagleHead, rows: Rows, *, vocabulary: int, depths: int) -> HeldOutRanks:
    """Ranks of the tokens that the target wrote, by the depth at which a draft would reach them.

    Raises ValueError for texts that are too short for `depths` drafted tokens.
    """
    depths = as_count("depths", depths, least=1)
    places = torch.from_numpy(places_of(head.tokens, vocabulary=vocabulary))
    dtype = head.output.dtype
    parts = []
    for text in range(rows.texts):
        first, end = int(rows.starts[text]), int(rows.starts[text + 1])
        # A round begins where the target wrote a token of its own and `depths` more follow.
        least, most = max(int(rows.prompts[text]) - 1, 0), end - first - 1 - depths
        if least >= most:
            continue
        opening = torch.arange(least, most)
        tokens = rows.tokens[first + 1 : end]
        estimates = head(tokens[None], rows.states[None, first : end - 1].to(dtype), depths)
        columns = []
        for depth, estimate in enumerate(estimates):
            logits = head.logits(estimate[0, opening + depth])
            columns.append(_ranks(logits, places[tokens[opening + depth + 1]]))
        parts.append(torch.stack(columns, dim=1))
    if not parts:
        raise ValueError(f"held-out texts must have {depths + 2} tokens of the target at least.")
    return HeldOutRanks(ranks=torch.cat(parts).numpy())


def _ranks(logits: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """How many columns are likelier than a place's; WORST for places of -1. Shapes [..., n], [...]."""
    own = logits.gather(-1, places.clamp_min(0)[..., None])
    ranks = (logits > own).sum(-1)
    return torch.where(places >= 0, ranks, WORST)
