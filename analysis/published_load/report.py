"""The published tables under load beside the cost model's, as a report."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.output import Report, Row, Section
from analysis.published_load.apertus import ApertusFit, chosen_fit
from analysis.published_load.choices import choices
from analysis.published_load.eagle_chain import CONTEXT, HEADS, ChainFit, fit_chain, rises
from analysis.published_load.errors import Compared, Errors, errors_of
from analysis.published_load.magicdec import MagicDecRow, magicdec_rows
from analysis.published_load.notes import notes_on
from analysis.published_load.sensitivity import UNFITTED, Sensitivity, sensitivities
from analysis.published_load.verdicts import RMS_LIMIT, verdicts
from analysis.systems.published import printed_notes, printed_section


def published_load_report() -> Report:
    """Every row of the three tables with its error, the rules they are held to, and what was assumed.

    >>> report = published_load_report()
    >>> [row[-1] for row in report.sections[0].rows if row[0] == "Apertus chat, block drafter"]
    [True, True, True]
    """
    apertus, chain, magicdec = chosen_fit(), fit_chain(), magicdec_rows()
    tried = sensitivities()
    unfitted = next(each for each in tried if each.assumptions.name == UNFITTED)
    found = verdicts(apertus, magicdec, chain)
    held = [verdict for verdict in found if verdict.holds is not None]
    kept = sum(bool(verdict.holds) for verdict in held)
    first = found[0]
    return Report(
        command="published",
        parameters=(
            ("apertus_operations_share", apertus.operations_share),
            ("apertus_draft_factor", apertus.draft_factor),
            ("overlap", apertus.assumptions.machine.overlap),
            ("memory_share", apertus.assumptions.machine.memory_share),
        ),
        sections=(
            Section(
                name="summary",
                columns=("table", "what", "n", "rms_error", "worst_error", "limit", "holds"),
                rows=tuple(
                    (v.table, v.what, *_numbers(v.errors), v.limit, v.holds) for v in found
                ),
            ),
            _best(apertus),
            _speeds(
                (
                    ("Apertus chat, block drafter", apertus.rows()),
                    ("Apertus chat, EAGLE head", apertus.eagle_rows()),
                    *((f"EAGLE-3, Table 3: {head}", chain.rows_of(head)) for head in HEADS),
                )
            ),
            _magicdec(magicdec),
            _sensitivity(tried),
            _chain_sensitivity(),
            _rise(chain),
            printed_section(),
        ),
        headline=f"{kept} of {len(held)} stated criteria hold. Apertus: two parameters fitted on concurrency 1 "
        f"and 8 predict 32 to 256 with an rms error of {first.errors.rms if first.errors else 0.0:.1%} "
        f"(limit {RMS_LIMIT:.0%}); the step times of the same report alone, with nothing fitted to its "
        f"speedups, give {unfitted.held_out.rms:.1%}.",
        notes=(*notes_on(apertus, magicdec, chain), *printed_notes()),
    )  # fmt: skip


def _speeds(tables: Iterable[tuple[str, Iterable[Compared]]]) -> Section:
    return Section(
        name="speedups",
        columns=("table", "batch", "gamma", "measured", "predicted", "error", "role"),
        rows=tuple(
            (table, row.batch, row.gamma, row.measured, row.predicted, row.error, _role(row))
            for table, rows in tables
            for row in rows
        ),
        grouped=True,
    )


def _numbers(errors: Errors | None) -> Row:
    return (None, None, None) if errors is None else (errors.n, errors.rms, errors.worst)


def _role(row: Compared) -> str:
    kind = "marked" if row.marked else "fitted" if row.fitted else "predicted"
    return f"{kind}: {row.note}" if row.note else kind


def _best(apertus: ApertusFit) -> Section:
    return Section(
        name="apertus_best_gamma",
        columns=("apertus_concurrency", "predicted", "measured", "steps_apart", "measured_best",
                 "measured_at_predicted", "within_3_percent", "holds"),
        rows=tuple(
            (c.batch, c.predicted, c.measured, c.steps, c.best, c.at_prediction, c.in_flat_region, c.holds)
            for c in choices(apertus.rows())
        ),
    )  # fmt: skip


def _sensitivity(tried: Iterable[Sensitivity]) -> Section:
    return Section(
        name="apertus_sensitivity",
        columns=("apertus_assumption", "operations_share", "share_is", "draft_factor", "rms_fitted",
                 "rms_predicted", "worst_predicted", "best_gammas"),
        rows=tuple(
            (s.assumptions.name, s.operations_share, s.share_is, s.draft_factor, s.fitted.rms, s.held_out.rms,
             s.held_out.worst, " ".join(map(str, s.best_gammas)))
            for s in tried
        ),
        too_wide=("rms_fitted", "worst_predicted"),
    )  # fmt: skip


def _magicdec(rows: Iterable[MagicDecRow]) -> Section:
    return Section(
        name="magicdec_8_h100",
        columns=("pair", "context", "batch", "p", "p_assumed", "gamma", "measured", "predicted", "error",
                 "best_gamma_predicted", "best_speedup_predicted"),
        rows=tuple(
            (f"MagicDec: {r.compared.target}, {r.compared.method}", r.context, r.compared.batch, r.p,
             r.p_assumed, r.compared.gamma, r.compared.measured, r.compared.predicted, r.compared.error,
             r.best_gamma, r.best_speedup)
            for r in rows
        ),
        too_wide=("best_speedup_predicted",),
        grouped=True,
    )  # fmt: skip


def _chain_sensitivity() -> Section:
    rows: list[Row] = []
    for context in (200.0, CONTEXT, 1000.0, 2000.0):
        for borrowed in (False, True):
            fit = fit_chain(context, borrowed_tokens=borrowed)
            fitted, rest = (
                errors_of(r for r in fit.rows() if r.fitted is on) for on in (True, False)
            )
            tokens = "EAGLE-3: Meta's" if borrowed else "fitted"
            rows.append(
                (round(context), tokens, fit.operations_share, *fit.tokens_per_round, fit.overhead_s,
                 fitted.rms, rest.rms)
            )  # fmt: skip
    return Section(
        name="eagle_3_sensitivity",
        columns=("eagle_3_context", "tokens_from", "operations_share", "tokens_eagle", "tokens_eagle_3",
                 "overhead_s", "rms_fitted", "rms_rest"),
        rows=tuple(rows),
    )  # fmt: skip


def _rise(chain: ChainFit) -> Section:
    return Section(
        name="eagle_3_rise",
        columns=("eagle_3_head", "lowest_at_batch", "rise_to_64", "rise_48_to_64", "least_rms", "least_worst"),
        rows=tuple(
            (r.head, r.lowest_at, r.rise, r.rise_from_48, r.least.rms, r.least.worst)
            for r in rises(chain.rows())
        ),
    )  # fmt: skip
