"""The result of a conversion, and how it is put together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from analysis.conversion.checks import check_possible
from analysis.conversion.names import FieldName, field_names
from analysis.conversion.quantities import QUANTITIES
from analysis.conversion.reasons import ASKED, why_not
from analysis.conversion.rules import Found, closure
from analysis.conversion.values import Known
from analysis.conversion.warnings import warnings_of

Value: TypeAlias = "float | tuple[float, ...]"
Range: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """A quantity that follows: its value, one number or one per depth, and how.

    `ranges` holds the smallest and the largest value that the printed digits allow, one pair per
    value. `assumptions` are names of `analysis.conversion.quantities.ASSUMPTIONS`; without any it
    follows exactly.
    """

    quantity: str
    value: Value
    ranges: tuple[Range, ...]
    how: str
    assumptions: tuple[str, ...] = ()

    @property
    def range(self) -> Range:
        """The range of a quantity that is one number; ValueError for one by depth."""
        if len(self.ranges) != 1 or isinstance(self.value, tuple):
            raise ValueError(f"{self.quantity} has one range per depth; got {len(self.ranges)}.")
        return self.ranges[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A quantity that does not follow, and why."""

    quantity: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InWords:
    """The same number in the words of an engine: what it would print, or what it must be told."""

    engine: str
    versions: str
    word: str
    kind: str
    text: str
    quantity: str
    assumptions: tuple[str, ...]
    note: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """What was given, what follows from it exactly, what under named assumptions, and what does not.

    `meaning` says what the given word counts. `warnings` are traps that this number is known for.
    """

    quantity: str
    meaning: str
    given: Derived
    gamma: int | None
    engine: str | None
    version: str | None
    exact: tuple[Derived, ...]
    assumed: tuple[Derived, ...]
    impossible: tuple[Missing, ...]
    words: tuple[InWords, ...]
    warnings: tuple[str, ...] = ()

    def get(self, quantity: str) -> Derived | None:
        """What follows for a quantity, exactly or under assumptions; None if nothing does."""
        every = (self.given, *self.exact, *self.assumed)
        return next((derived for derived in every if derived.quantity == quantity), None)


def converted(
    quantity: str,
    known: Known,
    *,
    name: FieldName | None,
    beside: Mapping[str, Known],
    granted: frozenset[str],
    engine: str | None,
    version: str | None,
    warnings: tuple[str, ...],
) -> Conversion:
    """The conversion of a canonical quantity; `granted` are assumptions known to hold."""
    known = check_possible(quantity, known, beside)
    given = {quantity: known, **beside}
    if QUANTITIES[quantity].by_depth and "gamma" not in given:
        depths = len(known.values) - (quantity == "histogram")
        if depths >= 1 and "window" not in given:
            given["gamma"] = Known.exact([float(depths)])
    found = closure(given, quantity)
    for follows_from in ("tokens_per_round", "accepted_per_round"):
        if follows_from in found and follows_from != quantity:
            found[follows_from] = _possible(quantity, follows_from, found)
    if name is not None and name.drafted_only and "tokens_per_round" in found:
        tokens = found["tokens_per_round"]
        found["tokens_per_target_pass"] = Found(
            known=tokens.known,
            how="the same number",
            needs=tokens.needs | {"every_round_drafts"},
        )
    told = (
        closure(beside, quantity) if beside else {}
    )  # by the draft length alone, without the number
    follows = [
        _derived(target, each, granted)
        for target, each in found.items()
        if target not in {quantity, *beside, *told}
    ]
    order = list(QUANTITIES)
    follows.sort(key=lambda derived: (len(derived.assumptions), order.index(derived.quantity)))
    gamma = found.get("gamma")
    return Conversion(
        quantity=quantity,
        meaning=QUANTITIES[quantity].meaning,
        given=_derived(quantity, found[quantity], granted),
        gamma=None if gamma is None else int(gamma.known.values[0]),
        engine=engine,
        version=version,
        exact=tuple(derived for derived in follows if not derived.assumptions),
        assumed=tuple(derived for derived in follows if derived.assumptions),
        impossible=tuple(
            Missing(quantity=target, reason=why_not(quantity, target, found))
            for target in ASKED
            if target not in found
        ),
        words=tuple(_words(found, granted, quantity)),
        warnings=(*warnings, *warnings_of(quantity, known, name, found)),
    )


def _possible(quantity: str, target: str, found: Mapping[str, Found]) -> Found:
    """A derived mean with its range cut to the possible; ValueError where nothing is."""
    gamma = {"gamma": found["gamma"].known} if "gamma" in found else {}
    try:
        return replace(found[target], known=check_possible(target, found[target].known, gamma))
    except ValueError as error:
        raise ValueError(f"{quantity} is impossible here, for {error}") from None


def _derived(quantity: str, found: Found, granted: frozenset[str]) -> Derived:
    known = found.known
    return Derived(
        quantity=quantity,
        value=known.values if QUANTITIES[quantity].by_depth else known.values[0],
        ranges=tuple(zip(known.lows, known.highs, strict=True)),
        how=found.how,
        assumptions=tuple(sorted(found.needs - granted)),
    )


def _words(found: Mapping[str, Found], granted: frozenset[str], given: str) -> list[InWords]:
    return [
        InWords(
            engine=name.engine,
            versions=name.versions,
            word=name.names[0],
            kind=name.kind,
            text=in_unit(found[name.quantity].known, name.unit),
            quantity=name.quantity,
            assumptions=tuple(sorted(found[name.quantity].needs - granted)),
            note=name.note,
            source=name.source,
        )
        for name in field_names()
        if name.quantity in found
        and name.quantity != "p"
        # A setting that only repeats the draft length is no answer to a question about something else.
        and not (name.quantity in {"gamma", "window"} and given not in {"gamma", "window"})
    ]


def in_unit(known: Known, unit: str) -> str:
    """Values as an engine writes them: percent where it does, whole numbers without decimals.

    >>> in_unit(Known.exact([0.645]), "percent"), in_unit(Known.exact([2.9195402]), "tokens")
    ('64.5%', '2.91954')
    """
    if any(math.isnan(value) for value in known.values):
        return "unknown"
    if unit == "percent":
        return ", ".join(f"{100.0 * value:.4g}%" for value in known.values)
    return ", ".join(f"{value:.6g}" for value in known.values)
