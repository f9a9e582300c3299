"""Every number and claim of the article, judged with numbers.

One function per claim. The article's worked example is p = 0.7, gamma = 4, a draft step at a tenth
of a target step; a claim that the evidence leaves open says so instead of guessing.
"""

from __future__ import annotations

from collections.abc import Callable

from analysis.article_example import (
    COST_RATIO,
    GAMMA,
    ROUNDS,
    P,
    WorkedNumber,
    worked_example,
)
from analysis.article_families import same_family
from analysis.article_load import busy_servers, latency_not_throughput
from analysis.article_serving import latency_under_load
from analysis.article_systems import (
    different_bets,
    eagle_features,
    lookahead_ngrams,
    medusa_heads,
    one_cheap_pass,
)
from analysis.article_tokens import agree_or_disagree, no_quality_loss
from analysis.exact import round_law
from analysis.formulas import (
    break_even_cost_ratio,
    expected_tokens,
    operations_factor,
    oracle_tokens,
    round_cost,
    speedup,
)
from analysis.judgement import Judgement
from analysis.optimum import break_even_p
from analysis.published import published_rows
from simulator import draft_model

__all__ = [
    "CLAIMS",
    "COST_RATIO",
    "GAMMA",
    "ROUNDS",
    "P",
    "WorkedNumber",
    "judgements",
    "not_yet_judged",
    "worked_example",
]


def expected_tokens_formula() -> Judgement:
    """E = (1 - p^(γ+1)) / (1 - p) tokens per round: right if one p rules every depth."""
    tokens = float(expected_tokens(P, GAMMA))
    falling = round_law(draft_model(by_depth=(0.7, 0.6, 0.5, 0.4))).tokens_per_round
    return Judgement(
        claim="tokens per round",
        says="E = (1 - p^(γ+1)) / (1 - p), 2.77 at p = 0.7 and γ = 4",
        verdict="holds if",
        finding=f"{tokens:.4f} if every depth accepts with the same p whatever happened before; "
        f"acceptance 0.7, 0.6, 0.5, 0.4 by depth would give {falling:.2f}. "
        "p is accepted / tested, not accepted / drafted.",
    )


def speedup_formula() -> Judgement:
    """E / (1 + γ c): right if the checking pass costs one plain step and nothing else is paid."""
    gain = float(speedup(P, GAMMA, COST_RATIO))
    wider = float(speedup(P, GAMMA, COST_RATIO, verify_cost=1.2))
    return Judgement(
        claim="speedup",
        says="E / (1 + γ · draft cost / target cost), 1.98 for the example",
        verdict="holds if",
        finding=f"{gain:.4f} if a pass over γ + 1 tokens costs one plain step and nothing else is "
        f"paid per round; {wider:.2f} if that pass costs 1.2 steps. Decoding only, without prefill.",
    )


def limits() -> Judgement:
    """The formula at p = 0, at p = 1 and for ever longer drafts."""
    ends = [float(expected_tokens(p, GAMMA)) for p in (0.0, 1.0)]
    long = float(expected_tokens(P, 1_000))
    return Judgement(
        claim="limits",
        says="the formula at its ends, which the article leaves to the reader",
        verdict="holds",
        finding=f"p = 0 gives {ends[0]:g} token, p = 1 gives γ + 1 = {ends[1]:g}; ever longer drafts "
        f"come to {long:.4f}; the bound 1 / (1 - p) is {float(oracle_tokens(P)):.4f}.",
    )


def bad_draft() -> Judgement:
    """A draft that is never right: 1 / (1 + γ c) of plain speed, and the p it takes to gain."""
    worst = float(speedup(0.0, GAMMA, COST_RATIO))
    needed = break_even_p(GAMMA, COST_RATIO)
    return Judgement(
        claim="bad draft = no gain",
        says="a draft that disagrees is paid for and gives nothing",
        verdict="holds",
        finding=f"worse than no gain: at p = 0 decoding runs at {worst:.2f} of plain speed; "
        f"γ = {GAMMA} at cost ratio {COST_RATIO} needs p above {needed:.3f} to gain.",
    )


def single_draft_pass() -> Judgement:
    """Whether γ tokens are drafted in one pass: the formula itself charges γ steps."""
    charged = float(speedup(P, GAMMA, COST_RATIO))
    single = float(expected_tokens(P, GAMMA)) / float(round_cost(1, COST_RATIO))
    return Judgement(
        claim="γ tokens in a single draft pass",
        says="the draft generates its γ candidates in one pass",
        verdict="does not hold",
        finding=f"an autoregressive draft takes γ steps, and the article's own formula charges γ of "
        f"them ({charged:.2f}×); one pass for all would give {single:.2f}×. Heads and block drafters "
        "do draft in one pass.",
    )


def nearly_free() -> Judgement:
    """Whether checking γ + 1 tokens costs as much as one: V(γ + 1) = 1 assumed, and beyond."""
    tokens = float(expected_tokens(P, GAMMA))
    most = tokens - GAMMA * COST_RATIO
    slower = float(speedup(P, GAMMA, COST_RATIO, verify_cost=1.45))
    return Judgement(
        claim="extra tokens are nearly free",
        says="the target checks γ tokens for the price of one",
        verdict="holds if",
        finding=f"V(γ + 1) = 1 is an assumption about the machine: it holds while a pass is bound by "
        f"reading weights. At V(5) = 1.45 the example gains {slower:.2f}× instead of "
        f"{tokens / (1 + GAMMA * COST_RATIO):.2f}×, above V(5) = {most:.2f} it loses.",
    )


def cost_follows_size() -> Judgement:
    """Whether a draft step is cheaper by the ratio of sizes: T5 drafts of Leviathan et al. 2023."""
    pairs = []
    for row in published_rows("Leviathan et al. 2023", "Tables 2+4")[:3]:
        smaller = _parameters(row.target) / _parameters(row.draft)
        if row.cost_ratio:
            pairs.append(f"{smaller:.0f}× smaller, a step {1 / row.cost_ratio:.0f}× cheaper")
    return Judgement(
        claim="10× smaller means a tenth of the cost",
        says="a draft step costs as much less as the draft is smaller",
        verdict="holds if",
        finding="if both are bound by reading weights and nothing else is paid per step. "
        f"Published T5 drafts: {'; '.join(pairs)}. Measure the cost ratio, do not divide sizes.",
    )


def faster_together() -> Judgement:
    """When student and professor finish before the professor alone: break-even p and cost ratio."""
    needed = break_even_p(GAMMA, COST_RATIO)
    dearest = float(break_even_cost_ratio(P, GAMMA))
    return Judgement(
        claim="student and professor finish faster together",
        says="checking is cheaper than writing, so both together beat the professor alone",
        verdict="holds if",
        finding=f"if p is above {needed:.3f} at cost ratio {COST_RATIO}, or a draft step is cheaper "
        f"than {dearest:.3f} target steps at p = {P} (γ = {GAMMA}, V = 1). Checking costs a whole "
        "pass; it is cheaper per token only for tokens that are kept.",
    )


def same_work() -> Judgement:
    """Whether the target does the same work: (γ + 1) / E times the arithmetic, 1 / E of the reads."""
    operations = float(operations_factor(P, GAMMA, 0.0))
    reads = 1.0 / float(expected_tokens(P, GAMMA))
    return Judgement(
        claim="the target still does the same work",
        says="speculation leaves the target's work unchanged",
        verdict="does not hold",
        finding=f"per token the target computes {operations:.2f} times as much and reads its weights "
        f"{reads:.2f} times as often: busier arithmetic for fewer passes.",
    )


def busier_not_faster() -> Judgement:
    """Whether the model is busier and not faster: a pass takes no less time, and gives E tokens."""
    operations = float(operations_factor(P, GAMMA, 0.0))
    return Judgement(
        claim="busier, not faster",
        says="the model is made busier, not faster",
        verdict="holds",
        finding=f"a pass takes no less time; {operations:.2f} times the arithmetic per token buys "
        f"{float(expected_tokens(P, GAMMA)):.2f} tokens per pass.",
    )


CLAIMS: tuple[Callable[[], Judgement], ...] = (
    expected_tokens_formula,
    speedup_formula,
    limits,
    bad_draft,
    single_draft_pass,
    nearly_free,
    cost_follows_size,
    faster_together,
    same_work,
    busier_not_faster,
    latency_not_throughput,
    busy_servers,
    latency_under_load,
    agree_or_disagree,
    no_quality_loss,
    medusa_heads,
    eagle_features,
    lookahead_ngrams,
    different_bets,
    one_cheap_pass,
    same_family,
)


def judgements() -> tuple[Judgement, ...]:
    """All claims in the order above.

    >>> [judgement.verdict for judgement in judgements()][:4]
    ['holds if', 'holds if', 'holds', 'holds']
    """
    return tuple(judge() for judge in CLAIMS)


def not_yet_judged() -> tuple[Judgement, ...]:
    """Claims that the evidence leaves open; nothing is guessed about them.

    >>> not_yet_judged()
    ()
    """
    return tuple(one for one in judgements() if one.verdict == "not yet judged")


def _parameters(name: str) -> float:
    """Parameters from the size at the end of a model's name, as in "T5-XXL 11B"."""
    size = name.rsplit(maxsplit=1)[-1]
    return float(size[:-1]) * {"M": 1e6, "B": 1e9}[size[-1]]
