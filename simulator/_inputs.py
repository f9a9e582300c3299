"""What verification and the loop accept, and the sentence for everything else."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from simulator._checks import FloatArray, IntArray, as_array
from simulator._rows import SUM_TOLERANCE
from simulator.models import Draft, Logits
from simulator.rules import Rule

Indices: TypeAlias = tuple[npt.ArrayLike, npt.ArrayLike]


def own_rows(drafted: IntArray) -> tuple[IntArray, IntArray]:
    """Row numbers when every position has a row of its own, in order."""
    rounds, gamma = drafted.shape
    target = np.arange(rounds * (gamma + 1)).reshape(rounds, gamma + 1)
    return target, np.arange(rounds * gamma).reshape(rounds, gamma)


def as_tokens(drafted: npt.ArrayLike, vocabulary: int) -> IntArray:
    """Drafted tokens as whole numbers below the vocabulary, [rounds, gamma]."""
    tokens = as_array("drafted", drafted, "token numbers of shape [rounds, gamma]")
    if tokens.ndim != 2 or (tokens.size and tokens.dtype.kind not in "iu"):
        raise ValueError(
            "drafted must be token numbers of shape [rounds, gamma]; "
            f"got {tokens.dtype} of shape {list(tokens.shape)}."
        )
    if tokens.size and not (tokens.min() >= 0 and tokens.max() < vocabulary):
        raise ValueError(
            f"drafted must hold tokens in [0, {vocabulary - 1}]; got {tokens.min()} to {tokens.max()}."
        )
    return tokens.astype(np.int64)


def check_shapes(
    target: npt.NDArray[Any], draft: npt.NDArray[Any] | None, drafted: IntArray, kind: str
) -> None:
    """Refuse arrays whose shapes do not fit the drafted tokens."""
    rounds, gamma = drafted.shape
    vocabulary = target.shape[-1]
    for name, array, positions in (("target", target, gamma + 1), ("draft", draft, gamma)):
        if array is not None and array.shape != (rounds, positions, vocabulary):
            raise ValueError(
                f"{name}_{kind} must have shape {[rounds, positions, vocabulary]} beside drafted of "
                f"shape {[rounds, gamma]}; got {list(array.shape)}."
            )


def as_contexts(
    contexts: Indices, target: FloatArray, draft: FloatArray | None, drafted: IntArray
) -> tuple[IntArray, IntArray]:
    """The row numbers of `contexts`, checked against both pools."""
    rounds, gamma = drafted.shape
    found: list[IntArray] = []
    if not isinstance(contexts, tuple | list) or len(contexts) != 2:
        raise ValueError(
            "contexts must be a pair, the rows of target_probs and those of draft_probs; "
            f"got {contexts!r}."
        )
    for index, (given, pool, positions) in enumerate(
        zip(contexts, (target, draft), (gamma + 1, gamma), strict=True)
    ):
        rows = as_array(
            f"contexts[{index}]", given, f"whole numbers of shape {[rounds, positions]}"
        )
        size = np.iinfo(np.int64).max if pool is None else len(pool)
        if pool is not None and (pool.ndim != 2 or pool.shape[1] != target.shape[-1]):
            raise ValueError(
                "pools must have shape [rows, vocabulary] with one vocabulary; "
                f"got {list(pool.shape)} beside {list(target.shape)}."
            )
        if rows.shape != (rounds, positions) or (rows.size and rows.dtype.kind not in "iu"):
            raise ValueError(
                f"contexts[{index}] must be whole numbers of shape {[rounds, positions]}; "
                f"got {rows.dtype} of shape {list(rows.shape)}."
            )
        if rows.size and not (rows.min() >= 0 and rows.max() < size):
            raise ValueError(
                f"contexts[{index}] must number rows in [0, {size - 1}]; "
                f"got {rows.min()} to {rows.max()}."
            )
        found.append(rows.astype(np.int64))
    return found[0], found[1]


def as_float_logits(name: str, logits: npt.ArrayLike) -> Any:
    """Logits in float32 or float64, [rounds, positions, vocabulary], not copied."""
    values = as_array(name, logits, "float32 or float64 of shape [rounds, positions, vocabulary]")
    if values.dtype.kind in "iu":
        values = values.astype(np.float64)
    if values.dtype not in (np.float32, np.float64) or values.ndim != 3:
        raise ValueError(
            f"{name} must be float32 or float64 of shape [rounds, positions, vocabulary]; got "
            f"{values.dtype} of shape {list(values.shape)}."
        )
    return values


def check_rule(rule: Rule) -> None:
    """Refuse what is no rule, such as a builder that was not called."""
    if not isinstance(rule, Rule):
        raise ValueError(
            f"rule must be one of simulator's rules, such as simulator.greedy(); got {rule!r}."
        )


def check_draft(draft: Draft, length: int, vocabulary: int, *, chains_only: str = "") -> None:
    """Refuse a drafter's proposal that is longer than asked for or that the target cannot judge.

    `chains_only` names what cannot go with a tree.
    """
    tokens: Any = draft.tokens
    if not (isinstance(tokens, np.ndarray) and tokens.ndim == 1):
        raise ValueError(f"drafter must propose tokens as an array of shape [n]; got {tokens!r}.")
    if draft.parents is not None:
        if chains_only:
            raise ValueError(f"drafter must propose chains with {chains_only}; it proposes a tree.")
        _check_tree(draft, length)
    elif draft.passengers:
        raise ValueError("drafter must give the parents of a draft that carries passengers.")
    elif tokens.size > length:
        raise ValueError(
            f"drafter must propose at most the {length} tokens it was asked for; got {tokens.size}."
        )
    if not tokens.size:
        return
    if tokens.dtype.kind not in "iu" or tokens.min() < 0 or tokens.max() >= vocabulary:
        raise ValueError(
            f"drafter must propose tokens of the target's vocabulary, whole numbers in "
            f"[0, {vocabulary - 1}]; got {tokens.tolist()} of {tokens.dtype}."
        )
    probs: Any = draft.probs
    if probs is None:
        return
    shape = (tokens.size, vocabulary)
    if not (isinstance(probs, np.ndarray) and probs.shape == shape and probs.dtype.kind == "f"):
        got = f"{probs.dtype} of shape {list(probs.shape)}" if hasattr(probs, "shape") else probs
        raise ValueError(
            f"drafter must give probs of shape {list(shape)}, a distribution over the target's "
            f"vocabulary per token; got {got}."
        )
    sums = probs.sum(axis=1, dtype=np.float64)
    worst = int(np.argmax(np.where(np.isnan(sums), np.inf, np.abs(sums - 1.0))))
    if not (abs(sums[worst] - 1.0) <= SUM_TOLERANCE and probs.min() >= 0.0):
        raise ValueError(
            "drafter must give probs that are distributions, at least 0 with rows that sum to 1; "
            f"row {worst} sums to {sums[worst]:.6g} and the least entry is {probs.min():.6g}."
        )


def depths_of(parents: IntArray) -> list[int]:
    """Depth of every token of a draft, 1 for those that follow the text, from parents that come first."""
    depths: list[int] = []
    for parent in parents.tolist():
        depths.append(1 if parent < 0 else depths[parent] + 1)
    return depths


def _check_tree(draft: Draft, length: int) -> None:
    """Refuse parents that are no tree, or a tree that is deeper than asked for."""
    parents: Any = draft.parents
    size = draft.tokens.size
    fits = (
        isinstance(parents, np.ndarray) and parents.shape == (size,) and parents.dtype.kind == "i"
    )
    if not fits:
        raise ValueError(
            f"drafter must give one parent per token, {size} of them; got {parents!r}."
        )
    if not 0 <= draft.passengers <= size:
        raise ValueError(
            f"passengers must be a number of the draft's {size} tokens; got {draft.passengers}."
        )
    wrong = np.flatnonzero((parents < -1) | (parents >= np.arange(size)))
    if wrong.size:
        node = int(wrong[0])
        raise ValueError(
            "drafter must give parents that come before their children, or -1 for the text; token "
            f"{node} has parent {parents[node]}."
        )
    deepest = max(depths_of(parents[: draft.judged]), default=0)
    if deepest > length:
        raise ValueError(
            f"drafter must propose at most the {length} tokens it was asked for behind each other; got "
            f"a tree of depth {deepest}."
        )


def check_logits(logits: Logits, rows: int, vocabulary: int) -> None:
    """Refuse what a target returns where it is no row of logits per token that it was fed."""
    if logits.shape != (rows, vocabulary) or logits.dtype.kind != "f":
        raise ValueError(
            f"target must give logits of shape {[rows, vocabulary]}, floating-point numbers; got "
            f"{logits.dtype} of shape {list(logits.shape)}."
        )
