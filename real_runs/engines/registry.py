"""All formats that are read: one entry each, found by what stands in its lines or its JSON objects."""

from __future__ import annotations

from real_runs.engines.benchmarks import (
    aiperf,
    aiperf_requests,
    eagle,
    gpt_fast,
    inferencex,
    model_optimizer,
    sdb,
    spec_bench,
    speculators,
)
from real_runs.engines.formats import LineFormat, ObjectFormat
from real_runs.engines.llamacpp import printed_text as llamacpp
from real_runs.engines.llamacpp import timings as llamacpp_timings
from real_runs.engines.others import generic, lm_studio, mlx, mlx_tokens, openai_usage
from real_runs.engines.prometheus import counters as prometheus
from real_runs.engines.prometheus import gauges as prometheus_gauges
from real_runs.engines.sglang import printed_text as sglang
from real_runs.engines.sglang import requests as sglang_requests
from real_runs.engines.sglang import servers as sglang_servers
from real_runs.engines.sglang import sweeps as sglang_sweeps
from real_runs.engines.speculation_profile import reading as speculation_profile_reading
from real_runs.engines.tensorrt_llm import iterations as tensorrt_llm_iterations
from real_runs.engines.tensorrt_llm import printed_text as tensorrt_llm
from real_runs.engines.tensorrt_llm import report as tensorrt_llm_report
from real_runs.engines.tensorrt_llm import requests as tensorrt_llm_requests
from real_runs.engines.vllm import bench as vllm_bench
from real_runs.engines.vllm import bench_json as vllm_bench_json
from real_runs.engines.vllm import offline as vllm_offline
from real_runs.engines.vllm import requests as vllm_requests
from real_runs.engines.vllm import server_log as vllm

__all__ = ["ENGINES", "FORMATS"]

FORMATS: tuple[LineFormat | ObjectFormat, ...] = (
    LineFormat(
        engine="llama.cpp",
        collector=llamacpp.LlamaCpp,
        markers=llamacpp.MARKERS,
        shapes=llamacpp.SHAPES,
    ),
    LineFormat(engine="vllm", collector=vllm.ServerLines, markers=vllm.MARKERS, shapes=vllm.SHAPES),
    LineFormat(
        engine="vllm",
        collector=vllm_bench.BenchBlocks,
        markers=vllm_bench.MARKERS,
        shapes=vllm_bench.SHAPES,
    ),
    LineFormat(
        engine="vllm",
        collector=vllm_offline.OfflineBlocks,
        markers=vllm_offline.MARKERS,
        shapes=vllm_offline.SHAPES,
    ),
    ObjectFormat(
        engine="vllm",
        collector=vllm_bench_json.BenchResults,
        keys=vllm_bench_json.KEYS,
        shapes=vllm_bench_json.SHAPES,
    ),
    ObjectFormat(
        engine="vllm",
        collector=vllm_requests.RequestMetrics,
        keys=vllm_requests.KEYS,
        shapes=vllm_requests.SHAPES,
    ),
    LineFormat(
        engine="sglang", collector=sglang.SGLang, markers=sglang.MARKERS, shapes=sglang.SHAPES
    ),
    ObjectFormat(
        engine="sglang",
        collector=sglang_requests.MetaInfo,
        keys=sglang_requests.KEYS,
        shapes=sglang_requests.SHAPES,
    ),
    ObjectFormat(
        engine="sglang",
        collector=sglang_servers.ServerInfo,
        keys=sglang_servers.KEYS,
        shapes=sglang_servers.SHAPES,
    ),
    ObjectFormat(
        engine="sglang",
        collector=sglang_sweeps.SweepLines,
        keys=sglang_sweeps.KEYS,
        shapes=sglang_sweeps.SHAPES,
    ),
    LineFormat(
        engine="tensorrt-llm",
        collector=tensorrt_llm.TensorRtLlm,
        markers=tensorrt_llm.MARKERS,
        shapes=tensorrt_llm.SHAPES,
    ),
    ObjectFormat(
        engine="tensorrt-llm",
        collector=tensorrt_llm_iterations.IterationStats,
        keys=tensorrt_llm_iterations.KEYS,
        shapes=tensorrt_llm_iterations.SHAPES,
    ),
    ObjectFormat(
        engine="tensorrt-llm",
        collector=tensorrt_llm_requests.RequestMetrics,
        keys=tensorrt_llm_requests.KEYS,
        shapes=tensorrt_llm_requests.SHAPES,
    ),
    ObjectFormat(
        engine="tensorrt-llm",
        collector=tensorrt_llm_report.BenchReport,
        keys=tensorrt_llm_report.KEYS,
        shapes=tensorrt_llm_report.SHAPES,
    ),
    ObjectFormat(
        engine="llama.cpp",
        collector=llamacpp_timings.Timings,
        keys=llamacpp_timings.KEYS,
        shapes=llamacpp_timings.SHAPES,
    ),
    ObjectFormat(
        engine="aiperf",
        collector=aiperf.Summaries,
        keys=aiperf.KEYS,
        shapes=aiperf.SHAPES,
    ),
    ObjectFormat(
        engine="aiperf",
        collector=aiperf_requests.Requests,
        keys=aiperf_requests.KEYS,
        shapes=aiperf_requests.SHAPES,
    ),
    ObjectFormat(
        engine="model-optimizer",
        collector=model_optimizer.AcceptanceRates,
        keys=model_optimizer.KEYS,
        shapes=model_optimizer.SHAPES,
    ),
    ObjectFormat(
        engine="model-optimizer",
        collector=speculation_profile_reading.Profiles,
        keys=speculation_profile_reading.KEYS,
        shapes=speculation_profile_reading.SHAPES,
    ),
    ObjectFormat(
        engine="spec-bench",
        collector=spec_bench.Answers,
        keys=spec_bench.KEYS,
        shapes=spec_bench.SHAPES,
    ),
    ObjectFormat(
        engine="eagle",
        collector=eagle.Answers,
        keys=eagle.KEYS,
        shapes=eagle.SHAPES,
    ),
    ObjectFormat(
        engine="sdb",
        collector=sdb.Traces,
        keys=sdb.KEYS,
        shapes=sdb.SHAPES,
    ),
    ObjectFormat(
        engine="speculators",
        collector=speculators.Rows,
        keys=speculators.KEYS,
        shapes=speculators.SHAPES,
    ),
    ObjectFormat(
        engine="inferencex",
        collector=inferencex.Curves,
        keys=inferencex.KEYS,
        shapes=inferencex.SHAPES,
    ),
    ObjectFormat(
        engine="lm-studio",
        collector=lm_studio.Stats,
        keys=lm_studio.KEYS,
        shapes=lm_studio.SHAPES,
    ),
    LineFormat(
        engine="mlx",
        collector=mlx.MLXLines,
        markers=mlx.MARKERS,
        shapes=mlx.SHAPES,
    ),
    ObjectFormat(
        engine="mlx",
        collector=mlx_tokens.Tokens,
        keys=mlx_tokens.KEYS,
        shapes=mlx_tokens.SHAPES,
    ),
    LineFormat(
        engine="gpt-fast",
        collector=gpt_fast.Histograms,
        markers=gpt_fast.MARKERS,
        shapes=gpt_fast.SHAPES,
    ),
    LineFormat(
        engine="vllm",
        collector=prometheus.VllmCounters,
        markers=prometheus.VLLM_MARKERS,
        shapes=prometheus.VLLM.shape,
        cumulative=True,
    ),
    LineFormat(
        engine="llama.cpp",
        collector=prometheus.LlamaCppCounters,
        markers=prometheus.LLAMACPP_MARKERS,
        shapes=prometheus.LLAMACPP.shape,
        cumulative=True,
    ),
    LineFormat(
        engine="tensorrt-llm",
        collector=prometheus.TensorrtCounters,
        markers=prometheus.TENSORRT_MARKERS,
        shapes=prometheus.TENSORRT.shape,
        cumulative=True,
    ),
    LineFormat(
        engine="vllm",
        collector=prometheus_gauges.VllmV0Gauges,
        markers=prometheus_gauges.VLLM_V0_MARKERS,
        shapes=prometheus_gauges.VLLM_V0.shape,
    ),
    LineFormat(
        engine="sglang",
        collector=prometheus_gauges.SglangGauges,
        markers=prometheus_gauges.SGLANG_MARKERS,
        shapes=prometheus_gauges.SGLANG.shape,
    ),
    LineFormat(
        engine="tensorrt-llm",
        collector=prometheus_gauges.TensorrtGauges,
        markers=prometheus_gauges.TENSORRT_MARKERS,
        shapes=prometheus_gauges.TENSORRT.shape,
    ),
    ObjectFormat(
        engine="openai",
        collector=openai_usage.Usages,
        keys=openai_usage.KEYS,
        shapes=openai_usage.SHAPES,
    ),
    LineFormat(
        engine="generic",
        collector=generic.NamesAndValues,
        markers=generic.MARKERS,
        shapes=generic.SHAPES,
        fallback=True,
    ),
)

ENGINES = tuple(dict.fromkeys(each.engine for each in FORMATS))
"""The engines that can be named, by the name that readings carry."""
