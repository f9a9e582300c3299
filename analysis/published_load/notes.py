"""What a reader must know to use the reproduced tables: what was fitted, taken over and assumed."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.published_load.apertus import ApertusFit, held_tokens, request_tokens
from analysis.published_load.eagle_chain import ChainFit
from analysis.published_load.facts import APERTUS, EAGLE_3, MAGICDEC
from analysis.published_load.magicdec import BUDGET, MagicDecRow
from analysis.published_load.step_profile import step_profile


def notes_on(
    apertus: ApertusFit, magicdec: Sequence[MagicDecRow], chain: ChainFit
) -> tuple[str, ...]:
    """A few sentences on each table, with the numbers of these fits."""
    return (*_apertus(apertus), _magicdec(magicdec), *_chain(chain))


def _apertus(fit: ApertusFit) -> tuple[str, ...]:
    prompt, output = request_tokens()
    profile = step_profile()
    machine = profile.machine
    fitted = (
        f"{APERTUS}: speedups are output tokens per second over plain at the same concurrency, prompts "
        f"included. Fitted on ten rows: the arithmetic reached ({fit.operations_share:.0%}), and drafting as "
        f"a multiple of what the drafter's bytes and operations say ({fit.draft_factor:.2f})."
    )
    taken = (
        f"Not fitted to that table: k = {machine.overlap:.2f} and the bandwidth reached "
        f"({machine.memory_share:.0%}), from the {profile.n} steps of at most {profile.widest:,} tokens that "
        f"the same report measured (rms {profile.rms:.1%}; they say {machine.operations_share:.0%} of the "
        f"arithmetic). Prompts of {prompt} and answers of {output} tokens, so {held_tokens():,.0f} held, are "
        "in its result files. The drafter reads no prompt: it writes keys and values only."
    )
    unprinted = (
        "γ = 4 has no printed tokens per round; 2.44 is the mean of the report's result files. Its rows "
        "are marked, in no fit and in no error but the one that says so; the best γ is chosen among them too."
    )
    head = (
        "The EAGLE head's rows take its tokens per round from the result files and both fitted numbers from "
        "the block drafter: no row is fitted, no limit is set. At light load the error grows with γ, as if a "
        "head's further steps took less beside their bytes and operations than is assumed of every pass."
    )
    chosen = (
        "The assumptions (what is counted, which steps) were chosen with the table in view; the table of "
        "apertus_assumption shows others. Prompts matter most: at concurrency 256 reading them is "
        f"{fit.prompt_share(256):.0%} of plain serving, and without them only k = 1 with 500 to 1,000 tokens "
        "held stays within the limit (drafting is a share of a target pass in those rows)."
    )
    return fitted, taken, unprinted, head, chosen


def _magicdec(rows: Sequence[MagicDecRow]) -> str:
    errors = [row.compared.error for row in rows]
    return (
        f"{MAGICDEC}: nothing is fitted, the shares are those assumed everywhere, every draft reads {BUDGET} "
        "tokens of cache. Acceptance is printed for Llama 3.1 8B drafting for itself only; the other pairs "
        "take that of their length (p assumed), probably too high for TinyLlama. The model promises too much "
        f"throughout ({min(errors):+.0%} to {max(errors):+.0%}): the trends are held to the rules, the sizes "
        "are not. What a pass takes beside its bytes and operations on eight devices is assumed, and "
        "acceptance is taken as the same at every depth."
    )


def _chain(fit: ChainFit) -> tuple[str, ...]:
    eagle, third = fit.tokens_per_round
    tokens = (
        f"{EAGLE_3}: tokens per round are not printed. They are fitted, one per head ({eagle:.2f} and "
        f"{third:.2f}), with the arithmetic reached, on batches 2 to 8, and so take up whatever else a "
        "round costs at every batch. What Meta prints (2.78, arXiv 2508.08192) is for a head of its own; "
        "with it a time per round is fitted instead (overhead s). Assumed: "
        f"{fit.context:,.0f} tokens held. No limit is set."
    )
    share = (
        f"The arithmetic fitted there ({fit.operations_share:.0%}) is far below what the same kind of chip "
        "reaches in Apertus' table: it stands for whatever else in that engine grows with the batch."
    )
    rise = (
        "Above batch 48 the measured gain of EAGLE rises; that of EAGLE-3 is lowest at 32 and higher at every "
        "batch above. That is outside any monotone cost: if tokens per round do not depend on the batch and "
        "the gain never rises with it, the error over the nine rows is at least least rms."
    )
    return tokens, share, rise
