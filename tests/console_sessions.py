"""What pages show of a terminal: the commands in their `console` blocks, run, and what they print."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
FENCE = re.compile(
    r"^(?P<indent> *)(?P<ticks>`{3,})(?P<kind>\S*)[^\n]*\n(?P<body>.*?)^(?P=indent)(?P=ticks)`* *$",
    flags=re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block of a page: its word behind the fence, its text, and the line it begins on."""

    kind: str
    text: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One command of a `console` block and what the page says that it prints."""

    command: str
    expected: str
    line: int

    @property
    def name(self) -> str:
        return f"{self.line}: {' '.join(self.command.split()[:3])}"


def blocks(text: str) -> list[Block]:
    """All fenced blocks of a page, those in lists without their indent."""
    return [
        Block(
            kind=found["kind"],
            text=re.sub(rf"^{found['indent']}", "", found["body"], flags=re.MULTILINE),
            line=text.count("\n", 0, found.start()) + 1,
        )
        for found in FENCE.finditer(text)
    ]


def sessions(text: str) -> list[Session]:
    """The commands of all `console` blocks in order; one that ends in a backslash goes on below."""
    found = []
    for block in blocks(text):
        if block.kind != "console":
            continue
        for part in re.split(r"^(?=\$ )", block.text, flags=re.MULTILINE):
            if not part.startswith("$ "):
                assert not part.strip(), f"line {block.line}: printed before any command: {part!r}"
                continue
            command = re.match(r"(?:[^\n]*\\\n)*[^\n]*", part)[0]
            expected = part[len(command) :].removeprefix("\n")
            found.append(Session(command=command[2:], expected=expected, line=block.line))
    return found


def lend_checkout(folder: Path) -> Path:
    """A folder that has what the checkout has, so that what a command writes beside it is thrown away."""
    for path in ROOT.iterdir():
        if not path.name.startswith("."):
            (folder / path.name).symlink_to(path)
    return folder


def run(command: str, folder: Path = ROOT) -> str:
    """Both streams of a shell command, with `specdec` of this environment first on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(  # noqa: S602 — a page is read by shells
        command,
        shell=True,
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=False,
    )
    printed = result.stdout.decode()
    assert result.returncode in {0, 1}, printed  # 1: a check that says no, as a page may show
    return printed


def matches(expected: str, printed: str) -> bool:
    """Whether it is what the page says; `...` stands for anything."""
    return doctest.OutputChecker().check_output(_tidy(expected), _tidy(printed), doctest.ELLIPSIS)


def _tidy(text: str) -> str:
    lines = text.replace("<BLANKLINE>", "").rstrip().splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"
