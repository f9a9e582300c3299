"""One question to a server, within bounds: no proxy, no redirect, so many bytes, so much time."""

from __future__ import annotations

import http.client
import json
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from real_runs.capture.addresses import Server
from real_runs.capture.errors import CaptureError

MOST_BYTES = 32 << 20
LONGEST_ROW = 1 << 20
"""[bytes] of one row of a stream."""
TIMEOUT_S = 10.0
_PIECE = 1 << 16
_EXCERPT = 1 << 12
_LONGEST_SHOWN = 200
# What moves a cursor, or turns the direction of a line, where a terminal shows it: all but \t \n \r.
_UNSHOWN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")

Opened = Callable[[socket.socket], None]


class _Checked(http.client.HTTPConnection):
    """A connection to the addresses that were checked, whatever the name means now."""

    def __init__(self, server: Server, timeout_s: float) -> None:
        super().__init__(server.host, server.port, timeout=timeout_s)
        self._server = server
        self._timeout_s = timeout_s

    def connect(self) -> None:
        failure: OSError | None = None
        for address in self._server.addresses:
            try:
                self.sock = socket.create_connection(
                    (address, self._server.port), timeout=self._timeout_s
                )
                break
            except OSError as error:
                failure = error
        else:
            raise failure or OSError("no address")
        if self._server.scheme == "https":
            context = ssl.create_default_context()
            self.sock = context.wrap_socket(self.sock, server_hostname=self._server.host)


@contextmanager
def answered(
    server: Server,
    body: dict[str, object] | None = None,
    *,
    timeout_s: float = TIMEOUT_S,
    within_s: float | None = None,
    opened: Opened | None = None,
) -> Iterator[http.client.HTTPResponse]:
    """The answer to a GET, or with a `body` to a POST of JSON; read it with `pieces` or `rows`.

    `timeout_s` is how long the server may be silent, `within_s` (else the same) how long it may take
    in all. `opened` is given the socket, whose shutdown ends the exchange. Raises CaptureError in
    one sentence, also for what fails while the answer is read.
    """
    within_s = timeout_s if within_s is None else within_s
    connection = _Checked(server, timeout_s)
    late = threading.Event()
    timer: threading.Timer | None = None
    try:
        connection.connect()
        sock = connection.sock

        def end() -> None:
            late.set()
            shut(sock)

        timer = threading.Timer(within_s, end)
        timer.daemon = True
        timer.start()
        if opened is not None:
            opened(sock)
        _send(connection, server, body)
        with connection.getresponse() as response:
            _check_status(response, server)
            yield response
        if late.is_set():
            raise CaptureError(server.url, _too_long(within_s))
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, CaptureError) and not late.is_set():
            raise
        silent = timeout_s if isinstance(error, TimeoutError) else None
        seconds = within_s if late.is_set() else silent
        raise CaptureError(
            server.url, _reason(error) if seconds is None else _too_long(seconds)
        ) from None
    finally:
        if timer is not None:
            timer.cancel()
        connection.close()


def shut(sock: socket.socket) -> None:
    """End an exchange from another thread: who waits for it reads an end."""
    with suppress(OSError):
        socket.socket.shutdown(sock, socket.SHUT_RDWR)  # of TLS too, without its farewell


def fetch(server: Server, *, timeout_s: float = TIMEOUT_S) -> str:
    """The text that a server has under its path, without codes that a terminal would obey."""
    with answered(server, timeout_s=timeout_s) as response:
        text = b"".join(pieces(response, server)).decode("utf-8", "replace")
    return _UNSHOWN.sub("\N{REPLACEMENT CHARACTER}", text)


def pieces(
    response: http.client.HTTPResponse, server: Server, *, most: int = MOST_BYTES
) -> Iterator[bytes]:
    """The bytes of an answer as they come; CaptureError beyond `most` [bytes]."""
    total = 0
    while piece := response.read1(_PIECE):
        total += len(piece)
        if total > most:
            raise CaptureError(server.url, f"the answer is larger than {_size(most)}")
        yield piece
    if response.length:  # read1 takes an early end for the end
        raise CaptureError(server.url, "the answer broke off")


def rows(
    response: http.client.HTTPResponse, server: Server, *, most: int = MOST_BYTES
) -> Iterator[bytes]:
    """The rows of an answer as they come, without their ends.

    CaptureError for a row beyond 1 MiB, and for an answer beyond `most` [bytes].
    """
    rest = bytearray()
    for piece in pieces(response, server, most=most):
        *ends, last = piece.split(b"\n")
        for end in ends:
            rest += end
            _check_row(rest, server)
            yield bytes(rest).rstrip(b"\r")
            rest.clear()
        rest += last  # never copied whole: a server may send single bytes
        _check_row(rest, server)
    if rest:
        yield bytes(rest)


def _size(count: int) -> str:
    """A number of bytes in the unit that it is a whole number of."""
    return f"{count >> 10:,} KiB" if count % (1 << 20) else f"{count >> 20} MiB"


def _check_row(row: bytearray, server: Server) -> None:
    if len(row) > LONGEST_ROW:
        raise CaptureError(server.url, f"a row is longer than {LONGEST_ROW >> 20} MiB")


def _send(connection: _Checked, server: Server, body: dict[str, object] | None) -> None:
    headers = {"Accept-Encoding": "identity", "Connection": "close", "User-Agent": "specdec"}
    path = server.path if server.path.startswith("/") else f"/{server.path}"
    if body is None:
        connection.request("GET", path, headers=headers)
        return
    headers["Content-Type"] = "application/json"
    connection.request("POST", path, body=json.dumps(body).encode(), headers=headers)


def _check_status(response: http.client.HTTPResponse, server: Server) -> None:
    status = response.status
    if 200 <= status < 300:
        encoding = response.getheader("Content-Encoding", "identity")
        if encoding != "identity":
            raise CaptureError(server.url, f"the answer is packed ({encoding[:20]}) unasked")
        return
    if 300 <= status < 400:
        raise CaptureError(
            server.url, f"it redirects elsewhere ({status}), which is not followed", status=status
        )
    if status in {401, 403}:
        raise CaptureError(
            server.url, f"it asks for a key ({status}), and specdec sends none", status=status
        )
    said = response.read(_EXCERPT).decode("utf-8", "replace")
    raise CaptureError(server.url, f"it answers with status {status}{_said(said)}", status=status)


def _said(text: str) -> str:
    """What a server says of an error, if that can be shown in a sentence."""
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        for name in ("error", "message"):
            value = value.get(name, value) if isinstance(value, dict) else value
        text = value if isinstance(value, str) else ""
    text = " ".join(text.split())
    if not text or text.startswith("<") or not text.isprintable():
        return ""
    return f": {text[:_LONGEST_SHOWN]}"


def _too_long(seconds: float) -> str:
    return f"no whole answer came within {seconds:g} s"


def _reason(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there"
    if isinstance(error, ssl.SSLError):
        return f"no safe connection is possible ({error.reason or 'TLS'})"
    if isinstance(error, http.client.IncompleteRead):
        return "the answer broke off"
    if isinstance(error, http.client.HTTPException):
        return "what answers there does not speak HTTP"
    return f"the connection failed ({getattr(error, 'strerror', None) or type(error).__name__})"
