"""Exact laws of small trees by going through everything that can happen, apart from both layers.

Nothing of the package multiplies or draws here: a tree is a list of paths, a law a function of the
path. The table of a walk and the law look alike to `stats`: outcomes are numbered, and a table has
the rounds that reached at least this number.
"""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np


def where_rounds_end(paths, rate):
    """P(a round ends at the root, then at each of `paths`), rate(path) = P(kept | parent kept)."""
    chances = []
    for end in ((), *paths):
        chance = 1.0
        for size in range(1, len(end) + 1):
            chance *= rate(end[:size])
        below = sum(rate(path) for path in paths if path[:-1] == end)
        chances.append(max(chance * (1.0 - below), 0.0))
    return chances


def by_rank(rows):
    return lambda path: rows[len(path) - 1][path[-1]]


def mixed(weighted):
    """Σ weight · law over laws of equally many outcomes."""
    return [sum(w * law[i] for w, law in weighted) for i in range(len(weighted[0][1]))]


def depth_law(paths, ends, gamma):
    """P(n accepted), from where rounds end."""
    pmf = [0.0] * (gamma + 1)
    for path, chance in zip(((), *paths), ends, strict=True):
        pmf[len(path)] += chance
    return SimpleNamespace(pmf=pmf)


def longest_of(candidates, conditional, hit):
    """P(n accepted) of candidates side by side: every combination of kept and lost tokens."""
    gamma = len(conditional)
    pmf = [0.0] * (gamma + 1)
    pmf[0] = 1.0 - hit
    for tokens in itertools.product((True, False), repeat=candidates * gamma):
        chance, lengths = hit, []
        for c in range(candidates):
            own = tokens[c * gamma : (c + 1) * gamma]
            for kept, p in zip(own, conditional, strict=True):
                chance *= p if kept else 1.0 - p
            lengths.append((*own, False).index(False))
        pmf[max(lengths)] += chance
    return SimpleNamespace(pmf=pmf)


def node_table(tree, rounds, kept):
    """Where rounds ended, from the rounds that kept each node, in the shape that `stats` reads."""
    ended = np.array([rounds, *kept])
    for node, parent in enumerate(tree.parents):
        ended[parent + 1] -= kept[node]
    assert ended.min() >= 0
    reached = ended[::-1].cumsum()[::-1]
    return SimpleNamespace(rounds=rounds, accepted=tuple(int(count) for count in reached[1:]))
