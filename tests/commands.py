"""The command line as a user calls it: exit code and both streams."""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from analysis.cli import main

SPECDEC = Path(sys.executable).parent / "specdec"


def specdec(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    """Run `specdec` in this process, from its entry point, and return what it did."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["specdec", *arguments]),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin))),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code
    return subprocess.CompletedProcess(
        ["specdec", *arguments], code, out.getvalue(), err.getvalue()
    )


def specdec_process(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command as a process of its own."""
    result = subprocess.run(
        [str(SPECDEC), *arguments], capture_output=True, check=False, timeout=60
    )
    return subprocess.CompletedProcess(
        result.args, result.returncode, result.stdout.decode(), result.stderr.decode()
    )
