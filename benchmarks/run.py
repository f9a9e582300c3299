"""Is the engine as fast as it should be? Ratios measured in one run, never absolute speed.

    python benchmarks/run.py           prints the table
    python benchmarks/run.py --write   also writes docs/results/benchmarks.md and the README block

Run it alone: the versions that are compared take turns, so that a slow moment hits all of them.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from rows import MEGABYTE, Row, interleaved

from simulator import Strategy, draft_model, simulate, simulate_counts, simulate_lengths

ROOT = Path(__file__).parents[1]
REPORT = ROOT / "docs" / "results" / "benchmarks.md"
BLOCK = re.compile(r"(<!-- benchmarks:start -->\n).*?(<!-- benchmarks:end -->)", re.DOTALL)
IntArray: TypeAlias = npt.NDArray[np.int64]
STRATEGY = draft_model(p=0.7, gamma=4)
REPEATS = 25


def matrix(strategy: Strategy, *, rounds: int, rng: np.random.Generator) -> IntArray:
    """What one writes first: draw every drafted token, multiply along, add up; lengths, [rounds]."""
    verdicts = rng.random((rounds, strategy.draft.gamma)) < strategy.conditional_acceptance
    return np.cumprod(verdicts, axis=1).sum(axis=1)


def matrix_total(strategy: Strategy, *, rounds: int, rng: np.random.Generator) -> int:
    """The same with nothing but one grand total: the cheapest form of it."""
    verdicts = rng.random((rounds, strategy.draft.gamma)) < strategy.conditional_acceptance
    return int(np.cumprod(verdicts, axis=1).sum())


def flipping(rounds: int = 200_000, repeats: int = REPEATS) -> list[Row]:
    rng = np.random.default_rng(0)
    tested = sum(simulate(STRATEGY, rounds=rounds, rng=0).tested)
    median = interleaved(
        {
            "simulate": lambda: simulate(STRATEGY, rounds=rounds, rng=rng),
            "lengths": lambda: simulate_lengths(STRATEGY, rounds=rounds, rng=rng),
            "uniforms": lambda: rng.random(tested),
            "matrix": lambda: matrix(STRATEGY, rounds=rounds, rng=rng),
            "total": lambda: matrix_total(STRATEGY, rounds=rounds, rng=rng),
        },
        repeats,
    )
    faster = median["matrix"] / median["simulate"]
    faster_than_total = median["total"] / median["simulate"]
    over_bare = median["simulate"] / median["uniforms"]
    lengths_over_bare = median["lengths"] / median["uniforms"]
    size = f"{rounds:,} rounds, p 0.7, γ 4"
    return [
        Row(
            what=f"`simulate` against the plain NumPy matrix ({size})",
            measured=f"{faster:.1f}× faster",
            required="≥ 8×",
            ok=faster >= 8.0,
        ),
        Row(
            what="`simulate` against the same matrix summed to one number only",
            measured=f"{faster_than_total:.1f}× faster",
            required="≥ 8×",
            ok=faster_than_total >= 8.0,
        ),
        Row(
            what="`simulate` against `rng.random(n)`, n the tokens it tests",
            measured=f"{over_bare:.2f}× the time",
            required="≤ 1.5×",
            ok=over_bare <= 1.5,
        ),
        Row(
            what="`simulate_lengths` against the same `rng.random(n)`",
            measured=f"{lengths_over_bare:.2f}× the time",
            required="≤ 5×",
            ok=lengths_over_bare <= 5.0,
        ),
    ]


def counting(rounds: int = 10**9, repeats: int = REPEATS) -> Row:
    rng = np.random.default_rng(0)
    draw = {"counts": lambda: simulate_counts(STRATEGY, rounds=rounds, rng=rng)}
    seconds = interleaved(draw, repeats)["counts"]
    return Row(
        what=f"`simulate_counts`, {rounds:.0e} rounds",
        measured=f"{1000 * seconds:.3f} ms",
        required="< 1 ms",
        ok=seconds < 1e-3,
    )


def memory(rounds: int = 10**8) -> Row:
    """Peak memory of a child process that flips its way through `rounds`."""
    script = f"""
import resource
from simulator import draft_model, simulate
simulate(draft_model(p=0.7, gamma=4), rounds={rounds}, rng=0)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    unit = 1 if sys.platform == "darwin" else 1024  # bytes on macOS, KB on Linux
    peak = int(run.stdout) * unit / MEGABYTE
    return Row(
        what=f"peak memory of flipping {rounds:.0e} rounds",
        measured=f"{peak:.0f} MB",
        required="< 300 MB",
        ok=peak < 300.0,
    )


def whole_process(arguments: str, limit_s: float, repeats: int = 7) -> Row:
    """Median time of a `specdec` command from start to exit, disk cache warm."""
    required = f"< {limit_s:g} s"
    what = f"`specdec {arguments}`, the whole process"
    program = shutil.which("specdec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}")
    if program is None or subprocess.run([program, "--help"], capture_output=True).returncode:  # noqa: PLW1510 — the code is the answer
        return Row(what=what, measured="not available", required=required, ok=None)
    command = [program, *arguments.split()]

    def once() -> None:
        subprocess.run(command, capture_output=True, check=True)

    seconds = interleaved({"command": once}, repeats)["command"]
    return Row(what=what, measured=f"{seconds:.2f} s", required=required, ok=seconds < limit_s)


def sliders() -> list[Row]:
    """From a key on a slider to the new number, in a real Chromium."""
    import app_latency  # noqa: PLC0415 — needs the browser extra

    return app_latency.rows()


def token_level() -> list[Row]:
    """Verification on probabilities and on logits."""
    import verification_speed  # noqa: PLC0415 — its own child imports it too

    rows = [verification_speed.from_probabilities(), verification_speed.memory()]
    return rows + verification_speed.from_logits()


def own_numbers() -> list[Row]:
    """Logs read, requests simulated and served, processes fitted, plans made, trees walked and searched."""
    import best_tree  # noqa: PLC0415 — like the others, only where it is run
    import fit_speed  # noqa: PLC0415
    import import_speed  # noqa: PLC0415
    import plan_speed  # noqa: PLC0415
    import requests_speed  # noqa: PLC0415
    import serving_speed  # noqa: PLC0415
    import tree_walk  # noqa: PLC0415

    rows = [*import_speed.rows(), requests_speed.whole_requests()]
    rows += [*fit_speed.rows(), *plan_speed.rows()]
    return [*rows, *tree_walk.rows(), *best_tree.rows(), *serving_speed.rows()]


def models() -> list[Row]:
    """Our loop on actual models beside transformers' own, and what the kept runs show."""
    import model_speed  # noqa: PLC0415 — needs the real extra
    import peers  # noqa: PLC0415

    rows = model_speed.plain_loops()
    for name in model_speed.SETTINGS:
        rows += model_speed.run_rows(name)
    return [*rows, *peers.rows()]


def measure_models() -> None:
    """Measure the kept runs afresh."""
    import model_speed  # noqa: PLC0415 — needs the real extra

    for name in model_speed.SETTINGS:
        model_speed.measure_again(name)


def report(rows: list[Row]) -> str:
    today = datetime.now(tz=UTC).date().isoformat()
    machine = f"{os.cpu_count()}-core {platform.machine()} {platform.system()}"
    python = platform.python_version()
    return "\n".join(
        [
            "| what | measured | required | ok |",
            "|---|---|---|---|",
            *map(str, rows),
            "",
            f"Measured on {today} with `python benchmarks/run.py` on a {machine},",
            f"Python {python}, NumPy {np.__version__}: medians of {REPEATS} interleaved repeats",
            "in one run (7 for commands, 15 for the slider, 5 to 41 where one takes long). Speedups and",
            "closures are of the measured runs in `real_runs/data/runs`, with 95 % intervals over prompts.",
            "",
        ]
    )


def write(table: str) -> None:
    """The table as a page, and between the markers of the README if it has them."""
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(f"# Benchmarks\n\n{table}", encoding="utf-8")
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    readme.write_text(inserted(text, table), encoding="utf-8")


def inserted(text: str, table: str) -> str:
    return BLOCK.sub(lambda found: f"{found[1]}{table}{found[2]}", text)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure what the README says of speed.")
    parser.add_argument("--write", action="store_true", help="update docs and README")
    parser.add_argument("--app", action="store_true", help="also time the app in a browser")
    parser.add_argument("--models", action="store_true", help="also actual models (real extra)")
    parser.add_argument("--measure", action="store_true", help="measure the kept runs afresh first")
    arguments = parser.parse_args()
    if arguments.measure:
        measure_models()
    rows = [
        *flipping(),
        counting(),
        memory(),
        whole_process("--help", 0.5),
        whole_process("simulate --p 0.7 --gamma 4 --rounds 200000 --seed 0", 1.5),
    ]
    if arguments.app:
        rows += sliders()
    rows += token_level() + own_numbers()
    if arguments.models:
        rows += models()
    table = report(rows)
    print(table)
    if arguments.write:
        write(table)
    return int(any(row.ok is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
