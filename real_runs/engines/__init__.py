"""Acceptance counts from what engines print, and back: every log becomes readings, counts become logs.

- `read_log` reads a file or a stream, `read_text` pasted text, `read_difference` what counters counted
  between two snapshots. Each gives `Reading`s, one per engine and kind of record: counts as far as
  the text supports them, printed ratios, times, units (requests or intervals), and notes on what was
  read, left out or inferred; `Skipped` lines say why. `ENGINES` are the names that can be asked for. A
  text without anything to count raises `MetricsFormatError`. `reading.observation` is what
  `analysis.diagnose`, `analysis.fit` and the rest take.
- `record_assisted` counts the rounds of transformers' `generate` as it runs; the `AssistedRecorder` it
  gives has the requests as `units` and `observation()`.
- `vllm_*`, `sglang_*` and `llamacpp_*` write counts as those engines print them: for programs that
  read their logs. `speculation_profile` and `write_speculation_profile` write the interchange format
  of Model-Optimizer. What they write, `read_text` reads back: exactly where the wording carries
  counts, else within its rounding.

>>> from simulator import AcceptanceTable
>>> table = AcceptanceTable(rounds=208, drafted=624, tested=(208, 195, 160), accepted=(195, 160, 119))
>>> (reading,) = read_text(vllm_interval_line(table))
>>> reading.title, reading.counts == table
('vLLM, interval line', True)
"""

from real_runs.engines.assisted.hook import AssistedRecorder, record_assisted
from real_runs.engines.errors import MetricsFormatError
from real_runs.engines.llamacpp.writing import (
    llamacpp_request_line,
    llamacpp_statistics_line,
    llamacpp_timings,
)
from real_runs.engines.read import read_difference, read_log, read_text
from real_runs.engines.reading import Reading, Skipped
from real_runs.engines.registry import ENGINES
from real_runs.engines.sglang.writing import sglang_decode_line, sglang_meta_info
from real_runs.engines.speculation_profile.writing import (
    speculation_profile,
    write_speculation_profile,
)
from real_runs.engines.vllm.writing import (
    vllm_bench_block,
    vllm_interval_line,
    vllm_offline_block,
    vllm_request_json,
)

__all__ = [
    "ENGINES",
    "AssistedRecorder",
    "MetricsFormatError",
    "Reading",
    "Skipped",
    "llamacpp_request_line",
    "llamacpp_statistics_line",
    "llamacpp_timings",
    "read_difference",
    "read_log",
    "read_text",
    "record_assisted",
    "sglang_decode_line",
    "sglang_meta_info",
    "speculation_profile",
    "vllm_bench_block",
    "vllm_interval_line",
    "vllm_offline_block",
    "vllm_request_json",
    "write_speculation_profile",
]
