"""Speculative decoding on a GPU in eight minutes: what a pass costs, what a loop gains, until which batch.

    python benchmarks/gpu.py --out gpu.json      measures; needs a CUDA GPU, torch, numpy and this repository
    python benchmarks/gpu.py --table gpu.json    the same numbers as Markdown
    python benchmarks/gpu.py --small             tries the code on a CPU with tiny shapes, in seconds

Decoder stacks in real sizes (1B draft, 8B target, bfloat16) with random weights, so that nothing is
downloaded: T(n) and T(b, n), eager with a growing cache and as CUDA graphs with a static one, against
the time to move their bytes at the speed of a copy; draft–verify loops at forced acceptance against
the formula; the batch at which speculation stops paying. The file's fields are told in `gpu_records`.
"""

from __future__ import annotations

import argparse
import gc
import sys
from pathlib import Path

# Runs from a checkout that nobody installed.
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]


def arguments_of(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure speculative decoding on a GPU.")
    parser.add_argument("--out", type=Path, help="write the results to this JSON file")
    parser.add_argument("--table", type=Path, help="print a JSON file as Markdown and stop")
    parser.add_argument("--small", action="store_true", help="tiny shapes on the CPU, for trying")
    parser.add_argument("--minutes", type=float, default=8.0, help="time to spend; 8 if not given")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    if not 0.0 <= arguments.minutes <= 600.0:
        parser.error(f"--minutes must be a number in [0, 600]; got {arguments.minutes:g}.")
    if not 0 <= arguments.seed < 2**32:
        parser.error(f"--seed must be a whole number in [0, 2^32); got {arguments.seed}.")
    return arguments


def main(argv: list[str] | None = None) -> int:
    arguments = arguments_of(argv)
    import gpu_derived  # noqa: PLC0415 — behind the path above
    import gpu_records  # noqa: PLC0415
    import gpu_table  # noqa: PLC0415

    if arguments.table is not None:
        try:
            report = gpu_records.load_report(arguments.table)
            gpu_derived.check_report(report)
        except (OSError, ValueError) as error:
            print(error, file=sys.stderr)
            return 2
        print(gpu_table.markdown(report))
        return 0
    import gpu_settings  # noqa: PLC0415 — these need torch, which a table does not
    import gpu_stages  # noqa: PLC0415

    settings = gpu_settings.SMALL if arguments.small else gpu_settings.REAL
    if not gpu_stages.has_device(settings):
        print("A CUDA GPU is needed; `--small` tries the code on a CPU.", file=sys.stderr)
        return 2
    gc.freeze()  # what was imported is no garbage: every look for some else takes a tenth of a second
    report = gpu_stages.measure(
        settings, minutes=arguments.minutes, seed=arguments.seed, out=arguments.out
    )
    print(gpu_table.markdown(report))
    failed = any(entry.status.startswith("failed") for entry in report.stages + report.passes)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
