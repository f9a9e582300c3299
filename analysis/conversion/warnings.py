"""Traps that a number is known for, said beside it."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.conversion.names import FieldName
from analysis.conversion.rules import Found
from analysis.conversion.values import Known
from analysis.formulas import expected_tokens

_FRACTIONS = frozenset({"accepted_fraction", "accepted_per_window", "fraction_with_bonus"})


def warnings_of(
    quantity: str, known: Known, name: FieldName | None, found: Mapping[str, Found]
) -> tuple[str, ...]:
    """Sentences about the given number; empty if there is nothing to warn of."""
    said = []
    if quantity in _FRACTIONS:
        said.append(_no_p(quantity, known.values[0], found))
    if name is not None and name.drafted_only:
        said.append(
            f"{name.engine} does not count rounds without a draft: over all target passes tokens per "
            "round are fewer where n-grams find nothing."
        )
    if quantity == "p":
        said.append(
            "an acceptance rate that an engine prints is no p but accepted / drafted, which is smaller; "
            "take p from counts."
        )
    if name is not None and "mean over requests" in name.note:
        said.append(
            "a mean over requests is no ratio of sums: long requests have no more weight than short ones."
        )
    if quantity == "survival":
        said.append(
            "drafts that were cut short count as rejected here, so that survival / survival before is "
            "at most the acceptance of a tested token."
        )
    return tuple(said)


def _no_p(quantity: str, value: float, found: Mapping[str, Found]) -> str:
    sentence = f"{value:.4g} is {quantity}, not p = P(accepted | tested)"
    gamma, tokens, p = found.get("gamma"), found.get("tokens_per_round"), found.get("p")
    if gamma is None or tokens is None or p is None:
        return f"{sentence}; without the draft length neither p nor tokens per round follow."
    length = int(gamma.known.values[0])
    promised = float(expected_tokens(min(value, 1.0), length))
    return (
        f"{sentence}: put into the formula as p it promises {promised:.2f} tokens per round at "
        f"γ = {length}, where full drafts had {tokens.known.values[0]:.2f}; "
        f"the equivalent p is {p.known.values[0]:.3f}."
    )
