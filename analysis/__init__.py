"""Exact answers about speculative decoding, and what measured counts say."""

from analysis.check import Check, Comparison, check
from analysis.convert import equivalent_p
from analysis.curve import CurvePoint, GammaCurve, over_gamma
from analysis.exact import RoundLaw, round_law
from analysis.formulas import (
    break_even_cost_ratio,
    expected_tokens,
    operations_factor,
    oracle_tokens,
    round_cost,
    speedup,
    survival,
    tokens_pmf,
    tokens_variance,
    whole_request_speedup,
)
from analysis.log_summary import LogSummary, summarize
from analysis.optimum import BestGamma, any_gamma_pays, best_gamma, break_even_p
from analysis.uncertainty import estimate_p, estimate_p_by_depth, p_bounds, p_by_depth_bounds

__all__ = [
    "BestGamma",
    "Check",
    "Comparison",
    "CurvePoint",
    "GammaCurve",
    "LogSummary",
    "RoundLaw",
    "any_gamma_pays",
    "best_gamma",
    "break_even_cost_ratio",
    "break_even_p",
    "check",
    "equivalent_p",
    "estimate_p",
    "estimate_p_by_depth",
    "expected_tokens",
    "operations_factor",
    "oracle_tokens",
    "over_gamma",
    "p_bounds",
    "p_by_depth_bounds",
    "round_cost",
    "round_law",
    "speedup",
    "summarize",
    "survival",
    "tokens_pmf",
    "tokens_variance",
    "whole_request_speedup",
]
