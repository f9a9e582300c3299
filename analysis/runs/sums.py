"""A run as sums by prompt: what every number of a report, and every resample of it, is computed from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from operator import add

import numpy as np

from analysis.runs.checks import MOST_REQUESTS, check_gammas, check_request, check_totals
from simulator import AcceptanceTable
from simulator._checks import FloatArray
from simulator.costs import MeasuredRequest

LONGEST_KEPT = 512
"""Requests of more tokens are counted with those of this length; their tokens are all in `emitted`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GammaSums:
    """The sums of one draft length, shape [prompts] each, or [draws] once weighted.

    `tested` and `accepted` have a last axis of depths, `passes` and `passes_s` one of pass widths.
    """

    requests: FloatArray
    emitted: FloatArray
    discarded: FloatArray
    prefill_s: FloatArray
    decode_s: FloatArray
    draft_s: FloatArray
    draft_steps: FloatArray
    verify_s: FloatArray
    rounds: FloatArray
    drafted: FloatArray
    tested: FloatArray
    accepted: FloatArray
    passes: FloatArray
    passes_s: FloatArray

    @property
    def rest_s(self) -> FloatArray:
        """Time outside of model calls."""
        return np.asarray(self.decode_s - self.draft_s - self.verify_s)

    def weighted(self, weights: FloatArray) -> GammaSums:
        """The sums over prompts, each counted as often as `weights` [draws, prompts] says."""
        return GammaSums(
            **{field.name: weights @ getattr(self, field.name) for field in fields(self)}
        )

    def __add__(self, other: GammaSums) -> GammaSums:
        """The sums of two draft lengths together."""
        return GammaSums(
            **{
                field.name: getattr(self, field.name) + getattr(other, field.name)
                for field in fields(self)
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSums:
    """The sums of a run by gamma, 0 for plain decoding, over the same prompts for all of them.

    `of_length` [prompts, lengths] says how many plain requests emitted that many tokens; `left_out`
    how many requests lacked a partner at another gamma.
    """

    prompts: tuple[str, ...]
    widths: tuple[int, ...]
    lengths: tuple[int, ...]
    of_length: FloatArray
    by_gamma: dict[int, GammaSums]
    tables: dict[int, AcceptanceTable]
    left_out: int

    @property
    def branches(self) -> bool:
        """Whether drafts are trees: their passes have more tokens than a path and the text's last."""
        widths = np.asarray(self.widths)
        return any(
            bool((sums.passes.sum(axis=0)[widths > gamma + 1] > 0.0).any())
            for gamma, sums in self.by_gamma.items()
        )

    @property
    def by_step(self) -> bool:
        """Whether one forward of the draft gives several tokens, so that forwards are what costs."""
        drafting = [sums for gamma, sums in self.by_gamma.items() if gamma]
        steps = sum(float(sums.draft_steps.sum()) for sums in drafting)
        return 0.0 < steps < sum(float(sums.drafted.sum()) for sums in drafting)

    @property
    def gammas(self) -> tuple[int, ...]:
        """The draft lengths, without plain decoding."""
        return tuple(gamma for gamma in self.by_gamma if gamma)

    @property
    def plain(self) -> GammaSums:
        """Plain decoding."""
        return self.by_gamma[0]

    def weighted(self, weights: FloatArray) -> dict[int, GammaSums]:
        """The sums by gamma over prompts weighted with [draws, prompts]."""
        return {gamma: sums.weighted(weights) for gamma, sums in self.by_gamma.items()}


def sums_of(requests: Iterable[MeasuredRequest]) -> RunSums:
    """The sums of a run, over every prompt and repeat that was measured with every gamma.

    What was measured with some of the gammas only, in a run that was interrupted, is left out and
    counted: each draft length must be judged by the same texts.

    Raises ValueError if a request contradicts itself or occurs twice, if plain decoding or drafting
    is missing, if no prompt has every gamma, or for more than a report needs (10,000 requests).
    """
    requests = tuple(requests)
    if len(requests) > MOST_REQUESTS:
        raise ValueError(f"requests must be at most {MOST_REQUESTS:,}; got {len(requests):,}.")
    groups: dict[tuple[str, int], dict[int, MeasuredRequest]] = defaultdict(dict)
    for request in requests:
        check_request(request)
        group = groups[request.prompt, request.repeat]
        if request.gamma in group:
            raise ValueError(
                f"requests must occur once each; prompt {request.prompt!r}, gamma {request.gamma}, "
                f"repeat {request.repeat} came twice."
            )
        group[request.gamma] = request
    gammas = sorted({gamma for group in groups.values() for gamma in group})
    check_gammas(gammas)
    whole = {key: group for key, group in groups.items() if len(group) == len(gammas)}
    if not whole:
        raise ValueError(
            "requests must include a prompt that was measured with every gamma "
            f"({', '.join(map(str, gammas))}); got none. A run that was interrupted goes on with --resume."
        )
    kept = [request for group in whole.values() for request in group.values()]
    prompts = tuple(dict.fromkeys(request.prompt for request in kept))
    by_gamma = {gamma: [group[gamma] for group in whole.values()] for gamma in gammas}
    lengths = [min(request.emitted, LONGEST_KEPT) for request in by_gamma[0]]
    axes = _Axes(
        prompts={prompt: i for i, prompt in enumerate(prompts)},
        widths=_positions(t.width for request in kept for t in request.passes if t.count),
        lengths=_positions(lengths),
        depths=max(request.table.depths for request in kept),
    )
    of_length = np.zeros((len(prompts), len(axes.lengths)))
    for request, length in zip(by_gamma[0], lengths, strict=True):
        of_length[axes.prompts[request.prompt], axes.lengths[length]] += 1.0
    sums = {gamma: _sums(group, axes) for gamma, group in by_gamma.items()}
    check_totals(sums)
    return RunSums(
        prompts=prompts,
        widths=tuple(axes.widths),
        lengths=tuple(axes.lengths),
        of_length=of_length,
        by_gamma=sums,
        tables={g: reduce(add, (r.table for r in group)) for g, group in by_gamma.items()},
        left_out=sum(len(group) for group in groups.values()) - len(kept),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Axes:
    """Where a prompt, a width and a length stand in the arrays."""

    prompts: dict[str, int]
    widths: dict[int, int]
    lengths: dict[int, int]
    depths: int


def _positions(values: Iterable[int]) -> dict[int, int]:
    return {value: i for i, value in enumerate(sorted(set(values)))}


def _sums(requests: Sequence[MeasuredRequest], axes: _Axes) -> GammaSums:
    shapes = {"tested": axes.depths, "accepted": axes.depths}
    shapes |= {"passes": len(axes.widths), "passes_s": len(axes.widths)}
    totals = {
        field.name: np.zeros(
            (len(axes.prompts), *([shapes[field.name]] if field.name in shapes else []))
        )
        for field in fields(GammaSums)
    }
    for request in requests:
        row, table = axes.prompts[request.prompt], request.table
        totals["requests"][row] += 1.0
        for name in ("emitted", "prefill_s", "decode_s", "draft_s", "draft_steps", "verify_s"):
            totals[name][row] += getattr(request, name)
        for name in ("discarded", "rounds", "drafted"):
            totals[name][row] += getattr(table, name)
        totals["tested"][row, : table.depths] += table.tested
        totals["accepted"][row, : table.depths] += table.accepted
        for times in request.passes:
            if times.count:
                totals["passes"][row, axes.widths[times.width]] += times.count
                totals["passes_s"][row, axes.widths[times.width]] += times.total_s
    return GammaSums(**totals)
