"""Processes that measure take turns: nobody plays out of turn, and who has ended is passed over."""

import multiprocessing
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
import taking_turns
from taking_turns import Turns


@pytest.fixture(autouse=True)
def no_rest(monkeypatch):
    monkeypatch.setattr(taking_turns, "REST_S", 0.0)


def played(lengths):
    """The order in which players with that many turns each play."""
    turns, order = Turns(multiprocessing.get_context("spawn"), len(lengths)), []

    def play(player):
        for left in reversed(range(lengths[player])):
            turns.wait(player)
            order.append(player)
            turns.end(player, over=left == 0)

    players = [Thread(target=play, args=(player,), daemon=True) for player in range(len(lengths))]
    for player in players:
        player.start()
    for player in players:
        player.join(timeout=10)
    return order


@pytest.mark.parametrize(
    ("lengths", "order"),
    [((2, 2, 2), [0, 1, 2, 0, 1, 2]), ((1, 3), [0, 1, 1, 1]), ((3, 1, 2), [0, 1, 2, 0, 2, 0])],
)
def test_players_go_round(lengths, order):
    assert played(lengths) == order


def test_a_failed_run_is_named_and_the_others_go_on(tmp_path, two_texts):
    """In a process of its own: what is started anew begins with the script of this one."""
    good = ("measure", "--prompts", str(two_texts), "--max-tokens", "4", "--gamma", "1")
    out = tmp_path / "good"
    commands = [("measure", "--gamma", "0"), (*good, "--threads", "1", "--out", str(out))]
    program = f"from taking_turns import take_turns; take_turns({commands!r})"

    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(taking_turns.__file__).parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert "RuntimeError: failed: measure --gamma 0\n" in ended.stderr
    assert (out / "run.json").exists()
