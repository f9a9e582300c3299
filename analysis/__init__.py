"""Exact answers about speculative decoding, and what measured counts say."""

import importlib
import typing

if typing.TYPE_CHECKING:
    from analysis.checking import Check, Comparison, check
    from analysis.compare import compare_runs
    from analysis.comparison.result import RunComparison
    from analysis.configuration import (
        ConfigFile,
        Configuration,
        check_configuration,
        write_configuration,
        write_configurations,
    )
    from analysis.conversion.conversion import Conversion
    from analysis.converting import convert, equivalent_p
    from analysis.curve import CurvePoint, GammaCurve, over_gamma
    from analysis.deployment.break_even import BreakEvenBatch, break_even_batch
    from analysis.deployment.building import DraftKind, deploy
    from analysis.deployment.deployment import Deployment
    from analysis.deployment.drafting import Drafting
    from analysis.deployment.load import LoadPoint, over_concurrency, under_load
    from analysis.deployment.memory import Memory
    from analysis.deployment.round_parts import RoundParts
    from analysis.deployment.served import Served
    from analysis.diagnosis.finding import Finding
    from analysis.doctor import Diagnosis, diagnose
    from analysis.exact import RoundLaw, round_law
    from analysis.explaining.explanation import Explanation
    from analysis.explaining.of_run import explain_run
    from analysis.explaining.predicted import explain
    from analysis.explaining.reported import explain_measured
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
    from analysis.hardware import Accelerator, Machine
    from analysis.latency import Latency, TimeSpread, request_latency
    from analysis.length_chain import length_laws, long_run_lengths
    from analysis.log_summary import LogSummary, summarize
    from analysis.machine_presets import accelerator, accelerators
    from analysis.model_config import architecture_of_config
    from analysis.model_presets import architecture, architectures
    from analysis.model_shape import Architecture
    from analysis.optimum import BestGamma, any_gamma_pays, best_gamma, break_even_p
    from analysis.pass_cost import ExpertReads, PassCost, PassParts
    from analysis.pass_fit import PassCostFit, fit_pass_cost, pass_cost_report
    from analysis.planning.choice import PlanChoice, PlanRow
    from analysis.planning.losses import ScheduleLosses, schedule_losses
    from analysis.planning.planner import plan
    from analysis.planning.result import Plan
    from analysis.planning.schedule import Schedule, Span
    from analysis.predicted_pass import predict_pass
    from analysis.process_laws import (
        ProcessLaw,
        process_law,
        process_survival,
        process_tokens_per_round,
    )
    from analysis.published.families import published_families
    from analysis.published.report import published_report
    from analysis.published_load.report import published_load_report
    from analysis.round_time import PassTime, pass_time
    from analysis.runs.prediction import RunSummary, summarize_run
    from analysis.serving.expected import OneSlot, one_slot, one_slot_of, saturated_plain_rate
    from analysis.serving.loads import compare_loads, stable_limits, usual_rates
    from analysis.serving.pass_tables import serving_times
    from analysis.serving.tables import ServerPair, server_of
    from analysis.serving.trace_file import read_arrivals
    from analysis.serving.turning import Turning, turning_rate
    from analysis.stopping import StoppedLaw, stopped_law
    from analysis.stopping_speed import StoppingRow, compare_stopping, stopping_speedup
    from analysis.systems.comparing import SystemRow, compare_systems
    from analysis.systems.presets import preset_system, preset_systems
    from analysis.systems.report import systems_report
    from analysis.systems.system import PassPoints, System, SystemCosts
    from analysis.tokens.acceptance import acceptance_probability, total_variation
    from analysis.tokens.emitted_law import JointLaw, emitted_law, target_law
    from analysis.tokens.expected_accepted import expected_accepted
    from analysis.tokens.lossless import check_lossless, check_lossless_counts
    from analysis.tokens.lossless_verdict import CellDeviation, LosslessVerdict
    from analysis.tokens.sample_size import samples_needed, smallest_visible
    from analysis.tokens.siblings import (
        ChildrenLaw,
        children_law,
        k_seq_acceptance,
        optimal_acceptance,
    )
    from analysis.tokens.temperature import TemperatureCurve, acceptance_by_temperature
    from analysis.trees.bounds import TreeBounds, lookahead_tokens, sequences_value, tree_bounds
    from analysis.trees.growth import GrownTree, grow_tree
    from analysis.trees.node_check import check_nodes
    from analysis.trees.paying import PayingSize, SizePoint, paying_size
    from analysis.trees.search import BestTree, best_tree, tree_values
    from analysis.trees.values import node_probabilities, tree_value
    from analysis.uncertainty import estimate_p, estimate_p_by_depth, p_bounds, p_by_depth_bounds

__all__ = [
    "Accelerator",
    "Architecture",
    "BestFit",
    "BestGamma",
    "BestTree",
    "BreakEvenBatch",
    "CellDeviation",
    "Check",
    "ChildrenLaw",
    "Comparison",
    "ConfigFile",
    "Configuration",
    "Conversion",
    "CurvePoint",
    "Deployment",
    "Diagnosis",
    "DraftKind",
    "Drafting",
    "ExpertReads",
    "Explanation",
    "Finding",
    "Fit",
    "GammaCurve",
    "GrownTree",
    "JointLaw",
    "Latency",
    "LoadPoint",
    "LogSummary",
    "LosslessVerdict",
    "Machine",
    "Memory",
    "OneSlot",
    "PassCost",
    "PassCostFit",
    "PassParts",
    "PassPoints",
    "PassTime",
    "PayingSize",
    "Plan",
    "PlanChoice",
    "PlanRow",
    "ProcessLaw",
    "RoundCosts",
    "RoundLaw",
    "RoundParts",
    "RunComparison",
    "RunSummary",
    "Schedule",
    "ScheduleLosses",
    "Served",
    "ServerPair",
    "SizePoint",
    "Span",
    "StoppedLaw",
    "StoppingRow",
    "System",
    "SystemCosts",
    "SystemRow",
    "TemperatureCurve",
    "TimeSpread",
    "TreeBounds",
    "Turning",
    "accelerator",
    "accelerators",
    "acceptance_by_temperature",
    "acceptance_probability",
    "any_gamma_pays",
    "architecture",
    "architecture_of_config",
    "architectures",
    "best_gamma",
    "best_tree",
    "break_even_batch",
    "break_even_cost_ratio",
    "break_even_p",
    "by_label",
    "check",
    "check_configuration",
    "check_lossless",
    "check_lossless_counts",
    "check_nodes",
    "children_law",
    "compare_loads",
    "compare_runs",
    "compare_stopping",
    "compare_systems",
    "convert",
    "deploy",
    "diagnose",
    "emitted_law",
    "equivalent_p",
    "estimate_p",
    "estimate_p_by_depth",
    "expected_accepted",
    "expected_tokens",
    "explain",
    "explain_measured",
    "explain_run",
    "fit",
    "fit_curve",
    "fit_mean",
    "fit_pass_cost",
    "grow_tree",
    "k_seq_acceptance",
    "length_laws",
    "long_run_lengths",
    "lookahead_tokens",
    "node_probabilities",
    "one_slot",
    "one_slot_of",
    "operations_factor",
    "optimal_acceptance",
    "oracle_tokens",
    "over_concurrency",
    "over_gamma",
    "over_time",
    "p_bounds",
    "p_by_depth_bounds",
    "pass_cost_report",
    "pass_time",
    "paying_size",
    "plan",
    "predict_pass",
    "preset_system",
    "preset_systems",
    "process_law",
    "process_survival",
    "process_tokens_per_round",
    "published_families",
    "published_load_report",
    "published_report",
    "read_arrivals",
    "request_latency",
    "round_cost",
    "round_law",
    "samples_needed",
    "saturated_plain_rate",
    "schedule_losses",
    "sequences_value",
    "server_of",
    "serving_times",
    "smallest_visible",
    "speedup",
    "stable_limits",
    "stopped_law",
    "stopping_speedup",
    "summarize",
    "summarize_run",
    "survival",
    "systems_report",
    "target_law",
    "tokens_pmf",
    "tokens_variance",
    "total_variation",
    "tree_bounds",
    "tree_value",
    "tree_values",
    "turning_rate",
    "under_load",
    "usual_rates",
    "whole_request_speedup",
    "write_configuration",
    "write_configurations",
]

_HOMES = {
    "analysis.checking": "Check Comparison check",
    "analysis.compare": "compare_runs",
    "analysis.comparison.result": "RunComparison",
    "analysis.configuration": (
        "ConfigFile Configuration check_configuration write_configuration write_configurations"
    ),
    "analysis.conversion.conversion": "Conversion",
    "analysis.converting": "convert equivalent_p",
    "analysis.curve": "CurvePoint GammaCurve over_gamma",
    "analysis.deployment.break_even": "BreakEvenBatch break_even_batch",
    "analysis.deployment.load": "LoadPoint over_concurrency under_load",
    "analysis.deployment.served": "Served",
    "analysis.deployment.building": "DraftKind deploy",
    "analysis.deployment.deployment": "Deployment",
    "analysis.deployment.drafting": "Drafting",
    "analysis.deployment.memory": "Memory",
    "analysis.deployment.round_parts": "RoundParts",
    "analysis.diagnosis.finding": "Finding",
    "analysis.doctor": "Diagnosis diagnose",
    "analysis.exact": "RoundLaw round_law",
    "analysis.explaining.explanation": "Explanation",
    "analysis.explaining.of_run": "explain_run",
    "analysis.explaining.predicted": "explain",
    "analysis.explaining.reported": "explain_measured",
    "analysis.fitting": "BestFit Fit RoundCosts fit fit_curve fit_mean",
    "analysis.formulas": (
        "break_even_cost_ratio expected_tokens operations_factor oracle_tokens round_cost "
        "speedup survival tokens_pmf tokens_variance whole_request_speedup"
    ),
    "analysis.groups": "by_label over_time",
    "analysis.hardware": "Accelerator Machine",
    "analysis.latency": "Latency TimeSpread request_latency",
    "analysis.length_chain": "length_laws long_run_lengths",
    "analysis.log_summary": "LogSummary summarize",
    "analysis.machine_presets": "accelerator accelerators",
    "analysis.model_config": "architecture_of_config",
    "analysis.model_presets": "architecture architectures",
    "analysis.model_shape": "Architecture",
    "analysis.optimum": "BestGamma any_gamma_pays best_gamma break_even_p",
    "analysis.pass_cost": "ExpertReads PassCost PassParts",
    "analysis.predicted_pass": "predict_pass",
    "analysis.pass_fit": "PassCostFit fit_pass_cost pass_cost_report",
    "analysis.round_time": "PassTime pass_time",
    "analysis.planning.choice": "PlanChoice PlanRow",
    "analysis.planning.losses": "ScheduleLosses schedule_losses",
    "analysis.planning.planner": "plan",
    "analysis.planning.result": "Plan",
    "analysis.planning.schedule": "Schedule Span",
    "analysis.process_laws": "ProcessLaw process_law process_survival process_tokens_per_round",
    "analysis.published.families": "published_families",
    "analysis.published.report": "published_report",
    "analysis.published_load.report": "published_load_report",
    "analysis.runs.prediction": "RunSummary summarize_run",
    "analysis.serving.expected": "OneSlot one_slot one_slot_of saturated_plain_rate",
    "analysis.serving.loads": "compare_loads stable_limits usual_rates",
    "analysis.serving.pass_tables": "serving_times",
    "analysis.serving.tables": "ServerPair server_of",
    "analysis.serving.trace_file": "read_arrivals",
    "analysis.serving.turning": "Turning turning_rate",
    "analysis.stopping": "StoppedLaw stopped_law",
    "analysis.stopping_speed": "StoppingRow compare_stopping stopping_speedup",
    "analysis.systems.comparing": "SystemRow compare_systems",
    "analysis.systems.presets": "preset_system preset_systems",
    "analysis.systems.report": "systems_report",
    "analysis.systems.system": "PassPoints System SystemCosts",
    "analysis.tokens.acceptance": "acceptance_probability total_variation",
    "analysis.tokens.emitted_law": "JointLaw emitted_law target_law",
    "analysis.tokens.expected_accepted": "expected_accepted",
    "analysis.tokens.lossless": "check_lossless check_lossless_counts",
    "analysis.tokens.lossless_verdict": "CellDeviation LosslessVerdict",
    "analysis.tokens.sample_size": "samples_needed smallest_visible",
    "analysis.tokens.siblings": ("ChildrenLaw children_law k_seq_acceptance optimal_acceptance"),
    "analysis.tokens.temperature": "TemperatureCurve acceptance_by_temperature",
    "analysis.trees.bounds": "TreeBounds lookahead_tokens sequences_value tree_bounds",
    "analysis.trees.growth": "GrownTree grow_tree",
    "analysis.trees.node_check": "check_nodes",
    "analysis.trees.paying": "PayingSize SizePoint paying_size",
    "analysis.trees.search": "BestTree best_tree tree_values",
    "analysis.trees.values": "node_probabilities tree_value",
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
