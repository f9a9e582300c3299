"""The vocabulary of speculative decoding, and what happens in a round, by sampling."""

from simulator.acceptance import AcceptanceTable, AcceptanceTotals, LengthRule, ReportedRatio
from simulator.drafts import Chain
from simulator.engine import simulate, simulate_counts, simulate_lengths
from simulator.estimate import Estimate
from simulator.processes import AcceptanceByDepth, AcceptanceProcess, ConstantAcceptance
from simulator.strategies import Strategy, draft_model

__all__ = [
    "AcceptanceByDepth",
    "AcceptanceProcess",
    "AcceptanceTable",
    "AcceptanceTotals",
    "Chain",
    "ConstantAcceptance",
    "Estimate",
    "LengthRule",
    "ReportedRatio",
    "Strategy",
    "draft_model",
    "simulate",
    "simulate_counts",
    "simulate_lengths",
]
