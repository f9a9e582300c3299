"""Measured times of steps from files: CSV, `benchmarks/gpu.py`, SGLang's sweeps, folders of our own runs."""

from real_runs.step_times.read import read_step_times
from real_runs.step_times.result import StepTimesRead

__all__ = ["StepTimesRead", "read_step_times"]
