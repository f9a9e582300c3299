"""The page of systems in words: what a tree shows, where more nodes stop paying, what is assumed."""

from __future__ import annotations

import streamlit as st

from analysis.systems.comparing import SystemRow
from app_pages.systems.sizes import Sizes
from simulator import HitMiss


def tree_words(row: SystemRow) -> str:
    strategy = row.system.strategy
    said = "Square: the text's last token. Each dot is a drafted token; yellow is kept most often."
    if strategy.extra_nodes:
        said += (
            f" The window of {strategy.extra_nodes} tokens rides along in the same pass and is not drawn: "
            "nothing of it is ever accepted, it makes the n-grams of later rounds."
        )
    if isinstance(strategy.acceptance, HitMiss):
        said += (
            " Rounds without a find are plain: they keep nothing and cost a pass over one token."
        )
    return said


def paying(row: SystemRow, found: Sizes) -> str:
    """Where more nodes stop paying, in words."""
    best = found.best
    if best.nodes == 0:
        return "**No size pays at these costs**: plain decoding is faster than every draft tried."
    name = "the best tree" if found.chosen_best else "the draft"
    size = "1 node** is" if best.nodes == 1 else f"{best.nodes:,} nodes** are"
    first = (
        f"**{size} the best size at these costs: {best.speedup:.3f}× from "
        f"{best.tokens_per_round:.2f} tokens for {best.round_cost:.2f} plain steps."
    )
    parts = [first]
    last = found.points[-1]
    if found.loses_from is None:
        parts.append(f"Up to {last.nodes:,}, the most that is tried or known, each node gains.")
    else:
        parts.append(
            f"From {found.loses_from:,} on, one more makes {name} slower: what it adds is less than what "
            "the wider pass and the deeper draft take."
        )
    if found.behind_from is not None:
        parts.append(f"From {found.behind_from:,} on, plain decoding is faster.")
    if found.chosen_best and (row.speedup or 0.0) < best.speedup:
        gain = best.speedup / (row.speedup or 1.0) - 1.0
        parts.append(
            f"As it is, with {row.nodes:,} nodes, it gives {row.speedup:.3f}×: the best tree of the best "
            f"size would be {gain:.1%} faster."
        )
    return " ".join(parts)


def limits() -> None:
    """What is assumed."""
    with st.expander("Assumptions and limits", icon=":material/rule:"):
        st.markdown(
            "- **Presets are of different targets and texts.** What is printed, solved for or assumed is "
            "said with each system; *predicted* in the table is the distance to a printed value that did "
            "not go in.\n"
            "- **A node is kept with a rate of its depth and rank**, whatever its siblings and the text are. "
            "Heads are independent of each other, candidates of one another; real ones are not, and "
            "independence says too much.\n"
            "- **EAGLE-2's two kinds of rounds are assumed**, not published: half of the rounds easy, half "
            "hard.\n"
            "- **One c for all, unless you give a system its own.** A step's cost grows with the nodes that "
            "the draft reads; here it is the same for a chain and a tree.\n"
            "- **V(n) of a machine is predicted** from bandwidth and arithmetic; a tree mask and the "
            "gathering of kept cache entries cost extra, which *overhead* can hold.\n"
            "- **Lossless or not is not asked here.** Chosen children need the point-mass rule, drawn ones "
            "multi-round sampling; all of these rates are of such rules."
        )
