"""One decision at token level, exactly: what is kept, and what takes the place of what is not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulator._checks import FloatArray
from simulator._inputs import check_rule
from simulator._rows import as_rows
from simulator.rules import Picked, Rule

_CERTAIN = 1e-12
"""A chance of rejection this small is rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneDecision:
    """What a rule makes of every token that can be drafted; one entry per token of the vocabulary.

    `keep` is how likely the token is kept if it is drafted. `corrections` has a row per drafted
    token: the law of its replacement once it was rejected. `replacement` is that law over all
    rejections, of nothing but zeros where none can happen. `threshold` is what typical acceptance
    compares P with, None for the other rules.
    """

    keep: tuple[float, ...]
    corrections: tuple[tuple[float, ...], ...]
    replacement: tuple[float, ...]
    threshold: float | None


def one_decision(
    target_probs: npt.ArrayLike, draft_probs: npt.ArrayLike, *, rule: Rule, picked: Picked = "drawn"
) -> OneDecision:
    """The rule's answer to each token that the draft could propose, and what replaces it.

    replacement(y) is proportional to the sum over x of R(x) (1 - keep(x)) correction(y after x), where
    R is the draft's distribution if its token is drawn and all on its most likely token (of equal ones
    the first) if it is chosen. Keeping and correcting as the rules' sources say (`simulator.rules`);
    block verification is speculative sampling here, a block of one token. A token that the draft
    cannot draw counts as kept wherever the rule would divide by its probability. Both arrays have
    shape [vocabulary].

    Raises ValueError for rows that are no distributions over one vocabulary, and for a way of picking
    other than "drawn" and "chosen".

    >>> from simulator import sample_and_match, speculative_sampling
    >>> target, draft = [0.5, 0.25, 0.25], [0.75, 0.25, 0.0]
    >>> law = one_decision(target, draft, rule=speculative_sampling())
    >>> [round(chance, 3) for chance in law.keep], law.replacement
    ([0.667, 1.0, 1.0], (0.0, 0.0, 1.0))
    >>> one_decision(target, draft, rule=sample_and_match()).corrections[0]
    (0.0, 0.5, 0.5)
    """
    check_rule(rule)
    target, draft = _row("target_probs", target_probs), _row("draft_probs", draft_probs)
    if target.size != draft.size:
        raise ValueError(
            f"draft_probs must have as many tokens as target_probs, {target.size}; got {draft.size}."
        )
    if picked not in {"drawn", "chosen"}:
        raise ValueError(f"picked must be drawn or chosen; got {picked!r}.")
    threshold = _threshold(target, rule)
    keep = _keep(target, draft, rule, threshold)
    corrections = _corrections(target, draft, rule)
    tested = draft if picked == "drawn" else _one_at(int(draft.argmax()), draft.size)
    rejected = tested * (1.0 - keep)
    chance = float(rejected.sum())
    return OneDecision(
        keep=_as_tuple(keep),
        corrections=tuple(_as_tuple(row) for row in corrections),
        replacement=_as_tuple(
            rejected @ corrections / chance if chance > _CERTAIN else np.zeros_like(keep)
        ),
        threshold=threshold,
    )


def _row(name: str, probs: npt.ArrayLike) -> FloatArray:
    row = as_rows(name, probs)
    if row.ndim != 1:
        raise ValueError(f"{name} must have shape [vocabulary]; got {list(row.shape)}.")
    return row


def _threshold(target: FloatArray, rule: Rule) -> float | None:
    """min(epsilon, delta exp(-H(P))), H in nats (Cai et al. 2024, section 2.3.1)."""
    if rule.name != "typical_acceptance":
        return None
    possible = target[target > 0.0]
    entropy = -float((possible * np.log(possible)).sum())
    return float(min(rule.epsilon, rule.delta * np.exp(-entropy)))


def _keep(target: FloatArray, draft: FloatArray, rule: Rule, threshold: float | None) -> FloatArray:
    """How likely each token is kept if it is drafted."""
    if threshold is not None:
        return (target > threshold).astype(np.float64)
    if rule.name == "greedy":
        return _one_at(int(target.argmax()), target.size)
    if not rule.needs_draft_probs:
        return target.copy()
    # Not min(1, P / Q): no division, so no overflow; a token that is never drafted counts as kept.
    bar = rule.lenience * draft
    return np.divide(np.minimum(target, bar), bar, out=np.ones_like(bar), where=bar > 0.0)


def _corrections(target: FloatArray, draft: FloatArray, rule: Rule) -> FloatArray:
    """The law of the replacement after each rejected token, [vocabulary, vocabulary]."""
    size = target.size
    if rule.name in {"greedy", "typical_acceptance"}:
        return np.tile(_one_at(int(target.argmax()), size), (size, 1))
    if rule.needs_draft_probs:
        return np.tile(_normalised(np.maximum(target - draft, 0.0), target), (size, 1))
    rest = np.tile(target, (size, 1))
    np.fill_diagonal(rest, 0.0)
    return np.array([_normalised(row, target) for row in rest])


def _normalised(weights: FloatArray, otherwise: FloatArray) -> FloatArray:
    """Weights over their sum; where all are zero nothing is ever rejected, and it does not matter."""
    total = float(weights.sum())
    return weights / total if total > 0.0 else otherwise


def _one_at(token: int, size: int) -> FloatArray:
    row = np.zeros(size)
    row[token] = 1.0
    return row


def _as_tuple(values: FloatArray) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
