"""`python -m app_pages`: the app with its own settings, from any working directory."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from app_pages.server import STREAMLIT_FLAGS


def main() -> None:
    """Hand the process over to Streamlit."""
    parser = argparse.ArgumentParser(prog="python -m app_pages", description=__doc__)
    parser.add_argument("--port", type=int, default=8501, help="port of the app on this machine")
    arguments = parser.parse_args()
    script = str(Path(__file__).with_name("_run.py"))
    command = [sys.executable, "-m", "streamlit", "run", script]
    command += [f"--server.port={arguments.port}", *STREAMLIT_FLAGS]
    os.execv(sys.executable, command)  # noqa: S606 — our own interpreter and script, no shell


if __name__ == "__main__":
    main()
