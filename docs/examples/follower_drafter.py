"""A drafter of one's own, through the one loop: greedy text is the target's own, token for token."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Literal

import numpy as np
import numpy.typing as npt

import simulator as sim
from real_runs.target import load_target
from simulator.models import KeepGoing

Tokens = npt.NDArray[np.int64]


class Follower:
    """Proposes, one after the other, the token that has followed the last one most often."""

    picked: Literal["chosen"] = "chosen"  # no chance is involved: every exact rule is lossless

    def start(self, prompt: Tokens, sampling: sim.Sampling) -> None:
        """Forget the text before and read the prompt; how the target samples does not matter."""
        del sampling
        self.last = int(prompt[0])
        self.followers: defaultdict[int, Counter[int]] = defaultdict(Counter)
        self.settle(prompt[1:])

    def propose(self, length: int, keep_going: KeepGoing, rng: np.random.Generator) -> sim.Draft:
        """At most `length` tokens: fewer where nothing is known, or where `keep_going` says stop."""
        del rng
        tokens: list[int] = []
        last = self.last
        while len(tokens) < length and last in self.followers:
            seen = self.followers[last]
            last, count = seen.most_common(1)[0]
            tokens.append(last)
            if not keep_going(count / seen.total()):
                break
        return sim.Draft(tokens=np.array(tokens, dtype=np.int64))

    def settle(self, tokens: Tokens) -> None:
        """The text grew by these tokens, whatever had been proposed."""
        for token in tokens:
            self.followers[self.last][int(token)] += 1
            self.last = int(token)


PROMPT = "class Reader:\n    def __init__(self, name):\n        self.name"


def main() -> None:
    """Decode a prompt plainly and with the drafter, and say what was kept."""
    target = load_target("tiny")

    def decode(**drafting: object) -> sim.Generation:
        return sim.decode(
            target.tokenizer.encode(PROMPT),
            target=target,
            rule=sim.greedy(),
            sampling=sim.Sampling(temperature=0.0),
            max_tokens=96,
            rng=0,
            **drafting,
        )

    plain, drafted = decode(), decode(drafter=Follower(), chain=sim.Chain(gamma=4))
    print("same text:        ", drafted.tokens == plain.tokens)
    print("tokens, rounds:   ", len(drafted.tokens), drafted.table.rounds)
    print("tested by depth:  ", drafted.table.tested)
    print("accepted by depth:", drafted.table.accepted)
    print("tokens per round: ", drafted.table.tokens_per_round)


if __name__ == "__main__":
    main()
