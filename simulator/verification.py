"""Verification: which drafted tokens are kept, and which token follows them.

One function for every rule of `simulator.rules`. A round tests its tokens in order; the first that
is not kept is replaced by a correction, and a draft that is kept whole is followed by a bonus token
of the target. Work is done by depth over the rounds that are still alive. Per tested token it takes
one entry of each distribution, and whole rows are read only for the token that follows the draft
(and by the rules that need more: block verification, sample-and-match).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulator._block import judge_blocks
from simulator._checks import FloatArray, IntArray, Rng, as_generator
from simulator._inputs import (
    Indices,
    as_contexts,
    as_float_logits,
    as_tokens,
    check_rule,
    check_shapes,
    own_rows,
)
from simulator._picking import pick
from simulator._rows import LogitRows, ProbabilityRows, Rows, as_rows, chunks, possible
from simulator.rules import Rule
from simulator.sampling import Sampling


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of each round's draft.

    `lengths` [rounds] counts the drafted tokens that are kept, `next_token` [rounds] is the
    correction or the bonus that follows them.
    """

    lengths: IntArray
    next_token: IntArray


def verify(
    target_probs: npt.ArrayLike,
    draft_probs: npt.ArrayLike | None,
    drafted: npt.ArrayLike,
    *,
    rule: Rule,
    rng: Rng,
    contexts: Indices | None = None,
) -> Verdict:
    """Judge the drafts of many rounds by their probabilities.

    Shapes: target_probs [rounds, gamma + 1, vocabulary], draft_probs [rounds, gamma, vocabulary]
    (None for a rule that does not ask), drafted [rounds, gamma]. With `contexts` both are pools
    [rows, vocabulary] instead, and contexts = (target rows [rounds, gamma + 1], draft rows
    [rounds, gamma]) says which row each position has. Rows are divided by their sums in float64.

    Raises ValueError for shapes that do not fit, rows that are no distributions (off 1 by more than
    1e-4, or in half precision), tokens outside the vocabulary, and drafted tokens of draft
    probability 0.

    >>> from simulator import speculative_sampling
    >>> target, draft = np.array([[[0.0, 1.0], [0.5, 0.5]]]), np.array([[[0.5, 0.5]]])
    >>> verify(target, draft, [[0]], rule=speculative_sampling(), rng=0)
    Verdict(lengths=array([0]), next_token=array([1]))
    """
    check_rule(rule)
    target = as_rows("target_probs", target_probs)
    draft = None if draft_probs is None else as_rows("draft_probs", draft_probs)
    tokens = as_tokens(drafted, target.shape[-1])
    if contexts is None:
        check_shapes(target, draft, tokens, "probs")
        where = own_rows(tokens)
    else:
        where = as_contexts(contexts, target, draft, tokens)
    return judge(
        ProbabilityRows(target.reshape(-1, target.shape[-1])),
        None if draft is None else ProbabilityRows(draft.reshape(-1, draft.shape[-1])),
        tokens,
        rule=rule,
        rng=as_generator(rng),
        where=where,
    )


def verify_logits(
    target_logits: npt.ArrayLike,
    draft_logits: npt.ArrayLike | None,
    drafted: npt.ArrayLike,
    *,
    rule: Rule,
    rng: Rng,
    sampling: Sampling | None = None,
) -> Verdict:
    """As `verify`, from logits: the same `sampling` makes both distributions, row by row as needed.

    Shapes as there. Raises ValueError as there, and for half-precision logits.

    >>> from simulator import greedy
    >>> verify_logits([[[0.0, 1.0], [2.0, 0.0]]], None, [[1]], rule=greedy(), rng=0)
    Verdict(lengths=array([1]), next_token=array([0]))
    """
    check_rule(rule)
    sampling = Sampling() if sampling is None else sampling
    target = as_float_logits("target_logits", target_logits)
    draft = None if draft_logits is None else as_float_logits("draft_logits", draft_logits)
    tokens = as_tokens(drafted, target.shape[-1])
    check_shapes(target, draft, tokens, "logits")
    return judge(
        LogitRows(target.reshape(-1, target.shape[-1]), sampling, "target_logits"),
        None
        if draft is None
        else LogitRows(draft.reshape(-1, draft.shape[-1]), sampling, "draft_logits"),
        tokens,
        rule=rule,
        rng=as_generator(rng),
        where=own_rows(tokens),
    )


def draw(probs: npt.ArrayLike, *, rng: Rng) -> IntArray:
    """One token from each distribution: [...] from probs [..., vocabulary].

    Raises ValueError for rows that are no distributions.

    >>> draw([[0.0, 1.0], [1.0, 0.0]], rng=0)
    array([1, 0])
    """
    rows = as_rows("probs", probs)
    flat = ProbabilityRows(rows.reshape(-1, rows.shape[-1]))
    uniforms = as_generator(rng).random(len(flat.probs))
    return _drawn(flat, np.arange(len(flat.probs)), uniforms).reshape(rows.shape[:-1])


def judge(
    target: Rows,
    draft: Rows | None,
    drafted: IntArray,
    *,
    rule: Rule,
    rng: np.random.Generator,
    where: tuple[IntArray, IntArray],
) -> Verdict:
    """`verify` on rows that are known to be in order; `where` numbers them as `contexts` does there."""
    if not rule.needs_draft_probs:
        draft = None
    elif draft is None:
        raise ValueError(
            f"draft_probs must be given: {rule.name} asks how likely the draft found its token."
        )
    if rule.name == "sample_and_match":
        return _match(target, drafted, where[0], rng)
    if draft is not None and rule.name == "block_verification":
        lengths, factors = judge_blocks(target, draft, drafted, where, rng)
    else:
        lengths = _lengths(target, draft, drafted, rule, where, rng)
        factors = np.ones(lengths.size)
    return Verdict(
        lengths=lengths,
        next_token=_next(target, draft, drafted, rule, where, lengths, factors, rng),
    )


def _lengths(
    target: Rows,
    draft: Rows | None,
    drafted: IntArray,
    rule: Rule,
    where: tuple[IntArray, IntArray],
    rng: np.random.Generator,
) -> IntArray:
    """Kept tokens per round, for the rules that judge one token after the other."""
    lengths = np.zeros(len(drafted), dtype=np.int64)
    alive = np.arange(len(drafted))
    for depth in range(drafted.shape[1]):
        rows, tokens = where[0][alive, depth], drafted[alive, depth]
        if rule.name == "greedy":
            kept = target.most_likely(rows) == tokens
        elif rule.name == "typical_acceptance":
            kept = target.look_up(rows, tokens) > _thresholds(target, rows, rule)
        else:
            # u Q < P instead of u < P / Q: no division, and a ratio of 1 or more always passes.
            bar = rng.random(alive.size)
            if draft is not None:
                bar *= rule.lenience * possible(draft, where[1][alive, depth], tokens)
            kept = bar < target.look_up(rows, tokens)
        alive = alive[kept]
        lengths[alive] = depth + 1
    return lengths


def _next(
    target: Rows,
    draft: Rows | None,
    drafted: IntArray,
    rule: Rule,
    where: tuple[IntArray, IntArray],
    lengths: IntArray,
    factors: FloatArray,
    rng: np.random.Generator,
) -> IntArray:
    """The token behind the kept ones: a correction where the draft broke off, else the bonus."""
    rows = where[0][np.arange(lengths.size), lengths]
    if rule.name in {"greedy", "typical_acceptance"}:
        return target.most_likely(rows)
    uniforms = rng.random(lengths.size)
    tokens = np.empty(lengths.size, dtype=np.int64)
    for some in chunks(np.arange(lengths.size), target.vocabulary):
        weights = target.at(rows[some])
        broke = np.flatnonzero(lengths[some] < drafted.shape[1])
        if broke.size:
            rounds = some[broke]
            if draft is None:  # one-hot: the rejected token cannot come back
                weights = weights.copy()
                weights[broke, drafted[rounds, lengths[rounds]]] = 0.0
            else:
                likely = weights if broke.size == some.size else weights[broke]
                if rule.name == "block_verification":
                    likely = likely * factors[rounds, None].astype(likely.dtype)
                rest = likely - draft.at(where[1][rounds, lengths[rounds]])
                np.maximum(rest, 0.0, out=rest)
                weights = rest if broke.size == some.size else _replaced(weights, broke, rest)
        tokens[some] = pick(weights, uniforms[some])
    # A residual of nothing but zeros: P = Q up to rounding, where the target itself is the answer.
    lost = np.flatnonzero(tokens < 0)
    tokens[lost] = _drawn(target, rows[lost], uniforms[lost])
    return tokens


def _replaced(rows: FloatArray, where: IntArray, others: FloatArray) -> FloatArray:
    rows = rows.copy()
    rows[where] = others
    return rows


def _match(target: Rows, drafted: IntArray, rows: IntArray, rng: np.random.Generator) -> Verdict:
    """Sample-and-match: draw as without a draft, as long as the draft had the same token."""
    lengths = np.zeros(len(drafted), dtype=np.int64)
    following = np.empty(len(drafted), dtype=np.int64)
    alive = np.arange(len(drafted))
    for depth in range(drafted.shape[1] + 1):
        sampled = _drawn(target, rows[alive, depth], rng.random(alive.size))
        following[alive] = sampled
        if depth < drafted.shape[1]:
            alive = alive[sampled == drafted[alive, depth]]
            lengths[alive] = depth + 1
    return Verdict(lengths=lengths, next_token=following)


def _drawn(rows: Rows, index: IntArray, uniforms: FloatArray) -> IntArray:
    tokens = np.empty(index.size, dtype=np.int64)
    for some in chunks(np.arange(index.size), rows.vocabulary):
        tokens[some] = pick(rows.at(index[some]), uniforms[some])
    return tokens


def _thresholds(target: Rows, index: IntArray, rule: Rule) -> FloatArray:
    """min(epsilon, delta exp(-H(P))) of each row, H in nats."""
    rows, where = np.unique(index, return_inverse=True)
    entropy = np.empty(rows.size)
    for some in chunks(np.arange(rows.size), target.vocabulary):
        probs = target.at(rows[some]).astype(np.float64)
        logs = np.log(probs, out=np.zeros_like(probs), where=probs > 0.0)
        entropy[some] = -(probs * logs).sum(axis=1)
    limits: FloatArray = np.minimum(rule.epsilon, rule.delta * np.exp(-entropy))
    return limits[where]
