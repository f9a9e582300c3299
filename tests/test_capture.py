"""Capturing from a running server: what is asked, what is read, and what is refused."""

from __future__ import annotations

import io
import json
import socket
import subprocess
import sys
import threading

import pytest
from stand_in_server import (
    ACCEPTED,
    DRAFTED,
    KEPT,
    PROMPT_TOKENS,
    ROUNDS,
    SGLANG,
    TOKENS,
    stand_in,
)

from real_runs.capture.addresses import check_server
from real_runs.capture.answers import Answer, decode_seconds
from real_runs.capture.errors import CaptureError
from real_runs.capture.fetching import MOST_BYTES, fetch, rows
from real_runs.capture.questions import Questions
from real_runs.capture.requests import Conversation, ask_server
from real_runs.capture.snapshots import metrics_of, take_snapshot, take_snapshots
from real_runs.capture.streams import facts_of
from real_runs.capture.times import percentiles
from real_runs.engines import MetricsFormatError, read_difference, read_log
from real_runs.prompts import Prompt

PROMPTS = tuple(Prompt(id=f"p{n}", prompt=f"say {n}") for n in range(5))


def requests_meanwhile(server, number):
    """A sleep in which so many requests are served."""

    def sleep(_seconds):
        server.requests += number

    return sleep


def difference(taken):
    (reading,) = read_difference(io.StringIO(taken.before), io.StringIO(taken.after))
    return reading


def ask(server, prompts=PROMPTS, path="", **options):
    return ask_server(f"{server.url}{path}", prompts, questions=Questions(**options))


def read(told):
    (reading,) = read_log(io.StringIO(told.text))
    return reading


# Counters of the whole server


@pytest.mark.parametrize("engine", ["vllm", "llama.cpp"])
def test_what_is_served_between_two_snapshots_is_counted_and_nothing_else(engine):
    with stand_in(engine) as server:
        taken = take_snapshots(server.url, 0.2, sleep=requests_meanwhile(server, 4))

    reading = difference(taken)
    assert (reading.engine, reading.counts.rounds) == (engine, 4 * ROUNDS)
    assert reading.counts.drafted == 4 * DRAFTED
    assert reading.counts.accepted == tuple(4 * kept for kept in KEPT)
    assert taken.counted
    assert not taken.interrupted
    assert taken.url.endswith("/metrics")


def test_gauges_of_sglang_have_no_difference_but_say_that_it_moved():
    with stand_in("sglang") as server:
        taken = take_snapshots(server.url, 0.2, sleep=requests_meanwhile(server, 1))

    assert not taken.counted
    (reading,) = read_log(io.StringIO(taken.after))
    assert (reading.engine, reading.printed[0].value) == ("sglang", 2.5)


@pytest.mark.parametrize("engine", ["vllm", "sglang", "llama.cpp"])
def test_counters_that_stand_still_say_that_nothing_was_served(engine):
    with (
        stand_in(engine) as server,
        pytest.raises(MetricsFormatError, match=r"did not move in 0\.2 s: no request was served"),
    ):
        take_snapshots(server.url, 0.2, sleep=lambda _: None)


def test_a_restart_in_between_counts_what_came_after_it_and_says_so():
    with stand_in("vllm") as server:

        def restart(_seconds):
            server.start_counts = 1

        taken = take_snapshots(server.url, 0.2, sleep=restart)

    reading = difference(taken)
    assert reading.counts.rounds == ROUNDS
    assert any("were reset between snapshots (a restart)" in note for note in reading.notes)


def test_an_interrupt_takes_the_second_snapshot_at_once():
    with stand_in("vllm") as server:
        calls = []

        def sleep(seconds):
            calls.append(seconds)
            server.requests += 1
            if len(calls) == 3:
                raise KeyboardInterrupt

        taken = take_snapshots(server.url, 3600.0, sleep=sleep)

    assert taken.interrupted
    assert taken.seconds < 60.0
    assert difference(taken).counts.rounds == 3 * ROUNDS


def test_the_wait_tells_how_far_it_is():
    shares = []
    with stand_in("vllm") as server:
        sleep = requests_meanwhile(server, 1)
        take_snapshots(server.url, 1.25, sleep=sleep, progress=shares.append)

    assert shares == pytest.approx([0.4, 0.8, 1.0])


@pytest.mark.parametrize("seconds", [0.0, -1.0, 86_401.0, float("nan")])
def test_a_wait_out_of_range_is_refused(seconds):
    with pytest.raises(ValueError, match=r"must be in \(0, 86400\]"):
        take_snapshots("http://127.0.0.1:1", seconds)


def test_a_server_without_metrics_says_which_flag_gives_them():
    with stand_in("llama.cpp") as server:
        server.metrics = False
        with pytest.raises(CaptureError, match=r"status 404.*llama-server with --metrics"):
            take_snapshot(metrics_of(server.url))


@pytest.mark.parametrize(
    ("kind", "data", "problem"),
    [
        ("text/html", b"<!doctype html><html>vllm:spec_decode_num_drafts 3</html>", "a web page"),
        ("text/plain", b"vllm:generation_tokens_total 3\n", "no counters of speculative"),
        ("text/plain", b"\x00\xff" * 999, "no counters of speculative"),
        ("text/plain", b"", "no counters of speculative"),
        # the comments of an exposition are no counters
        ("text/plain", b"# HELP vllm:spec_decode_num_drafts_total n\n", "no counters of spec"),
    ],
)
def test_an_answer_without_counters_says_what_it_is(kind, data, problem):
    with stand_in("vllm") as server:
        server.fixed["/metrics"] = (200, kind, data)
        with pytest.raises(MetricsFormatError, match=problem):
            take_snapshot(metrics_of(server.url))


def test_metrics_under_another_path_are_found_there():
    with stand_in("vllm") as server:
        server.fixed["/own/metrics"] = (200, "text/plain", server.exposition().encode())

        assert take_snapshot(metrics_of(f"{server.url}/own/metrics"))
        assert (
            metrics_of(f"{server.url}/v1").path == metrics_of(f"{server.url}/").path == "/metrics"
        )


# Bounds of one question


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


# Whom to ask


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


# What single requests say


@pytest.mark.parametrize("engine", ["vllm", "sglang", "llama.cpp"])
@pytest.mark.parametrize("concurrency", [1, 3])
def test_answers_are_counted_by_the_reader_of_their_engine(engine, concurrency):
    with stand_in(engine) as server:
        told = ask(server, concurrency=concurrency)

    reading = read(told)
    assert (reading.engine, reading.unit, len(reading.units)) == (engine, "request", len(PROMPTS))
    accepted = reading.observation.accepted
    assert (reading.counts.rounds, reading.counts.drafted) == (5 * ROUNDS, 5 * DRAFTED)
    assert accepted == 5 * ACCEPTED
    assert [answer.prompt for answer in told.answers] == [prompt.id for prompt in PROMPTS]
    assert all(answer.speculation for answer in told.answers)


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_the_time_of_the_rounds_is_what_was_measured_here(engine):
    with stand_in(engine) as server:
        told = ask(server)

    reading = read(told)
    measured = sum(answer.e2e_s - answer.ttft_s for answer in told.answers)
    assert reading.clock.decode_s == pytest.approx(measured, abs=1e-9)
    assert sum(unit.decode_s for unit in reading.units) == pytest.approx(measured, abs=1e-9)
    assert reading.units[0].name == "r-1"


def test_sglang_counts_tokens_in_the_usage_beside_its_details():
    with stand_in("sglang") as server:
        reading = read(ask(server))

    assert reading.emitted == 5 * (TOKENS - 1)  # the first token is that of the prefill


def test_times_and_tokens_of_a_streamed_answer():
    with stand_in("vllm") as server:
        (answer,) = ask(server, PROMPTS[:1]).answers

    assert (answer.prompt_tokens, answer.completion_tokens) == (PROMPT_TOKENS, TOKENS)
    assert len(answer.gaps_s) == 2  # three chunks have text; the first and the last have none
    assert 0.0 < answer.ttft_s <= answer.ttft_s + sum(answer.gaps_s) <= answer.e2e_s + 1e-5
    assert answer.s_per_token == pytest.approx((answer.e2e_s - answer.ttft_s) / (TOKENS - 1))


def test_texts_are_kept_only_if_asked():
    with stand_in("vllm") as server:
        without, with_texts = ask(server), ask(server, with_texts=True)

    assert "secret" not in without.text
    assert '"text":"secret words end"' in with_texts.text
    assert read(with_texts).counts == read(without).counts


def test_what_is_sent():
    with stand_in("vllm") as server:
        ask(server, PROMPTS[:1], max_tokens=9, temperature=0.0, model="own")
        ask(server, PROMPTS[:1])

        sent, usual = server.asked
    assert sent["messages"] == [{"role": "user", "content": "say 0"}]
    assert (sent["max_tokens"], sent["temperature"], sent["model"]) == (9, 0.0, "own")
    assert sent["stream"] is True
    assert sent["stream_options"] == {"include_usage": True}
    assert usual["model"] == "m"  # the first that the server has
    assert "temperature" not in usual
    assert "return_meta_info" not in usual  # SGLang refuses it beside streaming


def test_a_server_without_chat_is_asked_for_completions():
    with stand_in("vllm") as server:
        server.chat = False
        told = ask(server)

        assert set(server.asked_paths[1:]) == {"/v1/completions"}
        assert server.asked[0]["prompt"] == "say 0"
    assert read(told).counts.rounds == 5 * ROUNDS


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/chat/completions", "/v1", "/"])
def test_the_path_of_the_url_says_what_is_asked(path):
    with stand_in("vllm") as server:
        ask(server, PROMPTS[:1], path=path)

        expected = "/v1/completions" if path == "/v1/completions" else "/v1/chat/completions"
        assert server.asked_paths == [expected]


def test_a_server_that_refuses_unknown_members_is_asked_without_them():
    with stand_in("vllm") as server:
        server.strict = True
        told = ask(server)

        assert all("return_spec_tokens_details" not in sent for sent in server.asked)
        assert len(server.asked_paths) == 6  # the refused one, and five
    assert read(told).counts.rounds == 5 * ROUNDS


def test_whole_answers_have_counts_and_no_times_within():
    with stand_in("sglang") as server:
        told = ask(server, PROMPTS[:2], whole=True)

        assert "stream" not in server.asked[0]
    assert all(answer.ttft_s is None and not answer.gaps_s for answer in told.answers)
    assert "output_token_logprobs" not in told.text
    rows = [json.loads(row) for row in told.text.splitlines()]
    assert rows[0]["choices"][0]["meta_info"]["spec_verify_ct"] == ROUNDS


def test_older_sglang_gives_its_counts_in_whole_answers_only(monkeypatch):
    monkeypatch.setitem(SGLANG, "sglext", {})
    with stand_in("sglang") as server:
        assert not any(answer.speculation for answer in ask(server).answers)
        told = ask(server, whole=True)

    assert read(told).counts.rounds == 5 * ROUNDS


def test_several_requests_run_at_a_time():
    with stand_in("vllm") as server:
        server.meeting = threading.Barrier(2)  # each waits for another one; the first is alone
        told = ask(server, concurrency=2)

        assert server.most_at_once == 2
    assert len(told.answers) == 5


def test_requests_at_a_time_are_their_times_over_the_whole_time():
    told = Conversation(
        url="", answers=(answer(0.1, 1.0), answer(0.1, 2.0)), failures=(), seconds=2.0, asked=2
    )

    assert told.running == pytest.approx(1.5)


def test_one_prompt_that_fails_does_not_end_the_others():
    with stand_in("vllm") as server:
        prompts = (*PROMPTS[:2], Prompt(id="bad", prompt="bad"), PROMPTS[2])
        answer = server.RequestHandlerClass._answer

        def failing(handler, body, *, chat):
            if body["messages"][0]["content"] == "bad":
                handler._say(
                    200, b'data: {"error": {"message": "no room"}}\n\n', "text/event-stream"
                )
            else:
                answer(handler, body, chat=chat)

        server.RequestHandlerClass = type(
            "Failing", (server.RequestHandlerClass,), {"_answer": failing}
        )
        told = ask(server, prompts)

    assert [each.prompt for each in told.answers] == ["p0", "p1", "p2"]
    (failure,) = told.failures
    assert failure.startswith("bad: ")
    assert "no room" in failure


@pytest.mark.parametrize(
    ("kind", "data", "problem"),
    [
        ("text/event-stream", b"data: [1]\n\n", "no JSON object"),
        ("text/event-stream", b"data: {oops\n\n", "not JSON"),
        ("text/event-stream", b"data: " + b"[" * 100_000 + b"\n\n", "not JSON"),
        ("text/event-stream", b"data: " + b"1" * 10_000 + b"\n\n", "no.* JSON"),
        ("text/event-stream", b"data: " + b"x" * (1 << 20), "a row is longer than 1 MiB"),
        ("text/event-stream", b"", "not that of an OpenAI server"),
        ("text/event-stream", b"hello\n", "not that of an OpenAI server"),
        ("application/json", b"{}", "not that of an OpenAI server"),
        ("application/json", b"<html>", "not JSON"),
        ("text/event-stream", b'data: {"error": "full"}\n\n', "failed at a request: full"),
    ],
)
def test_an_answer_that_is_none_gives_one_sentence(kind, data, problem):
    with stand_in("vllm") as server:
        server.fixed["/v1/chat/completions"] = (200, kind, data)
        with pytest.raises(CaptureError, match=problem):
            ask(server)


def test_an_answer_with_strange_members_is_read_as_far_as_it_goes():
    chunk = {
        "id": 3,
        "model": ["m"],
        "choices": [None],
        "usage": {"completion_tokens": True, "prompt_tokens": -1},
        "timings": "soon",
        "metrics": {"speculative_decoding": None},
    }
    with stand_in("vllm") as server:
        data = b"data: " + json.dumps(chunk).encode() + b"\n\n"
        server.fixed["/v1/chat/completions"] = (200, "text/event-stream", data)
        (answer,) = ask(server, PROMPTS[:1]).answers

    assert (answer.prompt_tokens, answer.completion_tokens, answer.ttft_s) == (None, None, None)
    assert not answer.speculation


@pytest.mark.parametrize("path", ["", "/v1", "/v1/chat/completions"])
def test_what_a_url_asks_beside_its_path_stays_behind_it(path):
    with stand_in("vllm") as server:
        data = json.dumps({"id": "a", "choices": [{"message": {"content": "x"}}]}).encode()
        server.fixed["/v1/chat/completions?version=1"] = (200, "application/json", data)
        told = ask(server, PROMPTS[:2], path=f"{path}?version=1")

    assert [answer.e2e_s > 0.0 for answer in told.answers] == [True, True]
    assert server.asked_paths == ["/v1/chat/completions?version=1"] * 2


def test_an_error_of_the_server_is_told_as_it_says_it():
    with stand_in("vllm") as server:
        data = json.dumps({"message": "model m has no chat template"}).encode()
        server.fixed["/v1/chat/completions"] = (400, "application/json", data)
        with pytest.raises(CaptureError, match="status 400: model m has no chat template"):
            ask(server)


def test_an_interrupt_keeps_the_answers_that_are_there():
    def progress(_share):
        if next(calls) == 1:
            raise KeyboardInterrupt

    calls = iter(range(9))
    with stand_in("vllm") as server:
        told = ask_server(server.url, PROMPTS, progress=progress)

    assert told.interrupted
    assert 1 <= len(told.answers) < 5
    assert read(told).counts.rounds == len(told.answers) * ROUNDS


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"max_tokens": 0}, "max_tokens must be in"),
        ({"concurrency": 257}, "concurrency must be in"),
        ({"temperature": -0.1}, "temperature must be in"),
        ({"temperature": float("nan")}, "temperature must be in"),
    ],
)
def test_questions_out_of_range_are_refused(options, problem):
    with pytest.raises(ValueError, match=problem):
        Questions(**options)


def test_no_prompts_are_refused():
    with pytest.raises(ValueError, match="at least one"):
        ask_server("http://127.0.0.1:1", ())


# Small parts


def answer(ttft_s, e2e_s, gaps_s=(), tokens=11):
    return Answer(
        prompt="p",
        prompt_tokens=3,
        completion_tokens=tokens,
        ttft_s=ttft_s,
        gaps_s=gaps_s,
        e2e_s=e2e_s,
        speculation=False,
        row="{}",
    )


def test_percentiles_are_over_requests_and_over_chunks():
    answers = [answer(0.1 * n, 1.0 * n, gaps_s=(0.01, 0.02)) for n in range(1, 22)]
    found = {each.name: each for each in percentiles(answers)}

    assert found["time to first chunk_s"].p50 == pytest.approx(1.1)
    assert found["time to first chunk_s"].p95 == pytest.approx(2.0)
    assert found["gap between chunks_s"].number == 42
    assert found["gap between chunks_s"].mean == pytest.approx(0.015)
    assert found["time per output token_s"].p50 == pytest.approx(0.09 * 11)
    assert found["whole request_s"].mean == pytest.approx(11.0)


def test_percentiles_leave_out_what_nobody_knows():
    found = {each.name for each in percentiles([answer(None, 1.0, tokens=None)])}

    assert found == {"whole request_s", "prompt tokens"}


@pytest.mark.parametrize(
    "capture", [None, 3, {}, {"ttft_s": "0.5", "e2e_s": 2.0}, {"ttft_s": 3.0, "e2e_s": 2.0}]
)
def test_a_row_without_sound_times_has_no_time_of_rounds(capture):
    assert decode_seconds(({"capture": capture},)) is None


def test_facts_keep_numbers_and_leave_texts():
    deep = {"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}

    assert facts_of({"n": 1.5, "l": [1, "a"], "x": None, "s": "y" * 999})["s"] == "y" * 200
    assert facts_of({"l": [1, "a"], "h": [1, 2]}) == {"h": [1, 2]}
    assert facts_of(deep) == {"a": {"b": {"c": {"d": {"e": {}}}}}}


def test_it_loads_nothing_heavy():
    script = (
        "import real_runs.capture.snapshots, real_runs.capture.requests, real_runs.capture.times, sys;"
        "print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    heavy = {"torch", "transformers", "streamlit", "scipy", "pandas", "matplotlib", "typer", "rich"}
    assert not heavy.intersection(run.stdout.split())
