"""What arrives at the server, as the visitor chose it and as the address says it. No Streamlit."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from analysis.serving.usual import USUAL_BUDGET
from app_pages.deployment.address import number
from app_pages.deployment.choice import Choice
from app_pages.deployment.machine_fields import field
from app_pages.state import Field
from simulator.serving import FixedTokens, GeometricTokens, LogNormalTokens, TokenLengths

Kind: TypeAlias = Literal["chat", "code", "document", "request"]
KINDS: dict[Kind, str] = {
    "chat": "a chat: 512 tokens of prompt, 256 of answer",
    "code": "completing code: 2,048 of prompt, 64 of answer",
    "document": "long documents: 6,000 of prompt, 200 of answer",
    "request": "as long as the request of section 2",
}
"""What is asked, with its mean lengths."""
MOST_PROMPT, MOST_ANSWER = 131_072, 2048
"""Means of a request of one's own: longer ones take too long to sample while somebody waits."""
_LONGEST = 4  # answers, in means: 2 % of them end there
_MEANS: dict[Kind, tuple[int, float, int, int, int]] = {
    "chat": (512, 1.0, 4096, 256, 1024),
    "code": (2048, 0.8, 8192, 64, 512),
    "document": (6000, 0.5, 16_384, 200, 1024),
}
"""Mean, spread and longest of prompts, mean and longest of answers: round numbers, not measured."""
SHARES = (5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 125, 150, 200)
"""Rates to choose from, in percent of what the server takes without a draft."""
SHARE = field(
    *(
        "arrive",
        "the rate",
        "Arrivals, % of the plain limit",
        (0.1, 1000),
        50,
    ),
    "The server without a draft has a **stable limit**: so many requests per second it answers while one is "
    "always waiting. At 100 % and beyond its queue grows for ever. Requests come independently of each "
    "other (a Poisson process).",
    decimals=4,
)
TTFT = field(
    *("maxttft", "the first token", "First token within (s)", (0, 3600), 0.5),
    "An answer counts as good if its first token comes within so many seconds of the request. 0 asks for "
    "nothing.",
    step=0.1,
    decimals=3,
)
TPOT = field(
    *("maxtpot", "a token behind it", "Each token behind it within (ms)", (0, 60_000), 10),
    "Milliseconds per token behind the first, on average over the answer: 10 is 100 tokens per second. 0 "
    "asks for nothing.",
    step=1,
    decimals=3,
)
E2E = field(
    *("maxe2e", "the whole answer", "The whole answer within (s)", (0, 86_400), 0),
    "Seconds from the request to the last token. 0 asks for nothing.",
    step=1,
    decimals=3,
)
SEED = field(
    *("aseed", "the seed", "Seed of the arrivals", (0, 2**31 - 1), 0),
    "The same seed gives the same requests at the same times.",
)
NUMBERS: dict[str, Field] = {"share": SHARE, "ttft": TTFT, "tpot": TPOT, "e2e": E2E, "seed": SEED}
_KIND, _PROMPTS, _ALONE = "arrivals", "prompts", "alone"
KEYS = (_KIND, _PROMPTS, *(each.key for each in NUMBERS.values()))
"""Names in the address, which never change. Without the first nothing arrives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What arrives, and what counts as a good answer; nothing arrives until it is asked for."""

    on: bool = False
    kind: Kind = "chat"
    alone: bool = False  # how prompts are read
    share: float = SHARE.default
    ttft: float = TTFT.default
    tpot: float = TPOT.default
    e2e: float = E2E.default
    seed: int = int(SEED.default)

    @property
    def token_budget(self) -> int | None:
        """Tokens of a pass in which prompts are read beside decoding; None reads them alone."""
        return None if self.alone else USUAL_BUDGET


EXAMPLE = Load()


def lengths(kind: Kind, choice: Choice) -> tuple[TokenLengths, TokenLengths]:
    """How long prompts and answers are. Raises ValueError for a request that is too long to sample here.

    The request of section 2 has its prompt always; its answers end at random, else all would end at once.
    """
    if kind == "request":
        if choice.prompt > MOST_PROMPT or choice.output > MOST_ANSWER:
            raise ValueError(
                f"The request of section 2 must have at most {MOST_PROMPT:,} tokens of prompt and "
                f"{MOST_ANSWER:,} of answer to arrive here; it has {choice.prompt:,} and "
                f"{choice.output:,}. `specdec serving` takes longer ones."
            )
        answer = GeometricTokens(mean=choice.output, most=_LONGEST * choice.output)
        return FixedTokens(tokens=choice.prompt), answer
    prompt, spread, most_prompt, output, most_output = _MEANS[kind]
    return (
        LogNormalTokens(mean=prompt, spread=spread, most=most_prompt),
        GeometricTokens(mean=output, most=most_output),
    )


def query(load: Load) -> dict[str, str]:
    """The load in the words of the address; nothing where nothing arrives.

    >>> query(Load()), query(Load(on=True, share=80))
    ({}, {'arrivals': 'chat', 'arrive': '80'})
    """
    if not load.on:
        return {}
    said = {_KIND: str(load.kind)}
    if load.alone:
        said[_PROMPTS] = _ALONE
    for name, each in NUMBERS.items():
        value = getattr(load, name)
        if value != each.default:
            said[each.key] = f"{value:.10g}"
    return said


def record(load: Load) -> dict[str, object] | None:
    """The load with units in its names, for a file; None where nothing arrives.

    >>> record(Load(on=True, tpot=5))["tpot_ms"], record(Load())
    (5, None)
    """
    if not load.on:
        return None
    return {
        "kind": load.kind,
        "token_budget": load.token_budget,
        "plain_limit_percent": load.share,
        "ttft_s": load.ttft,
        "tpot_ms": load.tpot,
        "e2e_s": load.e2e,
        "seed": load.seed,
    }


def read(given: Mapping[str, str]) -> tuple[Load, tuple[str, ...]]:
    """The load of an address and a sentence for each part of it that cannot be used.

    >>> read({"arrivals": "code", "arrive": "x"})[1][0][:30]
    'the rate must be a number in ['
    """
    values: dict[str, object] = {}
    problems: list[str] = []
    if _KIND in given:
        values["on"] = True
        if given[_KIND] in KINDS:
            values["kind"] = given[_KIND]
        else:
            problems.append(f"{_KIND} must be one of {', '.join(KINDS)}; got {given[_KIND]!r:.40}.")
    if _PROMPTS in given:
        values[_ALONE] = given[_PROMPTS] == _ALONE
        if not values[_ALONE]:
            problems.append(f"{_PROMPTS} must be {_ALONE}; got {given[_PROMPTS]!r:.40}.")
    for name, each in NUMBERS.items():
        if each.key in given:
            try:
                values[name] = number(each, given[each.key])
            except ValueError as error:
                problems.append(str(error))
    return dataclasses.replace(EXAMPLE, **values), tuple(problems)  # type: ignore[arg-type]
