"""One round of the loop: the target's pass over a draft, and what the rule says of it."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from simulator._checks import IntArray
from simulator._inputs import check_logits
from simulator._rows import LogitRows, ProbabilityRows
from simulator.models import Draft, Logits, Target
from simulator.rules import Rule
from simulator.sampling import Sampling
from simulator.tree_verification import TreeVerdict, children_of, follow, judge_tree
from simulator.verification import judge

_BROKEN_ROW = (
    "the target's logits must not be NaN or plus infinity, and some token must be possible; row {row} "
    "breaks this."
)


def run_pass(target: Target, last: int, draft: Draft) -> Logits:
    """The target's pass over the text's last token and the draft, [1 + n, vocabulary].

    Raises ValueError for a target that cannot read a tree, and for logits of another shape.
    """
    tokens = np.array([last, *draft.tokens.tolist()], dtype=np.int64)
    if draft.parents is None:
        logits = target.extend(tokens)
    else:
        parents = np.concatenate([[-1], draft.parents + 1]).astype(np.int64)
        if not hasattr(target, "extend_tree"):
            raise ValueError(
                f"target must be able to read a tree in one pass; {type(target).__name__} is not."
            )
        logits = target.extend_tree(tokens, parents)
    check_logits(logits, tokens.size, target.vocabulary)
    return logits


def forget(target: Target, draft: Draft, rows: IntArray) -> None:
    """Keep these rows of the last pass, and no others."""
    if draft.parents is None:
        target.rollback(draft.tokens.size + 1 - rows.size)
    else:
        target.keep(rows)  # type: ignore[attr-defined]  # run_pass has asked for it


def judge_draft(
    logits: Logits, draft: Draft, rule: Rule, sampling: Sampling, rng: np.random.Generator
) -> TreeVerdict:
    """What the rule says of a draft whose pass gave these logits."""
    if draft.parents is not None:
        return _judge_tree(logits, draft, rule, sampling, rng)
    drafted = draft.tokens.size
    if rule.name == "greedy":
        accepted, following = _judge_greedy(logits, draft.tokens.tolist())
    else:
        verdict = judge(
            LogitRows(logits, sampling, "the target's logits"),
            _draft_rows(draft, logits.shape[1]),
            draft.tokens[None],
            rule=rule,
            rng=rng,
            where=(np.arange(drafted + 1)[None], np.arange(drafted)[None]),
        )
        accepted, following = int(verdict.lengths[0]), int(verdict.next_token[0])
    return TreeVerdict(
        path=tuple(range(accepted)), next_token=following, tested=min(accepted + 1, drafted)
    )


def _judge_tree(
    logits: Logits, draft: Draft, rule: Rule, sampling: Sampling, rng: np.random.Generator
) -> TreeVerdict:
    judged = draft.judged
    parents = np.empty(0, dtype=np.int64) if draft.parents is None else draft.parents[:judged]
    if rule.name == "greedy":
        tokens = draft.tokens[:judged].tolist()
        return follow(partial(_most_likely, logits), tokens, children_of(parents))
    return judge_tree(
        LogitRows(logits, sampling, "the target's logits"),
        _draft_rows(draft, logits.shape[1]),
        draft.tokens[:judged],
        children_of(parents),
        rule=rule,
        rng=rng,
    )


def _judge_greedy(logits: Logits, drafted: list[int]) -> tuple[int, int]:
    """What `judge` says under the greedy rule, without its arrays: a plain step has little time to lose."""
    best = logits.argmax(axis=1)
    if not np.isfinite(logits[np.arange(best.size), best]).all():
        finite = np.isfinite(logits[np.arange(best.size), best])
        raise ValueError(_BROKEN_ROW.format(row=int(np.argmin(finite))))
    wanted = best.tolist()
    accepted = 0
    while accepted < len(drafted) and drafted[accepted] == wanted[accepted]:
        accepted += 1
    return accepted, wanted[accepted]


def _most_likely(logits: Logits, row: int) -> int:
    """As `LogitRows.most_likely` of one row, without its arrays."""
    values = logits[row]
    best = int(values.argmax())
    if not math.isfinite(values[best]):
        raise ValueError(_BROKEN_ROW.format(row=row))
    return best


def _draft_rows(draft: Draft, vocabulary: int) -> ProbabilityRows | None:
    if draft.probs is None and draft.tokens.size:
        return None
    return ProbabilityRows(np.empty((0, vocabulary)) if draft.probs is None else draft.probs)
