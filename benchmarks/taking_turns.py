"""Runs of `specdec measure` that take turns: one request of one, one of the next, and so on.

Each is a process of its own with its own threads, and waits for its turn behind every request, so that what
the machine's pace does meets all runs alike. Within one process, threads would have to share or to duplicate
the workers of torch: duplicated, passes over several tokens took twice as long.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.synchronize import Condition
from unittest import mock

REST_S = 0.25
"""Between two turns: workers of a thread pool go on looking for work for a while."""


class Turns:
    """Whose turn it is among several processes; those that ended are passed over."""

    def __init__(self, context: multiprocessing.context.SpawnContext, players: int) -> None:
        self._changed: Condition = context.Condition()
        self._turn = context.Value("i", 0, lock=False)
        self._over = context.Array("b", players, lock=False)

    def wait(self, player: int) -> None:
        """Return when it is this player's turn."""
        with self._changed:
            self._changed.wait_for(lambda: self._turn.value == player)

    def end(self, player: int, *, over: bool = False) -> None:
        """Give the turn to the next that has not ended; with `over` this one plays no more."""
        time.sleep(REST_S)
        with self._changed:
            self._over[player] = over
            others = len(self._over)
            following = ((player + step) % others for step in range(1, others + 1))
            self._turn.value = next((i for i in following if not self._over[i]), -1)
            self._changed.notify_all()


def take_turns(commands: Sequence[Sequence[str]]) -> None:
    """Run every command line of `specdec` in turns. Raises RuntimeError if one of them failed."""
    context = multiprocessing.get_context("spawn")
    turns = Turns(context, len(commands))
    runs = [
        context.Process(target=_run, args=(turns, player, tuple(arguments)))
        for player, arguments in enumerate(commands)
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    failed = [" ".join(c) for c, run in zip(commands, runs, strict=True) if run.exitcode]
    if failed:
        raise RuntimeError(f"failed: {'; '.join(failed)}")


def _run(turns: Turns, player: int, arguments: tuple[str, ...]) -> None:
    """One command line, from loading its models on only in its turns."""
    turns.wait(player)
    try:
        from analysis import cli_measure  # noqa: PLC0415 — loading is part of the turn
        from analysis.cli import main  # noqa: PLC0415

        @contextmanager
        def in_turns(_: str) -> Iterator[Callable[[float], None]]:
            def after_a_request(share: float) -> None:
                if share < 1.0:
                    turns.end(player)
                    turns.wait(player)

            yield after_a_request

        with (
            mock.patch.object(cli_measure, "shown_progress", in_turns),
            mock.patch.object(sys, "argv", ["specdec", *arguments]),
        ):
            main()
    finally:
        turns.end(player, over=True)
