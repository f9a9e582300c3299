"""Does an output follow the target's distribution? A test of one's own samples, with its error rates."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.tokens.lossless_verdict import LosslessVerdict, judge
from analysis.tokens.sample_size import MOST_SAMPLES, check_rates
from simulator._checks import FloatArray, IntArray, as_array
from simulator._rows import as_rows

_BLOCK = 1 << 20  # probabilities sorted at once


def check_lossless(
    samples: npt.ArrayLike,
    target_probs: npt.ArrayLike,
    *,
    contexts: npt.ArrayLike | None = None,
    false_alarm_rate: float = 1e-6,
    power: float = 0.99,
) -> LosslessVerdict:
    """Are these tokens draws from the target's distribution? For the output of any decoder.

    `samples`: token ids, int [n], independent given their contexts. `target_probs`, after the same
    temperature and filters as the decoder's:

    - [vocabulary]: every sample was drawn after one and the same text
    - [contexts, vocabulary] with `contexts` int [n]: sample i was drawn after text contexts[i]; each
      text has cells of its own, which takes many samples of each
    - [n, vocabulary] without `contexts`: sample i was drawn after a text of its own, fixed
      beforehand; counted is by rank in the row (1 for the text's most likely token), and compared
      with the sum of the sorted rows, whose scatter is never above that of one context

    Pearson's chi-square with cells of 25 expected samples or more, an upper bound for tokens too
    rare for a cell, and a check that nothing impossible occurred. Raises ValueError for other
    shapes, ids outside the vocabulary, rows that are no distributions, and rates as samples_needed.

    >>> import numpy as np
    >>> target = np.array([0.5, 0.3, 0.2])
    >>> samples = np.repeat([0, 1, 2], [5_050, 2_990, 1_960])
    >>> print(check_lossless(samples, target))
    No deviation from the target's distribution seen (χ² = 1.3 on 2 degrees of freedom in 10,000
    samples); a total variation of 0.043 would show with probability 0.99.
    >>> print(check_lossless(samples, [0.4, 0.4, 0.2]))
    Not the target's distribution (χ² = 531.4 on 2 degrees of freedom in 10,000 samples): token 0
    came 5,050 times where 4000.0 were expected; a lossless output fails with chance 1e-06 at most.
    """
    rows = as_rows("target_probs", target_probs)
    if rows.ndim not in {1, 2}:
        raise ValueError(
            "target_probs must have shape [vocabulary], [contexts, vocabulary] or [samples, vocabulary]; "
            f"got {list(rows.shape)}."
        )
    tokens = _ids("samples", samples, rows.shape[-1], "token ids")
    if rows.ndim == 1:
        rows, where, pooled = rows[None], np.zeros_like(tokens), False
        if contexts is not None:
            raise ValueError(
                "contexts needs target_probs of shape [contexts, vocabulary]; got one row."
            )
    elif contexts is None:
        where, pooled = np.arange(tokens.size), True
        if len(rows) != tokens.size:
            raise ValueError(
                "target_probs must have a row per sample unless contexts says which row is whose; got "
                f"{len(rows)} rows and {tokens.size} samples."
            )
    else:
        where, pooled = _ids("contexts", contexts, len(rows), "row numbers of target_probs"), False
        if where.size != tokens.size:
            raise ValueError(
                f"contexts must have an entry per sample; got {where.size} for {tokens.size} samples."
            )
    check_rates(false_alarm_rate, power)
    if pooled:
        counts, expected = _by_rank(tokens, rows)
        impossible = tokens[rows[where, tokens] == 0.0]
        return judge(
            counts[None],
            expected[None],
            impossible=impossible.size,
            impossible_token=int(impossible[0]) if impossible.size else None,
            contexts=None,
            by_rank=True,
            false_alarm_rate=false_alarm_rate,
            power=power,
        )
    counts = np.zeros(rows.shape, dtype=np.int64)
    np.add.at(counts, (where, tokens), 1)
    names = None if contexts is None else range(len(rows))
    return _judge_counts(counts, rows, names, false_alarm_rate, power)


def check_lossless_counts(
    counts: npt.ArrayLike,
    target_probs: npt.ArrayLike,
    *,
    false_alarm_rate: float = 1e-6,
    power: float = 0.99,
) -> LosslessVerdict:
    """check_lossless for samples that are counted already.

    `counts`: how often each token came, int [vocabulary] or [contexts, vocabulary], with
    `target_probs` of the same shape.

    >>> check_lossless_counts([60_000, 29_000, 11_000], [0.6, 0.29, 0.11]).passed
    True
    """
    rows = as_rows("target_probs", target_probs)
    raw = as_array("counts", counts, "whole numbers of at least 0 in the shape of target_probs")
    if raw.shape != rows.shape or rows.ndim > 2 or raw.dtype.kind not in "iu" or (raw < 0).any():
        raise ValueError(
            "counts must be whole numbers of at least 0 in the shape of target_probs, [vocabulary] or "
            f"[contexts, vocabulary]; got {raw.dtype} of shape {list(raw.shape)} for {list(rows.shape)}."
        )
    total = float(raw.sum(dtype=np.float64))  # whole numbers would overflow
    if total > MOST_SAMPLES:
        raise ValueError(
            f"counts must be at most {MOST_SAMPLES:.0e} samples together; got {total:.3g}."
        )
    check_rates(false_alarm_rate, power)
    shape = (-1, rows.shape[-1])
    names = range(len(rows)) if rows.ndim == 2 else None
    whole = raw.astype(np.int64).reshape(shape)
    return _judge_counts(whole, rows.reshape(shape), names, false_alarm_rate, power)


def _judge_counts(
    counts: IntArray, rows: FloatArray, names: range | None, false_alarm_rate: float, power: float
) -> LosslessVerdict:
    """Contexts with cells of their own, [contexts, vocabulary]."""
    off = (rows == 0.0) & (counts > 0)
    return judge(
        counts,
        rows * counts.sum(axis=1, keepdims=True),
        impossible=int(counts[off].sum()),
        impossible_token=int(np.argwhere(off)[0, 1]) if off.any() else None,
        contexts=names,
        by_rank=False,
        false_alarm_rate=false_alarm_rate,
        power=power,
    )


def _by_rank(tokens: IntArray, rows: FloatArray) -> tuple[IntArray, FloatArray]:
    """Samples and expected samples by rank in their own rows, [vocabulary]; ties in order of ids.

    Ranks, because tokens drawn without a look at the text can still have the right sums by id.
    """
    counts, expected = np.zeros(rows.shape[1], dtype=np.int64), np.zeros(rows.shape[1])
    step = max(1, _BLOCK // rows.shape[1])
    for first in range(0, len(rows), step):
        some = rows[first : first + step]
        order = np.argsort(-some, axis=1, kind="stable")
        expected += np.take_along_axis(some, order, axis=1).sum(axis=0)
        found = np.nonzero(order == tokens[first : first + step, None])[1]
        counts += np.bincount(found, minlength=counts.size)
    return counts, expected


def _ids(name: str, values: npt.ArrayLike, below: int, what: str) -> IntArray:
    raw = as_array(name, values, f"{what}, whole numbers of shape [n]")
    if raw.ndim != 1 or raw.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be {what}, whole numbers of shape [n]; got {raw.dtype} of shape {list(raw.shape)}."
        )
    bad = (raw < 0) | (raw >= below)
    if bad.any():
        where = int(np.argmax(bad))
        raise ValueError(f"{name} must lie in [0, {below - 1}]; got {raw[where]} at index {where}.")
    return raw.astype(np.int64)
