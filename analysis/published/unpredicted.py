"""Why a published row is not predicted: what it would take, and is not printed."""

from __future__ import annotations

from analysis.published.rows import PublishedRow

_PARTICULAR = {
    "OWL 2025": "which model its speedup belongs to is uncertain, and each method has one row",
    "Speculative decoding meets quantization 2025": "two costs of a pass on a device that is not named",
    "Lookahead decoding 2024, Table 2": "a single row: no other gives the cost of its round",
    "SpecInfer 2023, Table 1": "success rates of sampled tokens: not the acceptance of its sampling rule",
    "SpecInfer 2023, Table 3": "naive sampling: its acceptance is not printed",
    "Leviathan et al. 2023, Table 3": "acceptance alone: a measured input, with nothing that it would give",
    "Medusa repository 2023, figure label": "only a speedup; whether it is of the runs whose answers give "
    "tokens per round is not said",
    "LLMSpeculativeSampling README": "no acceptance; a cost ratio of tokens per second over many requests, "
    "on a device that is not named",
    "EAGLE 2024, Table 7": "throughput at batches that differ between the two sides",
    "SqueezeBits blog, text": "acceptance, and a load from which it loses; the draft length is not printed",
    "Hugging Face, dynamic speculation 2024, benchmark table": "only a speedup, at lengths that change",
    "EAGLE-3 2025, Table 4": "speedups alone; the plain speed was among those that overheads were chosen by",
}


def why_not(row: PublishedRow) -> str:
    """The reason in a few words, from what the row prints.

    >>> why_not(PublishedRow(source="", url="", table="", speedup_measured=2.0))
    'only a speedup: no acceptance, no tokens per round'
    """
    for name in (row.source, f"{row.source}, {row.table}"):
        if name in _PARTICULAR:
            return _PARTICULAR[name]
    has = (row.p is not None, row.tokens_per_round is not None, row.speedup_measured is not None)
    match has:
        case (False, False, True):
            if row.cost_ratio:
                return "a speedup and a cost ratio: no acceptance"
            return "only a speedup: no acceptance, no tokens per round"
        case (False, True, False):
            return "only tokens per round: no acceptance, no second length"
        case (True, False, False):
            return "only an acceptance: neither length nor result"
        case (False, False, False):
            return "no number of a round: a range or a sentence"
    return "its inputs are not printed together"
