"""Capturing from a running server: what single requests say."""

from __future__ import annotations

import json
import threading

import pytest
from captured import PROMPTS, answer, ask, read
from stand_in_server import (
    ACCEPTED,
    DRAFTED,
    PROMPT_TOKENS,
    ROUNDS,
    SGLANG,
    TOKENS,
    stand_in,
)

from real_runs.capture.errors import CaptureError
from real_runs.capture.questions import Questions
from real_runs.capture.requests import Conversation, ask_server
from real_runs.prompts import Prompt


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
