"""Capturing from a running server: whom it may ask."""

from __future__ import annotations

import socket

import pytest
from captured import difference, requests_meanwhile
from stand_in_server import (
    ROUNDS,
    stand_in,
)

from real_runs.capture.addresses import check_server
from real_runs.capture.errors import CaptureError
from real_runs.capture.snapshots import take_snapshots


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000",
        "http://127.8.9.1:8000",
        "http://[::1]:8000",
        "http://[::ffff:127.0.0.1]",
        "https://127.0.0.1",
        "http://2130706433:8000",  # 127.0.0.1 as one number, as systems read it
        "http://0x7f.1:8000",
    ],
)
def test_this_computer_is_allowed_however_it_is_written(url):
    assert check_server(url).addresses


@pytest.mark.parametrize(
    "url",
    [
        "http://192.0.2.1:8000",
        "http://3221225985:8000",  # 192.0.2.1 as one number
        "http://[2001:db8::1]:8000",
        "http://[::ffff:192.0.2.1]:8000",
        "http://169.254.169.254/latest",
    ],
)
def test_another_computer_is_refused_unless_it_is_allowed(url):
    with pytest.raises(ValueError, match="must be on this computer"):
        check_server(url)

    assert check_server(url, allow_remote=True).addresses


@pytest.mark.parametrize("url", ["http://0.0.0.0:8000", "http://[::]:8000"])
def test_where_a_server_listens_is_not_where_it_is_asked(url):
    with pytest.raises(ValueError, match=r"where a server listens.*use 127\.0\.0\.1"):
        check_server(url)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://127.0.0.1",
        "http://",
        "http://:8000",
        "http://127.0.0.1:port",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:0",
        "http://127.0.0.1 evil:80",
        "http://127.0.0.1:80/a\r\nX: y",
        "http://127.0.0.1\\@192.0.2.1",
        "http://[::1",
        "http://127.0.0.1/" + "a" * 3000,
        "http://127.0.0.1/\u00e9",
    ],
)
def test_what_is_no_url_of_a_server_is_refused(url):
    with pytest.raises(ValueError, match=r"must be a URL such as http://127\.0\.0\.1:8000"):
        check_server(url)


def test_names_of_users_are_refused():
    with pytest.raises(ValueError, match="no user name"):
        check_server("http://127.0.0.1@192.0.2.1:80")


def resolver(answers):
    """A getaddrinfo that knows some names; numbers it reads like the system's."""
    actual = socket.getaddrinfo

    def look_up(host, port, *rest, **options):
        if host not in answers:
            return actual(host, port, *rest, **options)
        found = answers[host].pop(0)
        return [entry for number in found for entry in actual(number, port, *rest, **options)]

    return look_up


def test_a_name_must_mean_this_computer_with_all_its_addresses(monkeypatch):
    names = {
        "localhost.evil.example": [["192.0.2.1"]],
        "both.example": [["127.0.0.1", "192.0.2.1"]],
        "here.example": [["127.0.0.1", "::1"]],
    }
    monkeypatch.setattr(socket, "getaddrinfo", resolver(names))

    for name in ("localhost.evil.example", "both.example"):
        with pytest.raises(ValueError, match=rf"{name} is 192\.0\.2\.1"):
            check_server(f"http://{name}:8000")
    assert check_server("http://here.example:8000").addresses == ("127.0.0.1", "::1")


def test_a_name_that_changes_its_address_leads_to_the_one_that_was_checked(monkeypatch):
    with stand_in("vllm") as server:
        monkeypatch.setattr(
            socket, "getaddrinfo", resolver({"rebinding.example": [["127.0.0.1"], ["192.0.2.1"]]})
        )
        url = server.url.replace("127.0.0.1", "rebinding.example")

        taken = take_snapshots(url, 0.1, sleep=requests_meanwhile(server, 1))

    assert difference(taken).counts.rounds == ROUNDS


def test_a_name_that_nobody_knows(monkeypatch):
    def unknown(*_, **__):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(CaptureError, match=r"no address is known for the name 'nowhere\.example'"):
        check_server("http://nowhere.example")
