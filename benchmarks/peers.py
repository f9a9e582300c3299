"""Our loop against transformers' own speculative loops, on the same models in turns."""

from __future__ import annotations

from rows import Row

from analysis.runs.peer_summary import summarize_peer
from real_runs.peers.comparing import compare_with_transformers
from real_runs.runs.header import Settings

THREADS = 2
SETTINGS = {
    "assisted generation": Settings(
        target="tiny",
        drafter="draft_model",
        draft="tiny-draft",
        gammas=(4,),
        max_tokens=128,
        rule="greedy",
        stop="fixed",
    ),
    "prompt lookup": Settings(
        target="smollm2",
        drafter="prompt_lookup",
        draft=None,
        gammas=(8,),
        max_tokens=96,
        rule="greedy",
        stop="fixed",
    ),
}
GOALS = {"assisted generation": 1.2, "prompt lookup": 1.0}


def rows(threads: int = THREADS) -> list[Row]:
    """Both loops of transformers, each on its own pair: two rows each."""
    return [row for name in SETTINGS for row in peer_rows(name, threads=threads)]


def peer_rows(name: str, *, threads: int = THREADS) -> list[Row]:
    """Tokens per second of whole requests, and whether the counts are the same when counted alike."""
    settings = SETTINGS[name]
    found = compare_with_transformers(settings, prompts="bundled", threads=threads)
    (summary,) = summarize_peer(found.requests)
    low, high = summary.ratio.interval or (float("nan"),) * 2
    goal = GOALS[name]
    where = f"{settings.target}, γ {summary.gamma}, {settings.max_tokens} tokens, greedy"
    return [
        Row(
            what=f"our loop against transformers' {name}, tokens/s of whole requests, {where}",
            measured=f"{summary.ratio.value:.2f}× [{low:.2f}, {high:.2f}]",
            required=f"≥ {goal:g}×",
            ok=summary.ratio.value >= goal,
        ),
        Row(
            what=f"rounds of transformers' {name} that our loop, counting as it does, has otherwise",
            measured=f"{summary.unexplained} of {summary.peer.table.rounds:,}; the same text in "
            f"{summary.same_text} of {summary.requests} requests",
            required="0",
            ok=summary.unexplained == 0,
        ),
    ]
