"""The house's words for what can be converted, and the assumptions that a conversion may name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A canonical word: what it is, whether one number or one per depth, and which values it can have.

    `most` is the largest value; "gamma", "gamma + 1" and None (no limit) as they are written.
    """

    name: str
    meaning: str
    by_depth: bool = False
    least: float = 0.0
    most: float | str | None = None
    whole: bool = False


QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        Quantity(
            name="tokens_per_round",
            meaning="1 + accepted / rounds, the bonus or correction token included",
            least=1.0,
            most="gamma + 1",
        ),
        Quantity(
            name="accepted_per_round", meaning="accepted / rounds, without the bonus", most="gamma"
        ),
        Quantity(
            name="emitted_per_round",
            meaning="tokens that arrived / rounds: less those thrown away behind a stop or a limit",
            most="gamma + 1",
        ),
        Quantity(
            name="tokens_per_target_pass",
            meaning="tokens per round, rounds without a draft included",
            least=1.0,
            most="gamma + 1",
        ),
        Quantity(
            name="accepted_fraction",
            meaning="accepted / drafted; printed as acceptance rate, and no p",
            most=1.0,
        ),
        Quantity(
            name="accepted_per_window",
            meaning="accepted / (rounds × (window − 1)): as if every draft filled its window",
            most=1.0,
        ),
        Quantity(
            name="fraction_with_bonus",
            meaning="(accepted + rounds) / (rounds × window)",
            most=1.0,
        ),
        Quantity(name="efficiency", meaning="tokens per round / (γ + 1)", most=1.0),
        Quantity(name="emitted_efficiency", meaning="emitted per round / (γ + 1)", most=1.0),
        Quantity(
            name="accepted_per_verified",
            meaning="(accepted + 1) / (drafted + 1) of a round, averaged",
            most=1.0,
        ),
        Quantity(
            name="survival",
            meaning="P(the first i + 1 drafted tokens are all kept), over all rounds",
            by_depth=True,
            most=1.0,
        ),
        Quantity(
            name="conditional_acceptance",
            meaning="accepted / tested at each depth",
            by_depth=True,
            most=1.0,
        ),
        Quantity(
            name="histogram",
            meaning="rounds by number of accepted tokens, from 0 on",
            by_depth=True,
            whole=True,
        ),
        Quantity(
            name="p", meaning="P(accepted | tested) when one number serves every depth", most=1.0
        ),
        Quantity(
            name="head_accuracy",
            meaning="how often a head alone is right, outside of any engine",
            by_depth=True,
            most=1.0,
        ),
        Quantity(name="gamma", meaning="tokens drafted per round, at most", least=1.0, whole=True),
        Quantity(
            name="window",
            meaning="tokens that a target pass verifies, the root included",
            least=2.0,
            whole=True,
        ),
        Quantity(name="v0_accepted", meaning="accepted tokens, also those behind a rejection"),
        Quantity(
            name="v0_accepted_fraction",
            meaning="accepted tokens, also those behind a rejection, / drafted",
            most=1.0,
        ),
        Quantity(name="draft_share", meaning="share of a round's time spent drafting", most=1.0),
        Quantity(name="cost_ratio", meaning="one draft step / one plain target step"),
        Quantity(name="speedup", meaning="time without speculation / with it"),
        Quantity(name="latency", meaning="time between tokens, or between chunks of them"),
    )
}

ASSUMPTIONS = {
    "full_drafts": "every round drafted γ tokens: none cut short, none without a draft",
    "every_round_drafts": "every round had a draft",
    "one_p": "one p rules all depths",
    "chain": "the draft is a chain, no tree",
    "no_discards": "no token was thrown away behind a stop token or a limit",
    "plain_pass": "a target pass over the draft costs one plain step, and nothing else costs time",
}
"""What a conversion may need beside the numbers, by name."""
