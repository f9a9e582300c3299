"""The numbers that can be set on the page of systems: what a pass costs, what makes a system. No Streamlit."""

from __future__ import annotations

from functools import cache

from analysis.systems.head_presets import RANKS, SPREAD, eagle_share
from analysis.systems.presets import CANDIDATES, NGRAM, WINDOW, pool_fit, preset_system
from app_pages.deployment.machine_fields import field
from app_pages.state import Field
from simulator import ConstantAcceptance, HitMiss

MOST_NODES = 256


def _number(
    key: str,
    name: str,
    label: str,
    limits: tuple[float, float],
    default: float,
    words: str,
    *,
    step: float = 1,
) -> Field:
    decimals = 0 if step == 1 else 3 if step < 0.01 else 2
    return field(key, name, label, limits, default, words, step=step, decimals=decimals)


SLOPE = _number(
    *("slope", "the slope of V", "V(n) grows per token by", (0.0, 1.0), 0.005),
    "V(n) = 1 + slope × (n − 1): what a target pass over n tokens takes, in passes over one. The article "
    "takes 0. Time a prompt of 65 tokens against one: (V(65) − 1) / 64.",
    step=0.001,
)


@cache
def numbers() -> dict[str, tuple[Field, ...]]:
    """The numbers of each system, by its name; their defaults make the preset."""
    single, found = preset_system("draft-model"), preset_system("prompt-lookup")
    p, hit_miss, pool = single.strategy.acceptance, found.strategy.acceptance, pool_fit()
    assert isinstance(p, ConstantAcceptance)  # noqa: S101 — as the presets build them
    assert isinstance(hit_miss, HitMiss)  # noqa: S101
    share = "Each takes this share of what the candidates before it leave. "
    return {
        "draft-model": (
            _number(
                *("dmp", "p", "Acceptance p", (0.0, 1.0), p.p),
                "Kept, of those tested; solved from the printed tokens per round.",
                step=0.01,
            ),
            _number(
                *("dmg", "γ", "Draft length γ", (1, 32), 5), "Tokens in a row, a draft step each."
            ),
        ),
        "prompt-lookup": (
            _number(
                *("cover", "coverage", "Rounds with a find", (0.0, 1.0), hit_miss.coverage),
                "Share of rounds in which the text's last tokens occurred before; the others are plain.",
                step=0.01,
            ),
            _number(
                *("plp", "p", "Acceptance p", (0.0, 1.0), hit_miss.p_right),
                "Kept, of those tested, in rounds with a find.",
                step=0.01,
            ),
            _number(*("plg", "γ", "Tokens copied γ", (1, 32), 10), "Tokens behind the find."),
        ),
        "lookahead": (
            _number(
                *("window", "the window W", "Window W", (1, 64), WINDOW),
                "Guesses at each of N − 1 levels; they ride along in every pass and make new n-grams.",
            ),
            _number(
                *("ngram", "N", "N-gram N", (2, 12), NGRAM),
                "Tokens of an n-gram, the text's last one included: a candidate has N − 1.",
            ),
            _number(
                *("cands", "G", "Candidates G", (1, 64), CANDIDATES),
                "N-grams verified side by side.",
            ),
            _number(
                *("lap", "p", "Acceptance p", (0.0, 1.0), pool.p),
                "Kept, of those tested, of one candidate; independent between candidates.",
                step=0.01,
            ),
            _number(
                *("hit", "the hit rate", "Pool has any", (0.0, 1.0), pool.hit),
                "Share of rounds in which the pool knows an n-gram that begins with the text's last token.",
                step=0.01,
            ),
        ),
        "medusa": (
            _number(
                *("heads", "heads", "Heads", (1, 5), 5),
                "One guesses the token after the next, the second the one behind it, and so on: the next "
                "token itself comes from the target's own output layer. The tree ends where they do.",
            ),
            _number(
                *("mnodes", "nodes", "Nodes of the grown tree", (1, MOST_NODES), 63),
                "Medusa's own rule: always the node of the highest product of accuracies.",
            ),
        ),
        "eagle-chain": (
            _number(*("ecg", "γ", "Draft length γ", (1, 5), 5), "n-α is printed for five depths."),
        ),
        "eagle-tree": (
            _number(
                *("tail", "the share", "Further candidates", (0.0, 0.5), eagle_share()),
                share + "Solved from the printed tokens of the shipped tree.",
                step=0.01,
            ),
            _number(
                *("enodes", "nodes", "Nodes of the best tree", (1, MOST_NODES), 25),
                "The best tree of so many nodes for these rates, by dynamic program.",
            ),
        ),
        "eagle-2": (
            _number(
                *("e2nodes", "nodes", "Nodes kept", (1, MOST_NODES), 59),
                "After all layers are grown, the best ones by the product of confidences.",
            ),
            _number(
                *("e2depth", "depth", "Layers", (1, 12), 6),
                "One draft step each. Behind the fifth the last n-α is taken.",
            ),
            _number(
                *("e2top", "top-k", "Expanded per layer", (1, RANKS), RANKS),
                "The best nodes of a layer, each into as many children.",
            ),
            _number(
                *("spread", "the spread", "Easy and hard rounds", (0.0, 0.9), SPREAD),
                "Failures of the first candidate are (1 − spread) and (1 + spread) times the usual ones, in "
                "half of the rounds each. At 0 there is nothing that a dynamic tree could follow.",
                step=0.01,
            ),
            _number(
                *("tail2", "the share", "Further candidates", (0.0, 0.5), eagle_share(SPREAD)),
                share + "Solved with EAGLE's tree at the preset's spread.",
                step=0.01,
            ),
        ),
        "sequoia": (
            _number(
                *("sqnodes", "nodes", "Nodes of the best tree", (1, MOST_NODES), 32),
                "The best tree of so many nodes for the published vector.",
            ),
            _number(*("sqdepth", "depth", "Deepest node", (1, 24), 8), "A draft step per layer."),
        ),
        "mtp": (_curve_length("mtpg"),),
        "block": (_curve_length("blkg", 15),),
    }


def _curve_length(key: str, default: int = 6) -> Field:
    words = "Tokens drafted; a longer draft than the curve knows is cut to what it knows."
    return _number(key, "γ", "Draft length γ", (1, 15), default, words)
