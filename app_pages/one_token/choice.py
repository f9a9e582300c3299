"""What the reader set on the page of one token, and how the address says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

import simulator.rules as sim_rules
from app_pages.one_token import pairs as token_pairs
from app_pages.one_token.pairs import NAMES, OWN, RANDOM, Pair, weights_problem
from app_pages.state import Field
from simulator._checks import FloatArray
from simulator.rules import RULES, Picked, Rule, RuleName
from simulator.sampling import Sampling

RULE_NAMES: dict[RuleName, str] = {
    "speculative_sampling": "Speculative sampling",
    "greedy": "Greedy",
    "sample_and_match": "Sample and match (llama.cpp, MLX)",
    "one_hot": "One-hot (vLLM's default)",
    "typical_acceptance": "Typical acceptance (Medusa)",
    "lenience": "Lenience (Leviathan et al.)",
    "block_verification": "Block verification",
}
PICKED_NAMES: dict[Picked, str] = {
    "drawn": "drawn from its distribution",
    "chosen": "chosen: its most likely word",
}
DECISIONS = 20_000


def _field(
    key: str,
    name: str,
    label: str,
    limits: tuple[float, float],
    default: float,
    step: float,
    words: str,
) -> Field:
    return Field(
        key=key,
        name=name,
        label=label,
        low=limits[0],
        high=limits[1],
        default=default,
        step=step,
        decimals=0 if step == 1 else 2,
        help=words,
    )


TEMPERATURE = _field(
    *("t", "the temperature", "Temperature", (0.0, 2.0), 1.0, 0.05),
    "Divides the logits of both models. At 0 only the most likely word is left.",
)
TOP_K = _field(
    *("topk", "top-k", "Top-k", (0, len(token_pairs.WORDS)), 0, 1),
    "Keep the k most likely words of each model; 0 keeps all.",
)
TOP_P = _field(
    *("topp", "top-p", "Top-p", (0.05, 1.0), 1.0, 0.05),
    "Keep the fewest words of each model that together have this probability.",
)
LENIENCE = _field(
    *("lenience", "the lenience factor", "Lenience factor", (0.05, 1.0), 0.5, 0.05),
    "Keep with probability min(1, P / (factor × Q)). 1 is speculative sampling.",
)
EPSILON = _field(
    *("epsilon", "epsilon", "Threshold ε", (0.0, 1.0), 0.09, 0.01),
    "Typical acceptance keeps a word if P > min(ε, δ exp(−H)), H the entropy of P in nats.",
)
DELTA = _field(
    *("delta", "delta", "Threshold δ", (0.0, 1.0), 0.3, 0.05),
    "The threshold's part that falls with the entropy of P: an undecided target lets more pass.",
)
SHARPNESS = _field(
    *("sharp", "the sharpness", "Sharpness", (0.0, 6.0), 1.5, 0.1),
    "The word of rank r has a weight of r to the minus this power. 0: all alike.",
)
DISAGREEMENT = _field(
    *("apart", "the disagreement", "Disagreement", (0.0, 1.0), 0.5, 0.05),
    "Share of the draft's logits that a random order of the target's takes. 0: a copy.",
)
MIX = _field(
    *("mix", "the draft's seed", "Seed of the draft", (0, 9999), 0, 1),
    "Which random order is mixed in.",
)
DECISION = _field(
    *("draw", "the decision", "Decision", (1, DECISIONS), 1, 1),
    f"Which of the {DECISIONS:,} decisions below is told.",
)
NUMBERS = {
    "temperature": TEMPERATURE,
    "top_k": TOP_K,
    "top_p": TOP_P,
    "lenience": LENIENCE,
    "epsilon": EPSILON,
    "delta": DELTA,
    "sharpness": SHARPNESS,
    "disagreement": DISAGREEMENT,
    "mix": MIX,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The settings of the page; numbers by the names of `NUMBERS`, weights are the reader's own."""

    pair: str = token_pairs.PAIRS[0].key
    rule: RuleName = "speculative_sampling"
    picked: Picked = "drawn"
    temperature: float = TEMPERATURE.default
    top_k: int = 0
    top_p: float = TOP_P.default
    lenience: float = LENIENCE.default
    epsilon: float = EPSILON.default
    delta: float = DELTA.default
    sharpness: float = SHARPNESS.default
    disagreement: float = DISAGREEMENT.default
    mix: int = 0
    target: tuple[float, ...] = token_pairs.PAIRS[0].target
    draft: tuple[float, ...] = token_pairs.PAIRS[0].draft

    @property
    def weights(self) -> Pair:
        """The two distributions before temperature and filters."""
        made = token_pairs.preset(self.pair)
        if made is not None:
            return made
        if self.pair == RANDOM:
            return token_pairs.mixed(self.sharpness, self.disagreement, self.mix)
        return token_pairs.own(self.target, self.draft)

    @property
    def logits(self) -> tuple[FloatArray, FloatArray]:
        """Log-weights of target and draft, shape [words] each; minus infinity for a weight of 0."""
        pair = self.weights
        with np.errstate(divide="ignore"):
            return np.log(np.asarray(pair.target)), np.log(np.asarray(pair.draft))

    @property
    def sampling(self) -> Sampling:
        """What both models' logits go through."""
        return Sampling(temperature=self.temperature, top_k=self.top_k, top_p=self.top_p)

    @property
    def verification(self) -> Rule:
        """The rule with the reader's parameters."""
        if self.rule == "lenience":
            return sim_rules.lenience(self.lenience)
        if self.rule == "typical_acceptance":
            return sim_rules.typical_acceptance(epsilon=self.epsilon, delta=self.delta)
        return next(rule for rule in RULES if rule.name == self.rule)


def read(query: Mapping[str, str]) -> tuple[Choice, tuple[str, ...]]:
    """The choice that an address stands for; what it says wrongly is left at its default and named."""
    values: dict[str, object] = {}
    problems: list[str] = []
    for name, known in (("pair", NAMES), ("rule", RULE_NAMES), ("picked", PICKED_NAMES)):
        given = query.get(name)
        if given in known:
            values[name] = given
        elif given is not None:
            problems.append(
                f"{name} must be one of {', '.join(known)}; got {given[:60] or 'nothing'}."
            )
    for name, field in NUMBERS.items():
        given = query.get(field.key)
        problem = None if given is None else field.problem(given)
        if problem is not None:
            problems.append(problem)
        elif given is not None:
            values[name] = int(float(given)) if field.whole else float(given)
    for name in ("target", "draft"):
        given = query.get(name)
        weights = [] if given is None else given.split(",")
        problem = None if given is None else weights_problem(name, weights)
        if problem is not None:
            problems.append(problem[0].upper() + problem[1:])
        elif given is not None:
            values[name] = tuple(float(weight) for weight in weights)
    return Choice(**values), tuple(problems)  # type: ignore[arg-type]  # checked one by one above


def query(choice: Choice) -> dict[str, str]:
    """What the address says of a choice: all that differs from the defaults and matters."""
    default = Choice()
    said: dict[str, str] = {}
    for field in fields(Choice):
        value = getattr(choice, field.name)
        if value == getattr(default, field.name) or not _matters(field.name, choice):
            continue
        if isinstance(value, tuple):
            said[field.name] = ",".join(f"{weight:.10g}" for weight in value)
        elif field.name in NUMBERS:
            said[NUMBERS[field.name].key] = f"{value:.10g}"
        else:
            said[field.name] = str(value)
    return said


KEYS = ("pair", "rule", "picked", "target", "draft", *(field.key for field in NUMBERS.values()))
"""Every name that an address of this page may use for them."""


def decision_in(query: Mapping[str, str]) -> tuple[int, str | None]:
    """Which decision an address asks for, and the sentence if there is no such one."""
    given = query.get(DECISION.key)
    problem = None if given is None else DECISION.problem(given)
    if given is None or problem is not None:
        return int(DECISION.default), problem
    return int(float(given)), None


def _matters(name: str, choice: Choice) -> bool:
    if name in {"target", "draft"}:
        return choice.pair == OWN
    if name in {"sharpness", "disagreement", "mix"}:
        return choice.pair == RANDOM
    if name in {"epsilon", "delta"}:
        return choice.rule == "typical_acceptance"
    return name != "lenience" or choice.rule == "lenience"
