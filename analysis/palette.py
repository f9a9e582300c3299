"""Colours that a colour-blind reader tells apart (Okabe and Ito), one per meaning.

Each meaning has a second channel in every figure: a dash, a marker, or a label. Figures are drawn
in the colours for light paper; `on_dark` gives the one that says the same on a dark page.
"""

from __future__ import annotations

EXACT = "#0072B2"
SIMULATED = "#56B4E9"
YOURS = "#D55E00"
BEST = "#009E73"
PLAIN = "#767676"
DRAFT = "#E69F00"
OVERHEAD = "#CC79A7"
TARGET = VERIFICATION = SPECULATIVE = EXACT
"""The target at work: its distribution, its checking passes, and what decodes with them."""
WIDER = SIMULATED
"""What a checking pass takes beyond a plain step: a lighter shade of the pass."""
ACCEPTED, LOSS = BEST, YOURS
TOGETHER = "#8C6D31"
"""Parts that are not told apart."""
ABOVE = "#FFFFFF"
"""Edges and letters above a filled mark."""
INK, PAPER = "black", "white"
"""A path and its dots over coloured cells, on any page."""
LINES = (EXACT, YOURS, BEST, OVERHEAD, DRAFT)
"""Colours of several lines in one figure, in order; dashes tell them apart too."""
DARK = {
    EXACT: "#56B4E9",
    SIMULATED: "#B9E1F8",
    YOURS: "#F08A4B",
    BEST: "#3FC79A",
    PLAIN: "#A3A3A3",
    DRAFT: "#F0B429",
    OVERHEAD: "#E3A3C5",
    TOGETHER: "#C2A36B",
    ABOVE: "#0E1117",
}
"""Of each colour on light paper, the one of the same meaning on a dark page."""
SCALES = ("blueorange", "viridis")
"""Named scales of shades, legible on both."""


def on_dark(colour: str) -> str:
    """The colour of the same meaning on a dark page; anything else stays as it is.

    >>> on_dark(EXACT), on_dark("transparent")
    ('#56B4E9', 'transparent')
    """
    return DARK.get(colour, colour)
