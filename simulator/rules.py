"""The rules by which a drafted token is kept or replaced, as data.

A rule names what `simulator.verification` does with two distributions. Whether its output follows
the target depends on how the drafter came by its tokens:

- "drawn": each token was drawn from the draft's distribution and stays in the draft
- "dropped": drawn, but a token may be thrown away again because its probability was low
- "chosen": picked without chance, such as the draft's most likely token or a looked-up one
- "distinct": only in a tree, where several tokens follow the same one: drawn one after the other
  without replacement, so that no two siblings are the same token

In a tree "drawn" siblings are drawn with replacement, each from the same distribution. What each
rule does with siblings is in `simulator.tree_verification`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from simulator._checks import as_nonnegative, as_probability

Picked: TypeAlias = Literal["drawn", "dropped", "chosen", "distinct"]
PICKED: tuple[Picked, ...] = ("drawn", "dropped", "chosen")
"""How the tokens of a chain come about; the siblings of a tree can be "distinct" as well."""
RuleName: TypeAlias = Literal[
    "speculative_sampling",
    "greedy",
    "sample_and_match",
    "one_hot",
    "typical_acceptance",
    "lenience",
    "block_verification",
    "without_replacement",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One verification rule: its name, the drafts for which it is lossless, where it comes from.

    `lenience` belongs to that rule alone, `epsilon` and `delta` to typical acceptance. Lossless
    means: the emitted tokens have the target's distribution (under `greedy`: are its most likely
    tokens).

    >>> speculative_sampling().is_lossless("drawn"), speculative_sampling().is_lossless("chosen")
    (True, False)
    """

    name: RuleName
    lossless_for: tuple[Picked, ...]
    source: str
    lenience: float = 1.0
    epsilon: float = 0.09
    delta: float = 0.3

    def is_lossless(self, picked: Picked) -> bool:
        """Whether the output follows the target for drafts that came about this way."""
        return picked in self.lossless_for

    @property
    def needs_draft_probs(self) -> bool:
        """Whether the rule asks how likely the draft found its own token."""
        return self.name in {
            "speculative_sampling",
            "lenience",
            "block_verification",
            "without_replacement",
        }


def speculative_sampling() -> Rule:
    """Keep x with probability min(1, P(x) / Q(x)); else draw from norm(max(P - Q, 0)).

    In a tree siblings are tried one after the other, each rejection replacing P by that residual
    (multi-round speculative sampling); lossless for siblings drawn with replacement.
    """
    return Rule(
        name="speculative_sampling",
        lossless_for=("drawn",),
        source="Leviathan et al. 2023, algorithm 1; Chen et al. 2023, algorithm 2",
    )


def greedy() -> Rule:
    """Keep x if it is the target's most likely token; else emit that one."""
    return Rule(
        name="greedy",
        lossless_for=(*PICKED, "distinct"),
        source="Stern et al. 2018, blockwise parallel decoding",
    )


def sample_and_match() -> Rule:
    """Draw from P as without a draft; keep x if it is what was drawn (llama.cpp, MLX)."""
    return Rule(
        name="sample_and_match",
        lossless_for=(*PICKED, "distinct"),
        source="llama.cpp, common_sampler_sample_and_accept_n; mlx-lm, speculative_generate_step",
    )


def one_hot() -> Rule:
    """Keep x with probability P(x), as if the draft had been sure of it; else draw from P without x.

    vLLM's default for its n-gram, EAGLE and draft-model drafts. The same joint law as sample_and_match.
    In a tree it is the rule of point masses: a rejected sibling is taken out of P, which is divided by
    what is left, before the next one is tried.
    """
    return Rule(
        name="one_hot",
        lossless_for=(*PICKED, "distinct"),
        source="vLLM, rejection sampler without draft probabilities",
    )


def typical_acceptance(*, epsilon: float = 0.09, delta: float = 0.3) -> Rule:
    """Keep x if P(x) > min(epsilon, delta exp(-H(P))); else emit the most likely token. Lossy.

    Raises ValueError for an epsilon outside [0, 1] or a negative delta.
    """
    return Rule(
        name="typical_acceptance",
        lossless_for=(),
        source="Cai et al. 2024 (Medusa), section 2.3.1",
        epsilon=as_probability("epsilon", epsilon),
        delta=as_nonnegative("delta", delta),
    )


def lenience(factor: float) -> Rule:
    """Keep x with probability min(1, P(x) / (factor Q(x))); else as speculative sampling. Lossy.

    No token becomes more likely than P(x) / factor; factor 1 is speculative sampling. Raises
    ValueError for a factor outside (0, 1].
    """
    factor = as_probability("factor", factor)
    if factor == 0.0:
        raise ValueError("factor must lie in (0, 1]; got 0, which would keep every token.")
    return Rule(
        name="lenience",
        lossless_for=("drawn",) if factor == 1.0 else (),
        source="Leviathan et al. 2023, appendix A.5",
        lenience=factor,
    )


def block_verification() -> Rule:
    """Judge the whole draft at once: keeps at least as many tokens as speculative sampling."""
    return Rule(
        name="block_verification",
        lossless_for=("drawn",),
        source="Sun et al. 2024, Block verification accelerates speculative decoding, algorithm 2",
    )


def without_replacement() -> Rule:
    """Speculative sampling for siblings drawn without replacement.

    A rejected sibling leaves max(P - Q, 0) as the target, and its own probability is taken out of Q,
    from which the next one was drawn. On a chain, where no token has siblings, speculative sampling.
    """
    return Rule(
        name="without_replacement",
        lossless_for=("distinct",),
        source="Chen et al. 2024 (Sequoia), sampling and verification without replacement",
    )


RULES: tuple[Rule, ...] = (
    speculative_sampling(),
    greedy(),
    sample_and_match(),
    one_hot(),
    typical_acceptance(),
    lenience(0.5),
    block_verification(),
)
"""Every rule once, with its parameters at their defaults (lenience at one half)."""

TREE_RULES: tuple[Rule, ...] = (
    speculative_sampling(),
    without_replacement(),
    greedy(),
    sample_and_match(),
    one_hot(),
    typical_acceptance(),
)
"""The rules that can judge a tree: the others look at a whole chain, or are defined for one only."""
