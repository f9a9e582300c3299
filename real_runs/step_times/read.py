"""The way in: measured times of steps from a file, a stream or the folder of a run."""

from __future__ import annotations

import io
import os
from pathlib import Path

from real_runs.engines.errors import MetricsFormatError
from real_runs.engines.read import Source
from real_runs.engines.text.lines import Stream
from real_runs.engines.text.opening import Opening, check_first_line
from real_runs.runs.reading import REQUESTS, STEPS
from real_runs.step_times.csv_rows import EXPECTED, read_rows, table_header
from real_runs.step_times.gpu_report import is_gpu_report, read_gpu_report
from real_runs.step_times.result import StepTimesRead
from real_runs.step_times.run_folder import read_folder
from real_runs.step_times.sweeps import read_sweep
from simulator._checks import as_nonnegative


def read_step_times(
    source: Source, *, name: str | None = None, context: float = 0.0
) -> StepTimesRead:
    r"""Measured times of passes, as `analysis.pass_fit.fit_pass_cost` takes them.

    `source` is a path or an open stream, read once in bounded memory:

    - a table (comma, semicolon or tab) with the columns batch, tokens, context and a time (seconds, ms,
      us or ns) in any order, and, where wanted, count, draft, draft_steps, draft_tokens;
    - the JSON that `benchmarks/gpu.py` writes;
    - lines that SGLang's bench_speculative.py appends;
    - the folder of a run that `specdec measure` wrote, or its steps.jsonl.

    `name` is what errors call it. `context` [tokens] is taken where the source does not say what requests
    held. Raises MetricsFormatError in one sentence for anything else, ValueError for a negative
    context, OSError if the file cannot be read.

    >>> read = read_step_times(io.StringIO("tokens,batch,context,ms\n1,1,100,4\n5,1,100,4.5\n"))
    >>> [sample.seconds for sample in read.samples]
    [0.004, 0.0045]
    """
    context = as_nonnegative("context", context)
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if path.is_dir():
            return read_folder(path)
        if path.name in {STEPS, REQUESTS} and path.is_file():
            return read_folder(path.parent)
        with path.open("rb") as stream:
            return _read(stream, name or os.fspath(source), context)
    own_name = getattr(source, "name", None)
    stream_of: Stream = source.buffer if isinstance(source, io.TextIOWrapper) else source
    return _read(stream_of, name or (own_name if isinstance(own_name, str) else "stream"), context)


def _read(stream: Stream, source: str, context: float) -> StepTimesRead:
    try:
        return _of_opening(Opening(stream, source=source), source, context)
    except MetricsFormatError as error:
        problem = error.problem
        for of_logs, own in _OWN_WORDS:
            problem = problem.replace(of_logs, own)
        raise MetricsFormatError(error.source, line=error.line, problem=problem) from None


_OWN_WORDS = (
    ("expected the log of an engine", f"expected step times: {EXPECTED}"),
    ("expected the text of a log", "expected the text of step times"),
    ("no metrics in it", "no step times in it"),
)
"""Openings are shared with the logs of engines, and speak of those."""


def _of_opening(opening: Opening, source: str, context: float) -> StepTimesRead:
    if is_gpu_report(opening.head):
        return read_gpu_report(opening, source)
    if opening.head.lstrip().startswith((b"{", b"[")):
        return read_sweep(opening, source, context)
    header = table_header(opening, source)
    if header is None:
        check_first_line(opening, marked=False, source=source)
        raise MetricsFormatError(
            source, problem=f"this has no header of step times; expected {EXPECTED}."
        )
    return read_rows(opening, header, source, context)
