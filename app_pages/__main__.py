"""`python -m app_pages`: the app with its own settings, from any working directory."""

from __future__ import annotations

import argparse
import os
import sys

from app_pages.server import command


def main() -> None:
    """Hand the process over to Streamlit."""
    parser = argparse.ArgumentParser(prog="python -m app_pages", description=__doc__)
    parser.add_argument("--port", type=int, default=8501, help="port of the app on this machine")
    parser.add_argument(
        "--address",
        default="127.0.0.1",
        help="address to listen on; 0.0.0.0 lets other machines in",
    )
    arguments = parser.parse_args()
    address = f"--server.address={arguments.address}"
    os.execv(sys.executable, command(arguments.port, address))  # noqa: S606 — no shell


if __name__ == "__main__":
    main()
