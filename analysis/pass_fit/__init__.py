"""The cost of a pass from measured times, and what it says."""

from analysis.pass_fit.fitter import fit_pass_cost
from analysis.pass_fit.report import pass_cost_report
from analysis.pass_fit.result import FittedCell, MeasuredRanges, PassCostFit

__all__ = ["FittedCell", "MeasuredRanges", "PassCostFit", "fit_pass_cost", "pass_cost_report"]
