"""What follows from what: one rule per step, with the assumptions that it needs.

Identities of chains are those of Leviathan et al. 2023 and of the engines' own definitions:
tokens per round = 1 + Σ survival, survival = Π conditional acceptance, and accepted / drafted =
(tokens per round − 1) / γ where every draft has γ tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.conversion import steps
from analysis.conversion.steps import Step
from analysis.conversion.values import Known

_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """`target` follows from the `sources` together under the assumptions `needs`.

    `step` gives None where it does not follow after all. `only_given` rules start from what was given
    and never from what was derived.
    """

    sources: tuple[str, ...]
    target: str
    how: str
    step: Step
    needs: frozenset[str] = _NONE
    only_given: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A quantity that follows, the last step to it, and all that was assumed on the way."""

    known: Known
    how: str
    needs: frozenset[str]


def closure(given: Mapping[str, Known], main: str) -> dict[str, Found]:
    """Everything that follows from `given`, each with the fewest assumptions.

    `main` is the quantity asked about; the others are what is known beside it.
    """
    found = {name: Found(known=known, how="given", needs=_NONE) for name, known in given.items()}
    changed = True
    while changed:  # each pass settles at least one quantity with fewer assumptions than before
        changed = False
        for rule in RULES:
            if rule.target in given or (rule.only_given and rule.sources[0] != main):
                continue
            sources = [found.get(name) for name in rule.sources]
            if any(source is None for source in sources):
                continue
            inputs = [source for source in sources if source is not None]
            needs = rule.needs.union(*(source.needs for source in inputs))
            before = found.get(rule.target)
            if before is not None and len(before.needs) <= len(needs):
                continue
            known = rule.step(tuple(source.known for source in inputs))
            if known is not None:
                found[rule.target] = Found(known=known, how=rule.how, needs=needs)
                changed = True
    return found


def _rule(
    sources: str, target: str, how: str, step: Step, needs: str = "", *, only_given: bool = False
) -> Rule:
    return Rule(
        sources=tuple(sources.split()),
        target=target,
        how=how,
        step=step,
        needs=frozenset(needs.split()),
        only_given=only_given,
    )


TOKENS, ACCEPTED = "tokens_per_round", "accepted_per_round"

RULES = (
    _rule(TOKENS, ACCEPTED, "tokens per round − 1", steps.plus(-1.0)),
    _rule(ACCEPTED, TOKENS, "accepted per round + 1", steps.plus(1.0)),
    _rule(
        f"{TOKENS} gamma",
        "efficiency",
        "tokens per round / (γ + 1)",
        lambda known: steps.over(known, lambda gamma: gamma + 1.0),
    ),
    _rule(
        "efficiency gamma",
        TOKENS,
        "efficiency × (γ + 1)",
        lambda known: steps.times(known, lambda gamma: gamma + 1.0),
    ),
    _rule(
        "emitted_efficiency gamma",
        "emitted_per_round",
        "efficiency × (γ + 1)",
        lambda known: steps.times(known, lambda gamma: gamma + 1.0),
    ),
    _rule(
        "emitted_per_round gamma",
        "emitted_efficiency",
        "emitted per round / (γ + 1)",
        lambda known: steps.over(known, lambda gamma: gamma + 1.0),
    ),
    _rule("efficiency", "accepted_per_verified", "the same ratio", steps.same, "full_drafts"),
    _rule("accepted_per_verified", "efficiency", "the same ratio", steps.same, "full_drafts"),
    _rule(
        f"{TOKENS} window",
        "fraction_with_bonus",
        "tokens per round / window",
        lambda known: steps.over(known, lambda window: window),
    ),
    _rule(
        "fraction_with_bonus window",
        TOKENS,
        "fraction × window",
        lambda known: steps.times(known, lambda window: window),
    ),
    _rule(
        f"{ACCEPTED} window",
        "accepted_per_window",
        "accepted per round / (window − 1)",
        lambda known: steps.over(known, lambda window: window - 1.0),
    ),
    _rule(
        "accepted_per_window window",
        ACCEPTED,
        "fraction × (window − 1)",
        lambda known: steps.times(known, lambda window: window - 1.0),
    ),
    _rule(
        f"{ACCEPTED} window",
        "accepted_fraction",
        "accepted per round / drafted per round",
        lambda known: steps.over(known, lambda window: window - 1.0),
        "full_drafts",
    ),
    _rule(
        "accepted_fraction window",
        ACCEPTED,
        "accepted fraction × drafted per round",
        lambda known: steps.times(known, lambda window: window - 1.0),
        "full_drafts",
    ),
    _rule(
        f"{ACCEPTED} gamma",
        "accepted_fraction",
        "accepted per round / γ",
        lambda known: steps.over(known, lambda gamma: gamma),
        "full_drafts chain",
    ),
    _rule(
        "accepted_fraction gamma",
        ACCEPTED,
        "accepted fraction × γ",
        lambda known: steps.times(known, lambda gamma: gamma),
        "full_drafts chain",
    ),
    _rule("accepted_fraction", "accepted_per_window", "the same ratio", steps.same, "full_drafts"),
    _rule("accepted_per_window", "accepted_fraction", "the same ratio", steps.same, "full_drafts"),
    _rule("survival gamma", ACCEPTED, "Σ survival", steps.total),
    _rule(f"{ACCEPTED} gamma", "survival", "the one depth there is", steps.alone),
    _rule("conditional_acceptance", "survival", "running product", steps.products, "full_drafts"),
    _rule(
        "survival",
        "conditional_acceptance",
        "survival / survival one depth before",
        steps.ratios,
        "full_drafts",
    ),
    _rule("histogram", "survival", "rounds that kept at least i tokens / rounds", steps.survivors),
    _rule("histogram", ACCEPTED, "mean of the histogram", steps.mean_of_histogram),
    _rule(TOKENS, "emitted_per_round", "the same number", steps.same, "no_discards"),
    _rule("emitted_per_round", TOKENS, "the same number", steps.undiscarded, "no_discards"),
    _rule(
        f"{TOKENS} gamma",
        "p",
        "the p with (1 − p^(γ + 1)) / (1 − p) tokens per round",
        steps.solved,
        "one_p full_drafts chain",
    ),
    _rule(
        "p gamma",
        TOKENS,
        "(1 − p^(γ + 1)) / (1 − p)",
        steps.expected,
        "one_p full_drafts chain",
    ),
    _rule("p gamma", "survival", "p^i", steps.powers, "one_p full_drafts chain", only_given=True),
    _rule(
        "p gamma",
        "conditional_acceptance",
        "p at every depth",
        steps.repeated,
        "one_p chain",
        only_given=True,
    ),
    _rule("window", "gamma", "window − 1", steps.plus(-1.0), "chain"),
    _rule("gamma", "window", "γ + 1", steps.plus(1.0), "chain"),
    _rule(
        "draft_share gamma",
        "cost_ratio",
        "share / ((1 − share) γ)",
        steps.cost_of_share,
        "plain_pass full_drafts",
    ),
    _rule(
        "cost_ratio gamma",
        "draft_share",
        "γ c / (γ c + 1)",
        steps.share_of_cost,
        "plain_pass full_drafts",
    ),
)
