"""What every position of many texts would decide, drawn before anyone knows where rounds begin.

A position is tested at most once, and a round begins there at most once. So the verdict of a token
tested there, the state of the text there and what a look-up would find there can be drawn for all
positions of all texts at once, in any order; which of the draws count is decided afterwards.

Each role has random words of its own, the same number for each request: however many requests
are drawn at a time, the words of a request are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from simulator._checks import FloatArray, IntArray
from simulator.mixtures import BetaMixture, EasyHardChain, HitMiss
from simulator.processes import AcceptanceByDepth, ConfidentAcceptance, ConstantAcceptance

Flags: TypeAlias = npt.NDArray[np.bool_]
DrawnProcess: TypeAlias = (
    ConstantAcceptance
    | AcceptanceByDepth
    | ConfidentAcceptance
    | BetaMixture
    | EasyHardChain
    | HitMiss
)
TEXTS_AT_ONCE = 4
"""All chunks of texts but the last must be a multiple of this: their words are drawn together."""
_WORDS = 1 << 16
_NARROW = 16  # fewer texts than this are walked one by one: array calls would cost more


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """The decisions of a chunk of texts, all of shape [positions, texts].

    `kept`: a token tested here is kept. Where kept tokens depend on the draft, `kept` is for right
    drafts, `kept_wrong` for wrong ones, and a draft that begins here is `right` and `found`. Where
    they depend on the depth, `ranks` says at which: kept at a depth if the rank is below its own.
    """

    kept: Flags | None = None
    kept_wrong: Flags | None = None
    right: Flags | None = None
    found: Flags | None = None
    ranks: npt.NDArray[np.uint16] | None = None

    @classmethod
    def stacked(cls, before: Positions, behind: Positions) -> Positions:
        """The positions of two parts of the same texts, one behind the other."""
        pairs = {
            field.name: (getattr(before, field.name), getattr(behind, field.name))
            for field in fields(cls)
        }
        return cls(
            **{name: np.concatenate(pair) for name, pair in pairs.items() if pair[0] is not None}
        )

    def since(self, first: int) -> Positions:
        """The positions from `first` on."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return Positions(
            **{name: value[first:] for name, value in values.items() if value is not None}
        )


class Words:
    """16-bit words of one role, and the uniforms that settle those that tie with a probability."""

    def __init__(self, generator: np.random.Generator) -> None:
        seeds = generator.integers(0, 1 << 32, size=(2, 4), dtype=np.uint32)
        self.words, self.uniforms = (np.random.default_rng(seed) for seed in seeds)

    def flips(self, texts: int, positions: int, *chances: float | FloatArray) -> list[Flags]:
        """For each chance p: whether the same uniform is below p, shape [positions, texts].

        A chance is one number, or one per text. Each flip alone comes up with probability p to within
        2^-69, as in `simulator.flips`; those of one position are coupled.
        """
        words = self.draw(texts, positions)
        scaled = [np.asarray(chance, dtype=np.float64) * _WORDS for chance in chances]
        wholes = [_whole(value) for value in scaled]
        tied = words == wholes[0]
        for whole in wholes[1:]:
            tied |= words == whole
        position, text = _by_text(tied)
        uniforms = self.uniforms.random(text.size)
        flags = []
        for value, whole in zip(scaled, wholes, strict=True):
            came_up = words < whole
            parts = np.broadcast_to(value - np.floor(value), (texts,))[text]
            same = words[position, text] == np.broadcast_to(whole, (texts,))[text]
            came_up[position[same], text[same]] = uniforms[same] < parts[same]
            flags.append(came_up)
        return flags

    def ranks(self, texts: int, positions: int, chances: Sequence[float]) -> npt.NDArray[np.uint16]:
        """How many of the ascending `chances` the uniform of a position is not below, [positions, texts]."""
        words = self.draw(texts, positions)
        scaled = np.asarray(chances) * _WORDS
        wholes = np.floor(scaled).astype(np.int64)
        first = np.searchsorted(wholes, np.arange(_WORDS), side="left")
        behind = np.searchsorted(wholes, np.arange(_WORDS), side="right")
        ranks = behind.astype(np.uint16)[words]
        position, text = _by_text((first != behind)[words])
        uniforms = self.uniforms.random(text.size)
        tied = words[position, text]
        rank, end = first[tied], behind[tied]
        parts = np.append(scaled - wholes, 1.0)  # the last is never asked for
        while True:
            passed = (rank < end) & (parts[rank] <= uniforms)
            if not passed.any():
                break
            rank = rank + passed
        ranks[position, text] = rank
        return ranks

    def draw(self, texts: int, positions: int) -> npt.NDArray[np.uint16]:
        """Words [positions, texts]."""
        groups = -(-texts // TEXTS_AT_ONCE)
        drawn = self.words.integers(0, 1 << 64, size=(groups, positions), dtype=np.uint64)
        # The words of four texts come together: half the time, and little to turn around.
        return np.ascontiguousarray(drawn.T).view(np.uint16)[:, :texts]


class Source:
    """Draws the positions of texts under a process, chunk by chunk.

    One text may come in several parts, one after the other, if nothing else is drawn in between.
    """

    def __init__(self, process: DrawnProcess, gamma: int, generator: np.random.Generator) -> None:
        self.process = process
        self.verdicts, self.states, self.starts = (Words(generator) for _ in range(3))
        self.requests = np.random.default_rng(
            generator.integers(0, 1 << 32, size=4, dtype=np.uint32)
        )
        self.easy: Flags | None = None
        if isinstance(process, AcceptanceByDepth):
            self.chances = sorted(set(process.conditional(gamma)))

    def begin(self, texts: int) -> None:
        """Draw what is decided once per text."""
        process = self.process
        if isinstance(process, BetaMixture):
            self.p: float | FloatArray = process.p
            if not process.is_one_p:
                self.p = np.minimum(self.requests.beta(*process.shapes, size=texts), 1.0)
        elif isinstance(process, EasyHardChain):
            self.easy = self.requests.random(texts) < process.easy_share

    def next(self, texts: int, positions: int) -> Positions:
        """The next positions of the texts that were begun."""
        process = self.process
        if isinstance(process, EasyHardChain):
            return Positions(kept=self._along_text(process, texts, positions))
        if isinstance(process, HitMiss):
            kept, wrong = self.verdicts.flips(texts, positions, process.p_right, process.p_wrong)
            (right,) = self.states.flips(texts, positions, process.right)
            (found,) = self.starts.flips(texts, positions, process.coverage)
            return Positions(kept=kept, kept_wrong=wrong, right=right, found=found)
        if isinstance(process, AcceptanceByDepth):
            return Positions(ranks=self.verdicts.ranks(texts, positions, self.chances))
        p = self.p if isinstance(process, BetaMixture) else process.p
        (kept,) = self.verdicts.flips(texts, positions, p)
        return Positions(kept=kept)

    def _along_text(self, process: EasyHardChain, texts: int, positions: int) -> Flags:
        kept_easy, kept = self.verdicts.flips(texts, positions, process.p_easy, process.p_hard)
        stays, hard = self.states.flips(texts, positions, process.stay_easy, process.stay_hard)
        easy = np.empty((positions + 1, texts), dtype=np.bool_)
        easy[0] = self.easy
        if texts < _NARROW:
            for text in range(texts):
                easy[:, text] = _follow(bool(easy[0, text]), stays[:, text], ~hard[:, text])
        else:
            # What follows is ~hard, and where the position is easy and that is not `stays`, its
            # contrary: two operations a step, without the masked copies that take ten times as long.
            unhard = np.logical_not(hard, out=hard)
            differs = stays ^ unhard
            changed = np.empty(texts, dtype=np.bool_)
            step = zip(easy[:-1], easy[1:], differs, unhard, strict=True)
            for now, following, differ, behind_hard in step:
                np.logical_and(now, differ, changed)
                np.not_equal(changed, behind_hard, following)
        self.easy = easy[-1]
        kept_easy ^= kept
        kept_easy &= easy[:-1]
        kept ^= kept_easy
        return kept


def _follow(state: bool, behind_easy: Flags, behind_hard: Flags) -> list[bool]:  # noqa: FBT001
    states = [state]
    for if_easy, if_hard in zip(behind_easy.tolist(), behind_hard.tolist(), strict=True):
        state = if_easy if state else if_hard
        states.append(state)
    return states


def _by_text(flags: Flags) -> tuple[IntArray, IntArray]:
    """Positions and texts of the few flags that are set, in the order that no chunk size changes."""
    position, text = np.divmod(np.flatnonzero(flags), flags.shape[1])
    order = np.lexsort((text, position, text // TEXTS_AT_ONCE))
    return position[order], text[order]


def _whole(scaled: FloatArray) -> int | npt.NDArray[np.uint32]:
    """The whole part of p · 2^16; of one p as a plain number, which compares without widening words."""
    whole = np.floor(scaled)
    return int(whole) if whole.ndim == 0 else whole.astype(np.uint32)
