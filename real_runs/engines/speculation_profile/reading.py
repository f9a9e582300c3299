"""Reading `speculation_profile.json` (schema 1.x of Model-Optimizer), ours and others'."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast, get_args

from real_runs.engines.counts.lengths import from_histogram
from real_runs.engines.counts.printed import MOST_DEPTHS
from real_runs.engines.counts.skips import NoCounts, NothingDrafted, Skips
from real_runs.engines.counts.wording import counted, told_apart
from real_runs.engines.reading import Reading
from real_runs.engines.speculation_profile.rates import as_ratio, check_agreement, printed_rates
from real_runs.engines.speculation_profile.writing import OWN_COUNTS
from real_runs.engines.text.fields import (
    as_decimal,
    count_at,
    counts_at,
    decimal_at,
    histogram_at,
    shown,
    text_at,
)
from real_runs.engines.text.objects import JsonObject, Where
from simulator import (
    METHODS,
    AcceptanceTable,
    AcceptanceTotals,
    Counts,
    LengthRule,
    Method,
    ReportedRatio,
)

KEYS = ("marginal_accept_rates", "conditional_accept_rates", "acceptance_length_histogram")
SHAPES = "'marginal_accept_rates' with 'schema_version' (speculation_profile.json)"

_DEFINITION = (
    "conditional_accept_rates are kept / tested by position, marginal_accept_rates the share of rounds "
    "that kept a position and all before it; lengths count the bonus token."
)
_FAMILIES: dict[str, Method] = {
    "eagle": "eagle",
    "eagle3": "eagle",
    "mtp": "mtp",
    "medusa": "medusa",
    "ngram": "ngram",
    "dflash": "block",
    "dspark": "block",
    "draft_model": "draft_model",
    "draft_target": "draft_model",
}


class Profiles:
    """One Reading for each profile in a text, and one more per draft length that it measured."""

    def __init__(self, source: str, _: Skips) -> None:
        self._source = source
        self._readings: list[Reading] = []

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Read a profile, or raise NoCounts with the reason why not."""
        del where  # profiles are numbered
        if "schema_version" not in value:
            return  # another object with a histogram
        self._readings += self._read(value)

    def _read(self, value: JsonObject) -> list[Reading]:
        version = str(value.get("schema_version"))
        if version.partition(".")[0] != "1":
            raise NoCounts(f"schema_version is {shown(version)}; 1.x is known")
        if value.get("measured") is False:
            raise NothingDrafted("the profile says that it was not measured")
        gamma = count_at(value, "num_speculative_tokens")
        notes = []
        counts = _own_counts(value)
        ended = histogram_at(value, "acceptance_length_histogram", first=1)
        if counts is None and ended:
            counts, note = _from_histogram(
                ended, gamma, block=value.get("verification_method") == "block"
            )
            notes.append(note)
        printed = printed_rates(value)
        if counts is None and not printed:
            raise NothingDrafted("the profile has neither rounds nor rates")
        check_agreement(counts, ended, printed)
        by_request = decimal_at(value, "mean_accept_length_per_request")
        if by_request is not None:
            notes.append(
                f"The mean by request, each counted alike, is {by_request.value:.6g} tokens per round."
            )
        if reason := text_at(value, "vectors_unavailable_reason"):
            notes.append(f"The rates by position are withheld: {reason}.")
        first = self._reading(
            "speculation_profile.json", value, gamma, counts=counts, printed=printed, notes=notes
        )
        return [first, *self._by_k(value, gamma)]

    def _by_k(self, value: JsonObject, gamma: int | None) -> list[Reading]:
        """Other draft lengths, where they were measured and not computed from one."""
        by_k = value.get("accept_length_by_k")
        if not isinstance(by_k, Mapping) or value.get("accept_length_model") != "measured_per_k":
            return []
        if len(by_k) > MOST_DEPTHS:
            raise NoCounts(f"accept_length_by_k has more than {MOST_DEPTHS} draft lengths")
        readings = []
        for key, mean in by_k.items():
            k = count_at({"k": key}, "k")
            if k == gamma:
                continue
            length = as_decimal(f"accept_length_by_k[{shown(key)}]", mean)
            readings.append(
                self._reading(
                    f"speculation_profile.json, {counted(k or 0, 'drafted token')}",
                    value,
                    k,
                    counts=None,
                    printed=(as_ratio("tokens_per_round", length),),
                    notes=["Measured at this draft length, by its mean alone."],
                )
            )
        return readings

    def _reading(
        self,
        layout: str,
        value: JsonObject,
        gamma: int | None,
        *,
        counts: Counts | None,
        printed: tuple[ReportedRatio, ...],
        notes: list[str],
    ) -> Reading:
        return Reading(
            engine="model-optimizer",
            layout=layout,
            source=self._source,
            counts=counts,
            printed=printed if counts is None else (),
            definition=_DEFINITION,
            lines=0,
            used=1,
            notes=tuple(notes),
            unit="request",
            gamma=gamma,
            method=method_of(text_at(value, "method")),
        )

    def readings(self, lines: int) -> list[Reading]:
        """What the profiles of the text say, in their order."""
        names = told_apart([reading.layout for reading in self._readings])
        return [
            replace(reading, layout=name, lines=lines)
            for name, reading in zip(names, self._readings, strict=True)
        ]


def method_of(name: str | None) -> Method | None:
    """The family of a method by its name in engines; "other" for names that are not known."""
    if name is None:
        return None
    key = name.lower().replace("-", "_")
    if key in METHODS:
        return key
    return _FAMILIES.get(key, "other")


def _from_histogram(
    ended: tuple[int, ...], gamma: int | None, *, block: bool
) -> tuple[Counts, str]:
    rounds = sum(ended)
    drafted = None if gamma is None else rounds * gamma
    record = from_histogram(ended, drafted=drafted, gamma=gamma)
    note = "Drafted tokens are not printed"
    note += (
        ": the longest accepted draft stands for every draft."
        if gamma is None
        else f": rounds × num_speculative_tokens ({rounds} × {gamma}) rests on full drafts."
    )
    if isinstance(record, AcceptanceTable) and not block:
        return record, note
    table = record if isinstance(record, AcceptanceTable) else None
    if table is None:
        return cast("Counts", record.totals), note  # type: ignore[union-attr]
    totals = AcceptanceTotals(
        drafted=table.drafted,
        accepted=sum(table.accepted),
        rounds=table.rounds,
        accepted_by_depth=table.accepted,
    )
    return totals, f"{note} Blocks are verified as a whole: no position was tested by itself."


def _own_counts(value: JsonObject) -> Counts | None:
    own = value.get(OWN_COUNTS)
    if not isinstance(own, Mapping):
        return None
    rule = own.get("length_rule")
    if rule not in get_args(LengthRule):
        raise NoCounts(f"{OWN_COUNTS}: length_rule is {shown(rule)}")
    try:
        if "tested" in own:
            return AcceptanceTable(
                rounds=count_at(own, "rounds") or 0,
                drafted=count_at(own, "drafted") or 0,
                tested=counts_at(own, "tested", most=MOST_DEPTHS),
                accepted=counts_at(own, "accepted", most=MOST_DEPTHS),
                discarded=count_at(own, "discarded") or 0,
                length_rule=cast("LengthRule", rule),
            )
        return AcceptanceTotals(
            drafted=count_at(own, "drafted") or 0,
            accepted=count_at(own, "accepted") or 0,
            rounds=count_at(own, "rounds"),
            emitted=count_at(own, "emitted"),
            accepted_by_depth=_list(own, "accepted_by_depth"),
            accepted_by_depth_bounds=_pairs(own),
            longest_draft=count_at(own, "longest_draft"),
            length_rule=cast("LengthRule", rule),
        )
    except ValueError as problem:  # counts that contradict each other
        raise NoCounts(f"{OWN_COUNTS}: {problem}") from None


def _list(own: JsonObject, name: str) -> tuple[int, ...] | None:
    return None if own.get(name) is None else counts_at(own, name, most=MOST_DEPTHS)


def _pairs(own: JsonObject) -> tuple[tuple[int, int], ...] | None:
    bounds = own.get("accepted_by_depth_bounds")
    if not isinstance(bounds, list) or len(bounds) > MOST_DEPTHS:
        return None
    pairs = [counts_at({"pair": pair}, "pair", most=2) for pair in bounds]
    if any(len(pair) != 2 for pair in pairs):
        raise NoCounts("accepted_by_depth_bounds are no pairs")
    return tuple((pair[0], pair[1]) for pair in pairs)
