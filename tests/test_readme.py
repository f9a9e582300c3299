"""Every `console` block of the README is run and prints what it says; every make target exists."""

from __future__ import annotations

import re

import pytest
from console_sessions import ROOT, lend_checkout, matches, run, sessions

README = (ROOT / "README.md").read_text(encoding="utf-8")
SESSIONS = sessions(README)
LOCAL_LINKS = re.findall(r"(?:\]\(|src=\"|srcset=\")(?!http|#)([^)\"]+)", README)
COMMANDS = re.findall(r"^\| `specdec ([a-z-]+)` \|", README, flags=re.MULTILINE)


def test_there_are_sessions_and_commands():
    assert len(SESSIONS) >= 11
    assert len(COMMANDS) == 21


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.name)
def test_session_prints_what_the_readme_says(session, tmp_path):
    printed = run(session.command, lend_checkout(tmp_path))

    assert matches(session.expected, printed), printed


def test_a_wrong_digit_would_be_noticed():
    session = next(session for session in SESSIONS if "2.8013" in session.expected)

    assert not matches(session.expected.replace("2.8013", "2.8014"), run(session.command))


@pytest.mark.parametrize("name", COMMANDS)
def test_command_of_the_table_exists(name):
    assert f"specdec {name}" in run(f"specdec {name} --help")


def test_make_targets_of_the_readme_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))

    assert set(re.findall(r"^make ([a-z-]+)", README, flags=re.MULTILINE)) <= targets


@pytest.mark.parametrize("link", LOCAL_LINKS)
def test_local_links_of_the_readme_exist(link):
    assert (ROOT / link).exists()
