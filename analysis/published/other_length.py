"""Tokens per round at one draft length from those at others."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.fitting.curve import fit_curve
from analysis.published.formula import one_p
from analysis.published.prediction import Family, Prediction
from analysis.published.rows import PublishedRow, published_rows, value_of
from analysis.published_load.facts import APERTUS

KNOWN_UP_TO = 4
"""The draft length up to which a curve is known; the rest is predicted."""
_LEAST_POINTS = 3


def other_length_one_p() -> Family:
    """p from the shortest printed draft, E[tokens] = (1 − p^(γ + 1)) / (1 − p) at the others."""
    return Family(
        name="other length, one p",
        kind="prediction",
        asks="do tokens per round at the shortest draft give those at longer ones, with one p?",
        misses="acceptance that falls with depth: one p promises too much, the more the longer",
        predictions=tuple(_one_p()),
    )


def other_length_curve() -> Family:
    """A process fitted to the lengths up to four (`fit_curve`), asked about the longer ones."""
    return Family(
        name="other length, fitted curve",
        kind="prediction",
        asks="do two or more lengths up to four give the longer ones, with acceptance that may fall?",
        misses="what only longer drafts could show; each length is a run of its own",
        predictions=tuple(_curve()),
    )


def curves() -> tuple[tuple[PublishedRow, ...], ...]:
    """Rows that differ in their draft length only, shortest first, three or more of them."""
    found: dict[tuple[str, ...], list[PublishedRow]] = {}
    for row in published_rows():
        sweep = row.source == APERTUS and row.batch == 1
        if row.target and row.tokens_per_round and row.gamma and (sweep or not row.batch):
            key = (row.source, row.table, row.method, row.target, row.task, row.temperature)
            found.setdefault(key, []).append(row)
    return tuple(
        tuple(sorted(rows, key=lambda row: row.gamma or 0))
        for rows in found.values()
        if len({row.gamma for row in rows}) >= _LEAST_POINTS
    )


def _one_p() -> Iterable[Prediction]:
    for rows in curves():
        first = rows[0]
        for row in rows:
            known = value_of(first.tokens_per_round)
            yield Prediction(
                row=row, quantity="tokens_per_round", printed=value_of(row.tokens_per_round),
                predicted=one_p(known, first.gamma or 1, row.gamma or 1),
                inputs=f"tokens per round at gamma {first.gamma}", group=f"{row.source}, {row.method}",
                fitted=row is first, guess=known,
            )  # fmt: skip


def _curve() -> Iterable[Prediction]:
    for rows in curves():
        known = {
            row.gamma or 0: row.tokens_per_round or 0.0
            for row in rows
            if (row.gamma or 0) <= KNOWN_UP_TO
        }
        if len(known) < _LEAST_POINTS:
            continue
        fit = fit_curve(known)
        for row in rows:
            gamma = row.gamma or 0
            yield Prediction(
                row=row, quantity="tokens_per_round", printed=value_of(row.tokens_per_round),
                predicted=fit.tokens_per_round(gamma).value,
                inputs=f"{fit.name} through gamma {', '.join(map(str, known))}",
                group=f"{row.source}, {row.method}", fitted=gamma in known, guess=known[max(known)],
            )  # fmt: skip
