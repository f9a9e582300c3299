"""One round of the loop: the target's pass over a draft, and what the rule says of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator._checks import IntArray
from simulator._inputs import check_logits
from simulator._rows import LogitRows, ProbabilityRows
from simulator.models import Draft, Logits, Target
from simulator.rules import Rule
from simulator.sampling import Sampling
from simulator.tree_verification import children_of, judge_tree
from simulator.verification import judge

_BROKEN_ROW = (
    "the target's logits must not be NaN or plus infinity, and some token must be possible; row {row} "
    "breaks this."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The verdict on one draft: kept token numbers in order, the token behind them, depths tested."""

    path: tuple[int, ...]
    following: int
    tested: int


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
) -> Judged:
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
    return Judged(
        path=tuple(range(accepted)), following=following, tested=min(accepted + 1, drafted)
    )


def _judge_tree(
    logits: Logits, draft: Draft, rule: Rule, sampling: Sampling, rng: np.random.Generator
) -> Judged:
    judged = draft.judged
    parents = np.empty(0, dtype=np.int64) if draft.parents is None else draft.parents[:judged]
    if rule.name == "greedy":
        return _follow_greedy(logits, draft.tokens[:judged].tolist(), children_of(parents))
    verdict = judge_tree(
        LogitRows(logits, sampling, "the target's logits"),
        _draft_rows(draft, logits.shape[1]),
        draft.tokens[:judged],
        children_of(parents),
        rule=rule,
        rng=rng,
    )
    return Judged(path=verdict.path, following=verdict.next_token, tested=verdict.tested)


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


def _follow_greedy(logits: Logits, drafted: list[int], children: list[list[int]]) -> Judged:
    """What `judge_tree` says under the greedy rule, without its rows of probabilities."""
    path: list[int] = []
    here = 0
    while True:
        row = logits[here]
        wanted = int(row.argmax())
        if not math.isfinite(row[wanted]):
            raise ValueError(_BROKEN_ROW.format(row=here))
        node = next((node for node in children[here] if drafted[node] == wanted), None)
        if node is None:
            tested = len(path) + bool(children[here])
            return Judged(path=tuple(path), following=wanted, tested=tested)
        path.append(node)
        here = node + 1


def _draft_rows(draft: Draft, vocabulary: int) -> ProbabilityRows | None:
    if draft.probs is None and draft.tokens.size:
        return None
    return ProbabilityRows(np.empty((0, vocabulary)) if draft.probs is None else draft.probs)
