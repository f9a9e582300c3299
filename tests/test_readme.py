"""Every `console` block of the README is run and prints what it says; every make target exists."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SESSIONS = re.findall(r"```console\n\$ (.*?)\n(.*?)```", README, flags=re.DOTALL)
LOCAL_LINKS = re.findall(r"(?:\]\(|src=\"|srcset=\")(?!http|#)([^)\"]+)", README)
COMMANDS = re.findall(r"^\| `specdec ([a-z-]+)` \|", README, flags=re.MULTILINE)


def run(command: str) -> str:
    """Both streams of a shell command, with `specdec` of this environment first on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(  # noqa: S602 — a README is read by shells
        command,
        shell=True,
        cwd=ROOT,
        env={**os.environ, "PATH": path, "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=True,
        timeout=120,
    )
    return result.stdout.decode()


def tidy(text: str) -> str:
    lines = text.replace("<BLANKLINE>", "").rstrip().splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def matches(expected: str, printed: str) -> bool:
    return doctest.OutputChecker().check_output(tidy(expected), tidy(printed), doctest.ELLIPSIS)


def test_there_are_sessions_and_commands():
    assert len(SESSIONS) >= 2
    assert len(COMMANDS) == 20


@pytest.mark.parametrize(("command", "expected"), SESSIONS, ids=[s[0].split()[0] for s in SESSIONS])
def test_session_prints_what_the_readme_says(command, expected):
    printed = run(command)

    assert matches(expected, printed), printed


def test_a_wrong_digit_would_be_noticed():
    command, expected = next(session for session in SESSIONS if "2.8013" in session[1])

    assert not matches(expected.replace("2.8013", "2.8014"), run(command))


@pytest.mark.parametrize("name", COMMANDS)
def test_command_of_the_table_exists(name):
    assert f"specdec {name}" in run(f"specdec {name} --help")


def test_make_targets_of_the_readme_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))

    assert set(re.findall(r"^make ([a-z-]+)", README, flags=re.MULTILINE)) <= targets


@pytest.mark.parametrize("link", LOCAL_LINKS)
def test_local_links_of_the_readme_exist(link):
    assert (ROOT / link).exists()
