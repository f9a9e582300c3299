"""Capturing from a running server: what one question may cost, and what an answer may do."""

from __future__ import annotations

import json
import socket
import threading

import pytest
from captured import ask
from stand_in_server import (
    stand_in,
)

from real_runs.capture.addresses import check_server
from real_runs.capture.errors import CaptureError
from real_runs.capture.fetching import MOST_BYTES, fetch, rows
from real_runs.capture.snapshots import metrics_of, take_snapshot


def test_nothing_listens():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
        with pytest.raises(CaptureError, match="nothing listens there"):
            fetch(metrics_of(url))


def test_a_redirect_is_not_followed():
    with stand_in("vllm") as server:
        server.fixed["/metrics"] = (302, "text/plain", b"/elsewhere")
        server.fixed["/elsewhere"] = (200, "text/plain", server.exposition().encode())
        with pytest.raises(CaptureError, match=r"redirects elsewhere \(302\)"):
            take_snapshot(metrics_of(server.url))


def test_an_answer_beyond_the_bound_is_left():
    with stand_in("vllm") as server:
        row = b"vllm:spec_decode_num_drafts_total 1\n"
        server.fixed["/metrics"] = (200, "text/plain", row * (MOST_BYTES // len(row) + 1))
        with pytest.raises(CaptureError, match="larger than 32 MiB"):
            fetch(metrics_of(server.url))


@pytest.mark.parametrize(("tokens", "allowed"), [(1, False), (15, False), (17, True)])
def test_a_streamed_answer_is_no_larger_than_its_tokens_allow(tokens, allowed):
    row = b'data: {"id": "r", "choices": [{"index": 0, "delta": {"content": "words"}}]}\n\n'
    with stand_in("vllm") as server:
        stream = row * ((128 << 10) // len(row))  # 64 KiB, and 4 KiB for each of 16 tokens
        server.fixed["/v1/chat/completions"] = (200, "text/event-stream", stream)
        if allowed:
            assert ask(server, max_tokens=tokens).answers
            return
        problem = f"the answer is larger than {64 + 4 * tokens} KiB$"
        with pytest.raises(CaptureError, match=problem.replace("$", r"\b")):
            ask(server, max_tokens=tokens)


def test_a_server_that_hangs_is_left():
    with stand_in("vllm") as server:
        server.stalled.add("/metrics")
        with pytest.raises(CaptureError, match=r"no whole answer came within 0\.1 s"):
            fetch(metrics_of(server.url), timeout_s=0.1)


def raw_server(*parts):
    """A server that sends these bytes to its first caller, as slowly as `None` between them says."""
    listening = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()

    def serve():
        with listening, listening.accept()[0] as caller:
            caller.recv(1 << 16)
            for part in parts:
                if part is None:
                    done.wait(5)
                    return
                try:
                    caller.sendall(part)
                except OSError:
                    return
                done.wait(0.02)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}", thread, done


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ((b"SSH-2.0-OpenSSH_9\r\n",), "does not speak HTTP"),
        ((b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nvllm",), "broke off"),
        ((b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nvl",), "broke off"),
        ((b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",), "HTTP|broke off"),
        ((b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nx",), "packed"),
        ((b"HTTP/1.1 200 OK\r\nX: " + b"y" * (1 << 17),), "does not speak HTTP"),
        ((), "does not speak HTTP|failed"),
        # never silent for long, and never ready
        ((b"HTTP/1.1 200 OK\r\n", *[b"X"] * 60), "within 0.3 s"),
        ((b"HTTP/1.1 200 OK\r\n\r\n", *[b"X"] * 60), "within 0.3 s"),
        ((b"HTTP/1.1 200 OK\r\n\r\n", None), "within 0.3 s"),
    ],
)
def test_an_answer_that_is_broken_or_slow_gives_one_sentence(parts, problem):
    url, thread, done = raw_server(*parts)
    try:
        with pytest.raises(CaptureError, match=problem) as raised:
            fetch(metrics_of(url), timeout_s=0.3)
    finally:
        done.set()
        thread.join(5)
    assert "\n" not in str(raised.value)


def test_what_a_server_says_of_its_error_is_shown_short():
    with stand_in("vllm") as server:
        data = json.dumps({"error": {"message": "out of\n memory " * 99}}).encode()
        server.fixed["/metrics"] = (503, "application/json", data)
        with pytest.raises(CaptureError, match="status 503: out of memory") as raised:
            fetch(metrics_of(server.url))
    assert len(str(raised.value)) < 300


ESCAPES = "\x1b]0;taken\x07\x9b31m\u202e"


def test_an_error_shows_no_code_that_a_terminal_obeys():
    url, thread, done = raw_server(b"HTTP/1.1 200 OK\r\nContent-Encoding: \x1b]0;x\x07\r\n\r\nx")
    with pytest.raises(CaptureError, match="packed") as header:
        fetch(metrics_of(url))
    done.set()
    thread.join(5)
    with stand_in("vllm") as server:
        data = json.dumps({"error": {"message": f"no {ESCAPES}"}}).encode()
        server.fixed["/v1/chat/completions"] = (200, "application/json", data)
        with pytest.raises(CaptureError, match="it failed at a request: no ") as message:
            ask(server)

    assert str(header.value).isprintable()
    assert str(message.value).isprintable()


def test_names_that_a_server_gives_are_cleaned_where_they_come_in():
    with stand_in("vllm") as server:
        row = f'vllm:spec_decode_num_drafts_total{{model_name="{ESCAPES}"}} 3\r\n'
        server.fixed["/metrics"] = (200, "text/plain", row.encode())
        (line, end) = fetch(metrics_of(server.url)).split("\r\n")
        body = {"id": ESCAPES, "model": ESCAPES, "usage": {ESCAPES: ESCAPES}}
        server.fixed["/v1/chat/completions"] = (200, "application/json", json.dumps(body).encode())
        told = ask(server)

    assert line.isprintable()
    assert line.startswith(
        'vllm:spec_decode_num_drafts_total{model_name="\N{REPLACEMENT CHARACTER}]0'
    )
    assert end == ""
    row = json.loads(told.answers[0].row)
    assert row["id"] == row["model"]
    assert (row["id"] + "".join(row["usage"])).isprintable()


@pytest.mark.parametrize("size", [1, 2, 3, 99])
def test_rows_are_the_same_however_they_arrive(size):
    text = b"one\r\n\ntwo\r\nthr\ree\nfour"

    class Response:
        length = None
        parts = iter([text[at : at + size] for at in range(0, len(text), size)])

        def read1(self, _):
            return next(self.parts, b"")

    server = check_server("http://127.0.0.1")
    assert list(rows(Response(), server)) == [b"one", b"", b"two", b"thr\ree", b"four"]


def test_a_server_that_wants_a_key_is_told_apart():
    with stand_in("vllm") as server:
        server.fixed["/metrics"] = (401, "application/json", b"{}")
        with pytest.raises(CaptureError, match=r"asks for a key \(401\)"):
            fetch(metrics_of(server.url))


def test_a_server_without_tls_is_told_apart():
    with (
        stand_in("vllm") as server,
        pytest.raises(CaptureError, match="no safe connection is possible"),
    ):
        fetch(metrics_of(server.url.replace("http:", "https:")))


def test_no_proxy_of_the_environment_is_used(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with stand_in("vllm") as server:
        assert fetch(metrics_of(server.url))
