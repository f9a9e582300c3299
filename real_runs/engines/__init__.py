"""Acceptance counts from what engines print: `read_log` for files and streams, `read_text` for pastes."""

from real_runs.engines.assisted.hook import record_assisted
from real_runs.engines.errors import MetricsFormatError
from real_runs.engines.formats import ENGINES
from real_runs.engines.read import read_difference, read_log, read_text
from real_runs.engines.reading import Reading, Skipped
from real_runs.engines.speculation_profile.writing import (
    speculation_profile,
    write_speculation_profile,
)

__all__ = [
    "ENGINES",
    "MetricsFormatError",
    "Reading",
    "Skipped",
    "read_difference",
    "read_log",
    "read_text",
    "record_assisted",
    "speculation_profile",
    "write_speculation_profile",
]
