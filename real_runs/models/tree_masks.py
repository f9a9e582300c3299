"""Which token of a pass over a tree sees which, as the mask that transformers adds to attention's scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from simulator._checks import IntArray

KEPT_SHAPES = 64  # trees whose masks are remembered; a fixed tree needs one
FIRST_LENGTH, FIRST_NODES = 512, 64  # [tokens]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeShape:
    """What a pass over a tree of n tokens needs that does not depend on the text.

    `mask` [n, n] is 0 where row's token sees column's and the least number elsewhere, `depths` [1, n]
    counts from the root's 0, `depth` is the largest.
    """

    mask: torch.Tensor
    depths: torch.Tensor
    depth: int


class TreeMasks:
    """Masks over text and tree, [1, 1, n, length + n]: nobody may see a branch that is not its own.

    Every token sees the whole text, so that the part of a mask that grows with it is all zeros. One
    buffer has room for many, its last columns hold the tree of the last pass, and a mask is a view of
    it: a pass over the same tree as before writes nothing.
    """

    def __init__(self, *, dtype: torch.dtype, device: torch.device) -> None:
        self._dtype, self._device = dtype, device
        self._shapes: dict[bytes, TreeShape] = {}
        self._buffer = torch.zeros(0, 0, dtype=dtype, device=device)
        self._length = 0  # columns of the buffer that are text
        self._written: TreeShape | None = None

    def shape(self, parents: IntArray) -> TreeShape:
        """The shape of a tree. Raises ValueError unless parents come first, the root's -1."""
        if parents.ndim != 1 or not parents.size or parents.dtype != np.int64:
            raise ValueError(f"parents must be one whole number per token; got {parents!r}.")
        key = parents.tobytes()
        shape = self._shapes.get(key)
        if shape is None:
            while len(self._shapes) >= KEPT_SHAPES:
                del self._shapes[next(iter(self._shapes))]  # the oldest
            shape = self._shapes[key] = self._read(parents)
        return shape

    def mask(self, shape: TreeShape, length: int) -> torch.Tensor:
        """The mask of a pass over this tree behind `length` tokens; valid until the next one."""
        nodes = len(shape.mask)
        if nodes > len(self._buffer) or length > self._length:
            self._length = max(FIRST_LENGTH, self._length, 2 * length)
            rows = max(FIRST_NODES, len(self._buffer), 2 * nodes)
            self._buffer = torch.zeros(
                rows, self._length + rows, dtype=self._dtype, device=self._device
            )
            self._written = None
        if self._written is not shape:
            self._buffer[:nodes, self._length : self._length + nodes] = shape.mask
            self._written = shape
        first, end = self._length - length, self._length + nodes
        view: torch.Tensor = self._buffer[None, None, :nodes, first:end]
        return view

    def _read(self, parents: IntArray) -> TreeShape:
        above = _checked(parents)
        depths, seen = ancestors(above)
        mask = np.where(seen, 0.0, torch.finfo(self._dtype).min)
        return TreeShape(
            mask=torch.from_numpy(mask).to(device=self._device, dtype=self._dtype),
            depths=torch.from_numpy(depths)[None].to(self._device),
            depth=int(depths.max()),
        )


def ancestors(parents: IntArray) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Depth of every node, the root's 0, [n]; and whether column's node is row's or above it, [n, n].

    `parents` [n] come before their children, the root's is -1.

    >>> depths, seen = ancestors(np.array([-1, 0, 0, 2]))
    >>> depths, seen.astype(int).tolist()
    (array([0, 1, 1, 2]), [[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 1]])
    """
    nodes = len(parents)
    seen = np.zeros((nodes + 1, nodes), dtype=np.bool_)  # the last row, -1, is nobody's
    for node, parent in enumerate(parents.tolist()):
        seen[node] = seen[parent]
        seen[node, node] = True
    return seen[:nodes].sum(axis=1) - 1, seen[:nodes]


def _checked(parents: IntArray) -> IntArray:
    if parents[0] != -1:
        raise ValueError(f"parents must begin with the root's, -1; got {parents[0]}.")
    wrong = np.flatnonzero((parents[1:] < 0) | (parents[1:] >= np.arange(1, parents.size)))
    if wrong.size:
        node = int(wrong[0]) + 1
        raise ValueError(
            f"parents must come before their children; token {node} has parent {parents[node]}."
        )
    return parents
