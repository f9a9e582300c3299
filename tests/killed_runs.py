"""A process that is killed at a chosen call to the system, and another that is killed from outside.

    python killed_runs.py each FOLDER    forks a run per moment, each killed there, then continued
    python killed_runs.py slow FOLDER    a run that takes its time

Not a test module: test_run_killed.py starts it, so that the forks have no threads beside them.
"""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from toy_runs import SETTINGS, measure_toys

from real_runs.runs.errors import RunFolderError
from real_runs.runs.folder import open_run  # noqa: F401 - loaded before the forks
from real_runs.runs.reading import read_run
from real_runs.runs.verify import verify_run

SHORT = replace(SETTINGS, max_tokens=4)
CALLS = ("write", "fsync", "replace", "open", "close", "truncate")


class Countdown:
    """Kills this process at the n-th call that may change the folder.

    With a share it counts writes only, and kills when that share of the line is written.
    """

    def __init__(self, calls: int, share: float) -> None:
        self.left, self.share = calls, share

    def watch(self) -> None:
        for name in CALLS if self.share == 0.0 else ("write",):
            setattr(os, name, self.counted(getattr(os, name)))
        if self.share == 0.0:
            Path.replace = self.counted(Path.replace)

    def counted(self, call):
        def counting(*arguments, **options):
            self.left -= 1
            if self.left == 0:
                if self.share:
                    handle, data = arguments
                    call(handle, bytes(data)[: int(self.share * len(data))])
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **options)

        return counting


def run_in_child(folder: Path, *, calls: int = 0, share: float = 0.0) -> int:
    """The status of a forked process that begins or continues a run; killed at a call unless 0."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    try:
        os.fsync = lambda _: None  # only a power cut makes a difference to it
        if calls:
            Countdown(calls, share).watch()
        measure_toys(folder, settings=SHORT, resume=True)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent must hear of it
        print(f"{type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201
        os._exit(1)
    os._exit(0)


def each(folder: Path) -> None:
    """Kill at every moment, continue, verify; print the moments and what is left."""
    unbroken = [record.tokens for record in measure_toys(folder / "whole", settings=SHORT).records]
    moments = broken = 0
    for share in (0.0, 0.5, 1.0):
        calls = 1
        while True:
            run = folder / f"{share}-{calls}"
            status = run_in_child(run, calls=calls, share=share)
            if status == 0:
                break
            assert os.WIFSIGNALED(status), status
            assert os.WTERMSIG(status) == signal.SIGKILL
            moments += 1
            committed = kept(run)
            # And once more while it is being repaired.
            again = run_in_child(run, calls=1 + calls % 9, share=share)
            assert again == 0 or os.WIFSIGNALED(again), again
            assert kept(run)[: len(committed)] == committed
            assert run_in_child(run) == 0
            assert kept(run)[: len(committed)] == committed
            result = verify_run(run)
            assert result.passed, result.findings
            assert [record.tokens for record in read_run(run).records] == unbroken
            broken += 0 < len(committed) < len(unbroken)
            calls += 1
    print(moments, broken)  # noqa: T201


def kept(run: Path) -> list[object]:
    """The requests that are committed, with their times."""
    try:
        return list(read_run(run).records)
    except RunFolderError:
        return []


def slow(folder: Path) -> None:
    """A run of many requests, some ten milliseconds each."""
    measure_toys(folder, settings=replace(SETTINGS, repeats=12), pause_s=0.002, resume=True)


if __name__ == "__main__":
    {"each": each, "slow": slow}[sys.argv[1]](Path(sys.argv[2]))
