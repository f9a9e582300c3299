"""How good heads are on texts that they were not trained on: what their header keeps of it."""

from __future__ import annotations

from real_runs.heads.accuracy import HeldOutRanks, eagle_ranks, medusa_ranks
from real_runs.heads.eagle_head import EagleHead
from real_runs.heads.features import Features
from real_runs.heads.header import Accuracy
from real_runs.heads.medusa_heads import MedusaHeads
from real_runs.heads.rows import rows_of
from simulator._checks import FloatArray

RANKS, DEPTHS = 10, 8
"""What accuracies are kept of: the likeliest tokens, and how far an EAGLE head is judged."""


def judge(module: MedusaHeads | EagleHead, held_out: Features, *, vocabulary: int) -> Accuracy:
    """Accuracies of heads on texts that they were not trained on."""
    ranks = ranks_on(module, held_out, vocabulary=vocabulary)
    tested, accepted = ranks.chain()
    return Accuracy(
        positions=len(ranks.ranks),
        by_rank=_rounded(ranks.accuracies(RANKS)),
        kept_by_rank=_rounded(ranks.kept_accuracies(RANKS)),
        tested=tuple(tested.tolist()),
        accepted=tuple(accepted.tolist()),
    )


def ranks_on(
    module: MedusaHeads | EagleHead, features: Features, *, vocabulary: int
) -> HeldOutRanks:
    """The rank of every token of some texts: behind every number on trees of these heads."""
    rows = rows_of(features, range(features.count))
    if isinstance(module, MedusaHeads):
        return medusa_ranks(module, rows, vocabulary=vocabulary)
    return eagle_ranks(module, rows, vocabulary=vocabulary, depths=DEPTHS)


def _rounded(rows: FloatArray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(round(float(value), 6) for value in row) for row in rows)
