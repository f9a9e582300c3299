"""How many steps of a batch the simulated server takes in a second on one core, and what a long run holds."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import time
from pathlib import Path

from rows import MEGABYTE, Row

from simulator import draft_model
from simulator.serving import (
    ClosedLoop,
    FixedTokens,
    PassTable,
    PoissonArrivals,
    PromptTable,
    Server,
    ServingTimes,
    UniformTokens,
    Workload,
    simulate_serving,
)

ROOT = Path(__file__).parents[1]
USERS = 32
MOST_RUNNING = 64
RATE_PER_S = 17.5  # keeps about as many busy as the closed loop
REQUIRED = {"numpy": 20_000, "numba": 200_000}
LOADS = {
    "closed loop": ClosedLoop(users=USERS),
    "Poisson arrivals": PoissonArrivals(rate_per_s=RATE_PER_S),
}


def server() -> Server:
    """p 0.7 and γ 4; a pass that grows with batch, width and context, as on a machine with memory to read."""
    requests, tokens, contexts = (1, 8, 32, MOST_RUNNING), (1, 2, 5, 8), (0, 1024, 4096)
    passes = [
        [[0.010 + 2e-5 * r * n + 5e-8 * r * c for c in contexts] for n in tokens] for r in requests
    ]
    drafting = [
        [[gamma * (0.001 + 5e-6 * r) for _ in contexts] for r in requests] for gamma in range(5)
    ]
    times = ServingTimes(
        passes=PassTable(requests=requests, tokens=tokens, contexts=contexts, seconds=passes),
        drafting_s=drafting,
        prompts=PromptTable(tokens=(1, 2048), target_s=(0.001, 0.02), draft_s=(1e-4, 1e-3)),
        overhead_s=0.001,
    )
    return Server(times=times, most_running=MOST_RUNNING, strategy=draft_model(p=0.7, gamma=4))


def workload(load: str, tokens: int = 256) -> Workload:
    return Workload(
        arrivals=LOADS[load],
        prompt=UniformTokens(least=64, most=448),
        output=FixedTokens(tokens=tokens),
    )


def stepping(loop: str, load: str, requests: int, repeats: int = 3) -> Row:
    """The best of a few runs, drawing the requests and the verdicts included; compiling is not."""
    speeds = []
    served, asked = server(), workload(load)
    simulate_serving(served, asked, requests=1, rng=0, loop=loop)
    for seed in range(repeats):
        start = time.perf_counter()
        run = simulate_serving(served, asked, requests=requests, rng=seed, loop=loop)
        speeds.append(run.counters.batch_rounds / (time.perf_counter() - start))
    batch = run.counters.rounds / run.counters.batch_rounds
    return Row(
        what=f"`simulate_serving` with {loop}, {load}, p 0.7, γ 4, at most {MOST_RUNNING} running "
        f"({batch:.0f} decode together on average), one core",
        measured=f"{max(speeds):,.0f} steps/s",
        required=f"≥ {REQUIRED[loop]:,}",
        ok=max(speeds) >= REQUIRED[loop],
    )


def memory(loop: str, requests: int = 10**6, tokens: int = 64, limit: float = 300.0) -> Row:
    """Peak memory of a child process that serves so many requests, and how long it takes."""
    script = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import serving_speed as speed
speed.simulate_serving(speed.server(), speed.workload("closed loop", {tokens}),
    requests={requests}, rng=0, loop={loop!r})
print(speed.peak_bytes())
"""
    start = time.perf_counter()
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - start
    peak = int(run.stdout) / MEGABYTE
    return Row(
        what=f"peak memory of serving {requests:.0e} requests of {tokens} tokens with {loop}",
        measured=f"{peak:.0f} MB, {seconds:.0f} s",
        required=f"< {limit:.0f} MB",
        ok=peak < limit,
    )


def peak_bytes() -> int:
    """The most memory that this process has held: of itself, without what its parent held."""
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", status.read_text())[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS


def rows() -> list[Row]:
    found = [stepping("numpy", load, requests=2000) for load in LOADS]
    found += [stepping("numba", load, requests=20_000) for load in LOADS]
    return [*found, memory("numpy"), memory("numba")]


if __name__ == "__main__":
    for row in rows():
        print(row)
