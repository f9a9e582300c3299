"""All systems on the same prompts and machine: the runs behind the table of the README.

    python benchmarks/systems_runs.py             prints the table of the kept runs
    python benchmarks/systems_runs.py --measure   measures them afresh, alone on the machine

Every run is one of `specdec measure`, with plain decoding of its own between the drafted requests. The kept
runs were made one after the other; measured afresh they take turns request by request (`taking_turns.py`),
greedy ones and those at temperature 1 each among themselves, so that speedups and times can be compared.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from taking_turns import take_turns

DATA = Path(__file__).parents[1] / "real_runs" / "data"
RUNS, SAMPLED_RUNS = DATA / "systems", DATA / "systems_t1"
OWN = ("--threads", "2")
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


def measure_again(folders: Sequence[Path]) -> None:
    """Measure runs afresh, in turns, and put them in the place of the old ones."""
    with tempfile.TemporaryDirectory() as work:
        fresh = {folder: Path(work) / folder.name for folder in folders}
        take_turns(
            [("measure", *commands()[f], *OWN, "--out", str(out)) for f, out in fresh.items()]
        )
        for folder, out in fresh.items():
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(out, folder, ignore=shutil.ignore_patterns("lock"))


def main() -> None:
    report = [str(Path(sys.executable).with_name("specdec")), "report"]
    for runs in (RUNS, SAMPLED_RUNS):
        folders = [folder for folder in commands() if folder.parent == runs]
        if "--measure" in sys.argv[1:]:
            measure_again(folders)
        subprocess.run([*report, *map(str, folders)], check=True)


if __name__ == "__main__":
    main()
