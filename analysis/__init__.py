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
from analysis.length_chain import length_laws, long_run_lengths
from analysis.log_summary import LogSummary, summarize
from analysis.optimum import BestGamma, any_gamma_pays, best_gamma, break_even_p
from analysis.runs.prediction import RunSummary, summarize_run
from analysis.stopping import StoppedLaw, stopped_law
from analysis.stopping_speed import StoppingRow, compare_stopping, stopping_speedup
from analysis.tokens.acceptance import acceptance_probability, total_variation
from analysis.tokens.emitted_law import JointLaw, emitted_law, target_law
from analysis.tokens.expected_accepted import expected_accepted
from analysis.tokens.lossless import check_lossless, check_lossless_counts
from analysis.tokens.lossless_verdict import CellDeviation, LosslessVerdict
from analysis.tokens.sample_size import samples_needed, smallest_visible
from analysis.tokens.temperature import TemperatureCurve, acceptance_by_temperature
from analysis.uncertainty import estimate_p, estimate_p_by_depth, p_bounds, p_by_depth_bounds

__all__ = [
    "BestGamma",
    "CellDeviation",
    "Check",
    "Comparison",
    "CurvePoint",
    "GammaCurve",
    "JointLaw",
    "LogSummary",
    "LosslessVerdict",
    "RoundLaw",
    "RunSummary",
    "StoppedLaw",
    "StoppingRow",
    "TemperatureCurve",
    "acceptance_by_temperature",
    "acceptance_probability",
    "any_gamma_pays",
    "best_gamma",
    "break_even_cost_ratio",
    "break_even_p",
    "check",
    "check_lossless",
    "check_lossless_counts",
    "compare_stopping",
    "emitted_law",
    "equivalent_p",
    "estimate_p",
    "estimate_p_by_depth",
    "expected_accepted",
    "expected_tokens",
    "length_laws",
    "long_run_lengths",
    "operations_factor",
    "oracle_tokens",
    "over_gamma",
    "p_bounds",
    "p_by_depth_bounds",
    "round_cost",
    "round_law",
    "samples_needed",
    "smallest_visible",
    "speedup",
    "stopped_law",
    "stopping_speedup",
    "summarize",
    "summarize_run",
    "survival",
    "target_law",
    "tokens_pmf",
    "tokens_variance",
    "total_variation",
    "whole_request_speedup",
]
