"""Which server a URL means: this computer, unless another one is allowed by name."""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from real_runs.capture.errors import CaptureError

SCHEMES = ("http", "https")
_PORTS = {"http": 80, "https": 443}
_LONGEST_URL = 2000
_LONGEST_SHOWN = 80
_BARE = re.compile(
    r"(?:[\w.-]{1,253}|\[[0-9a-fA-F:.]{2,45}\]):[0-9]{1,5}(?:/.*)?|localhost(?:/.*)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server whose addresses were checked; `path` begins with a slash or is empty."""

    scheme: str
    host: str
    port: int
    path: str
    addresses: tuple[str, ...]

    @property
    def url(self) -> str:
        """The whole URL.

        >>> Server(scheme="http", host="::1", port=80, path="/metrics", addresses=("::1",)).url
        'http://[::1]:80/metrics'
        """
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"

    def at(self, path: str) -> Server:
        """The same server under another path."""
        return replace(self, path=path)


def is_url(source: str) -> bool:
    """Whether a source on the command line is a server and no file.

    >>> is_url("HTTP://127.0.0.1:8000"), is_url("server.log")
    (True, False)
    """
    return source.lower().startswith(tuple(f"{scheme}://" for scheme in SCHEMES))


def looks_like_server(source: str) -> bool:
    """Whether a source on the command line is a server written without its http://.

    >>> looks_like_server("127.0.0.1:8000"), looks_like_server("localhost:8000/v1")
    (True, True)
    >>> looks_like_server("server.log"), looks_like_server("http://127.0.0.1:8000")
    (False, False)
    """
    return not is_url(source) and _BARE.fullmatch(source[:_LONGEST_URL]) is not None


def check_server(url: str, *, allow_remote: bool = False) -> Server:
    """The server of a URL, once every address of its name is found to be this computer's.

    The name is looked up once, here: who connects takes one of `addresses`, so that a name which
    means another computer a moment later leads nowhere. Raises ValueError for what is no http or
    https URL, and for an address outside of this computer unless `allow_remote`; CaptureError for a
    name that nobody knows.

    >>> check_server("http://127.0.0.1:8000").addresses
    ('127.0.0.1',)
    """
    shown = f"{url[:_LONGEST_SHOWN]!r}"
    if len(url) > _LONGEST_URL or not (url.isascii() and url.isprintable()) or {" ", "\\"} & {*url}:
        raise ValueError(f"a server must be a URL such as http://127.0.0.1:8000; got {shown}.")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if parts.scheme not in SCHEMES or not host or port == 0:
        raise ValueError(f"a server must be a URL such as http://127.0.0.1:8000; got {shown}.")
    if parts.username is not None or parts.password is not None:
        raise ValueError("the URL of a server must hold no user name and no password.")
    port = _PORTS[parts.scheme] if port is None else port
    path = parts.path.rstrip("/") + (f"?{parts.query}" if parts.query else "")
    addresses = _addresses_of(host, port, url)
    if not allow_remote:
        for address in addresses:
            _check_local(host, address)
    return Server(scheme=parts.scheme, host=host, port=port, path=path, addresses=addresses)


def _addresses_of(host: str, port: int, url: str) -> tuple[str, ...]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise CaptureError(url, f"no address is known for the name {host[:60]!r}") from None
    return tuple(dict.fromkeys(str(each[4][0]) for each in found))


def _check_local(host: str, address: str) -> None:
    number = ipaddress.ip_address(address)
    mapped = getattr(number, "ipv4_mapped", None)
    number = number if mapped is None else mapped
    if number.is_loopback:
        return
    if number.is_unspecified:
        raise ValueError(
            f"{host[:60]} is where a server listens, not where one asks it: use 127.0.0.1."
        )
    raise ValueError(
        f"the server must be on this computer (127.0.0.1, ::1, localhost) unless --allow-remote is "
        f"given; {host[:60]} is {address}."
    )
