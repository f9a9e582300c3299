"""What `verify` and `verify_logits` accept, and the sentence for everything else."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from simulator._checks import FloatArray, IntArray

Indices: TypeAlias = tuple[npt.ArrayLike, npt.ArrayLike]


def own_rows(drafted: IntArray) -> tuple[IntArray, IntArray]:
    """Row numbers when every position has a row of its own, in order."""
    rounds, gamma = drafted.shape
    target = np.arange(rounds * (gamma + 1)).reshape(rounds, gamma + 1)
    return target, np.arange(rounds * gamma).reshape(rounds, gamma)


def as_tokens(drafted: npt.ArrayLike, vocabulary: int) -> IntArray:
    """Drafted tokens as whole numbers below the vocabulary, [rounds, gamma]."""
    tokens: npt.NDArray[Any] = np.asarray(drafted)
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
    for index, (given, pool, positions) in enumerate(
        zip(contexts, (target, draft), (gamma + 1, gamma), strict=True)
    ):
        rows: npt.NDArray[Any] = np.asarray(given)
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
    values: npt.NDArray[Any] = np.asarray(logits)
    if values.dtype.kind in "iu":
        values = values.astype(np.float64)
    if values.dtype not in (np.float32, np.float64) or values.ndim != 3:
        raise ValueError(
            f"{name} must be float32 or float64 of shape [rounds, positions, vocabulary]; got "
            f"{values.dtype} of shape {list(values.shape)}."
        )
    return values
