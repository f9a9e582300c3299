"""Drafters of trees whose size differs from round to round, and ones that break a rule on purpose."""

from __future__ import annotations

import numpy as np

from simulator import Draft, ToyTreeDrafter, Tree

CANDIDATES = 3


class ConfidentTrees(ToyTreeDrafter):
    """A token has the more children the surer the draft is of the path to it, as in EAGLE-2.

    Siblings are never thrown away again, and how many there are was settled before they were drawn:
    lossless with the rule for how they were.
    """

    def __init__(self, model, *, picked="chosen", depth=3):
        super().__init__(model, Tree.from_widths([CANDIDATES]), picked=picked)
        self.depth = depth

    def propose(self, length, keep_going, rng):
        del keep_going
        tokens, parents, rows = [], [], []
        level = {-1: 1.0}
        for _ in range(min(length, self.depth)):
            behind = self._rows(tokens, parents)
            above, level = level, {}
            for parent, value in above.items():
                row = behind[parent + 1]
                count = sum(value > limit for limit in (0.05, 0.2, 0.5))
                for _, token in self._children(row, [(r, r) for r in range(count)], rng):
                    level[len(tokens)] = value * row[token]
                    tokens.append(token)
                    parents.append(parent)
                    rows.append(row)
        chosen = self.picked == "chosen"
        return Draft(
            tokens=np.array(tokens, dtype=np.int64),
            probs=None if chosen else np.array(rows).reshape(len(tokens), self.model.vocabulary),
            parents=np.array(parents, dtype=np.int64),
        )


class Riders(ToyTreeDrafter):
    """Lets tokens ride along that are not judged, and keeps what the target said behind them."""

    def __init__(self, model, tree, *, riders=4):
        super().__init__(model, tree, picked="chosen")
        self.riders = riders
        self.passes = []

    def propose(self, length, keep_going, rng):
        draft = super().propose(length, keep_going, rng)
        self.draft = Draft(
            tokens=np.append(draft.tokens, np.arange(self.riders) % self.model.vocabulary),
            parents=np.concatenate(
                [draft.parents, [-1], draft.judged + np.arange(self.riders - 1)]
            ),
            passengers=self.riders,
        )
        return self.draft

    def read_pass(self, logits, kept):
        self.passes.append((logits.copy(), kept.copy()))


class Pretender(ToyTreeDrafter):
    """Chooses the likeliest tokens and says that it drew them."""

    def __init__(self, model, tree, *, pretends):
        super().__init__(model, tree, picked="chosen")
        self.pretends = pretends

    @property
    def picked(self):
        return self.pretends

    def propose(self, length, keep_going, rng):
        draft = super().propose(length, keep_going, rng)
        rows = self._rows(draft.tokens.tolist(), draft.parents.tolist())
        return Draft(tokens=draft.tokens, parents=draft.parents, probs=rows[draft.parents + 1])
