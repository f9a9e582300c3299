"""Acceptance against temperature: what sampling settings do to p under each rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from analysis._arrays import nonnegatives
from analysis.tokens.acceptance import acceptance_of_rows, check_picked
from simulator._inputs import check_rule
from simulator.rules import Picked, Rule, speculative_sampling
from simulator.sampling import Sampling, as_logits

_BLOCK = 1 << 20  # entries of logits handled at once: some tens of megabytes with all temporaries


@dataclass(frozen=True, slots=True, kw_only=True)
class TemperatureCurve:
    """p by temperature under one rule: `p[i]` at `temperatures[i]`, averaged over the contexts."""

    rule: Rule
    picked: Picked
    temperatures: tuple[float, ...]
    p: tuple[float, ...]


def acceptance_by_temperature(
    target_logits: npt.ArrayLike,
    draft_logits: npt.ArrayLike,
    temperatures: Sequence[float],
    *,
    rules: Sequence[Rule] = (speculative_sampling(),),
    picked: Picked = "drawn",
    sampling: Sampling = Sampling(),  # noqa: B008 — frozen
) -> tuple[TemperatureCurve, ...]:
    """p against temperature, one curve per rule; temperature and filters act on both models.

    The mean over contexts of acceptance_probability after `sampling` with each temperature in turn;
    0 leaves the most likely token. `target_logits`, `draft_logits`: [contexts, vocabulary]. Raises
    ValueError for other shapes, no context, or a temperature below 0.

    >>> import numpy as np
    >>> target, draft = np.log([[0.6, 0.4], [0.5, 0.5]]), np.log([[0.4, 0.6], [0.9, 0.1]])
    >>> [curve] = acceptance_by_temperature(target, draft, [0, 1])
    >>> [round(p, 12) for p in curve.p]
    [0.5, 0.7]
    """
    if isinstance(rules, Rule):
        raise ValueError(
            f"rules must be a sequence of rules, such as [greedy()]; got {rules.name} alone."
        )
    for rule in rules:
        check_rule(rule)
    check_picked(picked, 0.0)
    target, draft = as_logits(target_logits), as_logits(draft_logits)
    if target.ndim != 2 or target.shape != draft.shape or not len(target):
        raise ValueError(
            "target_logits and draft_logits must have one shape [contexts, vocabulary] with a context "
            f"at least; got {list(target.shape)} and {list(draft.shape)}."
        )
    degrees = nonnegatives("temperatures", temperatures)
    if degrees.ndim != 1:
        raise ValueError(f"temperatures must be a sequence of numbers; got {temperatures!r}.")
    sums = np.zeros((len(rules), degrees.size))
    step = max(1, _BLOCK // target.shape[1])
    for column, temperature in enumerate(degrees):
        at = replace(sampling, temperature=float(temperature))
        for first in range(0, len(target), step):
            rows = slice(first, first + step)
            pair = at.probabilities(target[rows]), at.probabilities(draft[rows])
            for line, rule in enumerate(rules):
                sums[line, column] += acceptance_of_rows(*pair, rule, picked, 0.0).sum()
    return tuple(
        TemperatureCurve(
            rule=rule,
            picked=picked,
            temperatures=tuple(degrees.tolist()),
            p=tuple((sums[line] / len(target)).tolist()),
        )
        for line, rule in enumerate(rules)
    )
