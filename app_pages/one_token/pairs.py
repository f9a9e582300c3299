"""Two opinions about the next word: pairs to start from, mixed by chance, or typed by the reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from simulator.sampling import softmax

SENTENCE = "The cat sat on the …"
WORDS = ("mat", "sofa", "floor", "bed", "roof", "chair", "table", "keyboard", "stairs", "moon")
RANDOM, OWN = "random", "own"
_TARGET = (34.0, 18.0, 12.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0)
_LARGEST = 1e12  # of a weight: sums and ratios stay far from the ends of a float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Weights of the target and of the draft for each word; only their ratios count."""

    key: str
    name: str
    note: str
    target: tuple[float, ...]
    draft: tuple[float, ...]


PAIRS = (
    Pair(
        key="agree",
        name="They mostly agree",
        note="A good draft: the same favourites, slightly other weights.",
        target=_TARGET,
        draft=(26.0, 24.0, 14.0, 7.0, 9.0, 5.0, 6.0, 3.0, 4.0, 2.0),
    ),
    Pair(
        key="sharp",
        name="Sure target, vague draft",
        note="The target all but knows the word, the draft spreads its guesses.",
        target=(85.0, 6.0, 3.0, 2.0, 1.0, 1.0, 1.0, 0.5, 0.3, 0.2),
        draft=(14.0, 12.0, 11.0, 10.0, 10.0, 10.0, 9.0, 8.0, 8.0, 8.0),
    ),
    Pair(
        key="disagree",
        name="They disagree",
        note="The draft's favourites are others than the target's.",
        target=_TARGET,
        draft=(5.0, 8.0, 7.0, 30.0, 20.0, 7.0, 6.0, 10.0, 4.0, 3.0),
    ),
    Pair(
        key="disjoint",
        name="Nothing in common",
        note="Whatever the draft writes, the target would never write.",
        target=(50.0, 25.0, 15.0, 7.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        draft=(0.0, 0.0, 0.0, 0.0, 0.0, 45.0, 25.0, 15.0, 10.0, 5.0),
    ),
    Pair(
        key="same",
        name="Identical",
        note="The draft is a copy of the target.",
        target=_TARGET,
        draft=_TARGET,
    ),
)
NAMES = {
    **{pair.key: pair.name for pair in PAIRS},
    RANDOM: "Mixed by chance",
    OWN: "Your own",
}


def preset(key: str) -> Pair | None:
    """The pair of that name; None for the two that are made on the page."""
    return next((pair for pair in PAIRS if pair.key == key), None)


def mixed(sharpness: float, disagreement: float, seed: int) -> Pair:
    """A target that falls with rank to the power `sharpness`, and a draft that shuffles it in part.

    Draft logits are (1 - disagreement) times the target's plus disagreement times the same numbers
    in a random order: 0 is a copy, 1 a shuffle.
    """
    logits = -sharpness * np.log(np.arange(1, len(WORDS) + 1, dtype=np.float64))
    shuffled = np.random.default_rng(seed).permutation(logits)
    draft = (1.0 - disagreement) * logits + disagreement * shuffled
    return Pair(
        key=RANDOM,
        name=NAMES[RANDOM],
        note="The draft is the target with its logits shuffled in part.",
        target=_as_weights(softmax(logits)),
        draft=_as_weights(softmax(draft)),
    )


def own(target: Sequence[float], draft: Sequence[float]) -> Pair:
    """The reader's weights, which `weights_problem` found usable."""
    return Pair(
        key=OWN,
        name=NAMES[OWN],
        note="Weights of your own, divided by their sums.",
        target=tuple(float(weight) for weight in target),
        draft=tuple(float(weight) for weight in draft),
    )


def weights_problem(name: str, weights: Sequence[object]) -> str | None:
    """The sentence for weights that cannot be used; None if they can."""
    allowed = f"{name} weights must be numbers in [0, {_LARGEST:.0e}], at least one of them above 0"
    if len(weights) != len(WORDS):
        return f"{allowed}, one for each of the {len(WORDS)} words; got {len(weights)}."
    total = 0.0
    for word, weight in zip(WORDS, weights, strict=True):
        number = _as_number(weight)
        if number is None:
            return f"{allowed}; “{word}” is empty or no number."
        if not 0.0 <= number <= _LARGEST:
            return f"{allowed}; got {number:g} for “{word}”."
        total += number
    return None if total > 0.0 else f"{allowed}; got only zeros."


def table(pair: Pair) -> pd.DataFrame:
    """The pair as a table to edit."""
    return pd.DataFrame({"word": WORDS, "target": pair.target, "draft": pair.draft})


def _as_number(value: object) -> float | None:
    try:
        number = float(str(value))
    except ValueError:
        return None
    return None if np.isnan(number) else number


def _as_weights(probabilities: np.ndarray) -> tuple[float, ...]:
    return tuple(float(value) for value in probabilities)
