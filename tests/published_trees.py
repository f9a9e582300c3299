"""Rates that trees were published for: inputs of several tests, with their sources."""

from __future__ import annotations

SEQUOIA_DEMO = (
    *(0.6342, 0.1079, 0.0570, 0.0225, 0.0195, 0.0150, 0.0045, 0.0030),
    *(0.0120, 0.0045, 0.0075, 0.0045, 0.0060, 0.0030, 0.0015, 0.0030),
    *(0.0015, 0.0030, 0.0, 0.0030, 0.0030, 0.0030, 0.0, 0.0015),
    *(0.0, 0.0015, 0.0, 0.0, 0.0, 0.0015, 0.0015, 0.0015),
)
"""acceptance-rate-vector.pt of github.com/Infini-AI-Lab/Sequoia: P(the k-th child is accepted), to 4 digits."""

SEQUOIA_PASS_TIMES = {1: 10.0, 2: 10.0, 4: 10.0, 8: 12.0, 16: 14.0, 32: 18.0}
"""demo-config.json there: time of a target pass by tokens of the tree, its root among them."""
SEQUOIA_DRAFT_TIME = 0.3

VICUNA_TOP_K = (
    (0.560, 0.672, 0.727, 0.760, 0.780),
    (0.316, 0.424, 0.485, 0.528, 0.562),
    (0.201, 0.288, 0.348, 0.383, 0.417),
    (0.147, 0.225, 0.274, 0.311, 0.340),
    (0.118, 0.187, 0.235, 0.272, 0.300),
)
"""assets/medusa_acc.csv of github.com/FasterDecoding/Medusa: top-1 to top-5 training accuracy of five
heads on Vicuna-7B."""
