"""The curves of tokens per round over gamma that `fit_curve` tries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.fitting.chain import EasyHard
from analysis.fitting.laws import Constant, Decay, odds
from analysis.fitting.mixed import HitOrMiss
from simulator import Process
from simulator._checks import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shape:
    """A family of curves: tokens per round of parameters on the scale of log odds."""

    name: str
    names: tuple[str, ...]
    starts: FloatArray
    tokens: Callable[[FloatArray, Sequence[int]], FloatArray]
    process: Callable[[FloatArray, int], Process]


def _with_no_wrong(thetas: FloatArray) -> FloatArray:
    """Hit or miss whose misses keep nothing: a wrong draft's first token is lost."""
    return np.column_stack([thetas, np.full(len(thetas), -14.0)])


def _rise(theta: FloatArray, gamma: int) -> Process:
    return HitOrMiss().process(_with_no_wrong(theta[np.newaxis])[0], gamma, 1.0)


def _starts(*rows: tuple[float, ...]) -> FloatArray:
    return odds(np.asarray(rows))


_CONSTANT, _DECAY, _HIT, _CHAIN = Constant(), Decay(), HitOrMiss(), EasyHard()
SHAPES = (
    Shape(
        name=_CONSTANT.name,
        names=("p",),
        starts=_starts((0.2,), (0.5,), (0.8,)),
        tokens=_CONSTANT.tokens,
        process=lambda theta, gamma: _CONSTANT.process(theta, gamma, 1.0),
    ),
    Shape(
        name=_DECAY.name,
        names=("first", "factor"),
        starts=_starts((0.5, 0.9), (0.8, 0.9), (0.8, 0.6)),
        tokens=_DECAY.tokens,
        process=lambda theta, gamma: _DECAY.process(theta, gamma, 1.0),
    ),
    Shape(
        name="rise",
        names=("right", "p_right"),
        starts=_starts((0.5, 0.8), (0.8, 0.8), (0.9, 0.95)),
        tokens=lambda thetas, gammas: _HIT.tokens(_with_no_wrong(thetas), gammas),
        process=_rise,
    ),
    Shape(
        name=_CHAIN.name,
        names=("p_easy", "p_hard", "stay_easy", "stay_hard"),
        starts=_starts((0.9, 0.3, 0.9, 0.7), (0.95, 0.6, 0.8, 0.8), (0.8, 0.1, 0.7, 0.9)),
        tokens=_CHAIN.tokens,
        process=lambda theta, gamma: _CHAIN.process(_CHAIN.canonical(theta), gamma, 1.0),
    ),
)
