"""The command line as a user calls it: a process, its exit code and both streams."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SPECDEC = Path(sys.executable).parent / "specdec"


def specdec(*arguments: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[str]:
    """Run `specdec` and return its result with decoded streams."""
    result = subprocess.run(
        [str(SPECDEC), *arguments],
        input=stdin,
        stdin=None if stdin is not None else subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    return subprocess.CompletedProcess(
        result.args, result.returncode, result.stdout.decode(), result.stderr.decode()
    )
