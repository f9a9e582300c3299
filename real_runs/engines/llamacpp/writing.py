"""Counts written as llama.cpp prints them: request and statistics lines, and timings."""

from __future__ import annotations

import json

from simulator import AcceptanceTable


def llamacpp_request_line(table: AcceptanceTable) -> str:
    """The acceptance line of one request, in the wording with all its ratios.

    Drafted and accepted tokens are exact; the rounds and the counts by depth come back as far as the
    printed ratios tell them (two decimals of the length, three of each position).

    Raises ValueError for a table without rounds or drafts, or with rounds that drafted nothing, which
    llama.cpp does not count.

    >>> line = llamacpp_request_line(
    ...     AcceptanceTable(rounds=87, drafted=259, tested=(87, 70, 55), accepted=(70, 55, 42)))
    >>> print(line[:60], line[-21:])
    draft acceptance = 0.64479 (  167 accepted /   259 generated (0.805, 0.632, 0.483)
    """
    accepted = _checked(table)
    survival = ", ".join(f"{kept / table.rounds:.3f}" for kept in table.accepted)
    return (
        f"draft acceptance = {accepted / table.drafted:.5f} ({accepted:5d} accepted / "
        f"{table.drafted:5d} generated), mean acceptance length = {1 + accepted / table.rounds:5.2f}, "
        f"acceptance rate per position = ({survival})"
    )


def llamacpp_statistics_line(
    table: AcceptanceTable, *, name: str = "draft", draft_s: float = 0.0, calls: int = 1
) -> str:
    """The cumulative statistics of one implementation: rounds, drafted and accepted tokens exactly.

    The list of positions ends at the deepest accepted token, as llama.cpp prints it. `draft_s` is the
    time of drafting, `calls` the number of requests.

    Raises ValueError as `llamacpp_request_line` does.

    >>> line = llamacpp_statistics_line(
    ...     AcceptanceTable(rounds=87, drafted=259, tested=(87, 70, 55), accepted=(70, 55, 42)),
    ...     name="draft-eagle3", draft_s=0.325555)
    >>> line[:78]
    'statistics draft-eagle3: #calls(b,g,a) =    1     87     87, #gen drafts =    '
    """
    accepted = _checked(table)
    rounds, kept = table.rounds, [count for count in table.accepted if count]
    survival = ", ".join(f"{count / rounds:.3f}" for count in kept)
    return (
        f"statistics {name}: #calls(b,g,a) = {calls:4d} {rounds:6d} {rounds:6d}, "
        f"#gen drafts = {rounds:6d}, #acc drafts = {kept[0] if kept else 0:5d}, "
        f"#gen tokens = {table.drafted:6d}, #acc tokens = {accepted:5d}, "
        f"#mean acc len = {1 + accepted / rounds:.2f}, #acc rate/pos = ({survival}), "
        f"dur(b,g,a) = 0.000, {draft_s * 1000:.3f}, 0.000 ms"
    )


def llamacpp_timings(table: AcceptanceTable, *, decode_s: float | None = None) -> str:
    """The timings of one response as JSON: predicted tokens, among them the prefill's one, and drafts.

    predicted_n = 1 + rounds + accepted, so all three counts come back exactly. `decode_s` is the time
    of the rounds.

    Raises ValueError for a table without rounds or drafts, or with discarded tokens: llama.cpp cuts
    the draft short instead.

    >>> table = AcceptanceTable(rounds=87, drafted=259, tested=(87, 70, 55), accepted=(70, 55, 42))
    >>> llamacpp_timings(table)
    '{"timings": {"predicted_n": 255, "draft_n": 259, "draft_n_accepted": 167}}'
    """
    if not (table.rounds and table.drafted):
        raise ValueError(_NOTHING.format(table.rounds, table.drafted))
    if table.discarded:
        raise ValueError(f"table must have no discarded tokens; got {table.discarded}.")
    predicted = 1 + table.emitted
    timings: dict[str, float] = {"predicted_n": predicted}
    if decode_s is not None:
        timings["predicted_ms"] = decode_s * 1000
        timings["predicted_per_second"] = predicted / decode_s
    timings |= {"draft_n": table.drafted, "draft_n_accepted": sum(table.accepted)}
    return json.dumps({"timings": timings})


_NOTHING = "table must have rounds and drafted tokens; got {} rounds, {} drafted."


def _checked(table: AcceptanceTable) -> int:
    """The accepted tokens of a table all of whose rounds drafted something."""
    if not (table.rounds and table.drafted):
        raise ValueError(_NOTHING.format(table.rounds, table.drafted))
    if table.tested[0] != table.rounds:
        raise ValueError(
            f"table must have a draft in each of its {table.rounds} rounds; got {table.tested[0]} with one."
        )
    return sum(table.accepted)
