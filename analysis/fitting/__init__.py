"""Acceptance that is not one p: processes fitted to counts, with honest intervals."""

from analysis.fitting.best import BestFit
from analysis.fitting.choice import PROCESSES, Candidate
from analysis.fitting.costs import RoundCosts
from analysis.fitting.counts import fit
from analysis.fitting.curve import fit_curve
from analysis.fitting.families import ExtrapolationError, extrapolation_errors
from analysis.fitting.goodness import Goodness
from analysis.fitting.mean import fit_mean
from analysis.fitting.result import Fit

__all__ = [
    "PROCESSES",
    "BestFit",
    "Candidate",
    "ExtrapolationError",
    "Fit",
    "Goodness",
    "RoundCosts",
    "extrapolation_errors",
    "fit",
    "fit_curve",
    "fit_mean",
]
