"""How likely a drafted token is to be kept, exactly, from the two distributions.

What `simulator.verification` does by drawing, summed over every token that can be drafted.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis._arrays import plain
from simulator._checks import FloatArray, as_probability
from simulator._inputs import check_rule
from simulator._rows import as_rows
from simulator.rules import PICKED, Picked, Rule


def acceptance_probability(
    target_probs: npt.ArrayLike,
    draft_probs: npt.ArrayLike,
    *,
    rule: Rule,
    picked: Picked = "drawn",
    drop_below: float = 0.0,
) -> FloatArray | float:
    """P(accepted | tested) of one drafted token in each context, shape [...].

    Σ_x D(x) a(x) over the vocabulary, with a(x) the chance that the rule keeps x and D the law of
    the token that is tested: the draft's Q if it is drawn, all on argmax Q if it is chosen, Q
    without the tokens below `drop_below` if those are thrown away ("dropped").

    - speculative sampling, and what it is for a single token: block verification and sampling without
      replacement: drawn Σ min(P, Q) = 1 - total variation; chosen min(1, P / Q) at argmax Q
      (Leviathan et al. 2023, theorem 3.5)
    - lenience l: drawn Σ min(P / l, Q) (there, appendix A.5)
    - greedy: drawn Q(argmax P); chosen 1 where the two agree on it
    - sample and match, one hot: drawn Σ P Q; chosen P(argmax Q)
    - typical acceptance: drawn Σ Q over tokens with P > min(ε, δ exp(-H(P))) (Cai et al. 2024)

    Both arrays have shape [..., vocabulary] and broadcast over the leading axes; of equally likely
    tokens the first is taken. NaN where every token would be dropped. Raises ValueError for rows
    that are no distributions, vocabularies that differ, and a `drop_below` that does not go with
    `picked`.

    >>> from simulator.rules import sample_and_match, speculative_sampling
    >>> target, draft = [0.5, 0.3, 0.2], [0.7, 0.2, 0.1]
    >>> round(acceptance_probability(target, draft, rule=speculative_sampling()), 12)
    0.8
    >>> round(acceptance_probability(target, draft, rule=sample_and_match()), 12)
    0.43
    >>> acceptance_probability(target, draft, rule=sample_and_match(), picked="chosen")
    0.5
    """
    check_rule(rule)
    check_picked(picked, drop_below)
    target, draft = as_pair(target_probs, draft_probs)
    return plain(acceptance_of_rows(target, draft, rule, picked, drop_below))


def total_variation(target_probs: npt.ArrayLike, draft_probs: npt.ArrayLike) -> FloatArray | float:
    """½ Σ |P - Q| = 1 - Σ min(P, Q) in [0, 1]: how far apart two distributions are, shape [...].

    0 if they are the same, 1 if they share no token. Shapes and errors as acceptance_probability.

    >>> round(total_variation([0.5, 0.3, 0.2], [0.7, 0.2, 0.1]), 12)
    0.2
    """
    target, draft = as_pair(target_probs, draft_probs)
    return plain(0.5 * np.abs(target - draft).sum(axis=-1))


def check_picked(picked: Picked, drop_below: float, *, ways: tuple[Picked, ...] = PICKED) -> None:
    """ValueError unless `drop_below` is above 0 exactly for drafts that drop tokens.

    `ways` are the ways of picking that there are here.
    """
    if picked not in ways:
        raise ValueError(f"picked must be one of {', '.join(ways)}; got {picked!r}.")
    as_probability("drop_below", drop_below)
    if (picked == "dropped") != (drop_below > 0.0):
        raise ValueError(
            'drop_below must be above 0 for picked="dropped" and 0 otherwise; '
            f"got drop_below={drop_below!r} with picked={picked!r}."
        )


def as_pair(
    target_probs: npt.ArrayLike, draft_probs: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Both arrays as distributions of one shape [..., vocabulary]."""
    target, draft = as_rows("target_probs", target_probs), as_rows("draft_probs", draft_probs)
    if target.shape[-1] == draft.shape[-1]:
        try:
            shape = np.broadcast_shapes(target.shape, draft.shape)
            return np.broadcast_to(target, shape), np.broadcast_to(draft, shape)
        except ValueError:
            pass
    raise ValueError(
        "target_probs and draft_probs must have shapes [..., vocabulary] that broadcast; got "
        f"{list(target.shape)} and {list(draft.shape)}."
    )


def acceptance_of_rows(
    target: FloatArray, draft: FloatArray, rule: Rule, picked: Picked, drop_below: float
) -> FloatArray:
    """P(accepted | tested) of checked rows, shape [...]."""
    kept = _drafted_and_kept(target, draft, rule)
    if picked == "chosen":
        best = draft.argmax(axis=-1, keepdims=True)
        most = np.take_along_axis(kept, best, -1) / np.take_along_axis(draft, best, -1)
        return np.asarray(most[..., 0])
    if picked == "drawn":
        return np.asarray(kept.sum(axis=-1))
    stays = draft >= drop_below
    mass = np.where(stays, draft, 0.0).sum(axis=-1)
    with np.errstate(invalid="ignore"):  # 0 / 0 where nothing stays: unknown
        return np.asarray(np.where(stays, kept, 0.0).sum(axis=-1) / mass)


def _drafted_and_kept(target: FloatArray, draft: FloatArray, rule: Rule) -> FloatArray:
    """Q(x) a(x): the chance that x is drawn and kept. As a product it never divides by Q."""
    if rule.name in {"speculative_sampling", "block_verification", "without_replacement"}:
        return np.minimum(target, draft)
    if rule.name == "lenience":
        return np.minimum(target / rule.lenience, draft)
    if rule.name == "greedy":
        best = target.argmax(axis=-1, keepdims=True)
        return np.where(np.arange(target.shape[-1]) == best, draft, 0.0)
    if rule.name in {"sample_and_match", "one_hot"}:
        return target * draft
    nats = target * np.log(target, out=np.zeros_like(target), where=target > 0.0)
    typical = np.exp(nats.sum(axis=-1, keepdims=True)) * rule.delta  # δ exp(-H)
    return np.where(target > np.minimum(rule.epsilon, typical), draft, 0.0)
