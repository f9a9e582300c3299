"""Traces of SDB: what drafts would keep at every generated token (combined_*.jsonl)."""

from __future__ import annotations

from collections.abc import Mapping

from real_runs.engines.counts.acceptance_record import label_of
from real_runs.engines.counts.length_pool import LengthPool
from real_runs.engines.counts.pool import Extras, Layout
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.reading import Reading
from real_runs.engines.text.fields import counts_at, text_at
from real_runs.engines.text.objects import JsonObject, Where
from simulator import Method

KEYS = ("acc_eagle", "acc_ngram")
SHAPES = "'acc_eagle' or 'acc_ngram' with 'acc_len' (SDB, one JSON object a line)"

_METHODS: dict[str, Method] = {"acc_eagle": "eagle", "acc_ngram": "ngram"}


class Traces:
    """Keeps the traces of every method, text by text."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._skips = skips
        self._pools = {
            key: LengthPool(_layout(key), source, every_position=True) for key in _METHODS
        }
        self._lines = dict.fromkeys(_METHODS, 0)

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Add the traces of one text, or raise NoCounts with the reason why not."""
        for key, pool in self._pools.items():
            trace = value.get(key)
            if not isinstance(trace, Mapping):
                continue
            lengths = counts_at(trace, "acc_len")
            if not lengths:
                raise NoCounts(f"{key} has no acc_len")
            if min(lengths) < 1:
                raise NoCounts(
                    f"{key}: a length of 0 tokens, and acc_len counts the bonus",
                    finding="length_outside_range",
                )
            labels = tuple(
                (name, text)
                for name in ("category", "dataset", "task")
                if (text := text_at(value, name)) is not None
            )
            pool.add(
                where.line,
                [length - 1 for length in lengths],
                name=label_of(value, "question_id", "request_id", "id", "idx"),
                labels=labels,
            )
            self._lines[key] = self._lines[key] or where.line

    def readings(self, lines: int) -> list[Reading]:
        """One Reading per method; none, with a skip that says so, for one that never kept a draft."""
        found: list[Reading] = []
        for key, pool in self._pools.items():
            if self._lines[key] and not pool.longest:
                self._skips.record(
                    self._lines[key],
                    f"{key}: no drafted token would be kept anywhere",
                    expected=SHAPES,
                )
            notes = [
                (
                    "Lengths are those at every token of the text: shorter drafts can be replayed. The counts "
                    "are of rounds that begin where the one before ended."
                ),
            ]
            if _METHODS[key] == "ngram":
                notes.append(
                    "A token without a match looks like a draft of which nothing was kept."
                )
            found += pool.readings(lines, notes=tuple(notes), extras=Extras(method=_METHODS[key]))
        return found


def _layout(key: str) -> Layout:
    return Layout(
        engine="sdb",
        name=f"{key} at every token",
        unit="request",
        averaged_over="tokens of the text",
        definition=f"none is printed; {key}.acc_len are tokens per round with the bonus.",
    )
