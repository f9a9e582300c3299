"""Exact answers about speculative decoding, and what measured counts say."""

import importlib
import typing

if typing.TYPE_CHECKING:
    from analysis.checking import Check, Comparison, check
    from analysis.compare import compare_runs
    from analysis.comparison.result import RunComparison
    from analysis.conversion.conversion import Conversion
    from analysis.converting import convert, equivalent_p
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
    from analysis.process_laws import (
        ProcessLaw,
        process_law,
        process_survival,
        process_tokens_per_round,
    )
    from analysis.round_time import PassTime, pass_time
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

_HOMES = {
    "analysis.checking": "Check Comparison check",
    "analysis.compare": "compare_runs",
    "analysis.comparison.result": "RunComparison",
    "analysis.conversion.conversion": "Conversion",
    "analysis.converting": "convert equivalent_p",
    "analysis.curve": "CurvePoint GammaCurve over_gamma",
    "analysis.diagnosis.finding": "Finding",
    "analysis.doctor": "Diagnosis diagnose",
    "analysis.exact": "RoundLaw round_law",
    "analysis.fitting": "BestFit Fit RoundCosts fit fit_curve fit_mean",
    "analysis.formulas": (
        "break_even_cost_ratio expected_tokens operations_factor oracle_tokens round_cost "
        "speedup survival tokens_pmf tokens_variance whole_request_speedup"
    ),
    "analysis.groups": "by_label over_time",
    "analysis.latency": "Latency TimeSpread request_latency",
    "analysis.length_chain": "length_laws long_run_lengths",
    "analysis.log_summary": "LogSummary summarize",
    "analysis.optimum": "BestGamma any_gamma_pays best_gamma break_even_p",
    "analysis.round_time": "PassTime pass_time",
    "analysis.process_laws": "ProcessLaw process_law process_survival process_tokens_per_round",
    "analysis.runs.prediction": "RunSummary summarize_run",
    "analysis.stopping": "StoppedLaw stopped_law",
    "analysis.stopping_speed": "StoppingRow compare_stopping stopping_speedup",
    "analysis.tokens.acceptance": "acceptance_probability total_variation",
    "analysis.tokens.emitted_law": "JointLaw emitted_law target_law",
    "analysis.tokens.expected_accepted": "expected_accepted",
    "analysis.tokens.lossless": "check_lossless check_lossless_counts",
    "analysis.tokens.lossless_verdict": "CellDeviation LosslessVerdict",
    "analysis.tokens.sample_size": "samples_needed smallest_visible",
    "analysis.tokens.temperature": "TemperatureCurve acceptance_by_temperature",
    "analysis.uncertainty": "estimate_p estimate_p_by_depth p_bounds p_by_depth_bounds",
}
"""Where each name lives. Loaded when it is asked for: a command needs few of them, and starts sooner."""
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

if not typing.TYPE_CHECKING:  # types come from the imports above

    def __getattr__(name: str) -> object:
        """The public name, from its module."""
        home = _HOME_OF.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(home), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
