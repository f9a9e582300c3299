"""A trained EAGLE head made ready for drafting: its own cache, chains and trees.

One layer is so small that the calls cost more than their arithmetic. So scales of norms are folded
into the matrices behind them, what a token brings is looked up, and everything is written in place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from real_runs.heads.eagle_head import EPSILON, EagleHead, rotations, turn
from simulator._checks import IntArray, as_count

ROOT = -1
"""The parent of a node that follows the text itself."""
_FIRST_CAPACITY = 512  # [tokens]
_FIRST_NODES = 64
_BLOCK = 8192  # tokens looked up in advance at a time


class EagleDraft:
    """Reads the target's states, then grows a draft behind them, node by node or level by level.

    `read` takes what the target made of new text and forgets the draft; `grow` adds nodes, each of
    which sees the text and its own ancestors. A chain of γ tokens is one `read` and γ - 1 calls of
    `grow`, a tree of depth d one `read` and d - 1 calls, each with a level's inner nodes.
    `tokens[place]` is the id behind a column of the logits; `length` counts states read, `nodes`
    those grown since.

    Equal to `EagleHead.forward` up to rounding, in the precision that the head is in.
    """

    def __init__(self, head: EagleHead) -> None:
        shape = head.shape
        self.tokens = head.tokens
        self.length = 0
        self.nodes = 0
        self._heads, self._head_width = shape.attention_heads, shape.head_width
        self._normed, self._inner = [shape.width], shape.inner
        with torch.inference_mode():
            self._brought = _brought_by_token(head)
            self._from_state = _folded(head.from_state, head.state_norm)
            self._queries_keys_values = _folded(head.queries_keys_values, head.attention_norm)
            self._attention_output = head.attention_output.weight.T.contiguous()
            self._gate_and_up = _folded(head.gate_and_up, head.inner_norm)
            self._down = head.down.weight.T.contiguous()
            self._final = head.final_norm.weight.detach() * math.sqrt(shape.width)
            self._output = head.output.T
            empty = self._brought.new_empty(0)
            self._cache = empty.view(2, shape.attention_heads, 0, shape.head_width)
            self._turns = empty
            self._estimates = empty.view(0, shape.width)  # behind the text, then behind each node
        self._depths: npt.NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._seen: npt.NDArray[np.bool_] = np.empty((1, 0), dtype=np.bool_)
        self._reserve(_FIRST_CAPACITY)
        self._reserve_nodes(_FIRST_NODES)

    def start(self) -> None:
        """Forget the text and the draft."""
        self.length = self.nodes = 0

    def rollback(self, count: int) -> None:
        """Forget the last `count` states of the text, and the draft.

        `read` must follow before a draft can grow. Raises ValueError for more than were read.
        """
        self.length -= as_count("count", count, most=self.length)
        self.nodes = 0

    @torch.inference_mode()
    def read(self, tokens: IntArray, hidden: torch.Tensor) -> torch.Tensor:
        """Logits [n] of the token behind the text, over `self.tokens`.

        `hidden` [m, width] are the target's states of m >= 1 more positions of the text, `tokens` [m]
        the token behind each; the last one is what the target has not read yet. The draft is
        forgotten. Raises ValueError for other numbers of tokens than states.
        """
        count = len(tokens)
        if count == 0 or hidden.shape != (count, *self._normed):
            raise ValueError(
                f"hidden must be [m, {self._normed[0]}] for the m tokens, at least one; got "
                f"{list(hidden.shape)} for {count}."
            )
        first, self.nodes = self.length, 0
        self.length = end = first + count
        self._reserve(end)
        ids = torch.from_numpy(np.asarray(tokens, dtype=np.int64)).to(self._cache.device)
        entering = self._enter(ids, hidden.to(self._brought.dtype))
        query = self._store(entering, self._turns[first:end], first)
        # The text needs no logits: only the last row goes on, and it sees everything.
        state = self._leave(entering[-1:], query[-1:], end, None)
        self._estimates[0] = state[0]
        return (state @ self._output)[0]

    @torch.inference_mode()
    def grow(self, tokens: Sequence[int], parents: Sequence[int]) -> torch.Tensor:
        """Logits [m, n] of the tokens behind m new nodes, over `self.tokens`.

        `tokens` are the nodes' ids, `parents` the numbers of the nodes they follow, counted from 0
        over all calls since the last `read`; ROOT follows the text. Raises ValueError for a parent
        that was not there before this call, and before the first `read`.
        """
        count, before = len(tokens), self.nodes
        if count == 0 or count != len(parents) or min(parents) < ROOT or max(parents) >= before:
            raise ValueError(
                f"parents must hold one number in [-1, {before}) for each of the tokens, at least "
                f"one; got {list(parents)} for {count}."
            )
        if self.length == 0:
            raise ValueError("read must be called before grow: there is no text to follow.")
        first, after = self.length + before, before + count
        self._reserve(first + count)
        self._reserve_nodes(after)
        above = np.asarray(parents)
        depths = self._depths[above] + 1  # ROOT, -1, finds the last entry, which stays -1
        self._depths[before:after] = depths
        self._seen[before:after] = self._seen[above]
        self._seen[np.arange(before, after), np.arange(before, after)] = True
        ids = torch.tensor(tokens, device=self._cache.device)
        if count == 1 and depths[0] == before:  # a chain sees all there is
            hidden = self._estimates[before : before + 1]
            turns = self._turns[first : first + 1]
            mask = None
        else:
            hidden = self._estimates[torch.from_numpy(above + 1)]
            turns = self._turns[torch.from_numpy(self.length + depths)]
            mask = torch.ones(count, first + count, dtype=torch.bool)
            mask[:, self.length :] = torch.from_numpy(self._seen[before:after, :after])
            mask = mask.to(self._cache.device)
        entering = self._enter(ids, hidden)
        query = self._store(entering, turns, first)
        states = self._leave(entering, query, first + count, mask)
        self._estimates[1 + before : 1 + after] = states
        self.nodes = after
        return states @ self._output

    def _enter(self, tokens: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """What enters the layer, [m, width]."""
        return torch.addmm(self._brought[tokens], _unit(hidden), self._from_state)

    def _store(self, entering: torch.Tensor, turns: torch.Tensor, first: int) -> torch.Tensor:
        """Write keys and values into the cache from `first` on; queries [m, heads, head_width]."""
        heads, count = self._heads, len(entering)
        parts = (_unit(entering) @ self._queries_keys_values).view(
            count, 3 * heads, self._head_width
        )
        turned = turn(parts[:, : 2 * heads], turns)
        self._cache[0, :, first : first + count] = turned[:, heads:].transpose(0, 1)
        self._cache[1, :, first : first + count] = parts[:, 2 * heads :].transpose(0, 1)
        return turned[:, :heads]

    def _leave(
        self, entering: torch.Tensor, query: torch.Tensor, end: int, mask: torch.Tensor | None
    ) -> torch.Tensor:
        """Estimates of the next states, [m, width], each seeing the first `end` entries or `mask`."""
        seen = self._cache[:, None, :, :end]
        mixed = functional.scaled_dot_product_attention(
            query.transpose(0, 1)[None], seen[0], seen[1], attn_mask=mask
        )
        mixed = mixed[0].transpose(0, 1).reshape(len(entering), *self._normed)
        entering = torch.addmm(entering, mixed, self._attention_output)
        inner = _unit(entering) @ self._gate_and_up
        gated = functional.silu(inner[:, : self._inner]) * inner[:, self._inner :]
        leaving = torch.addmm(entering, gated, self._down)
        states: torch.Tensor = _unit(leaving) * self._final
        return states

    def _reserve(self, entries: int) -> None:
        """Room for so many entries of the cache; what is there stays."""
        room = self._cache.shape[2]
        if entries > room:
            cache = self._cache.new_empty(
                2, self._heads, max(2 * entries, _FIRST_CAPACITY), self._head_width
            )
            cache[:, :, :room] = self._cache
            self._cache = cache
            turns = rotations(cache.shape[2], self._head_width, cache.dtype)
            self._turns = turns.to(cache.device)

    def _reserve_nodes(self, nodes: int) -> None:
        """Room for so many nodes; the last row of `_seen` and `_depths` is that of ROOT."""
        room = len(self._estimates) - 1
        if nodes > room:
            bigger = 2 * nodes
            estimates = self._estimates.new_empty(bigger + 1, *self._normed)
            estimates[: room + 1] = self._estimates
            depths = np.full(bigger + 1, -1, dtype=np.int64)
            seen = np.zeros((bigger + 1, bigger), dtype=np.bool_)
            if room > 0:
                depths[:room] = self._depths[:room]
                seen[:room, :room] = self._seen[:room]
            self._estimates, self._depths, self._seen = estimates, depths, seen


def _folded(linear: torch.nn.Linear, norm: torch.nn.RMSNorm) -> torch.Tensor:
    """A matrix, to be multiplied from the right, that turns unit vectors into what the two make."""
    width = linear.in_features
    return (linear.weight * norm.weight * math.sqrt(width)).T.contiguous()


def _unit(states: torch.Tensor) -> torch.Tensor:
    """Rows of length 1, [m, width]: root mean square norms without what is folded into matrices.

    torch's own norm takes thrice the time for a single row.
    """
    squares = (states * states).sum(-1, keepdim=True)
    units: torch.Tensor = states * squares.add_(EPSILON * states.shape[-1]).rsqrt_()
    return units


def _brought_by_token(head: EagleHead) -> torch.Tensor:
    """What each token of the vocabulary adds to what enters the layer, [vocabulary, width]."""
    rows = [
        head.from_token(head.token_norm(block)).detach()
        for block in torch.split(head.embedding, _BLOCK)
    ]
    return torch.cat(rows)
