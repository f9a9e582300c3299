"""Counts as vLLM prints them: for programs that read its logs, and for the tests of what reads them.

vLLM knows only rounds with a draft: those without one are left out of every ratio here, too.
"""

from __future__ import annotations

import json

from real_runs.engines.counts.lengths import Steps, from_steps
from simulator import AcceptanceTable, CountedUnit

_WIDTH = 50


def vllm_interval_line(table: AcceptanceTable, *, seconds: float = 10.0) -> str:
    """The table as the interval line of vLLM 0.10 and later, of an interval of so many seconds.

    Ratios are those over rounds with a draft: length 1 + accepted / rounds to two digits, survival per
    position to three, accepted / drafted in percent to one. Raises ValueError for a table without
    drafts or of trees, and for seconds that
    are not above 0.

    >>> vllm_interval_line(AcceptanceTable(rounds=208, drafted=208, tested=(208,), accepted=(195,)))
    'SpecDecoding metrics: Mean acceptance length: 1.94, Accepted throughput: 19.50 tokens/s,
    Drafted throughput: 20.80 tokens/s, Accepted: 195 tokens, Drafted: 208 tokens, Per-position
    acceptance rate: 0.938, Avg Draft acceptance rate: 93.8%'
    """
    rounds, accepted = _drafted_rounds(table), sum(table.accepted)
    if not 0.0 < seconds < float("inf"):
        raise ValueError(f"seconds must be a finite number above 0; got {seconds!r}.")
    survival = ", ".join(f"{kept / rounds:.3f}" for kept in table.accepted)
    return (
        f"SpecDecoding metrics: Mean acceptance length: {1 + accepted / rounds:.2f}, "
        f"Accepted throughput: {accepted / seconds:.2f} tokens/s, "
        f"Drafted throughput: {table.drafted / seconds:.2f} tokens/s, "
        f"Accepted: {accepted} tokens, Drafted: {table.drafted} tokens, "
        f"Per-position acceptance rate: {survival}, "
        f"Avg Draft acceptance rate: {accepted / table.drafted * 100:.1f}%"
    )


def vllm_offline_block(table: AcceptanceTable) -> str:
    """The table as the block of vLLM's offline example: counts in full, survival to two digits.

    Rounds without a draft are tokens generated without speculation, on a line of their own where there
    are any. Raises ValueError for a table without drafts or of trees.

    >>> table = AcceptanceTable(rounds=10, drafted=20, tested=(10, 7), accepted=(7, 5))
    >>> for row in vllm_offline_block(table).splitlines()[1:6]:
    ...     print(row)
    total_num_output_tokens: 22
    num_drafts: 10
    num_draft_tokens: 20
    num_accepted_tokens: 12
    mean acceptance length: 2.20
    """
    rounds, accepted = _drafted_rounds(table), sum(table.accepted)
    line = "-" * _WIDTH
    rows = [
        line,
        f"total_num_output_tokens: {table.emitted}",
        f"num_drafts: {rounds}",
        f"num_draft_tokens: {table.drafted}",
        f"num_accepted_tokens: {accepted}",
        f"mean acceptance length: {1 + accepted / rounds:.2f}",
    ]
    if table.rounds > rounds:
        rows.append(f"num_tokens_generated_without_sd: {table.rounds - rounds}")
    rows.append(line)
    rows += [
        f"acceptance at token {depth}: {kept / rounds:.2f}"
        for depth, kept in enumerate(table.accepted)
    ]
    return "\n".join(rows) + "\n"


def vllm_bench_block(table: AcceptanceTable) -> str:
    """The table as the block of `vllm bench serve`: counts in full, ratios in percent to two digits.

    Raises ValueError for a table without drafts or of trees.

    >>> table = AcceptanceTable(rounds=10, drafted=20, tested=(10, 7), accepted=(7, 5))
    >>> vllm_bench_block(table).splitlines()[1]
    'Acceptance rate (%):                     60.00'
    """
    rounds, accepted = _drafted_rounds(table), sum(table.accepted)
    fields = [
        ("Acceptance rate (%):", f"{accepted / table.drafted * 100:.2f}"),
        ("Acceptance length:", f"{1 + accepted / rounds:.2f}"),
        ("Drafts:", str(rounds)),
        ("Draft tokens:", str(table.drafted)),
        ("Accepted tokens:", str(accepted)),
    ]
    positions = [
        (f"  Position {depth}:", f"{kept / rounds * 100:.2f}")
        for depth, kept in enumerate(table.accepted)
    ]
    rows = [
        "Speculative Decoding".center(_WIDTH, "-"),
        *(f"{name:<40} {value}" for name, value in fields),
        "Per-position acceptance (%):",
        *(f"{name:<40} {value}" for name, value in positions),
        "=" * _WIDTH,
    ]
    return "\n".join(rows) + "\n"


def vllm_request_json(unit: CountedUnit) -> str:
    """The request as one line of JSON with vLLM's metrics: detailed where the unit has its rounds in order.

    The name of the unit is its id, a label "model" its model; completion tokens are those of the rounds
    and the one of prefill. Raises ValueError for a unit without a table of chains, and for a record of
    every position of a text, which is none of rounds.

    >>> table = AcceptanceTable(rounds=3, drafted=6, tested=(3, 2), accepted=(2, 1))
    >>> print(vllm_request_json(CountedUnit(counts=table, name="r")))
    {"id": "r", "usage": {"completion_tokens": 7}, "metrics": {"speculative_decoding":
    {"mean_acceptance_length": 2.0, "draft_acceptance_rate": 0.5, "acceptance_histogram": [1, 1, 1],
    "num_spec_steps": 3, "num_accepted_draft_tokens": 3, "num_draft_tokens": 6, "num_spec_tokens": 2}}}
    """
    if unit.every_position:
        raise ValueError("unit must be a record of rounds; got one of every position of a text.")
    steps: Steps = tuple(step for step in unit.steps if step[0])
    table = from_steps(steps) if steps else unit.counts
    if not isinstance(table, AcceptanceTable):
        raise ValueError(
            "unit must have a table or its rounds in order; got totals, which do not say how many "
            "rounds kept each number of tokens."
        )
    rounds, accepted = _drafted_rounds(table), sum(table.accepted)
    counts = unit.counts
    emitted = counts.emitted if isinstance(counts, AcceptanceTable) else table.emitted
    reached = (rounds, *table.accepted, 0)
    metrics: dict[str, object] = {
        "mean_acceptance_length": 1 + accepted / rounds,
        "draft_acceptance_rate": accepted / table.drafted,
        "acceptance_histogram": [reached[n] - reached[n + 1] for n in range(table.depths + 1)],
        "num_spec_steps": rounds,
        "num_accepted_draft_tokens": accepted,
        "num_draft_tokens": table.drafted,
        "num_spec_tokens": table.depths,
    }
    if steps:
        metrics["per_step_accepted"] = [kept for _, kept in steps]
        metrics["per_step_drafted"] = [drafted for drafted, _ in steps]
    named = {"id": unit.name, "model": unit.label("model")}
    response: dict[str, object] = {name: text for name, text in named.items() if text}
    response["usage"] = {"completion_tokens": emitted + 1}
    response["metrics"] = {"speculative_decoding": metrics}
    return json.dumps(response)


def _drafted_rounds(table: AcceptanceTable) -> int:
    """Rounds with a draft: a draft of at least one token has its first one tested."""
    rounds = table.tested[0] if table.tested else 0
    if not rounds:
        raise ValueError("table must have at least one round with a draft; got none.")
    if table.drafted > rounds * table.depths:
        raise ValueError(
            f"table must be one of chains, with at most rounds × depths drafted tokens "
            f"({rounds} × {table.depths}); got {table.drafted}."
        )
    return rounds
