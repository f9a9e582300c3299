"""What `decode` is asked for: the prompt, the stop tokens, and whether drafter, chain and rule go together."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from simulator._checks import IntArray, as_array
from simulator._counting import LengthRule
from simulator._inputs import check_rule
from simulator.drafts import Chain
from simulator.models import Drafter, PassReader, Target
from simulator.rules import Picked, Rule
from simulator.stopping import ConfidenceThreshold, Heuristic, Oracle

Record: TypeAlias = Literal["table", "rounds", "every_position"]
_STOPS = "token numbers in a collection, such as [0, 2]"


def as_prompt(prompt: npt.ArrayLike, target: Target) -> IntArray:
    """A prompt as token numbers [n >= 1] that the target knows and has room for; ValueError otherwise."""
    tokens = as_array("prompt", prompt, "one token number or more in one dimension")
    if tokens.ndim != 1 or tokens.size == 0 or tokens.dtype.kind not in "iu":
        raise ValueError(
            "prompt must be one token number or more in one dimension; "
            f"got {tokens.dtype} of shape {list(tokens.shape)}."
        )
    if not (tokens.min() >= 0 and tokens.max() < target.vocabulary):
        raise ValueError(
            f"prompt must hold tokens in [0, {target.vocabulary - 1}]; "
            f"got {tokens.min()} to {tokens.max()}."
        )
    if target.context is not None and tokens.size > target.context:
        raise ValueError(
            f"prompt must fit into the target's context of {target.context} tokens; "
            f"got {tokens.size}."
        )
    return tokens.astype(np.int64)


def checked_chain(
    drafter: Drafter | None, chain: Chain | None, rule: Rule, record: Record, *, allow_lossy: bool
) -> Chain:
    """The chain, checked together with drafter, rule and record; plain decoding has one of no tokens."""
    check_rule(rule)
    if (drafter is None) != (chain is None):
        missing = "drafter" if drafter is None else "chain"
        raise ValueError(f"drafter and chain must be given together; {missing} is missing.")
    if record not in ("table", "rounds", "every_position"):
        raise ValueError(f"record must be 'table', 'rounds' or 'every_position'; got {record!r}.")
    if drafter is None or chain is None:
        return Chain(gamma=0)
    if not isinstance(chain, Chain):
        raise ValueError(f"chain must be a Chain, such as Chain(gamma=4); got {chain!r}.")
    if isinstance(chain.stop, Heuristic) and record == "every_position":
        raise ValueError(
            "chain must not follow the heuristic with record='every_position': its lengths look "
            "back at rounds, and this record has none."
        )
    if isinstance(chain.stop, Oracle):
        raise ValueError("chain must not stop by an oracle: it knows what no drafter knows.")
    picked = how_picked(drafter, chain)
    if not (allow_lossy or rule.is_lossless(picked)):
        raise ValueError(
            f"rule must be lossless for drafts that are {picked}; {rule.name} is not "
            "(allow_lossy=True runs it all the same)."
        )
    return chain


def length_rule_of(drafter: Drafter | None, chain: Chain) -> LengthRule:
    """What decides how long a draft is: the draft's confidence, where it drops or shapes tokens by it."""
    if drafter is None:
        return chain.length_rule
    by_confidence = how_picked(drafter, chain) == "dropped" or bool(
        getattr(drafter, "grows_by_confidence", False)
    )
    return "confidence" if by_confidence else chain.length_rule


def pass_reader(drafter: Drafter | None) -> PassReader | None:
    """The drafter, if it learns from the target's passes."""
    read: object = drafter
    return read if isinstance(read, PassReader) else None


def as_stops(tokens: Collection[int]) -> frozenset[int]:
    """The stop tokens as whole numbers; -1 and others that never come are allowed."""
    found = as_array(
        "stop_tokens", list(tokens) if isinstance(tokens, Collection) else tokens, _STOPS
    )
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise ValueError(f"stop_tokens must be {_STOPS}; got {tokens!r}.")
    return frozenset(found.tolist())


def how_picked(drafter: Drafter, chain: Chain) -> Picked:
    """How tokens that stay in the draft came about, with what the chain drops."""
    drops = isinstance(chain.stop, ConfidenceThreshold) and chain.stop.drops_last
    return "dropped" if drops and drafter.picked != "chosen" else drafter.picked
