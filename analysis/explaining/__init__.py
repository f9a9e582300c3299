"""Why a round is as fast as it is: its parts, which of them to attack, and where it breaks even."""

from analysis.explaining.explanation import Attack, BreakEven, Explanation, Lever
from analysis.explaining.of_run import explain_run
from analysis.explaining.parts import Part
from analysis.explaining.predicted import explain
from analysis.explaining.report import explain_report
from analysis.explaining.reported import explain_measured

__all__ = [
    "Attack",
    "BreakEven",
    "Explanation",
    "Lever",
    "Part",
    "explain",
    "explain_measured",
    "explain_report",
    "explain_run",
]
