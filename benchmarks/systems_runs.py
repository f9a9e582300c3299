"""All systems on the same prompts and machine: the runs behind the table of the README.

    python benchmarks/systems_runs.py             prints the table of the kept runs
    python benchmarks/systems_runs.py --measure   measures them afresh, alone on the machine

Every run is one of `specdec measure`, with plain decoding of its own between the drafted requests.
The runs follow each other, and the machine's pace may change between them: compare speedups with the time per
token beside them. (Taking turns in threads of one process doubles the cost of passes over several tokens: each
thread has a team of workers of its own, which then sleep between the layers.)
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(__file__).parents[1] / "real_runs" / "data"
RUNS, SAMPLED_RUNS = DATA / "systems", DATA / "systems_t1"
THREADS = 2
TINY = ("--target", "tiny", "--prompts", "varied", "--max-tokens", "128")
COMMANDS: dict[str, tuple[str, ...]] = {
    "draft-model": (*TINY, "--drafter", "draft_model", "--gamma", "3,6"),
    "prompt-lookup": (*TINY, "--drafter", "prompt_lookup", "--gamma", "3,6"),
    "lookahead": (
        *TINY, "--drafter", "lookahead", "--window", "5", "--ngram", "4", "--candidates", "5",
        "--gamma", "2,3",
    ),
    "medusa": (*TINY, "--drafter", "medusa", "--tree", "nodes:16"),
    "eagle-chain": (*TINY, "--drafter", "eagle", "--gamma", "3,6"),
    "eagle-tree": (*TINY, "--drafter", "eagle", "--tree", "nodes:16", "--gamma", "3,6"),
    "eagle-dynamic": (*TINY, "--drafter", "eagle", "--tree", "dynamic:16:4", "--gamma", "3,6"),
}  # fmt: skip
SAMPLED = ("medusa", "eagle-chain", "eagle-tree")
"""Also at temperature 1."""


def commands() -> dict[Path, tuple[str, ...]]:
    """The arguments of every run by its folder."""
    warm = {SAMPLED_RUNS / name: (*COMMANDS[name], "--temperature", "1") for name in SAMPLED}
    return {RUNS / name: options for name, options in COMMANDS.items()} | warm


def measure_again(folder: Path) -> None:
    """Measure a run afresh and put it in the place of the old one."""
    program = [str(Path(sys.executable).with_name("specdec")), "measure"]
    with tempfile.TemporaryDirectory() as work:
        fresh = Path(work) / folder.name
        options = [*commands()[folder], "--threads", str(THREADS), "--out", str(fresh)]
        subprocess.run([*program, *options], check=True)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(fresh, folder, ignore=shutil.ignore_patterns("lock"))


def main() -> None:
    folders = [*commands()]
    if "--measure" in sys.argv[1:]:
        for folder in folders:
            measure_again(folder)
    report = [str(Path(sys.executable).with_name("specdec")), "report"]
    for runs in (RUNS, SAMPLED_RUNS):
        subprocess.run(
            [*report, *(str(folder) for folder in folders if folder.parent == runs)], check=True
        )


if __name__ == "__main__":
    main()
