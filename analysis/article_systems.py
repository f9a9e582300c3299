"""The article's claims about the variants: what each is, where its draft comes from, and what a guess costs."""

from __future__ import annotations

from math import fsum, prod

from analysis.article_load import USUAL, pair
from analysis.formulas import expected_tokens
from analysis.judgement import Judgement
from analysis.published import published_rows
from analysis.systems.facts import (
    EAGLE_1,
    EAGLE_2,
    EAGLE_3,
    HYDRA,
    LOOKAHEAD,
    one_fact,
    published_tree,
)
from analysis.systems.rates import Rates, at_most, medusa_rates, n_alpha
from analysis.trees.values import tree_value

TARGET = "Vicuna 13B"
"""Of this target all systems are printed for the same prompts, MT-Bench at temperature 0."""
_RANKS = 10  # the published tree tries that many guesses of the first head
_WINDOW, _NGRAM, _CANDIDATES = 15, 5, 15
_LOOKAHEAD = f"N={_NGRAM} W={_WINDOW} G={_CANDIDATES}"


def medusa_heads() -> Judgement:
    """Whether Medusa is γ + 1 heads: γ are added, and it is their tree that pays, not their first guesses."""
    rates = medusa_rates()
    chain = 1.0 + fsum(prod(row[0] for row in rates[:depth]) for depth in range(1, len(rates) + 1))
    least, most = _on_tree(rates), _on_tree(at_most(rates, _RANKS))
    nodes = published_tree("medusa-63").tree.nodes
    printed = one_fact(
        "tokens_per_round", "Medusa", source=HYDRA, target="Vicuna 7B", temperature="0"
    )
    return Judgement(
        claim="Medusa",
        says="the target's last layer gets heads for the next few tokens: one model, γ + 1 heads",
        verdict="holds if",
        finding=f"if the model's own output layer is counted: γ heads are added ({len(rates)} in the published "
        f"weights). Their first guesses alone are a chain of {chain:.2f} tokens per round (accuracies on "
        f"training text, heads taken as independent); what pays is a tree over several guesses of each: "
        f"{least:.2f} to {most:.2f} with {nodes} nodes, printed {printed.value:g} (Vicuna 7B, MT-Bench).",
    )


def eagle_features() -> Judgement:
    """Whether drafting on features accepts more: more than Medusa, not more than a good draft model."""
    alphas = n_alpha()
    chain = one_fact("tokens_per_round", "EAGLE chain", source=EAGLE_1, target="Vicuna 7B").value
    small = next(
        row
        for row in published_rows("Leviathan et al. 2023", "Tables 2+4")
        if row.draft.startswith("T5-small") and row.task == "EnDe" and row.temperature == "0"
    )
    p = small.p or 0.0
    third = one_fact("tokens_per_round", "EAGLE-3", source=EAGLE_3, target=TARGET).value
    tokens = {method: _printed(method)[0] for method in ("draft model", "Medusa", "Hydra", "EAGLE")}
    listed = ", ".join(f"{name} {value:g}" for name, value in tokens.items())
    return Judgement(
        claim="EAGLE",
        says="drafting on features captures more context and accepts more tokens",
        verdict="holds if",
        finding=f"if it is set against Medusa and a small draft: {listed} tokens per round ({TARGET}, "
        f"MT-Bench, temperature 0). Its chains of {len(alphas)}, kept with {alphas[0]:g} to {alphas[-1]:g} by "
        f"depth, give {chain:g} on Vicuna 7B; any draft kept with p = {p:g}, as {small.draft} is by "
        f"{small.target}, gives {float(expected_tokens(p, len(alphas))):.2f}: what sets EAGLE apart is such "
        "acceptance for one layer per token. The context comes from the target's states as input, not from "
        f"predicting features: EAGLE-3 keeps the one, gave up the other and gets {third:g}, if with more "
        "training text.",
    )


def lookahead_ngrams() -> Judgement:
    """Whether Lookahead reuses n-grams of the current sequence: that is prompt lookup, printed apart."""
    alone, window, both = (
        one_fact("tokens_per_round", "Lookahead", source=LOOKAHEAD, setting=setting).value
        for setting in ("prompt lookup only", _LOOKAHEAD, f"{_LOOKAHEAD}, prompt as reference")
    )
    extra = (_WINDOW + _CANDIDATES) * (_NGRAM - 1)
    gain = one_fact("speedup", "Lookahead", source=LOOKAHEAD, setting=_LOOKAHEAD).value
    return Judgement(
        claim="Lookahead",
        says="it finds and reuses n-grams of the current sequence",
        verdict="does not hold",
        finding=f"that is prompt lookup. Lookahead needs no extra model either, but it has the target guess "
        f"{_WINDOW} positions at once in every pass and collects n-grams from these guesses; the text itself "
        "is an option. Its Table 3 keeps the two apart: "
        f"{alone:g} tokens per round by looking up alone, {window:g} by guessing, {both:g} by both. Guessing "
        f"takes {extra} more tokens in a pass ({_LOOKAHEAD}); the printed speedup, {gain:g}×, makes "
        f"such a round {window / gain:.2f} plain steps.",
    )


def different_bets() -> Judgement:
    """Whether the variants differ in where the draft comes from: yes, and in what a round then costs."""
    methods = ("draft model", "prompt lookup", "Lookahead", "Medusa", "EAGLE", "EAGLE-2")
    rows = "; ".join(
        f"{method} {tokens:g} ({tokens / gain:.2f})"
        for method in methods
        for tokens, gain in [_printed(method)]
    )
    return Judgement(
        claim="different bets",
        says="each variant is a different bet on where the draft comes from",
        verdict="holds",
        finding=f"a small model, the text so far, the target's own guesses, its last state. Printed tokens per "
        f"round, and plain steps that a round takes (tokens / speedup), {TARGET}, MT-Bench, temperature 0: "
        f"{rows}. EAGLE-2's rounds, printed cheaper than EAGLE's for larger trees, show that such runs differ "
        "in more than the draft. What they add to the pass differs as much: a chain γ tokens, Medusa's tree "
        f"{published_tree('medusa-63').tree.nodes}, EAGLE's {published_tree('eagle-25').tree.nodes}.",
    )


def one_cheap_pass() -> Judgement:
    """Whether the check of any variant is one cheap pass: at batch 1, and less so for trees when busy."""
    target = pair().target
    tree = published_tree("medusa-63").tree.nodes + 1
    wide = (_WINDOW + _CANDIDATES) * (_NGRAM - 1) + 1
    alone, busy = (
        [float(target.verify_cost(width, batch=batch, context=USUAL)) for width in (5, tree, wide)]
        for batch in (1, 16)
    )
    lookahead = one_fact(
        "tokens_per_round", "Lookahead", source=LOOKAHEAD, setting=_LOOKAHEAD
    ).value
    heads, _ = _printed("Medusa")
    return Judgement(
        claim="one cheap pass",
        says="the principle is identical: guesses, verified with one cheap pass",
        verdict="holds if",
        finding=f"if the machine is idle, and it is the widest drafts that find out first. A pass over 5, "
        f"{tree} and {wide} tokens (γ = 4, Medusa's tree, Lookahead) costs {_listed(alone)} plain steps at "
        f"batch 1 and {_listed(busy)} at 16, computed for Llama 3.1 8B on an H100 with {USUAL:,} tokens "
        f"of context; neither Medusa's printed {heads:g} tokens nor Lookahead's {lookahead:g} pay for the "
        "latter.",
    )


def _on_tree(rates: Rates) -> float:
    """Tokens per round of Medusa's published tree; guesses without a rate are never right."""
    rows = [(*row, *(0.0,) * (_RANKS - len(row))) for row in rates]
    return tree_value(published_tree("medusa-63").tree, rows)


def _printed(method: str) -> tuple[float, float]:
    """Tokens per round and speedup as EAGLE-2's Table 1 prints them."""
    tokens, gain = (
        one_fact(quantity, method, source=EAGLE_2, target=TARGET, temperature="0").value
        for quantity in ("tokens_per_round", "speedup")
    )
    return tokens, gain


def _listed(values: list[float]) -> str:
    first, second, third = (f"{value:.2f}" for value in values)
    return f"{first}, {second} and {third}"
