"""From the texts of a run's settings to the values that the loop takes."""

from __future__ import annotations

from collections.abc import Callable

from real_runs.runs.header import Settings
from real_runs.tree_settings import MOST_NODES, check_tree, passengers_of, tree_asked
from simulator._checks import as_count
from simulator.drafts import Chain
from simulator.rules import (
    TREE_RULES,
    Picked,
    Rule,
    block_verification,
    greedy,
    lenience,
    one_hot,
    sample_and_match,
    speculative_sampling,
    typical_acceptance,
    without_replacement,
)
from simulator.sampling import STEPS, Order, Sampling
from simulator.stopping import ConfidenceThreshold, FixedLength, Heuristic, Stop

DRAFTERS = ("draft_model", "prompt_lookup", "medusa", "eagle", "lookahead")
HEADED = ("medusa", "eagle")
"""Drafters that are heads on the target's own states."""
_SIBLINGS: tuple[Picked, ...] = ("chosen", "drawn", "distinct")
_RULES: dict[str, Callable[[], Rule]] = {
    "greedy": greedy,
    "speculative_sampling": speculative_sampling,
    "sample_and_match": sample_and_match,
    "one_hot": one_hot,
    "block_verification": block_verification,
    "typical_acceptance": typical_acceptance,
    "without_replacement": without_replacement,
}
_RULE_NAMES = f"{', '.join(_RULES)}, lenience:FACTOR"
_LENGTHS = "fixed, heuristic, confidence:THRESHOLD"
LONGEST_GAMMA, MOST_GAMMAS, MOST_REQUESTS = 64, 16, 10_000
"""What a report takes: a run that nobody could read is not begun."""
_LARGEST_SEED = 10**18
_MOST_TOKENS, _MOST_THREADS = 1_000_000, 4096


def check_settings(settings: Settings) -> None:
    """ValueError, one sentence, for settings that no run can have."""
    if settings.drafter not in DRAFTERS:
        raise ValueError(f"drafter must be one of {', '.join(DRAFTERS)}; got {settings.drafter!r}.")
    if not settings.gammas:
        raise ValueError("gamma must have one draft length at least; got none.")
    for gamma in settings.gammas:
        as_count("gamma", gamma, least=1, most=LONGEST_GAMMA)
        chain_of(settings, gamma)
    check_tree(settings)
    _check_lookahead(settings)
    if (settings.heads is not None) != (settings.drafter in HEADED):
        raise ValueError(
            f"heads must be given with {' and '.join(HEADED)} and no other drafter; got "
            f"{settings.heads} with {settings.drafter}."
        )
    if len(set(settings.gammas)) < len(settings.gammas):
        raise ValueError(f"gamma must name each draft length once; got {list(settings.gammas)}.")
    if len(settings.gammas) > MOST_GAMMAS:
        raise ValueError(
            f"gamma must have at most {MOST_GAMMAS} draft lengths; got {len(settings.gammas)}."
        )
    as_count("max_tokens", settings.max_tokens, least=2, most=_MOST_TOKENS)
    as_count("repeats", settings.repeats, least=1, most=MOST_REQUESTS)
    as_count("seed", settings.seed, most=_LARGEST_SEED)
    as_count("threads", settings.threads, least=1, most=_MOST_THREADS)
    sampling_of(settings)
    rule = rule_of(settings)
    if rule.name == "greedy" and settings.temperature > 0.0:
        raise ValueError(
            f"rule greedy must go with temperature 0; got temperature {settings.temperature:g}."
        )
    picked = picked_by(settings)
    if not (settings.allow_lossy or rule.is_lossless(picked)):
        raise ValueError(
            f"rule must be lossless for drafts that are {picked}; {settings.rule} is not "
            "(--allow-lossy measures it all the same)."
        )
    if rule.needs_draft_probs and picked == "chosen":
        raise ValueError(
            f"rule {settings.rule} must know the draft's probabilities; {settings.drafter} has none."
        )
    if drafts_trees(settings) and rule.name not in {each.name for each in TREE_RULES}:
        names = ", ".join(each.name for each in TREE_RULES)
        raise ValueError(f"rule must be one that judges trees, {names}; got {settings.rule}.")


def check_size(settings: Settings, prompts: int) -> None:
    """ValueError for more requests than a report takes."""
    lengths = 1 + len(settings.gammas)
    requests = prompts * lengths * settings.repeats
    if requests > MOST_REQUESTS:
        raise ValueError(
            f"a run must have at most {MOST_REQUESTS:,} requests; {prompts:,} prompts, {lengths} "
            f"draft lengths with plain decoding and {settings.repeats:,} repeats make {requests:,}."
        )


def default_rule(drafter: str, temperature: float, siblings: str = "chosen") -> str:
    """The rule that is lossless and usual: greedy at temperature 0, else by how drafts come about.

    `siblings` says how heads pick their tokens.

    >>> default_rule("draft_model", 0.0), default_rule("prompt_lookup", 1.0)
    ('greedy', 'sample_and_match')
    >>> default_rule("eagle", 1.0, "distinct")
    'without_replacement'
    """
    if temperature == 0.0:
        return "greedy"
    if drafter == "draft_model" or (drafter in HEADED and siblings == "drawn"):
        return "speculative_sampling"
    if drafter in HEADED and siblings == "distinct":
        return "without_replacement"
    return "sample_and_match"


def drafts_trees(settings: Settings) -> bool:
    """Whether drafts branch: the target then reads a tree in one pass."""
    return settings.drafter == "lookahead" or tree_asked(settings.tree).kind != "chain"


def rule_of(settings: Settings) -> Rule:
    """The verification rule by its name, for lenience with its factor."""
    name, _, value = settings.rule.partition(":")
    if name == "lenience" and value:
        return lenience(_number("rule lenience", value))
    if settings.rule not in _RULES:
        raise ValueError(f"rule must be one of {_RULE_NAMES}; got {settings.rule!r}.")
    return _RULES[settings.rule]()


def plain_rule(settings: Settings) -> Rule:
    """How plain decoding takes its tokens: the most likely one, or one drawn from the target."""
    return greedy() if settings.temperature == 0.0 else speculative_sampling()


def sampling_of(settings: Settings) -> Sampling:
    """Temperature and filters."""
    order: Order = "transformers"
    for known in STEPS:
        if settings.order == known:
            order = known  # type: ignore[assignment]
            break
    else:
        raise ValueError(f"order must be one of {', '.join(STEPS)}; got {settings.order!r}.")
    return Sampling(
        temperature=settings.temperature,
        top_k=settings.top_k,
        top_p=settings.top_p,
        min_p=settings.min_p,
        order=order,
    )


def chain_of(settings: Settings, gamma: int) -> Chain:
    """The chain of one draft length."""
    return Chain(gamma=gamma, stop=_stop(settings.stop))


def picked_by(settings: Settings) -> Picked:
    """How the drafter's tokens come about.

    At temperature 0 the likeliest token needs no distribution, unless the rule asks; where siblings
    must not be the same token, the likeliest ones need none either.
    """
    if settings.siblings not in _SIBLINGS:
        raise ValueError(
            f"siblings must be one of {', '.join(_SIBLINGS)}; got {settings.siblings!r}."
        )
    if settings.drafter == "draft_model":
        picked: Picked = "drawn"
    elif settings.drafter in HEADED:
        picked = next(each for each in _SIBLINGS if each == settings.siblings)
    else:
        picked = "chosen"
    if settings.temperature == 0.0 and not rule_of(settings).needs_draft_probs:
        return "chosen"
    return picked


def is_greedy(settings: Settings) -> bool:
    """Whether every text must be that of plain decoding."""
    return settings.temperature == 0.0 and rule_of(settings).is_lossless(picked_by(settings))


def _check_lookahead(settings: Settings) -> None:
    """ValueError for a window, n-grams or candidates that Lookahead cannot have, or that others have."""
    own = (settings.window, settings.ngram, settings.candidates, settings.ngrams_from_prompt)
    if settings.drafter != "lookahead":
        if any(own):
            raise ValueError(
                "window, ngram, candidates and ngrams_from_prompt must be left out without lookahead; "
                f"got drafter {settings.drafter}."
            )
        return
    as_count("window", settings.window, least=1)
    as_count("ngram", settings.ngram, least=2)
    as_count("candidates", settings.candidates, least=1)
    if max(settings.gammas) >= settings.ngram:
        raise ValueError(
            f"gamma must be at most ngram - 1, which is {settings.ngram - 1}; got "
            f"{max(settings.gammas)}."
        )
    nodes = settings.candidates * (settings.ngram - 1) + passengers_of(settings)
    if nodes > MOST_NODES:
        raise ValueError(
            f"window, ngram and candidates must add at most {MOST_NODES} tokens to a pass; "
            f"(window + candidates) · (ngram - 1) - 1 is {nodes}."
        )


def _stop(text: str) -> Stop:
    name, _, value = text.partition(":")
    if name == "confidence" and value:
        return ConfidenceThreshold(threshold=_number("stop confidence", value))
    if text == "heuristic":
        return Heuristic()
    if text == "fixed":
        return FixedLength()
    raise ValueError(f"stop must be one of {_LENGTHS}; got {text!r}.")


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name} must have a number behind the colon; got {text!r}.") from None
