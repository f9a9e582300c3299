"""Acceptance counts from what engines print: `read_log` for files and streams, `read_text` for pastes."""

from real_runs.engines.errors import MetricsFormatError
from real_runs.engines.formats import ENGINES
from real_runs.engines.read import read_log, read_text
from real_runs.engines.reading import Reading, Skipped

__all__ = ["ENGINES", "MetricsFormatError", "Reading", "Skipped", "read_log", "read_text"]
