"""The closed form from p, gamma and cost ratio (Leviathan et al. 2023), against print and against clocks."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.formulas import expected_tokens, speedup
from analysis.optimum import best_gamma, p_from_tokens
from analysis.published.leviathan import LEVIATHAN
from analysis.published.prediction import Family, Prediction
from analysis.published.rows import PublishedRow, published_rows, value_of

_LONGEST = 256
COHERE_V = 1.25
"""V(4), a pass over four tokens, in Cohere's text."""
ORACLE_TARGET, ORACLE_DRAFT, STATIC_TARGET, STATIC_GAMMA = 27, 129, 38, 5
"""Passes of one MBPP example in Hugging Face's text: with an oracle's length, and with a constant one."""


def formula_printed() -> Family:
    """S = (1 − p^(γ + 1)) / ((1 − p)(γ c + 1)) against what the source says it gives (theorem 3.8)."""
    return Family(
        name="formula, as printed",
        kind="check",
        asks="does the formula give what its own paper says it gives?",
        misses="rounding of p and c; Table 5 prints no gamma, and no gamma reaches its numbers",
        predictions=tuple(_printed()),
    )


def formula_measured() -> Family:
    """The same against the clock, with V = 1 unless a source prints V."""
    return Family(
        name="formula, measured",
        kind="prediction",
        asks="do printed p, gamma and cost ratio give the measured speed?",
        misses="V(n) above 1, overheads, and a p that is a mean over unlike tokens",
        predictions=tuple(_measured()),
        inputs=frozenset(
            row.number for row in published_rows() if row.method == "draft model, oracle gamma"
        ),
    )


def speedup_of(row: PublishedRow) -> float:
    """The formula at the row's inputs; the best gamma where none is printed."""
    p, ratio = value_of(row.p), value_of(row.cost_ratio)
    if row.gamma is None:
        return best_gamma(p, ratio, max_gamma=_LONGEST).speedup
    return float(speedup(p, row.gamma, ratio))


def _printed() -> Iterable[Prediction]:
    for row in published_rows():
        if row.speedup_printed is None:
            continue
        if row.p is None:  # Cohere: tokens per round / V(4)
            predicted, inputs = value_of(row.tokens_per_round) / COHERE_V, "tokens per round, V(4)"
        else:
            predicted = speedup_of(row)
            inputs = "p, c, best gamma" if row.gamma is None else "p, gamma, c"
        yield Prediction(
            row=row, quantity="speedup", printed=row.speedup_printed, predicted=predicted, inputs=inputs,
            group=f"{row.source}, {row.table}, {row.draft}",
        )  # fmt: skip


def _measured() -> Iterable[Prediction]:
    for row in published_rows(LEVIATHAN, "Tables 2+4"):
        yield Prediction(
            row=row, quantity="speedup", printed=value_of(row.speedup_measured),
            predicted=speedup_of(row), inputs="p, gamma, c; V = 1", group=f"{row.task}, T = {row.temperature}",
        )  # fmt: skip
    for row in published_rows("DeepSeek-V3 2024"):
        yield Prediction(
            row=row, quantity="speedup", printed=value_of(row.speedup_measured),
            predicted=float(speedup(value_of(row.p), row.gamma or 1, 0.0)), inputs="p, gamma; c = 0, V = 1",
            group=row.source,
        )  # fmt: skip
    for row in published_rows("Cohere blog"):
        yield Prediction(
            row=row, quantity="speedup", printed=value_of(row.speedup_measured),
            predicted=value_of(row.tokens_per_round) / COHERE_V, inputs="tokens per round, V(4); c = 0",
            group=row.source,
        )  # fmt: skip
    for row in published_rows():
        if row.method == "draft model, constant gamma":
            yield Prediction(
                row=row, quantity="target_passes", printed=float(STATIC_TARGET),
                predicted=static_passes(), inputs="the oracle's passes", group=row.source,
            )  # fmt: skip


def static_passes() -> float:
    """Target passes at a constant gamma for the text that an oracle's length needs 27 passes for.

    An oracle drafts up to its first wrong token: drafted / passes = 1 / (1 − p) = tokens per pass. So p and
    the text's length follow from its 129 drafted tokens in 27 passes, and the passes at gamma 5 are
    tokens / E[tokens](p, 5).

    >>> round(static_passes(), 1)
    35.7
    """
    p = 1.0 - ORACLE_TARGET / ORACLE_DRAFT
    return ORACLE_DRAFT / float(expected_tokens(p, STATIC_GAMMA))


def one_p(tokens_per_round: float, known: int, asked: int) -> float:
    """Tokens per round at `asked` from those at `known`, with one p for both.

    >>> round(one_p(1.8, 1, 2), 12)  # p = 0.8: 1 + 0.8 + 0.64
    2.44
    """
    return float(expected_tokens(p_from_tokens(tokens_per_round, known), asked))
