"""A few rounds as a story: who writes what, when, and what has arrived by then.

The lengths are real draws of the simulator and the clock is `analysis.round_cost`; the words are
decoration. The target would write the left word of each pair, a wrong draft the right one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

import analysis as an
import simulator as sim
from app_pages.lanes import PLAIN_LANE, SPECULATIVE_LANE, BlockKind, LaneBlock
from app_pages.state import Settings

ROUNDS = 4
Phase: TypeAlias = Literal["start", "draft", "check", "accept", "reject", "bonus"]
_PAIRS = """
    Late/Early in/before the/a evening/morning the/some keeper/baker climbs/paints the/her
    narrow/marble stairs,/roof, lights/sells the/an old/blue lamp/piano and/or looks/walks
    out/back over/under the/a dark/green water./garden. A/The small/huge boat/parade is/was
    coming/going home/away through/after the/a rain./war. He/It rings/hides the/two bell/soup
    twice,/never, puts/throws the/his kettle/cat on/off and/but waits./sings. Soon/Later
    there/these are/were wet/gold boots/teeth by/above the/every door,/cloud, two/nine
    cups/bags of/without tea/sand on/near the/that table,/moon, and/with a/no long/loud
    story/invoice about/for a/the very/rather short/sad fishing/wedding trip/cake that/which
    nobody/everyone quite/soon believes./eats.
"""
WORDS = tuple(pair.split("/") for pair in _PAIRS.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One moment: the round, what just happened, and both clocks' state.

    `drafted` tokens are on the student's sheet, `judged` of them (or the one after) are settled;
    `start` and `now` in plain target steps; `before` tokens had arrived when the round began.
    """

    round: int
    phase: Phase
    drafted: int
    judged: int
    kept: int
    start: float
    now: float
    before: int

    @property
    def arrived(self) -> int:
        """Tokens of the speculative lane so far."""
        return self.before + self.judged

    @property
    def plain_arrived(self) -> int:
        """Tokens that plain decoding has by now, one per step."""
        return int(self.now + 1e-9)


def draw_lengths(settings: Settings, seed: int) -> tuple[int, ...]:
    """Accepted tokens of each round of the story, shape [ROUNDS]."""
    strategy = sim.draft_model(p=settings.p, gamma=settings.gamma)
    return tuple(int(n) for n in sim.simulate_lengths(strategy, rounds=ROUNDS, rng=seed))


def tell(settings: Settings, lengths: tuple[int, ...]) -> tuple[Step, ...]:
    """Every step of the rounds in order; the first one is the blank sheet."""
    steps: list[Step] = []
    cost = float(
        an.round_cost(
            settings.gamma,
            settings.cost_ratio,
            verify_cost=settings.verify_cost,
            overhead=settings.overhead,
        )
    )
    before, start = 0, 0.0
    for number, kept in enumerate(lengths):
        steps += _one(settings, number, kept, start, cost, before)
        before, start = before + kept + 1, start + cost
    return tuple(steps)


def blocks(settings: Settings, steps: tuple[Step, ...], step: Step) -> tuple[LaneBlock, ...]:
    """What both lanes show at a step of the story that `steps` tell."""
    plain = [
        _block(
            PLAIN_LANE,
            "plain pass",
            float(i),
            min(i + 1.0, step.now),
            int(i + 1.0 <= step.now + 1e-9),
        )
        for i in range(step.plain_arrived + 1)
    ]
    spoken: list[LaneBlock] = []
    for number in range(step.round):
        end = next(item for item in reversed(steps) if item.round == number)
        spoken += _round_blocks(settings, end)
    spoken += _round_blocks(settings, step)
    return tuple(block for block in (*plain, *spoken) if block.end > block.start + 1e-9)


def word(position: int, *, slip: bool = False) -> str:
    """The word at a place of the text: the target's, or the draft's slip."""
    return WORDS[position % len(WORDS)][slip]


def text(arrived: int) -> str:
    """The text so far."""
    return " ".join(word(position) for position in range(arrived))


def _one(
    settings: Settings, number: int, kept: int, start: float, cost: float, before: int
) -> list[Step]:
    gamma = settings.gamma

    def step(phase: Phase, drafted: int, judged: int, now: float) -> Step:
        return Step(
            round=number,
            phase=phase,
            drafted=drafted,
            judged=judged,
            kept=kept,
            start=start,
            now=now,
            before=before,
        )

    done = start + cost
    last: Phase = "bonus" if kept == gamma else "reject"
    return [
        *([step("start", 0, 0, start)] if number == 0 else []),
        *(step("draft", i, 0, start + i * settings.cost_ratio) for i in range(1, gamma + 1)),
        step("check", gamma, 0, done),
        *(step("accept", gamma, i, done) for i in range(1, kept + 1)),
        step(last, gamma, kept + 1, done),
    ]


def _round_blocks(settings: Settings, step: Step) -> list[LaneBlock]:
    c, drafted = settings.cost_ratio, step.drafted
    edges = [step.start + i * c for i in range(drafted + 1)]
    found = [_block(SPECULATIVE_LANE, "draft step", a, b) for a, b in pairwise(edges)]
    if step.phase not in {"start", "draft"}:
        ready = edges[-1] + settings.overhead
        found.append(_block(SPECULATIVE_LANE, "overhead", edges[-1], ready))
        found.append(_block(SPECULATIVE_LANE, "checking pass", ready, step.now, step.judged))
    return found


def _block(lane: str, kind: BlockKind, start: float, end: float, tokens: int = 0) -> LaneBlock:
    return LaneBlock(lane=lane, kind=kind, start=start, end=end, tokens=tokens)
