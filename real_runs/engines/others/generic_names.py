"""What the field calls a quantity, and the pairs of name and value in a line of any program.

The names are those of engines, papers and tools; what they leave open (bonus in or out, percent or
fraction) is settled by arithmetic where counts stand beside them, in `generic`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from real_runs.engines.counts.printed import MOST_DIGITS, Printed, as_printed

SYNONYMS: dict[str, tuple[str, ...]] = {
    "rounds": (
        *("rounds", "num_rounds", "rounds_total", "total_rounds", "verification_steps"),
        *("verify_steps", "verify_ct", "spec_verify_ct", "num_spec_steps", "forwards"),
        *("target_forwards", "target_passes", "decoding_steps", "num_drafts", "n_rounds"),
    ),
    "drafted": (
        *("drafted", "drafted_tokens", "draft_tokens", "num_draft_tokens", "total_draft_tokens"),
        *("draft_tokens_total", "total_draft", "n_drafted", "draft_n", "num_proposed_drafts"),
        *("proposed", "proposed_tokens", "attempts", "attempts_total", "draft_tokens_proposed"),
        *("total_draft_tokens_count", "num_drafted_tokens", "tokens_drafted"),
    ),
    "accepted": (
        *("accepted", "accepted_tokens", "num_accepted_tokens", "accepted_draft_tokens"),
        *("accepts", "accepts_total", "n_accept", "n_accepted", "draft_n_accepted"),
        *("total_draft_accepted", "accept_tokens_total", "accepted_tokens_total"),
        *("num_accepted_draft_tokens", "num_correct_drafts", "draft_tokens_accepted"),
        *("accepted_draft_tokens_count", "tokens_accepted", "mtp_accepted"),
    ),
    "rejected": ("rejected", "rejected_tokens", "rejected_draft_tokens", "num_rejected_tokens"),
    "emitted": (
        *("emitted", "emitted_tokens", "emitted_total", "num_emitted_tokens", "output_tokens"),
        *("completion_tokens", "generated_tokens", "predicted_tokens", "n_predict"),
    ),
    "gamma": (
        *("gamma", "num_speculative_tokens", "speculative_tokens", "spec_tokens", "draft_max"),
        *("num_assistant_tokens", "max_draft_len", "spec_draft_n_max", "draft_length", "draft_len"),
        *("spec_draft_length", "speculate_k"),
    ),
    "accepted_fraction": (
        *("acceptance", "acceptance_rate", "accept_rate", "accepted_rate", "acc_rate"),
        *("draft_acceptance", "draft_acceptance_rate", "accept_ratio", "acceptance_ratio"),
        *("aggregate_accept_rate", "spec_accept_rate", "draft_utilization"),
    ),
    "tokens_per_round": (
        *("tokens_per_round", "tokens_per_step", "tokens_per_forward", "tokens_per_pass"),
        *("tok_per_step", "tok_per_round", "tok_per_forward", "acceptance_length"),
        *("accept_length", "accept_len", "acc_length", "mean_acceptance_length", "mean_len"),
        *("mean_acc_len", "mean_accept_length", "average_acceptance_length"),
        *("block_efficiency", "mean_accepted_tokens", "average_al", "compression_ratio"),
        *("avg_decoded_tokens_per_iter", "spec_accept_length", "mean_accept_len"),
    ),
    "accepted_per_round": (
        *("mean_accepted", "simulated_acc_len", "nextn_accepted", "accepted_per_step"),
        *("accepted_per_round", "accepted_per_forward", "num_matches"),
    ),
    "efficiency": ("system_efficiency", "spec_decode_accepted_per_verified"),
    "tokens_per_s": (
        *("tokens_per_second", "tokens_per_sec", "tokens_per_s", "tok_per_s", "t_per_s"),
        *("tokens_s", "tok_s", "tps", "generation_tps", "decode_tps"),
    ),
}
"""Names in the field, written with underscores, by our word for the quantity."""

CORE = frozenset(
    {"drafted", "accepted", "accepted_fraction", "tokens_per_round", "accepted_per_round"}
)
"""Quantities without which a line is not about speculative decoding."""

_QUANTITIES = {name: quantity for quantity, names in SYNONYMS.items() for name in names}
_MOST_WORDS = 6
_LONGEST_NAME = 64
_MOST_VALUES = 64

_COUNT = r"\d{1,3}(?:,\d{3}){1,5}(?!\d|,\d)|\d{1,18}"
_DECIMAL = r"\d{1,9}\.\d{1,18}"
_NUMBER = rf"(?:{_DECIMAL}|{_COUNT})"
_VALUE = re.compile(
    rf"\[\s*(?P<list>\d[\d, ]{{0,300}}\d)\s*\]"
    rf"|(?<![\w.,/])(?P<part>{_COUNT})\s?/\s?(?P<whole>{_COUNT})(?![\w./])"
    rf"|(?<![\w.,])[~≈]?\s?(?P<low>{_NUMBER})\s?(?P<percent>%)?"
    rf"(?:\s?[-–—~]\s?(?P<high>{_NUMBER})\s?(?P<high_percent>%)?)?(?![\w.]*\d)",
    re.ASCII,
)
_PHRASES = (
    re.compile(
        rf"(?P<rounds>{_COUNT}) (?:forwards?|rounds?|steps?|passes) per (?P<emitted>{_COUNT}) tok",
        re.ASCII,
    ),
    re.compile(
        rf"(?P<emitted>{_COUNT}) tokens in (?P<rounds>{_COUNT}) (?:forwards?|rounds?|steps?|passes)",
        re.ASCII,
    ),
)
_PER_ROUND = re.compile(r"\s?tok(?:en)?s?\s?/\s?(?:forward|round|step|pass)\b", re.IGNORECASE)
_PER_SECOND = re.compile(r"\s?(?:tok(?:en)?s?|t)\s?(?:/|-per-)\s?s(?:ec|econd)?\b", re.IGNORECASE)
_ACCEPTED_OF = re.compile(r"\baccepted \Z", re.IGNORECASE)
_TOKENS = re.compile(r" tokens\b")
_JOINT = re.compile(r"[\"'`*\s]*(?:[:=|]|->)[\"'`*\s~≈(]*\Z")
_BARE = re.compile(r"[\s(~≈]*\Z")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORDS = re.compile(r"[a-z0-9]+")
_BREAK = re.compile(r"[,;|{}\n]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value as printed: one number, or a range, or part / whole, or a list of counts."""

    low: Printed | None = None
    high: Printed | None = None
    percent: bool = False
    part: int | None = None
    whole: int | None = None
    counts: tuple[int, ...] = ()

    @property
    def is_range(self) -> bool:
        """Whether two numbers stand for everything between them."""
        return self.high is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A value under our word for its quantity; None for a part / whole that follows another value."""

    quantity: str | None
    value: Value


def pairs_in(text: str) -> list[Pair]:
    """The values of a line whose names are known, in order; a part / whole in brackets has no name.

    >>> [(pair.quantity, pair.value.part, pair.value.whole)
    ...  for pair in pairs_in("rounds=1079 accepted=1414/2158 (65.5%)")][:2]
    [('rounds', None, None), ('accepted', 1414, 2158)]
    >>> pairs_in("acceptance 0.48-0.95")[0].value.high
    Printed(units=95, scale=100)
    """
    found: list[Pair] = []
    spans: list[tuple[int, int]] = []
    for phrase in _PHRASES:
        for match in phrase.finditer(text):
            spans.append(match.span())
            found += [
                Pair(quantity=quantity, value=Value(low=_printed(match[quantity])))
                for quantity in ("rounds", "emitted")
            ]
    end = 0
    for number, match in enumerate(_VALUE.finditer(text)):
        if number == _MOST_VALUES:
            break
        start, last_end = match.start(), end
        end = match.end()
        if any(begin <= start < over for begin, over in spans):
            continue
        value = _value(match)
        if (
            value.part is not None
            and _ACCEPTED_OF.search(text, 0, start)
            and _TOKENS.match(text, end)
        ):
            # LM Studio writes "Accepted 80/233 tokens": of those predicted, not of those drafted.
            found.append(Pair(quantity="accepted", value=Value(low=_printed(match["part"]))))
            found.append(Pair(quantity="emitted", value=Value(low=_printed(match["whole"]))))
            continue
        quantity = _quantity(text, last_end, start, end, value)
        if quantity is not None or value.part is not None:
            found.append(Pair(quantity=quantity, value=value))
    return found


def _quantity(text: str, last_end: int, start: int, end: int, value: Value) -> str | None:
    """Our word for what stands before the value, or for its unit behind it."""
    if _PER_ROUND.match(text, end):
        return "tokens_per_round"
    if _PER_SECOND.match(text, end):
        return "tokens_per_s"
    before = text[max(last_end, start - _LONGEST_NAME) : start]
    joint = _JOINT.search(before)
    if joint is None:
        # Without a sign between, "acceptance 33%" is a pair and "step 33" is not.
        plain = value.low is not None and not (value.percent or value.is_range)
        if plain or (value.part is not None and "(" in before[-2:]) or not _BARE.search(before):
            return None
    name = before[: joint.start()] if joint else before
    return quantity_of(_BREAK.split(name)[-1])


def quantity_of(name: str) -> str | None:
    """Our word for a name of the field; None for one that is not known.

    The last words decide, as many as are known: "MTP acceptance", "#Mean accepted tokens:".

    >>> quantity_of("MTP acceptance"), quantity_of("acceptedDraftTokensCount"), quantity_of("loss")
    ('accepted_fraction', 'accepted', None)
    """
    words = _WORDS.findall(_CAMEL.sub("_", name).lower().replace("/", " per "))
    for first in range(max(len(words) - _MOST_WORDS, 0), len(words)):
        quantity = _QUANTITIES.get("_".join(words[first:]))
        if quantity is not None:
            return quantity
    return None


def _value(match: re.Match[str]) -> Value:
    if match["list"] is not None:
        return Value(counts=tuple(_counts(match["list"])))
    if match["part"] is not None:
        return Value(part=_whole(match["part"]), whole=_whole(match["whole"]))
    high = match["high"]
    return Value(
        low=_printed(match["low"]),
        high=None if high is None else _printed(high),
        percent=match["percent"] is not None or match["high_percent"] is not None,
    )


def _counts(text: str) -> Iterator[int]:
    for part in text.split(","):
        stripped = part.strip()
        if stripped.isdecimal() and len(stripped) <= MOST_DIGITS:
            yield int(stripped)


def _whole(text: str) -> int:
    return int(text.replace(",", "")[:MOST_DIGITS])


def _printed(text: str) -> Printed:
    return as_printed("a value", text.replace(",", "")[:MOST_DIGITS])
