"""Sampled losslessness for real: what follows a fixed prefix, by count and by exact probability.

One round is repeated many times behind the same prefix. Its first token is an accepted draft token
or a correction, its second one only if the first was accepted: together with a round that goes on
where it ended, both must have the target's distribution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator._checks import FloatArray, IntArray, Rng, as_count, as_generator
from simulator.decoding import decode
from simulator.drafts import Chain
from simulator.models import Drafter, Target
from simulator.rules import Rule
from simulator.sampling import Sampling


@dataclass(frozen=True, slots=True, kw_only=True)
class NextTokens:
    """Tokens seen behind a prefix: `counts` [vocabulary], and what the target says, `probs`."""

    prefix: tuple[int, ...]
    counts: IntArray
    probs: FloatArray

    @property
    def total(self) -> int:
        """Texts that went through this prefix."""
        return int(self.counts.sum())


def sample_next_tokens(
    prompt: IntArray,
    *,
    target: Target,
    drafter: Drafter,
    rule: Rule,
    gamma: int,
    texts: int,
    rng: Rng,
    sampling: Sampling | None = None,
    depth: int = 3,
    allow_lossy: bool = False,
) -> tuple[NextTokens, ...]:
    """Generate `texts` short texts behind a prompt and count what follows its commonest prefixes.

    Every text is `depth` + 1 tokens: the one of prefill, which no draft touches, and `depth` more
    from the rounds. For each length up to `depth` the prefix that occurred most often is kept with
    the tokens behind it and the target's exact distribution there, read in passes over one token.

    Raises ValueError for fewer than one text, or what `decode` refuses.
    """
    texts = as_count("texts", texts, least=1)
    depth = as_count("depth", depth, least=1)
    generator = as_generator(rng)
    sampling = Sampling() if sampling is None else sampling
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(texts):
        text = decode(
            prompt,
            target=target,
            drafter=drafter,
            chain=Chain(gamma=gamma),
            rule=rule,
            sampling=sampling,
            max_tokens=depth + 1,
            rng=generator,
            allow_lossy=allow_lossy,
        ).tokens
        seen.update(text[:length] for length in range(1, len(text) + 1))
    return tuple(
        _behind(_commonest(seen, length), seen, prompt, target, sampling)
        for length in range(1, depth + 1)
    )


def _commonest(seen: Counter[tuple[int, ...]], length: int) -> tuple[int, ...]:
    prefixes = ((count, prefix) for prefix, count in seen.items() if len(prefix) == length)
    return max(prefixes)[1]


def _behind(
    prefix: tuple[int, ...],
    seen: Counter[tuple[int, ...]],
    prompt: IntArray,
    target: Target,
    sampling: Sampling,
) -> NextTokens:
    counts = np.zeros(target.vocabulary, dtype=np.int64)
    for text, count in seen.items():
        if text[:-1] == prefix:
            counts[text[-1]] = count
    return NextTokens(
        prefix=prefix,
        counts=counts,
        probs=exact_probabilities(prompt, prefix, target=target, sampling=sampling),
    )


def exact_probabilities(
    prompt: IntArray, prefix: Sequence[int], *, target: Target, sampling: Sampling
) -> FloatArray:
    """The target's distribution behind a prompt and further tokens, shape [vocabulary]."""
    logits = target.start(prompt)
    for token in prefix:
        logits = target.extend(np.array([token], dtype=np.int64))[0]
    return sampling.probabilities(logits)
