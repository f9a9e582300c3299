"""Colours that a colour-blind reader tells apart (Okabe and Ito), one per meaning.

Each meaning has a second channel in every figure: a dash, a marker, or a label.
"""

from __future__ import annotations

EXACT = "#0072B2"
SIMULATED = "#E69F00"
YOURS = "#D55E00"
BEST = "#009E73"
PLAIN = "#767676"
LINES = (EXACT, YOURS, BEST, "#CC79A7", SIMULATED)
"""Colours of several lines in one figure, in order; dashes tell them apart too."""
