"""How the app is served: its flags, and a server of one's own for tests, pictures and timings."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

STREAMLIT_FLAGS: tuple[str, ...] = (
    "--browser.gatherUsageStats=false",
    "--server.maxUploadSize=50",
    "--server.enableXsrfProtection=true",
    "--server.enableCORS=true",
    "--client.showErrorDetails=type",
    "--client.toolbarMode=minimal",
    "--global.disableWidgetStateDuplicationWarning=true",
    '--theme.headingFontSizes=["2.75rem", "1.75rem", "1.5rem"]',
    "--theme.light.textColor=#101214",
    "--theme.light.primaryColor=#0072B2",
    "--theme.light.greenColor=#00795A",
    "--theme.light.redColor=#C24E00",
    "--theme.light.orangeColor=#8F6200",
    "--theme.light.blueColor=#0072B2",
    "--theme.dark.backgroundColor=#050506",
    "--theme.dark.primaryColor=#1F7BC0",
    "--theme.dark.greenColor=#3FC79A",
    "--theme.dark.redColor=#F08A4B",
    "--theme.dark.orangeColor=#E69F00",
    "--theme.dark.blueColor=#56B4E9",
)
"""The settings of .streamlit/config.toml as flags of `streamlit run`: it is found from one directory only."""

SCRIPT = Path(__file__).with_name("_run.py")
_PATIENCE_S = 60.0


def command(port: int, *flags: str, script: Path = SCRIPT) -> list[str]:
    """The command line that serves the app on a port."""
    return [
        *(sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={port}"),
        *STREAMLIT_FLAGS,
        *flags,
    ]


@contextmanager
def running_app(script: Path = SCRIPT) -> Iterator[str]:
    """Serve the app on a free port of this machine; yields its address and ends the server after."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    flags = (
        "--server.headless=true",
        "--server.address=127.0.0.1",
        "--server.fileWatcherType=none",
    )
    server = subprocess.Popen(  # noqa: S603 — our own interpreter and script, no shell
        command(port, *flags, script=script), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_until_healthy(server, port)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=20)


def _wait_until_healthy(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2):
                return
        except (URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    raise RuntimeError(f"the app did not come up on port {port} within {_PATIENCE_S:.0f} s.")
