"""A drafter of trees that runs on the toy models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from simulator._checks import FloatArray, IntArray, as_count, as_probability
from simulator._picking import pick
from simulator._toy import ToyModel
from simulator.models import Draft, KeepGoing
from simulator.rules import PICKED, Picked
from simulator.sampling import Sampling
from simulator.trees import ROOT, Tree

WAYS: tuple[Picked, ...] = (*PICKED, "distinct")


class ToyTreeDrafter:
    """Drafts trees with a toy model, one pass per depth; satisfies `simulator.models.Drafter`.

    `picked` says how the children of a node come about from the draft's distribution Q behind it, after
    temperature and filters: "drawn" one after the other with replacement, "distinct" without (fewer
    where Q has fewer possible tokens), "chosen": a child of rank r is the (r + 1)-th likeliest token (of
    equal ones the first), "dropped": drawn, and with Q(x) < `drop_below` thrown away again together with
    what would follow it. Of several trees one is taken after the other, a new one in every round; nodes
    deeper than asked for are left out.

    Raises ValueError for another `picked`, a `drop_below` that is used by no other than "dropped", no
    tree at all, and more chosen or distinct candidates than the vocabulary has tokens.

    >>> from simulator import MarkovChain, greedy, decode, Chain
    >>> target = MarkovChain([[0.1, 0.6, 0.3], [0.5, 0.4, 0.1], [0.2, 0.1, 0.7]])
    >>> drafter = ToyTreeDrafter(target, Tree.from_widths([2, 1]), picked="chosen")
    >>> text = decode([0], target=target, drafter=drafter, chain=Chain(gamma=2), rule=greedy(),
    ...               max_tokens=7, rng=0)
    >>> text.tokens, text.table.drafted, text.table.accepted
    ((1, 0, 1, 0, 1, 0, 1), 8, (2, 2))
    """

    def __init__(
        self,
        model: ToyModel,
        tree: Tree | Sequence[Tree],
        *,
        picked: Picked = "drawn",
        drop_below: float = 0.0,
    ) -> None:
        if picked not in WAYS:
            raise ValueError(f"picked must be one of {', '.join(WAYS)}; got {picked!r}.")
        self.drop_below = as_probability("drop_below", drop_below)
        if self.drop_below and picked != "dropped":
            raise ValueError(f"drop_below belongs to picked 'dropped'; got it with {picked!r}.")
        self.trees = (tree,) if isinstance(tree, Tree) else tuple(tree)
        if not self.trees or not all(isinstance(one, Tree) for one in self.trees):
            raise ValueError(f"tree must be a Tree or several, taken in turn; got {tree!r}.")
        most = max(_candidates(one, picked) for one in self.trees)
        if picked in {"chosen", "distinct"} and most > model.vocabulary:
            raise ValueError(
                f"tree must have at most the {model.vocabulary} tokens of the vocabulary as candidates "
                f"behind one node; got {most}."
            )
        self.model = model
        self._picked: Picked = picked
        self._sampling = Sampling()
        self._last: int | None = None  # the text's last token, which the model has not read
        self._proposals = 0

    @property
    def picked(self) -> Picked:
        """How the tokens come about."""
        return self._picked

    def start(self, prompt: npt.ArrayLike, sampling: Sampling) -> None:
        """Begin a new text; the trees begin again with the first."""
        self.model.start(prompt)
        self._sampling, self._last, self._proposals = sampling, None, 0

    def propose(self, length: int, keep_going: KeepGoing, rng: np.random.Generator) -> Draft:  # noqa: ARG002
        """The next tree, down to depth `length`. Raises ValueError before the first `settle`."""
        if self._last is None:
            raise ValueError("settle must come first: the drafter has no text yet.")
        length = as_count("length", length, least=1)
        tree = self.trees[self._proposals % len(self.trees)]
        self._proposals += 1
        children = tree.children
        tokens: list[int] = []
        parents: list[int] = []
        rows: list[FloatArray] = []
        above = {
            ROOT: ROOT
        }  # nodes of the tree that were drafted last -> their numbers in the draft
        for _ in range(min(length, tree.gamma)):
            behind = self._rows(tokens, parents)
            found: dict[int, int] = {}
            for parent, number in above.items():
                row = behind[number + 1]
                below = children[parent + 1]
                for node, token in self._children(row, [(n, tree.ranks[n]) for n in below], rng):
                    found[node] = len(tokens)
                    tokens.append(token)
                    parents.append(number)
                    rows.append(row)
            above = found
            if not above:
                break
        return Draft(
            tokens=np.array(tokens, dtype=np.int64),
            probs=None
            if self._picked == "chosen"
            else np.array(rows, dtype=np.float64).reshape(len(tokens), self.model.vocabulary),
            parents=np.array(parents, dtype=np.int64),
        )

    def settle(self, tokens: npt.ArrayLike) -> None:
        """The text grew by `tokens` [n]; the last of them is read when the next draft begins."""
        grown = [int(token) for token in np.asarray(tokens)]
        if not grown:
            return
        read = [*([] if self._last is None else [self._last]), *grown[:-1]]
        if read:
            self.model.extend(read)
        self._last = grown[-1]

    def _rows(self, tokens: list[int], parents: list[int]) -> FloatArray:
        """Distributions behind the text and behind every drafted token, [1 + n, vocabulary]."""
        read = np.array([self._last, *tokens], dtype=np.int64)
        above: IntArray = np.array([ROOT, *(parent + 1 for parent in parents)], dtype=np.int64)
        logits = self.model.extend_tree(read, above)
        self.model.rollback(read.size)
        return self._sampling.probabilities(logits)

    def _children(
        self, row: FloatArray, wanted: list[tuple[int, int]], rng: np.random.Generator
    ) -> Iterator[tuple[int, int]]:
        """(node, token) of the wanted (node, rank) that come about behind one node."""
        if self._picked == "chosen":
            ranked = np.argsort(-row, kind="stable")
            yield from ((node, int(ranked[rank])) for node, rank in wanted)
            return
        left = row.copy()
        for node, _ in wanted:
            token = int(pick(left[None], rng.random(1))[0])
            if token < 0:  # without replacement nothing is left
                return
            if row[token] >= self.drop_below:
                yield node, token
            if self._picked == "distinct":
                left[token] = 0.0


def _candidates(tree: Tree, picked: Picked) -> int:
    """Most tokens that one node must tell apart: the highest rank, or the most children."""
    if picked == "chosen":
        return 1 + max(tree.ranks, default=-1)
    return max(len(below) for below in tree.children)
