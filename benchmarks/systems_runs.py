"""All systems on the same prompts and machine: the runs behind the table of the README.

    python benchmarks/systems_runs.py             prints the table of the kept runs
    python benchmarks/systems_runs.py --measure   measures them afresh, alone on the machine

Every run is one of `specdec measure`, with plain decoding of its own between the drafted requests.
They take turns, one request each, so that a slow minute of the machine hits all of them alike.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from analysis.cli import app
from real_runs import bench

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


class Turns:
    """A baton that threads hand on in a circle; only who has it may work."""

    def __init__(self, count: int) -> None:
        self._changed = threading.Condition()
        self._waiting = list(range(count))  # in the order of their turns

    def wait(self, number: int) -> None:
        """Sleep until it is one's turn."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting[0] == number)

    def hand_on(self, number: int) -> None:
        """Give the baton to the next and sleep until it comes round."""
        with self._changed:
            self._waiting.append(self._waiting.pop(0))
            self._changed.notify_all()
        self.wait(number)

    def leave(self) -> None:
        """Give the baton away for good."""
        with self._changed:
            self._waiting.pop(0)
            self._changed.notify_all()


def measure_together(folders: list[Path], work: Path, extra: tuple[str, ...] = ()) -> None:
    """Measure the runs of some folders into `work`, a request of each in turn.

    A run reports its progress behind every request, between two clocks; there it hands on.
    """
    turns = Turns(len(folders))
    measure_models: Callable[..., Any] = bench.measure_models
    numbers = {threading.get_ident(): -1}

    def in_turn(*arguments: Any, progress: Callable[[float], None], **options: Any) -> Any:
        number = numbers[threading.get_ident()]

        def report(share: float) -> None:
            progress(share)
            turns.hand_on(number)

        told = ("measure", *commands()[folders[number]])
        return measure_models(*arguments, **(options | {"argv": told}), progress=report)

    failed: list[str] = []

    def run(number: int) -> None:
        numbers[threading.get_ident()] = number
        turns.wait(number)
        folder = folders[number]
        out = work / folder.parent.name / folder.name
        out.parent.mkdir(exist_ok=True)
        options = [*commands()[folder], *extra, "--threads", str(THREADS), "--out", str(out)]
        try:
            code = typer.main.get_command(app).main(["measure", *options], standalone_mode=False)
            if code:
                failed.append(folder.name)
        except BaseException as error:  # noqa: BLE001 — the others must not wait for ever
            failed.append(f"{folder.name}: {error!r}")
        finally:
            turns.leave()

    bench.measure_models = in_turn  # type: ignore[assignment]
    try:
        threads = [threading.Thread(target=run, args=(n,)) for n in range(len(folders))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        bench.measure_models = measure_models
    if failed:
        raise SystemExit(f"not measured: {'; '.join(failed)}")


def measure_again(folders: list[Path]) -> None:
    """Measure runs afresh and put them in the place of the old ones."""
    with tempfile.TemporaryDirectory() as work:
        measure_together(folders, Path(work))
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
            fresh = Path(work) / folder.parent.name / folder.name
            shutil.copytree(fresh, folder, ignore=shutil.ignore_patterns("lock"))


def main() -> None:
    folders = [*commands()]
    if "--measure" in sys.argv[1:]:
        measure_again(folders)
    report = [str(Path(sys.executable).with_name("specdec")), "report"]
    for runs in (RUNS, SAMPLED_RUNS):
        subprocess.run(
            [*report, *(str(folder) for folder in folders if folder.parent == runs)], check=True
        )


if __name__ == "__main__":
    main()
