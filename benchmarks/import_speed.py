"""How fast logs are read, in MB/s on one core and in how much memory: logs as servers write them.

Each log is made in a temporary folder and read by a child process of its own, so that its peak memory is
that of the reading. Lines of metrics differ from one another, as in a server's day: no cache of whole
lines can help.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from rows import MEGABYTE, Row

SIZE = 200 * MEGABYTE
ACCESS = '(APIServer pid=4242) INFO:     10.0.{}.{}:40000 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'


def _time(second: int) -> str:
    return f"{second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}"


def _access(rng: random.Random) -> str:
    return ACCESS.format(rng.randrange(256), rng.randrange(256))


def _lengths(rng: random.Random, rounds: int, gamma: int) -> list[int]:
    """Rounds that kept each position."""
    counts, kept = [], rounds
    for _ in range(gamma):
        kept = round(kept * rng.uniform(0.6, 0.9))
        counts.append(kept)
    return counts


def vllm(access_lines: int) -> Callable[[random.Random, int], Iterator[str]]:
    """A report of two lines, throughput and metrics, after so many lines of access."""

    def report(rng: random.Random, second: int) -> Iterator[str]:
        for _ in range(access_lines):
            yield _access(rng)
        rounds = rng.randrange(200, 3000)
        counts = _lengths(rng, rounds, 3)
        accepted, drafted = sum(counts), 3 * rounds
        head = f"(APIServer pid=4242) INFO 05-30 {_time(second)} "
        yield (
            f"{head}[loggers.py:271] Engine 000: Avg prompt throughput: {rng.uniform(0, 999):.1f} "
            f"tokens/s, Avg generation throughput: {(accepted + rounds) / 10:.1f} tokens/s, Running: "
            f"{rng.randrange(1, 32)} reqs, Waiting: 0 reqs, GPU KV cache usage: 36.1%, Prefix cache hit "
            "rate: 27.4%\n"
        )
        per_position = ", ".join(f"{count / rounds:.3f}" for count in counts)
        yield (
            f"{head}[metrics.py:101] SpecDecoding metrics: Mean acceptance length: "
            f"{1 + accepted / rounds:.2f}, Accepted throughput: {accepted / 10:.2f} tokens/s, Drafted "
            f"throughput: {drafted / 10:.2f} tokens/s, Accepted: {accepted} tokens, Drafted: {drafted} "
            f"tokens, Per-position acceptance rate: {per_position}, Avg Draft acceptance rate: "
            f"{100 * accepted / drafted:.1f}%\n"
        )

    return report


def sglang(rng: random.Random, second: int) -> Iterator[str]:
    """A decode line in five."""
    for _ in range(4):
        yield _access(rng)
    length = 1 + rng.uniform(0.6, 2.7)
    yield (
        f"[2026-07-30 {_time(second)} TP0] Decode batch, #running-req: {rng.randrange(1, 32)}, #token: "
        f"{rng.randrange(10**6)}, token usage: 0.27, accept len: {length:.2f}, accept rate: "
        f"{(length - 1) / 3:.2f}, cuda graph: True, gen throughput (token/s): "
        f"{rng.uniform(50, 3000):.2f}, #queue-req: 0, \n"
    )


def llamacpp(rng: random.Random, second: int) -> Iterator[str]:
    """What the server prints at the end of a request."""
    rounds = rng.randrange(20, 300)
    counts = _lengths(rng, rounds, 3)
    accepted, drafted = sum(counts), 3 * rounds - rng.randrange(4)
    stamp = f"{second // 60}.{second % 60:02d}.896.015"
    slot = f"{stamp} I slot print_timing: id  {rng.randrange(4)} | task 90 | "
    for what, ms, tokens in (("prompt eval time", 300.1, 20), ("       eval time", 2296.7, 256)):
        yield (
            f"{slot}{what} = {ms:9.2f} ms / {tokens:5d} tokens ({ms / tokens:8.2f} ms per token, "
            f"{tokens * 1000 / ms:8.2f} tokens per second)\n"
        )
    yield f"{slot}      total time =   2596.80 ms /   276 tokens\n"
    per_position = ", ".join(f"{count / rounds:.3f}" for count in counts)
    yield (
        f"{slot}draft acceptance = {accepted / drafted:.5f} ({accepted:5d} accepted / {drafted:5d} "
        f"generated), mean acceptance length = {1 + accepted / rounds:5.2f}, acceptance rate per "
        f"position = ({per_position})\n"
    )
    for _ in range(8):
        yield f"{slot}stop processing: n_tokens = {rng.randrange(4096)}, truncated = 0\n"


LOGS: dict[str, Callable[[random.Random, int], Iterator[str]]] = {
    "vLLM, a report (throughput and metrics) after 10 access lines": vllm(10),
    "vLLM, a report after 60 access lines": vllm(60),
    "SGLang, a decode line in 5": sglang,
    "llama.cpp server, 12 lines a request": llamacpp,
}

_READ = """
import pathlib, resource, sys, time
sys.path.insert(0, sys.argv[2])
def peak():
    status = pathlib.Path("/proc/self/status")  # what getrusage says holds the parent's peak, too
    if status.exists():
        return 1024 * int(status.read_text().partition("VmHWM:")[2].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
from real_runs.engines import read_log
start = time.process_time()
(reading, *others) = read_log(sys.argv[1])
seconds = time.process_time() - start
print(seconds, peak(), reading.used)
"""


def write(path: Path, report: Callable[[random.Random, int], Iterator[str]], size: int) -> None:
    """A log of about `size` bytes."""
    rng = random.Random(0)  # noqa: S311 — numbers in a log, no secrets
    written, second = 0, 0
    with path.open("w", encoding="utf-8") as file:
        while written < size:
            second += 10
            text = "".join(report(rng, second))
            file.write(text)
            written += len(text)


def measured(name: str, size: int = SIZE) -> list[Row]:
    """Speed and peak memory of one log."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "server.log"
        write(path, LOGS[name], size)
        root = str(Path(__file__).parent.parent)
        command = [sys.executable, "-c", _READ, str(path), root]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        megabytes = path.stat().st_size / 1e6
    seconds, peak, used = (float(part) for part in run.stdout.split())
    peak /= 1e6
    return [
        Row(
            what=f"a log of {megabytes:.0f} MB: {name} ({used:,.0f} lines counted)",
            measured=f"{megabytes / seconds:.0f} MB/s",
            required="≥ 30 MB/s",
            ok=megabytes / seconds >= 30.0,
        ),
        Row(
            what="peak memory of the process",
            measured=f"{peak:.0f} MB",
            required="< 400 MB",
            ok=peak < 400.0,
        ),
    ]


def rows(size: int = SIZE) -> list[Row]:
    """Two rows for each kind of log."""
    return [row for name in LOGS for row in measured(name, size)]


if __name__ == "__main__":
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else SIZE // MEGABYTE
    for line in rows(megabytes * MEGABYTE):
        print(line)
