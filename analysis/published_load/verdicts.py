"""The criteria that the published tables are held to, each with its numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from analysis.published_load.apertus import FITTED_UP_TO, ApertusFit
from analysis.published_load.choices import choices
from analysis.published_load.eagle_chain import HEADS, ChainFit
from analysis.published_load.errors import Errors, errors_of, never_rises
from analysis.published_load.magicdec import MagicDecRow, best_never_falls, gains_rise
from analysis.systems.published import CHAIN_LIMIT, chain_errors

RMS_LIMIT = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One criterion or one measure of a table. `holds` is None where no mark is set."""

    table: str
    what: str
    errors: Errors | None = None
    limit: float | None = None
    holds: bool | None = None


def verdicts(
    apertus: ApertusFit, magicdec: Iterable[MagicDecRow], chain: ChainFit
) -> tuple[Verdict, ...]:
    """All of them, the error of Apertus on the loads that were not fitted first."""
    return (*_apertus(apertus), *_magicdec(tuple(magicdec)), *_chain(chain), _head_chains())


def _head_chains() -> Verdict:
    errors = chain_errors()
    return Verdict(
        table="EAGLE, Table 5",
        what="tokens per round of chains from acceptance by depth",
        errors=errors,
        limit=CHAIN_LIMIT,
        holds=abs(errors.worst) <= CHAIN_LIMIT,
    )


def _apertus(fit: ApertusFit) -> tuple[Verdict, ...]:
    rows = fit.rows()
    above = errors_of(row for row in rows if row.batch > FITTED_UP_TO)
    chosen = choices(rows)
    block, head = "Apertus chat, block drafter", "Apertus chat, EAGLE head"
    return (
        Verdict(
            table=block,
            what="concurrency 32 to 256, predicted",
            errors=above,
            limit=RMS_LIMIT,
            holds=above.rms <= RMS_LIMIT,
        ),
        Verdict(
            table=block,
            what="best γ never rises with concurrency",
            holds=never_rises([choice.predicted for choice in chosen]),
        ),
        Verdict(
            table=block,
            what="best γ at most one measured length away, or within 3 % of the best",
            holds=all(choice.holds for choice in chosen),
        ),
        Verdict(
            table=f"{block} (fit)",
            what="concurrency 1 and 8, fitted",
            errors=errors_of(row for row in rows if row.fitted),
        ),
        Verdict(
            table=f"{block} (fit)",
            what="concurrency 32 to 256 with γ = 4, predicted",
            errors=errors_of(
                replace(row, marked=False) for row in rows if row.batch > FITTED_UP_TO
            ),
        ),
        Verdict(table=head, what="all loads, no row fitted", errors=errors_of(fit.eagle_rows())),
    )


def _magicdec(rows: tuple[MagicDecRow, ...]) -> tuple[Verdict, ...]:
    table = "MagicDec, 8 H100"
    return (
        Verdict(
            table=table,
            what="gain at the printed γ rises with the batch",
            holds=gains_rise(rows),
        ),
        Verdict(
            table=table, what="best γ never falls with the batch", holds=best_never_falls(rows)
        ),
        Verdict(
            table=table,
            what="all rows, nothing fitted",
            errors=errors_of(row.compared for row in rows),
        ),
        Verdict(
            table=table,
            what="its own acceptance printed, nothing fitted",
            errors=errors_of(row.compared for row in rows if not row.p_assumed),
        ),
    )


def _chain(fit: ChainFit) -> tuple[Verdict, ...]:
    table = "EAGLE-3, Table 3"
    rows = fit.rows()
    return (
        Verdict(
            table=table,
            what="batch 2 to 8, fitted",
            errors=errors_of(row for row in rows if row.fitted),
        ),
        *(
            Verdict(
                table=table,
                what=f"{head}, batch 16 to 64, predicted",
                errors=errors_of(row for row in rows if row.method == head and not row.fitted),
            )
            for head in HEADS
        ),
    )
