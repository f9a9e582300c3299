"""A server under load: requests arrive, wait, are read, decode together, and leave; sampled round by round."""

from simulator.serving.comparing import (
    ServingComparison,
    compare_rates,
    compare_serving,
)
from simulator.serving.lengths import (
    EmpiricalTokens,
    FixedTokens,
    GeometricTokens,
    LogNormalTokens,
    TokenLengths,
    UniformTokens,
)
from simulator.serving.limits import is_stable, stable_limit
from simulator.serving.records import Counters, LatencyObjective, ServedRequests
from simulator.serving.replications import (
    LatencyEstimate,
    Seen,
    ServingEstimates,
    mean_of,
    ratio_of,
    replicate,
)
from simulator.serving.run import LoopName, ServingRun, simulate_serving
from simulator.serving.server import Server
from simulator.serving.times import PassTable, PromptTable, ServingTimes
from simulator.serving.times_seen import SeenLatency
from simulator.serving.workload import (
    Arrivals,
    ClosedLoop,
    PoissonArrivals,
    RecordedArrivals,
    Workload,
)

__all__ = [
    "Arrivals",
    "ClosedLoop",
    "Counters",
    "EmpiricalTokens",
    "FixedTokens",
    "GeometricTokens",
    "LatencyEstimate",
    "LatencyObjective",
    "LogNormalTokens",
    "LoopName",
    "PassTable",
    "PoissonArrivals",
    "PromptTable",
    "RecordedArrivals",
    "Seen",
    "SeenLatency",
    "ServedRequests",
    "Server",
    "ServingComparison",
    "ServingEstimates",
    "ServingRun",
    "ServingTimes",
    "TokenLengths",
    "UniformTokens",
    "Workload",
    "compare_rates",
    "compare_serving",
    "is_stable",
    "mean_of",
    "ratio_of",
    "replicate",
    "simulate_serving",
    "stable_limit",
]
