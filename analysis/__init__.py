"""Exact answers about speculative decoding, and what measured counts say."""

from analysis.check import Check, Comparison, check
from analysis.compare import compare_runs
from analysis.comparison.result import RunComparison
from analysis.conversion.conversion import Conversion
from analysis.convert import convert, equivalent_p
from analysis.curve import CurvePoint, GammaCurve, over_gamma
from analysis.diagnosis.finding import Finding
from analysis.doctor import Diagnosis, diagnose
from analysis.exact import RoundLaw, round_law
from analysis.fitting import BestFit, Fit, RoundCosts, fit, fit_curve, fit_mean
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
from analysis.groups import by_label, over_time
from analysis.latency import Latency, TimeSpread, request_latency
from analysis.length_chain import length_laws, long_run_lengths
from analysis.log_summary import LogSummary, summarize
from analysis.optimum import BestGamma, any_gamma_pays, best_gamma, break_even_p
from analysis.pass_time import PassTime, pass_time
from analysis.process_law import ProcessLaw, process_law, process_survival, process_tokens_per_round
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
    "BestFit",
    "BestGamma",
    "CellDeviation",
    "Check",
    "Comparison",
    "Conversion",
    "CurvePoint",
    "Diagnosis",
    "Finding",
    "Fit",
    "GammaCurve",
    "JointLaw",
    "Latency",
    "LogSummary",
    "LosslessVerdict",
    "PassTime",
    "ProcessLaw",
    "RoundCosts",
    "RoundLaw",
    "RunComparison",
    "RunSummary",
    "StoppedLaw",
    "StoppingRow",
    "TemperatureCurve",
    "TimeSpread",
    "acceptance_by_temperature",
    "acceptance_probability",
    "any_gamma_pays",
    "best_gamma",
    "break_even_cost_ratio",
    "break_even_p",
    "by_label",
    "check",
    "check_lossless",
    "check_lossless_counts",
    "compare_runs",
    "compare_stopping",
    "convert",
    "diagnose",
    "emitted_law",
    "equivalent_p",
    "estimate_p",
    "estimate_p_by_depth",
    "expected_accepted",
    "expected_tokens",
    "fit",
    "fit_curve",
    "fit_mean",
    "length_laws",
    "long_run_lengths",
    "operations_factor",
    "oracle_tokens",
    "over_gamma",
    "over_time",
    "p_bounds",
    "p_by_depth_bounds",
    "pass_time",
    "process_law",
    "process_survival",
    "process_tokens_per_round",
    "request_latency",
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
