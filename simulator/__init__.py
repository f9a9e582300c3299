"""The vocabulary of speculative decoding, and what happens in a round, by sampling."""

from simulator._counting import LengthRule
from simulator.acceptance import AcceptanceTable
from simulator.drafts import Chain
from simulator.engine import simulate, simulate_counts, simulate_lengths
from simulator.estimate import Estimate
from simulator.processes import AcceptanceByDepth, AcceptanceProcess, ConstantAcceptance
from simulator.strategies import Strategy, draft_model
from simulator.totals import AcceptanceTotals, Counts, ReportedRatio

__all__ = [
    "AcceptanceByDepth",
    "AcceptanceProcess",
    "AcceptanceTable",
    "AcceptanceTotals",
    "Chain",
    "ConstantAcceptance",
    "Counts",
    "Estimate",
    "LengthRule",
    "ReportedRatio",
    "Strategy",
    "draft_model",
    "simulate",
    "simulate_counts",
    "simulate_lengths",
]
