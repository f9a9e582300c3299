"""The same measurement on an accelerator, in one go: `python benchmarks/gpu.py`.

    python benchmarks/gpu.py --device cpu --max-tokens 16 --dtypes float32     a trial without one

Measures the tiny pair, and any other pair given, in each precision; writes run folders, checks them
and prints what `specdec report` says. A folder that is there already is continued.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

PAIRS = (("tiny", ("--drafter", "draft_model")), ("tiny", ("--drafter", "prompt_lookup")))


def specdec(*arguments: str) -> int:
    """The command line in this Python; its exit code."""
    print("$ specdec", *arguments, flush=True)
    program = [sys.executable, "-c", "from analysis.cli import main; main()"]
    return subprocess.run([*program, *arguments], check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure on an accelerator.")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--dtypes", default="float32,bfloat16")
    parser.add_argument("--gammas", default="1,2,4,8")
    parser.add_argument("--max-tokens", default="128")
    parser.add_argument("--out", type=Path, default=Path("runs"))
    parser.add_argument("--target", help="another target, with --draft")
    parser.add_argument("--draft")
    parser.add_argument("--prompts", default="bundled")
    arguments = parser.parse_args()
    pairs = list(PAIRS)
    if arguments.target and arguments.draft:
        pairs.append((arguments.target, ("--draft", arguments.draft)))
    folders, failed = [], 0
    for target, drafter in pairs:
        for dtype in arguments.dtypes.split(","):
            name = f"{Path(target).name}-{Path(drafter[1]).name}-{arguments.device}-{dtype}"
            folder = str(arguments.out / name)
            options = ("--device", arguments.device, "--dtype", dtype, "--gamma", arguments.gammas)
            limits = ("--max-tokens", arguments.max_tokens, "--prompts", arguments.prompts)
            resume = ("--resume",) if Path(folder).exists() else ()
            command = ("measure", "--target", target, *drafter, *options, *limits, "--out", folder)
            # A greedy text may differ in half precision: the run is kept, and says so.
            failed |= specdec(*command, *resume) not in (0, 1)
            failed |= specdec("verify-run", folder) not in (0, 1)
            folders.append(folder)
    return int(failed or specdec("report", *folders) != 0)


if __name__ == "__main__":
    sys.exit(main())
