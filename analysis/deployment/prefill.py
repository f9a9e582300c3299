"""What the prompt of a request takes before its first token."""

from __future__ import annotations

from dataclasses import replace

from analysis.pass_cost import PassCost
from simulator._checks import as_count


def prefill_s(cost: PassCost, prompt_tokens: int) -> float:
    """Time of one pass over the prompt of one request [s].

    A pass over P tokens in which token i attends to the i tokens up to itself, (P + 1) / 2 on average,
    or to at most `kv_budget` of them; logits are computed for the last token only, as engines do. The
    prompt stands alone: neither a cache of earlier prompts nor decoding in the same pass. Raises
    ValueError for a prompt of no token.

    >>> prefill_s(PassCost(weights_s=0.01, compute_s=1e-4, output_compute_s=1e-3), 1000)
    0.101
    """
    count = as_count("prompt_tokens", prompt_tokens, least=1)
    budget = count if cost.kv_budget is None else min(count, cost.kv_budget)
    attended = (budget * (budget + 1) / 2.0 + (count - budget) * budget) / count
    once = replace(cost, output_compute_s=cost.output_compute_s / count)
    return float(once.seconds(1, count, attended))
