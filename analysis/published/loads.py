"""The tables under load (`analysis.published_load`) as families of the same report."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.published.prediction import Family, Prediction
from analysis.published.rows import PublishedRow, published_rows
from analysis.published_load.apertus import DSPARK_ROWS, EAGLE_ROWS, chosen_fit
from analysis.published_load.eagle_chain import HEADS, fit_chain
from analysis.published_load.errors import Compared
from analysis.published_load.facts import APERTUS, EAGLE_3, MAGICDEC
from analysis.published_load.magicdec import magicdec_rows

_LIGHT, _RESULT_FILES = (
    "two numbers fitted at concurrency 1 and 8",
    "tokens per round from the result files",
)
_SMALL = ("arithmetic reached", "tokens per round, both fitted at batches 2 to 8")


def under_load() -> tuple[Family, ...]:
    """Apertus, EAGLE-3's Table 3 and MagicDec."""
    return (_apertus(), _eagle_3(), _magicdec())


def _apertus() -> Family:
    fit = chosen_fit()
    predictions = (
        *_beside(fit.rows(), APERTUS, DSPARK_ROWS, _LIGHT, "printed tokens per round"),
        *_beside(
            fit.eagle_rows(), APERTUS, EAGLE_ROWS, "the block drafter's two numbers", _RESULT_FILES
        ),
    )
    return Family(
        name="load: Apertus",
        kind="prediction",
        asks="do two numbers fitted at light load give the speeds of heavy load, and of another drafter?",
        misses="the EAGLE head at light load: its further steps cost less than is assumed of every pass",
        predictions=predictions,
    )


def _eagle_3() -> Family:
    chain = fit_chain()
    return Family(
        name="load: EAGLE-3",
        kind="prediction",
        asks="do three numbers fitted at batches 2 to 8 give batches 16 to 64?",
        misses="the measured gain rises again above 32 to 48, which no cost that grows with the batch does",
        predictions=tuple(
            each for head in HEADS for each in _beside(chain.rows_of(head), EAGLE_3, head, *_SMALL)
        ),
    )


def _magicdec() -> Family:
    rows = magicdec_rows()
    given = [row.number for row in published_rows(MAGICDEC) if row.p is not None]
    found = published_rows(MAGICDEC)
    return Family(
        name="load: MagicDec",
        kind="prediction",
        asks="do shapes, printed acceptance and assumed shares give the speed at long contexts?",
        misses="what eight devices take beside bytes and operations; acceptance of other pairs than printed",
        predictions=tuple(
            Prediction(
                row=_row_of(
                    found, row.compared, task=f"{row.context:,} tokens held"
                ),
                quantity="speedup", printed=row.compared.measured, predicted=row.compared.predicted,
                inputs="p of its length (another pair's)" if row.p_assumed else "p of its length",
                group=f"{row.compared.target}, {row.compared.method}",
            )
            for row in rows
        ),
        inputs=frozenset(given),
    )  # fmt: skip


def _beside(
    rows: Iterable[Compared], source: str, method: str, fitted: str, tokens: str
) -> Iterable[Prediction]:
    found = [row for row in published_rows(source) if row.method == method]
    for row in rows:
        yield Prediction(
            row=_row_of(found, row), quantity="speedup", printed=row.measured, predicted=row.predicted,
            inputs=f"{fitted}, {row.note if row.marked else tokens}",
            group=f"{method}, load {row.batch}", fitted=row.fitted,
        )  # fmt: skip


def _row_of(
    found: Iterable[PublishedRow], row: Compared, *, task: str | None = None
) -> PublishedRow:
    """The one row that was compared; ValueError where there is none or more than one."""
    same = [
        each
        for each in found
        if (each.gamma, each.batch, each.method, each.speedup_measured)
        == (row.gamma, row.batch, row.method, row.measured)
        and each.target == row.target
        and task in (None, each.task)
    ]
    if len(same) != 1:
        raise ValueError(f"published rows must hold one row of {row}; got {len(same)}.")
    return same[0]
