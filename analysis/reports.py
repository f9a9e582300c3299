"""The reports of the command line: results as rows, with their verdicts. No parsing, no printing."""

from __future__ import annotations

import math

from analysis.article import GAMMA, P, judgements, worked_example
from analysis.checking import Check
from analysis.curve import over_gamma
from analysis.exact import round_law
from analysis.formulas import expected_tokens, whole_request_speedup
from analysis.optimum import MAX_SEARCH, BestGamma, VerifyCost, verify_costs
from analysis.output import Cell, Report, Row, Section
from analysis.verdict import verdict
from simulator import AcceptanceTable, Strategy
from simulator._checks import as_count

_WORDS = (
    "p is P(accepted | tested), γ the tokens drafted per round, c a draft step and V(n) a pass over n "
    "tokens, both in plain target steps; ± is one standard error."
)


def article_report(table: AcceptanceTable, seed: int) -> Report:
    """The worked example in closed form and from flipped tokens, then every claim judged."""
    flipped = table.tokens_per_round
    cost = next(number.exact for number in worked_example() if number.name == "cost of a round")
    simulated = {
        "tokens per round": (flipped.value, flipped.se),
        "speedup": (flipped.value / cost, None if flipped.se is None else flipped.se / cost),
    }
    numbers: list[Row] = []
    for number in worked_example():
        value, se = simulated.get(number.name, (None, None))
        numbers.append((number.name, number.printed, number.exact, value, se, _yes(number.agrees)))
    claims = [(entry.verdict, entry.claim, entry.says, entry.finding) for entry in judgements()]
    agree = all(number.agrees for number in worked_example())
    return Report(
        command="article",
        parameters=(("rounds", table.rounds), ("seed", seed)),
        sections=(
            Section(
                name="numbers",
                columns=("number", "article", "exact", "simulated", "se", "agrees"),
                rows=tuple(numbers),
            ),
            Section(
                name="claims",
                columns=("verdict", "claim", "article_says", "finding"),
                rows=tuple(claims),
                too_wide=("claim",),
            ),
        ),
        headline=f"The article's numbers {'are' if agree else 'are not'} reproduced: "
        f"{float(expected_tokens(P, GAMMA)):.4f} tokens per round exactly, {flipped} from "
        f"{table.rounds:,} rounds of flipped tokens.",
        notes=(_WORDS,),
        table=table,
    )


def simulation_report(
    command: str,
    strategy: Strategy,
    table: AcceptanceTable,
    result: Check,
    parameters: tuple[tuple[str, Cell], ...],
) -> Report:
    """Sampled quantities beside the exact ones, the distribution of tokens, the counts."""
    law = round_law(strategy)
    quantities = [
        (row.quantity, row.exact, row.simulated, row.se, row.z) for row in result.comparisons
    ]
    lengths = [
        (n + 1, count, count / table.rounds, weight)
        for n, (count, weight) in enumerate(zip(table.ended, law.pmf, strict=True))
    ]
    worst = max((abs(row.tail_z) for row in result.comparisons), default=0.0)
    agreement = "agrees with" if result.passed else "contradicts"
    fit = "" if math.isnan(result.chi_square_p) else f", chi-square p = {result.chi_square_p:.2g}"
    impossible = "" if result.support_ok else ", and impossible lengths occurred"
    return Report(
        command=command,
        parameters=parameters,
        sections=(
            Section(
                name="quantities",
                columns=("quantity", "exact", "simulated", "se", "z"),
                rows=tuple(quantities),
            ),
            Section(
                name="lengths", columns=("tokens", "rounds", "share", "exact"), rows=tuple(lengths)
            ),
        ),
        headline=f"{table.tokens_per_round} tokens per round; the sample {agreement} the exact law: "
        f"largest deviation {worst:.2f} se (limit {result.z_limit:.2f}){fit}{impossible}.",
        table=table,
    )


def prediction_report(
    *,
    p: float,
    gamma: int,
    cost_ratio: float,
    verify_cost: VerifyCost,
    overhead: float,
    prefill_share: float,
    max_gamma: int,
    notes: tuple[str, ...],
) -> Report:
    """Tokens, cost and speedup for every draft length up to max_gamma, with a verdict."""
    gamma = as_count("gamma", gamma, most=MAX_SEARCH)
    last = max(gamma, as_count("max_gamma", max_gamma, most=MAX_SEARCH))
    curve = over_gamma(p, cost_ratio, max_gamma=last, verify_cost=verify_cost, overhead=overhead)
    rows = tuple(
        (
            point.gamma,
            point.tokens_per_round,
            point.sd,
            point.round_cost,
            point.speedup,
            float(whole_request_speedup(point.speedup, prefill_share)),
            _marks(point.gamma, gamma, curve.best),
        )
        for point in curve.points[1:]
    )
    columns = ("gamma", "tokens_per_round", "sd", "round_cost", "speedup", "whole_request", "mark")
    return Report(
        command="predict",
        parameters=(
            ("p", p),
            ("gamma", gamma),
            ("cost_ratio", cost_ratio),
            ("verify_cost", float(verify_costs(verify_cost, last)[gamma])),
            ("overhead", overhead),
            ("prefill_share", prefill_share),
        ),
        sections=(Section(name="by_gamma", columns=columns, rows=rows),),
        headline=verdict(gamma, curve.points[gamma].speedup, curve.best),
        notes=notes,
    )


def _marks(length: int, yours: int, best: BestGamma) -> str:
    marks = ["yours"] * (length == yours) + ["best"] * (length == best.gamma)
    if best.pays and length in best.flat and length != best.gamma:
        marks.append("within 1 % of best")
    return ", ".join(marks)


def _yes(value: bool) -> str:  # noqa: FBT001
    return "yes" if value else "no"
